//! Files go to the trash.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::base::numbers::count;
use crate::changes::change::{Change, Trashed};
use crate::changes::engine::Engine;
use crate::changes::journal::{Record, Step};
use crate::changes::kinds::guard::{exists, must_exist, unchanged};
use crate::changes::kinds::kind::Kind;
use crate::changes::outcome::{Done, Refusal};
use crate::changes::request::Seen;

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
        if let Err(error) = work.make(&change, |bin| bin.put(path)) {
            let left = there[at..].iter().filter(|file| exists(&file.path)).map(|&file| file.clone()).collect();
            return Err(Refusal::NoTrash { reason: format!("{error:#}"), left }.into());
        }
        changes.push(change);
    }
    if changes.is_empty() {
        return Ok(Done::nothing("they are gone already"));
    }
    let left = there.len() - changes.len();
    Ok(Done::of(Step::Make, changes, left))
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
            return work.make_again(record, step, |bin| bin.take_back(&self.path, self.bytes));
        }
        must_exist(&self.path)?;
        work.make_again(record, step, |bin| bin.put(&self.path))
    }

    fn happened(&self, _: &Record, step: Step) -> bool {
        exists(&self.path) == self.brings(step)
    }
}
