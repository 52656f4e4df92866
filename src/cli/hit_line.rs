//! The line of a hit, as JSON or as text below the line of its session.

use std::path::Path;

use anyhow::Result;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::dollars;
use crate::base::paths::file_name;
use crate::base::text::{Glyphs, Span, Tone, clean, clean_char, cut_spans, push_span, spans_width, width};
use crate::base::time;
use crate::catalog::search::SessionHit;
use crate::cli::output::PathFields;
use crate::cli::table::words;
use crate::cli::{now, output};
use crate::disk::load::EntryReader;
use crate::search::byte_search::Snippet;
use crate::search::candidate::MatchField;
use crate::search::matching::{Matcher, Tier};
use crate::session::digest::Digest;
use crate::session::entry::{RawTime, parse};
use crate::session::search_text::searched;
use crate::session::search_titles::capped;
use crate::session::tree::EntryIndex;
use crate::session::worktrees::Worktrees;

/// The maximum length of a title in a hit, in UTF-16 code units, because a first message can be very long.
const MAX_TITLE: usize = 500;

/// The JSON form of a hit.
#[derive(Serialize)]
#[serde(tag = "type", rename = "hit", rename_all = "camelCase")]
pub(super) struct HitLine {
    /// An identifier for continuing after this hit.
    pub(super) hit: String,
    #[serde(flatten)]
    path: PathFields,
    /// The session id.
    id: String,
    entry_id: Option<String>,
    field: Option<&'static str>,
    active: Option<bool>,
    snippet: String,
    ranges: Vec<[usize; 2]>,
    /// The time of the entry, or of the session if the hit has no entry.
    time: Option<String>,
    /// The session title.
    title: String,
    name: Option<String>,
    cwd: String,
    project: String,
    /// The name of the linked worktree.
    worktree: Option<String>,
    modified: Option<String>,
    #[serde(skip)]
    text: HitText,
}

/// The parts of a hit that its JSON form lacks.
#[derive(Default)]
struct HitText {
    modified: Option<i64>,
    cost: f64,
    /// `true` for a hit in an entry.
    is_entry: bool,
    /// The label of the entry.
    label: Option<String>,
    /// `true` if the text begins before the snippet.
    is_cut: bool,
}

/// The minimum width of lines with the IDs of entries.
const WITH_ENTRIES: usize = 60;

/// An entry with a match, and the field.
pub(super) type EntryPlace = (EntryIndex, MatchField);

/// Texts that an entry can have beside others. The identifiers of their hits contain the kind of text.
const OTHER_FIELDS: [&str; 3] = [LABEL, "thinking", "arguments"];

/// The field of labels.
pub(super) const LABEL: &str = "label";

/// Returns the identifier of a hit in a field: the session id and the offset of its line, which are stable.
pub(super) fn hit_name(session: &Digest, offset: Option<u64>, field: Option<&str>) -> String {
    let id = &session.header.id;
    match (offset, field.filter(|field| OTHER_FIELDS.contains(field))) {
        (None, _) => id.clone(),
        (Some(offset), None) => format!("{id}@{offset}"),
        (Some(offset), Some(field)) => format!("{id}@{offset}:{field}"),
    }
}

impl HitLine {
    /// Creates the hit of a session that matched by its title.
    pub(super) fn of_title(session: &Digest, found: &SessionHit, matcher: &Matcher) -> Self {
        let (field, text) = match found.hit.place.as_ref().map(|place| place.field) {
            Some(MatchField::Name) => (Some("name"), session.name.as_deref().unwrap_or_default()),
            Some(MatchField::Id) => (Some("id"), &*session.header.id),
            Some(MatchField::Cwd) => (Some("cwd"), &*session.header.cwd),
            Some(MatchField::FirstMessage) => {
                (Some("firstMessage"), capped(session.first_message.as_deref().unwrap_or_default()))
            }
            _ => (None, session.title()),
        };
        let snippet = Snippet::around(text, &matcher.marks(text, found.hit.tier == Tier::Fuzzy));
        Self::new(session, (None, None), (field, None), session.modified, snippet)
    }

    /// Creates the hits in entries of a session.
    pub(super) fn of_entries(
        session: &Digest,
        places: Vec<EntryPlace>,
        found: &SessionHit,
        matcher: &Matcher,
    ) -> Result<Vec<Self>> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let mut reader = EntryReader::open(&session.path)?;
        let has_ids = session.header.version >= 2.0;
        let mut lines = Vec::new();
        for (at, field) in places {
            let Some(&offset) = session.details().offsets.get(at as usize) else { continue };
            let line = reader.line_at(offset)?;
            let entry = parse::line(&line).ok().flatten();
            let (field, said) = match field {
                MatchField::Label => {
                    (LABEL, session.labels.iter().find(|label| label.at == at).map(|label| label.text.to_string()))
                }
                MatchField::File => {
                    let touches = &session.details().touches;
                    let touched = touches.all.iter().find(|touched| touched.entry == at);
                    ("file", touched.map(|touched| touches.paths.get(touched.path).to_string()))
                }
                _ => {
                    let said = entry.as_ref().and_then(searched);
                    said.map_or(("", None), |(field, text)| (field.name(), Some(text)))
                }
            };
            let said = said.unwrap_or_default();
            let snippet = Snippet::around(&said, &matcher.marks(&said, found.hit.tier == Tier::Fuzzy));
            let time = entry.as_ref().and_then(|entry| entry.timestamp.and_then(RawTime::ms));
            let id = entry.and_then(|entry| entry.id).filter(|_| has_ids).map(|id| id.text().into_owned());
            let what = (Some(field), Some(session.is_active(at)));
            lines.push(Self::new(session, (Some(offset), id), what, time, snippet));
        }
        Ok(lines)
    }

    /// Creates a hit at an offset with the id of its entry, the matching text, and `true` if the entry is on the active
    /// path.
    pub(super) fn new(
        session: &Digest,
        (offset, entry_id): (Option<u64>, Option<String>),
        (field, active): (Option<&'static str>, Option<bool>),
        time: Option<i64>,
        snippet: Snippet,
    ) -> Self {
        let has_labels = !session.labels.is_empty();
        let at = offset.filter(|_| has_labels).and_then(|at| session.details().offsets.binary_search(&at).ok());
        let label = session.labels.iter().find(|label| at == Some(label.at as usize));
        let label = label.filter(|_| field != Some(LABEL)).map(|label| label.text.to_string());
        Self {
            hit: hit_name(session, offset, field),
            path: (&*session.path).into(),
            id: session.header.id.clone(),
            entry_id,
            field,
            active,
            text: HitText {
                modified: session.modified,
                cost: session.cost,
                is_entry: offset.is_some(),
                label,
                is_cut: snippet.is_cut,
            },
            snippet: snippet.text,
            ranges: snippet.ranges.into_iter().map(|range| [range.start, range.end]).collect(),
            time: time.and_then(time::iso),
            title: utf16_prefix(session.title(), MAX_TITLE).to_string(),
            name: session.name.as_deref().map(|name| utf16_prefix(name, MAX_TITLE).into()),
            cwd: session.header.cwd.clone(),
            project: file_name(Path::new(&session.header.cwd)),
            worktree: None,
            modified: session.modified.and_then(time::iso),
        }
    }

    /// Sets the project and the worktree of the session.
    pub(super) fn set_worktree(&mut self, worktrees: &Worktrees) {
        self.project = file_name(Path::new(&*worktrees.project(&self.cwd)));
        self.worktree = worktrees.of(&self.cwd).map(|worktree| worktree.name.clone());
    }

    /// Returns `true` if the line of the session shows the match, because it is in the title.
    fn is_in_title(&self) -> bool {
        let is_title = |field| field == "name" || field == "firstMessage" && self.name.is_none();
        !self.text.is_entry && self.field.is_none_or(is_title)
    }

    /// Returns `true` for two hits of a session.
    pub(super) fn is_of_session(&self, other: &Self) -> bool {
        self.path.path == other.path.path
    }

    /// Prints the hits of a session: a line with its ID, title, project, time and cost, and a line for each hit. No line is
    /// wider than `columns`.
    pub(super) fn print(hits: &[Self], ids: usize, columns: usize, glyphs: &Glyphs) -> Result<()> {
        let [first, ..] = hits else { return Ok(()) };
        let print = |line: &[Span]| output::line(output::paint_all(&cut_spans(line, columns, glyphs)));
        let when = first.text.modified.map_or("?".into(), |time| time::when(now(), time, &TimeZone::system()));
        let (id, cost) = (clean(utf16_prefix(&first.id, ids)), dollars(first.text.cost));
        let facts = format!("  {}  {when}  ", clean(&first.project));
        let room = columns.saturating_sub(width(&id) + 2 + width(&facts) + width(&cost));
        let mut line = vec![Span::dim(format!("{id}  "))];
        match hits.iter().find(|hit| hit.is_in_title()) {
            Some(hit) => line.extend(hit.excerpt(Tone::Strong, room, glyphs)),
            None => line.push(Span::new(Tone::Strong, words(&first.title, room.min(MAX_TITLE), glyphs))),
        }
        line.extend([Span::text(facts), Span::new(Tone::Cost, cost)]);
        print(&line)?;
        let below: Vec<&Self> = hits.iter().filter(|hit| !hit.is_in_title()).collect();
        let role = |hit: &Self| hit.field.unwrap_or_default();
        let entry = |hit: &Self| clean(hit.entry_id.as_deref().unwrap_or_default()).into_owned();
        let roles = below.iter().map(|hit| role(hit).len()).max().unwrap_or_default();
        let entries = below.iter().map(|hit| width(&entry(hit))).max().unwrap_or_default();
        let has_entries = entries > 0 && columns >= WITH_ENTRIES;
        for hit in below {
            let mut line = vec![Span::text("  ")];
            if has_entries {
                line.push(Span::dim(format!("{:entries$}  ", entry(hit))));
            }
            let tone = match role(hit) {
                "user" => Tone::User,
                "assistant" => Tone::Assistant,
                "label" => Tone::Label,
                "summary" => Tone::Summary,
                _ => Tone::Tool,
            };
            line.push(Span::new(tone, format!("{:roles$}  ", role(hit))));
            line.extend((hit.active == Some(false)).then(|| Span::dim("abandoned  ")));
            if let Some(label) = &hit.text.label {
                line.push(Span::new(Tone::Label, format!("[{}] ", words(label, columns / 4, glyphs))));
            }
            let room = columns.saturating_sub(spans_width(&line));
            line.extend(hit.excerpt(Tone::Text, room, glyphs));
            print(&line)?;
        }
        Ok(())
    }

    /// Returns the excerpt in one line of at most `columns`, around the first match.
    fn excerpt(&self, tone: Tone, columns: usize, glyphs: &Glyphs) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (at, c) in self.snippet.chars().enumerate() {
            let is_space = c.is_whitespace();
            if is_space && spans.last().is_none_or(|last| last.text.ends_with(' ')) {
                continue;
            }
            let is_match = self.ranges.iter().any(|&[from, to]| (from..to).contains(&at));
            let c = if is_space { ' ' } else { clean_char(c) };
            push_span(&mut spans, if is_match { Tone::Match } else { tone }, c.encode_utf8(&mut [0; 4]));
        }
        if let [before, rest @ ..] = &mut spans[..]
            && before.tone != Tone::Match
            && !rest.is_empty()
        {
            let mark = if self.text.is_cut { &*glyphs.ellipsis } else { "" };
            // A third of the width, or more if the rest is short.
            let room = columns.saturating_sub(spans_width(rest)).max(columns / 3);
            before.text = glyphs.cut_start(&format!("{mark}{}", before.text), room).into_owned();
        }
        cut_spans(&spans, columns, glyphs)
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "there is often just one")]
mod tests {
    use super::*;
    use crate::base::text::{ASCII, UNICODE, spans_text};

    #[test]
    fn an_excerpt_has_the_match_at_each_width() {
        let digest = Digest::default();
        for (before, after) in [(0, 200), (40, 74), (110, 0), (3, 3)] {
            let text = format!("{}ne\n\u{1b}\u{20} edle{}", "漢 ".repeat(before / 3), " hay".repeat(after / 4));
            let start = text.find("ne").map(|at| text[..at].chars().count()).unwrap();
            let snippet = Snippet { text: text.clone(), ranges: vec![start..start + 9], is_cut: false };
            let hit = HitLine::new(&digest, (None, None), (None, None), None, snippet);
            for (columns, glyphs) in (12..140).flat_map(|columns| [(columns, &UNICODE), (columns, &ASCII)]) {
                let spans = hit.excerpt(Tone::Text, columns, glyphs);
                let found: Vec<&str> =
                    spans.iter().filter(|span| span.tone == Tone::Match).map(|span| &*span.text).collect();
                assert!(spans_width(&spans) <= columns, "{columns}: {spans:?}");
                assert!(found.concat().starts_with("ne ") || columns < 20, "{columns}: {spans:?}");
                assert!(!found.is_empty(), "{columns}: {spans:?}");
                let is_whole = !spans_text(&spans).contains(&*glyphs.ellipsis);
                assert_eq!(
                    is_whole,
                    width(&text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{1b}', " ")) <= columns
                );
            }
        }
    }
}
