//! Files go to the trash.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::base::numbers::{count, thousands};
use crate::changes::change::{Change, Trashed};
use crate::changes::engine::Engine;
use crate::changes::journal::{Record, Step};
use crate::changes::kinds::guard::{must_exist, unchanged};
use crate::changes::kinds::kind::Kind;
use crate::changes::outcome::{Done, Partly, Refusal};
use crate::changes::request::Seen;
use crate::disk::create;
use crate::disk::reach::is_there;
use crate::disk::trash::{Bin, NotTaken};

pub(crate) fn make(work: &mut Engine<'_>, files: &[Seen]) -> Result<Done> {
    let there = unchanged(files)?;
    let mut changes = Vec::new();
    for (at, file) in there.iter().enumerate() {
        if work.is_stopped(at, there.len()) {
            break;
        }
        let path = &file.path;
        let of_itself = fs::symlink_metadata(path).with_context(|| format!("can't look at {}", path.display()))?;
        let trashed = Trashed { path: path.clone(), bytes: of_itself.len(), link: of_itself.is_symlink() };
        let change = Change::Trash(trashed);
        match work.put(&change) {
            Ok(()) => changes.push(change),
            Err(error) if error.is::<NotTaken>() => {
                let is_left = |file: &&&Seen| file.path.symlink_metadata().is_ok();
                let left = there[at..].iter().filter(is_left).map(|&file| file.clone()).collect();
                return Err(Refusal::NoTrash { reason: format!("{error:#}"), left }.into());
            }
            Err(error) if changes.is_empty() => return Err(error),
            Err(error) => {
                let done = count(changes.len(), "session is", "sessions are");
                let said = format!("{done} in the trash, {} left: {error:#}", thousands(there.len() - at));
                return Err(Partly { changes, said }.into());
            }
        }
    }
    if changes.is_empty() {
        return Ok(Done::nothing("they are gone already"));
    }
    let left = there.len() - changes.len();
    Ok(Done::of(Step::Make, changes, left))
}

/// Whether a file came back from the trash, or went there if it does not come; after what is left of that was cleared
/// away.
pub(super) fn moved(comes: bool, path: &Path, record: &Record) -> Option<bool> {
    let is_here = is_there(path).ok()?;
    let Some(item) = &record.item else { return Some(is_here == comes) };
    // Where there is still one in both places, they are two.
    let is_in_trash = is_there(item).ok()?;
    Some(if comes { is_here && !is_in_trash } else { is_in_trash || !is_here })
}

/// Clears away what is left when a file was on its way to the trash or, if that `brings` it, to its place.
pub(super) fn clear(brings: impl Fn(Step) -> bool, record: &Record, bin: &mut Bin<'_>) {
    let path = record.change.path();
    if record.cut_short().is_some_and(brings) {
        let _ = fs::remove_file(create::draft(path)); // made again when it is wanted
    }
    record.item.iter().for_each(|item| bin.clear(path, item));
}

impl Kind for Trashed {
    fn path(&self) -> &Path {
        &self.path
    }

    fn describe(&self) -> String {
        if self.link { "link to the trash" } else { "to the trash" }.into()
    }

    fn said(&self, step: Step, several: usize) -> Option<String> {
        let sessions = count(several, "session is", "sessions are");
        Some(match step {
            Step::Make if self.link && several == 1 => {
                "the link is in the trash; the file that it points at stays".into()
            }
            Step::Make => format!("{sessions} in the trash"),
            Step::Undo => format!("{sessions} back from the trash"),
            Step::Redo => format!("{sessions} in the trash again"),
        })
    }

    fn brings(&self, step: Step) -> bool {
        step == Step::Undo
    }

    fn again(&self, work: &mut Engine<'_>, record: &Record, step: Step) -> Result<()> {
        if step == Step::Undo {
            return work.take_back(record, step, self.bytes);
        }
        must_exist(&self.path)?;
        work.put_again(record, step)
    }

    fn happened(&self, record: &Record, step: Step) -> Option<bool> {
        moved(self.brings(step), &self.path, record)
    }

    fn clear(&self, record: &Record, bin: &mut Bin<'_>) {
        clear(|step| self.brings(step), record, bin);
    }
}
