//! The kinds of changes, one file each: making, undoing and redoing a change, detecting an interrupted one, removing
//! its leftovers, and describing it. This file has the table. [`delete`] is separate, because it cannot be undone and
//! is not in the journal.

pub(crate) mod delete;
pub(crate) mod fork;
mod kind;
pub(crate) mod label;
pub(crate) mod leaf;
mod line;
pub(crate) mod migrate;
pub(crate) mod name;
pub(crate) mod preconditions;
pub(crate) mod trash;
mod unknown;

use std::path::Path;

use anyhow::Result;

use crate::changes::change::Change;
use crate::changes::engine::Engine;
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::changes::kinds::kind::ChangeKind;
use crate::disk::trash::TrashSession;

impl Change {
    fn kind(&self) -> &dyn ChangeKind {
        match self {
            Self::Name(change) => change,
            Self::Label(change) => change,
            Self::Leaf(change) => change,
            Self::Fork(change) => change,
            Self::Trash(change) => change,
            Self::Migrate(change) => change,
            Self::Unknown(change) => change,
        }
    }

    /// Returns the changed or created file; empty if only a newer pitree can interpret the change.
    pub fn path(&self) -> &Path {
        self.kind().path()
    }

    /// Describes the change in a few words on one line, without the path of the session; can contain text from files.
    pub fn describe(&self) -> String {
        self.kind().describe()
    }

    /// Returns the id of the appended line, if there is one.
    pub fn entry(&self) -> Option<&str> {
        self.kind().entry()
    }

    /// Returns a message for a step with `count` changes of this kind, instead of their descriptions.
    pub(crate) fn said(&self, step: ChangeStep, count: usize) -> Option<String> {
        self.kind().said(step, count)
    }

    /// Returns the session file that exists after the step but not before it.
    pub(crate) fn brings(&self, step: ChangeStep) -> Option<&Path> {
        self.kind().brings(step).then(|| self.path())
    }

    /// Returns `true` if undo and redo move a whole file to or from the trash.
    pub(crate) fn moves(&self) -> bool {
        self.kind().moves()
    }

    /// Undoes or redoes the change of a record.
    ///
    /// # Errors
    /// The step failed. With a [`Refusal`](crate::changes::Refusal), another program has changed the target.
    pub(crate) fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        self.kind().again(work, record, step)
    }

    /// Returns `true` if an interrupted step was taken, according to the file, or `None` if it is inaccessible.
    pub(crate) fn happened(&self, record: &JournalRecord, step: ChangeStep) -> Option<bool> {
        self.kind().happened(record, step)
    }

    /// Removes leftovers of an interrupted step next to the file.
    pub(crate) fn clear(&self, record: &JournalRecord, bin: &mut TrashSession<'_>) {
        self.kind().clear(record, bin);
    }
}
