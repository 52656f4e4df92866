//! The parent links of a session file. IDs are resolved as in pi's `SessionManager` (0.74.2, 0.87.1). Duplicate IDs and
//! cycles, which pi cannot show, are detected; cycles are cut, so that the result is a forest.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::session::json::Str;
use crate::session::problem::Problem;

/// The index of an entry in its file, starting at 0, without headers.
pub type EntryIndex = u32;

/// The hash of an ID. Files have hundreds of thousands of IDs; 64 bits are enough to avoid collisions. It is never 0, so that
/// optional hashes take 64 bits too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdHash(NonZeroU64);

impl IdHash {
    /// Hashes an ID in steps of eight bytes, the length of pi's IDs. A map can use any bits of the result.
    pub fn new(id: &[u8]) -> Self {
        let (words, rest) = id.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = words.iter().chain((!rest.is_empty()).then_some(&last)).map(|word| u64::from_le_bytes(*word));
        // The length distinguishes zero padding from trailing zeros.
        Self::number(mix(words.fold(0, mix), id.len() as u64))
    }

    /// Uses a number as a hash; 0 and the largest number are the same.
    pub(crate) fn number(number: u64) -> Self {
        Self(NonZeroU64::new(number).unwrap_or(NonZeroU64::MAX))
    }

    /// Returns the hash as a number.
    pub(crate) fn value(self) -> u64 {
        self.0.get()
    }

    /// Combines two hashes.
    pub(crate) fn with(self, other: Self) -> Self {
        Self::number(mix(self.value(), other.value()))
    }

    /// Hashes an ID of a file.
    pub fn of(id: Str<'_>) -> Self {
        Self::new(&id.bytes())
    }
}

impl Hash for IdHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.value());
    }
}

fn mix(hash: u64, other: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

/// A hasher that returns its input, which is already a hash.
#[derive(Debug, Default)]
pub struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(b);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A map with IDs as keys.
pub type ById<V> = HashMap<IdHash, V, BuildHasherDefault<IdentityHasher>>;

/// The IDs of an entry.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EntryIds {
    /// The ID.
    pub id: Option<IdHash>,
    /// The ID of the parent.
    pub parent: Option<IdHash>,
}

/// The parents of the entries of a file.
#[derive(Debug, Default)]
pub struct ParentLinks {
    /// The parent of each entry; `None` for roots. Without cycles.
    pub parents: Vec<Option<EntryIndex>>,
    /// The leaf: the last entry, or the one that version 4 names.
    pub leaf: Option<EntryIndex>,
    /// Entries that repeat an earlier ID; the last entry with the ID gets the children.
    pub duplicates: Vec<EntryIndex>,
    /// Entries whose parent is not in the file; they are roots.
    pub orphans: Vec<EntryIndex>,
    /// The first entry of each cycle, including cycles of one entry; they are roots.
    pub cycles: Vec<EntryIndex>,
    /// Entries without an ID, to which no other entry can refer.
    pub unnamed: Vec<EntryIndex>,
    by_id: ById<EntryIndex>,
}

impl ParentLinks {
    /// Iterates over the entries from one to its root, both included.
    pub(crate) fn to_root(&self, from: impl Into<Option<EntryIndex>>) -> impl Iterator<Item = EntryIndex> {
        std::iter::successors(from.into(), |&at| self.parents[at as usize])
    }

    /// Resolves the parents. In files without IDs (`version` below 2), the parent of each entry is the one before it.
    pub fn new(ids: &[EntryIds], version: f64) -> Self {
        let leaf = (ids.len() as EntryIndex).checked_sub(1);
        let mut links = Self { parents: Vec::with_capacity(ids.len()), leaf, ..Self::default() };
        if version < 2.0 {
            links.parents = (0..ids.len() as EntryIndex).map(|at| at.checked_sub(1)).collect();
            return links;
        }
        links.by_id.reserve(ids.len());
        for (at, ids) in ids.iter().enumerate() {
            if let Some(id) = ids.id
                && links.by_id.insert(id, at as EntryIndex).is_some()
            {
                links.duplicates.push(at as EntryIndex);
            }
            if ids.id.is_none() {
                links.unnamed.push(at as EntryIndex);
            }
        }
        for (at, EntryIds { id, parent }) in ids.iter().enumerate() {
            // Fast path: the parent is nearly always the entry before. With duplicate IDs, another entry may have the
            // same ID.
            let before = at
                .checked_sub(1)
                .filter(|&before| links.duplicates.is_empty() && parent.is_some() && ids[before].id == *parent);
            let found = || parent.and_then(|id| links.by_id.get(&id).copied());
            let above = before.map(|before| before as EntryIndex).or_else(found);
            if parent.is_some() && above.is_none() {
                links.orphans.push(at as EntryIndex);
            }
            let is_own = above.is_some() && parent == id;
            if is_own {
                links.cycles.push(at as EntryIndex);
            }
            links.parents.push(above.filter(|_| !is_own));
        }
        links.cut_cycles();
        links
    }

    /// Returns the last entry with an ID.
    pub fn find(&self, id: IdHash) -> Option<EntryIndex> {
        self.by_id.get(&id).copied()
    }

    /// Returns `true` for each stub: an entry whose subtree is only bookkeeping and does not contain the leaf. Names and labels set while pi runs become stubs, because pi attaches the next entry to its own leaf. They
    /// are not branches.
    pub(crate) fn stubs(&self, is_bookkeeping: impl Fn(EntryIndex) -> bool) -> Vec<bool> {
        let mut stubs = vec![true; self.parents.len()];
        for start in 0..self.parents.len() as EntryIndex {
            let mut at = Some(start).filter(|&at| Some(at) == self.leaf || !is_bookkeeping(at));
            while let Some(here) = at.filter(|&here| stubs[here as usize]) {
                stubs[here as usize] = false;
                at = self.parents[here as usize];
            }
        }
        stubs
    }

    /// Returns the number of children of each entry, without stubs.
    pub(crate) fn child_counts(&self, stubs: &[bool]) -> Vec<u32> {
        let mut counts = vec![0; self.parents.len()];
        for (parent, _) in self.parents.iter().zip(stubs).filter(|(_, is_stub)| !**is_stub) {
            parent.iter().for_each(|&parent| counts[parent as usize] += 1);
        }
        counts
    }

    /// Returns the problems.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        let found =
            |found: &Vec<EntryIndex>, problem: fn(usize) -> Problem| (!found.is_empty()).then(|| problem(found.len()));
        let double = found(&self.duplicates, Problem::DoubleIds);
        let unknown = found(&self.orphans, Problem::UnknownParents);
        let cycles = found(&self.cycles, Problem::Cycles);
        [double, unknown, cycles, found(&self.unnamed, Problem::NoIds)].into_iter().flatten()
    }

    fn cut_cycles(&mut self) {
        // If all parents come before their children, there are no cycles.
        if self.parents.iter().zip(0..).all(|(parent, at)| parent.is_none_or(|parent| parent < at)) {
            return;
        }
        const NEW: u32 = 0;
        let mut seen = vec![NEW; self.parents.len()];
        for start in 0..self.parents.len() as EntryIndex {
            let walk = start + 1;
            let mut at = Some(start);
            while let Some(here) = at {
                if seen[here as usize] == walk {
                    let first = self.first_of_cycle(here);
                    self.parents[first as usize] = None;
                    self.cycles.push(first);
                    break;
                }
                if seen[here as usize] != NEW {
                    break;
                }
                seen[here as usize] = walk;
                at = self.parents[here as usize];
            }
        }
    }

    fn first_of_cycle(&self, member: EntryIndex) -> EntryIndex {
        let (mut first, mut at) = (member, self.parents[member as usize]);
        while let Some(here) = at.filter(|&here| here != member) {
            first = first.min(here);
            at = self.parents[here as usize];
        }
        first
    }
}

/// The entries on the path from the root to the leaf.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivePath {
    /// One bit per entry.
    bits: Box<[u64]>,
}

impl ActivePath {
    /// Creates the path to the leaf.
    pub fn new(parent_links: &ParentLinks) -> Self {
        Self::to(parent_links, parent_links.leaf)
    }

    /// Creates the path to any entry.
    pub fn to(parent_links: &ParentLinks, leaf: Option<EntryIndex>) -> Self {
        let mut active = Self { bits: vec![0; parent_links.parents.len().div_ceil(64)].into() };
        let mut at = leaf;
        while let Some(here) = at {
            active.bits[here as usize / 64] |= 1 << (here % 64);
            at = parent_links.parents[here as usize];
        }
        active
    }

    /// Returns `true` if the path contains an entry.
    pub fn has(&self, at: EntryIndex) -> bool {
        self.bits.get(at as usize / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn spreads_similar_ids() {
        let ids =
            (0u64..1 << 16).flat_map(|n| [format!("{n:08x}"), format!("{n:x}0000"), n.to_string() + &"-".repeat(28)]);
        let hashes: HashSet<u64> = ids.map(|id| IdHash::new(id.as_bytes()).value()).collect();
        assert_eq!(hashes.len(), 3 << 16);
        for shift in [0, 16, 32, 48] {
            // The expected share of balls thrown into as many boxes: 95 %.
            let hit: HashSet<u64> = hashes.iter().map(|hash| hash >> shift & 0xffff).collect();
            assert!(hit.len() > 60_000, "{} at {shift}", hit.len());
        }
        let zeros = [0; 20];
        let hashes: HashSet<u64> = (0..20).map(|len| IdHash::new(&zeros[..len]).value()).collect();
        assert_eq!(hashes.len(), 20);
    }
}
