//! The trait of all qualifiers.

use crate::search::candidate::{Candidate, MatchPlace};
use crate::search::qualifier::value::QualifierValue;
use crate::search::scope::QueryScope;
use crate::search::value_lists::ValueList;
use crate::session::entry::Entry;
use crate::session::links::Index;
use crate::session::tree::features::EntryFeature;

/// A qualifier.
pub(crate) trait Qualifier {
    /// The type of the value, with parsing, printing and completion.
    type Value: QualifierValue;

    /// The name before the colon, in lowercase letters.
    const NAME: &'static str;
    /// The rest of the sentence "Qualifiers select sessions …", in one line.
    const HELP: &'static str;
    /// An example with a value.
    const EXAMPLE: &'static str;

    /// Returns the values to suggest, the most likely first.
    fn choices(_: ValueList<'_>) -> Vec<&str> {
        Self::Value::choices()
    }

    /// Describes a value that is not self-explanatory.
    fn means(_: &str) -> &'static str {
        ""
    }

    /// Returns `true` if every session that matches `narrow` also matches `wide`.
    fn implies(narrow: &Self::Value, wide: &Self::Value) -> bool {
        narrow == wide
    }

    /// Compiles a value into a test.
    fn test(value: &Self::Value, here: &QueryScope) -> Test;

    /// Returns the entries for which a value holds.
    fn scope(_: &Self::Value, _: &QueryScope) -> EntryScope {
        EntryScope::Session
    }
}

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

/// A compiled test of a qualifier.
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
