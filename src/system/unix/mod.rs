//! Platform-specific code for Unix.

mod children;
pub(crate) mod files;
pub(crate) mod input;
pub(crate) mod programs;
mod sequences;
pub(crate) mod signals;
pub(crate) mod terminal;
