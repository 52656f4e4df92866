//! Moves to the trash, and permanent deletion.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::base::numbers::{count, thousands};
use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep, TrashChange};
use crate::changes::engine::Engine;
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::{BatchResult, in_batches, is_used_since, must_exist, target_changed};
use crate::changes::request::{ChangeResult, PartialFailure, Refusal};
use crate::changes::target::FileSnapshot;
use crate::disk::files::is_there;
use crate::disk::scan::milliseconds;
use crate::disk::trash::{self, TrashBatch, TrashRefused};
use crate::disk::vacated::{self, FileStart, Successor};
use crate::disk::{load, new_file};

pub(crate) fn make(engine: &mut Engine<'_>, files: &[FileSnapshot]) -> Result<ChangeResult> {
    let there = unchanged(files)?;
    let changes = there.iter().map(|file| of(&file.path)).collect::<Result<Vec<_>>>()?;
    let one = |engine: &mut Engine<'_>, number, change: &Change| put(engine, number, change.path(), ChangeStep::Make);
    let BatchResult { made: changes, failed, left } = in_batches(engine, &changes, true, |_| true, one);
    let made = changes.len();
    match failed.into_iter().next().map(|(_, error)| error) {
        Some(error) if error.is::<TrashRefused>() => {
            let is_left = |file: &&&FileSnapshot| file.path.symlink_metadata().is_ok();
            let left = there[made..].iter().filter(is_left).map(|&file| file.clone()).collect();
            Err(Refusal::NoTrash { reason: format!("{error:#}"), left }.into())
        }
        Some(error) if made == 0 => Err(error),
        Some(error) => {
            let done = count(made, "session is", "sessions are");
            let summary = format!("moved {done} to the trash, {} remaining: {error:#}", thousands(there.len() - made));
            Err(PartialFailure { changes, summary }.into())
        }
        None if made == 0 => Ok(ChangeResult::nothing("already gone; nothing to move")),
        None => Ok(ChangeResult::of(ChangeStep::Make, changes, left)),
    }
}

/// Deletes files permanently. This cannot be undone, so it is not recorded in the journal.
pub(crate) fn delete(engine: &mut Engine<'_>, files: &[FileSnapshot]) -> Result<ChangeResult> {
    let there = unchanged(files)?;
    for_good(engine, &there, |_, file| fs::remove_file(&file.path).path_context("cannot delete", &file.path))
}

/// Permanently deletes the files that changes moved to the trash.
///
/// # Errors
/// A file is not there, or pitree does not know where it is.
pub(crate) fn empty(engine: &mut Engine<'_>, numbers: &[u64]) -> Result<ChangeResult> {
    let records = &engine.journal.records.list;
    let known = |number: &u64| records.iter().find(|record| record.number == *number && record.is_in_trash()).cloned();
    let found = |number| known(number).with_context(|| format!("change {number} has no file in the trash"));
    let there = numbers.iter().map(found).collect::<Result<Vec<JournalRecord>>>()?;
    for_good(engine, &there, |engine, record| {
        let path = &record.trashed_path();
        let unknown =
            || format!("the system does not tell where {} is in the trash; empty the trash there", path.display());
        let kept = record.item.as_ref().filter(|kept| kept.place.is_some()).with_context(unknown)?;
        engine.trash.erase(path, kept)
    })
}

/// Permanently deletes files one by one.
fn for_good<T>(
    engine: &mut Engine<'_>,
    files: &[T],
    mut delete: impl FnMut(&mut Engine<'_>, &T) -> Result<()>,
) -> Result<ChangeResult> {
    let summary = |done| format!("permanently deleted {}", count(done, "session", "sessions"));
    if engine.is_dry {
        let sessions = count(files.len(), "session", "sessions");
        return Ok(ChangeResult::nothing(&format!("would permanently delete {sessions}")));
    }
    for (done, file) in files.iter().enumerate() {
        let left = files.len() - done;
        if engine.is_stopped(done, files.len()) {
            return Ok(ChangeResult::nothing(&summary(done)).stopped(left));
        }
        match delete(engine, file) {
            Err(error) if done > 0 => bail!("{}; {} remaining: {error:#}", summary(done), thousands(left)),
            deleted => deleted?,
        }
    }
    Ok(ChangeResult::nothing(&summary(files.len())))
}

/// Returns those of the files that exist.
///
/// # Errors
/// A file has changed since it was seen, or is inaccessible.
pub(super) fn unchanged(files: &[FileSnapshot]) -> Result<Vec<&FileSnapshot>> {
    let mut there = Vec::new();
    for file in files {
        if is_there(&file.path).path_context("cannot access", &file.path)? {
            there.push(file);
        }
    }
    let is_changed = |file: &&&FileSnapshot| {
        fs::metadata(&file.path)
            .is_ok_and(|now| now.len() != file.bytes || now.modified().map_or(0, milliseconds) != file.mtime)
    };
    let paths: Vec<_> = there.iter().filter(is_changed).map(|file| file.path.clone()).collect();
    if paths.is_empty() { Ok(there) } else { Err(Refusal::Changed { paths }.into()) }
}

/// Creates the change for moving a file to the trash.
fn of(path: &Path) -> Result<Change> {
    let of_itself = fs::symlink_metadata(path).path_context("cannot access", path)?;
    Ok(Change::Trash(TrashChange { path: path.into(), bytes: of_itself.len(), link: of_itself.is_symlink() }))
}

/// Moves a file to the trash as recorded.
fn put(engine: &mut Engine<'_>, number: u64, path: &Path, step: ChangeStep) -> Result<()> {
    engine.take_step(number, step, |trash, place, wait| trash.put(path, place, wait))
}

/// Moves the file of a change to or from the trash; it had this length in bytes.
pub(super) fn undo_or_redo(
    engine: &mut Engine<'_>,
    record: &JournalRecord,
    step: ChangeStep,
    bytes: u64,
) -> Result<()> {
    let path = record.change.path();
    if record.change.created_path(step).is_some() {
        return engine.take_back(record, step, bytes, |_| Ok(()));
    }
    must_exist(path)?;
    let new = match record.change {
        Change::Fork(_) => Some("fork"),
        Change::Import(_) => Some("imported session"),
        _ => None,
    };
    if let Some(new) = new {
        let tree = load::tree(path, "")?;
        if tree.header.is_newer() || is_used_since(&engine.journal.records, &tree, bytes) {
            return target_changed(format!("the {new} has new entries and stays in place: {}", path.display()));
        }
    }
    engine.ensure_recorded(record, step)?;
    put(engine, record.number, path, step)
}

/// Returns `true` if a file was restored or moved to the trash.
pub(super) fn was_applied(record: &JournalRecord, step: ChangeStep) -> Option<bool> {
    let (path, comes) = (record.change.path(), record.change.created_path(step).is_some());
    let is_here = is_there(path).ok()?;
    if comes && joined(path, record).is_some() {
        return Some(is_here && vacated::start(path).ok()? == FileStart::Header);
    }
    let Some(item) = record.trash_path() else { return Some(is_here == comes) };
    // If both places have a file, they are different files.
    let is_in_trash = is_there(item).ok()?;
    Some(if comes { is_here && !is_in_trash } else { is_in_trash || !is_here })
}

/// Returns the place of the session in the trash, and the place for the lines that a pi kept writing at its path.
/// Returns `None` if no pi wrote there.
fn joined<'a>(path: &Path, record: &'a JournalRecord) -> Option<(&'a Path, &'a Path)> {
    let (item, place) = (record.trash_path_before()?, record.trash_path()?);
    trash::is_late(path, place).then_some((item, place))
}

/// Removes leftovers of a move to or from the trash. `late` tells where late lines of a file that moved there belong;
/// otherwise, to the file in the trash.
///
/// # Errors
/// Lines of a running pi cannot be read or written.
pub(super) fn clear(record: &JournalRecord, trash: &mut TrashBatch<'_>, late: Option<(u64, Successor)>) -> Result<()> {
    let (path, place) = (record.change.path(), record.trash_path());
    let comes = record.interrupted_step().is_some_and(|step| record.change.created_path(step).is_some());
    if comes {
        new_file::remove_drafts(path);
    }
    if let Some((item, place)) = joined(path, record).filter(|_| comes) {
        let bytes = item.symlink_metadata().map_or(0, |session| session.len());
        trash.mend_join(path, item, place);
        return vacated::resolve(path, &record.complete(), Some(&(0, Successor::new(path, bytes))));
    }
    let bytes = record.bytes();
    let late = late.or(place.map(|item| (bytes, Successor::new(item, bytes))));
    vacated::resolve(path, &record.complete(), late.as_ref())?;
    place.into_iter().for_each(|item| trash.clear(path, item));
    Ok(())
}
