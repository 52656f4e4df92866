//! The types of qualifier values.

pub(crate) mod bound;
pub(crate) mod date;
pub(crate) mod path;
pub(crate) mod text;

use std::fmt::{Debug, Display};

/// The value after the colon of a qualifier. Its display form parses to the same value.
pub(crate) trait QualifierValue: Clone + Debug + Display + PartialEq {
    /// Parses a non-empty text. Returns `None` if it is incomplete, and an error that lists the valid forms.
    fn read(text: &str) -> Result<Option<Self>, String>;

    /// Returns an example of each form, or none if any text is valid.
    fn forms() -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the values to suggest, the most likely first.
    fn choices() -> Vec<&'static str> {
        Vec::new()
    }
}
