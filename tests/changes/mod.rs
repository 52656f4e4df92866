//! Changes of session files through the catalog: no sequence of changes loses data, even with killed processes, full
//! disks or concurrent writers.

#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test may fail anywhere, not only in a function marked #[test], and speaks with the copies of itself"
)]

mod bulk;
#[cfg(target_os = "linux")]
mod concurrent_pi;
mod faults;
mod files;
#[cfg(target_os = "linux")]
mod late_lines;
mod marks;
mod moving;
mod newer;
mod rewriting;
mod sequences;
#[cfg(target_os = "linux")]
mod syscalls;
mod trash;
mod world;
