//! The path from the root to the leaf, where the rest of the tree is not needed, and a branch that leaves it.

use serde::{Deserialize, Serialize};

use crate::session::links::{Index, ParentLinks};

/// The entries on the path from the root to the leaf, the last entry of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivePath {
    /// A bit for each entry.
    bits: Box<[u64]>,
}

impl ActivePath {
    /// Walks from the leaf up.
    pub fn new(parent_links: &ParentLinks) -> Self {
        Self::to(parent_links, (parent_links.parents.len() as Index).checked_sub(1))
    }

    /// The same to any entry.
    pub fn to(parent_links: &ParentLinks, leaf: Option<Index>) -> Self {
        let mut active = Self { bits: vec![0; parent_links.parents.len().div_ceil(64)].into() };
        let mut at = leaf;
        while let Some(here) = at {
            active.bits[here as usize / 64] |= 1 << (here % 64);
            at = parent_links.parents[here as usize];
        }
        active
    }

    /// Whether an entry is among them.
    pub fn has(&self, at: Index) -> bool {
        self.bits.get(at as usize / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }
}

/// A branch that does not lead to the leaf.
#[derive(Clone, Debug)]
pub struct AbandonedBranch {
    /// The entry at its end.
    pub end: Index,
    /// The last message of a user or an assistant on it, else its end.
    pub last: Index,
    /// The number of its entries. Entries that several branches share belong to the newest of them.
    pub entries: usize,
    /// US dollars.
    pub cost: f64,
    /// The newest entry, in milliseconds since 1970.
    pub latest: Option<i64>,
}
