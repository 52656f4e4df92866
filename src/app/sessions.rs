//! The sessions pane: projects, families and sessions as rows; sorting, folding, and what is hidden.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::app::cursor::Cursor;
use crate::app::projects;
use crate::app::projects::Project;
use crate::app::search::Answer;
use crate::base::text::Glyphs;
use crate::config::Sort;
use crate::disk::scan::Unreadable;
use crate::session::digest::summary::{Owner, Shared, Summary};
use crate::session::family::Families;

/// Columns of lines in front of a fork of a fork of a fork…
const DEEPEST: usize = 36;

/// What a row is known by, whatever its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowKey {
    /// A project, by its working directory.
    Project(String),
    /// A session, by its file.
    Session(PathBuf),
}

/// A row of the pane.
#[derive(Clone, Debug)]
pub enum Row {
    /// A project, by its place among the projects.
    Project(usize),
    /// A session.
    Session {
        /// Its place among all sessions.
        at: usize,
        /// The lines in front of it.
        prefix: String,
        /// Forks (and sub-agents) that a fold hides or could hide.
        below: usize,
    },
}

/// Numbers over the sessions that are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Sessions.
    pub sessions: usize,
    /// Projects.
    pub projects: usize,
    /// US dollars.
    pub cost: f64,
    /// Sessions in which a pi is likely at work.
    pub live: usize,
}

/// How far the reading of all sessions is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Files read.
    pub done: usize,
    /// Files to read; unknown while they are looked for.
    pub total: Option<usize>,
    /// Whether all is read.
    pub finished: bool,
}

/// The state of the pane.
#[derive(Debug, Default)]
pub struct Pane {
    /// All sessions, in the order in which they were read.
    pub all: Vec<Shared>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Working directories that are gone.
    pub gone: HashSet<String>,
    /// Directories in which a pi runs; `None` if the system does not tell.
    pub live_dirs: Option<HashSet<PathBuf>>,
    /// How far reading is.
    pub progress: Progress,
    /// How the rows are ordered.
    pub sort: Sort,
    /// Whether sessions without a name are hidden.
    pub named_only: bool,
    /// Whether rows show their file.
    pub show_paths: bool,
    /// Whether sessions of sub-agents are shown.
    pub show_subagents: bool,
    /// The rows.
    pub rows: Vec<Row>,
    /// The selected row.
    pub cursor: Cursor,
    /// The files of the marked sessions.
    pub marks: HashSet<PathBuf>,
    /// Whether somebody pressed a key: from then on the selection stays on its session, whatever is read.
    pub touched: bool,
    /// The projects, the newest first.
    pub projects: Vec<Project>,
    /// Numbers over the sessions that are shown.
    pub totals: Totals,
    pub(super) live: HashSet<usize>,
    /// Of whom the sessions were whose files are gone: undo may bring them back.
    owners: HashMap<PathBuf, Owner>,
    /// What a search found, while there is one: only that is shown.
    pub answer: Option<Answer>,
    /// Whether what was found is ordered by time rather than by how well it matches.
    pub newest_first: bool,
    /// Whether what was found stands without its projects even where there is room for them.
    pub(super) hits_flat: bool,
    /// Whether the rows stand without their projects and families.
    pub is_flat: bool,
    /// As many rows are seen at once.
    pub room: usize,
    /// Whether sessions came or went since a search took them.
    pub(super) is_changed: bool,
    /// Whether it is known whose parents are missing.
    knows_missing: bool,
    /// Whether the families are those of all sessions.
    pub(super) is_tied: bool,
    /// Sessions whose parent is not among all.
    missing: HashSet<usize>,
    /// Folded rows.
    folds: HashSet<RowKey>,
    pub(super) families: Families,
    selected: Option<RowKey>,
}

impl Pane {
    /// An empty list, ordered by `sort`.
    pub fn new(sort: Sort) -> Self {
        Self { sort, ..Self::default() }
    }

    /// Takes sessions that were read. A file that is there already is replaced.
    pub fn add(&mut self, sessions: Vec<Shared>) {
        self.note_change();
        let mut places: HashMap<PathBuf, usize> =
            self.all.iter().enumerate().map(|(at, session)| (session.path.clone(), at)).collect();
        for session in sessions {
            let at = *places.entry(session.path.clone()).or_insert(self.all.len());
            match self.all.get_mut(at) {
                Some(known) => *known = session,
                None => self.all.push(session),
            }
        }
    }

    /// Takes sessions that were read again one by one: of whom they are is known from before.
    pub fn add_again(&mut self, mut sessions: Vec<Summary>) {
        for session in &mut sessions {
            let known = self.all.iter().find(|known| known.path == session.path);
            session.owner = known.map(|known| known.owner.clone()).unwrap_or_else(|| self.owners.remove(&session.path));
        }
        self.add(sessions.into_iter().map(Shared::new).collect());
    }

    /// Forgets the sessions whose file is not among those read.
    pub fn keep_only(&mut self, read: &HashSet<PathBuf>) {
        self.note_change();
        self.all.retain(|session| read.contains(&session.path));
        self.marks.retain(|path| read.contains(path));
    }

    /// Forgets sessions whose files are gone. If the selected one is among them, what stands in its place is selected.
    pub fn remove(&mut self, gone: &[PathBuf]) {
        self.note_change();
        let is_gone = |session: &Shared| gone.contains(&session.path);
        let goes = |row: &Row| matches!(row, Row::Session { at, .. } if is_gone(&self.all[*at]));
        self.cursor.at -= self.rows.iter().take(self.cursor.at).filter(|row| goes(row)).count();
        let owned = self.all.iter().filter(|session| is_gone(session));
        self.owners.extend(owned.filter_map(|session| Some((session.path.clone(), session.owner.clone()?))));
        self.all.retain(|session| !gone.contains(&session.path));
        self.marks.retain(|path| !gone.contains(path));
    }

    /// Makes the rows anew; the selection stays on the same session.
    pub fn rebuild(&mut self, glyphs: &Glyphs) {
        let shown: Vec<usize> = (0..self.all.len()).filter(|&at| self.is_shown(at)).collect();
        self.rows.clear();
        self.is_flat = self.sort != Sort::Threaded;
        if self.answer.is_none() || self.is_changed {
            self.tie(&shown);
            let cost = |sum, &at: &usize| sum + self.all[at].cost;
            let (sessions, projects) = (shown.len(), self.projects.len());
            self.totals = Totals { sessions, projects, cost: shown.iter().fold(0.0, cost), ..self.totals };
        }
        match (&self.answer, self.is_flat) {
            (Some(_), _) => self.show_hits(&shown, glyphs),
            (None, true) => self.flat(&shown),
            (None, false) => self.threads(&shown, glyphs),
        }
        // Families speak of places among the shown sessions; from here on all speak of places among all.
        if !self.is_tied {
            self.families = Families::new(&self.all);
            self.is_tied = true;
        }
        if !std::mem::replace(&mut self.knows_missing, true) {
            let known: HashSet<&PathBuf> = self.all.iter().map(|session| session.real_path()).collect();
            let is_missing = |at: &usize| self.all[*at].parent_path.as_ref().is_some_and(|path| !known.contains(path));
            self.missing = (0..self.all.len()).filter(is_missing).collect();
        }
        self.find_selection();
    }

    /// The sessions are others than before: what is known of all of them together is not known any more.
    fn note_change(&mut self) {
        (self.is_changed, self.is_tied, self.knows_missing) = (true, false, false);
    }

    /// The families and projects of some sessions.
    pub(super) fn tie(&mut self, shown: &[usize]) {
        let sessions: Vec<Shared> = shown.iter().map(|&at| self.all[at].clone()).collect();
        self.families = Families::new(&sessions);
        self.is_tied = sessions.len() == self.all.len();
        self.projects = projects::of(&sessions, &self.families);
        for project in &mut self.projects {
            project.sessions.iter_mut().for_each(|at| *at = shown[*at]);
        }
    }

    /// Rows of sessions under their projects and parents, which are known.
    pub(super) fn threads(&mut self, shown: &[usize], glyphs: &Glyphs) {
        for project in 0..self.projects.len() {
            self.rows.push(Row::Project(project));
            if self.answer.is_some() || !self.folds.contains(&RowKey::Project(self.projects[project].cwd.clone())) {
                self.thread(project, shown, glyphs);
            }
        }
    }

    fn is_shown(&self, at: usize) -> bool {
        let session = &self.all[at];
        (session.owner.is_none() || self.show_subagents) && (session.name.is_some() || !self.named_only)
    }

    /// The rows of a project's families, drawn as pi draws threads (0.87.1).
    fn thread(&mut self, project: usize, shown: &[usize], glyphs: &Glyphs) {
        let mut stack: Vec<(usize, String, Option<bool>)> =
            self.projects[project].roots.iter().rev().map(|&root| (root, String::new(), None)).collect();
        while let Some((at, lines, last)) = stack.pop() {
            let prefix = match last {
                None => String::new(),
                Some(last) => {
                    format!("{lines}{}{} ", if last { glyphs.corner } else { glyphs.tee }, glyphs.dash)
                }
            };
            self.rows.push(Row::Session { at: shown[at], prefix, below: self.families.below[at] });
            if self.answer.is_none() && self.folds.contains(&RowKey::Session(self.all[shown[at]].path.clone())) {
                continue;
            }
            let lines = match last {
                // Of longer chains of forks only so much is drawn: the titles must be seen as well.
                Some(_) if lines.chars().count() >= DEEPEST => lines,
                None => lines,
                Some(true) => lines + "   ",
                Some(false) => format!("{lines}{}  ", glyphs.bar),
            };
            let forks = &self.families.forks[at];
            for (place, &fork) in forks.iter().enumerate().rev() {
                stack.push((fork, lines.clone(), Some(place + 1 == forks.len())));
            }
        }
    }

    fn flat(&mut self, shown: &[usize]) {
        let mut order = shown.to_vec();
        let session = |at: &usize| &self.all[*at];
        match self.sort {
            Sort::Name => order.sort_by_cached_key(|at| session(at).title().to_lowercase()),
            Sort::Size => order.sort_by_key(|at| std::cmp::Reverse(session(at).bytes)),
            Sort::Cost => order.sort_by(|a, b| session(b).cost.total_cmp(&session(a).cost)),
            Sort::Threaded | Sort::Recent => order.sort_by_key(|at| std::cmp::Reverse(session(at).order_time())),
        }
        self.rows = order.into_iter().map(|at| Row::Session { at, prefix: String::new(), below: 0 }).collect();
    }

    fn find_selection(&mut self) {
        if !self.touched {
            // Until somebody chooses, the newest session is the chosen one; it is more telling than its project.
            let first = usize::from(self.rows.len() > 1 && !self.is_flat);
            self.cursor = Cursor { at: first, top: 0 };
            return self.note_selection();
        }
        let found = self.selected.as_ref().and_then(|key| (0..self.rows.len()).find(|&row| self.is(row, key)));
        match (found, &self.selected) {
            (Some(row), _) => self.cursor.follow(row),
            (None, None) => {}
            (None, Some(_)) => {
                // What hides the selection was folded or filtered: its project, or whatever stands there now.
                let project = self.selected_cwd().map(RowKey::Project);
                let row = project.and_then(|key| (0..self.rows.len()).find(|&row| self.is(row, &key)));
                match row {
                    Some(row) => self.cursor.follow(row),
                    // The last session of a project is gone: the one before it is nearer than the next project.
                    None => {
                        let is_session = |row: usize| matches!(self.rows.get(row), Some(Row::Session { .. }));
                        let at = self.cursor.at;
                        self.cursor.at -= usize::from(at > 0 && !is_session(at) && is_session(at - 1));
                    }
                }
            }
        }
        self.note_selection();
    }

    fn selected_cwd(&self) -> Option<String> {
        let Some(RowKey::Session(path)) = &self.selected else { return None };
        let at = self.all.iter().position(|session| &session.path == path)?;
        let root = std::iter::successors(Some(at), |&at| self.families.parents[at]).last()?;
        Some(self.all[root].header.cwd.clone())
    }

    fn is(&self, row: usize, key: &RowKey) -> bool {
        match (&self.rows[row], key) {
            (Row::Project(at), RowKey::Project(cwd)) => &self.projects[*at].cwd == cwd,
            (Row::Session { at, .. }, RowKey::Session(path)) => &self.all[*at].path == path,
            _ => false,
        }
    }

    fn key(&self, row: usize) -> Option<RowKey> {
        Some(match self.rows.get(row)? {
            Row::Project(at) => RowKey::Project(self.projects[*at].cwd.clone()),
            Row::Session { at, .. } => RowKey::Session(self.all[*at].path.clone()),
        })
    }

    /// Remembers the selected row, so that it is found again when the rows change.
    pub fn note_selection(&mut self) {
        self.cursor.at = self.cursor.at.min(self.rows.len().saturating_sub(1));
        if let Some(key) = self.key(self.cursor.at) {
            self.selected = Some(key);
        }
    }

    /// The selected row.
    pub fn selected_row(&self) -> Option<&Row> {
        self.rows.get(self.cursor.at)
    }

    /// The selected session, if the row is one.
    pub fn selected_session(&self) -> Option<&Shared> {
        match self.selected_row()? {
            Row::Session { at, .. } => self.all.get(*at),
            Row::Project(_) => None,
        }
    }

    /// The selected project, if the row is one.
    pub fn selected_project(&self) -> Option<&Project> {
        match self.selected_row()? {
            Row::Project(at) => self.projects.get(*at),
            Row::Session { .. } => None,
        }
    }

    /// Whether a row is folded.
    pub fn is_folded(&self, row: usize) -> bool {
        self.answer.is_none() && self.key(row).is_some_and(|key| self.folds.contains(&key))
    }

    fn can_fold(&self, row: usize) -> bool {
        match self.rows.get(row).filter(|_| self.answer.is_none()) {
            Some(Row::Project(_)) => true,
            Some(Row::Session { below, .. }) => *below > 0,
            None => false,
        }
    }

    /// Folds the selected row, or goes to its parent. Returns whether anything changed.
    pub fn fold(&mut self, glyphs: &Glyphs) -> bool {
        let row = self.cursor.at;
        if self.can_fold(row) && !self.is_folded(row) {
            self.folds.extend(self.key(row));
            self.rebuild(glyphs);
            return true;
        }
        let Some(Row::Session { prefix, .. }) = self.rows.get(row) else { return false };
        // The parent is the nearest row above that stands further to the left; a root's is its project.
        let depth = prefix.chars().count();
        let is_parent = |row: &usize| match &self.rows[*row] {
            Row::Project(_) => true,
            Row::Session { prefix, .. } => prefix.chars().count() < depth,
        };
        let parent = (0..row).rev().find(is_parent);
        if let Some(parent) = parent.filter(|_| !self.is_flat) {
            self.cursor.at = parent;
            return true;
        }
        false
    }

    /// Unfolds the selected row. Returns whether anything changed.
    pub fn unfold(&mut self, glyphs: &Glyphs) -> bool {
        let Some(key) = self.key(self.cursor.at) else { return false };
        let was_folded = self.folds.remove(&key);
        if was_folded {
            self.rebuild(glyphs);
        }
        was_folded
    }

    /// Folds the selected project, or unfolds it.
    pub fn toggle(&mut self, glyphs: &Glyphs) {
        if !self.unfold(glyphs) {
            self.fold(glyphs);
        }
    }

    /// Folds all projects and families, or unfolds all.
    pub fn fold_all(&mut self, fold: bool, glyphs: &Glyphs) {
        self.folds.clear();
        if fold {
            self.rebuild(glyphs); // so that every row is there to be folded
            self.folds =
                (0..self.rows.len()).filter(|&row| self.can_fold(row)).filter_map(|row| self.key(row)).collect();
        }
        self.rebuild(glyphs);
    }

    /// Selects a session wherever it is: shows and unfolds what hides it. Returns whether there is such a session.
    pub fn select(&mut self, path: &Path, glyphs: &Glyphs) -> bool {
        let Some(at) = self.all.iter().position(|session| session.path == path) else { return false };
        if !self.is_hit(at) {
            self.answer = None;
        }
        self.show_subagents |= self.all[at].owner.is_some();
        self.named_only &= self.all[at].name.is_some();
        for above in std::iter::successors(self.families.parents[at], |&at| self.families.parents[at]) {
            self.folds.remove(&RowKey::Session(self.all[above].path.clone()));
        }
        self.selected = Some(RowKey::Session(path.to_path_buf()));
        if let Some(cwd) = self.selected_cwd() {
            self.folds.remove(&RowKey::Project(cwd));
        }
        self.rebuild(glyphs);
        true
    }

    /// The files that were forked from a session.
    pub fn forks_of(&self, path: &Path) -> Vec<Shared> {
        let Some(at) = self.all.iter().position(|session| session.path == path) else { return Vec::new() };
        let Some(forks) = self.families.forks.get(at) else { return Vec::new() };
        forks.iter().map(|&fork| self.all[fork].clone()).filter(|fork| fork.owner.is_none()).collect()
    }

    /// The sessions right below one: forks and sub-agents, also those that are not shown.
    pub fn children(&self, at: usize) -> &[usize] {
        self.families.forks.get(at).map_or(&[], Vec::as_slice)
    }

    /// A session and all below it.
    pub fn family(&self, at: usize) -> Vec<usize> {
        self.families.family(at)
    }

    /// The session that one was forked from.
    pub fn parent_of(&self, path: &Path) -> Option<&Shared> {
        let at = self.all.iter().position(|session| session.path == path)?;
        self.all.get((*self.families.parents.get(at)?)?)
    }

    /// Whether a file is among the sessions.
    pub fn has(&self, path: Option<&Path>) -> bool {
        self.all.iter().any(|session| Some(session.real_path().as_path()) == path)
    }

    /// How many forks a session has.
    pub fn fork_count(&self, at: usize) -> usize {
        self.families
            .forks
            .get(at)
            .map_or(0, |forks| forks.iter().filter(|&&fork| self.all[fork].owner.is_none()).count())
    }

    /// Whether the file that a session was forked from is not there.
    pub fn is_parent_missing(&self, at: usize) -> bool {
        self.progress.finished && self.missing.contains(&at)
    }
}
