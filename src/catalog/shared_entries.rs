//! The other sessions of a family that contain each entry of a tree, according to their digests.

use std::collections::HashMap;

use crate::catalog::SessionKey;
use crate::catalog::membership::MemberSets;
use crate::session::digest::{Digest, SharedDigest};
use crate::session::links::Index;

/// For each entry of a tree, the other sessions that contain it.
#[derive(Clone, Debug, Default)]
pub struct SharedEntries {
    /// Sets of sessions that contain the same entries; the first set is empty.
    sets: Vec<Vec<SessionKey>>,
    /// The set of each entry.
    of: Vec<u32>,
}

impl SharedEntries {
    /// Looks up entries, given by session and index, among sessions that share some.
    pub fn new<'a>(
        sharing: &[(SessionKey, SharedDigest)],
        entries: impl Iterator<Item = (SessionKey, &'a Digest, Index)>,
    ) -> Self {
        if sharing.is_empty() {
            return Self::default(); // the common case
        }
        let member_sets = MemberSets::new(sharing.iter().map(|(_, session)| &session.details().entries.ids[..]));
        let (mut sets, mut places) = (vec![Vec::new()], HashMap::new());
        let of = entries.map(|(session, digest, at)| {
            let Some(&set) = digest.details().entries.ids.get(at as usize).and_then(|id| member_sets.of.get(id)) else {
                return 0;
            };
            *places.entry((set, session)).or_insert_with(|| {
                let members = member_sets.members(set).map(|member| sharing[member as usize].0);
                let mut others: Vec<SessionKey> = members.filter(|&member| member != session).collect();
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

    /// Returns the other sessions that contain an entry, in the given order.
    pub fn of(&self, at: Index) -> &[SessionKey] {
        let set = self.of.get(at as usize).copied().unwrap_or_default();
        self.sets.get(set as usize).map_or(&[], |set| set)
    }
}
