//! The entry at which a fork left the session that it was forked from.

use crate::session::tree::{Index, Tree};

/// Finds where a fork left its parent: the last entry of its active path that is in the parent as well, in the parent. A fork
/// keeps its parent's ids, but for labels, which are written anew.
pub fn split(parent: &Tree, fork: &Tree) -> Option<Index> {
    let in_parent = |at: Index| fork.nodes[at as usize].id.as_deref().and_then(|id| parent.find(id));
    fork.path(fork.leaf?).into_iter().filter_map(in_parent).next_back()
}
