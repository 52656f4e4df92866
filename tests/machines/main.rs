//! Other machines: lists and commands with their mirrors, synchronization, changes there, and connections that fail. The
//! machines are home directories of this one.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "../common/mod.rs"]
mod common;

mod changes;
mod cuts;
mod lists;
mod remote;
mod ssh;
mod sync;
mod world;
