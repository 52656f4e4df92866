//! Notes of users on sessions and entries, above the preview.

use crate::app::model::Model;
use crate::base::text::{Span, Tone};
use crate::catalog::EntryRef;
use crate::render::DocLine;

/// The heading of a note, as wide as the names of facts in a card.
const HEADING: &str = "note        ";

/// Returns the lines of a note.
pub(crate) fn lines(note: Option<&str>) -> Vec<DocLine> {
    let lines = note.into_iter().flat_map(str::lines).enumerate();
    let line = |(at, text): (usize, &str)| {
        let heading = if at == 0 { HEADING.into() } else { " ".repeat(HEADING.len()) };
        let spans = vec![Span::dim(heading), Span::clean(Tone::Label, text)];
        DocLine { spans, indent: HEADING.len() as u16, ..DocLine::default() }
    };
    lines.map(line).collect()
}

/// Returns the note of an entry with an empty line below it; empty without a note.
pub(crate) fn of_entry(model: &Model, EntryRef { session, at }: EntryRef) -> Vec<DocLine> {
    let node = model.tree.file(session).and_then(|tree| tree.nodes.get(at as usize));
    let id = model.catalog.get(session).map(|session| session.header.marks_key());
    let (Some(id), Some(entry)) = (id, node.and_then(|node| node.id.as_deref())) else { return Vec::new() };
    let mut lines = lines(model.catalog.marks().entry_note(&id, entry));
    if !lines.is_empty() {
        lines.push(DocLine::default());
    }
    lines
}
