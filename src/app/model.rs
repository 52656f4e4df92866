//! State of the browser.

use std::collections::{HashMap, HashSet, VecDeque};
use std::mem::{self, Discriminant};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::attention::AttentionState;
use crate::app::command::{Command, NextStep, PreparedExport, PreparedSlimming, ResumePlan};
use crate::app::histories::{JumpHistory, JumpPosition, KeptTexts, QueryHistory};
use crate::app::layers::files::FilesView;
use crate::app::layers::stats::StatsView;
use crate::app::layers::{LayerKind, Layers};
use crate::app::machines::Machines;
use crate::app::message::{Effect, EntryLocation, SearchRequest, Work};
use crate::app::panes::layout::{Layout, PaneArea, PaneSizes, ScreenShape, bounded};
use crate::app::panes::reader::ReaderSubject;
use crate::app::panes::{reader, sessions, tree};
use crate::app::search::Search;
use crate::app::settings::Settings;
use crate::app::ticket::{Claim, Ticket};
use crate::app::title::title;
use crate::app::unread::UnreadState;
use crate::base::javascript::utf16_prefix;
use crate::base::paths::file_name;
use crate::base::text::{Tone, clean};
use crate::catalog::current_dir::CurrentDir;
use crate::catalog::search::SearchedSession;
use crate::catalog::space::SessionKinds;
use crate::catalog::{Catalog, EntryRef, SessionKey};
use crate::changes::Request;
use crate::changes::history::HistoryEntry;
use crate::keymap::{Action, KeyContext};
use crate::search::lost_work::LostWork;
use crate::search::qualifier::value::{QueryScope, ValueLists};
use crate::search::query::Query;
use crate::session::digest::listed::SharedLazySession;
use crate::session::tree::{EntryIndex, Tree};

/// A message in the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Severity of the message.
    pub tone: Tone,
    /// The message, on one line.
    pub text: String,
    /// `true` if the message offers undo.
    pub can_undo: bool,
    /// Time until which keys do not remove the message, in milliseconds since 1970. Results of background work arrive
    /// at any time and stay for a moment.
    pub until: Option<i64>,
}

/// Milliseconds for which the result of background work stays at least.
const MIN_SHOWN: i64 = 1500;

/// Columns of a text from a file in a question.
const SHORT: usize = 60;

/// A change that is queued or being made.
#[derive(Debug)]
pub struct PendingChange {
    /// Claim on its result.
    pub claim: Claim,
    /// The request.
    pub request: Request,
    /// Next step.
    pub then: NextStep,
    /// Number of files changed, and their total.
    pub progress: Option<(usize, usize)>,
    /// The program that holds a lock on a file.
    pub waits: Option<String>,
}

/// A text to read or copy or a request to pi, and the next step.
#[derive(Debug)]
pub struct PendingTask {
    /// Claim on the reply.
    pub claim: Claim,
    /// Next step.
    pub then: NextStep,
}

/// State of reading all sessions.
#[derive(Debug, Default)]
pub struct ScanState {
    /// Claim on the sessions; `None` when all are read.
    pub claim: Option<Claim>,
    /// Files that this browser has changed since; the reading may have older versions of them.
    pub changed: HashSet<PathBuf>,
}

/// State of statistics.
#[derive(Debug, Default)]
pub struct StatsState {
    /// `true` once the screen was opened at the start, or if it is not to be.
    pub was_opened: bool,
    /// The screen that the user left for one of its rows.
    pub left: Option<Box<StatsView>>,
    /// The cost of the current month in US dollars, if there is a budget.
    pub month_cost: Option<f64>,
    /// Claim on that cost.
    pub counting_month: Option<Claim>,
    /// The version of the catalog and the beginning of the month for which it was requested.
    pub counted_month: Option<(u64, Option<i64>)>,
}

/// The likely secrets of the session in the reader.
#[derive(Debug, Default)]
pub struct CheckedSession {
    /// The session for which they were requested, and its size in bytes.
    pub asked: Option<(SessionKey, u64)>,
    /// Claim on their number.
    pub counting: Option<Claim>,
    /// The session and their number.
    pub secrets: Option<(SessionKey, usize)>,
}

/// State of the search for lost work of the selected session.
#[derive(Debug, Default)]
pub struct LostWorkState {
    /// The session with the size and the modification time of its file, if it is searched.
    pub(crate) session: Option<(SessionKey, u64, i64)>,
    /// Claim on the search.
    pub(crate) searching: Option<Claim>,
    /// The lost work of the session; empty if it has none, or was not searched yet.
    pub(crate) work: LostWork,
}

impl LostWorkState {
    /// Returns the lost work of a session; `None` if it has none, or is not selected.
    pub(crate) fn of(&self, key: SessionKey) -> Option<&LostWork> {
        let is_selected = self.session.is_some_and(|(selected, ..)| selected == key);
        Some(&self.work).filter(|work| is_selected && !work.ends.is_empty())
    }
}

/// The kinds of content of sessions, for their cards.
#[derive(Debug, Default)]
pub struct SessionSizes {
    /// The kinds of the measured sessions.
    pub kinds: HashMap<SessionKey, SessionKinds>,
    /// The session of the card, and the claim on its kinds.
    pub measuring: Option<(SessionKey, Claim)>,
}

/// Handles failed work: its ticket, and the reason.
pub(crate) type FailureHandler = fn(&mut Model, u64, &str);

/// State of the browser.
#[derive(Debug, Default)]
pub struct Model {
    /// Constant settings.
    pub settings: Arc<Settings>,
    /// Current time, in milliseconds since 1970.
    pub now: i64,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// All sessions.
    pub catalog: Catalog,
    /// The focused pane.
    pub focus: KeyContext,
    /// Sizes of the panes.
    pub pane_sizes: PaneSizes,
    /// The sessions pane.
    pub sessions: sessions::SessionsPane,
    /// The tree pane.
    pub tree: tree::TreePane,
    /// The reader pane.
    pub reader: reader::ReaderPane,
    /// Layers over the panes.
    pub layers: Layers<Command>,
    /// The current search over all sessions.
    pub search: Option<Search>,
    /// Values of qualifiers, for completion.
    pub values: Arc<ValueLists>,
    /// History of search queries.
    pub queries: QueryHistory,
    /// History of jumps.
    pub jumps: JumpHistory,
    /// The message in the footer.
    pub notice: Option<Notice>,
    /// Changes that are queued or being made, in order.
    pub changes: VecDeque<PendingChange>,
    /// Texts to read or copy, and requests to pi.
    pub pending_tasks: Vec<PendingTask>,
    /// State of reading all sessions.
    pub scan: ScanState,
    /// The lost work that was found.
    pub lost: LostWorkState,
    /// The likely secrets of the session in the reader.
    pub checked: CheckedSession,
    /// The summary of the selected project.
    pub summary: sessions::ProjectSummary,
    /// Claim on changes of session files.
    pub watching: Option<Claim>,
    /// The session file to open once it is read, and the ID of the entry to select.
    pub to_open: Option<(PathBuf, Option<String>)>,
    /// Claims on work that lasts until other work of its kind is started.
    held: HashMap<Discriminant<Work>, Claim>,
    /// The other machines.
    pub machines: Machines,
    /// `Ok` if pi can go to an entry by itself, else the reason; `None` until pi was asked.
    pub pi_can_navigate: Option<Result<(), String>>,
    /// Marked entries for a comparison, in the order in which they were marked.
    pub marks: Vec<EntryRef>,
    /// Recent actions of the command palette, most recent first.
    pub recent: Vec<Action>,
    /// `true` if the last click was on a layer. A second click in its place does not apply to the pane below.
    pub clicked_layer: bool,
    /// The pending titles of sessions.
    pub titles: Option<Claim>,
    /// The sessions that are measured for slimming.
    pub slimming: Option<PreparedSlimming>,
    /// The export that is prepared.
    pub export: Option<PreparedExport>,
    /// The change history, as last read.
    pub history: Option<Vec<HistoryEntry>>,
    /// State of statistics.
    pub stats: StatsState,
    /// The kinds of content of sessions.
    pub sizes: SessionSizes,
    /// The list of files that the user left for one of its entries.
    pub files_left: Option<Box<FilesView>>,
    /// The form in which the reader shows entries.
    pub entry_form: reader::EntryForm,
    /// State of unread sessions.
    pub unread: UnreadState,
    /// State of notifications about pis.
    pub attention: AttentionState,
    /// Claim on the change history.
    pub reading_history: Option<Claim>,
    /// Claim on freeing the search cache; the next search cancels it.
    pub freeing_cache: Option<Claim>,
    /// The texts of closed input lines.
    pub(crate) kept: KeptTexts,
    /// `true` if this or an earlier browser has welcomed the user.
    pub(crate) is_welcomed: bool,
    /// Effects of the current message.
    pub(crate) effects: Vec<Effect>,
    tickets: u64,
    /// The failure handlers of pending work.
    pub(crate) failures: Vec<(Ticket, FailureHandler)>,
}

impl Model {
    /// Creates a browser without sessions.
    pub fn new(settings: Arc<Settings>, size: (u16, u16), now: i64) -> Self {
        let here = CurrentDir::new(settings.current_dir.clone(), settings.home.clone());
        let mut sessions = sessions::SessionsPane::new(settings.config.sort, here, settings.glyphs.clone());
        sessions.shows.here_only = settings.here_only;
        let notice = |text| Notice { tone: Tone::Warning, text, can_undo: false, until: None };
        Self {
            now,
            size: bounded(size),
            sessions,
            tree: tree::TreePane::new(settings.config.filter, settings.config.tool_runs),
            reader: reader::ReaderPane::new(&settings.glyphs),
            notice: settings.notice.clone().map(notice),
            to_open: settings.at.clone(),
            settings,
            ..Self::default()
        }
    }

    /// Formats a time for a list, in milliseconds since 1970.
    pub fn when(&self, then: Option<i64>) -> String {
        self.settings.when(self.now, then)
    }

    /// Returns the change history as last read, most recent first.
    pub(crate) fn history(&self) -> &[HistoryEntry] {
        self.history.as_deref().unwrap_or_default()
    }

    /// Returns the request that searches sessions.
    pub(crate) fn search_request(&self, query: Arc<Query>, sessions: Arc<[SearchedSession]>) -> SearchRequest {
        SearchRequest { query, sessions, scope: Box::new(self.query_scope()) }
    }

    /// Returns the values that a query refers to: time, time zone, home and working directory.
    pub(crate) fn query_scope(&self) -> QueryScope {
        let Settings { home, current_dir: here, zone, .. } = &*self.settings;
        QueryScope {
            now_ms: self.now,
            home: home.clone(),
            dir: here.clone(),
            zone: zone.clone(),
            marks: self.catalog.marks().clone(),
            worktrees: self.catalog.worktrees().clone(),
            last_seen: self.catalog.last_seen().clone(),
            ..QueryScope::default()
        }
    }

    /// Returns the place in which keys are resolved: the layer on top, else the focused pane.
    pub fn key_context(&self) -> KeyContext {
        self.layers.key_context().unwrap_or(self.focus)
    }

    /// Returns the shape for the layout of the panes.
    pub(crate) fn screen(&self) -> ScreenShape {
        ScreenShape { size: self.size, focus: self.focus }
    }

    /// Returns the layout of the panes; `None` if the terminal is too small.
    pub fn layout(&self) -> Option<Layout> {
        let mut layout = Layout::new(self.screen(), &self.pane_sizes)?;
        if let (Some(_), Some(tree)) = (&self.tree.family, &mut layout.tree) {
            tree.body.height = tree.body.height.saturating_sub(1); // the legend is below
        }
        Some(layout)
    }

    /// Returns the current position for the jump history.
    pub(crate) fn jump_position(&self) -> JumpPosition {
        let in_list = self.focus == KeyContext::Sessions;
        let entry = self.tree.selected_entry().filter(|_| !in_list).and_then(|at| self.tree.entry(at));
        JumpPosition { focus: self.focus, session: self.sessions.selected_session(), entry }
    }

    /// Returns the area of a visible pane.
    pub fn area(&self, place: KeyContext) -> Option<PaneArea> {
        self.layout()?.pane(place)
    }

    /// Returns the number of rows of a pane's body; 1 if the pane is not visible.
    pub fn height(&self, place: KeyContext) -> usize {
        self.area(place).map_or(1, |area| area.body.height.max(1).into())
    }

    /// Returns the time of the next change without a message, in milliseconds since 1970.
    pub(crate) fn changes_at(&self) -> Option<i64> {
        let searched = self.search.as_ref().and_then(Search::due);
        let written = self.unread.due.filter(|_| self.unread.writing.is_none());
        let pis = self.attention.due();
        self.reader.changes_at(self.now).into_iter().chain(searched).chain(written).chain(pis).min()
    }

    /// Starts background work, which is canceled when the claim is dropped.
    #[must_use]
    pub fn ask(&mut self, work: Work) -> Claim {
        self.tickets += 1;
        let (claim, ticket) = Ticket::new(self.tickets);
        self.effects.push(Effect::Ask(ticket, work));
        claim
    }

    /// Starts background work that is canceled by other work of its kind.
    pub(crate) fn ask_until_next(&mut self, work: Work) {
        let kind = mem::discriminant(&work);
        let claim = self.ask(work);
        self.held.insert(kind, claim);
    }

    /// Starts background work whose owner handles a failure itself. Otherwise, the footer shows the reason.
    #[must_use]
    pub(crate) fn ask_or(&mut self, work: Work, fail: FailureHandler) -> Claim {
        let claim = self.ask(work);
        if let Some(Effect::Ask(ticket, _)) = self.effects.last() {
            self.failures.retain(|(ticket, _)| ticket.is_wanted());
            self.failures.push((ticket.clone(), fail));
        }
        claim
    }

    /// Changes the topmost layer of a kind; the change can use the model, but not its layers. Returns `None` without such
    /// a layer.
    pub(crate) fn with_layer<T: LayerKind<Command>, R>(
        &mut self,
        change: impl FnOnce(&mut Self, &mut T) -> R,
    ) -> Option<R> {
        let mut layers = std::mem::take(&mut self.layers);
        let result = layers.get_mut().map(|layer| change(self, layer));
        self.layers = layers;
        result
    }

    /// Builds the rows of the list again.
    pub(crate) fn rebuild_list(&mut self) {
        self.sessions.rebuild(&self.catalog);
    }

    /// Returns `true` if all was read and no session was found.
    pub fn has_nothing(&self) -> bool {
        self.catalog.progress.finished && self.catalog.is_empty()
    }

    /// Keeps the message in the footer for a moment, because it is the result of background work.
    pub(crate) fn hold_notice(&mut self) {
        if let Some(notice) = &mut self.notice {
            notice.until = Some(self.now + MIN_SHOWN);
        }
    }

    /// Removes the message in the footer, unless it must stay for a moment.
    pub(crate) fn clear_notice(&mut self) {
        self.notice = self.notice.take().filter(|notice| notice.until.is_some_and(|until| self.now < until));
    }

    /// Removes the task of a ticket and returns its next step.
    pub(crate) fn end_task(&mut self, ticket: u64) -> Option<NextStep> {
        let at = self.pending_tasks.iter().position(|task| task.claim.number == ticket)?;
        Some(self.pending_tasks.remove(at).then)
    }

    /// Removes the task of a ticket and returns its plan to resume in pi.
    pub(crate) fn end_resuming(&mut self, ticket: u64) -> Option<ResumePlan> {
        if let Some(NextStep::Resume(plan)) = self.end_task(ticket) { Some(*plan) } else { None }
    }

    /// Shows a hint in the footer.
    pub(crate) fn hint(&mut self, text: impl Into<String>) {
        self.show_notice(Tone::Dim, text);
    }

    /// Shows a warning in the footer.
    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.show_notice(Tone::Warning, text);
    }

    /// Shows a message in the footer.
    pub fn show_notice(&mut self, tone: Tone, text: impl Into<String>) {
        self.notice = Some(Notice { tone, text: text.into(), can_undo: false, until: None });
    }

    /// Returns the start of a session's title for a question.
    pub fn short_title(&self, key: SessionKey) -> String {
        self.short(&title(&self.catalog[key], &self.settings))
    }

    /// Returns a session's title: `known` if given, else the title in the list, else the file name.
    pub(crate) fn title_of(&self, path: &Path, known: Option<&str>) -> String {
        let listed = || Some(title(self.catalog.get(self.catalog.key_of(path)?)?, &self.settings));
        known.map(str::to_owned).or_else(listed).unwrap_or_else(|| file_name(path))
    }

    /// Returns the start of a text from a file, cleaned and without likely secrets, for a question.
    pub fn short(&self, text: &str) -> String {
        self.settings.glyphs.cut(&self.settings.cell(&clean(utf16_prefix(text, 200))), SHORT).into_owned()
    }

    /// Returns the session that an action applies to: in the tree, that of the selected row; else the selected session.
    pub(crate) fn target_session(&self) -> Option<(SessionKey, &SharedLazySession)> {
        let fork = || self.tree.selected_fork().filter(|_| self.focus == KeyContext::Tree).map(|fork| fork.key);
        let of_row = self.target_ref().map(|entry| entry.session).or_else(fork);
        let key = of_row.or_else(|| self.sessions.selected_session())?;
        Some((key, self.catalog.get(key)?))
    }

    /// Returns the entry that an action applies to: in the tree the selected one, in the reader the shown one.
    fn target_ref(&self) -> Option<EntryRef> {
        match (self.focus, self.reader.subject) {
            (KeyContext::Tree, _) => self.tree.selected_entry().and_then(|at| self.tree.entry(at)),
            (KeyContext::Reader, ReaderSubject::Entry(entry)) => self.tree.shown(entry).is_some().then_some(entry),
            _ => None,
        }
    }

    /// Returns the entry that an action applies to, in the tree of its own file.
    pub(crate) fn target_entry(&self) -> Option<(SessionKey, Arc<Tree>, EntryIndex)> {
        let EntryRef { session, at } = self.target_ref()?;
        Some((session, self.tree.file(session)?.clone(), at))
    }

    /// Returns the place of an entry in its file, if its session is shown in the tree.
    pub(crate) fn entry_location(&self, EntryRef { session, at }: EntryRef) -> Option<EntryLocation> {
        let (path, tree) = (self.catalog.get(session)?.path.clone(), self.tree.file(session)?.clone());
        Some(EntryLocation { path, tree, at })
    }

    /// Returns the entry that an action applies to, in the complete tree of its session.
    ///
    /// # Errors
    /// No entry is selected, or its session is still being read; the message says which.
    pub(crate) fn whole_entry(&self) -> Result<(SessionKey, Arc<Tree>, EntryIndex), &'static str> {
        match self.target_entry() {
            Some((session, tree, at)) if !tree.is_partial => Ok((session, tree, at)),
            _ if self.tree.tree.as_ref().is_none_or(|tree| tree.is_partial) => Err("the session is still being read"),
            _ if self.tree.selected_fork().is_some() => Err("this row is a fork; press Enter to go to its session"),
            _ => Err("select an entry in the tree"),
        }
    }
}
