//! Problems of a session file and their descriptions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A problem of a session file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Problem {
    /// The version of the file is newer than the supported ones.
    Newer(f64),
    /// Invalid JSON lines, which pi skips.
    NotJson {
        /// The number of lines.
        lines: usize,
        /// The offset of the first one, in bytes.
        first: u64,
    },
    /// Overlong lines.
    TooLong {
        /// The number of lines.
        lines: usize,
        /// The offset of the first one, in bytes.
        first: u64,
    },
    /// The last line is incomplete: it has no line break and is not JSON.
    CutOff,
    /// The number of entries that repeat an earlier ID.
    DoubleIds(usize),
    /// The number of entries whose parent is not in the file.
    UnknownParents(usize),
    /// The number of cycles of parents: pi hangs in them (0.87.1).
    Cycles(usize),
    /// The number of entries without an ID: pi loses the entries after them (1.6.0).
    NoIds(usize),
    /// A message has no content: pi's list omits the session (0.87.1).
    NoContent,
    /// A text block of an assistant contains no string: pi's `/tree` fails (0.87.1).
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
                "unsupported format version {version} (pitree {}); treated as read-only",
                env!("CARGO_PKG_VERSION")
            ),
            Self::NotJson { lines: 1, first } => write!(f, "skipped 1 line that is not JSON (at byte {first})"),
            Self::NotJson { lines, first } => {
                write!(f, "skipped {lines} lines that are not JSON (first at byte {first})")
            }
            Self::TooLong { lines: 1, first } => write!(f, "1 line is too long to read (at byte {first})"),
            Self::TooLong { lines, first } => {
                write!(f, "{lines} lines are too long to read (first at byte {first})")
            }
            Self::CutOff => f.write_str("the last line is incomplete"),
            Self::DoubleIds(entries) => count(entries, "entry has a duplicate ID", "entries have duplicate IDs"),
            Self::UnknownParents(entries) => {
                count(entries, "entry has an unknown parent", "entries have unknown parents")
            }
            Self::Cycles(cycles) => count(cycles, "parent cycle; pi hangs on it", "parent cycles; pi hangs on them"),
            Self::NoIds(entries) => count(
                entries,
                "entry has no ID; pi loses those after it",
                "entries have no ID; pi loses those after them",
            ),
            Self::NoContent => f.write_str("a message has no content; pi's session list omits this session"),
            Self::NoText => f.write_str("a text block has no text; pi's /tree fails"),
        }
    }
}
