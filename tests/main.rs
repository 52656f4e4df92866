//! Most tests of the program and of its parts, in one binary, because linking takes longer than most tests. `cargo test
//! --test all browser::` runs the suite `browser`. Tests that count allocations are in the binary `counted`, those that wait
//! for a terminal in `terminal`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may fail anywhere, not only in a function marked #[test]"
)]

mod agreement;
mod architecture;
mod browser;
#[cfg(unix)]
mod changes;
mod command_line;
mod common;
mod docs;
mod health;
#[cfg(unix)]
mod index;
#[cfg(unix)]
mod machines;
mod replay;
mod secrets;
mod stats;
