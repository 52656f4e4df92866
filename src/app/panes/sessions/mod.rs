//! The sessions pane: projects, families and sessions as rows; sorting, folding, marks, and what is hidden. `rows` makes
//! the rows, `projects` says whose they are, `hits` what a search found.

mod folded;
mod hits;
mod marks;
mod projects;
mod rows;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::app::widgets::cursor::Cursor;
use crate::base::text::Glyphs;
use crate::catalog::current_dir::CurrentDir;
use crate::catalog::families::Families;
use crate::catalog::missing_parents::MissingParentKey;
use crate::catalog::search::SessionHit;
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::config::Sort;
pub use projects::{HiddenSubagents, Project};

/// What a row is known by, whatever its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKey {
    /// A project.
    Project(ProjectKey),
    /// A session.
    Session(SessionKey),
    /// A session that is gone.
    Ghost(MissingParentKey),
}

/// A row of the pane.
#[derive(Clone, Debug)]
pub enum SessionRow {
    /// A project, by its place among the projects.
    Project(usize),
    /// A session.
    Session {
        /// Which one.
        key: SessionKey,
        /// The lines in front of it.
        prefix: String,
        /// Forks (and sub-agents) that a fold hides or could hide.
        below: usize,
        /// Whether the text in which it was found has a line of its own.
        is_tall: bool,
    },
    /// A session that is gone, above the ones that were forked from it: how many of them are shown.
    Ghost(MissingParentKey, usize),
}

/// Numbers over the sessions that are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Sessions.
    pub sessions: usize,
    /// Projects.
    pub projects: usize,
    /// US dollars, hidden subagents included; an entry that several of them have counts once.
    pub cost: f64,
    /// The sessions of subagents that are hidden.
    pub hidden: HiddenSubagents,
}

/// Which sessions have rows, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// How the rows are ordered.
    pub sort: Sort,
    /// Whether sessions without a name are hidden.
    pub named_only: bool,
    /// Whether sessions of sub-agents are shown.
    pub subagents: bool,
    /// Whether only sessions are shown that worked where pitree was started.
    pub here_only: bool,
    /// Whether what was found is ordered by time rather than by how well it matches.
    pub newest_hits_first: bool,
    /// Whether what was found stands without its projects even where there is room for them.
    pub hits_flat: bool,
}

/// The state of the pane.
#[derive(Debug, Default)]
pub struct SessionsPane {
    /// Which sessions have rows.
    pub shows: ListOptions,
    /// How the rows were ordered before those in which a pi waits came first.
    pub sort_before: Sort,
    /// Whether rows show their file.
    pub show_paths: bool,
    /// Where pitree was started.
    pub here: CurrentDir,
    /// The rows.
    pub rows: Vec<SessionRow>,
    /// The selected row.
    pub cursor: Cursor,
    /// The marked sessions.
    pub marks: HashSet<SessionKey>,
    /// Whether somebody pressed a key: from then on the selection stays on its session, whatever is read.
    pub touched: bool,
    /// The projects, the newest first.
    pub projects: Vec<Project>,
    /// Numbers over the sessions that are shown.
    pub totals: Totals,
    /// What a search found, while there is one: only that is shown.
    pub hits: Option<HashMap<SessionKey, SessionHit>>,
    /// Whether the rows stand without their projects and families.
    pub is_flat: bool,
    /// As many columns and lines has the list.
    pub room: (usize, usize),
    /// The sessions that are not hidden, whether they were found or not,
    shown: Arc<[SessionKey]>,
    /// and of which catalog, shown in which way, they, their families, projects and numbers are.
    as_of: Option<(u64, ListOptions)>,
    /// The families of the sessions that have rows.
    families: Families,
    /// The families and projects of all of them, while those of hits are in their place.
    aside: Option<(Families, Vec<Project>)>,
    /// The projects that are told in the row of their only session, by that row.
    alone: HashMap<usize, usize>,
    folds: HashSet<RowKey>,
    /// The directories of projects and the files of sessions that are to be folded when they are there.
    to_fold: (HashSet<String>, HashSet<String>),
    selected: Option<RowKey>,
    /// The row that was selected without the user.
    preselected: Option<RowKey>,
}

impl SessionsPane {
    /// An empty list, ordered by `sort`, of a pitree that was started `here`.
    pub fn new(sort: Sort, here: CurrentDir) -> Self {
        Self { shows: ListOptions { sort, ..ListOptions::default() }, here, ..Self::default() }
    }

    /// How many lines a row has.
    pub fn lines(&self, row: usize) -> usize {
        1 + usize::from(matches!(self.rows.get(row), Some(SessionRow::Session { is_tall: true, .. })))
    }

    /// How many rows are seen whole at once.
    pub(crate) fn page(&self) -> usize {
        self.cursor.seen(self.rows.len(), self.room.1, |row| self.lines(row)).len()
    }

    /// Takes how large the list is, and brings the selection into sight.
    pub(crate) fn fit(&mut self, room: (usize, usize), catalog: &Catalog, glyphs: &Glyphs) {
        let is_other = self.room != room;
        self.room = room;
        if is_other && self.hits.is_some() {
            self.rebuild(catalog, glyphs);
        }
        let mut cursor = self.cursor;
        cursor.fit_tall(self.rows.len(), room.1, |row| self.lines(row));
        self.cursor = cursor;
    }

    /// Scrolls by some rows.
    pub(crate) fn scroll(&mut self, by: isize) {
        let mut cursor = self.cursor;
        cursor.scroll_tall(by, self.rows.len(), self.room.1, |row| self.lines(row));
        self.cursor = cursor;
    }

    fn key(&self, row: usize) -> Option<RowKey> {
        Some(match self.rows.get(row)? {
            SessionRow::Project(at) => RowKey::Project(self.projects[*at].key),
            SessionRow::Session { key, .. } => RowKey::Session(*key),
            SessionRow::Ghost(key, _) => RowKey::Ghost(*key),
        })
    }

    fn row_of(&self, key: RowKey) -> Option<usize> {
        (0..self.rows.len()).find(|&row| self.key(row) == Some(key))
    }

    /// Remembers the selected row, so that it is found again when the rows change.
    pub fn note_selection(&mut self) {
        self.cursor.at = self.cursor.at.min(self.rows.len().saturating_sub(1));
        self.selected = self.key(self.cursor.at).or(self.selected);
    }

    /// Remembers that the user did not select this row.
    pub(super) fn note_preselection(&mut self) {
        self.note_selection();
        self.preselected = self.selected_key();
    }

    /// Makes the rows in another order: the row that the user selected stays selected, else the first session is.
    pub(crate) fn reorder(&mut self, catalog: &Catalog, glyphs: &Glyphs) {
        let is_moved = self.selected_key() != self.preselected;
        self.rebuild(catalog, glyphs);
        if !is_moved {
            let is_session = |row: &SessionRow| matches!(row, SessionRow::Session { .. });
            self.cursor = Cursor { at: self.rows.iter().position(is_session).unwrap_or_default(), top: 0 };
            self.note_preselection();
        }
    }

    /// The project that a row tells of as well, as the session is its only one.
    pub fn project_alone(&self, row: usize) -> Option<usize> {
        self.alone.get(&row).copied()
    }

    /// The selected row.
    pub fn selected_row(&self) -> Option<&SessionRow> {
        self.rows.get(self.cursor.at)
    }

    /// What the selected row is known by.
    pub(crate) fn selected_key(&self) -> Option<RowKey> {
        self.key(self.cursor.at)
    }

    /// Selects a row as soon as the rows are made anew.
    pub(crate) fn select_key(&mut self, key: RowKey) {
        self.selected = Some(key);
    }

    /// The selected session, if the row is one.
    pub fn selected_session(&self) -> Option<SessionKey> {
        match self.selected_row()? {
            SessionRow::Session { key, .. } => Some(*key),
            SessionRow::Project(_) | SessionRow::Ghost(..) => None,
        }
    }

    /// The selected session that is gone, if the row is one.
    pub fn selected_ghost(&self) -> Option<MissingParentKey> {
        match self.selected_row()? {
            SessionRow::Ghost(key, _) => Some(*key),
            SessionRow::Project(_) | SessionRow::Session { .. } => None,
        }
    }

    /// The selected project, if the row is one.
    pub fn selected_project(&self) -> Option<&Project> {
        match self.selected_row()? {
            SessionRow::Project(at) => self.projects.get(*at),
            SessionRow::Session { .. } | SessionRow::Ghost(..) => None,
        }
    }

    /// Whether a row is folded.
    pub fn is_folded(&self, row: usize) -> bool {
        self.hits.is_none() && self.key(row).is_some_and(|key| self.folds.contains(&key))
    }

    /// Whether the sign that folds and unfolds a row is at a column.
    pub(crate) fn is_sign(&self, row: usize, column: usize) -> bool {
        let start = match self.rows.get(row) {
            Some(SessionRow::Session { prefix, .. }) => {
                crate::base::text::width(prefix) + if self.is_flat { 0 } else { 2 }
            }
            Some(SessionRow::Ghost(..)) => 2,
            Some(SessionRow::Project(_)) | None => 0,
        };
        self.can_fold(row) && (start..start + 2).contains(&column)
    }

    fn can_fold(&self, row: usize) -> bool {
        match self.rows.get(row).filter(|_| self.hits.is_none()) {
            Some(SessionRow::Project(_) | SessionRow::Ghost(..)) => true,
            Some(SessionRow::Session { below, .. }) => *below > 0,
            None => false,
        }
    }

    /// Folds the selected row, or goes to its parent. Returns whether anything changed.
    pub fn fold(&mut self, catalog: &Catalog, glyphs: &Glyphs) -> bool {
        let row = self.cursor.at;
        if self.can_fold(row) && !self.is_folded(row) {
            self.folds.extend(self.key(row));
            self.rebuild(catalog, glyphs);
            return true;
        }
        let depth = match self.rows.get(row) {
            Some(SessionRow::Session { prefix, .. }) => prefix.chars().count(),
            Some(SessionRow::Ghost(..)) => 0,
            Some(SessionRow::Project(_)) | None => return false,
        };
        if self.alone.contains_key(&row) {
            return false;
        }
        // The parent is the nearest row above that stands further to the left; a root's is its project.
        let is_parent = |row: &usize| match &self.rows[*row] {
            SessionRow::Project(_) => true,
            SessionRow::Ghost(..) => depth > 0,
            SessionRow::Session { prefix, .. } => prefix.chars().count() < depth,
        };
        let parent = (0..row).rev().find(is_parent);
        if let Some(parent) = parent.filter(|_| !self.is_flat) {
            self.cursor.at = parent;
            return true;
        }
        false
    }

    /// Unfolds the selected row. Returns whether anything changed.
    pub fn unfold(&mut self, catalog: &Catalog, glyphs: &Glyphs) -> bool {
        let Some(key) = self.key(self.cursor.at) else { return false };
        let was_folded = self.folds.remove(&key);
        if was_folded {
            self.rebuild(catalog, glyphs);
        }
        was_folded
    }

    /// Folds the selected project, or unfolds it.
    pub(crate) fn toggle(&mut self, catalog: &Catalog, glyphs: &Glyphs) {
        if !self.unfold(catalog, glyphs) {
            self.fold(catalog, glyphs);
        }
    }

    /// Folds all projects and families, or unfolds all.
    pub(crate) fn fold_all(&mut self, fold: bool, catalog: &Catalog, glyphs: &Glyphs) {
        self.folds.clear();
        if fold {
            self.rebuild(catalog, glyphs); // so that every row is there to be folded
            self.folds =
                (0..self.rows.len()).filter(|&row| self.can_fold(row)).filter_map(|row| self.key(row)).collect();
        }
        self.rebuild(catalog, glyphs);
    }

    /// Selects a session wherever it is: shows and unfolds what hides it. Returns whether there is such a session.
    pub fn select(&mut self, key: SessionKey, catalog: &Catalog, glyphs: &Glyphs) -> bool {
        let Some(session) = catalog.get(key) else { return false };
        if !self.is_hit(key) {
            self.hits = None;
        }
        self.shows.subagents |= session.owner.is_some();
        self.shows.named_only &= session.name.is_some();
        self.shows.here_only &= self.here.has(&session.header.cwd);
        for above in catalog.families().line(key).skip(1) {
            self.folds.remove(&RowKey::Session(above));
        }
        if let Some(ghost) = catalog.families().line(key).last().and_then(|root| catalog.missing_parent_of(root)) {
            self.folds.remove(&RowKey::Ghost(ghost));
        }
        self.folds.remove(&RowKey::Project(project_of(catalog, key)));
        self.selected = Some(RowKey::Session(key));
        self.rebuild(catalog, glyphs);
        true
    }
}

/// The project under which a session stands: that in which its family began.
fn project_of(catalog: &Catalog, key: SessionKey) -> ProjectKey {
    catalog.project_of_family(catalog.families().line(key).last().unwrap_or(key))
}
