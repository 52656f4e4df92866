//! Draws the tree of the open session.

use ratatui::Frame;

use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::base::numbers::{count, thousands};
use crate::base::text::{Span, Tone, width};
use crate::keymap::{Action, Place};
use crate::render::DocLine;
use crate::ui::empty::plain_rows;
use crate::ui::paint::Painter;
use crate::ui::panes::row;
use crate::ui::widgets::{ListView, hits, list, title};

/// Minimum columns of the title.
const ROOM: usize = 20;

pub(in crate::ui) fn draw(frame: &mut Frame<'_>, area: PaneArea, model: &Model, pen: &Painter<'_>) {
    let pane = &model.tree;
    let name =
        pane.session.map(|key| &model.catalog[key]).map_or("Tree".into(), |session| crate::app::title::title(session));
    let facts = pane.tree.as_ref().map(|tree| {
        let shown = pane.rows.entries;
        let filter = pane.filter.name();
        let of = if shown == tree.nodes.len() { String::new() } else { format!("{} of ", thousands(shown)) };
        let follows = if pane.follows { format!("following {} ", pen.glyphs().dot) } else { String::new() };
        if tree.is_partial {
            return format!("reading {} the last {}", pen.glyphs().dot, count(tree.nodes.len(), "entry", "entries"));
        }
        let family = pane.family.as_ref().map_or(String::new(), |family| {
            format!("{} {} ", count(family.request.members.len(), "session", "sessions"), pen.glyphs().dot)
        });
        let differing = pane.family.as_ref().map_or(0, |family| family.joined.differing);
        let differing = match differing {
            0 => String::new(),
            some => {
                let conflicts = count(some, "conflict", "conflicts");
                format!("{} {conflicts} {} ", pen.glyphs().warning, pen.glyphs().dot)
            }
        };
        let all = count(tree.nodes.len(), "entry", "entries");
        format!("{follows}{differing}{family}{filter} {} {of}{all}", pen.glyphs().dot)
    });
    let found = pane.find.as_ref().filter(|find| find.is_shown()).map(|find| {
        let at = pane.selected_entry().and_then(|at| find.number(at));
        let found = if find.searching && find.hits.is_empty() { "searching".into() } else { hits(at, find.hits.len()) };
        let only = if find.only_hits { " only" } else { "" };
        let progress = find.progress.map_or(String::new(), |(done, total)| {
            format!(" {} {} of {} sessions", pen.glyphs().dot, thousands(done), thousands(total))
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
        let longer = if right.is_empty() { fact } else { format!("{right} {} {fact}", pen.glyphs().dot) };
        if right.is_empty() || width(&longer) < room {
            right = longer;
        }
    }
    right.push(' ');
    let focused = model.focus == Place::Tree;
    title(frame, pen, area, focused, (Span::new(Tone::Text, name), "", right));
    let Some(tree) = &pane.tree else {
        let lines = match (&pane.error, pane.session) {
            (Some(error), _) => vec![DocLine::new(Tone::Error, error)],
            (None, Some(_)) => vec![DocLine::new(Tone::Dim, "reading")],
            (None, None) => Vec::new(),
        };
        return plain_rows(frame, pen, area.text(), lines);
    };
    if pane.rows.list.is_empty() {
        let text = if tree.nodes.is_empty() {
            " no entries yet".into()
        } else {
            let all = pen.key(Action::FilterAll);
            format!(" no entries match the filter {} {} {all}: show all", pane.filter.name(), pen.glyphs().dot)
        };
        return pen.put(frame, ratatui::layout::Rect { height: 1, ..area.body }, &[Span::new(Tone::Dim, text)]);
    }
    let rows = ListView { area: area.body, cursor: pane.cursor, len: pane.rows.list.len(), focused };
    list(frame, pen, &rows, |at, columns| {
        // Build only the visible part of the tree lines, because trees may have thousands of levels; the text always
        // follows them.
        let (lines, is_cut) = pane.lines(at, columns);
        let left = vec![Span::new(Tone::Dim, pane.rows.lead(at, lines, is_cut, pen.glyphs()))];
        row::draw(left, columns, pen, tree, at)
    });
}
