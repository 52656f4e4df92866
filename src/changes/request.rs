//! Requests for changes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::session::digest::Digest;
use crate::session::entry::EntryId;
use crate::session::links::IdHash;

/// A file as last read. If it has changed since, the user is asked again before it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSnapshot {
    /// The file.
    pub path: PathBuf,
    /// The length in bytes.
    pub bytes: u64,
    /// The modification time in milliseconds since 1970.
    pub mtime: i64,
}

impl FileSnapshot {
    /// Creates it from a session in the list.
    pub fn of(session: &Digest) -> Self {
        Self { path: session.path.clone(), bytes: session.bytes, mtime: session.mtime }
    }
}

/// A session when a request was prepared: its id, and its entries up to then.
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

    /// Returns `true` for this session, also with entries appended.
    pub(crate) fn fits(&self, session: &Digest) -> bool {
        session.header.id == self.id && last(session, self.entries) == self.last
    }
}

/// Returns the hash of the last of the first `entries` entries.
fn last(session: &Digest, entries: usize) -> Option<IdHash> {
    session.entry_key(entries.checked_sub(1)?.try_into().ok()?)
}

/// A request for a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Make a change unless the file was replaced: see [`Refusal::Replaced`](crate::changes::Refusal::Replaced).
    IfSame {
        /// The session.
        session: SessionIdentity,
        /// The change.
        then: Box<Request>,
    },
    /// Rename a session; an empty name clears it.
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
        /// `true` to migrate an old file: see [`Refusal::Old`](crate::changes::Refusal::Old).
        migrate: bool,
    },
    /// Move the leaf, so that pi resumes from another entry.
    MoveLeaf {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first entry.
        to: Option<EntryId>,
        /// `true` to migrate an old file.
        migrate: bool,
    },
    /// Fork the path from the root to an entry into a new session.
    Fork {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first entry.
        at: Option<EntryId>,
        /// `true` to migrate an old file, so that both files have the same entry ids.
        migrate: bool,
    },
    /// Move files to the trash.
    Trash {
        /// The files.
        files: Vec<FileSnapshot>,
    },
    /// Delete files permanently: only those that the trash refused, and only after two questions. This cannot be
    /// undone.
    Delete {
        /// The files.
        files: Vec<FileSnapshot>,
    },
    /// Undo a change.
    Undo {
        /// Its number in the journal; `None` for the last change.
        number: Option<u64>,
    },
    /// Undo the last change if this pitree made it. Otherwise, ask first: see
    /// [`Refusal::Earlier`](crate::changes::Refusal::Earlier).
    UndoLast {
        /// The group that the user confirmed.
        sure: Option<u64>,
    },
    /// Undo all changes of a group.
    UndoGroup {
        /// The group.
        group: u64,
    },
    /// Redo the change that was undone last.
    Redo,
}

impl Request {
    /// Binds the request to the session that the user saw.
    #[must_use]
    pub(crate) fn if_same(self, session: SessionIdentity) -> Self {
        Self::IfSame { session, then: Box::new(self) }
    }

    /// Returns the files named by the request, each of which it can change. Undo and redo name none.
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

    /// Returns `true` for undo and redo.
    pub fn is_step(&self) -> bool {
        match self {
            Self::IfSame { then, .. } => then.is_step(),
            _ => matches!(self, Self::Undo { .. } | Self::UndoLast { .. } | Self::UndoGroup { .. } | Self::Redo),
        }
    }
}

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeProgress {
    /// The number of changes made.
    pub done: usize,
    /// The total number of changes.
    pub total: usize,
}

/// An event during a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeEvent<'a> {
    /// The progress between two changes.
    Made(ChangeProgress),
    /// Waiting for another program: a description.
    Waits(&'a str),
}

/// A callback for the events of a request, which can stop it. Changes already made are kept as one group, and waiting
/// ends.
pub type ChangeObserver<'a> = &'a mut dyn FnMut(ChangeEvent<'_>) -> ControlFlow<()>;

/// A [`ChangeObserver`] that never stops a request.
pub fn to_the_end(_: ChangeEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
