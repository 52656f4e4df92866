//! Moves of sessions to another working directory. pi lists a session in the directory of its header, and in the folder
//! with the name of that directory. Therefore, a move writes a file with another header to another path. The new file is
//! written, synced and verified before the original goes to the trash. In a session directory without such folders, the
//! new file replaces the original.
//!
//! Undo restores the original and adds the lines that were added to the new file since.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep, MoveChange, RewritePurpose};
use crate::changes::engine::Engine;
use crate::changes::journal::JournalRecord;
use crate::changes::kinds::{each_file, must_exist, rewrite, target_changed, trash};
use crate::changes::request::ChangeResult;
use crate::changes::target::{MoveRequest, SessionMove};
use crate::disk::files::{self, Readable, is_there};
use crate::disk::fingerprint::ContentHash;
use crate::disk::lock::LockObserver;
use crate::disk::rewrite::{self as disk_rewrite, NewVersion, Rewriter, Rewritten, Written};
use crate::disk::trash::TrashBatch;
use crate::disk::vacated::{self, FileStart, FileToVacate, Successor, VacatedFile};
use crate::disk::{create, load, new_file};
use crate::session::lines::Header;
use crate::session::write::header::{self, HeaderEdit, HeaderError};

/// Moves sessions, then sets the paths of their forks that stay. A failure of one does not stop the others.
///
/// # Errors
/// A [`PartialFailure`](crate::changes::PartialFailure) with the failed sessions.
pub(crate) fn make(engine: &mut Engine<'_>, request: &MoveRequest) -> Result<ChangeResult> {
    let paths: Vec<&Path> = request.named().map(|session| &*session.path).collect();
    let mut moved: HashMap<&Path, PathBuf> = HashMap::new();
    each_file(engine, &paths, |engine, at| {
        let Some(one) = request.sessions.get(at) else {
            let (session, parent) = &request.relinked[at - request.sessions.len()];
            // The parent stays if its move failed.
            let Some(parent) = moved.get(&**parent).and_then(|path| path.to_str()) else { return Ok(Vec::new()) };
            let edit = HeaderEdit { cwd: None, parent: Some(parent.into()) };
            return rewrite::one(engine, RewritePurpose::Relink, session, &HeaderWriter { edit, moves: false });
        };
        let parent = one.parent.as_deref().and_then(|parent| moved.get(parent)?.to_str());
        let (to, changes) = move_one(engine, request, one, parent)?;
        moved.insert(&one.session.path, to);
        Ok(changes)
    })
}

/// Moves a session. Returns its new path, and the change. `parent` is the new path of its parent session.
fn move_one(
    engine: &mut Engine<'_>,
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
        let changes = rewrite::one(engine, RewritePurpose::Move, session, &by)?;
        return Ok((session.path.clone(), changes));
    }
    let new_folders = to.ancestors().skip(1).take_while(|folder| !folder.exists()).count();
    let files = MoveChange {
        path,
        to,
        cwd: cwd.clone(),
        parent: edit.parent,
        bytes: 0,
        old_bytes: 0,
        hash: String::new(),
        new_folders,
    };
    files.must_be_free()?;
    let change = rewrite::replace(engine, &files.path, &files.to, &files.writer(), |content, old_bytes| {
        Change::Move(MoveChange { bytes: content.bytes, old_bytes, hash: content.hex(), ..files.clone() })
    })?;
    Ok((files.to, change.into_iter().collect()))
}

impl MoveChange {
    fn must_be_free(&self) -> Result<()> {
        match self.to.symlink_metadata() {
            Ok(_) => target_changed(format!("another file is at {}; move that one first", self.to.display())),
            Err(_) => Ok(()),
        }
    }

    /// Returns the writer of the new file.
    fn writer(&self) -> HeaderWriter {
        let edit = HeaderEdit { cwd: Some(self.cwd.clone()), parent: self.parent.clone() };
        HeaderWriter { edit, moves: true }
    }

    /// Puts the new file in place and moves the original to the trash. Lines that a pi writes at the last moment are
    /// added to the new file.
    pub(super) fn exchange(
        &self,
        written: Written,
        item: Option<&Path>,
        trash: &mut TrashBatch<'_>,
        wait: LockObserver<'_>,
    ) -> Result<()> {
        let Self { path, to, bytes, .. } = self;
        let original = FileToVacate::open(path, written.version.bytes)?;
        let Some(draft) = written.draft else { return Ok(()) };
        let remove = || trash.put(path, item, wait).context("cannot move the original to the trash");
        original.move_to(draft, to, remove).inspect_err(|_| {
            // A file that is still in place needs no copy in the trash.
            item.iter().for_each(|item| trash.clear(path, item));
            let _ = self.unite(trash); // the next request tries again
        })?;
        trash.has_vacated(item);
        original.append_late_lines(to, *bytes)
    }

    /// Undoes or redoes the move.
    ///
    /// # Errors
    /// The step failed. With [`Refusal::TargetChanged`](crate::changes::Refusal::TargetChanged), another program has changed one
    /// of the files.
    pub(super) fn undo_or_redo(&self, engine: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        if step == ChangeStep::Undo {
            must_exist(&self.to)?;
            if !self.is_in(&self.to)? {
                return target_changed(format!("{} was replaced or changed since the move", self.to.display()));
            }
            return engine.take_back(record, step, self.old_bytes, |trash| self.unite(trash));
        }
        must_exist(&self.path)?;
        self.must_be_free()?;
        engine.make(&record.change, Some((record.number, step)), Some(&self.path), |trash, item, wait| {
            create::synced_folders(&self.to).path_context("cannot write", &self.to)?;
            let written = disk_rewrite::write(&self.path, &self.to, &self.writer(), false)?;
            let Some(written) = written else { return Ok(()) };
            match written.draft.as_ref().map(|draft| self.is_in(draft.path())).transpose()? {
                Some(true) => self.exchange(written, item, trash, wait),
                _ => target_changed(format!("{} was replaced since the move", self.path.display())),
            }
        })
    }

    /// Returns `true` if an interrupted step was taken. Returns `None` if a file is inaccessible, or if both files are
    /// still there.
    pub(super) fn was_applied(&self, step: ChangeStep) -> Option<bool> {
        let (has_original, has_new) = (self.has_original().ok()?, self.has_new().ok()?);
        if has_original && has_new && self.is_in(&self.to).ok()? {
            return None;
        }
        Some(if step == ChangeStep::Undo { has_original } else { !has_original && has_new })
    }

    /// Removes leftovers of an interrupted step: a draft, a copy in the trash, or the new file beside the original.
    pub(super) fn clear(&self, record: &JournalRecord, trash: &mut TrashBatch<'_>) -> Result<()> {
        let Self { path, to, bytes, old_bytes, .. } = self;
        new_file::remove_drafts(to);
        let new = record
            .interrupted_step()
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
        let Some(content) = ContentHash::of_hex(self.bytes, &self.hash) else { return Ok(false) };
        content.starts(path).path_context("cannot read", path)
    }

    /// Adds the lines that only the new file has to the original, and removes the new file. Keeps both if one of them is
    /// missing or another file.
    fn unite(&self, trash: &mut TrashBatch<'_>) -> Result<()> {
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
        let new = VacatedFile { path: to.clone(), from: *bytes, to: Some(Successor::new(path, *old_bytes)) };
        new.append_late_lines().with_context(failed)?;
        if time.0 > *bytes {
            File::options().append(true).open(path).and_then(|file| file.set_modified(time.1)).with_context(failed)?;
        }
        let spare = vacated::vacate(to).path_context("cannot remove", to)?;
        trash.vacated.push(spare.clone());
        VacatedFile { path: spare, ..new }.append_late_lines().map(drop).with_context(failed)
    }
}

/// The size in bytes of the buffers for reading.
const BUFFER: usize = 256 * 1024;

/// Writes a file with other values in its header.
#[derive(Debug)]
struct HeaderWriter {
    /// The values.
    edit: HeaderEdit,
    /// `true` if the file moves, so that it is written even with the same values.
    moves: bool,
}

impl Rewriter for HeaderWriter {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        out.needs(files::len(path)?)?;
        let mut file = open(path)?;
        let mut line = Vec::new();
        loop {
            next_line(&mut file, &mut line, path)?;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let Some(new) = self.edit.line(text).map_err(|why| cannot_use(path, why))? else {
                out.write_all(&line)?;
                continue;
            };
            let is_changed = self.moves || new != text;
            out.write_all(&new)?;
            out.write_all(&line[text.len()..])?;
            io::copy(&mut file, out).path_context("cannot copy", path)?;
            return Ok(Rewritten { is_changed, ..Rewritten::default() });
        }
    }

    /// Compares all lines after the header, and the values in it.
    fn check(&self, path: &Path, new: &Path) -> Result<()> {
        let ((old_header, mut old), (new_header, mut new)) = (after_header(path)?, after_header(new)?);
        let has_values = old_header.id == new_header.id && self.edit.is_in(&new_header);
        create::skip_same(&mut old, &mut new)?;
        let is_same = old.fill_buf()?.is_empty() && new.fill_buf()?.is_empty();
        ensure!(has_values && is_same, "it differs from the original");
        Ok(())
    }
}

fn open(path: &Path) -> Result<BufReader<Box<dyn Readable>>> {
    let file = files::open(path).path_context("cannot read", path)?;
    Ok(BufReader::with_capacity(BUFFER, file))
}

/// Reads the next line with its line break.
fn next_line(file: &mut impl BufRead, line: &mut Vec<u8>, path: &Path) -> Result<()> {
    line.clear();
    let count = file.read_until(b'\n', line).path_context("cannot read", path)?;
    if count == 0 { Err(cannot_use(path, HeaderError::NoHeader)) } else { Ok(()) }
}

fn cannot_use(path: &Path, why: HeaderError) -> anyhow::Error {
    anyhow!("cannot use {}: {why}", path.display())
}

/// Returns the header of a file, and the lines after it.
fn after_header(path: &Path) -> Result<(Header, BufReader<Box<dyn Readable>>)> {
    let (mut file, mut line) = (open(path)?, Vec::new());
    loop {
        next_line(&mut file, &mut line, path)?;
        if let Some(header) = header::header(&line).map_err(|why| cannot_use(path, why))? {
            return Ok((header, file));
        }
    }
}
