//! Everything that the browser knows.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::command::{AfterChange, Command, ResumePlan};
use crate::app::jump_history::{JumpHistory, JumpPosition};
use crate::app::layers::Layers;
use crate::app::layers::answer::LayerContext;
use crate::app::message::{Effect, Opener, Work};
use crate::app::panes::layout::{Layout, PaneArea, PaneSizes, ScreenShape};
use crate::app::panes::marks::EntryMarks;
use crate::app::panes::{preview, sessions, tree};
use crate::app::query_history::QueryHistory;
use crate::app::search::Search;
use crate::app::startup::Startup;
use crate::app::ticket::{Claim, Ticket};
use crate::base::text::Tone;
use crate::catalog::Catalog;
use crate::catalog::current_dir::CurrentDir;
use crate::changes::Request;
use crate::changes::history::HistoryEntry;
use crate::config::Config;
use crate::keymap::{Action, Place};
use crate::search::scope::QueryScope;
use crate::search::value_lists::ValueLists;

/// What the footer says until the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Whether it is good or bad news.
    pub tone: Tone,
    /// On one line.
    pub text: String,
    /// Whether undo takes back what it tells of.
    pub can_undo: bool,
    /// When keys may replace it, in milliseconds since 1970, if it is the outcome of work: keys may be pressed at any time.
    pub until: Option<i64>,
}

/// Milliseconds that the outcome of work is shown at least.
const LEAST_SHOWN: i64 = 1500;

/// A change that was wanted, and of which it is not known how it went.
#[derive(Debug)]
pub struct PendingChange {
    /// Who waits for it.
    pub claim: Claim,
    /// What was wanted.
    pub request: Request,
    /// What follows.
    pub after: AfterChange,
    /// How many files of it are done, of how many.
    pub progress: Option<(usize, usize)>,
    /// Who it waits for, in words, if it does.
    pub waits: Option<String>,
}

/// Something that is read, copied or asked, and what follows.
#[derive(Debug)]
pub struct Errand {
    /// Claim on the reply.
    pub claim: Claim,
    /// Next step.
    pub then: NextStep,
}

/// Next step after an [`Errand`].
#[derive(Debug)]
pub enum NextStep {
    /// The outcome is shown, whatever is pressed meanwhile.
    Tell,
    /// A line is completed, unless a key comes first.
    Complete,
    /// pi goes on, unless a key comes first.
    GoOn(ResumePlan),
    /// A program shows it, unless a key comes first.
    Open(Opener),
}

/// The reading of all sessions.
#[derive(Debug)]
pub struct ScanState {
    /// Who waits for it; nobody, when it is over.
    pub claim: Option<Claim>,
    /// The files that were changed here since it began: what it reads of them may be older.
    pub changed: HashSet<PathBuf>,
}

/// Everything that the browser knows.
#[derive(Debug)]
pub struct Model {
    /// What does not change.
    pub setting: Arc<Startup>,
    /// Milliseconds since 1970.
    pub now: i64,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// All sessions.
    pub catalog: Catalog,
    /// The pane that has the keyboard.
    pub focus: Place,
    /// How the panes share the screen.
    pub sharing: PaneSizes,
    /// The sessions pane.
    pub sessions: sessions::SessionsPane,
    /// The tree pane.
    pub tree: tree::TreePane,
    /// The preview pane.
    pub preview: preview::PreviewPane,
    /// What lies over the panes.
    pub layers: Layers<Command>,
    /// A search over sessions, if there is one.
    pub search: Option<Search>,
    /// What the sessions have that qualifiers may ask for.
    pub values: Arc<ValueLists>,
    /// The queries that were typed.
    pub queries: QueryHistory,
    /// Where one was before jumps.
    pub jumps: JumpHistory,
    /// What the footer says.
    pub notice: Option<Notice>,
    /// The changes that were wanted, the first one first.
    pub changes: VecDeque<PendingChange>,
    /// Texts that are being read or copied, and requests to pi.
    pub errands: Vec<Errand>,
    /// The reading of all sessions.
    pub scan: ScanState,
    /// Who waits for what is new in them.
    pub watching: Option<Claim>,
    /// The session that is to be opened once it is there, by its file, and the entry that is to be selected, by its id.
    pub to_open: Option<(PathBuf, Option<String>)>,
    /// Who waits for what pis do.
    pub following_pis: Option<Claim>,
    /// `Ok` if pi can go to an entry by itself, else the reason why not; `None` until pi was asked.
    pub pi_goes: Option<Result<(), String>>,
    /// Who waits to hear that, and what follows.
    pub asking_pi: Option<(Claim, Command)>,
    /// Who waits to hear which pis run: see [`Command::ToTrash`].
    pub looking: Option<Claim>,
    /// The marks on entries.
    pub marks: EntryMarks,
    /// Who waits for a comparison.
    pub comparing: Option<Claim>,
    /// The actions of the command palette that were used lately, the last one first.
    pub recent: Vec<Action>,
    /// Whether the last click was on something that lay over the panes: a second one in its place is not for what is below.
    pub clicked_layer: bool,
    /// Who waits for what the model sees.
    pub seeing: Option<Claim>,
    /// What was changed, as it was read last.
    pub past: Option<Vec<HistoryEntry>>,
    /// Who waits for that.
    pub looking_back: Option<Claim>,
    /// Who waits until what was kept for a search is given back: not the next search.
    pub giving_back: Option<Claim>,
    /// Effects of the current message.
    pub(crate) effects: Vec<Effect>,
    tickets: u64,
}

/// The columns and rows that are drawn on, of a terminal that says it has so many: a screen costs memory for each cell.
pub fn bounded((columns, rows): (u16, u16)) -> (u16, u16) {
    (columns.min(1000), rows.min(400))
}

impl Model {
    /// A browser that has read nothing yet.
    pub fn new(setting: Arc<Startup>, config: &Config, size: (u16, u16), now: i64) -> Self {
        let here = CurrentDir::new(setting.here.clone(), setting.home.clone());
        let mut sessions = sessions::SessionsPane::new(config.sort, here);
        sessions.shows.here_only = setting.here_only;
        let preview = preview::PreviewPane::new(&setting.glyphs);
        let to_open = setting.at.clone();
        let notice =
            setting.notice.clone().map(|text| Notice { tone: Tone::Warning, text, can_undo: false, until: None });
        Self {
            setting,
            now,
            size: bounded(size),
            catalog: Catalog::default(),
            focus: Place::Sessions,
            sharing: PaneSizes::default(),
            sessions,
            tree: tree::TreePane::new(config.filter, config.tool_runs),
            preview,
            layers: Layers::default(),
            search: None,
            values: Arc::default(),
            queries: QueryHistory::default(),
            jumps: JumpHistory::default(),
            notice,
            changes: VecDeque::new(),
            errands: Vec::new(),
            scan: ScanState { claim: None, changed: HashSet::new() },
            watching: None,
            to_open,
            following_pis: None,
            pi_goes: None,
            asking_pi: None,
            looking: None,
            marks: EntryMarks::default(),
            comparing: None,
            recent: Vec::new(),
            clicked_layer: false,
            seeing: None,
            past: None,
            looking_back: None,
            giving_back: None,
            effects: Vec::new(),
            tickets: 0,
        }
    }

    /// Returns `Ok` if pi can go to an entry by itself, else the reason; `None` until pi was asked.
    pub(crate) fn pi_goes(&self) -> Option<Result<(), &str>> {
        self.pi_goes.as_ref().map(|goes| goes.as_ref().map(|&()| ()).map_err(String::as_str))
    }

    /// Returns the change history as last read, most recent first.
    pub(crate) fn past(&self) -> &[HistoryEntry] {
        self.past.as_deref().unwrap_or_default()
    }

    /// Returns the values that a query refers to: time, time zone, home and working directory.
    pub(crate) fn query_scope(&self) -> QueryScope {
        let Startup { home, here, zone, .. } = &*self.setting;
        QueryScope { now_ms: self.now, home: home.clone(), dir: here.clone(), zone: zone.clone() }
    }

    /// The layers, and what they see.
    pub fn layers(&mut self) -> (&mut Layers<Command>, LayerContext<'_>) {
        (&mut self.layers, LayerContext { setting: &self.setting, size: self.size })
    }

    /// Where a key is pressed: the layer on top, else the pane that has the keyboard.
    pub fn place(&self) -> Place {
        self.layers.place().unwrap_or(self.focus)
    }

    /// What the panes are laid out for.
    pub(crate) fn screen(&self) -> ScreenShape {
        ScreenShape { size: self.size, focus: self.focus, is_searched: self.search.is_some() }
    }

    /// Where the panes are; `None` if the terminal is too small.
    pub fn layout(&self) -> Option<Layout> {
        Layout::new(self.screen(), &self.sharing)
    }

    /// Where one is, to be come back to.
    pub(crate) fn spot(&self) -> JumpPosition {
        let in_list = self.focus == Place::Sessions;
        let entry = self.tree.selected_entry().filter(|_| !in_list).and_then(|at| self.tree.entry(at));
        JumpPosition { focus: self.focus, session: self.sessions.selected_session(), entry }
    }

    /// The area of a pane, if it is seen.
    pub fn area(&self, place: Place) -> Option<PaneArea> {
        self.layout()?.pane(place)
    }

    /// The rows of a pane's body; 1 if it is not seen.
    pub fn height(&self, place: Place) -> usize {
        self.area(place).map_or(1, |area| area.body.height.max(1).into())
    }

    /// When the screen changes by itself, in milliseconds since 1970, if it does.
    pub(crate) fn changes_at(&self) -> Option<i64> {
        let searched = self.search.as_ref().and_then(Search::due);
        self.preview.changes_at(self.now).into_iter().chain(searched).min()
    }

    /// Has some work done; who holds the claim waits for it.
    #[must_use]
    pub fn ask(&mut self, work: Work) -> Claim {
        self.tickets += 1;
        let (claim, ticket) = Ticket::new(self.tickets);
        self.effects.push(Effect::Ask(ticket, work));
        claim
    }

    /// Whether all was read and there is no session.
    pub fn has_nothing(&self) -> bool {
        self.catalog.progress.finished && self.catalog.is_empty()
    }

    /// Says in the footer what was done, and that it can be undone.
    pub fn say_done(&mut self, text: String) {
        self.notice = Some(Notice { tone: Tone::Active, text, can_undo: true, until: None });
    }

    /// Keeps what the footer says for a while, as it is the outcome of work.
    pub(crate) fn hold_notice(&mut self) {
        if let Some(notice) = &mut self.notice {
            notice.until = Some(self.now + LEAST_SHOWN);
        }
    }

    /// Removes what the footer says, unless it is an outcome that was just shown.
    pub(crate) fn clear_notice(&mut self) {
        self.notice = self.notice.take().filter(|notice| notice.until.is_some_and(|until| self.now < until));
    }

    /// Ends the errand of a ticket.
    pub(crate) fn end_errand(&mut self, ticket: u64) -> Option<NextStep> {
        let at = self.errands.iter().position(|errand| errand.claim.number() == ticket)?;
        Some(self.errands.remove(at).then)
    }

    /// Ends the errand of a ticket that was for going on in pi.
    pub(crate) fn end_going_on(&mut self, ticket: u64) -> Option<ResumePlan> {
        match self.end_errand(ticket)? {
            NextStep::GoOn(go_on) => Some(go_on),
            NextStep::Tell | NextStep::Complete | NextStep::Open(_) => None,
        }
    }

    /// Says something in the footer.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.notice = Some(Notice { tone, text: text.into(), can_undo: false, until: None });
    }
}
