//! Compiled qualifiers: tests of sessions and of their entries.

use crate::search::candidate::{Candidate, MatchPlace};
use crate::session::entry::Entry;
use crate::session::links::Index;
use crate::session::tree::features::EntryFeature;

/// A function that returns matching entries from the cached data of a session.
pub(crate) type EntryFilter = Box<dyn Fn(&Candidate<'_>) -> Vec<Index> + Send + Sync>;

/// The entries for which a term holds.
pub(crate) enum EntryScope {
    /// All entries or none.
    Session,
    /// The entries returned by a filter over cached data.
    Known(EntryFilter),
    /// The entries with a feature in the tree, if no other term is about entries.
    Tree(EntryFeature),
    /// The entries whose line passes a test.
    Read(Box<dyn Fn(&Entry<'_>) -> bool + Send + Sync>),
}

/// A compiled test of sessions.
pub(crate) type Test = Box<dyn Fn(&Candidate<'_>) -> TestResult + Send + Sync>;

/// The result of a test.
#[derive(Debug, PartialEq)]
pub(crate) enum TestResult {
    No,
    /// The session matches at this place.
    At(Option<MatchPlace>),
}

impl From<bool> for TestResult {
    fn from(holds: bool) -> Self {
        if holds { Self::At(None) } else { Self::No }
    }
}

impl From<Option<MatchPlace>> for TestResult {
    fn from(place: Option<MatchPlace>) -> Self {
        place.map_or(Self::No, |place| Self::At(Some(place)))
    }
}
