//! The real program in a pseudo-terminal, used as a person would use it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

mod ask;
mod away;
mod browse;
mod change;
#[path = "../common/mod.rs"]
mod common;
mod config;
mod find;
mod home;
mod leave;
mod live;
mod looks;
mod mouse;
mod odd;
mod past;
mod picker;
mod read;
mod real_pi;
mod remembered;
mod resize;
mod resume;
mod search;
#[cfg(unix)]
mod shells;
mod sizes;
mod tables;
mod terminal;
