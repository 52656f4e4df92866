//! New sessions: forks and imports. Undo moves them to the trash.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep, NewFile};
use crate::changes::engine::{Engine, random};
use crate::changes::kinds::context_edit;
use crate::changes::kinds::line::{check_version, place_of};
use crate::changes::kinds::marks;
use crate::changes::request::ChangeResult;
use crate::changes::target::{ExpectedSession, ImportRequest};
use crate::disk::load::{self, EntryReader};
use crate::disk::new_file::{self, Draft};
use crate::disk::{create, locate};
use crate::session::entry::EntryId;
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::context_edit::NewEdit;
use crate::session::write::fork::{self, NewSession};
use crate::session::write::import::{self, ImportedHeader};
use crate::session::write::line;
use crate::session::write::pick::PickedLines;

/// Returns the ID of a new session.
fn session_id(engine: &Engine<'_>) -> String {
    let bits = random().to_be_bytes();
    line::uuid_v7(engine.now, std::array::from_fn(|at| bits[at]))
}

/// The lines of a fork after the path.
#[derive(Clone, Copy)]
pub(crate) enum ForkEnd<'a> {
    /// Edits of the context.
    Edits(&'a [NewEdit]),
    /// Copies of entries of a file.
    Copies(&'a Path, &'a [EntryId]),
}

/// Forks a session: a new session with the path to an entry.
pub(crate) fn fork(
    engine: &mut Engine<'_>,
    path: &Path,
    at: Option<&EntryId>,
    end: Option<ForkEnd<'_>>,
) -> Result<ChangeResult> {
    let tree = load::writable(path)?;
    if end.is_some() {
        check_version(path, &tree)?;
    }
    let at = at.map(|at| place_of(&tree, path, at)).transpose()?;
    let home = locate::home().to_string_lossy().into_owned();
    let id = session_id(engine);
    let cwd = Some(&tree.header.cwd).filter(|cwd| !cwd.is_empty()).unwrap_or(&home);
    let source = path.to_string_lossy();
    let header = load::header_line(path)?;
    let new = NewSession { id: &id, time_ms: engine.now, cwd, parent: Some(&source), source: &header };
    let made = path.with_file_name(line::file_name(engine.now, &id));
    let cannot_create = || format!("cannot create {}", made.display());
    let write = |mut draft: Option<Draft>| {
        let mut bytes = 0;
        let take = |piece: &[u8]| {
            bytes += piece.len() as u64;
            draft.as_mut().map_or(Ok(()), |draft| draft.write_all(piece)).with_context(cannot_create)
        };
        copy(&tree, path, at, &new, end, take).path_context("cannot fork", path)?;
        Ok((draft, bytes))
    };
    let change = |bytes| Change::Fork(NewFile { path: made.clone(), bytes });
    let (number, (draft, bytes)) = if engine.is_dry {
        (None, write(None)?)
    } else {
        let prepare = || write(Some(Draft::of(&made).with_context(cannot_create)?)).map(Some);
        let Some((number, written)) = engine.prepare(&change(0), prepare)? else { return Ok(ChangeResult::default()) };
        (Some((number, ChangeStep::Make)), written)
    };
    let change = change(bytes);
    engine.make(&change, number, None, |_, _, _| {
        draft.map_or(Ok(()), |draft| draft.finish(&made, Some(path))).with_context(cannot_create)
    })?;
    let mut done = ChangeResult::of(ChangeStep::Make, vec![change], 0);
    if engine.forks_inherit_tags {
        let fork = ExpectedSession { path: made, id };
        match marks::inherit_tags(engine, &tree.header.marks_key(), &fork) {
            Ok(tags) => done.changes.extend(tags.changes),
            Err(error) => engine.warnings.push(format!("the fork has no tags: {error:#}")),
        }
    }
    Ok(done)
}

/// Passes the content of the fork to `take`.
fn copy(
    tree: &Tree,
    path: &Path,
    at: Option<EntryIndex>,
    new: &NewSession<'_>,
    end: Option<ForkEnd<'_>>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut reader = EntryReader::open(path)?;
    let mut line = |at: EntryIndex| reader.line(&tree.nodes[at as usize]);
    let labels: Vec<_> = at.map_or(Ok(Vec::new()), |_| tree.label_entries().map(&mut line).collect::<Result<_>>())?;
    let entries = at.map_or(Vec::new(), |at| tree.path(at));
    let last = fork::fork(new, entries.into_iter().map(line), &labels, &mut random, &mut take)?;
    if last.is_none() && end.is_some() {
        bail!("the last entry has no valid ID; nothing can be appended to it");
    }
    match end {
        None => Ok(()),
        Some(ForkEnd::Edits(edits)) => {
            let new_id = |_| line::new_id(&mut random, |id| tree.find(id).is_some());
            let ids: Vec<String> = edits.iter().map(new_id).collect();
            let lines = context_edit::lines(edits.iter().zip(&ids), last.as_deref(), new.time_ms);
            lines.iter().try_for_each(|line| take(format!("{line}\n").as_bytes()))
        }
        Some(ForkEnd::Copies(from, entries)) => {
            let others = load::tree(from, "")?;
            check_version(from, &others)?;
            let mut reader = EntryReader::open(from)?;
            let mut copies = PickedLines::after(last);
            for entry in entries {
                let source = reader.line(others.node(place_of(&others, from, entry)?))?;
                let id = line::new_id(&mut random, |id| tree.find(id).is_some() || copies.has(id));
                let changed = || format!("an entry of {} has changed", from.display());
                let copy = copies.line(&source, id).with_context(changed)?;
                take(&copy)?;
                take(b"\n")?;
            }
            Ok(())
        }
    }
}

/// Imports a file of another person or machine as a new session.
pub(crate) fn import(engine: &mut Engine<'_>, request: &ImportRequest) -> Result<ChangeResult> {
    let ImportRequest { bytes, into, cwd, new_id } = request;
    let id = session_id(engine);
    let header = ImportedHeader { new_id: &id, replace_id: *new_id, cwd, time_ms: engine.now };
    let imported = import::import(bytes, &header, &mut random)?;
    let made = into.join(line::file_name(engine.now, &imported.id));
    let change = Change::Import(NewFile { path: made.clone(), bytes: imported.bytes.len() as u64 });
    engine.make(&change, None, None, |_, _, _| {
        create::folders(into).path_context("cannot create", into)?;
        new_file::write(&made, &imported.bytes, None).path_context("cannot create", made)
    })?;
    Ok(ChangeResult::of(ChangeStep::Make, vec![change], 0))
}
