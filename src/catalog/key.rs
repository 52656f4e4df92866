//! What sessions, projects and entries are known by while the program runs.

use crate::session::tree::Index;

/// A session, whatever becomes of its file: one that is gone and comes back has the key that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(u32);

impl SessionKey {
    pub(super) fn new(place: usize) -> Self {
        Self(place as u32)
    }

    pub(super) fn place(self) -> usize {
        self.0 as usize
    }
}

/// A working directory of sessions; the empty one if they name none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectKey(u32);

impl ProjectKey {
    pub(super) fn new(place: usize) -> Self {
        Self(place as u32)
    }

    pub(crate) fn place(self) -> usize {
        self.0 as usize
    }
}

/// An entry of a session. Files are only appended to, so that its place stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryRef {
    /// The session.
    pub session: SessionKey,
    /// Its place among the entries of the file.
    pub at: Index,
}
