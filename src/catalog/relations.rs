//! Relations between sessions: families, shared entries, and missing parents.

use std::collections::HashSet;

use crate::catalog::missing_parents::{MissingParent, MissingParentKey};
use crate::catalog::{Catalog, SessionKey};
use crate::session::digest::SharedDigest;

impl Catalog {
    /// Returns the family of a session, including itself, parents before forks. Excludes subagent sessions.
    pub(crate) fn family(&self, key: SessionKey) -> Vec<SessionKey> {
        let root = self.families.line(key).last().unwrap_or(key);
        let family = self.families.below_all(&[root]);
        family.into_iter().filter(|&member| member == key || self[member].owner.is_none()).collect()
    }

    /// Returns the session that started a subagent session, directly or through other subagents, or the session itself.
    pub(crate) fn started_by(&self, key: SessionKey) -> SessionKey {
        self.families.line(key).find(|&above| self[above].owner.is_none()).unwrap_or(key)
    }

    /// Returns `true` if a session is a fork or has forks.
    pub(crate) fn has_family(&self, key: SessionKey) -> bool {
        self.families.parent(key).is_some() || self.forks(key).next().is_some()
    }

    /// Returns the sessions outside the family that share entries with a session: copies, and forks of a missing
    /// parent. Oldest first.
    pub(crate) fn same_origin(&self, key: SessionKey) -> Vec<SessionKey> {
        let family: HashSet<SessionKey> = self.family(key).into_iter().collect();
        let members = self.shares.members(key.place()).map(SessionKey::new);
        members.filter(|member| !family.contains(member) && self[*member].owner.is_none()).collect()
    }

    /// Returns all sessions that share entries with a session, including itself, oldest first.
    pub(crate) fn sharing_sessions(&self, key: SessionKey) -> Vec<(SessionKey, SharedDigest)> {
        let members = self.shares.members(key.place()).map(SessionKey::new);
        members.map(|member| (member, self[member].clone())).collect()
    }

    /// Returns a missing parent.
    pub fn missing_parent(&self, key: MissingParentKey) -> Option<&MissingParent> {
        self.missing_parents.get(&key.0)
    }

    /// Returns the missing parent of a fork if it has several forks. Returns `None` until the scan is complete.
    pub fn missing_parent_of(&self, fork: SessionKey) -> Option<MissingParentKey> {
        self.lost_parent(fork).filter(|_| self.is_parent_missing(fork))
    }

    /// Returns the missing parent of a fork as far as the scan has progressed.
    fn lost_parent(&self, fork: SessionKey) -> Option<MissingParentKey> {
        let key = MissingParentKey::new(self.get(fork)?.parent_path.as_deref()?);
        self.missing_parent(key).filter(|_| self.orphans.contains(&fork)).map(|_| key)
    }

    /// Returns the session whose project contains a family: its root, or the oldest of those with a missing parent.
    pub(crate) fn first_of(&self, root: SessionKey) -> SessionKey {
        let parent = self.lost_parent(root).and_then(|key| self.missing_parent(key));
        parent.and_then(|parent| parent.forks.first().copied()).unwrap_or(root)
    }
}
