//! Draws the tree of the open session.

use ratatui::Frame;

use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::tree::rows::{Item, RowIndex};
use crate::app::panes::tree::text as row_text;
use crate::base::numbers::{count, thousands};
use crate::base::text::{Span, Tone, mark, spans_text, width};
use crate::base::time;
use crate::keymap::Place;
use crate::session::tree::{Index, Tree};
use crate::ui::pen::{Pen, both, skip};
use crate::ui::widgets::{List, hits, list, title};

/// The columns of the pane's name, at least.
const ROOM: usize = 20;

pub(super) fn draw(frame: &mut Frame<'_>, area: PaneArea, model: &Model, pen: &Pen<'_>) {
    let pane = &model.tree;
    let name = pane
        .session
        .map(|key| &model.library[key])
        .map_or("Tree", |session| crate::base::js::cut(session.title(), 200));
    let facts = pane.tree.as_ref().map(|tree| {
        let shown = pane.rows.entries;
        let filter = pane.filter.name();
        let of = if shown == tree.nodes.len() { String::new() } else { format!("{} of ", thousands(shown)) };
        if tree.is_partial {
            return format!("reading {} the last {}", pen.glyphs().dot, count(tree.nodes.len(), "entry", "entries"));
        }
        format!("{filter} {} {of}{}", pen.glyphs().dot, count(tree.nodes.len(), "entry", "entries"))
    });
    let found = pane.find.as_ref().filter(|find| find.is_shown()).map(|find| {
        let at = pane.selected_entry().and_then(|at| find.number(pane.entry(at)?));
        let found = if find.searching && find.is_empty() { "looking".into() } else { hits(at, find.len()) };
        let only = if find.only_hits { " only" } else { "" };
        format!("{found}{only}")
    });
    let branch = model.sessions.selected_hit().and_then(|found| found.is_active).map(|is_active| {
        if is_active { "found on the active path" } else { "found on an abandoned branch" }.to_string()
    });
    // Where there is little room, what was looked for is what is wanted.
    let room = usize::from(area.title.width).saturating_sub(ROOM);
    let mut right = String::new();
    for fact in [found, branch, facts].into_iter().flatten() {
        let longer = if right.is_empty() { fact } else { format!("{right} {} {fact}", pen.glyphs().dot) };
        if right.is_empty() || width(&longer) < room {
            right = longer;
        }
    }
    right.push(' ');
    let focused = model.focus == Place::Tree;
    title(frame, pen, area, focused, (Span::clean(Tone::Text, name), "", right));
    let Some(tree) = &pane.tree else {
        let spans = match (&pane.error, pane.session) {
            (Some(error), _) => vec![Span::clean(Tone::Error, &format!(" {error}"))],
            (None, Some(_)) => vec![Span::new(Tone::Dim, " reading")],
            (None, None) => Vec::new(),
        };
        return pen.put(frame, ratatui::layout::Rect { height: 1.min(area.body.height), ..area.body }, &spans);
    };
    if pane.rows.list.is_empty() {
        let text = if tree.nodes.is_empty() { " no entries yet" } else { " no entries in this filter" };
        return pen.put(frame, ratatui::layout::Rect { height: 1, ..area.body }, &[Span::new(Tone::Dim, text)]);
    }
    let pan = pan(model, tree, usize::from(area.body.width.saturating_sub(1)));
    let rows = List { area: area.body, cursor: pane.cursor, len: pane.rows.list.len(), focused };
    list(frame, pen, &rows, |at, columns| {
        // Only the lines in sight are made: thousands of levels are possible.
        let lines = pane.rows.prefix(at, pan..pan + columns, pen.glyphs());
        let (text, right) = row(model, pen, tree, at);
        let mut left = vec![Span::new(Tone::Dim, lines)];
        left.extend(skip(text, pan.saturating_sub(pane.rows.prefix_width(at))));
        both(&left, &right, columns, pen.glyphs())
    });
}

/// How far the rows are moved to the left so that the selected one's text is seen behind its lines, as in pi's `/tree`
/// (0.87.1).
fn pan(model: &Model, tree: &Tree, columns: usize) -> usize {
    let at = model.tree.cursor.at;
    let lines = model.tree.rows.prefix_width(at);
    let marks = match model.tree.rows.list[at].item {
        Item::Entry(entry) if tree.is_active(entry) => 2,
        _ => 0,
    };
    let anchor = lines + marks;
    let needed = (columns / 3).clamp(4, 20);
    if anchor + needed > columns { anchor - (columns / 4).clamp(2, 12).min(anchor) } else { 0 }
}

fn row(model: &Model, pen: &Pen<'_>, tree: &Tree, at: RowIndex) -> (Vec<Span>, Vec<Span>) {
    let rows = &model.tree.rows;
    let one = &rows.list[at];
    let mut left = Vec::new();
    let entry = match one.item {
        Item::Entry(entry) => entry,
        Item::Fork(place) => {
            fork(&mut left, model, pen, place);
            return (left, Vec::new());
        }
    };
    if one.folded && !one.connector {
        left.push(Span::new(Tone::Accent, format!("{} ", pen.glyphs().folded)));
    }
    let text = row_text::entry(tree, entry, pen.glyphs());
    match model.tree.entry(entry).and_then(|entry| model.tree.words_of(entry)) {
        Some(words) => left.extend(mark(&text, &words.marks(&spans_text(&text)))),
        None => left.extend(text),
    }
    (left, right(model, pen, tree, at, entry))
}

fn right(model: &Model, pen: &Pen<'_>, tree: &Tree, at: RowIndex, entry: Index) -> Vec<Span> {
    let mut right = Vec::new();
    if model.tree.rows.list[at].folded {
        let forks = model.tree.rows.hidden_forks.get(&entry).copied().unwrap_or_default();
        let hidden = row_text::hidden(tree.below(entry), forks, model.now, pen.glyphs());
        right.push(Span::new(Tone::Dim, format!("{hidden} ")));
    }
    if let Some(time) = tree.labels.get(&entry).and_then(|label| label.time).filter(|_| model.tree.label_times) {
        right.push(Span::new(Tone::Label, format!("{} ", wall_time(model, time))));
    }
    // Where the filter hides the leaf, the nearest row above it stands for it.
    if model.tree.rows.leaf == Some(at) {
        right.push(Span::new(Tone::Active, format!("{} leaf ", pen.glyphs().leaf)));
    }
    right
}

/// When a label was set: the time today, else the date as well, as in pi's `/tree` (0.87.1).
fn wall_time(model: &Model, ms: i64) -> String {
    let zoned = |ms| jiff::Timestamp::from_millisecond(ms).ok().map(|time| time.to_zoned(model.setting.zone.clone()));
    let (Some(then), Some(now)) = (zoned(ms), zoned(model.now)) else { return String::new() };
    let form = match () {
        () if then.date() == now.date() => "%H:%M",
        () if then.year() == now.year() => "%-m/%-d %H:%M",
        () => "%y/%-m/%-d %H:%M",
    };
    then.strftime(form).to_string()
}

fn fork(left: &mut Vec<Span>, model: &Model, pen: &Pen<'_>, place: usize) {
    let Some(fork) = model.tree.forks.get(place) else { return };
    let glyphs = pen.glyphs();
    let session = &fork.session;
    let title = crate::base::js::cut(session.title(), 60);
    left.push(Span::clean(Tone::Fork, &format!("{} \"{title}\"", glyphs.fork)));
    let age = session.modified.map_or("?".into(), |then| time::age(model.now, then));
    let own = count(fork.split.own, "entry", "entries");
    left.push(Span::new(Tone::Dim, format!("  +{own} {} {age}", glyphs.dot)));
}
