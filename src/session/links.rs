//! Who is whose parent in a session file: ids resolved as pi's `SessionManager` resolves them (0.74.2, 0.87.1), with
//! what pi can't show (ids that stand twice, cycles) found and cut, so that everything above sees a forest.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::session::json::Str;
use crate::session::problem::Problem;

/// The place of an entry in its file, counted from 0 without headers.
pub type Index = u32;

/// An id by its hash: files have hundreds of thousands, and 64 bits tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdHash(u64);

impl IdHash {
    /// The hash of an id, eight bytes a step: pi's ids are so long. A map can use any of its bits.
    pub fn new(id: &[u8]) -> Self {
        let (words, rest) = id.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = words.iter().chain((!rest.is_empty()).then_some(&last)).map(|word| u64::from_le_bytes(*word));
        // What is filled up with zeros differs from what ends with them by its length.
        words.fold(Self(0), |hash, word| hash.with(Self(word))).with(Self(id.len() as u64))
    }

    /// A number as a hash.
    pub(crate) fn number(number: u64) -> Self {
        Self(number)
    }

    /// The hash of two together.
    pub(crate) fn with(self, other: Self) -> Self {
        let mixed = (self.0.rotate_left(23) ^ other.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(mixed ^ (mixed >> 32))
    }

    /// The hash of an id in a file.
    pub fn of(id: Str<'_>) -> Self {
        Self::new(&id.bytes())
    }
}

impl Hash for IdHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}

/// Passes a hash through: hashing it again would gain nothing.
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

/// A map by ids.
pub type ById<V> = HashMap<IdHash, V, BuildHasherDefault<IdentityHasher>>;

/// What an entry says of its place.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EntryIds {
    /// Its own id.
    pub id: Option<IdHash>,
    /// Its parent's.
    pub parent: Option<IdHash>,
}

/// The parents of the entries of a file.
#[derive(Debug, Default)]
pub struct ParentLinks {
    /// The parent of each entry; roots have none. Free of cycles.
    pub parents: Vec<Option<Index>>,
    /// Entries whose id stood before: children belong to the last one that has it.
    pub duplicates: Vec<Index>,
    /// Entries whose parent is not in the file: roots.
    pub orphans: Vec<Index>,
    /// The first entry of each cycle of parents, be it of one entry alone: made a root.
    pub cycles: Vec<Index>,
    by_id: ById<Index>,
}

impl ParentLinks {
    /// Resolves the parents. In files without ids (`version` below 2) each entry follows the one before it.
    pub fn new(ids: &[EntryIds], version: f64) -> Self {
        let mut links = Self { parents: Vec::with_capacity(ids.len()), ..Self::default() };
        if version < 2.0 {
            links.parents = (0..ids.len() as Index).map(|at| at.checked_sub(1)).collect();
            return links;
        }
        links.by_id.reserve(ids.len());
        for (at, ids) in ids.iter().enumerate() {
            if let Some(id) = ids.id
                && links.by_id.insert(id, at as Index).is_some()
            {
                links.duplicates.push(at as Index);
            }
        }
        for (at, EntryIds { id, parent }) in ids.iter().enumerate() {
            // Nearly always it is the entry before. Where ids stand twice, another one may have the same.
            let before = at
                .checked_sub(1)
                .filter(|&before| links.duplicates.is_empty() && parent.is_some() && ids[before].id == *parent);
            let found = || parent.and_then(|id| links.by_id.get(&id).copied());
            let above = before.map(|before| before as Index).or_else(found);
            if parent.is_some() && above.is_none() {
                links.orphans.push(at as Index);
            }
            let is_own = above.is_some() && parent == id;
            if is_own {
                links.cycles.push(at as Index);
            }
            links.parents.push(above.filter(|_| !is_own));
        }
        links.cut_cycles();
        links
    }

    /// That of entries whose parents are known; free of cycles.
    pub(crate) fn tied(parents: Vec<Option<Index>>) -> Self {
        Self { parents, ..Self::default() }
    }

    /// The entry with an id: the last one, if it stands twice.
    pub fn find(&self, id: IdHash) -> Option<Index> {
        self.by_id.get(&id).copied()
    }

    /// Which entries are stubs: they and all below them are bookkeeping, and the leaf, the last entry, is not among them.
    /// A name or a label that is given beside a pi at work is left so, as pi's next entry hangs at pi's own leaf. They
    /// make no branch.
    pub(crate) fn stubs(&self, is_bookkeeping: impl Fn(Index) -> bool) -> Vec<bool> {
        let mut stubs = vec![true; self.parents.len()];
        let leaf = (self.parents.len() as Index).checked_sub(1);
        for start in 0..self.parents.len() as Index {
            let mut at = Some(start).filter(|&at| Some(at) == leaf || !is_bookkeeping(at));
            while let Some(here) = at.filter(|&here| stubs[here as usize]) {
                stubs[here as usize] = false;
                at = self.parents[here as usize];
            }
        }
        stubs
    }

    /// How many children that are no stubs each entry has.
    pub(crate) fn child_counts(&self, stubs: &[bool]) -> Vec<u32> {
        let mut counts = vec![0; self.parents.len()];
        for (parent, _) in self.parents.iter().zip(stubs).filter(|(_, is_stub)| !**is_stub) {
            parent.iter().for_each(|&parent| counts[parent as usize] += 1);
        }
        counts
    }

    /// What is wrong.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        let found =
            |found: &Vec<Index>, problem: fn(usize) -> Problem| (!found.is_empty()).then(|| problem(found.len()));
        let double = found(&self.duplicates, Problem::DoubleIds);
        let unknown = found(&self.orphans, Problem::UnknownParents);
        [double, unknown, found(&self.cycles, Problem::Cycles)].into_iter().flatten()
    }

    fn cut_cycles(&mut self) {
        // Where all parents stand before their children there are none.
        if self.parents.iter().zip(0..).all(|(parent, at)| parent.is_none_or(|parent| parent < at)) {
            return;
        }
        const NEW: u32 = 0;
        let mut seen = vec![NEW; self.parents.len()];
        for start in 0..self.parents.len() as Index {
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

    fn first_of_cycle(&self, member: Index) -> Index {
        let (mut first, mut at) = (member, self.parents[member as usize]);
        while let Some(here) = at.filter(|&here| here != member) {
            first = first.min(here);
            at = self.parents[here as usize];
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_that_hardly_differ_are_spread() {
        let ids =
            (0u64..1 << 16).flat_map(|n| [format!("{n:08x}"), format!("{n:x}0000"), n.to_string() + &"-".repeat(28)]);
        let hashes: HashSet<u64> = ids.map(|id| IdHash::new(id.as_bytes()).0).collect();
        assert_eq!(hashes.len(), 3 << 16);
        for shift in [0, 16, 32, 48] {
            // As many as so many balls thrown into so many boxes hit: 95 %.
            let hit: HashSet<u64> = hashes.iter().map(|hash| hash >> shift & 0xffff).collect();
            assert!(hit.len() > 60_000, "{} at {shift}", hit.len());
        }
        let zeros = [0; 20];
        let hashes: HashSet<u64> = (0..20).map(|len| IdHash::new(&zeros[..len]).0).collect();
        assert_eq!(hashes.len(), 20);
    }
}
