//! State of the sessions pane: rows of projects, families and sessions; order, marks and filters. The rows are built in
//! `rows`, grouped by `projects`; `folds` hides some of them, and `hits` builds the rows of search results.

mod folds;
mod projects;
mod rows;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
pub use projects::{HiddenSubagents, Project, ProjectName, ProjectSummary};
use serde::{Deserialize, Serialize};

use crate::app::widgets::Cursor;
use crate::base::sort;
use crate::base::text::Glyphs;
use crate::catalog::current_dir::CurrentDir;
use crate::catalog::families::Families;
use crate::catalog::parents::MissingParentKey;
use crate::catalog::search::SessionHit;
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::config::Sort;

/// The identity of a row, independent of its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKey {
    /// A project.
    Project(ProjectKey),
    /// A session.
    Session(SessionKey),
    /// A session whose file is missing.
    MissingParent(MissingParentKey),
}

/// A row of the pane.
#[derive(Clone, Debug)]
pub enum SessionRow {
    /// A project, by index.
    Project(usize),
    /// A session.
    Session {
        /// The key of the session.
        key: SessionKey,
        /// The tree lines in front of the row.
        prefix: String,
        /// Number of forks and subagents below it that can be folded.
        below: usize,
        /// `true` if the text around a hit has its own line.
        is_tall: bool,
        /// The name of the period that begins with the row; it has its own line above.
        period: Option<String>,
    },
    /// A missing session above its forks, with the number of visible forks.
    MissingParent(MissingParentKey, usize),
}

impl SessionRow {
    /// Returns the session of the row, unless it is a project or a missing session.
    pub fn session(&self) -> Option<SessionKey> {
        match self {
            Self::Session { key, .. } => Some(*key),
            Self::Project(_) | Self::MissingParent(..) => None,
        }
    }

    /// Returns the number of lines of the row.
    pub fn lines(&self) -> usize {
        let Self::Session { is_tall, period, .. } = self else { return 1 };
        1 + usize::from(*is_tall) + usize::from(period.is_some())
    }
}

/// Totals of the visible sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Number of sessions.
    pub sessions: usize,
    /// Number of projects.
    pub projects: usize,
    /// Number of unread sessions.
    pub unread: usize,
    /// Cost in US dollars, hidden subagents included; shared entries count once.
    pub cost: f64,
    /// The hidden sessions of subagents.
    pub hidden: HiddenSubagents,
}

/// Order and filters of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// The sort order.
    pub sort: Sort,
    /// Hides sessions without a name.
    pub named_only: bool,
    /// Shows sessions of subagents.
    pub subagents: bool,
    /// Hides archived sessions.
    pub unarchived_only: bool,
    /// Shows only marked sessions, if there are any.
    pub marked_only: bool,
    /// Shows only sessions of the directory in which pitree was started.
    pub here_only: bool,
    /// Sorts search results by time instead of relevance.
    pub newest_hits_first: bool,
    /// Lists search results without projects even if grouping is possible.
    pub hits_flat: bool,
}

/// The folds of the rows.
#[derive(Debug, Default)]
struct Folds {
    /// The rows that the user folded.
    folded: HashSet<RowKey>,
    /// The projects that the user unfolded while projects start folded.
    unfolded: HashSet<ProjectKey>,
    /// The projects that are unfolded for this run: that of the current directory, and those of selected sessions.
    opened: HashSet<ProjectKey>,
    /// `true` if projects start folded.
    starts_folded: bool,
    /// Saved folds of projects and sessions that are not loaded yet.
    awaited: SavedFolds,
}

/// The folds saved between runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedFolds {
    /// Working directories of projects that the user folded.
    pub(crate) folded_projects: BTreeSet<String>,
    /// Working directories of projects that the user unfolded while projects start folded.
    pub(crate) unfolded_projects: BTreeSet<String>,
    /// Files of sessions whose forks are folded.
    pub(crate) folded_sessions: BTreeSet<String>,
}

/// The state of the pane.
#[derive(Debug, Default)]
pub struct SessionsPane {
    /// Order and filters of the list.
    pub shows: ListOptions,
    /// The sort order to restore after `waiting-first`.
    pub sort_before: Sort,
    /// Shows the file path in each row.
    pub show_paths: bool,
    /// The directory in which pitree was started.
    pub here: CurrentDir,
    /// The present day and the time zone, for the periods of the sort order `recent`.
    pub(crate) today: Option<(Date, TimeZone)>,
    /// The rows.
    pub rows: Vec<SessionRow>,
    /// The selected row.
    pub cursor: Cursor,
    /// The marked sessions.
    pub marks: HashSet<SessionKey>,
    /// `true` after the first key press: from then on, the selection stays on its session while others are loaded.
    pub touched: bool,
    /// The projects, newest first.
    pub projects: Vec<Project>,
    /// Totals of the visible sessions.
    pub totals: Totals,
    /// The search results while a search is active; the list then shows only these.
    pub hits: Option<HashMap<SessionKey, SessionHit>>,
    /// The number of found sessions that the filters hide.
    pub hidden_hits: usize,
    /// `true` if rows are listed without projects and families.
    pub is_flat: bool,
    /// Columns and lines of the list.
    pub room: (usize, usize),
    /// Sessions that pass the filters, whether they match the search or not.
    shown: Arc<[SessionKey]>,
    /// The catalog version and the options from which sessions, families, projects and totals were computed.
    listed_for: Option<(u64, ListOptions)>,
    /// The families of the sessions that have rows.
    families: Arc<Families>,
    /// The families and projects of all sessions, saved while a search shows only those of hits.
    unsearched: Option<(Arc<Families>, Vec<Project>)>,
    /// Projects shown in the row of their only session, by row.
    alone: HashMap<usize, usize>,
    folds: Folds,
    pub(crate) selected: Option<RowKey>,
    /// The row selected by default rather than by the user.
    preselected: Option<RowKey>,
    glyphs: Glyphs,
}

impl SessionsPane {
    /// Returns an empty list, sorted by `sort`, for a pitree started in `here`.
    pub fn new(sort: Sort, here: CurrentDir, glyphs: Glyphs) -> Self {
        Self { shows: ListOptions { sort, ..ListOptions::default() }, here, glyphs, ..Self::default() }
    }

    /// Returns the number of rows that fit on the screen.
    pub(crate) fn page(&self) -> usize {
        self.cursor.seen(self.rows.len(), self.room.1, |row| self.rows[row].lines()).len()
    }

    /// Sets the size of the list and scrolls to the selection.
    pub(crate) fn fit(&mut self, room: (usize, usize), catalog: &Catalog) {
        let is_other = self.room != room;
        self.room = room;
        if is_other && self.hits.is_some() {
            self.rebuild(catalog);
        }
        self.cursor.fit_tall(self.rows.len(), room.1, |row| self.rows[row].lines());
    }

    /// Scrolls by a number of rows.
    pub(crate) fn scroll(&mut self, by: isize) {
        self.cursor.scroll_tall(by, self.rows.len(), self.room.1, |row| self.rows[row].lines());
    }

    fn key(&self, row: usize) -> Option<RowKey> {
        Some(match self.rows.get(row)? {
            SessionRow::Project(at) => RowKey::Project(self.projects[*at].key),
            SessionRow::Session { key, .. } => RowKey::Session(*key),
            SessionRow::MissingParent(key, _) => RowKey::MissingParent(*key),
        })
    }

    fn row_of(&self, key: RowKey) -> Option<usize> {
        (0..self.rows.len()).find(|&row| self.key(row) == Some(key))
    }

    /// Stores the selected row so that it can be restored after the rows change.
    pub fn note_selection(&mut self) {
        self.cursor.at = self.cursor.at.min(self.rows.len().saturating_sub(1));
        self.selected = self.key(self.cursor.at).or(self.selected);
    }

    /// Records that the current row was selected by default.
    pub(super) fn note_preselection(&mut self) {
        self.note_selection();
        self.preselected = self.selected_key();
    }

    /// Rebuilds the rows in another order. Keeps the row that the user selected; otherwise selects the first session.
    pub(crate) fn reorder(&mut self, catalog: &Catalog) {
        let is_moved = self.selected_key() != self.preselected;
        self.rebuild(catalog);
        if !is_moved {
            let first = self.rows.iter().position(|row| row.session().is_some());
            self.cursor = Cursor { at: first.unwrap_or_default(), top: 0 };
            self.note_preselection();
        }
    }

    /// Counts the visible unread sessions.
    pub(crate) fn count_unread(&mut self, catalog: &Catalog) {
        self.totals.unread = self.shown.iter().filter(|&&key| catalog.has(key) && catalog.is_unread(key)).count();
    }

    /// Returns the project that the row of its only session also shows.
    pub fn project_alone(&self, row: usize) -> Option<usize> {
        self.alone.get(&row).copied()
    }

    /// Returns the selected row.
    pub fn selected_row(&self) -> Option<&SessionRow> {
        self.rows.get(self.cursor.at)
    }

    /// Returns the key of the selected row.
    pub(crate) fn selected_key(&self) -> Option<RowKey> {
        self.key(self.cursor.at)
    }

    /// Returns the selected session, if the row is one.
    pub fn selected_session(&self) -> Option<SessionKey> {
        self.selected_row()?.session()
    }

    /// Returns the selected missing session, if the row is one.
    pub fn selected_missing_parent(&self) -> Option<MissingParentKey> {
        let SessionRow::MissingParent(key, _) = self.selected_row()? else { return None };
        Some(*key)
    }

    /// Returns the selected project, if the row is one.
    pub fn selected_project(&self) -> Option<&Project> {
        let SessionRow::Project(at) = self.selected_row()? else { return None };
        self.projects.get(*at)
    }

    /// Returns the project with a key, if it is shown.
    pub(crate) fn project(&self, key: ProjectKey) -> Option<&Project> {
        self.projects.iter().find(|project| project.key == key)
    }

    /// Selects a session or its listed copy, unfolds its ancestors and turns off filters that hide it. Returns `false` if
    /// the session does not exist.
    pub fn select(&mut self, key: SessionKey, catalog: &Catalog) -> bool {
        let key = catalog.listed_copy(key);
        let Some(session) = catalog.get(key) else { return false };
        if !self.is_hit(key) {
            self.hits = None;
        }
        self.shows.subagents |= session.owner.is_some();
        self.shows.unarchived_only &= !session.facts().is_archived();
        self.shows.named_only &= session.name.is_some();
        self.shows.here_only &= self.here.has(catalog.project_dir(key));
        self.shows.marked_only &= self.marks.contains(&key);
        for above in catalog.families().line(key).skip(1) {
            self.folds.open(RowKey::Session(above));
        }
        if let Some(parent) = catalog.families().line(key).last().and_then(|root| catalog.missing_parent_of(root)) {
            self.folds.open(RowKey::MissingParent(parent));
        }
        self.folds.open(RowKey::Project(project_of(catalog, key)));
        self.selected = Some(RowKey::Session(key));
        self.rebuild(catalog);
        true
    }

    /// Selects a project and unfolds it, in the threaded order and without a search. Turns off filters that hide it.
    /// Returns `false` if the project does not exist.
    pub(crate) fn select_project(&mut self, key: ProjectKey, catalog: &Catalog) -> bool {
        self.hits = None;
        self.shows.sort = Sort::Threaded;
        self.folds.open(RowKey::Project(key));
        self.rebuild(catalog);
        if self.project(key).is_none() {
            (self.shows.named_only, self.shows.here_only) = (false, false);
            self.rebuild(catalog);
        }
        let Some(project) = self.projects.iter().position(|project| project.key == key) else { return false };
        let alone = || self.alone.iter().find(|&(_, &shown)| shown == project).map(|(&row, _)| row);
        let Some(row) = self.row_of(RowKey::Project(key)).or_else(alone) else { return false };
        self.cursor = Cursor { at: row, top: row };
        self.note_selection();
        true
    }

    /// Returns all projects, newest first, whatever a search and filters hide.
    pub(crate) fn all_projects(&self, catalog: &Catalog) -> Cow<'_, [Project]> {
        if self.shows.named_only || self.shows.here_only {
            let shows = ListOptions { named_only: false, here_only: false, ..self.shows };
            let mut all = Self { shows, here: self.here.clone(), ..Self::default() };
            all.take_sessions(catalog);
            return Cow::Owned(all.projects);
        }
        Cow::Borrowed(self.unsearched.as_ref().map_or(&self.projects, |(_, projects)| projects))
    }

    /// Returns `true` if a row is marked. A project is marked if all of its sessions are.
    pub(crate) fn is_marked(&self, row: &SessionRow) -> bool {
        let sessions = self.sessions_of(row);
        !sessions.is_empty() && sessions.iter().all(|key| self.marks.contains(key))
    }

    fn sessions_of<'a>(&'a self, row: &'a SessionRow) -> &'a [SessionKey] {
        match row {
            SessionRow::Session { key, .. } => std::slice::from_ref(key),
            SessionRow::MissingParent(..) => &[],
            SessionRow::Project(at) => &self.projects[*at].sessions,
        }
    }

    fn mark(&mut self, sessions: &[SessionKey], mark: bool) {
        for key in sessions {
            if mark {
                self.marks.insert(*key);
            } else {
                self.marks.remove(key);
            }
        }
    }

    /// Returns the sessions that have a row.
    fn in_rows(&self) -> Vec<SessionKey> {
        self.rows.iter().filter_map(SessionRow::session).collect()
    }

    /// Returns the marked sessions, newest first, and how many of them have no row now.
    pub fn marked(&self, catalog: &Catalog) -> (Vec<SessionKey>, usize) {
        let mut marked: Vec<SessionKey> = self.marks.iter().copied().filter(|&key| catalog.has(key)).collect();
        sort::by_cached_key(&mut marked, |&key| {
            let facts = catalog[key].facts();
            (Reverse(facts.order_time()), facts.path().join())
        });
        let seen = self.in_rows().iter().filter(|key| self.marks.contains(key)).count();
        let hidden = marked.len().saturating_sub(seen);
        (marked, hidden)
    }

    /// Marks or unmarks the selected row and moves down.
    pub(crate) fn toggle_mark(&mut self) {
        let Some(row) = self.selected_row() else { return };
        let (mark, sessions) = (!self.is_marked(row), self.sessions_of(row).to_vec());
        self.mark(&sessions, mark);
        self.cursor.go(1, self.rows.len());
    }

    /// Marks all sessions that have a row; unmarks them if all are marked. Returns the number of sessions skipped
    /// because a fold hides them.
    pub(crate) fn toggle_all_marks(&mut self) -> usize {
        let mut all = self.in_rows();
        all.retain(|&key| self.is_hit(key));
        let folded = if self.hits.is_some() { 0 } else { self.totals.sessions.saturating_sub(all.len()) };
        if !all.is_empty() && all.iter().all(|key| self.marks.contains(key)) {
            self.marks.clear();
            return 0;
        }
        self.mark(&all, true);
        folded
    }
}

/// Returns the project of a session's family root.
fn project_of(catalog: &Catalog, key: SessionKey) -> ProjectKey {
    catalog.project_of_family(catalog.families().line(key).last().unwrap_or(key))
}
