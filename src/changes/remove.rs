//! Files that go: to the trash, or for good.

use std::fs;

use anyhow::{Context, Result};

use crate::base::numbers::count;
use crate::changes::journal::Change;
use crate::changes::{Done, Refusal, Seen, Work, exists};
use crate::disk::scan::milliseconds;

pub(crate) fn trash(work: &mut Work<'_>, files: &[Seen]) -> Result<Done> {
    let there = unchanged(files)?;
    let mut changes = Vec::new();
    for (at, file) in there.iter().enumerate() {
        let path = &file.path;
        let of_itself = fs::symlink_metadata(path).with_context(|| format!("can't look at {}", path.display()))?;
        let change = Change::Trash { path: path.clone(), bytes: of_itself.len(), link: of_itself.is_symlink() };
        let trash = work.trash;
        if let Err(error) = work.make(&change, || trash.put(path)) {
            let left = there[at..].iter().filter(|file| exists(&file.path)).map(|&file| file.clone()).collect();
            return Err(Refusal::NoTrash { reason: format!("{error:#}"), left }.into());
        }
        changes.push(change);
    }
    let said = match &changes[..] {
        [] => return Ok(Done::nothing("they are gone already")),
        [Change::Trash { link: true, .. }] => "the link is in the trash; the file that it points at stays".into(),
        several => format!("{} in the trash", count(several.len(), "session is", "sessions are")),
    };
    Ok(Done { said, ..Done::of(changes) })
}

pub(crate) fn delete(work: &Work<'_>, files: &[Seen]) -> Result<Done> {
    let there = unchanged(files)?;
    for file in there.iter().filter(|_| !work.is_dry()) {
        fs::remove_file(&file.path).with_context(|| format!("can't delete {}", file.path.display()))?;
    }
    Ok(Done::nothing(&format!("{} deleted for good", count(there.len(), "session", "sessions"))))
}

/// The files that are there.
///
/// # Errors
/// Some changed since they were seen.
fn unchanged(files: &[Seen]) -> Result<Vec<&Seen>> {
    let there: Vec<&Seen> = files.iter().filter(|file| exists(&file.path)).collect();
    let is_changed = |file: &&&Seen| {
        fs::metadata(&file.path)
            .is_ok_and(|now| now.len() != file.bytes || now.modified().map_or(0, milliseconds) != file.mtime)
    };
    let paths: Vec<_> = there.iter().filter(is_changed).map(|file| file.path.clone()).collect();
    if paths.is_empty() { Ok(there) } else { Err(Refusal::Changed { paths }.into()) }
}
