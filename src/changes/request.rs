//! What can be asked for.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::session::digest::Digest;
use crate::session::entry::EntryId;
use crate::session::links::IdHash;

/// A file as it was when it was last read: one that changed since is asked about again before it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSnapshot {
    /// The file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was last written, in milliseconds since 1970.
    pub mtime: i64,
}

impl FileSnapshot {
    /// As a list has it.
    pub fn of(session: &Digest) -> Self {
        Self { path: session.path.clone(), bytes: session.bytes, mtime: session.mtime }
    }
}

/// A session as it was when a request about it was prepared: its id, and its entries up to then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionIdentity {
    id: String,
    entries: usize,
    last: Option<IdHash>,
}

impl SessionIdentity {
    /// Returns the identity of a session in the list.
    pub fn of(session: &Digest) -> Self {
        let entries = session.entry_count;
        Self { id: session.header.id.clone(), entries, last: last(session, entries) }
    }

    /// Returns `true` if a session is this one, or this one with entries appended.
    pub(crate) fn fits(&self, session: &Digest) -> bool {
        session.header.id == self.id && last(session, self.entries) == self.last
    }
}

/// Returns the hash of the last of the first `entries` entries.
fn last(session: &Digest, entries: usize) -> Option<IdHash> {
    session.entry_key(entries.checked_sub(1)?.try_into().ok()?)
}

/// What is to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Make a change of a session unless its file was replaced: see [`Refusal::Replaced`](crate::changes::Refusal::Replaced).
    IfSame {
        /// The session.
        session: SessionIdentity,
        /// The change.
        then: Box<Request>,
    },
    /// Give a session a name; an empty one clears it.
    Rename {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// Label an entry; an empty label clears it.
    Label {
        /// The file.
        path: PathBuf,
        /// The entry.
        target: EntryId,
        /// The label.
        label: String,
        /// Whether a file of an old version may be brought into the form of today: see [`Refusal::Old`](crate::changes::Refusal::Old).
        migrate: bool,
    },
    /// Move the leaf, so that pi goes on from another entry.
    MoveLeaf {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first one.
        to: Option<EntryId>,
        /// As for a label.
        migrate: bool,
    },
    /// Make a new session of the path from the root to an entry.
    Fork {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first one.
        at: Option<EntryId>,
        /// As for a label: only then the two files know their entries by the same ids.
        migrate: bool,
    },
    /// Move files to the trash.
    Trash {
        /// The files.
        files: Vec<FileSnapshot>,
    },
    /// Delete files for good: only what the trash can't take, and only after asking twice. There is no undo.
    Delete {
        /// The files.
        files: Vec<FileSnapshot>,
    },
    /// Take a change back.
    Undo {
        /// Its number in the journal, else the last one.
        number: Option<u64>,
    },
    /// Take the last change back if this pitree made it; else it is asked first: see
    /// [`Refusal::Earlier`](crate::changes::Refusal::Earlier).
    UndoLast {
        /// The group about which it was asked.
        sure: Option<u64>,
    },
    /// Take back all that was made together.
    UndoGroup {
        /// The group.
        group: u64,
    },
    /// Make the change again that was taken back last.
    Redo,
}

impl Request {
    /// Binds it to a session as the user saw it.
    #[must_use]
    pub(crate) fn if_same(self, session: SessionIdentity) -> Self {
        Self::IfSame { session, then: Box::new(self) }
    }

    /// The files that it names, each of which it may change; undo and redo name none.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Self::IfSame { then, .. } => then.paths(),
            Self::Rename { path, .. }
            | Self::Label { path, .. }
            | Self::MoveLeaf { path, .. }
            | Self::Fork { path, .. } => vec![path],
            Self::Trash { files } | Self::Delete { files } => files.iter().map(|file| &*file.path).collect(),
            Self::Undo { .. } | Self::UndoLast { .. } | Self::UndoGroup { .. } | Self::Redo => Vec::new(),
        }
    }
}

impl Request {
    /// Whether it takes back what was done, or does that again, rather than anything new.
    pub fn is_step(&self) -> bool {
        match self {
            Self::IfSame { then, .. } => then.is_step(),
            Self::Undo { .. } | Self::UndoLast { .. } | Self::UndoGroup { .. } | Self::Redo => true,
            Self::Rename { .. }
            | Self::Label { .. }
            | Self::MoveLeaf { .. }
            | Self::Fork { .. }
            | Self::Trash { .. }
            | Self::Delete { .. } => false,
        }
    }
}

/// How far a request of several changes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeProgress {
    /// As many are made.
    pub done: usize,
    /// Of as many.
    pub total: usize,
}

/// What there is to tell of a request that is being carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeEvent<'a> {
    /// Between two changes: how far it is.
    Made(ChangeProgress),
    /// Somebody else holds a file, or is asked to move one: who, in words.
    Waits(&'a str),
}

/// Is told how a request goes, and may stop it there: what was made stays, as one group, and nobody is waited for any more.
pub type ChangeObserver<'a> = &'a mut dyn FnMut(ChangeEvent<'_>) -> ControlFlow<()>;

/// Lets a request go on to its end: a [`ChangeObserver`] where nobody waits.
pub fn to_the_end(_: ChangeEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
