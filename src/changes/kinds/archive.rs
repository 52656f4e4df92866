//! Moves to and from the archive. The new file is written, synced and verified before the original is removed, so that a
//! complete file exists at every moment. Lines that a pi writes meanwhile are kept.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::base::archive_paths;
use crate::base::path_context::PathContext;
use crate::changes::change::{ArchiveChange, Change, ChangeStep};
use crate::changes::engine::Engine;
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::{BatchResult, in_batches, must_exist, result_of, target_changed, trash};
use crate::changes::request::{ChangeResult, Request, concerns_all};
use crate::changes::target::FileSnapshot;
use crate::disk::archive::ArchiveFacts;
use crate::disk::files::{self, is_there};
use crate::disk::fingerprint::FileMetadata;
use crate::disk::new_file::{self, Draft};
use crate::disk::trash::TrashBatch;
use crate::disk::vacated::{self, FileStart, FileToVacate, Successor};
use crate::disk::{archive_files, create};

impl Request {
    /// Returns the request for the same sessions after they were brought back from the archive, and their files in the
    /// archive.
    #[must_use]
    pub fn after_unarchive(self) -> Self {
        let mut files = self.paths();
        files.retain(|path| archive_paths::is_archived(path));
        let mut then = self;
        then.each_path(&mut |path| {
            if let Some(original) = archive_paths::original(path).filter(|_| archive_paths::is_archived(&*path)) {
                *path = original;
            }
        });
        Self::AfterUnarchive { files, then: Box::new(then) }
    }

    /// Calls a function with each file that the request names.
    pub(crate) fn each_path(&mut self, change: &mut dyn FnMut(&mut PathBuf)) {
        match self {
            Self::IfSame { then, .. } => then.each_path(change),
            Self::Rename { path, .. }
            | Self::Label { path, .. }
            | Self::MoveLeaf { path, .. }
            | Self::Fork { path, .. }
            | Self::EditContext { path, .. } => change(path),
            Self::Pick { path, from, .. } => {
                change(path);
                // It is only read, but moves if it is brought back together with the other one.
                if archive_paths::is_archived(&*from) {
                    change(from);
                }
            }
            Self::RenameAll { sessions, .. } => sessions.iter_mut().for_each(|(session, _)| change(&mut session.path)),
            Self::LabelAll { sessions, .. } | Self::Rewrite { sessions, .. } => {
                sessions.iter_mut().for_each(|session| change(&mut session.path));
            }
            Self::Move(moves) => {
                for one in &mut moves.sessions {
                    change(&mut one.session.path);
                    one.parent.iter_mut().for_each(&mut *change);
                }
                for (session, parent) in &mut moves.relinked {
                    change(&mut session.path);
                    change(parent);
                }
            }
            Self::Trash { files } | Self::Archive { files } | Self::Delete { files } => {
                files.iter_mut().for_each(|file| change(&mut file.path));
            }
            Self::Unarchive { files } | Self::AfterUnarchive { files, .. } => files.iter_mut().for_each(change),
            Self::Import(_) | Self::EmptyTrash { .. } | Self::Mark { .. } => {}
            Self::Undo { .. } | Self::UndoLast { .. } | Self::UndoGroup { .. } | Self::Redo => {}
        }
    }
}

/// Moves sessions to the archive in a directory. Sessions that are archived already are skipped.
///
/// # Errors
/// A session has changed since it was seen; or a [`PartialFailure`] with the failed ones.
pub(crate) fn pack_all(engine: &mut Engine<'_>, dir: Option<&Path>, files: &[FileSnapshot]) -> Result<ChangeResult> {
    let dir = dir.context("cannot locate the archive: no home directory; set archive-dir in config.toml")?;
    let there = trash::unchanged(files)?;
    let there = there.iter().filter(|file| !archive_paths::is_archived(&file.path));
    let change = |file: &&FileSnapshot| {
        let path = file.path.clone();
        let place = archive_paths::file_in(dir, &path);
        let archived = place.with_context(|| format!("cannot archive {}: not a session path", path.display()))?;
        Ok(Change::Archive(ArchiveChange { path, archived, bytes: file.bytes }))
    };
    make(engine, &there.copied().map(|file| change(&file)).collect::<Result<Vec<_>>>()?)
}

/// Brings sessions back from the archive. Sessions that are not archived are skipped.
///
/// # Errors
/// A file is not an archived session; or a [`PartialFailure`] with the failed ones.
pub(crate) fn unpack_all(engine: &mut Engine<'_>, files: &[PathBuf]) -> Result<ChangeResult> {
    let change = |archived: &PathBuf| {
        let bytes = facts(archived)?.bytes;
        let path = archive_paths::original(archived);
        let path = path.with_context(|| format!("{} is not in pitree's archive", archived.display()))?;
        Ok(Change::Unarchive(ArchiveChange { path, archived: archived.clone(), bytes }))
    };
    let archived = files.iter().filter(|file| archive_paths::is_archived(file));
    make(engine, &archived.map(change).collect::<Result<Vec<_>>>()?)
}

/// Makes the changes. A failure of one does not stop the others, unless it affects them too.
fn make(engine: &mut Engine<'_>, changes: &[Change]) -> Result<ChangeResult> {
    if engine.is_dry {
        changes.iter().try_for_each(|change| check_places(change, ChangeStep::Make))?;
    }
    let one = |engine: &mut Engine<'_>, number, change: &Change| step(engine, number, change, ChangeStep::Make);
    let BatchResult { made, mut failed, left } = in_batches(engine, changes, false, concerns_all, one);
    if let ([_], [(Some(_), _)]) = (changes, &failed[..]) {
        return Err(failed.remove(0).1);
    }
    let failed = failed.into_iter().map(|(path, error)| match path {
        Some(path) => format!("{}: {error:#}", path.display()),
        None => format!("{error:#}"),
    });
    result_of(made, &failed.collect::<Vec<_>>(), left)
}

/// Undoes or redoes a move.
///
/// # Errors
/// The step failed. With [`Refusal::TargetChanged`], another program has changed one of the files.
pub(super) fn undo_or_redo(engine: &mut Engine<'_>, record: &JournalRecord, step_again: ChangeStep) -> Result<()> {
    check_places(&record.change, step_again)?;
    engine.ensure_recorded(record, step_again)?;
    if engine.is_dry { Ok(()) } else { step(engine, record.number, &record.change, step_again) }
}

/// Takes a recorded step.
fn step(engine: &mut Engine<'_>, number: u64, change: &Change, step: ChangeStep) -> Result<()> {
    let Some(files) = change.archive() else { return Ok(()) };
    let archives = change.archives(step);
    engine.take_step(number, step, |trash, _, _| {
        check_places(change, step)?;
        if archives { files.pack(trash) } else { files.unpack(trash) }
    })
}

/// Checks that the file of a step exists, and that its new place is free.
fn check_places(change: &Change, step: ChangeStep) -> Result<()> {
    let Some(ArchiveChange { path, archived, .. }) = change.archive() else { return Ok(()) };
    let can_not = |path: &Path| format!("cannot access {}", path.display());
    if change.archives(step) {
        must_exist(path)?;
        // The archive can be empty still.
        if archived.symlink_metadata().is_ok() {
            return target_changed(format!(
                "{} exists; an earlier session with this path is archived, so move that one to the trash first",
                archived.display()
            ));
        }
        return Ok(());
    }
    must_exist(archived)?;
    // Lines that a running pi wrote to the path are added to the session.
    let is_free = !is_there(path).with_context(|| can_not(path))?
        || vacated::start(path).with_context(|| can_not(path))? == FileStart::Entry;
    if is_free {
        Ok(())
    } else {
        target_changed(format!("another session is at {}; move that one first", path.display()))
    }
}

/// Returns what is known of an archived session.
fn facts(archived: &Path) -> Result<ArchiveFacts> {
    let reader = files::archived(archived).path_context("cannot read", archived)?;
    let reader = reader.with_context(|| format!("{} is not a session archived by pitree", archived.display()))?;
    Ok(reader.facts.clone())
}

impl ArchiveChange {
    fn pack(&self, trash: &mut TrashBatch<'_>) -> Result<()> {
        let Self { path, archived, .. } = self;
        let version = || FileMetadata::of(path).path_context("cannot access", path);
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        ensure!(!is_link, "{} is a symbolic link; archive its target instead", path.display());
        let before = version()?;
        let draft = archive_files::write(path, archived).path_context("cannot archive", path)?;
        let original = FileToVacate::open(path, before.bytes)?;
        ensure!(version()? == before, "{} is being written; try again when pi is idle", path.display());
        let placed = original.move_to(draft, archived, || {
            // It is removed when no process can write to it any more.
            trash.vacated.push(vacated::vacate(path).path_context("cannot move", path)?);
            Ok(())
        });
        placed.inspect_err(|_| drop(self.clear(trash)))
    }

    fn unpack(&self, trash: &mut TrashBatch<'_>) -> Result<()> {
        let Self { path, archived, .. } = self;
        let failed = || format!("cannot write {}", path.display());
        let draft = archive_files::restore(archived, path).with_context(failed)?;
        let placed = match vacated::start(path).with_context(failed) {
            Ok(FileStart::Entry) => self.join(draft, trash),
            Ok(_) => draft.place(path).with_context(failed),
            Err(error) => Err(error),
        };
        let removed = placed
            .and_then(|()| create::sync_folder_of(path).with_context(failed))
            .and_then(|()| fs::remove_file(archived).path_context("cannot remove", archived));
        removed.inspect_err(|_| {
            let _ = self.clear(trash);
            // If the archived file cannot be removed, the session stays in the archive.
            let is_unchanged = || fs::metadata(path).is_ok_and(|now| now.len() == self.packed_bytes());
            if archived.symlink_metadata().is_ok() && is_unchanged() && self.is_whole_in(path) {
                let _ = fs::remove_file(path);
            }
        })?;
        create::sync_folder(archived);
        Ok(())
    }

    /// Adds the lines that a running pi wrote to the path, and puts the session in place.
    fn join(&self, mut draft: Draft, trash: &mut TrashBatch<'_>) -> Result<()> {
        let path = &self.path;
        let failed = || format!("cannot merge {} with the entries that pi wrote there later", path.display());
        let original = FileToVacate::headless(path, &mut draft.file).with_context(failed)?;
        original.replace_beside(|path| draft.replace(path), self.bytes, &mut trash.vacated).with_context(failed)
    }

    /// Moves the session back from the archive, because a pi writes to the vacated file. The archived file is removed.
    /// Returns the reason.
    ///
    /// # Errors
    /// A file cannot be read, written or moved; both files stay.
    pub(crate) fn put_back(&self, spare: &Path, trash: &mut TrashBatch<'_>) -> Result<String> {
        let reason = match facts(&self.archived) {
            Ok(_) => format!("{} is being written; try again when pi is idle", self.path.display()),
            Err(error) => format!("{error:#}"),
        };
        vacated::put_back(spare, &self.path, &mut trash.vacated)?;
        self.clear(trash)?;
        Ok(reason)
    }

    /// Returns `true` if an interrupted move was made: to the archive, or back. Returns `None` if a file is inaccessible.
    pub(super) fn was_applied(&self, archives: bool) -> Option<bool> {
        // A running pi can have written to the path after the move.
        let is_here = is_there(&self.path).ok()? && vacated::start(&self.path).ok()? != FileStart::Entry;
        match (archives, is_here) {
            (true, true) | (false, false) => Some(false),
            (true, false) => is_there(&self.archived).ok(),
            (false, true) => Some(!is_there(&self.archived).ok()?),
        }
    }

    /// Removes leftovers of an interrupted move. If both files are complete, the archived file is removed.
    ///
    /// # Errors
    /// Lines of a running pi cannot be read or written.
    pub(super) fn clear(&self, trash: &mut TrashBatch<'_>) -> Result<()> {
        let Self { path, archived, bytes } = self;
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        for file in [path, archived] {
            new_file::remove_drafts(file);
        }
        for spare in vacated::vacated_siblings(path) {
            match vacated::start(path) {
                // The session is back, and this is the file without a header that it replaced, or a second name of it.
                Ok(FileStart::Header) => vacated::resolve(path, &[path], Some(&(0, Successor::new(path, *bytes))))?,
                _ if create::starts_with(path, &spare).unwrap_or(false) => drop(fs::remove_file(&spare)),
                _ if is_there(archived) && self.is_whole_in(&spare) => trash.vacated.push(spare),
                _ => vacated::put_back(&spare, path, &mut trash.vacated)?,
            }
        }
        // Without the file, or with other content there, the archived one stays.
        if is_there(archived) && is_there(path) && self.is_whole_in(path) {
            let _ = fs::remove_file(archived);
        }
        Ok(())
    }

    /// Returns `true` if a file starts with the content of the archived session.
    fn is_whole_in(&self, path: &Path) -> bool {
        let content = facts(&self.archived).ok().and_then(|facts| archive_files::content(&facts));
        content.is_some_and(|content| {
            fs::metadata(path).is_ok_and(|found| found.len() >= content.bytes) && content.is_in(path)
        })
    }

    /// Returns the length in bytes of the archived session; 0 if it is not in the archive.
    pub(crate) fn packed_bytes(&self) -> u64 {
        facts(&self.archived).map_or(0, |facts| facts.bytes)
    }
}
