//! Keys of sessions, projects and entries, valid while the program runs.

use crate::session::tree::EntryIndex;

/// A session. A deleted session that is restored keeps its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(u32);

impl SessionKey {
    pub(crate) fn new(place: usize) -> Self {
        Self(place as u32)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A working directory of sessions and those that stand for it in worktrees; empty for sessions without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectKey(u32);

impl ProjectKey {
    pub(super) fn new(place: usize) -> Self {
        Self(place as u32)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An entry of a session. Its index is stable, because files are only appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryRef {
    /// The session.
    pub session: SessionKey,
    /// The index of the entry in the file.
    pub at: EntryIndex,
}
