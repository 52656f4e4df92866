//! The kinds of values that qualifiers have.

pub(crate) mod bound;
pub(crate) mod date;
pub(crate) mod path;
pub(crate) mod text;

use std::fmt::{Debug, Display};

/// What stands behind the colon of a qualifier. It prints as a text that reads as the same value.
pub(crate) trait QualifierValue: Clone + Debug + Display + PartialEq {
    /// Reads it from a text that is not empty; `None` while it is unfinished. The error says what may stand there.
    fn read(text: &str) -> Result<Option<Self>, String>;

    /// How it may be written, an example for each way; none if in any way.
    fn forms() -> Vec<&'static str> {
        Vec::new()
    }

    /// What to offer while it is typed, the likeliest first.
    fn choices() -> Vec<&'static str> {
        Vec::new()
    }
}
