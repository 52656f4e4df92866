//! Who belongs to a session: its family, those that share entries with it, and parents that are gone.

use std::collections::HashSet;

use crate::catalog::missing_parents::{MissingParent, MissingParentKey};
use crate::catalog::{Catalog, SessionKey};
use crate::session::digest::SharedDigest;

impl Catalog {
    /// The family of a session, itself included: parents before their forks. The sessions of sub-agents are none of it.
    pub(crate) fn family(&self, key: SessionKey) -> Vec<SessionKey> {
        let root = self.families.line(key).last().unwrap_or(key);
        let family = self.families.below_all(&[root]);
        family.into_iter().filter(|&member| member == key || self[member].owner.is_none()).collect()
    }

    /// The session whose subagents, or theirs, wrote a session; that session itself if it is no subagent's.
    pub(crate) fn started_by(&self, key: SessionKey) -> SessionKey {
        self.families.line(key).find(|&above| self[above].owner.is_none()).unwrap_or(key)
    }

    /// Whether a session was forked from another one, or others from it.
    pub(crate) fn has_family(&self, key: SessionKey) -> bool {
        self.families.parent(key).is_some() || self.forks(key).next().is_some()
    }

    /// The sessions that share entries with one, and are none of its family as far as they say: copies, forks of a parent that
    /// is gone. The oldest first.
    pub(crate) fn same_origin(&self, key: SessionKey) -> Vec<SessionKey> {
        let family: HashSet<SessionKey> = self.family(key).into_iter().collect();
        let members = self.shares.members(key.place()).map(SessionKey::new);
        members.filter(|member| !family.contains(member) && self[*member].owner.is_none()).collect()
    }

    /// All sessions that share entries with one, itself included, the oldest first.
    pub(crate) fn kindred(&self, key: SessionKey) -> Vec<(SessionKey, SharedDigest)> {
        let members = self.shares.members(key.place()).map(SessionKey::new);
        members.map(|member| (member, self[member].clone())).collect()
    }

    /// A session that is gone.
    pub fn ghost(&self, key: MissingParentKey) -> Option<&MissingParent> {
        self.ghosts.get(key)
    }

    /// The session that is gone from which one was forked, if that keeps several forks together: as soon as all are read.
    pub fn ghost_of(&self, fork: SessionKey) -> Option<MissingParentKey> {
        self.lost(fork).filter(|_| self.is_parent_missing(fork))
    }

    /// The same as far as is known by now.
    fn lost(&self, fork: SessionKey) -> Option<MissingParentKey> {
        let key = MissingParentKey::new(self.get(fork)?.parent_path.as_deref()?);
        self.ghost(key).filter(|_| self.orphans.contains(&fork)).map(|_| key)
    }

    /// The session by whose project a family is found: its root, or of those whose parent is gone the oldest.
    pub(crate) fn first_of(&self, root: SessionKey) -> SessionKey {
        let ghost = self.lost(root).and_then(|key| self.ghost(key));
        ghost.and_then(|ghost| ghost.forks.first().copied()).unwrap_or(root)
    }
}
