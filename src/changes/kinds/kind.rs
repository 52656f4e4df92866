//! The trait of all kinds of changes.

use std::path::Path;

use anyhow::Result;

use crate::changes::engine::Engine;
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::disk::trash::TrashSession;

/// A kind of change. It has no method to make a change, because each kind needs other data.
pub(super) trait ChangeKind {
    /// Returns the changed or created file.
    fn path(&self) -> &Path;

    /// Returns the id of the appended line, if there is one.
    fn entry(&self) -> Option<&str> {
        None
    }

    /// Describes the change in a few words on one line, without the path.
    fn describe(&self) -> String;

    /// Returns a message for a step with `count` changes of this kind, instead of their descriptions.
    fn said(&self, _step: ChangeStep, _count: usize) -> Option<String> {
        None
    }

    /// Returns `true` if the file exists after the step but not before it.
    fn brings(&self, _step: ChangeStep) -> bool {
        false
    }

    /// Returns `true` if undo and redo move a whole file to or from the trash.
    fn moves(&self) -> bool {
        false
    }

    /// Undoes or redoes the change, unless another program has changed its target.
    fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()>;

    /// Returns `true` if an interrupted step was taken, or `None` if this is unknown now.
    fn happened(&self, record: &JournalRecord, step: ChangeStep) -> Option<bool>;

    /// Removes leftovers of an interrupted step next to the file.
    fn clear(&self, _record: &JournalRecord, _bin: &mut TrashSession<'_>) {}
}
