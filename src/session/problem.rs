//! Problems of a session file and their descriptions.

use std::fmt;
use std::path::Path;

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
    /// The file is a copy of a session.
    ConflictCopy(ConflictCopy),
}

impl Problem {
    /// Returns `true` if the file is damaged. A newer format and a copy are no damage.
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::Newer(_) | Self::ConflictCopy(_))
    }
}

/// The origin of a copy of a session file, recognized by the text between the session ID and the file extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConflictCopy {
    /// `.sync-conflict-DATE-TIME-DEVICE`, as Syncthing names them.
    Syncthing,
    /// `conflicted copy` and the like, as Dropbox, Nextcloud and others name them.
    Conflict,
    /// ` (1)` or ` 2`, as browsers, Google Drive and iCloud name them.
    Numbered,
}

impl ConflictCopy {
    /// Recognizes the copy of a session in a file.
    pub fn of(path: &Path, id: &str) -> Option<Self> {
        let (_, added) = path.file_stem()?.to_str()?.rsplit_once(id).filter(|_| !id.is_empty())?;
        let number = added.trim_matches([' ', '(', ')']);
        match () {
            () if added.starts_with(".sync-conflict-") => Some(Self::Syncthing),
            () if added.to_ascii_lowercase().contains("conflict") => Some(Self::Conflict),
            () if added.starts_with(' ') && number.parse::<u16>().is_ok() => Some(Self::Numbered),
            () => None,
        }
    }

    /// Describes the copy.
    pub fn means(self) -> &'static str {
        match self {
            Self::Syncthing => "a conflict copy of Syncthing: the session was written on two machines",
            Self::Conflict => "a conflict copy of a synchronization program: the session was written on two machines",
            Self::Numbered => "a copy with a number in its file name, as synchronization programs and browsers make",
        }
    }
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
            Self::ConflictCopy(copy) => f.write_str(copy.means()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_recognized_by_what_follows_the_id() {
        let of = |name: &str| ConflictCopy::of(Path::new(name), "0199f2c1");
        assert_eq!(of("/s/T_0199f2c1.sync-conflict-20261120-101500-ABCDEFG.jsonl"), Some(ConflictCopy::Syncthing));
        assert_eq!(of("T_0199f2c1 (Ann's conflicted copy 2026-11-20).jsonl"), Some(ConflictCopy::Conflict));
        assert_eq!(of("T_0199f2c1_conflict-20261120-101500.jsonl"), Some(ConflictCopy::Conflict));
        for name in ["T_0199f2c1 (1).jsonl", "T_0199f2c1 2.jsonl", "0199f2c1 (12).jsonl"] {
            assert_eq!(of(name), Some(ConflictCopy::Numbered), "{name}");
        }
        for name in ["T_0199f2c1.jsonl", "talk (1).jsonl", "T_0199f2c12.jsonl", "T_0199f2c1 (draft).jsonl"] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(ConflictCopy::of(Path::new("a (1).jsonl"), ""), None);
    }
}
