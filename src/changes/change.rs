//! Changes and their states as the journal stores them, with enough data to describe, undo and redo them. `kinds`
//! implements each kind.
//! A path is a string, or an object if it is not UTF-8. Older versions of pitree do not recognize the object, so they
//! keep such a change and never modify it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::paths::exact_json;
use crate::session::write::context_edit::NewEdit;

/// A change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A session was renamed, or its name was cleared.
    Name(LineChange),
    /// An entry was labeled, or its label was cleared.
    Label(LineChange),
    /// The leaf was moved.
    Leaf(LineChange),
    /// Messages of the model context were edited.
    ContextEdit(ContextEditChange),
    /// A session was forked into a new file.
    Fork(NewFile),
    /// A session was imported into a new file.
    Import(NewFile),
    /// A file was moved to the trash.
    Trash(TrashChange),
    /// A session was moved to the archive.
    Archive(ArchiveChange),
    /// A session was brought back from the archive.
    Unarchive(ArchiveChange),
    /// An old session file was converted to version 3.
    Migrate(Migration),
    /// A session file was replaced by another version of it.
    Rewrite(Rewrite),
    /// A session was moved to another working directory, and its file to another path.
    Move(MoveChange),
    /// A lasting mark of a session was set, changed or removed.
    Mark(MarkChange),
    /// A change that only a newer pitree can interpret.
    #[serde(untagged)]
    Unknown(UnknownChange),
}

/// A changed or cleared name of a session or label of an entry, or a moved leaf. A line in the session file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineChange {
    /// The session file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The id of the appended line.
    pub entry: String,
    /// The labeled entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The name, label or leaf before.
    pub before: Option<String>,
    /// The name, label or leaf after.
    pub after: Option<String>,
}

/// Edits of the model context. Lines in the session file have them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextEditChange {
    /// The session file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The IDs of the appended lines.
    pub edits: Vec<String>,
    /// The edits, before they are in the file.
    #[serde(skip)]
    pub new: Vec<NewEdit>,
}

/// A new session file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFile {
    /// The new file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// Its length in bytes when it was created. A longer file has been used since.
    pub bytes: u64,
}

/// A file moved to the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashChange {
    /// The original path.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The length in bytes, of a symbolic link itself.
    pub bytes: u64,
    /// `true` for a symbolic link, whose target is unchanged.
    pub link: bool,
}

/// A session moved to or from the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveChange {
    /// The original path.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The path in the archive.
    #[serde(with = "exact_json")]
    pub archived: PathBuf,
    /// The length of the session in bytes.
    pub bytes: u64,
}

/// A conversion of an old session file to version 3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migration {
    /// The session file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The length in bytes after the conversion.
    pub bytes: u64,
    /// The length in bytes before.
    #[serde(rename = "oldBytes")]
    pub old_bytes: u64,
    /// The version before.
    pub version: u32,
}

/// A session file replaced by another version of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewrite {
    /// The session file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The purpose.
    pub purpose: RewritePurpose,
    /// The length in bytes of the new version.
    pub bytes: u64,
    /// The length in bytes of the version before.
    #[serde(rename = "oldBytes")]
    pub old_bytes: u64,
    /// The hash of the new version in hexadecimal digits; empty until it is written.
    pub hash: String,
}

/// A session moved to another working directory: a new file with another header. The original is in the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveChange {
    /// The path before.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The path after.
    #[serde(with = "exact_json")]
    pub to: PathBuf,
    /// The working directory after.
    pub cwd: String,
    /// The path of the parent session after, if it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The length in bytes of the new file.
    pub bytes: u64,
    /// The length in bytes of the original.
    #[serde(rename = "oldBytes")]
    pub old_bytes: u64,
    /// The hash of the new file in hexadecimal digits; empty until it is written.
    pub hash: String,
    /// The number of directories of the new file that were created for it.
    #[serde(default, rename = "newFolders")]
    pub new_folders: usize,
}

/// A lasting mark that was set, changed or removed. The session file is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkChange {
    /// The session file at that time; empty if it is unknown.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The key of the session: see [`session_key`](crate::session::marks::session_key).
    pub session: String,
    /// The key of the mark: see [`Mark`](crate::session::marks::Mark).
    pub mark: String,
    /// The value before.
    pub before: Option<Value>,
    /// The value after.
    pub after: Option<Value>,
}

/// The purpose of a new version of a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewritePurpose {
    /// Remove secrets.
    Scrub,
    /// Remove what no model receives.
    Slim,
    /// Repair a damaged file.
    Repair,
    /// Set the working directory.
    Move,
    /// Set the path of the parent session, which was moved.
    Relink,
}

/// The journal data of a change of a kind or format that only a newer pitree can interpret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnknownChange(pub Map<String, Value>);

/// A step of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeStep {
    /// Make the change.
    Make,
    /// Undo the change.
    Undo,
    /// Redo the change.
    Redo,
}

impl ChangeStep {
    /// Returns the state from the start of the step until its result is recorded.
    pub(crate) fn begun(self) -> ChangeState {
        match self {
            Self::Make => ChangeState::Begun,
            Self::Undo => ChangeState::Undoing,
            Self::Redo => ChangeState::Redoing,
        }
    }

    /// Returns the state after the step was taken or not taken.
    pub(crate) fn ended(self, is_taken: bool) -> ChangeState {
        match (self, is_taken) {
            (Self::Make | Self::Redo, true) | (Self::Undo, false) => ChangeState::Done,
            (Self::Undo, true) | (Self::Redo, false) => ChangeState::Undone,
            (Self::Make, false) => ChangeState::Dropped,
        }
    }

    /// Orders the values before and after a change: the start and the end of the step.
    pub(crate) fn ends<T>(self, before: T, after: T) -> (T, T) {
        match self {
            Self::Undo => (after, before),
            Self::Make | Self::Redo => (before, after),
        }
    }
}

/// The state of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeState {
    /// Recorded, and possibly made.
    #[default]
    Begun,
    /// Made.
    Done,
    /// An undo is recorded, and possibly made.
    Undoing,
    /// Made and undone.
    Undone,
    /// A redo is recorded, and possibly made.
    Redoing,
    /// Never made.
    Dropped,
    /// Made, but its target was changed by another program; undo skips it.
    #[serde(rename = "overtaken")]
    TargetChanged,
    /// A state of a newer pitree.
    #[serde(other)]
    Unknown,
}

impl ChangeState {
    /// Returns the step in progress, if its result is not recorded yet.
    pub(crate) fn step(self) -> Option<ChangeStep> {
        match self {
            Self::Begun => Some(ChangeStep::Make),
            Self::Undoing => Some(ChangeStep::Undo),
            Self::Redoing => Some(ChangeStep::Redo),
            Self::Done | Self::Undone | Self::Dropped | Self::TargetChanged | Self::Unknown => None,
        }
    }
}

/// The machine on which changes were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOrigin {
    /// The name of the machine.
    pub machine: String,
    /// The numbers of the changes in its journal, or their ranges.
    pub numbers: Vec<String>,
}
