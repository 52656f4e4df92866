//! What happens to the browser ([`Msg`]) and what it wants done ([`Effect`]). Replies carry the number of their
//! request, so that late ones are told from those still waited for.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::copy::Copy;
use crate::app::picker::Answer;
use crate::app::resume::GoOn;
use crate::app::spots::{Spot, Wanted};
use crate::changes::{Done, Refusal, Request};
use crate::disk::scan::{Batch, Unreadable};
use crate::keymap::Key;
use crate::render::DocLine;
use crate::search::find::inside::Inside;
use crate::search::find::matcher::{Around, Hit};
use crate::search::query::Query;
use crate::search::query::complete::Lists;
use crate::session::digest::summary::{Shared, Summary};
use crate::session::family::Split;
use crate::session::tree::{Index, Tree};

/// Something that happened.
#[derive(Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Paste(String),
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
    /// Texts were read, so that they can be searched.
    TextsRead {
        /// So many.
        done: usize,
        /// Of so many.
        total: usize,
    },
    /// It is known what the sessions have that qualifiers may ask for.
    Values(Arc<Lists>),
    /// Sessions were found.
    SessionsFound {
        /// Which request.
        search: u64,
        /// They, the best first.
        hits: Vec<Found>,
        /// Whether they come to those that were found before.
        more: bool,
        /// How many files were searched for that, of how many; `None` when all were, or texts were searched.
        progress: Option<(usize, usize)>,
    },
    /// pi could not be started.
    NotResumed(String),
    /// A change was made, or not.
    Changed(Box<Changed>),
    /// Entries of the open session were found to have what is looked for.
    Hits {
        /// Which request.
        find: u64,
        /// The entries.
        hits: Vec<Index>,
        /// Whether these are the first ones, and whether they are the last.
        first_last: (bool, bool),
    },
    /// Places that a palette lists were read.
    Listed {
        /// Which request.
        list: u64,
        /// The places of some sessions.
        found: Vec<(PathBuf, Vec<Spot>)>,
        /// Whether these were the last.
        done: bool,
    },
    /// The whole text of an entry was read.
    Text {
        /// It, or why there is none.
        text: Result<String, String>,
        /// What it was read for.
        then: TextFor,
    },
    /// Something was to be put on the clipboard.
    Copied {
        /// What.
        text: String,
        /// Whether that was possible.
        done: bool,
        /// What goes on now.
        then: Option<GoOn>,
    },
}

/// How a change went. Replies come in the order of the requests, and none is too late.
#[derive(Debug)]
pub struct Changed {
    /// What was wanted.
    pub request: Request,
    /// What was done, or why not.
    pub result: Result<Done, Failure>,
    /// The files that were touched, as they are now.
    pub read: Vec<Summary>,
    /// Those that are not there any more, or are no sessions.
    pub gone: Vec<PathBuf>,
    /// What follows.
    pub after: After,
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something can be asked, and the change be tried again.
    Refused(Refusal),
    /// In words.
    Failed(String),
}

/// What follows when a change was made.
#[derive(Clone, Debug)]
pub enum After {
    /// Nothing more.
    Rest,
    /// The session that is new in the list is selected.
    Show,
    /// pi goes on.
    GoOn(GoOn),
}

/// What the text of an entry is read for.
#[derive(Clone, Debug)]
pub enum TextFor {
    /// To be copied.
    Copy,
    /// For the user to send again.
    GoOn(GoOn),
}

/// A file that was forked off the open session.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The file.
    pub session: Shared,
    /// Where it left.
    pub split: Split,
}

/// A session that is searched.
#[derive(Clone, Debug)]
pub struct Sought {
    /// What the list knows of it.
    pub summary: Shared,
    /// Whether a pi is likely at work in it.
    pub is_live: bool,
    /// Whether others were forked from it.
    pub has_forks: bool,
    /// Whether it was forked from another one.
    pub is_fork: bool,
}

/// A session that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// How well, and in what.
    pub hit: Hit,
    /// The entry that it was found in.
    pub at: Option<At>,
    /// The text around, folded; nothing where the list shows it anyway.
    pub snippet: Option<String>,
    /// Whether that is on the path from the root to the leaf.
    pub is_active: Option<bool>,
}

/// An entry of a session that may not be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// By its place among the entries.
    Place(Index),
    /// By where its line starts in the file, in bytes.
    Offset(u64),
}

impl At {
    /// Where the entry is in the tree of the session.
    pub fn find(self, tree: &Tree) -> Option<Index> {
        match self {
            Self::Place(at) => Some(at).filter(|&at| (at as usize) < tree.nodes.len()),
            Self::Offset(offset) => {
                let found = tree.nodes.binary_search_by_key(&offset, |node| node.offset);
                found.ok().map(|at| at as Index)
            }
        }
    }
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
    /// Read the texts of sessions, so that they can be searched.
    ReadTexts {
        /// They.
        sessions: Arc<[Sought]>,
    },
    /// Hold sessions against a query.
    Search {
        /// The number of the request.
        search: u64,
        /// The query.
        query: Arc<Query>,
        /// The sessions.
        sessions: Arc<[Sought]>,
        /// What the query may speak of: now, home.
        around: Box<Around>,
    },
    /// Give the terminal to pi, for good.
    Resume {
        /// The session file.
        path: PathBuf,
        /// The working directory; empty if the file names none.
        cwd: String,
    },
    /// Make a change, after those that were wanted before.
    Change {
        /// What is to be changed.
        request: Request,
        /// The time, in milliseconds since 1970.
        now: i64,
        /// What follows.
        after: After,
    },
    /// Find the entries of a session that have some words.
    Find {
        /// The number of the request.
        find: u64,
        /// The file.
        path: PathBuf,
        /// Its tree.
        tree: Arc<Tree>,
        /// The words.
        words: Arc<Inside>,
    },
    /// Find the places that a palette lists.
    List {
        /// The number of the request.
        list: u64,
        /// Which places.
        wanted: Wanted,
        /// The files to look in, the most wanted first.
        paths: Vec<PathBuf>,
    },
    /// Read the whole text of an entry.
    Text {
        /// The file.
        path: PathBuf,
        /// Its tree.
        tree: Arc<Tree>,
        /// The entry.
        at: Index,
        /// What for.
        then: TextFor,
    },
    /// Put something on the clipboard.
    Copy {
        /// What.
        what: Copy,
        /// What goes on then.
        then: Option<GoOn>,
    },
    /// End, with an answer on standard output.
    Answer(Answer),
    /// Stop until the shell brings pitree back.
    Suspend,
    /// End.
    Quit,
}
