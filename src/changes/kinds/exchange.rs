//! The exchange of a session file for another version of it. The original is in the trash before the new file replaces it,
//! and a complete file exists under the name at every moment. Undo exchanges both files.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use crate::changes::change::{Change, ChangeStep};
use crate::changes::engine::Engine;
use crate::changes::journal::JournalRecord;
use crate::disk::create;
use crate::disk::files::{is_there, open_regular};
use crate::disk::fingerprint::ContentHash;
use crate::disk::lock::LockObserver;
use crate::disk::rewrite::{self, Draft, Rewriter};
use crate::disk::trash::{self, TrashEntry, TrashSession, merge};

/// A file with two versions, one of which is in the trash.
pub(super) struct Exchange<'a> {
    /// The file itself, not a symbolic link to it.
    path: &'a Path,
    /// The name in the trash of the version before the change; not a session name.
    before: PathBuf,
    /// The name in the trash of the version after the change.
    after: PathBuf,
}

/// Replaces a file by its new version. Returns the change, or `None` if there is nothing to do. `change` is called first
/// with an unknown content.
pub(super) fn make(
    work: &mut Engine<'_>,
    (path, by): (&Path, &dyn Rewriter),
    change: impl Fn(ContentHash) -> Change,
) -> Result<Option<Change>> {
    if work.is_dry {
        return Ok(rewrite::draft((path, path), by, true)?.map(|draft| change(draft.content)));
    }
    let prepare = || {
        let draft = rewrite::draft((path, path), by, false)?;
        let with_rest = |draft: Draft| match keep_rest(path, &draft.rest) {
            Ok(rest) => Ok((draft, rest)),
            Err(error) => {
                let _ = fs::remove_file(&draft.path); // a later change creates it again
                Err(error)
            }
        };
        draft.map(with_rest).transpose()
    };
    let prepared = work.prepare(&change(ContentHash::default()), prepare)?;
    let Some((number, (draft, rest))) = prepared else { return Ok(None) };
    let change = change(draft.content);
    // Both kinds of changes that come here have versions.
    let versions = change.versions().unwrap_or_default();
    let made = Exchange::new(path, versions).make(work, (number, &change), &draft);
    made.inspect_err(|_| {
        // The draft is still there if the file was not replaced, and then has all bytes.
        if fs::remove_file(&draft.path).is_ok() {
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
    create::file(&free, rest, Some(path)).with_context(|| format!("cannot write {}", free.display()))?;
    Ok(Some(free))
}

impl<'a> Exchange<'a> {
    /// Creates it for a file and the names of its versions in the trash, before and after the change.
    pub(super) fn new(path: &'a Path, [before, after]: [PathBuf; 2]) -> Self {
        Self { path, before, after }
    }

    /// Replaces the file by its new version, as the prepared change with this number.
    fn make(&self, work: &mut Engine<'_>, (number, change): (u64, &Change), new: &Draft) -> Result<()> {
        let again = Some((number, ChangeStep::Make));
        work.make(change, again, Some(&self.before), |bin, item, wait| {
            replace((self.path, new.version.bytes), (&self.before, item), &new.path, (bin, wait))
        })
    }

    /// Exchanges both versions.
    pub(super) fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        let (goes, comes) = step.ends(&self.before, &self.after);
        let lies = record.item.as_ref();
        work.make(&record.change, Some((record.number, step)), Some(goes), |bin, item, wait| {
            bin.take_back(comes, lies, 0)?;
            let len = fs::metadata(self.path).with_context(|| format!("cannot access {}", self.path.display()));
            let replaced = len.and_then(|now| replace((self.path, now.len()), (goes, item), comes, (bin, &mut *wait)));
            replaced.inspect_err(|_| put_back(comes, lies, bin, wait))
        })
    }

    /// Removes leftovers: a draft, a second link to the file, or the version that belongs in the trash.
    pub(super) fn clear(&self, record: &JournalRecord, bin: &mut TrashSession<'_>) {
        let path = self.path;
        let _ = fs::remove_file(create::draft(path)); // the new version; created again on demand
        // A second link to the file before it was replaced.
        record.place().into_iter().for_each(|item| bin.clear(path, item));
        record.place_before().into_iter().for_each(trash::give_up);
        let forms = [&self.before, &self.after];
        forms.iter().for_each(|beside| drop(fs::remove_file(create::draft(beside)))); // on the way back from the trash
        for beside in forms.into_iter().filter(|beside| beside.symlink_metadata().is_ok()) {
            let is_twice = fs::read(beside).is_ok_and(|bytes| {
                let others = [Some(path), record.place_before()].into_iter().flatten();
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

/// Moves a file to the trash under the name `kept`, to the place `item` if known, and puts another file in its place. The
/// file has this length in bytes. Lines that a pi writes at the last moment are appended to the other file.
fn replace(
    (path, len): (&Path, u64),
    (kept, item): (&Path, Option<&Path>),
    by: &Path,
    (bin, wait): (&mut TrashSession<'_>, LockObserver<'_>),
) -> Result<()> {
    let unchanged = || match fs::metadata(path).map(|now| now.len()).ok() == Some(len) {
        true => Ok(()),
        false => Err(anyhow!("{} is being written; try again when pi is idle", path.display())),
    };
    unchanged()?;
    let mut old = open_regular(path, fs::File::options().read(true))
        .with_context(|| format!("cannot read {}", path.display()))?;
    let second = create::second_name(path, kept);
    second.with_context(|| format!("cannot keep the original as {}", kept.display()))?;
    if let Err(error) = bin.put(kept, item, wait) {
        let _ = fs::remove_file(kept); // a second link to a file that is still in place
        return Err(error.context("cannot move the original to the trash"));
    }
    // Moving it can take long.
    let replaced =
        unchanged().and_then(|()| fs::rename(by, path).with_context(|| format!("cannot replace {}", path.display())));
    // A file that is still in place needs no copy in the trash.
    replaced.inspect_err(|_| item.iter().for_each(|item| bin.clear(path, item)))?;
    create::sync_folder(path);
    let late = old.metadata().is_ok_and(|now| now.len() > len);
    if late {
        merge::take_rest(path, &mut old, len).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
