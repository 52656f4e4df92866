//! The files of changes in the trash, and the texts of changes in the journal.

use std::path::PathBuf;

use serde_json::Value;

use crate::changes::change::{Change, ChangeState, MarkChange, TrashChange};
use crate::changes::journal::JournalRecord;
use crate::disk::trash;

impl JournalRecord {
    /// Returns the length of its file in the trash, in bytes: as it was when it is unknown where the file is.
    pub(crate) fn bytes_in_trash(&self) -> u64 {
        let now = self.place().and_then(|place| place.symlink_metadata().ok());
        now.map(|file| file.len()).unwrap_or(match &self.change {
            Change::Trash(TrashChange { bytes, .. }) => *bytes,
            _ => 0,
        })
    }

    /// Returns `true` if the trash holds a file of this settled change, as far as is known: a deleted session, a fork or
    /// import that was undone, or the original of a file that was replaced.
    pub(crate) fn is_in_trash(&self) -> bool {
        let is_there = || self.place().is_some_and(|place| place.symlink_metadata().is_ok());
        self.cut_short().is_none() && self.is_known() && (self.is_away() || is_there()) && !self.is_gone()
    }

    /// Returns `true` if the file of the change is no longer in the trash.
    pub(crate) fn is_gone(&self) -> bool {
        self.item.as_ref().is_some_and(|kept| trash::is_gone(&self.trashed_path(), kept))
    }

    /// Returns the path from which the file in the trash came.
    pub(crate) fn trashed_path(&self) -> PathBuf {
        match self.change.versions() {
            Some([_, after]) if self.state == ChangeState::Undone => after,
            Some([before, _]) => before,
            None => self.change.path().into(),
        }
    }

    /// Returns the texts that the journal keeps: names, labels and notes.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let (before, after) = match &self.change {
            Change::Name(change) => (change.before.as_deref(), change.after.as_deref()),
            Change::Label(change) => (change.before.as_deref(), change.after.as_deref()),
            Change::Mark(MarkChange { before, after, .. }) => {
                (before.as_ref().and_then(Value::as_str), after.as_ref().and_then(Value::as_str))
            }
            _ => (None, None),
        };
        before.into_iter().chain(after)
    }
}
