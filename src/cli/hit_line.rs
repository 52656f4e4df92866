//! The line of a hit, as JSON or as a row of a table.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::paths::{file_name, shorten};
use crate::base::time;
use crate::catalog::search::SessionHit;
use crate::cli::output::PathFields;
use crate::cli::table;
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
    age: Option<i64>,
}

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
        Self {
            hit: hit_name(session, offset, field),
            path: (&*session.path).into(),
            id: session.header.id.clone(),
            entry_id,
            field,
            active,
            snippet: snippet.text,
            ranges: snippet.ranges.into_iter().map(|range| [range.start, range.end]).collect(),
            time: time.and_then(time::iso),
            title: utf16_prefix(session.title(), MAX_TITLE).to_string(),
            name: session.name.as_deref().map(|name| utf16_prefix(name, MAX_TITLE).into()),
            cwd: session.header.cwd.clone(),
            project: file_name(Path::new(&session.header.cwd)),
            worktree: None,
            modified: session.modified.and_then(time::iso),
            age: session.modified,
        }
    }

    /// Sets the project and the worktree of the session.
    pub(super) fn set_worktree(&mut self, worktrees: &Worktrees) {
        self.project = file_name(Path::new(&*worktrees.project(&self.cwd)));
        self.worktree = worktrees.of(&self.cwd).map(|worktree| worktree.name.clone());
    }

    /// Returns the row in the table, with ids of the given length.
    pub(super) fn row(&self, ids: usize, home: &str) -> [String; 7] {
        [
            table::age(self.age),
            utf16_prefix(&self.id, ids).into(),
            shorten(&self.cwd, home).into(),
            self.title.clone(),
            if self.active == Some(false) { "abandoned".into() } else { String::new() },
            self.field.unwrap_or_default().into(),
            self.snippet.split_whitespace().collect::<Vec<_>>().join(" "),
        ]
    }
}
