//! Messages to the browser ([`Msg`]) and its effects ([`Effect`]). Each piece of [`Work`] has a [`Ticket`], which its
//! [`Reply`] carries.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::app::external::{Opener, TextCopy, TitleRequest, TitlesReply};
use crate::app::layers::context::{ContextTarget, EditRequest, PlannedEdits};
use crate::app::layers::files::ListedFile;
use crate::app::machines::ShownMachine;

use crate::app::panes::reader::EntryForm;
use crate::app::panes::tree::family::{FamilyTree, ForkedFile, MergeRequest};
use crate::app::settings::PickerOutput;
use crate::app::ticket::Ticket;
use crate::catalog::cleanup::{CleanRequest, CleanSuggestion};
use crate::catalog::compare::{CompareRequest, ComparedBranches, FinalFile};
use crate::catalog::cost_sharing::SharedEntries;
use crate::catalog::export::{ExportRequest, ExportResult};
use crate::catalog::file_states::{FileAt, FileTextRequest, FileWrite, StateRow, StatesRequest, Written};
use crate::catalog::files::FilesRequest;
use crate::catalog::lost_work::ComparedPaths;
use crate::catalog::relations::SharingSessions;
use crate::catalog::search::{SearchedSession, SessionHit};
use crate::catalog::space::SpaceContent;
use crate::catalog::stats::overview::{OverviewPart, OverviewRequest};
use crate::catalog::stats::request::TableRequest;
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::suggestions::Suggestions;
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::history::HistoryEntry;
use crate::changes::slim::SlimOverview;
use crate::changes::{ChangeResult, Request};
use crate::disk::incremental::FileChanges;
use crate::disk::relocations::RelocationCandidate;
use crate::disk::scan::{ScanBatch, Unreadable};
use crate::keymap::Key;
use crate::pi::attention::PiNotification;
use crate::pi::launch::Start;
use crate::pi::requests::PiRequest;
use crate::pi::running::RunningPis;
use crate::pi::status::PiStatus;
use crate::render::{DocLine, FoldedLines};
use crate::search::lost_work::LostWork;
use crate::search::qualifier::value::{QueryScope, ValueLists};
use crate::search::query::Query;
use crate::search::text_match::Words;
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedLazySession;
use crate::session::last_seen::LastSeen;
use crate::session::marks::Marks;
use crate::session::prompt::listing::Listing;
use crate::session::space::SessionSpace;
use crate::session::stats::{StatsRules, StatsSum};
use crate::session::tree::{EntryIndex, Tree};
use crate::session::worktrees::Worktrees;
use crate::session::write::slim::SlimRules;

/// An event.
#[derive(Debug)]
pub enum Msg {
    /// Key press.
    Key(Key),
    /// Pasted text.
    Paste(String),
    /// Press of a mouse button.
    Click {
        /// Columns from the left.
        column: u16,
        /// Rows from the top.
        row: u16,
        /// `true` if this is the second press of a double click.
        double: bool,
    },
    /// Turn of the mouse wheel.
    Wheel {
        /// Columns from the left.
        column: u16,
        /// Rows from the top.
        row: u16,
        /// Rows to scroll, down or (negative) up.
        by: isize,
    },
    /// New size of the terminal, in columns and rows.
    Resized(u16, u16),
    /// Current time, in milliseconds since 1970.
    Now(i64),
    /// The welcome was recorded and can be shown.
    Welcome,
    /// pi did not start; the reason.
    NotResumed(String),
    /// The demo does not start pi; the shell command.
    DemoResumed(String),
    /// pi exited and pitree has the terminal again; a message about the exit.
    Returned(Option<String>),
    /// The edited names of the marked sessions: lines of an ID, a tab and a name. `None` without an editor.
    Names(Option<String>),
    /// The edited text of a message of the model context.
    Edited(String),
    /// An external program that showed a copy exited; a message about it.
    Shown(Option<String>),
    /// A result of background work.
    Reply(Ticket, Reply),
}

/// A result of background work.
#[derive(Debug)]
pub enum Reply {
    /// The session files were listed.
    FilesFound {
        /// Number of files to read.
        total: usize,
        /// Unreadable directories.
        unreadable: Vec<Unreadable>,
        /// Files that changed since they were indexed.
        outdated: Vec<PathBuf>,
        /// Running pi processes.
        pis: RunningPis,
    },
    /// The name and state of another machine.
    Machine(String, Box<ShownMachine>),
    /// Running pi processes.
    Pis(RunningPis),
    /// The lasting marks of sessions.
    Marks(Arc<Marks>),
    /// The newest shown messages of sessions; `None` if they could not be written.
    LastSeen(Option<LastSeen>),
    /// The worktrees of the working directories found so far.
    Worktrees(Arc<Worktrees>),
    /// `Ok` if pi can go to an entry by itself, else the reason.
    PiNavigates(Result<(), String>),
    /// Result of a request to a running pi.
    PiAnswered(PiRequest, Result<(), String>),
    /// The terminal of a running pi was selected or can be reached, or why not. `true` if pitree covers it.
    Terminal(Result<bool, String>),
    /// Notifications were sent, or why not; the escape sequences for the terminal.
    Notified(Result<String, String>),
    /// Some of the files were read.
    Scanned {
        /// The sessions.
        batch: ScanBatch,
        /// Missing working directories of projects.
        gone: Vec<String>,
        /// Dropped with the message: the sender waits until then.
        held: Option<Sender<Infallible>>,
    },
    /// All files were read.
    ScanDone,
    /// Session files changed.
    FilesChanged {
        /// The changes.
        changes: FileChanges,
        /// Missing working directories of projects.
        gone: Vec<String>,
        /// Dropped with the message: until then no further changes are sent, so that none accumulate while pi has the
        /// terminal.
        hold: Option<Sender<()>>,
    },
    /// A problem that makes something slower, for the user.
    Warning(String),
    /// A session's tree.
    Opened(Arc<Tree>),
    /// Entries at which forks left the open session, and the sessions that share its entries.
    ForkPoints(Vec<ForkedFile>, SharedEntries),
    /// The family as one tree.
    Joined(Arc<FamilyTree>),
    /// An entry's document.
    Read(FoldedLines),
    /// Number of texts read, and their total.
    TextsRead(usize, usize),
    /// Values of qualifiers, for completion.
    Values(Arc<ValueLists>),
    /// Sessions that match a query.
    SessionsFound {
        /// The sessions, best match first.
        hits: Vec<SessionHit>,
        /// `true` if the hits add to the earlier ones.
        more: bool,
        /// Number of files searched, and their total; `None` at the end, or if texts were searched.
        progress: Option<(usize, usize)>,
    },
    /// Hits of alternative searches.
    Suggestions(Suggestions),
    /// Entries of the open session that match.
    EntriesFound {
        /// The entries.
        hits: Vec<EntryRef>,
        /// `true` for the first hits of a search, which replace those of the search before.
        is_first: bool,
        /// `true` for the last hits of a search.
        is_last: bool,
        /// Progress in sessions (done, total), if several are searched.
        progress: Option<(usize, usize)>,
    },
    /// A part of the screen of statistics.
    Counted(OverviewPart),
    /// The sum of a table.
    Summed(Box<StatsSum>),
    /// Numbers of measured and of all sessions.
    Measuring(usize, usize),
    /// The space that sessions take.
    Measured(Arc<SpaceContent>),
    /// The space that the session of the card takes.
    SessionMeasured(Box<SessionSpace>),
    /// A comparison.
    Compared(Arc<ComparedBranches>),
    /// The files that differ at the ends of the compared branches, or the error.
    FinalFiles(Result<Arc<Vec<FinalFile>>, String>),
    /// The files of sessions.
    FilesListed(Vec<ListedFile>),
    /// States of a file in a session.
    States {
        /// The path of the file.
        file: String,
        /// The states.
        states: Vec<StateRow>,
        /// The session and its tree.
        session: (SessionKey, Arc<Tree>),
    },
    /// All states of a file were sent.
    StatesListed,
    /// Facts about the shown states of a file, and the text.
    FileText(String, Vec<DocLine>),
    /// The content of a file was written, or the error.
    FileWritten(Box<FileWrite>, Result<Written, String>),
    /// The model context at an entry.
    Context(Arc<Listing>),
    /// Planned edits of a model context.
    EditsPlanned(Box<PlannedEdits>),
    /// The full text of an entry, or the error.
    Text(Result<String, String>),
    /// The change history, most recent first.
    History(Vec<HistoryEntry>),
    /// Directories that may be the new location of a missing one, best first; `None` if it exists or if its replacement is
    /// recorded.
    RelocationsFound(Option<Vec<RelocationCandidate>>),
    /// The remembered new location of a directory, or the error.
    Remembered(Result<PathBuf, String>),
    /// A typed directory path, its completion, and the names of the candidates.
    CompletedDir(String, String, Vec<String>),
    /// A directory as pi records it, or why it cannot be used.
    CheckedDir(Result<String, String>),
    /// A text for the clipboard, and whether it was copied.
    Copied(String, bool),
    /// The plan of slimming.
    SlimmingPlanned(Box<SlimOverview>),
    /// Titles of sessions, or the cost or progress of finding them.
    Titles(TitlesReply),
    /// Suggestions for a clean-up.
    Suggested(Vec<CleanSuggestion>),
    /// The number of sessions that were planned so far.
    SlimmingProgress(usize),
    /// The number of likely secrets in a session.
    SecretsCounted(SessionKey, usize),
    /// The lost work of the selected session.
    LostWorkFound(LostWork),
    /// The result of an export, or the error.
    Exported(Result<Box<ExportResult>, String>),
    /// Number of files changed, and their total.
    Changing(usize, usize),
    /// A change waits for another program; its name.
    Waiting(String),
    /// Result of a change.
    Changed(Box<ChangeReply>),
    /// The work failed; the reason.
    Failed(String),
}

/// Result of a change.
#[derive(Debug)]
pub struct ChangeReply {
    /// The request.
    pub request: Request,
    /// The applied changes, or the error; the user may decide about a [`Refusal`](crate::changes::Refusal).
    pub result: anyhow::Result<ChangeResult>,
    /// The touched files, read again.
    pub read: Vec<Digest>,
    /// Files that no longer exist or are no longer sessions.
    pub gone: Vec<PathBuf>,
}

/// An action outside the model.
#[derive(Debug)]
pub enum Effect {
    /// Starts background work, which stops when its claim is dropped.
    Ask(Ticket, Work),
    /// Starts pi in the terminal; pitree ends or waits.
    Resume(Start),
    /// Shows a copy of a text in an external program.
    Open(TextCopy),
    /// Quits and prints the picker's output.
    Answer(PickerOutput),
    /// Records that the user was welcomed, then sends [`Msg::Welcome`].
    Welcome,
    /// Writes the escape sequences of notifications to the terminal.
    Notify(String),
    /// Suspends pitree until the shell continues it.
    Suspend,
    /// Quits.
    Quit,
}

/// Background work.
#[derive(Clone, Debug)]
pub enum Work {
    /// Read all sessions.
    Scan {
        /// `true` if no sessions are loaded yet: the indexed ones are then shown first.
        is_first: bool,
    },
    /// Report changes of session files from now on. The sessions are those already known.
    Watch(Vec<SharedLazySession>),
    /// Synchronize with other machines from now on, and report their states.
    FollowMachines,
    /// Synchronize with all other machines now, and report their states.
    SyncMachines,
    /// List the running pi processes.
    ListPis,
    /// Report running pi processes and their state from now on.
    FollowPis,
    /// Read the lasting marks of sessions.
    ReadMarks,
    /// Report changes of lasting marks from now on.
    FollowMarks,
    /// Read the newest shown messages of sessions. At the first use, messages until the given time are read.
    ReadLastSeen(i64),
    /// Write the times of the newest shown messages, by session ID.
    WriteLastSeen(BTreeMap<String, i64>),
    /// Ask pi whether it can go to an entry by itself.
    CheckPi,
    /// Ask a program for titles of sessions.
    FindTitles(TitleRequest),
    /// Send a request to a running pi.
    SendToPi(PiStatus, PiRequest),
    /// Select the terminal of a running pi; with `false`, only check that it can be reached.
    GoToTerminal(PiStatus, bool),
    /// Notify about pis that want the user, unless their terminals have the focus.
    Notify(Vec<PiNotification>),
    /// Read the tree of a session file.
    Open(PathBuf),
    /// Find the entries at which forks left the open session, and the sessions that share its entries.
    FindForkPoints {
        /// Tree of the open session.
        tree: Arc<Tree>,
        /// The open session.
        session: (SessionKey, SharedLazySession),
        /// Its forks.
        forks: Vec<(SessionKey, SharedLazySession)>,
        /// All sessions that share entries with it.
        sharing_sessions: Vec<(SessionKey, SharedLazySession)>,
    },
    /// Merge sessions of a family into one tree.
    Join(Box<MergeRequest>),
    /// Read an entry and its related entries for the reader, and the context edit that is in force for it.
    Read(EntryLocation, Option<EntryLocation>, EntryForm),
    /// List the files of sessions, most changed first.
    ListFiles(Box<FilesRequest>),
    /// List the states of a file in sessions.
    ListStates(Box<StatesRequest>),
    /// Read the content of a file at an entry, or a difference.
    ReadFile(Box<FileTextRequest>),
    /// Read the content of a file at an entry for a copy.
    CopyFile(FileAt),
    /// Write the content of a file at an entry to a new file.
    WriteFile(Box<FileWrite>),
    /// Read the texts of sessions into the search cache.
    ReadTexts(Arc<[SearchedSession]>),
    /// Free the search cache.
    ForgetTexts,
    /// Search sessions.
    Search(SearchRequest),
    /// Find out where a query without hits would have hits.
    Suggest(SearchRequest),
    /// Find words in sessions.
    Find {
        /// The sessions, with their files and trees.
        files: Vec<(SessionKey, PathBuf, Arc<Tree>)>,
        /// The first entry to search.
        start: EntryIndex,
        /// The words.
        words: Arc<Words>,
    },
    /// Find the entries of a session with this tree that match a query.
    MatchEntries(SearchRequest, Arc<Tree>),
    /// Plan what to remove from sessions, each given with those that share entries with it.
    PlanSlimming(Vec<(SharedLazySession, SharingSessions)>, SlimRules),
    /// Find sessions and files that are probably not needed.
    SuggestCleanup(Box<CleanRequest>),
    /// Count the likely secrets of a session.
    CheckSession(SessionKey, PathBuf),
    /// Find the lost work of a session.
    FindLostWork(ComparedPaths),
    /// Count for the screen of statistics.
    Count(Box<OverviewRequest>),
    /// Sum entries of sessions.
    Sum(Arc<(StatsSessions, StatsRules, TableRequest)>),
    /// Measure the space that sessions take.
    Measure(Arc<StatsSessions>),
    /// Measure the file of one session.
    MeasureSession(PathBuf),
    /// Compare two branches.
    Compare([CompareRequest; 2]),
    /// Read the model context at an entry.
    Context(ContextTarget),
    /// Plan edits of a model context.
    PlanEdits(Box<EditRequest>),
    /// Read the full text of an entry.
    Text(EntryLocation),
    /// Read an entry and its related entries as source text for a program. Instead of an editor, the viewer of the system
    /// opens their images; the text is then empty.
    ReadSource(EntryLocation, Opener),
    /// Check a directory, and search for its new location if it is missing.
    FindRelocations {
        /// The directory.
        gone: PathBuf,
        /// Files that the session touched.
        touched: Vec<String>,
        /// Working directories of other sessions.
        known: Vec<PathBuf>,
    },
    /// Remember the new location of a missing directory.
    Remember {
        /// The missing directory.
        gone: String,
        /// Its new location.
        dir: String,
    },
    /// Complete a directory path.
    CompleteDir(String),
    /// Check a directory path, and resolve symbolic links in it.
    CheckDir(String),
    /// Export sessions, or show the beginning of an export.
    Export(Box<ExportRequest>),
    /// Read the change history.
    ReadHistory,
    /// Copy to the clipboard, through the terminal and through the desktop.
    Copy(Clip),
    /// Copy to the clipboard through programs of the desktop.
    CopyToDesktop {
        /// The text.
        text: String,
        /// `true` if the text was sent to the terminal.
        is_sent: bool,
    },
    /// Make a change, after earlier requests.
    Change {
        /// The request.
        request: Request,
        /// Time, in milliseconds since 1970.
        now: i64,
    },
}

/// A search of sessions.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The query.
    pub query: Arc<Query>,
    /// The sessions.
    pub sessions: Arc<[SearchedSession]>,
    /// Time and directories that the query refers to.
    pub scope: Box<QueryScope>,
}

/// An entry to read.
#[derive(Clone, Debug)]
pub struct EntryLocation {
    /// The session file.
    pub path: PathBuf,
    /// Its tree.
    pub tree: Arc<Tree>,
    /// The entry.
    pub at: EntryIndex,
}

/// Content for the clipboard.
#[derive(Clone, Debug)]
pub enum Clip {
    /// A text.
    Text(String),
    /// The shell command that resumes a session.
    Command(Start),
}
