//! The program in a pseudo-terminal. Other tests beside would slow it down.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod common;
mod end_to_end;
