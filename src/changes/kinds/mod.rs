//! The kinds of changes, one file each: how such a change is made, undone and made again, whether it happened where that
//! was cut short, what is left lying about then, and what is said of it. This is the table of them. Beside them stands
//! [`delete`], which nothing takes back, so that it is none of the journal's.

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

    /// The file that was changed or made; empty if only a newer pitree knows it.
    pub fn path(&self) -> &Path {
        self.kind().path()
    }

    /// What it does, in a few words on one line, without the path of the session; may hold text from files.
    pub fn describe(&self) -> String {
        self.kind().describe()
    }

    /// The id of the line that made the change, if one did.
    pub fn entry(&self) -> Option<&str> {
        self.kind().entry()
    }

    /// What is said in place of a description when a step was taken with this change and others of its kind, `count` in
    /// all.
    pub(crate) fn said(&self, step: ChangeStep, count: usize) -> Option<String> {
        self.kind().said(step, count)
    }

    /// The session file that is there when the step was taken, and was not before.
    pub(crate) fn brings(&self, step: ChangeStep) -> Option<&Path> {
        self.kind().brings(step).then(|| self.path())
    }

    /// Whether to undo it, and to make it again, a file as a whole moves to the trash or comes back.
    pub(crate) fn moves(&self) -> bool {
        self.kind().moves()
    }

    /// Takes the change of a record back, or makes it again.
    ///
    /// # Errors
    /// It was not possible; where it holds a [`Refusal`](crate::changes::Refusal), somebody else changed something since.
    pub(crate) fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        self.kind().again(work, record, step)
    }

    /// Whether a step was taken that was cut short: the file tells, if it can be reached.
    pub(crate) fn happened(&self, record: &JournalRecord, step: ChangeStep) -> Option<bool> {
        self.kind().happened(record, step)
    }

    /// Clears away what was left beside the file when a step was cut short.
    pub(crate) fn clear(&self, record: &JournalRecord, bin: &mut TrashSession<'_>) {
        self.kind().clear(record, bin);
    }
}
