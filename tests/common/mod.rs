//! Shared code of both test binaries: session files, temporary home directories, and the extent of tests.

#![allow(dead_code, reason = "no binary uses all of it")]

pub(crate) mod broken;
pub(crate) mod by_hand;
pub(crate) mod effort;
pub(crate) mod home;
pub(crate) mod reference;
pub(crate) mod repairing;
pub(crate) mod repository;
pub(crate) mod session;
#[cfg(unix)]
pub(crate) mod signals;
