//! Which of several members have which things: those that the same members have make one set.

use std::collections::HashMap;

use crate::session::links::{ById, IdHash};

/// The sets, by their numbers, and which one each thing is in.
#[derive(Debug, Default)]
pub(super) struct MemberSets {
    /// The last member of each, and the set of the members before that.
    made: Vec<(u32, Option<u32>)>,
    /// The set of each thing.
    pub(super) of: ById<u32>,
}

impl MemberSets {
    /// Of the things that each member has, in the order of the members. What one has twice it has once.
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.made.len()
    }

    /// The members of a set, the last one first.
    pub(super) fn members(&self, set: u32) -> impl Iterator<Item = u32> {
        let above = |&(_, above): &(u32, Option<u32>)| self.made.get(above? as usize).copied();
        std::iter::successors(self.made.get(set as usize).copied(), above).map(|(member, _)| member)
    }
}
