//! A change as the journal has it: with its state, the lines that it appended, and its file in the trash.

use std::path::Path;

use crate::base::machine_paths;
use crate::base::paths::ExactPath;
use crate::changes::change::{Change, ChangeState, ChangeStep};
use crate::disk::append::PendingLine;
use crate::disk::trash::TrashEntry;

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
    pub(crate) fn place(&self) -> Option<&Path> {
        self.item.as_ref()?.place.as_deref()
    }

    /// Returns the path of its file in the trash before the interrupted step.
    pub(crate) fn place_before(&self) -> Option<&Path> {
        self.item_before.as_ref()?.place.as_deref()
    }

    /// Returns the files that can be complete during a step: in place, and in the trash.
    pub(crate) fn complete(&self) -> Vec<&Path> {
        [self.change.path()].into_iter().chain(self.place()).chain(self.place_before()).collect()
    }

    /// Returns `true` if this pitree can interpret the change and its state.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.change, Change::Unknown(_)) && self.state != ChangeState::Unknown
    }

    /// Returns `true` if the change can be undone by number, even if undo skips it.
    pub(crate) fn can_be_undone(&self) -> bool {
        matches!(self.state, ChangeState::Done | ChangeState::Overtaken)
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
    pub(crate) fn cut_short(&self) -> Option<ChangeStep> {
        self.state.step().filter(|_| self.is_known())
    }
}
