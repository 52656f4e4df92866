//! Looks through all texts of one open session, entry by entry, and passes on which of them have something.

use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::disk::files::Files;
use crate::disk::lines;
use crate::session::entry::Entry;
use crate::session::entry::field;
use crate::session::entry::kind::Kind;
use crate::session::tree::{Index, Tree};

/// How long entries are gathered before they are passed on: also how soon a search stops that nobody waits for.
const BATCH: Duration = Duration::from_millis(40);

/// Passes on the entries from one on whose texts, one on a line, `has` is true for: in batches, the last of which says so; until all
/// are looked through or `batch` returns false.
pub fn each(
    files: Files,
    path: &Path,
    (tree, start): (&Tree, Index),
    has: impl Fn(&str) -> bool,
    mut batch: impl FnMut(Vec<Index>, bool) -> bool,
) {
    let mut found = Vec::new();
    let mut due = Instant::now() + BATCH;
    let is_wanted = lines(files, path, (tree, start), |at, _, texts| {
        found.extend(has(texts).then_some(at));
        let is_due = Instant::now() >= due;
        if is_due {
            due = Instant::now() + BATCH;
        }
        !is_due || batch(std::mem::take(&mut found), false)
    });
    if is_wanted {
        batch(found, true);
    }
}

/// Passes on the entries of a session from one on with their texts, one on a line, until `each` returns false; returns whether it never
/// did. The row and the label of an entry belong to its texts; the entry that set the label has none. What can't be read
/// any more is not there; that the file is gone is said where it is opened.
pub fn lines(
    files: Files,
    path: &Path,
    (tree, start): (&Tree, Index),
    mut each: impl FnMut(Index, &Entry<'_>, &str) -> bool,
) -> bool {
    let Ok(Some(mut file)) = files.session(path) else { return true };
    // In a newer form several entries may stand in one line.
    let start = if tree.header.is_newer() { 0 } else { start };
    let start = tree.nodes.get(start as usize).filter(|_| start > 0).map_or(0, |node| node.offset);
    if file.seek(SeekFrom::Start(start)).is_err() {
        return true;
    }
    let (mut texts, mut is_wanted) = (String::new(), true);
    let _ = lines::each(&mut file, start, u64::MAX, &mut Vec::new(), |line| {
        // What was written since the tree was read is not in it.
        let Ok(at) = tree.nodes.binary_search_by_key(&line.offset, |node| node.offset) else { return true };
        let node = &tree.nodes[at];
        if node.kind != Kind::Label
            && let Ok(Some(entry)) = line.read()
        {
            texts.clear();
            if !line.is_cut() {
                field::texts(&entry, line.bytes, &mut |_, text| {
                    texts.push_str(&text.text());
                    texts.push('\n');
                });
            }
            texts.extend(tree.labels.get(&(at as Index)).map(|label| &*label.text));
            texts.push('\n');
            texts.push_str(&node.text);
            is_wanted = each(at as Index, &entry, &texts);
        }
        is_wanted
    });
    is_wanted
}
