//! What happens to the browser ([`Msg`]) and what it wants done ([`Effect`]). Replies carry the number of their
//! request, so that late ones are told from those still waited for.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::doc::DocLine;
use crate::keymap::Key;
use crate::session::family::Split;
use crate::session::summary::Shared;
use crate::session::tree::{Index, Tree};
use crate::store::scan::{Batch, Unreadable};

/// Something that happened.
#[derive(Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// The mouse was pressed.
    Click {
        /// Columns from the left.
        column: u16,
        /// Rows from the top.
        row: u16,
        /// Whether it was the second press in the same place.
        double: bool,
    },
    /// The wheel was turned.
    Wheel {
        /// Columns from the left.
        column: u16,
        /// Rows from the top.
        row: u16,
        /// Rows to scroll, down or (negative) up.
        by: isize,
    },
    /// The terminal has this many columns and rows.
    Resized(u16, u16),
    /// It is this late, in milliseconds since 1970.
    Now(i64),
    /// The session files were found.
    Found {
        /// Which scan.
        scan: u64,
        /// How many files will be read.
        total: usize,
        /// Directories that could not be read.
        unreadable: Vec<Unreadable>,
    },
    /// Some of the files were read.
    Scanned {
        /// Which scan.
        scan: u64,
        /// The sessions.
        batch: Batch,
        /// Working directories of projects that are gone.
        gone: Vec<String>,
    },
    /// All files were read.
    ScanDone {
        /// Which scan.
        scan: u64,
    },
    /// A pi runs in these directories; `None` if the system does not tell.
    Live(Option<HashSet<PathBuf>>),
    /// A session was opened.
    Opened {
        /// Which request.
        open: u64,
        /// Its tree, or why there is none.
        tree: Result<Arc<Tree>, String>,
    },
    /// It is known where the forks of the open session left it.
    Split {
        /// Which request.
        split: u64,
        /// The forks.
        forks: Vec<Fork>,
    },
    /// An entry was read.
    Read {
        /// Which request.
        read: u64,
        /// What to show of it, or why there is nothing.
        doc: Result<Vec<DocLine>, String>,
    },
    /// pi could not be started.
    NotResumed(String),
}

/// A file that was forked off the open session.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The file.
    pub session: Shared,
    /// Where it left.
    pub split: Split,
}

/// Something to be done outside.
#[derive(Debug)]
pub enum Effect {
    /// Read all sessions.
    Scan {
        /// The number of the request.
        scan: u64,
    },
    /// Open a session.
    Open {
        /// The number of the request.
        open: u64,
        /// The file.
        path: PathBuf,
    },
    /// Find where forks left the open session.
    Split {
        /// The number of the request.
        split: u64,
        /// The open session.
        tree: Arc<Tree>,
        /// Its forks.
        forks: Vec<Shared>,
    },
    /// Read an entry and what belongs to it.
    Read {
        /// The number of the request.
        read: u64,
        /// The file.
        path: PathBuf,
        /// Its tree.
        tree: Arc<Tree>,
        /// The entry.
        at: Index,
    },
    /// Give the terminal to pi, for good.
    Resume {
        /// The session file.
        path: PathBuf,
        /// The working directory; empty if the file names none.
        cwd: String,
    },
    /// Stop until the shell brings pitree back.
    Suspend,
    /// End.
    Quit,
}
