//! The entry at which a fork left the session that it was forked from.

use crate::session::tree::{Index, Tree};

/// Where a fork left the session that it was forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The last entry that both have, in the parent.
    pub at: Index,
    /// Entries that only the fork has.
    pub own: usize,
}

/// Finds the split point of a fork: the last entry of its active path that is in the parent as well. A fork keeps its
/// parent's ids, but for labels, which are written anew.
pub fn split(parent: &Tree, fork: &Tree) -> Option<Split> {
    let in_parent = |at: Index| fork.nodes[at as usize].id.as_deref().and_then(|id| parent.find(id));
    let at = fork.path(fork.leaf?).into_iter().filter_map(in_parent).next_back()?;
    let own = (0..fork.nodes.len() as Index).filter(|&at| in_parent(at).is_none()).count();
    Some(Split { at, own })
}
