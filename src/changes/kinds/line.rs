//! Functions shared by changes that append a line.

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

/// Returns the result of appending a line; `or_else` explains why there was nothing to append.
pub(super) fn done(change: Option<Change>, or_else: &str) -> ChangeResult {
    change.map_or_else(|| ChangeResult::nothing(or_else), |change| ChangeResult::of(ChangeStep::Make, vec![change], 0))
}

/// Quotes a name or label, and truncates a very long one.
pub(super) fn quoted(text: &str) -> String {
    /// The limit in UTF-16 code units.
    const MOST: usize = 200;
    let beginning = utf16_prefix(text, MOST);
    format!("{beginning:?}{}", if beginning.len() < text.len() { "..." } else { "" })
}

/// Describes the previous value of a change.
pub(super) fn was(before: Option<&String>) -> String {
    before.map_or(String::new(), |before| format!(" (was {})", quoted(before)))
}

/// Returns the index of an entry.
pub(super) fn place_of(tree: &Tree, path: &Path, entry: &EntryId) -> Result<Index> {
    entry.find(tree).with_context(|| format!("entry not found in {}; it may have changed", path.display()))
}

/// Returns the id of the leaf, the parent of a new line. Version 1 has no ids; pi links such lines when it opens the
/// file.
pub(super) fn leaf_id(tree: &Tree, path: &Path) -> Result<Option<String>> {
    match tree.leaf {
        Some(leaf) if tree.header.version >= 2.0 => string_id(tree, path, leaf).map(Some),
        _ => Ok(None),
    }
}

/// Returns the id of an entry as a string. pi always writes strings, and other lines can only refer to strings.
pub(super) fn string_id(tree: &Tree, path: &Path, at: Index) -> Result<String> {
    let node = &tree.nodes[at as usize];
    let line = Bodies::open(Files::Disk, path)?.line(node)?;
    let entry = parse::line(&line).ok().flatten().unwrap_or_default();
    match entry.id.filter(|_| entry.id_is_text) {
        Some(id) => Ok(id.text().into_owned()),
        None => bail!("cannot append to {}: an entry has no valid id ({})", path.display(), node.text),
    }
}

/// Returns `true` if a file contains the last line appended for a change, identified by its id.
pub(super) fn has_line(path: &Path, record: &JournalRecord) -> Option<bool> {
    let Some(id) = record.entries.last() else { return Some(false) };
    if !is_there(path).ok()? {
        return Some(false);
    }
    let bytes = Bodies::open(Files::Disk, path).and_then(|mut bodies| bodies.whole()).ok()?;
    // A partial line does not count.
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
