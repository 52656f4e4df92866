//! What can be wrong with a session file: as facts, and in words where it is shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that is wrong with a session file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Problem {
    /// The file is of this version, which is newer than what pitree knows.
    Newer(f64),
    /// Lines that are not JSON, which pi skips.
    NotJson {
        /// How many.
        lines: usize,
        /// Where the first of them starts, in bytes.
        first: u64,
    },
    /// Lines that are too long to be read.
    TooLong {
        /// How many.
        lines: usize,
        /// Where the first of them starts, in bytes.
        first: u64,
    },
    /// The last line is cut off: no line break follows it, and it is not JSON.
    CutOff,
    /// So many entries have an id that stood before.
    DoubleIds(usize),
    /// So many entries have a parent that is not in the file.
    UnknownParents(usize),
    /// So many cycles of parents: pi hangs in them (0.87.1).
    Cycles(usize),
    /// A message has no content: pi's list leaves the session out (0.87.1).
    NoContent,
    /// A text block of an assistant holds no text: pi's `/tree` fails (0.87.1).
    NoText,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut count = |count: usize, one: &str, many: &str| match count {
            1 => write!(f, "1 {one}"),
            count => write!(f, "{count} {many}"),
        };
        match *self {
            Self::Newer(version) => write!(
                f,
                "a newer format: version {version}, which pitree {} doesn't know; nothing is written to it",
                env!("CARGO_PKG_VERSION")
            ),
            Self::NotJson { lines: 1, first } => write!(f, "1 line is not JSON and is skipped (at byte {first})"),
            Self::NotJson { lines, first } => {
                write!(f, "{lines} lines are not JSON and are skipped (the first at byte {first})")
            }
            Self::TooLong { lines: 1, first } => write!(f, "1 line is too long to be read (at byte {first})"),
            Self::TooLong { lines, first } => {
                write!(f, "{lines} lines are too long to be read (the first at byte {first})")
            }
            Self::CutOff => f.write_str("the last line is cut off"),
            Self::DoubleIds(entries) => {
                count(entries, "entry has an id that stands twice", "entries have ids that stand twice")
            }
            Self::UnknownParents(entries) => {
                count(entries, "entry has an unknown parent", "entries have unknown parents")
            }
            Self::Cycles(cycles) => {
                count(cycles, "cycle of parents, where pi hangs", "cycles of parents, where pi hangs")
            }
            Self::NoContent => f.write_str("a message has no content, so pi's own list leaves this session out"),
            Self::NoText => f.write_str("a text block holds no text, so pi's own /tree fails"),
        }
    }
}
