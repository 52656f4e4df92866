//! Migration of old session files to version 3, as pi rewrites them. The original is in the trash before the new file
//! replaces it, and a complete file exists under the name at every moment. Undo exchanges both files.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use crate::changes::change::{Change, ChangeStep, Migration};
use crate::changes::engine::{Engine, random};
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::{file_is_used_since, must_exist, overtaken};
use crate::changes::request::{ChangeResult, Refusal};
use crate::disk::files::is_there;
use crate::disk::load::{Bodies, NewerFormat};
use crate::disk::lock::LockObserver;
use crate::disk::trash::{self, TrashEntry, TrashSession};
use crate::disk::{create, load};
use crate::session::write::migrate;

/// Makes a change of a version 3 file. An older file is migrated first, if `allowed`.
///
/// # Errors
/// The file is older and migration is not allowed, or the change failed.
pub(crate) fn before<'a>(
    work: &mut Engine<'a>,
    (path, allowed): (&Path, bool),
    change: impl FnOnce(&mut Engine<'a>) -> Result<ChangeResult>,
) -> Result<ChangeResult> {
    let migrated = if_old(work, path, allowed)?;
    migrated.and_then(work.is_dry, || change(work))
}

/// Migrates a file to version 3 if it is older.
fn if_old(work: &mut Engine<'_>, path: &Path, allowed: bool) -> Result<ChangeResult> {
    let tree = load::writable(path)?;
    if tree.header.version >= 3.0 {
        return Ok(ChangeResult::default());
    }
    let version = tree.header.version as u32;
    if !allowed {
        return Err(Refusal::Old { path: path.into(), version }.into());
    }
    // The file itself is migrated, not a symbolic link to it.
    let real = fs::canonicalize(path).with_context(|| format!("cannot find {}", path.display()))?;
    let old = Bodies::open(&real)?.whole()?;
    let Some(migrated) = migrate::migrate(&old, &mut random) else {
        bail!("cannot convert {} from version {version} to version 3", path.display());
    };
    let change = Migration { path: real.clone(), bytes: migrated.len() as u64, version };
    let change = Change::Migrate(change);
    let kept = kept(&real, version);
    work.make(&change, None, Some(&kept), |bin, item, wait| {
        let draft = create::write_draft(&real, &migrated, Some(&real));
        let draft = draft.with_context(|| format!("cannot write next to {}", real.display()))?;
        // A label keeps the modification time (`pi -c` opens the most recently written file); moving the leaf changes
        // it later.
        let timed = keep_time(&real, &draft).with_context(|| format!("cannot set the time of {}", draft.display()));
        let replaced = timed.and_then(|()| {
            if fs::metadata(&real).map(|now| now.len()).ok() == Some(old.len() as u64) {
                replace(&real, (&kept, item), &draft, (bin, wait))
            } else {
                Err(anyhow!("{} is being written; try again when pi is idle", real.display()))
            }
        });
        replaced.inspect_err(|_| drop(fs::remove_file(&draft)))
    })?;
    Ok(ChangeResult::of(ChangeStep::Make, vec![change], 0))
}

fn keep_time(of: &Path, on: &Path) -> io::Result<()> {
    fs::File::options().append(true).open(on)?.set_modified(fs::metadata(of)?.modified()?)
}

impl Migration {
    /// Undoes or redoes the migration.
    pub(super) fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        must_exist(&self.path)?;
        match load::writable(&self.path) {
            Err(error) if error.is::<NewerFormat>() => return overtaken(error.to_string()),
            tree => drop(tree?),
        }
        if step == ChangeStep::Undo && file_is_used_since(&work.book.records, &self.path, self.bytes)? {
            return overtaken(format!("the converted session has new entries: {}", self.path.display()));
        }
        let (goes, comes) = step.ends(kept(&self.path, self.version), kept(&self.path, 3));
        let lies = record.item.as_ref();
        work.make(&record.change, Some((record.number, step)), Some(&goes), |bin, item, wait| {
            bin.take_back(&comes, lies, 0)?;
            let replaced = replace(&self.path, (&goes, item), &comes, (bin, &mut *wait));
            replaced.inspect_err(|_| put_back(&comes, lies, bin, wait))
        })
    }

    /// Returns `true` if a step was taken, or `None` if the file is inaccessible.
    pub(super) fn happened(&self, step: ChangeStep) -> Option<bool> {
        if !is_there(&self.path).ok()? {
            return Some(false);
        }
        let version = load::tree(&self.path, "").ok()?.header.version;
        Some((version >= 3.0) == (step != ChangeStep::Undo))
    }

    /// Removes leftovers: a draft, a second link to the file, or the version that belongs in the trash.
    pub(super) fn clear(&self, record: &JournalRecord, bin: &mut TrashSession<'_>) {
        let path = &self.path;
        let _ = fs::remove_file(create::draft(path)); // the new version; created again on demand
        // A second link to the file before it was replaced.
        record.place().into_iter().for_each(|item| bin.clear(path, item));
        record.place_before().into_iter().for_each(trash::give_up);
        let forms = [kept(path, self.version), kept(path, 3)];
        forms.iter().for_each(|beside| drop(fs::remove_file(create::draft(beside)))); // on the way back from the trash
        for beside in forms.iter().filter(|beside| beside.symlink_metadata().is_ok()) {
            let is_twice = fs::read(beside).is_ok_and(|bytes| {
                let others = [Some(path.as_path()), record.place_before()].into_iter().flatten();
                others.into_iter().any(|other| fs::read(other).is_ok_and(|other| other == bytes))
            });
            if is_twice {
                let _ = fs::remove_file(beside); // leftovers are harmless; neither pi nor pitree treats them as a session
            } else {
                put_back(beside, record.item_before.as_ref(), bin, &mut |_| ControlFlow::Continue(()));
            }
        }
    }
}

/// Moves a version that was restored from the trash back to its place there, or to another one.
fn put_back(beside: &Path, kept: Option<&TrashEntry>, bin: &mut TrashSession<'_>, wait: LockObserver<'_>) {
    let item = kept.and_then(|kept| kept.place.as_deref());
    let time = kept.map_or(0, |kept| kept.time);
    let is_ours = item.is_some_and(|item| bin.claim(beside, item, time).unwrap_or(false));
    // If it cannot be moved, it stays; neither pi nor pitree treats it as a session.
    let _ = if is_ours { bin.put(beside, item, wait) } else { bin.put_somewhere(beside, wait) };
}

/// Moves a file to the trash under the name `kept`, to the place `item` if known, and puts another file in its place.
fn replace(
    path: &Path,
    (kept, item): (&Path, Option<&Path>),
    by: &Path,
    (bin, wait): (&mut TrashSession<'_>, LockObserver<'_>),
) -> Result<()> {
    let second = create::second_name(path, kept);
    second.with_context(|| format!("cannot keep the original as {}", kept.display()))?;
    if let Err(error) = bin.put(kept, item, wait) {
        let _ = fs::remove_file(kept); // a second link to a file that is still in place
        return Err(error.context("cannot move the original to the trash"));
    }
    let replaced = fs::rename(by, path).with_context(|| format!("cannot replace {}", path.display()));
    // A file that is still in place needs no copy in the trash.
    replaced.inspect_err(|_| item.iter().for_each(|item| bin.clear(path, item)))?;
    create::sync_folder(path);
    Ok(())
}

/// Returns the name in the trash of another version of a file; not a session name.
fn kept(path: &Path, version: u32) -> PathBuf {
    create::beside(path, &format!(".v{version}"))
}
