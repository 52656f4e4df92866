//! Other machines: their mirrors, changes, and connections that fail. The machines are home directories of this one.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../common/mod.rs"]
mod common;

mod changes;
mod cuts;
mod remote;
mod ssh;
mod sync;
