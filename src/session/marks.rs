//! Lasting marks of sessions and entries: pins, tags and notes. pitree stores them in a file of its own, by session ID, so
//! that they follow a session through renaming, moving and the trash.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::javascript::js_trim;
use crate::base::sort;

/// The longest tag, in characters.
const MAX_TAG: usize = 100;

/// The longest note, in characters.
const MAX_NOTE: usize = 10_000;

/// The key of pins.
const PIN: &str = "pin";

/// The start of the keys of tags.
const TAG: &str = "tag:";

/// The key of notes of sessions.
const NOTE: &str = "note";

/// The start of the keys of notes of entries.
const ENTRY_NOTE: &str = "note@";

/// Separates the ID from the time in the key of a session. pi allows it in no ID (1.6.0).
const TIME: char = '@';

/// Returns the key of a session for its marks: its ID, or also the time of its creation in milliseconds since 1970 if the
/// user has chosen the ID. Several sessions can have such an ID (pi 1.6.0).
pub fn session_key(id: &str, created: Option<i64>) -> Cow<'_, str> {
    let is_uuid = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    match created.filter(|_| !is_uuid) {
        Some(created) => format!("{id}{TIME}{created}").into(),
        None => id.into(),
    }
}

/// Returns the ID in a [`session_key`] with a time.
pub(crate) fn id_of(key: &str) -> Option<&str> {
    key.split_once(TIME).map(|(id, _)| id)
}

/// A kind of mark, with its target within a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// The session is pinned.
    Pin,
    /// The session has a tag.
    Tag(String),
    /// The session has a note.
    Note,
    /// The entry with this ID has a note.
    EntryNote(String),
    /// A mark that only a newer pitree can interpret, by its key.
    Other(String),
}

impl Mark {
    /// Returns the key in the file of marks.
    pub fn key(&self) -> String {
        match self {
            Self::Pin => PIN.into(),
            Self::Tag(tag) => format!("{TAG}{tag}"),
            Self::Note => NOTE.into(),
            Self::EntryNote(entry) => format!("{ENTRY_NOTE}{entry}"),
            Self::Other(key) => key.clone(),
        }
    }

    /// Returns the mark with a key.
    pub fn of_key(key: &str) -> Self {
        match key {
            PIN => Self::Pin,
            NOTE => Self::Note,
            key => match (key.strip_prefix(TAG), key.strip_prefix(ENTRY_NOTE)) {
                (Some(tag), _) => Self::Tag(tag.into()),
                (_, Some(entry)) => Self::EntryNote(entry.into()),
                _ => Self::Other(key.into()),
            },
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pin => f.write_str("pin"),
            Self::Tag(tag) => write!(f, "tag +{tag}"),
            Self::Note => f.write_str("note"),
            Self::EntryNote(entry) => write!(f, "note on {entry}"),
            Self::Other(key) => write!(f, "{key:?}"),
        }
    }
}

/// The marks of a session by key. The values of unknown marks are preserved.
pub type SessionMarks = BTreeMap<String, Value>;

/// The marks of all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// The marks by [`session_key`].
    #[serde(default)]
    pub sessions: BTreeMap<String, SessionMarks>,
    /// Fields that only a newer pitree can interpret.
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Marks {
    /// Returns the marks of a session. Those that were set by ID alone hold for all sessions with the ID.
    pub fn of(&self, session: &str) -> Option<&SessionMarks> {
        let by_id = || self.sessions.get(id_of(session)?);
        self.sessions.get(session).or_else(by_id)
    }

    /// Returns the value of a mark.
    pub fn get(&self, session: &str, key: &str) -> Option<&Value> {
        self.of(session)?.get(key)
    }

    /// Sets the value of a mark, or removes the mark.
    pub fn set(&mut self, session: &str, key: &str, value: Option<Value>) {
        let mut marks = self.of(session).cloned().unwrap_or_default();
        match value {
            Some(value) => drop(marks.insert(key.into(), value)),
            None => drop(marks.remove(key)),
        }
        self.sessions.remove(session);
        // Without marks of its own, a session can have those of its ID.
        if !marks.is_empty() || self.of(session).is_some() {
            self.sessions.insert(session.into(), marks);
        }
    }

    /// Returns `true` for a pinned session.
    pub fn is_pinned(&self, session: &str) -> bool {
        self.get(session, PIN).is_some()
    }

    /// Iterates over the tags of a session in alphabetical order.
    pub fn tags(&self, session: &str) -> impl Iterator<Item = &str> {
        let marks = self.of(session).into_iter();
        let from = marks.flat_map(|marks| marks.range(TAG.to_owned()..));
        from.map_while(|(key, _)| key.strip_prefix(TAG))
    }

    /// Returns the note of a session.
    pub fn note(&self, session: &str) -> Option<&str> {
        self.get(session, NOTE)?.as_str()
    }

    /// Iterates over the notes of the entries of a session: the IDs of the entries, and the notes.
    pub fn entry_notes(&self, session: &str) -> impl Iterator<Item = (&str, &str)> {
        let marks = self.of(session).into_iter();
        let from = marks.flat_map(|marks| marks.range(ENTRY_NOTE.to_owned()..));
        from.map_while(|(key, note)| Some((key.strip_prefix(ENTRY_NOTE)?, note.as_str().unwrap_or_default())))
    }

    /// Returns the note of an entry.
    pub fn entry_note(&self, session: &str, entry: &str) -> Option<&str> {
        self.get(session, &format!("{ENTRY_NOTE}{entry}"))?.as_str()
    }

    /// Returns `true` if a session is pinned.
    pub fn has_pins(&self) -> bool {
        self.sessions.keys().any(|session| self.is_pinned(session))
    }

    /// Returns `true` if a session has a tag.
    pub fn has_tags(&self) -> bool {
        self.sessions.keys().any(|session| self.tags(session).next().is_some())
    }

    /// Returns all tags, those of most sessions first.
    pub fn tags_by_frequency(&self) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tag in self.sessions.keys().flat_map(|session| self.tags(session)) {
            *counts.entry(tag).or_default() += 1;
        }
        let mut tags: Vec<(&str, usize)> = counts.into_iter().collect();
        sort::by_key(&mut tags, |&(_, count)| Reverse(count));
        tags.into_iter().map(|(tag, _)| tag.to_owned()).collect()
    }
}

/// Returns a tag as it is stored: without `+` or `#` at its start.
///
/// # Errors
/// The tag is empty, too long, or contains spaces or control characters.
pub fn clean_tag(text: &str) -> Result<String, String> {
    let tag = js_trim(text).trim_start_matches(['+', '#']);
    if tag.is_empty() {
        return Err("a tag cannot be empty".into());
    }
    if tag.chars().any(|c| c.is_whitespace() || c.is_control() || c == ',') {
        return Err(format!("invalid tag {tag:?}: a tag has no spaces or commas"));
    }
    match tag.chars().count() {
        characters if characters > MAX_TAG => Err(format!("a tag has at most {MAX_TAG} characters, not {characters}")),
        _ => Ok(tag.into()),
    }
}

/// Returns a note as it is stored: trimmed, with line breaks but without other control characters. An empty text clears
/// the note.
///
/// # Errors
/// The note is too long.
pub fn clean_note(text: &str) -> Result<String, String> {
    let text = text.replace("\r\n", "\n");
    let note: String = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    let note = js_trim(&note);
    match note.chars().count() {
        characters if characters > MAX_NOTE => {
            Err(format!("a note has at most {MAX_NOTE} characters, not {characters}"))
        }
        _ => Ok(note.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(marks: &mut Marks, mark: &Mark, value: Value) {
        marks.set("s", &mark.key(), Some(value));
    }

    #[test]
    fn sessions_with_the_same_chosen_id_have_their_own_marks() {
        let uuid = "0199f2c1-aaaa-7000-8000-000000000001";
        assert_eq!((&*session_key(uuid, Some(1)), &*session_key("review", None)), (uuid, "review"));
        let keys = [1, 2].map(|created| session_key("review", Some(created)).into_owned());
        let mut marks = Marks::default();
        marks.set("review", PIN, Some(true.into()));
        assert!(keys.iter().all(|key| marks.is_pinned(key)), "set by an earlier version");
        marks.set(&keys[0], PIN, None);
        marks.set(&keys[1], NOTE, Some("n".into()));
        assert_eq!(
            keys.each_ref().map(|key| (marks.is_pinned(key), marks.note(key))),
            [(false, None), (true, Some("n"))]
        );
        marks.set("review", PIN, None);
        marks.set(&keys[0], PIN, None);
        assert_eq!(marks.sessions.keys().collect::<Vec<_>>(), [&keys[1]]);
    }

    #[test]
    fn marks_are_found_by_kind() {
        let mut marks = Marks::default();
        mark(&mut marks, &Mark::Pin, true.into());
        mark(&mut marks, &Mark::Tag("b".into()), true.into());
        mark(&mut marks, &Mark::Tag("a".into()), true.into());
        mark(&mut marks, &Mark::Note, "n".into());
        mark(&mut marks, &Mark::EntryNote("e".into()), "m".into());
        mark(&mut marks, &Mark::Other("tagging".into()), 1.into());
        assert!(marks.is_pinned("s") && !marks.is_pinned("t"));
        assert_eq!(marks.tags("s").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((marks.note("s"), marks.entry_note("s", "e")), (Some("n"), Some("m")));
        assert_eq!(marks.entry_notes("s").collect::<Vec<_>>(), [("e", "m")]);
        let keys: Vec<String> = marks.sessions["s"].keys().cloned().collect();
        keys.iter().for_each(|key| assert_eq!(Mark::of_key(key).key(), *key));
        keys.iter().for_each(|key| marks.set("s", key, None));
        assert_eq!(marks, Marks::default());
    }

    #[test]
    fn unknown_fields_and_marks_are_preserved() {
        let text = r#"{"sessions":{"s":{"color":{"a":[1]},"pin":true}},"later":{"x":1}}"#;
        let marks: Marks = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&marks).unwrap(), text);
    }

    #[test]
    fn tags_and_notes_are_cleaned() {
        assert_eq!(clean_tag(" +release ").as_deref(), Ok("release"));
        assert_eq!(clean_tag("#v1-0").as_deref(), Ok("v1-0"));
        for tag in ["", "+", "a b", "a\u{7}", "a,b", &"x".repeat(101)] {
            assert!(clean_tag(tag).is_err(), "{tag:?}");
        }
        assert_eq!(clean_note(" a\r\nb\u{1b}[m \n").as_deref(), Ok("a\nb [m"));
        assert!(clean_note(&"x".repeat(10_001)).is_err());
    }
}
