//! The command line: output, changes, directories searched, and exit codes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod archiving;
mod changing;
mod cleaning;
#[path = "../common/mod.rs"]
mod common;
mod comparing;
mod completing;
mod context;
mod conversations;
mod doctor;
mod entries;
mod exit_codes;
mod export;
mod file_states;
mod hostile;
mod importing;
mod in_pi;
mod index;
mod json;
mod live;
#[cfg(unix)]
mod lost_work;
mod marks;
mod moving;
mod names;
mod newer;
mod outlines;
mod parents;
mod pitree;
mod privacy;
mod reading;
mod resuming;
mod scrubbing;
mod searching;
mod secrets;
mod session_arguments;
mod setup;
mod shells;
mod showing;
mod slim;
mod space;
mod stats;
mod trashing;
#[cfg(unix)]
mod waiting;
mod worktrees;
