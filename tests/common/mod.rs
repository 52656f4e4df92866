//! Shared code of the test programs: session files, temporary home directories, and the extent of tests. A program
//! includes it with `#[path = "../common/mod.rs"] mod common;`.

#![allow(dead_code, reason = "no program uses all of it")]

pub(crate) mod broken;
pub(crate) mod by_hand;
pub(crate) mod effort;
pub(crate) mod home;
pub(crate) mod repository;
pub(crate) mod session;
#[cfg(unix)]
pub(crate) mod signals;
