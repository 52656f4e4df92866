//! Shared code of the tests: session files, temporary home directories, and the extent of tests. The binary `costs`
//! includes it, too.

#![allow(dead_code, reason = "`costs` does not use all of it")]

pub(crate) mod broken;
pub(crate) mod by_hand;
pub(crate) mod effort;
pub(crate) mod home;
pub(crate) mod repository;
pub(crate) mod session;
#[cfg(unix)]
pub(crate) mod signals;
