//! What the test programs share: session files, a home of its own for each test, and how long tests may take. A program
//! takes it in by `#[path = "../common/mod.rs"] mod common;` and builds on it what it alone needs.

#![allow(dead_code, reason = "no program uses all of it")]

pub(crate) mod by_hand;
pub(crate) mod effort;
pub(crate) mod home;
pub(crate) mod session;
