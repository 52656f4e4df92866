//! In which other sessions of its family each entry of a tree stands, as digests tell.

use std::collections::HashMap;

use crate::library::SessionKey;
use crate::session::digest::{Digest, Shared};
use crate::session::shape::{ById, Index};

/// For the entries of a tree the other sessions that have them.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// Sessions that have the same entries; the first one is of none.
    sets: Vec<Vec<SessionKey>>,
    /// Which of these has each entry.
    of: Vec<u32>,
}

impl Others {
    /// Looks for entries among sessions that share some: each by its session, and by its place in that.
    pub fn new<'a>(
        kin: &[(SessionKey, Shared)],
        entries: impl Iterator<Item = (SessionKey, &'a Digest, Index)>,
    ) -> Self {
        // A set is made of a set of sessions before, and one more.
        let mut made: Vec<(u32, Option<u32>)> = Vec::new();
        let mut set_of: ById<u32> = ById::default();
        for (member, (_, session)) in (0..).zip(kin) {
            let mut next: HashMap<Option<u32>, u32> = HashMap::new();
            for id in &session.details().entries.ids {
                let above = set_of.get(id).copied();
                if above.is_some_and(|set| made[set as usize].0 == member) {
                    continue; // it stands twice in the file
                }
                let set = *next.entry(above).or_insert_with(|| {
                    made.push((member, above));
                    made.len() as u32 - 1
                });
                set_of.insert(*id, set);
            }
        }
        let members = |set: u32| {
            let above = |&(_, above): &(u32, Option<u32>)| made.get(above? as usize).copied();
            std::iter::successors(made.get(set as usize).copied(), above).map(|(member, _)| kin[member as usize].0)
        };
        let (mut sets, mut places) = (vec![Vec::new()], HashMap::new());
        let of = entries.map(|(session, digest, at)| {
            let Some(&set) = digest.details().entries.ids.get(at as usize).and_then(|id| set_of.get(id)) else {
                return 0;
            };
            *places.entry((set, session)).or_insert_with(|| {
                let mut others: Vec<SessionKey> = members(set).filter(|&member| member != session).collect();
                others.reverse();
                if others.is_empty() {
                    return 0;
                }
                sets.push(others);
                sets.len() as u32 - 1
            })
        });
        let of = of.collect();
        Self { sets, of }
    }

    /// The other sessions that have an entry, in the order in which they were looked at.
    pub fn of(&self, at: Index) -> &[SessionKey] {
        let set = self.of.get(at as usize).copied().unwrap_or_default();
        self.sets.get(set as usize).map_or(&[], |set| set)
    }
}
