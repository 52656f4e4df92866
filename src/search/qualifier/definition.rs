//! What every qualifier has to say of itself.

use crate::search::candidate::{Candidate, MatchPlace};
use crate::search::qualifier::value::Value;
use crate::search::scope::HereAndNow;
use crate::search::value_lists::Values;
use crate::session::entry::Entry;
use crate::session::links::Index;
use crate::session::tree::features::Feature;

/// A qualifier.
pub(crate) trait Qualifier {
    /// What stands behind the colon: how it is read, printed and completed.
    type Value: Value;

    /// What stands before the colon, in lowercase letters.
    const NAME: &'static str;
    /// How "finds sessions" goes on, in one line.
    const HELP: &'static str;
    /// It with a value that says something.
    const EXAMPLE: &'static str;

    /// The values to choose from, the likeliest first.
    fn choices(_: Values<'_>) -> Vec<&str> {
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
    fn test(value: &Self::Value, here: &HereAndNow) -> Test;

    /// For which entries of a session a value holds.
    fn scope(_: &Self::Value, _: &HereAndNow) -> Scope {
        Scope::Session
    }
}

/// Names entries by what is known of a session.
pub(crate) type Entries = Box<dyn Fn(&Candidate<'_>) -> Vec<Index> + Send + Sync>;

/// For which entries of a session something holds.
pub(crate) enum Scope {
    /// For all of them or for none.
    Session,
    /// For those that what is known of the session names.
    Known(Entries),
    /// For those with a feature in the tree of the session, where nothing else is asked of entries.
    Tree(Feature),
    /// For those whose line says so.
    Read(Box<dyn Fn(&Entry<'_>) -> bool + Send + Sync>),
}

/// Whether a qualifier holds for a session.
pub(crate) type Test = Box<dyn Fn(&Candidate<'_>) -> Holds + Send + Sync>;

/// Whether it holds.
#[derive(Debug, PartialEq)]
pub(crate) enum Holds {
    No,
    /// It does, and this is where.
    At(Option<MatchPlace>),
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::At(None) } else { Self::No }
    }
}

impl From<Option<MatchPlace>> for Holds {
    fn from(place: Option<MatchPlace>) -> Self {
        place.map_or(Self::No, |place| Self::At(Some(place)))
    }
}
