//! The conditions of `tag:`, `note:`, `has:` and `is:pinned`. The query scope has the lasting marks.

use std::fmt;

use crate::base::normalize::fold;
use crate::search::candidate::Test;
use crate::search::qualifier::contains;
use crate::search::qualifier::value::{QueryScope, Text};
use crate::session::marks::Marks;

/// A kind of mark that a session has, itself or on one of its entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MarkKind {
    /// A note.
    Note,
    /// A tag.
    Tag,
}

impl MarkKind {
    /// All kinds with their names and meanings.
    const TABLE: [(Self, &'static str, &'static str); 2] =
        [(Self::Note, "note", "sessions with a note, also on an entry"), (Self::Tag, "tag", "sessions with a tag")];

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let found = Self::TABLE.iter().find(|(_, name, _)| *name == text).map(|(kind, ..)| *kind);
        found.ok_or_else(|| format!("unknown value has:{text} (known: {})", Self::names().join(", ")))
    }

    pub(super) fn names() -> Vec<&'static str> {
        Self::TABLE.iter().map(|(_, name, _)| *name).collect()
    }

    /// Describes the kind with a name.
    pub(super) fn means(name: &str) -> &'static str {
        Self::TABLE.iter().find(|(_, known, _)| *known == name).map_or("", |(.., means)| means)
    }
}

impl fmt::Display for MarkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::TABLE.iter().find(|(kind, ..)| kind == self).map_or("", |(_, name, _)| name))
    }
}

/// Returns the test for pinned sessions.
pub(super) fn pinned(here: &QueryScope) -> Test {
    of_session(here, Marks::is_pinned)
}

/// Returns the test for sessions with a mark of a kind.
pub(super) fn has(kind: MarkKind, here: &QueryScope) -> Test {
    match kind {
        MarkKind::Note => note(None, here),
        MarkKind::Tag => of_session(here, |marks, id| marks.tags(id).next().is_some()),
    }
}

/// Returns the test for sessions with a matching tag. A leading `+` is optional.
pub(super) fn tag(wanted: &Text, here: &QueryScope) -> Test {
    let is_such = contains(&Text(wanted.0.trim_start_matches('+').into()));
    of_session(here, move |marks, id| marks.tags(id).any(&is_such))
}

/// Returns the test for sessions with a matching note, or any note, also on an entry.
pub(super) fn note(wanted: Option<&Text>, here: &QueryScope) -> Test {
    let wanted = wanted.map(Text::folded);
    let is_such = move |note: &str| wanted.as_ref().is_none_or(|wanted| fold(note).contains(wanted));
    of_session(here, move |marks, id| {
        marks.note(id).is_some_and(&is_such) || marks.entry_notes(id).any(|(_, note)| is_such(note))
    })
}

fn of_session(here: &QueryScope, holds: impl Fn(&Marks, &str) -> bool + Send + Sync + 'static) -> Test {
    let marks = here.marks.clone();
    Box::new(move |session| holds(&marks, &session.digest.header.marks_key()).into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::candidate::TestResult;
    use crate::search::qualifier::named;
    use crate::search::qualifier::test_sample::{Sample, here};
    use crate::session::marks::Mark;

    #[test]
    fn sessions_match_by_their_marks() {
        let session = Sample::of(&[]);
        let (mut marks, id) = (Marks::default(), session.digest.header.marks_key().into_owned());
        let holds = |marks: &Marks, query: &str| {
            let (name, value) = query.split_once(':').unwrap();
            let here = QueryScope { marks: Arc::new(marks.clone()), ..here() };
            let test = named(name).unwrap().read(value).unwrap().unwrap().test(&here);
            test(&session.candidate()) != TestResult::No
        };
        let all = ["is:pinned", "tag:REL", "tag:+release", "has:tag", "has:note", "note:flaky"];
        assert!(all.iter().all(|query| !holds(&marks, query)));
        marks.set(&id, &Mark::EntryNote("e".into()).key(), Some("Flaky test".into()));
        assert_eq!(all.map(|query| holds(&marks, query)), [false, false, false, false, true, true]);
        marks.set(&id, &Mark::Tag("release".into()).key(), Some(true.into()));
        marks.set(&id, &Mark::Pin.key(), Some(true.into()));
        assert!(all.iter().all(|query| holds(&marks, query)));
        assert!(!holds(&marks, "tag:draft") && !holds(&marks, "note:x"));
    }
}
