//! What a search shows in the list: counts, what was looked for marked in titles, and the text around a hit.

use crate::app::flows::search::Search;
use crate::app::model::Model;
use crate::base::numbers::{count, thousands};
use crate::base::text::{Glyphs, Span, Tone, clean, mark, width};
use crate::library::search::SessionHit;

/// How many were found, in which order, and how far the reading of texts is.
pub(super) fn facts(model: &Model, search: &Search) -> Vec<String> {
    let pane = &model.sessions;
    let mut facts = Vec::new();
    if let Some((done, total)) = search.searched {
        facts.push(format!("searching {}/{}", thousands(done), thousands(total)));
    } else if let Some((done, total)) = search.read {
        facts.push(format!("reading texts {}/{}", thousands(done), thousands(total)));
    }
    if let Some(found) = &pane.hits {
        facts.push(count(found.len(), "session", "sessions"));
        facts.extend((search.entries > 0).then(|| count(search.entries, "message", "messages")));
        facts.extend(
            pane.is_flat.then(|| if pane.shows.newest_hits_first { "newest first" } else { "best first" }.into()),
        );
    }
    facts
}

/// A clean text with what was looked for marked in it.
pub(super) fn marked(model: &Model, text: &str, tone: Tone, is_hit: bool) -> Vec<Span> {
    let matcher = model.search.as_ref().map(|search| &search.matcher).filter(|_| is_hit);
    let marks = matcher.map_or(Vec::new(), |matcher| matcher.marks(text, true));
    mark(&[Span::new(tone, text)], &marks)
}

/// The text around a hit in so many columns, and whether that is on the active path: in words where there is room, else
/// the active path by its sign.
pub(super) fn snippet(model: &Model, found: &SessionHit, room: usize, glyphs: &Glyphs) -> Vec<Span> {
    const ROOM_FOR_WORDS: usize = 60;
    let Some(snippet) = &found.snippet else { return Vec::new() };
    let path = match found.is_active {
        Some(true) if room >= ROOM_FOR_WORDS => "active path: ".into(),
        Some(false) if room >= ROOM_FOR_WORDS => "abandoned branch: ".into(),
        Some(true) => format!("{} ", glyphs.active),
        Some(false) => "abandoned: ".into(),
        None => String::new(),
    };
    let left = room.saturating_sub(width(&path));
    let mut spans = vec![Span::new(Tone::Dim, "  "), Span::new(Tone::Active, path)];
    let mut text = marked(model, &clean(snippet), Tone::Dim, true);
    // The hit itself must be seen.
    if let Some(first) = text.first_mut().filter(|first| first.tone == Tone::Dim) {
        first.text = glyphs.cut_start(&first.text, left / 3).into_owned();
    }
    spans.extend(text);
    spans
}
