//! Sets of members: items with the same members form one set.

use std::collections::HashMap;

use crate::session::links::{ById, IdHash};

/// The sets, and the set of each item.
#[derive(Debug, Default)]
pub(super) struct MemberSets {
    /// For each set, its last member and the set of the members before it.
    made: Vec<(u32, Option<u32>)>,
    /// The set of each item.
    pub(super) of: ById<u32>,
}

impl MemberSets {
    /// Computes the sets from the items of each member, in order. Duplicates within a member count once.
    pub(super) fn new<'a>(members: impl Iterator<Item = &'a [IdHash]>) -> Self {
        let mut sets = Self::default();
        for (member, things) in (0..).zip(members) {
            let mut next: HashMap<Option<u32>, u32> = HashMap::new();
            for thing in things {
                let above = sets.of.get(thing).copied();
                if above.is_some_and(|set| sets.made[set as usize].0 == member) {
                    continue;
                }
                let set = *next.entry(above).or_insert_with(|| {
                    sets.made.push((member, above));
                    sets.made.len() as u32 - 1
                });
                sets.of.insert(*thing, set);
            }
        }
        sets
    }

    /// Returns the number of sets.
    pub(super) fn len(&self) -> usize {
        self.made.len()
    }

    /// Iterates over the members of a set, last one first.
    pub(super) fn members(&self, set: u32) -> impl Iterator<Item = u32> {
        let above = |&(_, above): &(u32, Option<u32>)| self.made.get(above? as usize).copied();
        std::iter::successors(self.made.get(set as usize).copied(), above).map(|(member, _)| member)
    }
}
