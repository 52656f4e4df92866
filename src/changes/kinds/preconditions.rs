//! Checks before a change that protect the work of other programs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::changes::journal::JournalRecords;
use crate::changes::request::{FileSnapshot, SessionIdentity};
use crate::changes::result::Refusal;
use crate::disk::files::{Files, is_there};
use crate::disk::load;
use crate::disk::load::NewerFormat;
use crate::disk::scan::{self, milliseconds};
use crate::session::entry::kind::EntryKind;
use crate::session::tree::Tree;
use crate::session::tree::node::Node;

/// Checks that a file exists.
///
/// # Errors
/// [`Refusal::Overtaken`], or the file is inaccessible.
pub(super) fn must_exist(path: &Path) -> Result<()> {
    let is_there = is_there(path).with_context(|| format!("cannot access {}", path.display()))?;
    if is_there { Ok(()) } else { overtaken(format!("{} is missing", path.display())) }
}

/// Checks that a file still holds the session that the user saw.
///
/// # Errors
/// [`Refusal::Replaced`].
pub(crate) fn must_be_same(path: &Path, session: &SessionIdentity) -> Result<()> {
    // The change itself reports a missing or unreadable file.
    match scan::again(path, None, "") {
        Ok(Some(now)) if !session.fits(&now) => Err(Refusal::Replaced { path: path.into() }.into()),
        _ => Ok(()),
    }
}

/// Checks that a newer pi has not rewritten the file in an unknown format.
///
/// # Errors
/// [`Refusal::Overtaken`], or the file cannot be read.
pub(super) fn must_be_known(path: &Path) -> Result<()> {
    match load::writable(path) {
        Err(error) if error.is::<NewerFormat>() => overtaken(error.to_string()),
        tree => tree.map(drop),
    }
}

/// Returns an error, because another program has changed the target.
pub(super) fn overtaken<T>(reason: String) -> Result<T> {
    Err(Refusal::Overtaken { reason }.into())
}

/// Returns those of the files that exist.
///
/// # Errors
/// A file has changed since it was seen, or is inaccessible.
pub(super) fn unchanged(files: &[FileSnapshot]) -> Result<Vec<&FileSnapshot>> {
    let mut there = Vec::new();
    for file in files {
        if is_there(&file.path).with_context(|| format!("cannot access {}", file.path.display()))? {
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

/// Returns `true` if a file has entries after its first `bytes` that pitree did not write, or has a version that it
/// cannot write.
pub(super) fn file_is_used_since(past: &JournalRecords, path: &Path, bytes: u64) -> Result<bool> {
    let tree = load::tree(Files::Disk, path, "")?;
    Ok(tree.header.is_newer() || is_used_since(past, &tree, bytes))
}

/// Returns `true` if a tree has entries after `offset` that pitree did not write. Model and thinking level do not
/// count, because pi writes them whenever it opens a session (0.87.1).
pub(super) fn is_used_since(past: &JournalRecords, tree: &Tree, offset: u64) -> bool {
    let is_ours = |node: &Node| node.id.as_ref().is_some_and(|id| past.is_ours(id));
    let counts =
        |node: &Node| !matches!(node.kind, EntryKind::ModelChange | EntryKind::ThinkingLevel) && !is_ours(node);
    tree.nodes.iter().any(|node| node.offset >= offset && counts(node))
}
