//! Moves of sessions to another working directory. pi lists a session in the directory of its header, and in the folder
//! with the name of that directory. Therefore, a move writes a file with another header to another path. The new file is
//! written, synced and verified before the original goes to the trash. In a session directory without such folders, the
//! new file replaces the original.
//!
//! Undo restores the original and adds the lines that were added to the new file since.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, bail, ensure};

use crate::changes::change::{Change, ChangeStep, MoveChange, RewritePurpose};
use crate::changes::engine::Engine;
use crate::changes::header::HeaderWriter;
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::{each_file, must_exist, overtaken, rewrite, trash};
use crate::changes::request::ChangeResult;
use crate::changes::target::{MoveRequest, SessionMove};
use crate::disk::files::{is_there, open_regular};
use crate::disk::fingerprint::{ContentHash, FileVersion};
use crate::disk::lock::LockObserver;
use crate::disk::rewrite::{self as new_version, Draft};
use crate::disk::trash::TrashSession;
use crate::disk::trash::merge::{self, FileStart};
use crate::disk::{create, load};
use crate::session::write::header::HeaderEdit;

/// Moves sessions, then sets the paths of their forks that stay. A failure of one does not stop the others.
///
/// # Errors
/// A [`PartialFailure`](crate::changes::PartialFailure) with the failed sessions.
pub(crate) fn make(work: &mut Engine<'_>, request: &MoveRequest) -> Result<ChangeResult> {
    let paths: Vec<&Path> = request.named().map(|session| &*session.path).collect();
    let mut moved: HashMap<&Path, PathBuf> = HashMap::new();
    each_file(work, &paths, |work, at| {
        let Some(one) = request.sessions.get(at) else {
            let (session, parent) = &request.relinked[at - request.sessions.len()];
            // The parent stays if its move failed.
            let Some(parent) = moved.get(&**parent).and_then(|path| path.to_str()) else { return Ok(Vec::new()) };
            let edit = HeaderEdit { cwd: None, parent: Some(parent.into()) };
            return rewrite::one(work, RewritePurpose::Relink, session, &HeaderWriter { edit, moves: false });
        };
        let parent = one.parent.as_deref().and_then(|parent| moved.get(parent)?.to_str());
        let (to, changes) = move_one(work, request, one, parent)?;
        moved.insert(&one.session.path, to);
        Ok(changes)
    })
}

/// Moves a session. Returns its new path, and the change. `parent` is the new path of its parent session.
fn move_one(
    work: &mut Engine<'_>,
    request: &MoveRequest,
    SessionMove { session, cwd, .. }: &SessionMove,
    parent: Option<&str>,
) -> Result<(PathBuf, Vec<Change>)> {
    rewrite::check(session)?;
    let path = absolute(&session.path).with_context(|| format!("cannot find {}", session.path.display()))?;
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    ensure!(!is_link, "{} is a symbolic link; move its target instead", path.display());
    let to = absolute(request.located.moved(&session.path, cwd))?;
    let edit = HeaderEdit { cwd: Some(cwd.clone()), parent: parent.map(String::from) };
    if to == path {
        let by = HeaderWriter { edit, moves: false };
        let changes = rewrite::one(work, RewritePurpose::Move, session, &by)?;
        return Ok((session.path.clone(), changes));
    }
    let files = MoveChange {
        path,
        to: to.clone(),
        cwd: cwd.clone(),
        parent: edit.parent,
        bytes: 0,
        old_bytes: 0,
        hash: String::new(),
    };
    let change = files.make(work)?;
    Ok((to, change.into_iter().collect()))
}

impl MoveChange {
    /// Moves the session. Returns the change with the content of the new file.
    fn make(&self, work: &mut Engine<'_>) -> Result<Option<Change>> {
        self.must_be_free()?;
        let change = |draft: &Draft| {
            let (bytes, hash) = draft.content.parts();
            let hash = format!("{hash:016x}");
            Change::Move(Self { bytes, old_bytes: draft.version.bytes, hash, ..self.clone() })
        };
        if work.is_dry {
            return Ok(self.draft(true)?.as_ref().map(change));
        }
        let Some((number, draft)) = work.prepare(&Change::Move(self.clone()), || self.draft(false))? else {
            return Ok(None);
        };
        let change = change(&draft);
        let Change::Move(files) = &change else { return Ok(None) };
        let made = work.make(&change, Some((number, ChangeStep::Make)), Some(&self.path), |bin, item, wait| {
            files.exchange(&draft, item, (bin, wait))
        });
        made.inspect_err(|_| drop(fs::remove_file(&draft.path)))?;
        Ok(Some(change))
    }

    fn must_be_free(&self) -> Result<()> {
        let is_free = self.to.symlink_metadata().is_err();
        if is_free {
            Ok(())
        } else {
            overtaken(format!("another file is at {}; move that one first", self.to.display()))
        }
    }

    /// Writes the new file next to its place.
    fn draft(&self, is_dry: bool) -> Result<Option<Draft>> {
        if !is_dry {
            create::synced_folders(&self.to).with_context(|| format!("cannot write {}", self.to.display()))?;
        }
        let edit = HeaderEdit { cwd: Some(self.cwd.clone()), parent: self.parent.clone() };
        new_version::draft((&self.path, &self.to), &HeaderWriter { edit, moves: true }, is_dry)
    }

    /// Puts the new file in place and moves the original to the trash. Lines that a pi writes at the last moment are
    /// added to the new file.
    fn exchange(
        &self,
        draft: &Draft,
        item: Option<&Path>,
        (bin, wait): (&mut TrashSession<'_>, LockObserver<'_>),
    ) -> Result<()> {
        let Self { path, to, .. } = self;
        let cannot_write = || format!("cannot write {}", to.display());
        let unchanged = || match FileVersion::of(path).is_ok_and(|now| now == draft.version) {
            true => Ok(()),
            false => bail!("{} is being written; try again when pi is idle", path.display()),
        };
        unchanged()?;
        let mut old = open_regular(path, File::options().read(true))
            .with_context(|| format!("cannot read {}", path.display()))?;
        create::rename(&draft.path, to).with_context(cannot_write)?;
        let placed = create::sync_folder_of(to).with_context(cannot_write).and_then(|()| unchanged());
        let moved = placed.and_then(|()| bin.put(path, item, wait).context("cannot move the original to the trash"));
        moved.inspect_err(|_| {
            // A file that is still in place needs no copy in the trash.
            item.iter().for_each(|item| bin.clear(path, item));
            let _ = self.unite(); // the next request tries again
        })?;
        create::sync_folder(path);
        if old.metadata().is_ok_and(|now| now.len() > draft.version.bytes) {
            merge::take_rest(to, &mut old, draft.version.bytes).with_context(cannot_write)?;
        }
        Ok(())
    }

    /// Undoes or redoes the move.
    ///
    /// # Errors
    /// The step failed. With [`Refusal::Overtaken`](crate::changes::Refusal::Overtaken), another program has changed one
    /// of the files.
    pub(super) fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        if step == ChangeStep::Undo {
            must_exist(&self.to)?;
            if !self.is_in(&self.to)? {
                return overtaken(format!("{} was replaced or changed since the move", self.to.display()));
            }
            return work.take_back(record, step, self.old_bytes, || self.unite());
        }
        must_exist(&self.path)?;
        self.must_be_free()?;
        work.make(&record.change, Some((record.number, step)), Some(&self.path), |bin, item, wait| {
            let Some(draft) = self.draft(false)? else { return Ok(()) };
            let made = match self.is_in(&draft.path) {
                Ok(true) => self.exchange(&draft, item, (bin, wait)),
                Err(error) => Err(error),
                Ok(false) => overtaken(format!("{} was replaced since the move", self.path.display())),
            };
            made.inspect_err(|_| drop(fs::remove_file(&draft.path)))
        })
    }

    /// Returns `true` if an interrupted step was taken. Returns `None` if a file is inaccessible, or if both files are
    /// still there.
    pub(super) fn happened(&self, step: ChangeStep) -> Option<bool> {
        let (has_original, has_new) = (self.has_original().ok()?, self.has_new().ok()?);
        if has_original && has_new && self.is_in(&self.to).ok()? {
            return None;
        }
        Some(if step == ChangeStep::Undo { has_original } else { !has_original && has_new })
    }

    /// Removes leftovers of an interrupted step: a draft, a copy in the trash, or the new file beside the original.
    pub(super) fn clear(&self, record: &JournalRecord, bin: &mut TrashSession<'_>) {
        let _ = fs::remove_file(create::draft(&self.to)); // created again on demand
        trash::clear(record, bin);
        let _ = self.unite(); // the next request tries again
    }

    /// Returns `true` if the original is at its path. A running pi can have written other lines there after the move.
    fn has_original(&self) -> Result<bool> {
        let has_original =
            is_there(&self.path).and_then(|is_there| Ok(is_there && merge::start(&self.path)? != FileStart::Entry));
        has_original.with_context(|| format!("cannot access {}", self.path.display()))
    }

    fn has_new(&self) -> Result<bool> {
        is_there(&self.to).with_context(|| format!("cannot access {}", self.to.display()))
    }

    /// Returns `true` if a file starts with the content of the new file.
    fn is_in(&self, path: &Path) -> Result<bool> {
        let Ok(hash) = u64::from_str_radix(&self.hash, 16) else { return Ok(false) };
        let starts = ContentHash::of_parts(self.bytes, hash).starts(path);
        starts.with_context(|| format!("cannot read {}", path.display()))
    }

    /// Adds the lines that only the new file has to the original, and removes the new file. Keeps both if one of them is
    /// missing or another file.
    fn unite(&self) -> Result<()> {
        let Self { path, to, .. } = self;
        if !self.has_original()? || !self.has_new()? || !self.is_in(to)? {
            return Ok(());
        }
        let [original, new] = [path, to].map(|path| load::header(path).map(|header| header.id));
        if new.is_none() || original != new {
            bail!("cannot read {}, or it is another session", path.display());
        }
        let failed = || format!("cannot add the new entries to {}", path.display());
        let mut new = open_regular(to, File::options().read(true)).with_context(failed)?;
        let end = self.add_new_lines(&mut new).with_context(failed)?;
        fs::remove_file(to).with_context(|| format!("cannot remove {}", to.display()))?;
        if new.metadata().is_ok_and(|now| now.len() > end) {
            merge::take_rest(path, &mut new, end).with_context(failed)?;
        }
        create::sync_folder(to);
        Ok(())
    }

    /// Appends the lines that the new file got after the move to the original, except those that it has already. Returns
    /// the end of these lines in the new file.
    fn add_new_lines(&self, new: &mut File) -> std::io::Result<u64> {
        let mut original = open_regular(&self.path, File::options().read(true).append(true))?;
        let (there, here) = (merge::rest(new, self.bytes)?, merge::rest(&mut original, self.old_bytes)?);
        let end = self.bytes + there.len() as u64;
        let known = (0..=there.len().min(here.len())).rev().find(|&len| here.ends_with(&there[..len])).unwrap_or(0);
        if known == there.len() {
            return Ok(end);
        }
        if known == 0 {
            let end = merge::end_of_line(&mut original)?;
            original.write_all(end)?;
        }
        original.write_all(&there[known..])?;
        original.set_modified(new.metadata()?.modified()?)?;
        original.sync_all()?;
        Ok(end)
    }
}
