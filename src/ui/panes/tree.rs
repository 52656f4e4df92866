//! Draws the tree of the open session. A row is an entry, a fork, or a summary of several entries. Facts are at the right
//! edge; text keeps a minimum width, so facts that do not fit are dropped.

use ratatui::layout::Rect;

use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::tree::family::{FamilyTree, letter};
use crate::app::panes::tree::row_text;
use crate::app::panes::tree::rows::{RowIndex, RowItem};
use crate::app::panes::tree::summaries::Inherited;
use crate::app::title;
use crate::base::numbers::{count, duration, nonzero_dollars, thousands};
use crate::base::text::{Span, Tone, highlight, spans_text, spans_width, width};
use crate::config::Filter;
use crate::keymap::{Action, KeyContext};
use crate::render::DocLine;
use crate::session::digest::commits::DigestCommit;
use crate::session::tree::{EntryIndex, Tree};
use crate::ui::empty::plain_rows;
use crate::ui::paint::{ListView, Painter, both, cut, hits, list, title};
use crate::ui::panes::row_parts::SessionName;

/// Minimum columns of the title.
const ROOM: usize = 20;

pub(in crate::ui) fn draw(area: PaneArea, model: &Model, painter: &Painter<'_>) {
    let pane = &model.tree;
    let name = pane
        .session
        .map(|key| &model.catalog[key])
        .map_or("Tree".into(), |session| title::title(session, &model.settings));
    let facts = pane.tree.as_ref().map(|tree| {
        let shown = pane.rows.entries;
        let filter = pane.filter.name();
        let of = if shown == tree.nodes.len() { String::new() } else { format!("{} of ", thousands(shown)) };
        let follows = if pane.follows { format!("following {} ", painter.glyphs().dot) } else { String::new() };
        if tree.is_partial {
            return format!(
                "reading {} the last {}",
                painter.glyphs().dot,
                count(tree.nodes.len(), "entry", "entries")
            );
        }
        let family = pane.family.as_ref().map_or(String::new(), |family| {
            format!("{} {} ", count(family.request.members.len(), "session", "sessions"), painter.glyphs().dot)
        });
        let differing = pane.family.as_ref().map_or(0, |family| family.joined.differing);
        let differing = match differing {
            0 => String::new(),
            some => {
                let conflicts = count(some, "conflict", "conflicts");
                format!("{} {conflicts} {} ", painter.glyphs().warning, painter.glyphs().dot)
            }
        };
        let all = count(tree.nodes.len(), "entry", "entries");
        format!("{follows}{differing}{family}{filter} {} {of}{all}", painter.glyphs().dot)
    });
    let found = pane.find.as_ref().filter(|find| find.is_shown()).map(|find| {
        let at = pane.selected_entry().and_then(|at| find.number(at));
        let found = if find.searching && find.hits.is_empty() { "searching".into() } else { hits(at, find.hits.len()) };
        let only = if find.only_hits { " only" } else { "" };
        let progress = find.progress.map_or(String::new(), |(done, total)| {
            format!(" {} {} of {} sessions", painter.glyphs().dot, thousands(done), thousands(total))
        });
        format!("{found}{only}{progress}")
    });
    let branch = model.sessions.selected_hit().and_then(|found| found.is_active).map(|is_active| {
        if is_active { "found on the active path" } else { "found on an abandoned branch" }.to_string()
    });
    // In a narrow pane, the search words have priority.
    let room = usize::from(area.title.width).saturating_sub(ROOM);
    let mut right = String::new();
    for fact in [found, branch, facts].into_iter().flatten() {
        let longer = if right.is_empty() { fact } else { format!("{right} {} {fact}", painter.glyphs().dot) };
        if right.is_empty() || width(&longer) < room {
            right = longer;
        }
    }
    right.push(' ');
    let focused = model.focus == KeyContext::Tree;
    title(painter, area, focused, (Span::text(name), "", right));
    let Some(tree) = &pane.tree else {
        let lines = match (&pane.error, pane.session) {
            (Some(error), _) => vec![DocLine::new(Tone::Error, error)],
            (None, Some(_)) => vec![DocLine::dim("reading")],
            (None, None) => model.summary.lines.clone(),
        };
        return plain_rows(painter, area.text(), lines);
    };
    if pane.rows.list.is_empty() {
        let text = if tree.nodes.is_empty() { " no entries yet".into() } else { empty_filter(painter) };
        return painter.put(Rect { height: 1, ..area.body }, &[Span::dim(text)]);
    }
    if let Some(family) = &pane.family {
        draw_legend(family, area.body, painter);
    }
    let rows = ListView { area: area.body, cursor: pane.cursor, len: pane.rows.list.len(), focused };
    list(painter, &rows, |at, columns| {
        // Build only the visible part of the tree lines, because trees may have thousands of levels; the text always
        // follows them.
        let (lines, is_cut) = pane.lines(at, columns);
        let left = vec![Span::dim(pane.rows.lead(at, lines, is_cut, painter.glyphs()))];
        row(left, columns, painter, tree, at)
    });
}

/// Draws the letters of the files with their titles below the rows. A title that repeats is shortened.
fn draw_legend(family: &FamilyTree, body: Rect, painter: &Painter<'_>) {
    let room = (usize::from(body.width) / family.request.members.len().max(1)).max(ROOM);
    let (mut spans, mut before) = (Vec::new(), String::new());
    for (key, session) in &family.request.members {
        let title = title::title(session, &painter.model.settings);
        let shown = if title == before { &painter.glyphs().ellipsis } else { title.as_str() };
        let shown = painter.glyphs().cut(shown, room.saturating_sub(4));
        spans.extend([Span::text(" "), letter(family.number_of(*key).unwrap_or_default())]);
        spans.push(Span::dim(format!(" {shown} ")));
        before = title;
    }
    painter.put(Rect { y: body.bottom(), height: 1, ..body }, &cut(&spans, body.width.into(), painter.glyphs()));
}

/// Returns the text for a filter that hides all entries.
fn empty_filter(painter: &Painter<'_>) -> String {
    let (pane, dot) = (&painter.model.tree, &painter.glyphs().dot);
    let (all, label) = (painter.key(Action::FilterAll), painter.key(Action::Label));
    match pane.filter {
        _ if pane.find.as_ref().is_some_and(|find| find.only_hits) => {
            format!(" no entry has a hit {dot} {}: end the search", painter.key(Action::Back))
        }
        Filter::LabeledOnly => format!(" no entry has a label {dot} {all}: show all {dot} {label}: label one"),
        filter => format!(" no entries match the filter {} {dot} {all}: show all", filter.name()),
    }
}

/// Minimum columns of the text beside facts.
const WORDS: usize = 24;

/// The pane width from which timestamps are shown.
const TIMES: usize = 64;

/// Formats of the time of a label, like pi's `/tree` (0.87.1): today, this year, or earlier.
const LABEL_TIME: [&str; 3] = ["%H:%M", "%-m/%-d %H:%M", "%y/%-m/%-d %H:%M"];

/// Formats of the time of a message.
const MESSAGE_TIME: [&str; 3] = ["%H:%M", "%-d %b %H:%M", "%-d %b %Y"];

/// Draws a row after its tree lines in the given columns.
fn row(mut left: Vec<Span>, columns: usize, painter: &Painter<'_>, tree: &Tree, at: RowIndex) -> Vec<Span> {
    let model = painter.model;
    left.extend(file(model, at));
    let room = columns.saturating_sub(spans_width(&left));
    let one = &model.tree.rows.list[at];
    let view = TreeRowView { model, painter, tree, room, at };
    let (words, right) = match one.item {
        RowItem::Entry(entry) => view.entry(entry, columns >= TIMES),
        RowItem::Fork(place) => view.fork(place),
        RowItem::Run(run) => view.run(run, columns >= TIMES),
        RowItem::Inherited => return view.inherited(columns),
        RowItem::Start => {
            let text = format!("{} leaf: pi resumes before the first message", painter.glyphs().leaf);
            (vec![Span::new(Tone::Active, text)], Vec::new())
        }
    };
    // Unique entries are marked only if the session shares others.
    let is_elsewhere = model.tree.session.is_some_and(|key| !model.catalog.is_parent_missing(key));
    let dim = |span: Span| if span.tone == Tone::Match { span } else { Span { tone: Tone::Dim, ..span } };
    left.extend(view.mark());
    left.extend(words.into_iter().map(|span| if one.is_inherited && is_elsewhere { dim(span) } else { span }));
    both(&left, &right, columns, painter.glyphs())
}

/// Returns the letter of the file whose branch contains the row, in a merged tree.
fn file(model: &Model, row: RowIndex) -> Vec<Span> {
    let pane = &model.tree;
    let (Some(family), Some(row)) = (&pane.family, pane.rows.list.get(row)) else { return Vec::new() };
    let number = match row.item {
        RowItem::Entry(entry) => Some(family.number(entry)),
        RowItem::Run(run) => Some(family.number(pane.rows.runs[run].last())),
        RowItem::Fork(place) => pane.forks().get(place).and_then(|fork| family.number_of(fork.key)),
        RowItem::Inherited | RowItem::Start => None,
    };
    number.map_or(Vec::new(), |number| vec![letter(number), Span::text(" ")])
}

struct TreeRowView<'a, 'b> {
    model: &'a Model,
    painter: &'a Painter<'b>,
    tree: &'a Tree,
    /// Columns after the tree lines.
    room: usize,
    at: RowIndex,
}

impl TreeRowView<'_, '_> {
    /// Returns the number of other sessions that contain an entry.
    fn others(&self, entry: EntryIndex) -> Option<RowFact> {
        let pane = &self.model.tree;
        let number = |entry: EntryIndex| pane.others_of(entry).len();
        // The rows of entries that the same sessions contain show the number once.
        let above = self.at.checked_sub(1).and_then(|above| match pane.rows.list[above].item {
            RowItem::Entry(entry) => Some(number(entry)),
            RowItem::Run(run) => Some(number(pane.rows.runs[run].last())),
            RowItem::Fork(_) | RowItem::Inherited | RowItem::Start => None,
        });
        let others = number(entry);
        (others > 0 && above != Some(others))
            .then(|| RowFact::new(Tone::Dim, format!("{}{others}", self.painter.glyphs().fork)))
    }

    /// Returns the mark symbol of an entry, or of a run that contains a marked entry.
    fn mark(&self) -> Option<Span> {
        let Self { model, painter, at, .. } = *self;
        let is_marked = |&entry: &EntryIndex| model.tree.entry(entry).is_some_and(|entry| model.marks.contains(&entry));
        let is_marked = match model.tree.rows.list[at].item {
            RowItem::Entry(entry) => is_marked(&entry),
            // In an expanded run, the row of the entry has the mark.
            RowItem::Run(run) if !model.tree.rows.runs[run].is_open => {
                model.tree.rows.runs[run].entries.iter().any(is_marked)
            }
            RowItem::Run(_) | RowItem::Fork(_) | RowItem::Inherited | RowItem::Start => false,
        };
        is_marked.then(|| Span::accent(format!("{} ", painter.glyphs().mark)))
    }

    /// Returns the last commit of some entries, and the number of others.
    fn commit(&self, entries: &[EntryIndex]) -> Option<RowFact> {
        let made: Vec<&DigestCommit> = self.model.tree.commits(entries, &self.model.catalog).collect();
        let (last, others) = made.split_last()?;
        let more = if others.is_empty() { String::new() } else { format!(" +{}", others.len()) };
        Some(RowFact::new(Tone::Label, format!("{} {}{more}", self.painter.glyphs().commit, last.sha)))
    }

    fn entry(&self, entry: EntryIndex, with_times: bool) -> (Vec<Span>, Vec<Span>) {
        let Self { model, painter, tree, at, .. } = *self;
        let one = &model.tree.rows.list[at];
        let mut left = Vec::new();
        if one.in_run {
            left.push(Span::text("  "));
        }
        if one.folded && !one.connector {
            left.push(Span::accent(format!("{} ", painter.glyphs().folded)));
        }
        let node = &tree.nodes[entry as usize];
        let is_turns = model.tree.filter.has_turns();
        let mut facts = Vec::new();
        if one.folded {
            let forks = model.tree.rows.hidden_forks.get(&entry).copied().unwrap_or_default();
            facts.extend(dots(row_text::hidden(tree.below(entry), forks, model.now)));
            facts[0].text.insert_str(0, &format!("{} ", painter.glyphs().hidden));
        }
        if let Some(activity) = model.tree.turn(entry).filter(|_| is_turns && !one.folded) {
            facts.extend(dots(activity.turn_facts(node.time)));
        }
        if one.connector && !one.folded {
            facts.extend(
                nonzero_dollars(tree.below(entry).cost).map(|cost| RowFact::new(Tone::Dim, format!("branch {cost}"))),
            );
        }
        facts.extend(self.commit(&[entry]));
        let label_time = tree.labels.get(&entry).and_then(|label| label.time).filter(|_| model.tree.label_times);
        facts.extend(label_time.map(|time| RowFact::new(Tone::Label, clock(model, time, LABEL_TIME))));
        facts.extend(self.leaf(entry));
        let is_short = is_turns && self.room < 2 * TIMES;
        if with_times && node.kind.is_milestone() && !one.folded && !is_short {
            facts.extend(node.time.map(|time| RowFact::new(Tone::Dim, clock(model, time, MESSAGE_TIME))));
        }
        facts.extend(self.others(entry));
        let right = self.fitting(facts);
        let room = self.room.saturating_sub(spans_width(&right) + spans_width(&left) + 1);
        let text = row_text::entry(tree, entry, &model.settings, room);
        match model.tree.entry(entry).and_then(|entry| model.tree.words_of(entry)) {
            Some(words) => left.extend(highlight(&text, &words.marks(&spans_text(&text)))),
            None => left.extend(text),
        }
        (left, right)
    }

    fn run(&self, run: usize, with_times: bool) -> (Vec<Span>, Vec<Span>) {
        let Self { model, painter, tree, .. } = *self;
        let run = &model.tree.rows.runs[run];
        let glyphs = painter.glyphs();
        let activity = &run.activity;
        let mut left = Vec::new();
        if tree.is_active(run.last()) {
            left.push(Span::new(Tone::Active, format!("{} ", glyphs.active)));
        }
        let sign = if run.is_open { &glyphs.unfolded } else { &glyphs.hidden };
        left.push(Span::dim(format!("{sign} ")));
        left.extend(row_text::run(activity, glyphs));
        let mut facts = Vec::new();
        let took = activity.latest.zip(tree.nodes[run.first() as usize].time).map(|(end, begin)| end - begin);
        let took = took.filter(|&ms| with_times && ms >= 60_000);
        facts.extend(took.map(|ms| duration(ms as f64)));
        facts.extend(nonzero_dollars(activity.cost));
        // The duration is dropped before any text.
        let wanted = spans_width(&left) + facts.iter().map(|fact| width(fact) + 3).sum::<usize>();
        if facts.len() > 1 && wanted > self.room {
            facts.remove(0);
        }
        let mut facts = dots(facts);
        if !run.is_open {
            // Facts after the first ones are dropped in narrow panes.
            facts.splice(..0, self.commit(&run.entries));
            facts.extend(self.leaf(run.last()));
        }
        facts.extend(self.others(run.last()));
        (left, self.fitting(facts))
    }

    fn fork(&self, place: usize) -> (Vec<Span>, Vec<Span>) {
        let Self { model, painter, .. } = *self;
        let Some(fork) = model.tree.forks().get(place) else { return (Vec::new(), Vec::new()) };
        let own = model.catalog.own(fork.key);
        let mut facts = vec![format!("+{}", count(own.entries, "entry", "entries"))];
        facts.extend(nonzero_dollars(own.cost));
        facts.extend(model.catalog[fork.key].modified.map(|then| model.when(Some(then))));
        let right = self.fitting(dots(facts));
        let glyphs = painter.glyphs();
        let one = &model.tree.rows.list[self.at];
        let sign = match one.connector {
            true => String::new(),
            false if one.folded => format!("{} ", glyphs.folded),
            false if one.children > 0 => format!("{} ", glyphs.unfolded),
            false => String::new(),
        };
        let room = self.room.saturating_sub(spans_width(&right) + width(&sign) + width("x \"\" "));
        let (title, words) = SessionName::of(model, fork.key, false).cut(room, glyphs);
        let title = Span::new(Tone::Fork, format!("{} \"{title}\"", glyphs.fork));
        ([Span::accent(sign), title].into_iter().chain(words).collect(), right)
    }

    /// Draws the row of inherited entries: `── forked from "Refactor auth module" here · 12 unique · $0.06 ──`
    fn inherited(&self, columns: usize) -> Vec<Span> {
        let Self { model, painter, at, .. } = *self;
        let glyphs = painter.glyphs();
        let Some(Inherited { own, cost, .. }) = model.tree.inherited else { return Vec::new() };
        let parent = model.tree.session.and_then(|key| model.catalog.families().parent(key));
        let sign = if model.tree.rows.list[at].folded { &glyphs.folded } else { &glyphs.unfolded };
        // If the parent is missing, the session card counts entries that no other session has as unique.
        let mut facts = vec![format!("{own} {}", if parent.is_some() { "unique" } else { "added since" })];
        facts.extend(nonzero_dollars(cost));
        // The title of the parent has priority.
        while facts.len() > 1 && columns < 52 {
            facts.pop();
        }
        let right = format!(" {} {} ", glyphs.dot, facts.join(&format!(" {} ", glyphs.dot)));
        let dashes = |columns: usize| Span::dim(glyphs.dash.repeat(columns));
        let start = [dashes(1), Span::accent(format!("{sign} "))];
        let room = columns.saturating_sub(spans_width(&start) + width(&right) + width("forked from \"\" here") + 2);
        let from = match parent {
            Some(parent) => {
                let title = title::title(&model.catalog[parent], &model.settings);
                format!("forked from \"{}\" here", glyphs.cut(&title, room))
            }
            None => "forked here from a missing session".into(),
        };
        let mut spans = start.to_vec();
        spans.push(Span::dim(from + &right));
        let rest = columns.saturating_sub(spans_width(&spans));
        spans.push(dashes(rest));
        spans
    }

    /// Returns the leaf mark. If the leaf is hidden, the nearest row shows the distance to it.
    fn leaf(&self, entry: EntryIndex) -> Option<RowFact> {
        let Self { model, painter, tree, at, .. } = *self;
        let glyphs = painter.glyphs();
        if model.tree.rows.leaf != Some(at) {
            let is_leaf = model.tree.family.as_ref().is_some_and(|family| family.is_leaf(entry));
            return is_leaf.then(|| RowFact::new(Tone::Dim, format!("{} leaf", glyphs.leaf)));
        }
        let text = if tree.is_tip(entry) {
            format!("{} leaf", glyphs.leaf)
        } else {
            format!("{} leaf, {} below", glyphs.hidden, count(model.tree.rows.leaf_below, "entry", "entries"))
        };
        Some(RowFact::new(Tone::Active, text))
    }

    /// Returns the leading facts that fit beside the first words.
    fn fitting(&self, facts: Vec<RowFact>) -> Vec<Span> {
        let most = self.room.saturating_sub(WORDS.min(self.room / 2));
        let dot = format!(" {} ", self.painter.glyphs().dot);
        let mut spans: Vec<Span> = Vec::new();
        let mut gap = "";
        for RowFact { tone, text, is_grouped } in facts {
            // The last fact is followed by a space.
            let end = if is_grouped { width(&dot) } else { 1 };
            if spans_width(&spans) + width(gap) + width(&text) + end > most {
                break;
            }
            spans.push(Span::dim(gap));
            spans.push(Span::new(tone, text));
            gap = if is_grouped { &dot } else { " " };
        }
        if !spans.is_empty() {
            spans.push(Span::text(" "));
        }
        spans
    }
}

/// A fact at the right edge of a row.
struct RowFact {
    tone: Tone,
    text: String,
    /// `true` if the next fact belongs to the same group.
    is_grouped: bool,
}

impl RowFact {
    fn new(tone: Tone, text: String) -> Self {
        Self { tone, text, is_grouped: false }
    }
}

/// Groups facts.
fn dots(facts: Vec<String>) -> Vec<RowFact> {
    let last = facts.len().saturating_sub(1);
    let fact = |(at, text)| RowFact { is_grouped: at < last, ..RowFact::new(Tone::Dim, text) };
    facts.into_iter().enumerate().map(fact).collect()
}

/// Formats a time with one of three formats: today, this year, or earlier.
fn clock(model: &Model, ms: i64, forms: [&str; 3]) -> String {
    let setting = &model.settings;
    let (Some(then), Some(now)) = (setting.zoned(ms), setting.zoned(model.now)) else { return String::new() };
    let form = match () {
        () if then.date() == now.date() => forms[0],
        () if then.year() == now.year() => forms[1],
        () => forms[2],
    };
    then.strftime(form).to_string()
}
