//! Notes of users above the reader, and the symbols in the row of a session.

use crate::app::model::Model;
use crate::base::numbers::count;
use crate::base::text::{Span, Tone};
use crate::catalog::{EntryRef, SessionKey};
use crate::render::DocLine;

/// The heading of a note, as wide as the names of facts in a card.
const HEADING: &str = "note        ";

/// Returns the lines of a note.
pub(crate) fn note_lines(note: Option<&str>) -> Vec<DocLine> {
    let lines = note.into_iter().flat_map(str::lines).enumerate();
    let line = |(at, text): (usize, &str)| {
        let heading = if at == 0 { HEADING.into() } else { " ".repeat(HEADING.len()) };
        let spans = vec![Span::dim(heading), Span::clean(Tone::Label, text)];
        DocLine { spans, indent: HEADING.len() as u16, ..DocLine::default() }
    };
    lines.map(line).collect()
}

/// Returns the note of an entry with an empty line below it; empty without a note.
pub(crate) fn note_of_entry(model: &Model, EntryRef { session, at }: EntryRef) -> Vec<DocLine> {
    let node = model.tree.file(session).and_then(|tree| tree.nodes.get(at as usize));
    let id = model.catalog.get(session).map(|session| session.header.marks_key());
    let (Some(id), Some(entry)) = (id, node.and_then(|node| node.id.as_deref())) else { return Vec::new() };
    let mut lines = note_lines(model.catalog.marks().entry_note(&id, entry));
    if !lines.is_empty() {
        lines.push(DocLine::default());
    }
    lines
}

/// A symbol in the row of a session: its tone, its text and its meaning.
pub type SessionSymbol = (Tone, String, String);

/// Returns the symbols before the name of a session, and the numbers of labels, branches and forks.
pub fn symbols(model: &Model, key: SessionKey) -> [Vec<SessionSymbol>; 2] {
    let (catalog, glyphs) = (&model.catalog, &model.settings.glyphs);
    let digest = &catalog[key];
    let (mut kinds, marks, id) = (Vec::new(), catalog.marks(), digest.header.marks_key());
    let id = &*id;
    let symbol = |tone, glyph: &str, meaning: &str| (tone, glyph.to_owned(), meaning.to_owned());
    kinds.extend(catalog.is_unread(key).then(|| symbol(Tone::Accent, &glyphs.unread, "unread messages")));
    kinds.extend(marks.is_pinned(id).then(|| symbol(Tone::Accent, &glyphs.pin, "pinned")));
    let has_note = marks.note(id).is_some() || marks.entry_notes(id).next().is_some();
    kinds.extend(has_note.then(|| symbol(Tone::Label, &glyphs.note, "note")));
    if digest.owner.is_some() {
        kinds.push(symbol(Tone::Meta, &glyphs.subagent, "subagent session"));
    } else if digest.header.is_fork() {
        kinds.push(match catalog.is_parent_missing(key) {
            true => symbol(Tone::Fork, &format!("{}?", glyphs.fork), "fork whose parent is missing"),
            false => symbol(Tone::Fork, &glyphs.fork, "fork"),
        });
    }
    kinds.extend(digest.facts().is_archived().then(|| symbol(Tone::Dim, &glyphs.archived, "archived")));
    kinds.extend(digest.header.imported.map(|_| symbol(Tone::Meta, &glyphs.imported, "imported")));
    let has_problems = !digest.problems.is_empty();
    kinds.extend(has_problems.then(|| symbol(Tone::Warning, &glyphs.warning, "problems, listed above")));
    let branches = if digest.leaves > 1 { digest.leaves } else { 0 };
    let counts = [
        (Tone::Label, &glyphs.label, digest.labels.len(), ["label", "labels"]),
        (Tone::Active, &glyphs.tee, branches, ["branch", "branches"]),
        (Tone::Fork, &glyphs.fork, catalog.forks(key).count(), ["fork", "forks"]),
    ];
    let counts = counts.into_iter().filter(|(_, _, number, _)| *number > 0);
    let counts =
        counts.map(|(tone, sign, number, [one, many])| (tone, format!("{sign}{number}"), count(number, one, many)));
    [kinds, counts.collect()]
}
