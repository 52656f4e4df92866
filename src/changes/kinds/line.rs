//! What the changes of one appended line have in common.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::base::javascript::utf16_prefix;
use crate::changes::change::Change;
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::changes::result::ChangeResult;
use crate::disk::availability::is_there;
use crate::disk::files::Files;
use crate::disk::load::Bodies;
use crate::session::entry::{EntryId, parse};
use crate::session::tree::{Index, Tree};

/// What was done by appending a line; `or_else` says why there was nothing to append.
pub(super) fn done(change: Option<Change>, or_else: &str) -> ChangeResult {
    change.map_or_else(|| ChangeResult::nothing(or_else), |change| ChangeResult::of(ChangeStep::Make, vec![change], 0))
}

/// A name or label in quotes; of a very long one the beginning.
pub(super) fn quoted(text: &str) -> String {
    /// In UTF-16 code units.
    const MOST: usize = 200;
    let beginning = utf16_prefix(text, MOST);
    format!("{beginning:?}{}", if beginning.len() < text.len() { "..." } else { "" })
}

/// What something was before, where that is to be said of a change.
pub(super) fn was(before: Option<&String>) -> String {
    before.map_or(String::new(), |before| format!(" (was {})", quoted(before)))
}

/// The place of an entry that is meant.
pub(super) fn place_of(tree: &Tree, path: &Path, entry: &EntryId) -> Result<Index> {
    entry.find(tree).with_context(|| format!("{} has no such entry any more", path.display()))
}

/// The id of the leaf, which a new line follows. Files of version 1 have none: pi ties their lines when it opens them.
pub(super) fn leaf_id(tree: &Tree, path: &Path) -> Result<Option<String>> {
    match tree.leaf {
        Some(leaf) if tree.header.version >= 2.0 => string_id(tree, path, leaf).map(Some),
        _ => Ok(None),
    }
}

/// The id of an entry that others can follow or point at: a text, as pi's always are.
pub(super) fn string_id(tree: &Tree, path: &Path, at: Index) -> Result<String> {
    let node = &tree.nodes[at as usize];
    let line = Bodies::open(Files::Disk, path)?.line(node)?;
    let entry = parse::line(&line).ok().flatten().unwrap_or_default();
    match entry.id.filter(|_| entry.id_is_text) {
        Some(id) => Ok(id.text().into_owned()),
        None => bail!(
            "an entry of {} has no id that another one could name ({}), so nothing can follow it",
            path.display(),
            node.text
        ),
    }
}

/// Whether a file has the line that was to be appended last for a change: by the id that pitree gave it.
pub(super) fn has_line(path: &Path, record: &JournalRecord) -> Option<bool> {
    let Some(id) = record.entries.last() else { return Some(false) };
    if !is_there(path).ok()? {
        return Some(false);
    }
    let bytes = Bodies::open(Files::Disk, path).and_then(|mut bodies| bodies.whole()).ok()?;
    // A part of the line may stay: it is no line.
    let said = format!("\"id\":\"{id}\"");
    let is_it =
        |line: &[u8]| parse::line(line).ok().flatten().is_some_and(|entry| entry.id.is_some_and(|has| has.is(id)));
    let mut lines = memchr::memmem::find_iter(&bytes, said.as_bytes()).map(|at| {
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |behind| at + behind);
        &bytes[start..end]
    });
    Some(lines.any(is_it))
}
