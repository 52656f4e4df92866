//! What every qualifier has to say of itself.

use crate::search::candidate::{Candidate, MatchPlace};
use crate::search::qualifier::value::QualifierValue;
use crate::search::scope::QueryScope;
use crate::search::value_lists::ValueList;
use crate::session::entry::Entry;
use crate::session::links::Index;
use crate::session::tree::features::EntryFeature;

/// A qualifier.
pub(crate) trait Qualifier {
    /// What stands behind the colon: how it is read, printed and completed.
    type Value: QualifierValue;

    /// What stands before the colon, in lowercase letters.
    const NAME: &'static str;
    /// How "finds sessions" goes on, in one line.
    const HELP: &'static str;
    /// It with a value that says something.
    const EXAMPLE: &'static str;

    /// The values to choose from, the likeliest first.
    fn choices(_: ValueList<'_>) -> Vec<&str> {
        Self::Value::choices()
    }

    /// What a value finds, in words, where it doesn't say so itself.
    fn means(_: &str) -> &'static str {
        ""
    }

    /// Whether one value certainly holds for no session for which the other one doesn't.
    fn implies(narrow: &Self::Value, wide: &Self::Value) -> bool {
        narrow == wide
    }

    /// Makes a value ready to be held against many sessions.
    fn test(value: &Self::Value, here: &QueryScope) -> Test;

    /// For which entries of a session a value holds.
    fn scope(_: &Self::Value, _: &QueryScope) -> EntryScope {
        EntryScope::Session
    }
}

/// Names entries by what is known of a session.
pub(crate) type EntryFilter = Box<dyn Fn(&Candidate<'_>) -> Vec<Index> + Send + Sync>;

/// For which entries of a session something holds.
pub(crate) enum EntryScope {
    /// For all of them or for none.
    Session,
    /// For those that what is known of the session names.
    Known(EntryFilter),
    /// For those with a feature in the tree of the session, where nothing else is asked of entries.
    Tree(EntryFeature),
    /// For those whose line says so.
    Read(Box<dyn Fn(&Entry<'_>) -> bool + Send + Sync>),
}

/// Whether a qualifier holds for a session.
pub(crate) type Test = Box<dyn Fn(&Candidate<'_>) -> TestResult + Send + Sync>;

/// Whether it holds.
#[derive(Debug, PartialEq)]
pub(crate) enum TestResult {
    No,
    /// It does, and this is where.
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
