//! The active path without the rest of the tree, and abandoned branches.

use serde::{Deserialize, Serialize};

use crate::session::links::{Index, ParentLinks};

/// The entries on the path from the root to the leaf, the last entry of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivePath {
    /// One bit per entry.
    bits: Box<[u64]>,
}

impl ActivePath {
    /// Creates the path to the leaf.
    pub fn new(parent_links: &ParentLinks) -> Self {
        Self::to(parent_links, (parent_links.parents.len() as Index).checked_sub(1))
    }

    /// Creates the path to any entry.
    pub fn to(parent_links: &ParentLinks, leaf: Option<Index>) -> Self {
        let mut active = Self { bits: vec![0; parent_links.parents.len().div_ceil(64)].into() };
        let mut at = leaf;
        while let Some(here) = at {
            active.bits[here as usize / 64] |= 1 << (here % 64);
            at = parent_links.parents[here as usize];
        }
        active
    }

    /// Returns `true` if the path contains an entry.
    pub fn has(&self, at: Index) -> bool {
        self.bits.get(at as usize / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }
}

/// A branch that does not lead to the leaf.
#[derive(Clone, Debug)]
pub struct AbandonedBranch {
    /// The last entry.
    pub end: Index,
    /// The last user or assistant message on it, or else the last entry.
    pub last: Index,
    /// The number of its entries. Entries shared by several branches belong to the newest one.
    pub entries: usize,
    /// US dollars.
    pub cost: f64,
    /// The time of the newest entry, in milliseconds since 1970.
    pub latest: Option<i64>,
}
