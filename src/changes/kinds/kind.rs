//! What every kind of change can do.

use std::path::Path;

use anyhow::Result;

use crate::changes::engine::Engine;
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::disk::trash::TrashSession;

/// A kind of change. How one is made is not here, as that takes something else for each.
pub(super) trait ChangeKind {
    /// The file that was changed or made.
    fn path(&self) -> &Path;

    /// The id of the line that made the change, if one did.
    fn entry(&self) -> Option<&str> {
        None
    }

    /// What it does, in a few words on one line, without the path.
    fn describe(&self) -> String;

    /// What is said in place of that when a step was taken with `count` of this kind.
    fn said(&self, _step: ChangeStep, _count: usize) -> Option<String> {
        None
    }

    /// Whether its file is there when the step was taken, and was not before.
    fn brings(&self, _step: ChangeStep) -> bool {
        false
    }

    /// Whether to undo it, and to make it again, a file as a whole moves to the trash or comes back.
    fn moves(&self) -> bool {
        false
    }

    /// Undoes it or makes it again, unless somebody else changed since what it would touch.
    fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()>;

    /// Whether a step was taken that was cut short; `None` if that can't be told now.
    fn happened(&self, record: &JournalRecord, step: ChangeStep) -> Option<bool>;

    /// Clears away what was left beside the file when a step was cut short.
    fn clear(&self, _record: &JournalRecord, _bin: &mut TrashSession<'_>) {}
}
