//! The types of qualifier values.

pub(crate) mod bound;
pub(crate) mod date;
pub(crate) mod path;
pub(crate) mod text;
