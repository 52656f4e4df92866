//! What is looked at before somebody else's work would be touched.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::changes::journal::JournalRecords;
use crate::changes::request::{FileSnapshot, SessionIdentity};
use crate::changes::result::Refusal;
use crate::disk::availability::is_there;
use crate::disk::files::Files;
use crate::disk::load;
use crate::disk::load::NewerFormat;
use crate::disk::scan::{self, milliseconds};
use crate::session::entry::kind::EntryKind;
use crate::session::tree::Tree;
use crate::session::tree::node::Node;

/// Fails if there is nothing any more.
///
/// # Errors
/// [`Refusal::Overtaken`], or it can't be reached now.
pub(super) fn must_exist(path: &Path) -> Result<()> {
    let is_there = is_there(path).with_context(|| format!("can't reach {}", path.display()))?;
    if is_there { Ok(()) } else { overtaken(format!("{} is gone", path.display())) }
}

/// Fails if a file holds another session than the user saw.
///
/// # Errors
/// [`Refusal::Replaced`].
pub(crate) fn must_be_same(path: &Path, session: &SessionIdentity) -> Result<()> {
    // A file that is missing or cannot be read is left to the change itself.
    match scan::again(path, None, "") {
        Ok(Some(now)) if !session.fits(&now) => Err(Refusal::Replaced { path: path.into() }.into()),
        _ => Ok(()),
    }
}

/// Fails if a newer pi wrote the file anew, in a form that pitree doesn't know.
///
/// # Errors
/// [`Refusal::Overtaken`], or it can't be read.
pub(super) fn must_be_known(path: &Path) -> Result<()> {
    match load::writable(path) {
        Err(error) if error.is::<NewerFormat>() => overtaken(error.to_string()),
        tree => tree.map(drop),
    }
}

/// Fails because somebody else was faster.
pub(super) fn overtaken<T>(reason: String) -> Result<T> {
    Err(Refusal::Overtaken { reason }.into())
}

/// Those of the files that are there.
///
/// # Errors
/// Some changed since they were seen, or can't be reached.
pub(super) fn unchanged(files: &[FileSnapshot]) -> Result<Vec<&FileSnapshot>> {
    let mut there = Vec::new();
    for file in files {
        if is_there(&file.path).with_context(|| format!("can't reach {}", file.path.display()))? {
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

/// Whether a file holds entries behind its first `bytes` that pitree did not write, or is of a version that it can't.
pub(super) fn file_is_used_since(past: &JournalRecords, path: &Path, bytes: u64) -> Result<bool> {
    let tree = load::tree(Files::Disk, path, "")?;
    Ok(tree.header.is_newer() || is_used_since(past, &tree, bytes))
}

/// Whether a tree has entries from `offset` on that pitree did not write. The model and the thinking level do not count:
/// pi writes them down whenever it opens a session (0.87.1).
pub(super) fn is_used_since(past: &JournalRecords, tree: &Tree, offset: u64) -> bool {
    let is_ours = |node: &Node| node.id.as_ref().is_some_and(|id| past.is_ours(id));
    let counts =
        |node: &Node| !matches!(node.kind, EntryKind::ModelChange | EntryKind::ThinkingLevel) && !is_ours(node);
    tree.nodes.iter().any(|node| node.offset >= offset && counts(node))
}
