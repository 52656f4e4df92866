//! What happens to the browser ([`Msg`]) and what it wants done ([`Effect`]). Work is asked for with a [`Ticket`], and
//! each [`Reply`] comes back with it.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::app::panes::preview::{HiddenHits, PreviewHit};
use crate::app::panes::tree::family::{FamilyTree, ForkedFile, MergeRequest};
use crate::app::ticket::Ticket;
use crate::catalog::compare::{CompareRequest, ComparedBranches};
use crate::catalog::live::PiStatus;
use crate::catalog::search::{SearchedSession, SessionHit};
use crate::catalog::shared_entries::SharedEntries;
use crate::catalog::suggestions::Suggestions;
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::history::HistoryEntry;
use crate::changes::{ChangeResult, Refusal, Request};
use crate::disk::incremental::FileChanges;
use crate::disk::relocations::RelocationCandidate;
use crate::disk::scan::{ScanBatch, Unreadable};
use crate::keymap::Key;
use crate::pi::launch::Start;
use crate::pi::requests::PiRequest;
use crate::pi::running::RunningPis;
use crate::render::DocLine;
use crate::search::query::Query;
use crate::search::scope::QueryScope;
use crate::search::text_match::Words;
use crate::search::value_lists::ValueLists;
use crate::session::digest::{Digest, SharedDigest};
use crate::session::prompt::listing::Listing;
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
    /// pi could not be started.
    NotResumed(String),
    /// pi ended, and pitree is back; what is to be known of how it ended.
    Returned(Option<String>),
    /// A copy was shown; what is to be known of that.
    Shown(Option<String>),
    /// pi could not be started: the session's directory is gone.
    Gone(Start),
    /// Some of the work that was asked for is done.
    Reply(Ticket, Reply),
}

/// What comes of work.
#[derive(Debug)]
pub enum Reply {
    /// The session files were found.
    FilesFound {
        /// How many files will be read.
        total: usize,
        /// Directories that could not be read.
        unreadable: Vec<Unreadable>,
        /// Files of sessions that were shown from what is kept, and are not as they were.
        outdated: Vec<PathBuf>,
        /// The pis that run.
        pis: RunningPis,
    },
    /// The pis that run now.
    Pis(RunningPis),
    /// pi can go to an entry by itself, or not, for this reason.
    PiGoes(Result<(), String>),
    /// A running pi did what it was asked, or why not.
    PiTold(PiRequest, Result<(), String>),
    /// Some of the files were read.
    Scanned {
        /// The sessions.
        batch: ScanBatch,
        /// Working directories of projects that are gone.
        gone: Vec<String>,
        /// Dropped with the message when it was dealt with: then who sent it goes on.
        held: Option<Sender<Infallible>>,
    },
    /// All files were read.
    ScanDone,
    /// Something is new in the session files.
    News {
        /// What.
        news: FileChanges,
        /// Working directories of projects that are gone.
        gone: Vec<String>,
        /// Dropped when it is taken: until then no more is told, so that nothing piles up while pi has the terminal.
        hold: Option<Sender<()>>,
    },
    /// Nothing tells what changes, so that it is looked for now and then; why, in words.
    Polls(String),
    /// A session was opened: its tree, or why there is none.
    Opened(Result<Arc<Tree>, String>),
    /// It is known where the forks of the open session left it, and in which others its entries stand.
    Split(Vec<ForkedFile>, SharedEntries),
    /// Sessions of a family were joined to one tree; or why not.
    Joined(Result<Arc<FamilyTree>, String>),
    /// An entry was read: what to show of it, or why there is nothing.
    Read(Result<Vec<DocLine>, String>),
    /// So many texts were read of so many, so that they can be searched.
    TextsRead(usize, usize),
    /// It is known what the sessions have that qualifiers may ask for.
    Values(Arc<ValueLists>),
    /// Sessions were found.
    SessionsFound {
        /// They, the best first.
        hits: Vec<SessionHit>,
        /// Whether they come to those that were found before.
        more: bool,
        /// How many files were searched for that, of how many; `None` when all were, or texts were searched.
        progress: Option<(usize, usize)>,
    },
    /// It is known where a query that found nothing would find something.
    Elsewhere(Suggestions),
    /// Entries of the open session were found to have what is looked for.
    EntriesFound {
        /// The entries.
        hits: Vec<EntryRef>,
        /// Whether these are the first ones, and whether they are the last.
        first_last: (bool, bool),
        /// Progress in sessions (done, total), if several are searched.
        progress: Option<(usize, usize)>,
    },
    /// It is known where the text of the preview has what is looked for, or where the entry has it instead.
    Seen(Vec<PreviewHit>, Option<HiddenHits>),
    /// Two ways were held against each other, or why not.
    Compared(Result<Arc<ComparedBranches>, String>),
    /// What the model sees at an entry was read, or why it was not.
    Context(Result<Arc<Listing>, String>),
    /// The whole text of an entry was read, or why it was not.
    Text(Result<String, String>),
    /// All that was changed, the newest first; or why that is not known.
    Past(Result<Vec<HistoryEntry>, String>),
    /// All of an entry, as it was written, or why it could not be read.
    Written(Result<String, String>),
    /// Directories that may be what a gone one is now, the best first.
    MayBe(Vec<RelocationCandidate>),
    /// It is kept what a gone directory is now; or why not.
    Remembered(Result<PathBuf, String>),
    /// The path of a directory that was typed, the same completed, and the names that it could go on with.
    CompletedDir(String, String, Vec<String>),
    /// Something was to be put on the clipboard: what, and whether that was possible.
    Copied(String, bool),
    /// So many files of a change are done, of so many.
    Changing(usize, usize),
    /// A change waits for somebody else: who, in words.
    Waiting(String),
    /// A change was made, or not.
    Changed(Box<Changed>),
    /// The work broke off; why, in words.
    Failed(String),
}

/// How a change went.
#[derive(Debug)]
pub struct Changed {
    /// What was wanted.
    pub request: Request,
    /// What was done, or why not.
    pub result: Result<ChangeResult, ChangeFailure>,
    /// The files that were touched, as they are now.
    pub read: Vec<Digest>,
    /// Those that are not there any more, or are no sessions.
    pub gone: Vec<PathBuf>,
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeFailure {
    /// Something can be asked, and the change be tried again.
    Refused(Refusal),
    /// In words.
    Failed(String),
}

/// Something to be done outside.
#[derive(Debug)]
pub enum Effect {
    /// Have work done, as long as it is wanted.
    Ask(Ticket, Work),
    /// Give the terminal to pi: for good, or until it ends.
    Resume(Start),
    /// Give the terminal to a program that shows a copy of a text.
    Open(TextCopy),
    /// End, with an answer on standard output.
    Answer(PickerOutput),
    /// Stop until the shell brings pitree back.
    Suspend,
    /// End.
    Quit,
}

/// A text that another program shows.
#[derive(Clone, Debug)]
pub struct TextCopy {
    /// By which.
    pub with: Opener,
    /// The name of the file.
    pub name: String,
    /// The text, safe for a terminal.
    pub text: String,
}

/// What shows a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// A pager.
    Pager,
    /// An editor.
    Editor,
}

/// Work that takes its time.
#[derive(Debug)]
pub enum Work {
    /// Read all sessions.
    Scan {
        /// Whether there are none yet: then those are shown first that are kept from the last time.
        is_first: bool,
    },
    /// Tell what is new in the session files from now on.
    Watch {
        /// The sessions as they are known.
        known: Vec<SharedDigest>,
    },
    /// Look which pis run.
    LookForPis,
    /// Tell which pis run, and what they do, from now on.
    FollowPis,
    /// Ask whether pi goes to an entry by itself.
    AskPi,
    /// Ask a running pi to do something.
    TellPi(PiStatus, PiRequest),
    /// Open a session.
    Open {
        /// The file.
        path: PathBuf,
    },
    /// Find where forks left the open session, and in which others its entries stand.
    Split {
        /// The open session.
        tree: Arc<Tree>,
        /// What the list knows of it.
        session: (SessionKey, SharedDigest),
        /// Its forks.
        forks: Vec<(SessionKey, SharedDigest)>,
        /// All that share entries with it.
        kin: Vec<(SessionKey, SharedDigest)>,
    },
    /// Join sessions of a family to one tree.
    Join(Box<MergeRequest>),
    /// Read an entry and what belongs to it.
    Read(EntryBody),
    /// Read the texts of sessions, so that they can be searched.
    ReadTexts(Arc<[SearchedSession]>),
    /// Give back what is kept of texts.
    ForgetTexts,
    /// Hold sessions against a query.
    Search {
        /// The query.
        query: Arc<Query>,
        /// The sessions.
        sessions: Arc<[SearchedSession]>,
        /// What the query may speak of: now, home.
        around: Box<QueryScope>,
    },
    /// Look where a query that found nothing would find something.
    Elsewhere {
        /// The query.
        query: Arc<Query>,
        /// The sessions.
        sessions: Arc<[SearchedSession]>,
        /// What the query may speak of: now, home.
        around: Box<QueryScope>,
    },
    /// Find the entries of sessions that have some words.
    Find {
        /// The sessions, with their files and trees.
        files: Vec<(SessionKey, PathBuf, Arc<Tree>)>,
        /// The entry from which on they are looked for.
        start: Index,
        /// The words.
        words: Arc<Words>,
    },
    /// Find the entries of a session that fulfil a query.
    Fulfil {
        /// The query.
        query: Arc<Query>,
        /// What the query may speak of: now, home.
        around: Box<QueryScope>,
        /// The session.
        session: Box<SearchedSession>,
        /// Its tree.
        tree: Arc<Tree>,
    },
    /// Look for words in the text of the preview.
    Look {
        /// The text.
        lines: Arc<Vec<DocLine>>,
        /// The words.
        words: Arc<Words>,
        /// The entry, if it was found by them.
        found: Option<EntryBody>,
    },
    /// Hold two ways against each other.
    Compare([CompareRequest; 2]),
    /// Read what the model sees at an entry.
    Context {
        /// The file.
        path: PathBuf,
        /// Its tree.
        tree: Arc<Tree>,
        /// The entry; `None`: before the first one.
        at: Option<Index>,
    },
    /// Read the whole text of an entry.
    Text(EntryBody),
    /// Read all of an entry and what belongs to it, as it was written.
    Written(EntryBody),
    /// Look for what a gone directory may be now.
    LookForMoved {
        /// The directory.
        gone: PathBuf,
        /// The files that the session touched.
        touched: Vec<String>,
        /// The directories in which other sessions worked.
        known: Vec<PathBuf>,
    },
    /// Keep in mind what a gone directory is now.
    Remember {
        /// The directory that is gone.
        gone: String,
        /// What it is now.
        dir: String,
    },
    /// Complete the path of a directory.
    CompleteDir(String),
    /// Read what was changed up to now.
    LookBack,
    /// Copy to the clipboard, through the terminal and through the desktop.
    Copy(Clip),
    /// Copy to the clipboard through programs of the desktop.
    CopyToDesktop {
        /// The text.
        text: String,
        /// Whether the text was sent to the terminal.
        is_sent: bool,
    },
    /// Make a change, after those that were wanted before.
    Change {
        /// What is to be changed.
        request: Request,
        /// The time, in milliseconds since 1970.
        now: i64,
    },
}

/// An entry to be read.
#[derive(Clone, Debug)]
pub struct EntryBody {
    /// The file.
    pub path: PathBuf,
    /// Its tree.
    pub tree: Arc<Tree>,
    /// The entry.
    pub at: Index,
}

/// What is put on the clipboard.
#[derive(Clone, Debug)]
pub enum Clip {
    /// A text.
    Text(String),
    /// The command that resumes a session.
    Command(Start),
}

/// A session and an entry of it, chosen in a picker.
#[derive(Clone, Debug)]
pub struct PickedEntry {
    /// The session file.
    pub path: PathBuf,
    /// The id of the session.
    pub id: String,
    /// Its working directory; empty if it names none.
    pub cwd: String,
    /// Its name.
    pub name: Option<String>,
    /// The entry, in its tree; none where the session has none.
    pub entry: Option<(Arc<Tree>, Index)>,
    /// What is to stand in pi's editor, if that is not the text of the entry.
    pub draft: Option<String>,
}

impl PartialEq for PickedEntry {
    fn eq(&self, other: &Self) -> bool {
        let entry = |chosen: &Self| chosen.entry.as_ref().map(|(_, at)| *at);
        (&self.path, entry(self), &self.draft) == (&other.path, entry(other), &other.draft)
    }
}

impl Eq for PickedEntry {}

/// What a picker prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PickerOutput {
    /// A path.
    Path(PathBuf),
    /// An id.
    Id(String),
    /// A session and an entry of it, for a program.
    Json(Box<PickedEntry>),
    /// The command that resumes a session.
    Command(Start),
}
