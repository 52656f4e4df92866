//! In which other sessions of its family each entry of a tree stands, as digests tell.

use std::collections::HashMap;

use crate::catalog::SessionKey;
use crate::catalog::membership::MemberSets;
use crate::session::digest::{Digest, SharedDigest};
use crate::session::links::Index;

/// For the entries of a tree the other sessions that have them.
#[derive(Clone, Debug, Default)]
pub struct SharedEntries {
    /// Sessions that have the same entries; the first one is of none.
    sets: Vec<Vec<SessionKey>>,
    /// Which of these has each entry.
    of: Vec<u32>,
}

impl SharedEntries {
    /// Looks for entries among sessions that share some: each by its session, and by its place in that.
    pub fn new<'a>(
        kin: &[(SessionKey, SharedDigest)],
        entries: impl Iterator<Item = (SessionKey, &'a Digest, Index)>,
    ) -> Self {
        if kin.is_empty() {
            return Self::default(); // as nearly always
        }
        let had = MemberSets::new(kin.iter().map(|(_, session)| &session.details().entries.ids[..]));
        let (mut sets, mut places) = (vec![Vec::new()], HashMap::new());
        let of = entries.map(|(session, digest, at)| {
            let Some(&set) = digest.details().entries.ids.get(at as usize).and_then(|id| had.of.get(id)) else {
                return 0;
            };
            *places.entry((set, session)).or_insert_with(|| {
                let members = had.members(set).map(|member| kin[member as usize].0);
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

    /// The other sessions that have an entry, in the order in which they were looked at.
    pub fn of(&self, at: Index) -> &[SessionKey] {
        let set = self.of.get(at as usize).copied().unwrap_or_default();
        self.sets.get(set as usize).map_or(&[], |set| set)
    }
}
