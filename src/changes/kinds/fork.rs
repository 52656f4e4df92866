//! Forks: a new session with the path to an entry. Undo moves it to the trash.

use std::path::Path;

use anyhow::{Context, Result};

use crate::changes::change::{Change, ForkChange};
use crate::changes::engine::{Engine, random};
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::changes::kinds::kind::ChangeKind;
use crate::changes::kinds::line::place_of;
use crate::changes::kinds::preconditions::{file_is_used_since, must_exist, overtaken};
use crate::changes::kinds::trash::{clear, moved};
use crate::changes::result::ChangeResult;
use crate::disk::files::Files;
use crate::disk::load;
use crate::disk::load::Bodies;
use crate::disk::trash::TrashSession;
use crate::disk::{create, locate};
use crate::session::entry::EntryId;
use crate::session::tree::{Index, Tree};
use crate::session::write::fork;
use crate::session::write::fork::NewSession;
use crate::session::write::line;

pub(crate) fn make(work: &mut Engine<'_>, path: &Path, at: Option<&EntryId>) -> Result<ChangeResult> {
    let tree = load::writable(path)?;
    let at = at.map(|at| place_of(&tree, path, at)).transpose()?;
    let home = locate::home().to_string_lossy().into_owned();
    let id = line::uuid_v7(work.now, ten(random()));
    let cwd = Some(&tree.header.cwd).filter(|cwd| !cwd.is_empty()).unwrap_or(&home);
    let source = path.to_string_lossy();
    let new = NewSession { id: &id, time_ms: work.now, cwd, parent: Some(&source) };
    let bytes = built(&tree, path, at, &new).with_context(|| format!("cannot fork {}", path.display()))?;
    let made = path.with_file_name(line::file_name(work.now, &id));
    let change = Change::Fork(ForkChange { path: made.clone(), bytes: bytes.len() as u64 });
    work.make(&change, None, |_, _, _| {
        create::file(&made, &bytes, path).with_context(|| format!("cannot create {}", made.display()))
    })?;
    Ok(ChangeResult::of(ChangeStep::Make, vec![change], 0))
}

impl ChangeKind for ForkChange {
    fn path(&self) -> &Path {
        &self.path
    }

    fn describe(&self) -> String {
        "create fork".into()
    }

    fn said(&self, step: ChangeStep, count: usize) -> Option<String> {
        let said = match step {
            ChangeStep::Make => "Forked the session here",
            ChangeStep::Undo => "Moved the fork to the trash",
            ChangeStep::Redo => "Restored the fork",
        };
        (count == 1).then(|| said.into())
    }

    fn brings(&self, step: ChangeStep) -> bool {
        step != ChangeStep::Undo
    }

    fn moves(&self) -> bool {
        true
    }

    fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        if step == ChangeStep::Redo {
            return work.take_back(record, step, self.bytes);
        }
        must_exist(&self.path)?;
        if file_is_used_since(work.past(), &self.path, self.bytes)? {
            return overtaken(format!("the fork has new entries and stays in place: {}", self.path.display()));
        }
        work.put_again(record, step)
    }

    fn happened(&self, record: &JournalRecord, step: ChangeStep) -> Option<bool> {
        moved(self.brings(step), &self.path, record)
    }

    fn clear(&self, record: &JournalRecord, bin: &mut TrashSession<'_>) {
        clear(|step| self.brings(step), record, bin);
    }
}

fn built(tree: &Tree, path: &Path, at: Option<Index>, new: &NewSession<'_>) -> Result<Vec<u8>> {
    let mut bodies = Bodies::open(Files::Disk, path)?;
    let mut lines = |entries: Vec<Index>| -> Result<Vec<Vec<u8>>> {
        entries.into_iter().map(|at| bodies.line(&tree.nodes[at as usize])).collect()
    };
    match at {
        None => Ok(fork::fork::<Vec<u8>>(new, &[], &[], &mut random)?),
        Some(at) => {
            let (path, labels) = (lines(tree.path(at))?, lines(tree.label_entries().collect())?);
            Ok(fork::fork(new, &path, &labels, &mut random)?)
        }
    }
}

fn ten(random: u128) -> [u8; 10] {
    let mut ten = [0; 10];
    ten.copy_from_slice(&random.to_be_bytes()[..10]);
    ten
}
