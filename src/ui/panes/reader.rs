//! Draws the reader: the visible rows, and the turn in the title.

use ratatui::layout::Rect;

use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::reader::ReaderSubject;
use crate::base::text::Span;
use crate::keymap::KeyContext;
use crate::render::wrap::VerbatimStyle;
use crate::ui::paint::{Painter, hits, scroll_bar, text_position, title};

pub(in crate::ui) fn draw(area: PaneArea, model: &Model, painter: &Painter<'_>) {
    let pane = &model.reader;
    let height = usize::from(area.body.height);
    let (top, len, is_whole) = pane.seen();
    let is_branch = matches!(pane.subject, ReaderSubject::Entry(_));
    let find = model.tree.find.as_ref().filter(|find| is_branch && find.is_shown());
    let hits = find.map(|find| hits(pane.current_entry().and_then(|at| find.number(at)), find.hits.len()));
    let side = match &pane.style {
        VerbatimStyle { is_scrolled: false, .. } => None,
        VerbatimStyle { left: 0, .. } => Some("unwrapped".into()),
        VerbatimStyle { left, .. } => Some(format!("from column {}", left + 1)),
    };
    let place = match is_branch && len > 0 {
        true => Some(format!("{}%", 100 * pane.seen_to() / len)),
        false => text_position(top, height, len, is_whole),
    };
    let facts: Vec<String> = [hits, side, place].into_iter().flatten().collect();
    let mut right = facts.join(&format!(" {} ", painter.glyphs().dot));
    right.extend((!facts.is_empty()).then_some(' '));
    let focused = model.focus == KeyContext::Reader;
    let (name, turn) = name(model);
    title(painter, area, focused, (Span::text(name), turn, right));
    let words = find.map(|find| &*find.words);
    for (row, spans) in area.text().rows().zip(pane.rows(words, model.now)) {
        painter.put(row, &spans);
    }
    let target = pane.target().filter(|_| focused && model.layers.0.is_empty());
    if let Some(row) = target.and_then(|(row, ..)| area.text().rows().nth(row)) {
        painter.select(row);
    }
    if pane.is_late(model.now) && pane.subject != ReaderSubject::Nothing {
        painter.put(Rect { height: 1, ..area.body }, &[Span::dim(" reading")]);
    }
    scroll_bar(area.body, painter, top, len);
}

/// Returns the title, and the facts of the current turn.
fn name(model: &Model) -> (&str, &str) {
    match &model.reader.subject {
        ReaderSubject::Project(_) => ("Project", ""),
        ReaderSubject::Session(_) => ("Session", ""),
        ReaderSubject::MissingParent(_) => ("Missing session", ""),
        ReaderSubject::Entry(_) => model.reader.turn.as_ref().map_or(("Reader", ""), |turn| (&turn.title, &turn.facts)),
        ReaderSubject::Nothing => ("Reader", ""),
    }
}
