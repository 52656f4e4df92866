//! The session format, without I/O. An [`entry`] is parsed from a line with [`json`]. The [`lines`] of a file form a
//! [`tree`], or a [`digest`] without a tree; both report each [`problem`], and [`health`] lists all
//! findings with their lines. [`search_text`] contains
//! the texts for interactive search; an [`activity`] summarizes tool calls; `text_spans` skips parts of a line without text. [`space`] counts bytes by kind. [`links`] resolves parents. [`marks`] are pins, tags and
//! notes of users. A
//! [`family`] consists of related files, and [`compare`] compares two branches. A [`prompt`] lists the messages that the
//! model receives. [`replay`] restores the
//! files that a session read and changed. New lines and files are built in [`write`](mod@write).

pub mod activity;
pub mod compare;
pub(crate) mod contexts;
pub mod digest;
pub mod entry;
pub mod family;
pub mod health;
pub mod json;
pub mod last_seen;
pub mod lines;
pub mod links;
pub mod marks;
pub mod problem;
pub mod prompt;
pub mod replay;
pub mod search_text;
pub mod search_titles;
pub mod space;
pub mod stats;
pub(crate) mod text_spans;
pub mod tree;
pub(crate) mod trigrams;
pub mod worktrees;
pub mod write;
