//! Everything that changes sessions, whoever asks for it: the browser and the commands hand in a [`Request`]. A change
//! is written into the journal, made, and noted as made, one after the other and one pitree at a time. How a line gets
//! into a file is said in [`append`](super::append), what the trash is in [`trash`](super::trash).

mod fork;
mod line;
mod migrate;
mod remove;
mod undo;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::files::Files;
use super::journal::{Change, Journal, Record, State};
use super::load;
use super::trash::Trash;
use crate::session::tree::{Index, Tree};

/// Which entry is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The one with this id.
    Id(String),
    /// The one in this place among the entries: files of version 1 have no ids.
    Place(Index),
}

impl Target {
    /// How an entry of a tree is meant in later versions of its file.
    pub fn of(tree: &Tree, at: Index) -> Self {
        match &tree.nodes[at as usize].id {
            Some(id) => Self::Id(id.to_string()),
            None => Self::Place(at),
        }
    }

    /// Where the entry is in a tree.
    pub fn find(&self, tree: &Tree) -> Option<Index> {
        match self {
            Self::Id(id) => tree.find(id),
            Self::Place(at) => Some(*at).filter(|&at| (at as usize) < tree.nodes.len()),
        }
    }
}

/// A file as it was when it was last read: one that changed since is asked about again before it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was last written, in milliseconds since 1970.
    pub mtime: i64,
}

/// What is to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
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
        target: Target,
        /// The label.
        label: String,
        /// Whether a file of an old version may be brought into the form of today: see [`Refusal::Old`].
        migrate: bool,
    },
    /// Move the leaf, so that pi goes on from another entry.
    MoveLeaf {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first one.
        to: Option<Target>,
        /// As for a label.
        migrate: bool,
    },
    /// Make a new session of the path from the root to an entry.
    Fork {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first one.
        at: Option<Target>,
    },
    /// Move files to the trash.
    Trash {
        /// The files.
        files: Vec<Seen>,
    },
    /// Delete files for good: only what the trash can't take, and only after asking twice. There is no undo.
    Delete {
        /// The files.
        files: Vec<Seen>,
    },
    /// Take a change back.
    Undo {
        /// Its number in the journal, else the last one.
        number: Option<u64>,
    },
    /// Make the change again that was taken back last.
    Redo,
}

/// What was done. After a dry run, what would have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// In a few words, on one line; may hold text from files.
    pub said: String,
    /// The changes, in their order; none if all was so already.
    pub changes: Vec<Change>,
    /// The session that a fork made.
    pub made: Option<PathBuf>,
}

impl Done {
    /// That nothing had to be done, and why.
    fn nothing(said: &str) -> Self {
        Self { said: said.into(), ..Self::default() }
    }
}

/// A change that was not made, where something can be asked and the change be tried again. All else that goes wrong is
/// an error in words only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file is of an old version: a label or a moved leaf would be lost when pi rewrites it. With `migrate` it is
    /// brought into the form of version 3 first, as pi does when it opens it; the original goes to the trash.
    Old {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Files changed since they were seen: nothing was removed.
    Changed {
        /// They.
        paths: Vec<PathBuf>,
    },
    /// The trash did not take a file.
    NoTrash {
        /// Why not.
        reason: String,
        /// The files that are still there; those before them are in the trash.
        left: Vec<Seen>,
    },
    /// What undo would take back was changed by somebody else since, or is gone: the next undo passes it over.
    Overtaken {
        /// In what way.
        reason: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Old { path, version } => write!(
                f,
                "{} is of version {version}: it must be brought into the form of version 3 first, as pi does when it opens it",
                path.display()
            ),
            Self::Changed { paths } => {
                let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "changed since it was read, so nothing was removed: {}", names.join(", "))
            }
            Self::NoTrash { reason, .. } => write!(f, "the trash can't take it: {reason}"),
            Self::Overtaken { reason } => write!(f, "not undone: {reason}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Makes changes, and takes them back.
#[derive(Clone, Debug)]
pub struct Changes {
    state_dir: PathBuf,
    trash: Trash,
    dry_run: bool,
}

impl Changes {
    /// Changes that are written down in `state_dir`, with `trash` for what goes.
    pub fn new(state_dir: PathBuf, trash: Trash) -> Self {
        Self { state_dir, trash, dry_run: false }
    }

    /// The same, but nothing is written anywhere: [`Done`] says what would be.
    #[must_use]
    pub fn dry_run(self) -> Self {
        Self { dry_run: true, ..self }
    }

    /// Makes a change; `now` is the time in milliseconds since 1970.
    ///
    /// # Errors
    /// The change was not made, or of several files not for all: the error says why and what is so now. Where it holds a
    /// [`Refusal`], something can be asked first.
    pub fn make(&self, request: &Request, now: i64) -> Result<Done> {
        let _ = (request, now, &self.state_dir, &self.trash, self.dry_run);
        bail!("not made yet")
    }

    /// All changes, the oldest first. Reads only.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn history(&self) -> Result<Vec<Record>> {
        Ok(Vec::new())
    }
}
