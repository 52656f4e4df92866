//! Tests that count the memory allocations of their thread, which slows down all others: costs, and random input.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail anywhere, not only in a function marked #[test]"
)]

mod common;
mod costs;
mod fuzz;
