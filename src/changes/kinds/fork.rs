//! Forks: a new session with the path to an entry. Undo moves it to the trash.

use std::path::Path;

use anyhow::{Context, Result};

use crate::changes::change::{Change, ChangeStep, NewFile};
use crate::changes::engine::{Engine, random};
use crate::changes::kinds::line::place_of;
use crate::changes::kinds::marks;
use crate::changes::request::ChangeResult;
use crate::changes::target::ExpectedSession;
use crate::disk::load::{self, Bodies};
use crate::disk::{locate, new_file};
use crate::session::entry::EntryId;
use crate::session::tree::{Index, Tree};
use crate::session::write::fork::{self, NewSession};
use crate::session::write::line;

pub(crate) fn make(work: &mut Engine<'_>, path: &Path, at: Option<&EntryId>) -> Result<ChangeResult> {
    let tree = load::writable(path)?;
    let at = at.map(|at| place_of(&tree, path, at)).transpose()?;
    let home = locate::home().to_string_lossy().into_owned();
    let bits = random().to_be_bytes();
    let id = line::uuid_v7(work.now, std::array::from_fn(|at| bits[at]));
    let cwd = Some(&tree.header.cwd).filter(|cwd| !cwd.is_empty()).unwrap_or(&home);
    let source = path.to_string_lossy();
    let header = load::header_line(path)?;
    let new = NewSession { id: &id, time_ms: work.now, cwd, parent: Some(&source), source: &header };
    let bytes = built(&tree, path, at, &new).with_context(|| format!("cannot fork {}", path.display()))?;
    let made = path.with_file_name(line::file_name(work.now, &id));
    let change = Change::Fork(NewFile { path: made.clone(), bytes: bytes.len() as u64 });
    work.make(&change, None, None, |_, _, _| {
        new_file::write(&made, &bytes, Some(path)).with_context(|| format!("cannot create {}", made.display()))
    })?;
    let mut done = ChangeResult::of(ChangeStep::Make, vec![change], 0);
    if work.forks_inherit_tags {
        let fork = ExpectedSession { path: made, id };
        match marks::inherit_tags(work, &tree.header.marks_key(), &fork) {
            Ok(tags) => done.changes.extend(tags.changes),
            Err(error) => work.warnings.push(format!("the fork has no tags: {error:#}")),
        }
    }
    Ok(done)
}

fn built(tree: &Tree, path: &Path, at: Option<Index>, new: &NewSession<'_>) -> Result<Vec<u8>> {
    let mut bodies = Bodies::open(path)?;
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
