//! Moves of sessions to another working directory. pi lists a session in the directory of its header, and in the folder
//! with the name of that directory. Therefore, a move writes a file with another header to another path. The new file is
//! written, synced and verified before the original goes to the trash. In a session directory without such folders, the
//! new file replaces the original.
//!
//! Undo restores the original and adds the lines that were added to the new file since.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, bail, ensure};

use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep, MoveChange, RewritePurpose};
use crate::changes::engine::Engine;
use crate::changes::header::HeaderWriter;
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::{each_file, must_exist, overtaken, rewrite, trash};
use crate::changes::request::ChangeResult;
use crate::changes::target::{MoveRequest, SessionMove};
use crate::disk::files::is_there;
use crate::disk::fingerprint::ContentHash;
use crate::disk::lock::LockObserver;
use crate::disk::rewrite::{self as new_version, Written};
use crate::disk::trash::TrashSession;
use crate::disk::vacated::{self, FileStart, Original, Successor, Vacated};
use crate::disk::{create, load, new_file};
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
    let path = absolute(&session.path).path_context("cannot find", &session.path)?;
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    ensure!(!is_link, "{} is a symbolic link; move its target instead", path.display());
    let to = absolute(request.located.moved(&session.path, cwd))?;
    let edit = HeaderEdit { cwd: Some(cwd.clone()), parent: parent.map(String::from) };
    if to == path {
        let by = HeaderWriter { edit, moves: false };
        let changes = rewrite::one(work, RewritePurpose::Move, session, &by)?;
        return Ok((session.path.clone(), changes));
    }
    let new_folders = to.ancestors().skip(1).take_while(|folder| !folder.exists()).count();
    let files = MoveChange {
        path,
        to: to.clone(),
        cwd: cwd.clone(),
        parent: edit.parent,
        bytes: 0,
        old_bytes: 0,
        hash: String::new(),
        new_folders,
    };
    let change = files.make(work)?;
    Ok((to, change.into_iter().collect()))
}

impl MoveChange {
    /// Moves the session. Returns the change with the content of the new file.
    fn make(&self, work: &mut Engine<'_>) -> Result<Option<Change>> {
        self.must_be_free()?;
        let change = |written: &Written| {
            let (bytes, hash) = written.content.parts();
            let hash = format!("{hash:016x}");
            Change::Move(Self { bytes, old_bytes: written.version.bytes, hash, ..self.clone() })
        };
        if work.is_dry {
            return Ok(self.write(true)?.as_ref().map(change));
        }
        let Some((number, written)) = work.prepare(&Change::Move(self.clone()), || self.write(false))? else {
            return Ok(None);
        };
        let change = change(&written);
        let Change::Move(files) = &change else { return Ok(None) };
        work.make(&change, Some((number, ChangeStep::Make)), Some(&self.path), |trash, item, wait| {
            files.exchange(written, item, (trash, wait))
        })?;
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
    fn write(&self, is_dry: bool) -> Result<Option<Written>> {
        if !is_dry {
            create::synced_folders(&self.to).path_context("cannot write", &self.to)?;
        }
        let edit = HeaderEdit { cwd: Some(self.cwd.clone()), parent: self.parent.clone() };
        new_version::write((&self.path, &self.to), &HeaderWriter { edit, moves: true }, is_dry)
    }

    /// Puts the new file in place and moves the original to the trash. Lines that a pi writes at the last moment are
    /// added to the new file.
    fn exchange(
        &self,
        written: Written,
        item: Option<&Path>,
        (trash, wait): (&mut TrashSession<'_>, LockObserver<'_>),
    ) -> Result<()> {
        let Self { path, to, bytes, .. } = self;
        let cannot_write = || format!("cannot write {}", to.display());
        let original = Original::open(path, written.version.bytes)?;
        let Some(draft) = written.draft else { return Ok(()) };
        draft.place(to).with_context(cannot_write)?;
        let placed = create::sync_folder_of(to).with_context(cannot_write).and_then(|()| original.check());
        let moved = placed.and_then(|()| trash.put(path, item, wait).context("cannot move the original to the trash"));
        moved.inspect_err(|_| {
            // A file that is still in place needs no copy in the trash.
            item.iter().for_each(|item| trash.clear(path, item));
            let _ = self.unite(trash); // the next request tries again
        })?;
        create::sync_folder(path);
        if trash.vacated.is_empty() {
            trash.vacated.extend(item.map(Path::to_path_buf));
        }
        original.carry(to, *bytes)
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
            return work.take_back(record, step, self.old_bytes, |trash| self.unite(trash));
        }
        must_exist(&self.path)?;
        self.must_be_free()?;
        work.make(&record.change, Some((record.number, step)), Some(&self.path), |trash, item, wait| {
            let Some(written) = self.write(false)? else { return Ok(()) };
            match written.draft.as_ref().map(|draft| self.is_in(draft.path())).transpose()? {
                Some(true) => self.exchange(written, item, (trash, wait)),
                _ => overtaken(format!("{} was replaced since the move", self.path.display())),
            }
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
    pub(super) fn clear(&self, record: &JournalRecord, trash: &mut TrashSession<'_>) -> Result<()> {
        let Self { path, to, bytes, old_bytes, .. } = self;
        new_file::remove_drafts(to);
        let new = record
            .cut_short()
            .filter(|step| *step != ChangeStep::Undo)
            .map(|_| (*old_bytes, Successor::new(to, *bytes)));
        trash::clear(record, trash, new)?;
        vacated::resolve(to, &[path], Some(&(*bytes, Successor::new(path, *old_bytes))))?;
        self.unite(trash)
    }

    /// Returns the offset of late lines in a file that the move or its undo vacated, and where they belong.
    pub(super) fn late(&self, vacated: &Path, is_undone: bool) -> (u64, Successor) {
        let Self { path, to, bytes, old_bytes, .. } = self;
        let is_new = || vacated.as_os_str().as_encoded_bytes().starts_with(to.as_os_str().as_encoded_bytes());
        match is_undone {
            false => (*old_bytes, Successor::new(to, *bytes)),
            true if is_new() => (*bytes, Successor::new(path, *old_bytes)),
            true => (0, Successor::new(path, *old_bytes)), // without a header, from a pi that knows only the old path
        }
    }

    /// Removes the directories that were created for the new file, unless they have other files.
    pub(crate) fn remove_folders(&self) {
        let mut folders = self.to.ancestors().skip(1).take(self.new_folders);
        let _ = folders.try_for_each(fs::remove_dir); // empty directories are harmless
    }

    /// Returns `true` if the original is at its path. A running pi can have written other lines there after the move.
    fn has_original(&self) -> Result<bool> {
        let has_original =
            is_there(&self.path).and_then(|is_there| Ok(is_there && vacated::start(&self.path)? != FileStart::Entry));
        has_original.path_context("cannot access", &self.path)
    }

    fn has_new(&self) -> Result<bool> {
        is_there(&self.to).path_context("cannot access", &self.to)
    }

    /// Returns `true` if a file starts with the content of the new file.
    fn is_in(&self, path: &Path) -> Result<bool> {
        let Ok(hash) = u64::from_str_radix(&self.hash, 16) else { return Ok(false) };
        let starts = ContentHash::of_parts(self.bytes, hash).starts(path);
        starts.path_context("cannot read", path)
    }

    /// Adds the lines that only the new file has to the original, and removes the new file. Keeps both if one of them is
    /// missing or another file.
    fn unite(&self, trash: &mut TrashSession<'_>) -> Result<()> {
        let Self { path, to, bytes, old_bytes, .. } = self;
        if !self.has_original()? || !self.has_new()? || !self.is_in(to)? {
            return Ok(());
        }
        let [original, new] = [path, to].map(|path| load::header(path).map(|header| header.id));
        if new.is_none() || original != new {
            bail!("cannot read {}, or it is another session", path.display());
        }
        let failed = || format!("cannot add the new entries to {}", path.display());
        let time = fs::metadata(to).and_then(|found| Ok((found.len(), found.modified()?))).with_context(failed)?;
        let new = Vacated { path: to.clone(), from: *bytes, to: Some(Successor::new(path, *old_bytes)) };
        new.carry().with_context(failed)?;
        if time.0 > *bytes {
            File::options().append(true).open(path).and_then(|file| file.set_modified(time.1)).with_context(failed)?;
        }
        let spare = vacated::spare(to).with_context(failed)?;
        create::rename(to, &spare).path_context("cannot remove", to)?;
        create::sync_folder(to);
        trash.vacated.push(spare.clone());
        Vacated { path: spare, ..new }.carry().map(drop).with_context(failed)
    }
}
