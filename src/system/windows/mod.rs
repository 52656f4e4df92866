//! Platform-specific code for Windows.

#![allow(clippy::unnecessary_wraps, reason = "what cannot fail here may do so on Unix")]

pub(crate) mod files;
pub(crate) mod input;
pub(crate) mod programs;
pub(crate) mod signals;
pub(crate) mod terminal;
