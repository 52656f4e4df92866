//! pitree agrees with pi: what the program says of the fixtures, against what the real pi 0.87.1 said of them
//! (`fixtures/golden`, made by `scripts/pi/golden.mjs`) and against a slow, simple reader. Every difference that is
//! meant is listed with its reason, and must be there: one that is gone fails as well.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

mod changes;
#[path = "../common/mod.rs"]
mod common;
mod family;
mod lines;
mod list;
mod odd;
mod output;
mod prompts;
mod rows;
mod search;
mod sent;
mod slow;
mod summary;
mod tree;
mod world;
