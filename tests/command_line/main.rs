//! The command line: what it prints, what it changes, where it looks, and how it ends.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

mod changing;
mod outlines;
mod pitree;
mod reading;
mod resuming;
mod trashing;
