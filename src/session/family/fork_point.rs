//! The entry where a fork diverged from its parent.

use crate::session::digest::Digest;
use crate::session::digest::builder::RereadLine;
use crate::session::entry::parse;
use crate::session::links::ById;
use crate::session::tree::{Index, Tree};

/// Returns the entry where a fork diverged from its parent, in the parent's tree: the last entry of the fork's active
/// path that the parent has too. A fork keeps all IDs except those of labels, which it writes again.
pub fn split(parent: &Tree, fork: &Tree) -> Option<Index> {
    let in_parent = |at: Index| fork.nodes[at as usize].id.as_deref().and_then(|id| parent.find(id));
    fork.path(fork.leaf?).into_iter().filter_map(in_parent).next_back()
}

/// An index of a parent session to find the fork points of many forks.
pub struct ForkPointIndex<'a> {
    tree: &'a Tree,
    /// The keys of its entries.
    entries: ById<()>,
}

impl<'a> ForkPointIndex<'a> {
    /// Creates the index from the tree and the digest of a session.
    pub fn new(tree: &'a Tree, digest: &Digest) -> Self {
        Self { tree, entries: digest.details().entries.ids.iter().map(|&id| (id, ())).collect() }
    }

    /// Returns the same entry as [`split`] for forks that also keep times, as in pi (1.5.2). Reads only one line of the
    /// fork's file, with `line`.
    pub fn fork_point(&self, fork: &Digest, line: &mut RereadLine<'_>) -> Option<Index> {
        let details = fork.details();
        let shared = |at: &Index| {
            let known = details.entries.ids.get(*at as usize);
            details.active.has(*at) && known.is_some_and(|id| self.entries.contains_key(id))
        };
        // Without IDs, files share no entries.
        let entries = if fork.header.version < 2.0 { 0 } else { fork.entry_count };
        (0..entries as Index).rev().filter(shared).find_map(|at| {
            let line = line(*details.offsets.get(at as usize)?)?;
            let entry = parse::line(&line).ok()??;
            self.tree.find(&entry.id?.text())
        })
    }
}
