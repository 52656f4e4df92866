//! A change as the journal has it: with its state, the lines that it appended, its file in the trash, and its texts.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::machine_paths;
use crate::base::paths::ExactPath;
use crate::changes::change::{Change, ChangeState, ChangeStep, MarkChange, TrashChange};
use crate::disk::append::PendingLine;
use crate::disk::trash::{self, TrashEntry};

/// A change in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRecord {
    /// The number, starting at 1.
    pub number: u64,
    /// The number of the first change of the same request. All changes of a request are undone together.
    pub group: u64,
    /// The time in milliseconds since 1970.
    pub time: i64,
    /// The change.
    pub change: Change,
    /// The state.
    pub state: ChangeState,
    /// The ids of the lines appended to make, undo or redo the change.
    pub entries: Vec<String>,
    /// The last of these lines as prepared for writing.
    pub(crate) draft: Option<PendingLine>,
    /// Its file in the trash: current, pending or former.
    pub(crate) item: Option<TrashEntry>,
    /// The file in the trash before the interrupted step.
    pub(crate) item_before: Option<TrashEntry>,
    /// The files that the last step vacated, and to which a pi may still write, at their present paths.
    pub(crate) vacated: Vec<ExactPath>,
    /// The index of its first line in the journal.
    pub(crate) begun_at: u64,
    /// The index of the line of its last undo.
    pub(crate) undone_at: u64,
}

impl JournalRecord {
    /// Returns the path of its file in the trash, if known.
    pub(crate) fn trash_path(&self) -> Option<&Path> {
        self.item.as_ref()?.place.as_deref()
    }

    /// Returns the path of its file in the trash before the interrupted step.
    pub(crate) fn trash_path_before(&self) -> Option<&Path> {
        self.item_before.as_ref()?.place.as_deref()
    }

    /// Returns the files that can be complete during a step: in place, and in the trash.
    pub(crate) fn complete(&self) -> Vec<&Path> {
        [self.change.path()].into_iter().chain(self.trash_path()).chain(self.trash_path_before()).collect()
    }

    /// Returns `true` if this pitree can interpret the change and its state.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.change, Change::Unknown(_)) && self.state != ChangeState::Unknown
    }

    /// Returns `true` if the change can be undone by number, even if undo skips it.
    pub(crate) fn can_be_undone(&self) -> bool {
        matches!(self.state, ChangeState::Done | ChangeState::TargetChanged)
    }

    /// Returns `true` if a synchronization with another machine made the change, and not the user.
    pub(crate) fn is_of_mirror(&self) -> bool {
        matches!(self.change, Change::Trash(_)) && machine_paths::is_mirrored(self.change.path())
    }

    /// Returns `true` if this change moved a session to the trash and it is still there.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self.change, Change::Trash(_)) && self.can_be_undone()
    }

    /// Returns the interrupted step, if this pitree can interpret the change.
    pub(crate) fn interrupted_step(&self) -> Option<ChangeStep> {
        self.state.step().filter(|_| self.is_known())
    }

    /// Returns the length of its file in the trash, in bytes: as it was when it is unknown where the file is.
    pub(crate) fn bytes_in_trash(&self) -> u64 {
        let now = self.trash_path().and_then(|place| place.symlink_metadata().ok());
        now.map(|file| file.len()).unwrap_or(match &self.change {
            Change::Trash(TrashChange { bytes, .. }) => *bytes,
            _ => 0,
        })
    }

    /// Returns `true` if the trash holds a file of this settled change, as far as is known: a deleted session, a fork or
    /// import that was undone, or the original of a file that was replaced.
    pub(crate) fn is_in_trash(&self) -> bool {
        let is_there = || self.trash_path().is_some_and(|place| place.symlink_metadata().is_ok());
        self.interrupted_step().is_none() && self.is_known() && (self.is_away() || is_there()) && !self.is_gone()
    }

    /// Returns `true` if the file of the change is no longer in the trash.
    pub(crate) fn is_gone(&self) -> bool {
        self.item.as_ref().is_some_and(|kept| trash::is_gone(&self.trashed_path(), kept))
    }

    /// Returns the path from which the file in the trash came.
    pub(crate) fn trashed_path(&self) -> PathBuf {
        match self.change.exchange().map(|exchange| exchange.names) {
            Some([_, after]) if self.state == ChangeState::Undone => after,
            Some([before, _]) => before,
            None => self.change.path().into(),
        }
    }

    /// Returns the texts that the journal keeps: names, labels and notes.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let (before, after) = match &self.change {
            Change::Name(change) | Change::Label(change) => (change.before.as_deref(), change.after.as_deref()),
            Change::Mark(MarkChange { before, after, .. }) => {
                (before.as_ref().and_then(Value::as_str), after.as_ref().and_then(Value::as_str))
            }
            _ => (None, None),
        };
        before.into_iter().chain(after)
    }
}
