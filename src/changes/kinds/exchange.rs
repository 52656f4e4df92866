//! The exchange of a session file for another version of it. The original is in the trash before the new file replaces it,
//! and a complete file exists under the name at every moment. Undo exchanges both files.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep};
use crate::changes::engine::Engine;
use crate::changes::journal::JournalRecord;
use crate::disk::files::is_there;
use crate::disk::fingerprint::{ContentHash, Fingerprint};
use crate::disk::lock::LockObserver;
use crate::disk::rewrite::{self, Rewriter};
use crate::disk::trash::{self, TrashEntry, TrashSession};
use crate::disk::vacated::{self, Original, Successor};
use crate::disk::{create, new_file};

/// A file with two versions, one of which is in the trash.
pub(super) struct Exchange<'a> {
    /// The file itself, not a symbolic link to it.
    path: &'a Path,
    /// The name in the trash of the version before the change; not a session name.
    before: PathBuf,
    /// The name in the trash of the version after the change.
    after: PathBuf,
    /// The lengths of both versions in bytes.
    bytes: [u64; 2],
}

/// Replaces a file by its new version. Returns the change, or `None` if there is nothing to do. `change` is called with the
/// content of the new version, first with an unknown one, and the length of the file in bytes.
pub(super) fn make(
    work: &mut Engine<'_>,
    (path, by): (&Path, &dyn Rewriter),
    change: impl Fn(ContentHash, u64) -> Change,
) -> Result<Option<Change>> {
    if work.is_dry {
        let written = rewrite::write((path, path), by, true)?;
        return Ok(written.map(|written| change(written.content, written.version.bytes)));
    }
    let prepare = || {
        let Some(written) = rewrite::write((path, path), by, false)? else { return Ok(None) };
        let rest = keep_rest(path, &written.rest)?;
        Ok(Some((written, rest)))
    };
    let bytes = fs::metadata(path).path_context("cannot access", path)?.len();
    let prepared = work.prepare(&change(ContentHash::default(), bytes), prepare)?;
    let Some((number, (written, rest))) = prepared else { return Ok(None) };
    let bytes = [written.version.bytes, written.content.bytes];
    let change = change(written.content, bytes[0]);
    let Some(draft) = written.draft else { return Ok(None) };
    // Both kinds of changes that come here have versions.
    let [before, _] = change.versions().unwrap_or_default();
    let mut is_replaced = false;
    let made = work.make(&change, Some((number, ChangeStep::Make)), Some(&before), |trash, item, wait| {
        let rename = |path: &Path| {
            is_replaced = true;
            draft.replace(path)
        };
        replace((path, bytes), (&before, item), rename, (trash, wait))
    });
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

impl<'a> Exchange<'a> {
    /// Creates it for a file, and the names in the trash and the lengths of its versions before and after the change.
    pub(super) fn new(path: &'a Path, [before, after]: [PathBuf; 2], bytes: [u64; 2]) -> Self {
        Self { path, before, after, bytes }
    }

    /// Returns the offset of late lines in the version that the step of a record replaced, and where they belong.
    pub(super) fn late(&self, record: &JournalRecord, step: ChangeStep) -> (u64, Successor) {
        let (bytes, start) = step.ends(self.bytes[0], self.bytes[1]);
        // It can have had lines of pitree at its end.
        let from = record.item.as_ref().and_then(|item| item.file.as_ref()).map_or(bytes, Fingerprint::bytes);
        (from, Successor::new(self.path, start))
    }

    /// Exchanges both versions. The file has this length in bytes.
    pub(super) fn again(
        &self,
        work: &mut Engine<'_>,
        (record, step): (&JournalRecord, ChangeStep),
        bytes: u64,
    ) -> Result<()> {
        let (goes, comes) = step.ends(&self.before, &self.after);
        let bytes = [bytes, step.ends(self.bytes[0], self.bytes[1]).1];
        let lies = record.item.as_ref();
        work.make(&record.change, Some((record.number, step)), Some(goes), |trash, item, wait| {
            trash.take_back(comes, lies, 0)?;
            let rename = |path: &Path| fs::rename(comes, path);
            let replaced = replace((self.path, bytes), (goes, item), rename, (trash, &mut *wait));
            replaced.inspect_err(|_| put_back(comes, lies, trash, wait))
        })
    }

    /// Removes leftovers: a draft, a second link to the file, or the version that belongs in the trash.
    pub(super) fn clear(&self, record: &JournalRecord, trash: &mut TrashSession<'_>) -> Result<()> {
        let path = self.path;
        new_file::remove_drafts(path);
        // A second link to the file before it was replaced.
        record.place().into_iter().for_each(|item| trash.clear(path, item));
        record.place_before().into_iter().for_each(trash::give_up);
        for beside in [&self.before, &self.after] {
            new_file::remove_drafts(beside); // on the way back from the trash
            if beside.symlink_metadata().is_ok() {
                let others = [Some(path), record.place(), record.place_before()].into_iter().flatten();
                if others.into_iter().any(|other| create::starts_with(other, beside).unwrap_or(false)) {
                    let _ = fs::remove_file(beside); // neither pi nor pitree treats it as a session
                } else {
                    put_back(beside, record.item_before.as_ref(), trash, &mut |_| ControlFlow::Continue(()));
                }
            }
        }
        let late = record.cut_short().map(|step| self.late(record, step));
        vacated::resolve(path, &record.complete(), late.as_ref())
    }
}

/// Moves a version that was restored from the trash back to its place there, or to another one.
fn put_back(beside: &Path, kept: Option<&TrashEntry>, trash: &mut TrashSession<'_>, wait: LockObserver<'_>) {
    let item = kept.and_then(|kept| kept.place.as_deref());
    let time = kept.map_or(0, |kept| kept.time);
    let is_ours = item.is_some_and(|item| trash.claim(beside, item, time).unwrap_or(false));
    // If it cannot be moved, it stays; neither pi nor pitree treats it as a session.
    let _ = if is_ours { trash.put(beside, item, wait) } else { trash.put_somewhere(beside, wait) };
}

/// Moves a file to the trash under the name `kept`, to the place `item` if known, and lets `rename` put another file in
/// its place. Both files have these lengths in bytes. Lines that a pi writes at the last moment are appended to the other
/// file.
fn replace(
    (path, [bytes, start]): (&Path, [u64; 2]),
    (kept, item): (&Path, Option<&Path>),
    rename: impl FnOnce(&Path) -> io::Result<()>,
    (trash, wait): (&mut TrashSession<'_>, LockObserver<'_>),
) -> Result<()> {
    let original = Original::open(path, bytes)?;
    trash.keep(path, kept, item, wait).context("cannot move the original to the trash")?;
    // Moving it can take long.
    let replaced = original.check().and_then(|()| rename(path).path_context("cannot replace", path));
    // A file that is still in place needs no copy in the trash.
    replaced.inspect_err(|_| item.iter().for_each(|item| trash.clear(path, item)))?;
    create::sync_folder(path);
    if trash.vacated.is_empty() {
        trash.vacated.extend(item.map(Path::to_path_buf));
    }
    original.carry(path, start)
}
