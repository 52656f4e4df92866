//! The commit to which the work of an entry belongs: the first one after it, on a path from the entry.

use std::collections::hash_map::Entry;

use crate::catalog::key::SessionKey;
use crate::session::digest::commits::DigestCommit;
use crate::session::links::{ById, IdHash, Index};

/// A commit, by the session and the entry that printed it.
pub(super) type CommitKey = (SessionKey, Index);

/// The commits after the entries of sessions that share entries. An entry before a branch point belongs to the commit
/// that is first in the oldest session.
#[derive(Debug, Default)]
pub(super) struct CommitsAfter(ById<CommitKey>);

impl CommitsAfter {
    /// Adds the commits of a session with the keys and parents of its entries; the older sessions come first.
    pub(super) fn add(
        &mut self,
        key: SessionKey,
        commits: &[DigestCommit],
        (ids, parents): (&[IdHash], &[Option<Index>]),
    ) {
        for commit in commits {
            let mut next = Some(commit.at);
            while let Some(at) = next.take()
                && let (Some(&id), Some(&parent)) = (ids.get(at as usize), parents.get(at as usize))
            {
                // All entries above one with a commit have one, too.
                if let Entry::Vacant(place) = self.0.entry(id) {
                    place.insert((key, commit.at));
                    next = parent;
                }
            }
        }
    }

    /// Returns the commits after the entries with these keys; empty if there are none.
    pub(super) fn of(&self, ids: &[IdHash]) -> Vec<Option<CommitKey>> {
        match self.0.is_empty() {
            true => Vec::new(),
            false => ids.iter().map(|id| self.0.get(id).copied()).collect(),
        }
    }
}
