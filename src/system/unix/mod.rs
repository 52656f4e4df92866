//! As Unix has it.

pub(crate) mod files;
pub(crate) mod programs;
pub(crate) mod signals;
pub(crate) mod terminal;
