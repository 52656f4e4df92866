//! The entry at which a fork left the session that it was forked from.

use crate::session::digest::Digest;
use crate::session::digest::builder::RereadLine;
use crate::session::entry::parse;
use crate::session::links::ById;
use crate::session::tree::{Index, Tree};

/// Finds where a fork left its parent: the last entry of its active path that is in the parent as well, in the parent. A fork
/// keeps its parent's ids, but for labels, which are written anew.
pub fn split(parent: &Tree, fork: &Tree) -> Option<Index> {
    let in_parent = |at: Index| fork.nodes[at as usize].id.as_deref().and_then(|id| parent.find(id));
    fork.path(fork.leaf?).into_iter().filter_map(in_parent).next_back()
}

/// A session that others were forked from, to find many splits.
pub struct ForkPointIndex<'a> {
    tree: &'a Tree,
    /// What its entries are known by.
    entries: ById<()>,
}

impl<'a> ForkPointIndex<'a> {
    /// A session by its tree and its digest.
    pub fn new(tree: &'a Tree, digest: &Digest) -> Self {
        Self { tree, entries: digest.details().entries.ids.iter().map(|&id| (id, ())).collect() }
    }

    /// As [`split`], where entries have kept their times too, as pi keeps them (1.5.2): of the fork's file only one line is
    /// read, by `line`.
    pub fn left_by(&self, fork: &Digest, line: &mut RereadLine<'_>) -> Option<Index> {
        let details = fork.details();
        let shared = |at: &Index| {
            let known = details.entries.ids.get(*at as usize);
            details.active.has(*at) && known.is_some_and(|id| self.entries.contains_key(id))
        };
        // Without ids no entry of one file is another's.
        let entries = if fork.header.version < 2.0 { 0 } else { fork.entry_count };
        (0..entries as Index).rev().filter(shared).find_map(|at| {
            let line = line(*details.offsets.get(at as usize)?)?;
            let entry = parse::line(&line).ok()??;
            self.tree.find(&entry.id?.text())
        })
    }
}
