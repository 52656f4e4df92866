//! Platform-specific code for Unix.

pub(crate) mod files;
pub(crate) mod input;
pub(crate) mod programs;
pub(crate) mod signals;
pub(crate) mod terminal;
