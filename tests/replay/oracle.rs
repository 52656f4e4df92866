//! Compares replayed files with the session itself: each whole read of a file shows its content, so that an exact state
//! at the entry before must be equal.

use std::path::Path;
use std::rc::Rc;

use pitree::disk::load::{self, EntryReader};
use pitree::session::entry::kind::EntryKind;
use pitree::session::links::EntryIndex;
use pitree::session::replay::state::{Exactness, FileState, Source};
use pitree::session::replay::{Files, Replay};
use pitree::session::tree::Tree;

/// Counts of whole reads of files that the session touched before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Reads without a command since the last call on the file, and the exact states before them.
    pub(crate) without_command: usize,
    pub(crate) exact_without_command: usize,
    /// Reads with a command between, and the exact states before them.
    pub(crate) with_command: usize,
    pub(crate) exact_with_command: usize,
    /// Exact states that equal the read, and others.
    pub(crate) right: usize,
    pub(crate) wrong: usize,
    /// Possibly changed states that equal the read, and others.
    pub(crate) unchanged: usize,
    pub(crate) changed: usize,
    /// Partial, unknown and removed files.
    pub(crate) not_whole: usize,
    /// Touched files at the branch ends, and those with an exact or possibly changed state.
    pub(crate) files: usize,
    pub(crate) whole_files: usize,
}

impl Counts {
    /// Adds the reads of a session. `report` gets each exact state that differs.
    pub(crate) fn add(&mut self, path: &Path, report: &mut dyn FnMut(String)) {
        let Ok(tree) = load::tree(path, "/nowhere") else { return };
        let mut bodies = EntryReader::open(path).unwrap();
        let mut replay = Replay::new(&tree, "/nowhere", |node| bodies.line(node));
        let visit = |at: EntryIndex, files: &Rc<Files>, after: &Rc<Files>| {
            for (file, after) in after.iter().filter(|(_, after)| is_read_at(after, at)) {
                let (Some(before), Some(parent)) = (files.get(file), tree.parent(at)) else { continue };
                let is_right = self.read(before, after, has_command(&tree, parent, before.latest));
                if !is_right {
                    let id = tree.nodes[at as usize].id.as_deref().unwrap_or("?");
                    report(format!("{}@{id}: {file}: {}", path.display(), before.source.name()));
                }
            }
            if tree.branches(at).next().is_none() {
                self.files += after.len();
                self.whole_files += after.values().filter(|state| state.whole().is_some()).count();
            }
        };
        replay.each(visit).unwrap();
    }

    /// Adds a read; returns `false` if an exact state was wrong.
    fn read(&mut self, before: &FileState, after: &FileState, has_command: bool) -> bool {
        let is_exact = before.exactness() == Exactness::Exact;
        let is_equal = before.whole() == after.whole();
        let (all, exact) = match has_command {
            true => (&mut self.with_command, &mut self.exact_with_command),
            false => (&mut self.without_command, &mut self.exact_without_command),
        };
        *all += 1;
        *exact += usize::from(is_exact);
        let count = match (before.exactness(), is_equal) {
            (Exactness::Exact, true) => &mut self.right,
            (Exactness::Exact, false) => &mut self.wrong,
            (Exactness::Possible, true) => &mut self.unchanged,
            (Exactness::Possible, false) => &mut self.changed,
            _ => &mut self.not_whole,
        };
        *count += 1;
        !is_exact || is_equal
    }
}

fn is_read_at(state: &FileState, at: EntryIndex) -> bool {
    state.source == Source::Read && state.entries == [at] && state.latest == at
}

/// Returns `true` if a command ran after an entry and up to another one.
fn has_command(tree: &Tree, to: EntryIndex, after: EntryIndex) -> bool {
    let is_command = |&at: &EntryIndex| {
        let node = &tree.nodes[at as usize];
        node.kind == EntryKind::Bash || node.called.as_ref().is_some_and(|called| &*called.name == "bash")
    };
    std::iter::successors(Some(to), |&at| tree.parent(at)).take_while(|&at| at != after).any(|at| is_command(&at))
}
