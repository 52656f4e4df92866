//! Replacement of session files by other versions of them: without secrets, slimmed, repaired, or converted to version 3 as
//! pi rewrites old files. A [`Rewriter`] writes each new version next to its file. The original is in the trash before the
//! new file replaces it, and a complete file exists under the name at every moment. Undo exchanges both files.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep, Migration, Rewrite, RewritePurpose};
use crate::changes::engine::{self, Engine, random};
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::{each_file, is_used_since, must_exist, target_changed};
use crate::changes::request::{ChangeResult, Refusal};
use crate::changes::target::ExpectedSession;
use crate::disk::files::is_there;
use crate::disk::fingerprint::{ContentHash, Fingerprint};
use crate::disk::load::{self, EntryReader, NewerFormat};
use crate::disk::lock::LockObserver;
use crate::disk::rewrite::{self, NewVersion, Rewriter, Rewritten, Written};
use crate::disk::trash::{self, TrashBatch, TrashEntry};
use crate::disk::vacated::{self, FileToVacate, Successor};
use crate::disk::{create, new_file};
use crate::session::write::migrate;

/// Replaces files by new versions. A failure of one does not stop the others.
///
/// # Errors
/// A file is missing, has another session or a newer version; or the exchange failed.
pub(crate) fn make(
    engine: &mut Engine<'_>,
    purpose: RewritePurpose,
    sessions: &[ExpectedSession],
    by: &dyn Rewriter,
) -> Result<ChangeResult> {
    if let [session] = sessions {
        let changes = one(engine, purpose, session, by)?;
        return Ok(match changes.is_empty() {
            true => ChangeResult::nothing("nothing to change"),
            false => ChangeResult::of(ChangeStep::Make, changes, 0),
        });
    }
    let paths: Vec<&Path> = sessions.iter().map(|session| &*session.path).collect();
    each_file(engine, &paths, |engine, at| one(engine, purpose, &sessions[at], by))
}

/// Checks that a file still has the session, in a version that pitree can write.
///
/// # Errors
/// A file is missing, has another session or a newer version.
pub(super) fn check(ExpectedSession { path, id }: &ExpectedSession) -> Result<()> {
    let header = load::header(path);
    if header.as_ref().map_or("", |header| &header.id) != id {
        must_exist(path)?;
        return Err(Refusal::Replaced { path: path.clone() }.into());
    }
    match header.filter(|header| header.is_newer()) {
        Some(header) => Err(NewerFormat::new(path, header.version).into()),
        None => Ok(()),
    }
}

/// Replaces a file by its new version. Returns the changes.
///
/// # Errors
/// Those of [`check`], or the exchange failed.
pub(super) fn one(
    engine: &mut Engine<'_>,
    purpose: RewritePurpose,
    session: &ExpectedSession,
    by: &dyn Rewriter,
) -> Result<Vec<Change>> {
    check(session)?;
    let path = &session.path;
    // The file itself is replaced, not a symbolic link to it.
    let real = dunce::canonicalize(path).path_context("cannot find", path)?;
    // A repair converts an old file itself, because a conversion drops damaged lines.
    let migrated = if purpose == RewritePurpose::Slim { if_old(engine, path, true)? } else { ChangeResult::default() };
    let done = migrated.and_then(engine.is_dry, || {
        let change = replace(engine, &real, &real, by, |content, old_bytes| {
            let (bytes, hash) = (content.bytes, content.hex());
            Change::Rewrite(Rewrite { path: real.clone(), purpose, bytes, old_bytes, hash })
        })?;
        Ok(ChangeResult::of(ChangeStep::Make, change.into_iter().collect(), 0))
    });
    done.map(|done| done.changes)
}

/// Makes a change of a version 3 file. An older file is migrated first, if `allowed`.
///
/// # Errors
/// The file is older and migration is not allowed, or the change failed.
pub(crate) fn after_migration<'a>(
    engine: &mut Engine<'a>,
    path: &Path,
    allowed: bool,
    change: impl FnOnce(&mut Engine<'a>) -> Result<ChangeResult>,
) -> Result<ChangeResult> {
    let migrated = if_old(engine, path, allowed)?;
    migrated.and_then(engine.is_dry, || change(engine))
}

/// Migrates a file to version 3 if it is older.
fn if_old(engine: &mut Engine<'_>, path: &Path, allowed: bool) -> Result<ChangeResult> {
    let header = load::writable_header(path)?;
    if header.version >= 3.0 {
        return Ok(ChangeResult::default());
    }
    let version = header.version as u32;
    if !allowed {
        return Err(Refusal::Old { path: path.into(), version }.into());
    }
    let real = dunce::canonicalize(path).path_context("cannot find", path)?;
    let change = replace(engine, &real, &real, &Migrator, |content, old_bytes| {
        Change::Migrate(Migration { path: real.clone(), bytes: content.bytes, old_bytes, version })
    })?;
    let Some(change) = change else {
        bail!("cannot convert {} from version {version} to version 3", path.display());
    };
    Ok(ChangeResult::of(ChangeStep::Make, vec![change], 0))
}

/// Writes the migrated version of a file.
struct Migrator;

impl Rewriter for Migrator {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        let old = EntryReader::open(path)?.whole()?;
        let Some(migrated) = migrate::migrate(&old, &mut random) else { return Ok(Rewritten::default()) };
        out.needs(migrated.len() as u64)?;
        out.write_all(&migrated)?;
        Ok(Rewritten { is_changed: true, ..Rewritten::default() })
    }
}

/// Replaces a file by a new version of it with the path `to`, mostly the same one. Returns the change, or `None` if there is
/// nothing to do. `change` is called with the content of the new version, first with an unknown one, and the length of the
/// file in bytes.
pub(super) fn replace(
    engine: &mut Engine<'_>,
    path: &Path,
    to: &Path,
    by: &dyn Rewriter,
    change: impl Fn(ContentHash, u64) -> Change,
) -> Result<Option<Change>> {
    if engine.is_dry {
        let written = rewrite::write(path, to, by, true)?;
        return Ok(written.map(|written| change(written.content, written.version.bytes)));
    }
    let prepare = || {
        if to != path {
            create::synced_folders(to).path_context("cannot write", to)?;
        }
        let Some(written) = rewrite::write(path, to, by, false)? else { return Ok(None) };
        let rest = keep_rest(path, &written.rest)?;
        Ok(Some((written, rest)))
    };
    let bytes = fs::metadata(path).path_context("cannot access", path)?.len();
    let prepared = engine.prepare(&change(ContentHash::default(), bytes), prepare)?;
    let Some((number, (written, rest))) = prepared else { return Ok(None) };
    let change = change(written.content, written.version.bytes);
    let mut is_replaced = false;
    let again = Some((number, ChangeStep::Make));
    let made = if let Change::Move(files) = &change {
        engine.make(&change, again, Some(path), |trash, item, wait| files.exchange(written, item, trash, wait))
    } else {
        let original_name = change.exchange().map(|Exchange { names: [original, _], .. }| original).unwrap_or_default();
        engine.make(&change, again, Some(&original_name), |trash, item, wait| {
            let Written { draft: Some(draft), content, version, .. } = written else { return Ok(()) };
            let rename = |path: &Path| {
                is_replaced = true;
                draft.replace(path)
            };
            trash.exchange(FileToVacate::open(path, version.bytes)?, &original_name, item, rename, content.bytes, wait)
        })
    };
    made.inspect_err(|_| {
        // The file still has all bytes.
        if !is_replaced {
            rest.iter().for_each(|rest| drop(fs::remove_file(rest)));
        }
    })?;
    Ok(Some(change))
}

/// Writes the bytes that have no place in the new version to a new file next to the session. Returns its path.
fn keep_rest(path: &Path, rest: &[u8]) -> Result<Option<PathBuf>> {
    if rest.is_empty() {
        return Ok(None);
    }
    let mut free = create::beside(path, ".rest");
    let mut number = 1;
    while is_there(&free).unwrap_or(false) {
        number += 1;
        free = create::beside(path, &format!(".rest{number}"));
    }
    new_file::write(&free, rest, Some(path)).path_context("cannot write", &free)?;
    Ok(Some(free))
}

/// A file with two versions, one of which is in the trash.
pub(crate) struct Exchange<'a> {
    /// The file itself, not a symbolic link to it.
    path: &'a Path,
    /// The names in the trash of the versions before and after the change; not session names.
    pub(crate) names: [PathBuf; 2],
    /// The lengths of both versions in bytes.
    bytes: [u64; 2],
}

impl Change {
    /// Returns the versions of a file that was replaced under its name.
    pub(crate) fn exchange(&self) -> Option<Exchange<'_>> {
        let (path, bytes, suffixes) = match self {
            Self::Migrate(Migration { path, version, old_bytes, bytes }) => {
                (path, [*old_bytes, *bytes], [*version, 3].map(|version| format!("{}{version}", create::VERSION)))
            }
            Self::Rewrite(Rewrite { path, old_bytes, bytes, .. }) => {
                (path, [*old_bytes, *bytes], [create::ORIGINAL, create::REWRITTEN].map(String::from))
            }
            _ => return None,
        };
        Some(Exchange { path, names: suffixes.map(|suffix| create::beside(path, &suffix)), bytes })
    }
}

impl Exchange<'_> {
    /// Returns the offset of late lines in the version that the step of a record replaced, and where they belong.
    pub(super) fn late(&self, record: &JournalRecord, step: ChangeStep) -> (u64, Successor) {
        let (bytes, start) = step.ends(self.bytes[0], self.bytes[1]);
        // It can have had lines of pitree at its end.
        let from = record.item.as_ref().and_then(|item| item.file.as_ref()).map_or(bytes, Fingerprint::bytes);
        (from, Successor::new(self.path, start))
    }

    /// Exchanges both versions, unless the file has new entries.
    ///
    /// # Errors
    /// The step failed. With [`Refusal::TargetChanged`], another program has changed the file.
    pub(super) fn undo_or_redo(&self, engine: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        let Self { path, names: [before, after], bytes } = self;
        must_exist(path)?;
        let (start, end) = step.ends(bytes[0], bytes[1]);
        let is_migration = matches!(record.change, Change::Migrate(_));
        // Lines of pitree can follow a conversion. Those of pi, and any after another change, would be lost.
        let (len, is_used) = if is_migration {
            let tree = load::writable(path).map_err(engine::as_target_changed)?;
            (tree.end, is_used_since(&engine.journal.records, &tree, start))
        } else {
            let len = fs::metadata(path).path_context("cannot access", path)?.len();
            (len, len != start)
        };
        if is_used {
            let since = if is_migration { "converted" } else { "replaced" };
            return target_changed(format!("the session has new entries since it was {since}: {}", path.display()));
        }
        let (replaced_name, restored) = step.ends(before, after);
        let kept = record.item.as_ref();
        engine.make(&record.change, Some((record.number, step)), Some(replaced_name), |trash, item, wait| {
            trash.take_back(restored, kept, 0)?;
            let replaced = FileToVacate::open(path, len).and_then(|original| {
                trash.exchange(original, replaced_name, item, |path| fs::rename(restored, path), end, &mut *wait)
            });
            replaced.inspect_err(|_| put_back(restored, kept, trash, wait))
        })
    }

    /// Removes leftovers: a draft, a second link to the file, or the version that belongs in the trash.
    pub(super) fn clear(&self, record: &JournalRecord, trash: &mut TrashBatch<'_>) -> Result<()> {
        let path = self.path;
        new_file::remove_drafts(path);
        // A second link to the file before it was replaced.
        record.trash_path().into_iter().for_each(|item| trash.clear(path, item));
        record.trash_path_before().into_iter().for_each(trash::give_up);
        for beside in &self.names {
            new_file::remove_drafts(beside); // on the way back from the trash
            if beside.symlink_metadata().is_ok() {
                if record.complete().iter().any(|other| create::starts_with(other, beside).unwrap_or(false)) {
                    let _ = fs::remove_file(beside); // neither pi nor pitree treats it as a session
                } else {
                    put_back(beside, record.item_before.as_ref(), trash, &mut |_| ControlFlow::Continue(()));
                }
            }
        }
        let late = record.interrupted_step().map(|step| self.late(record, step));
        vacated::resolve(path, &record.complete(), late.as_ref())
    }
}

/// Moves a version that was restored from the trash back to its place there, or to another one.
fn put_back(beside: &Path, kept: Option<&TrashEntry>, trash: &mut TrashBatch<'_>, wait: LockObserver<'_>) {
    let item = kept.and_then(|kept| kept.place.as_deref());
    let time = kept.map_or(0, |kept| kept.time);
    let is_ours = item.is_some_and(|item| trash.claim(beside, item, time).unwrap_or(false));
    // If it cannot be moved, it stays; neither pi nor pitree treats it as a session.
    let _ = if is_ours { trash.put(beside, item, wait) } else { trash.put_somewhere(beside, wait) };
}

impl Migration {
    /// Returns `true` if a step was taken, or `None` if the file is inaccessible.
    pub(super) fn was_applied(&self, step: ChangeStep) -> Option<bool> {
        if !is_there(&self.path).ok()? {
            return Some(false);
        }
        let version = load::header(&self.path)?.version;
        Some((version >= 3.0) == (step != ChangeStep::Undo))
    }
}

impl Rewrite {
    /// Returns `true` if a step was taken, or `None` if the file is inaccessible.
    pub(super) fn was_applied(&self, step: ChangeStep) -> Option<bool> {
        if !is_there(&self.path).ok()? {
            return Some(false);
        }
        // Without a hash, the new version was not complete.
        let Some(content) = ContentHash::of_hex(self.bytes, &self.hash) else { return Some(false) };
        // The original can start with all of the new version.
        let is_old = self.bytes != self.old_bytes && fs::metadata(&self.path).ok()?.len() == self.old_bytes;
        Some((content.is_in(&self.path) && !is_old) == (step != ChangeStep::Undo))
    }
}

impl RewritePurpose {
    /// Describes the purpose in a few words.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Scrub => "remove secrets",
            Self::Slim => "slim",
            Self::Repair => "repair",
            Self::Move => "set the working directory",
            Self::Relink => "link to the moved parent session",
        }
    }

    /// Returns a message for a step with these sessions.
    pub(super) fn summary(self, step: ChangeStep, sessions: &str) -> String {
        let done = match self {
            Self::Scrub => format!("Removed secrets from {sessions}"),
            Self::Slim => format!("Slimmed {sessions}"),
            Self::Repair => format!("Repaired {sessions}"),
            Self::Move => format!("Moved {sessions}"),
            Self::Relink => format!("Linked {sessions} to the moved parent"),
        };
        match (step, self) {
            (ChangeStep::Make, _) => done,
            (ChangeStep::Redo, _) => done + " again",
            (ChangeStep::Undo, Self::Move) => format!("Moved {sessions} back"),
            (ChangeStep::Undo, Self::Relink) => format!("Restored the parent link of {sessions}"),
            (ChangeStep::Undo, Self::Scrub) => format!("Restored {sessions} with the secrets"),
            (ChangeStep::Undo, _) => format!("Restored the original of {sessions}"),
        }
    }
}
