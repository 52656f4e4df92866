//! Row construction of the sessions pane, also of search results, and the selection after rows change. Search results are
//! grouped by project if all of them fit on the screen, otherwise listed in result order.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::mem::take;
use std::sync::Arc;

use jiff::Timestamp;

use crate::app::panes::sessions::{HiddenSubagents, RowKey, SessionRow, SessionsPane, Totals, project_of, projects};
use crate::app::widgets::Cursor;
use crate::base::sort;
use crate::catalog::parents::MissingParentKey;
use crate::catalog::search::SessionHit;
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::config::Sort;

/// The maximum width of the tree lines in front of nested forks.
const DEEPEST: usize = 36;

/// A row to be built next.
enum RowStep {
    /// A missing session with its forks.
    MissingParent(MissingParentKey, Vec<SessionKey>),
    /// A session with the tree lines in front of it; for a fork, whether it is the last one.
    Session(SessionKey, String, Option<bool>),
}

impl SessionsPane {
    /// Rebuilds the rows. The selection stays on its session, or moves to the row that takes its place.
    pub(crate) fn rebuild(&mut self, catalog: &Catalog) {
        self.marks.retain(|&key| catalog.has(key));
        let is_gone = |row: &&SessionRow| match row {
            SessionRow::Session { key, .. } => !catalog.has(*key),
            SessionRow::MissingParent(key, _) => catalog.missing_parent(*key).is_none(),
            SessionRow::Project(_) => false,
        };
        self.cursor.at -= self.rows.iter().take(self.cursor.at).filter(is_gone).count();
        if let Some(all) = self.unsearched.take() {
            (self.families, self.projects) = all;
        }
        let listed_for = Some((catalog.version(), self.shows));
        if self.listed_for != listed_for {
            self.take_sessions(catalog);
            self.listed_for = listed_for;
        }
        let shown = self.shown.clone();
        self.rows.clear();
        self.alone.clear();
        self.is_flat = self.shows.sort != Sort::Threaded;
        match (&self.hits, self.is_flat) {
            (Some(_), _) => self.show_hits(catalog, &shown),
            (None, true) => self.flat(catalog, shown.to_vec()),
            (None, false) => {
                self.open_selected(catalog);
                self.push_threads(catalog);
            }
        }
        self.find_selection(catalog);
    }

    /// Updates sessions, families, projects and totals from the catalog, filters applied.
    pub(super) fn take_sessions(&mut self, catalog: &Catalog) {
        self.here.set_worktrees(catalog.worktrees());
        self.here.find(catalog.dirs.iter());
        // A change to the selected session does not hide it until the user changes the filters.
        let is_same = self.listed_for.is_some_and(|(_, shows)| shows == self.shows);
        let focused = self.selected.filter(|_| is_same && self.touched);
        let is_focused = |key| focused == Some(RowKey::Session(key)) && self.shown.contains(&key);
        let is_shown = |&key: &SessionKey| self.is_shown(catalog, key) || is_focused(key);
        let shown: Arc<[SessionKey]> = catalog.keys().filter(is_shown).collect();
        self.group_families(catalog, &shown);
        let hidden: Vec<SessionKey> = catalog.keys().filter(|&key| self.is_hidden(catalog, key)).collect();
        projects::add_hidden(&mut self.projects, catalog, &hidden);
        self.update_folds(catalog, !is_same);
        let of_shown = catalog.sum(&*shown).cost;
        let cost = if hidden.is_empty() { of_shown } else { catalog.sum(shown.iter().chain(&hidden)).cost };
        let of_hidden = HiddenSubagents { sessions: hidden.len(), cost: cost - of_shown };
        self.totals =
            Totals { sessions: shown.len(), projects: self.projects.len(), unread: 0, cost, hidden: of_hidden };
        self.shown = shown;
        self.count_unread(catalog);
    }

    fn is_shown(&self, catalog: &Catalog, key: SessionKey) -> bool {
        (!catalog[key].facts().is_subagent() || self.shows.subagents) && self.passes(catalog, key)
    }

    /// Returns `true` for a hidden subagent session whose parent session is shown.
    fn is_hidden(&self, catalog: &Catalog, key: SessionKey) -> bool {
        catalog[key].facts().is_subagent() && !self.shows.subagents && self.passes(catalog, catalog.started_by(key))
    }

    /// Returns `true` if the options of the list show a session that is not hidden as a subagent.
    pub(crate) fn passes(&self, catalog: &Catalog, key: SessionKey) -> bool {
        let facts = catalog[key].facts();
        (!facts.is_archived() || !self.shows.unarchived_only)
            && (facts.is_named() || !self.shows.named_only)
            && (!self.shows.here_only || self.here.has(catalog.project_dir(key)))
            && (!self.shows.marked_only || self.marks.is_empty() || self.marks.contains(&key))
    }

    /// Computes the families and projects of the given sessions.
    pub(super) fn group_families(&mut self, catalog: &Catalog, shown: &[SessionKey]) {
        self.families = match shown.len() == catalog.len() {
            true => catalog.families().clone(),
            false => catalog.families().of(shown, |key| &catalog[key]).into(),
        };
        self.projects = projects::of(catalog, &self.families);
    }

    /// Builds the rows of sessions below their projects and parents.
    pub(super) fn push_threads(&mut self, catalog: &Catalog) {
        for project in 0..self.projects.len() {
            if self.hits.is_none() && self.projects[project].sessions.len() == 1 && !self.projects[project].is_unlisted
            {
                self.alone.insert(self.rows.len(), project);
                self.push_thread(project, catalog);
                continue;
            }
            self.rows.push(SessionRow::Project(project));
            if self.hits.is_some() || !self.folds.has(RowKey::Project(self.projects[project].key)) {
                self.push_thread(project, catalog);
            }
        }
    }

    /// Builds the rows of a project's families, drawn like pi's threads (0.87.1).
    fn push_thread(&mut self, project: usize, catalog: &Catalog) {
        let mut stack = self.steps(project, catalog);
        while let Some(step) = stack.pop() {
            let (key, lines, last) = match step {
                RowStep::Session(key, lines, last) => (key, lines, last),
                RowStep::MissingParent(key, forks) => {
                    self.rows.push(SessionRow::MissingParent(key, forks.len()));
                    if !self.folds.has(RowKey::MissingParent(key)) {
                        let end = forks.len().saturating_sub(1);
                        let step = |(place, fork)| RowStep::Session(fork, String::new(), Some(place == end));
                        stack.extend(forks.into_iter().enumerate().map(step).rev());
                    }
                    continue;
                }
            };
            let prefix = match last {
                None => String::new(),
                Some(last) => {
                    format!("{lines}{}{} ", if last { &self.glyphs.corner } else { &self.glyphs.tee }, self.glyphs.dash)
                }
            };
            let (below, is_tall) = (self.families.below(key), self.is_tall(key));
            self.rows.push(SessionRow::Session { key, prefix, below, is_tall, period: None });
            if self.hits.is_none() && self.folds.has(RowKey::Session(key)) {
                continue;
            }
            let lines = match last {
                // Deeper chains of forks are not indented further, so that titles stay visible.
                Some(_) if lines.chars().count() >= DEEPEST => lines,
                None => lines,
                Some(true) => lines + "   ",
                Some(false) => format!("{lines}{}  ", self.glyphs.bar),
            };
            let forks = self.families.forks(key);
            for (place, &fork) in forks.iter().enumerate().rev() {
                stack.push(RowStep::Session(fork, lines.clone(), Some(place + 1 == forks.len())));
            }
        }
    }

    /// Returns the families of a project, newest last. Families with the same missing parent are grouped at the newest
    /// one.
    fn steps(&self, project: usize, catalog: &Catalog) -> Vec<RowStep> {
        let roots = &self.projects[project].roots;
        let mut together: HashMap<MissingParentKey, Vec<SessionKey>> = HashMap::new();
        let missing_parent = |root| catalog.missing_parent_of(root).filter(|_| self.hits.is_none());
        for (&root, key) in roots.iter().filter_map(|root| Some((root, missing_parent(*root)?))) {
            together.entry(key).or_default().push(root);
        }
        let step = |&root: &SessionKey| match missing_parent(root) {
            None => Some(RowStep::Session(root, String::new(), None)),
            Some(key) => together.remove(&key).map(|forks| RowStep::MissingParent(key, forks)),
        };
        let mut steps: Vec<RowStep> = roots.iter().filter_map(step).collect();
        steps.reverse();
        steps
    }

    fn flat(&mut self, catalog: &Catalog, mut shown: Vec<SessionKey>) {
        match self.shows.sort {
            Sort::Name => sort::by_cached_key(&mut shown, |&key| catalog[key].uncached_digest().title().to_lowercase()),
            Sort::Size => shown.sort_by_key(|&key| Reverse(catalog[key].facts().bytes())),
            Sort::Cost => shown.sort_by(|&a, &b| catalog.own(b).cost.total_cmp(&catalog.own(a).cost)),
            Sort::Live => {
                catalog.sort_newest_first(&mut shown);
                sort::by_key(&mut shown, |&key| catalog.live_rank(key));
            }
            Sort::Tags => {
                catalog.sort_newest_first(&mut shown);
                let tags = |key: SessionKey| {
                    catalog.marks().tags(&catalog[key].facts().marks_key()).map(String::from).collect::<Vec<_>>()
                };
                // Sessions without tags are last.
                sort::by_cached_key(&mut shown, |&key| (tags(key).is_empty(), tags(key)));
            }
            Sort::Threaded | Sort::Recent => catalog.sort_newest_first(&mut shown),
        }
        let mut last = None;
        let row = |key| {
            let now = self.period(catalog, key);
            let period = if now == last { None } else { now.clone() };
            last = now;
            SessionRow::Session { key, prefix: String::new(), below: 0, is_tall: false, period }
        };
        self.rows = shown.into_iter().map(row).collect();
    }

    /// Returns the period of a session in the sort order `recent`.
    fn period(&self, catalog: &Catalog, key: SessionKey) -> Option<String> {
        let (today, zone) = self.today.as_ref().filter(|_| self.shows.sort == Sort::Recent)?;
        let time = catalog[key].facts().modified().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let Some(time) = time else { return Some("No date".into()) };
        let date = zone.to_datetime(time).date();
        Some(match (*today - date).get_days() {
            0 => "Today".into(),
            1 => "Yesterday".into(),
            2..7 => "This week".into(),
            _ if date.year() == today.year() => date.strftime("%B").to_string(),
            _ => date.strftime("%B %Y").to_string(),
        })
    }

    /// Returns the default selection: the newest session of the project in which pitree was started, with the project's
    /// header at the top. Falls back to the first session, which is more useful than its project, or to the first row
    /// if projects start folded.
    fn first_selection(&self, catalog: &Catalog) -> Cursor {
        let starts_folded = self.starts_folded();
        let is_here_dir = |dir: &str| if starts_folded { self.here.is_project(dir) } else { self.here.has(dir) };
        let here: HashSet<ProjectKey> =
            self.projects.iter().map(|project| project.key).filter(|&key| is_here_dir(catalog.dir(key))).collect();
        let session = |row: usize| self.rows[row].session();
        let is_header = |row: &usize| matches!(self.rows[*row], SessionRow::Project(_));
        let is_here = |row: &usize| match self.rows[*row] {
            SessionRow::Project(at) => here.contains(&self.projects[at].key),
            SessionRow::Session { key, .. } => here.contains(&catalog.project(key)),
            SessionRow::MissingParent(..) => false,
        };
        // A folded project has only its header row. Of two sessions with the same time, the first is selected.
        let time = |row: &usize| (session(*row).map(|key| catalog[key].facts().order_time()), Reverse(*row));
        match (0..self.rows.len()).filter(is_here).max_by_key(time) {
            Some(at) if self.alone.contains_key(&at) => Cursor { at, top: at },
            Some(at) => Cursor { at, top: (0..=at).rev().find(is_header).unwrap_or(at) },
            None if starts_folded => Cursor::default(),
            None => Cursor { at: (0..self.rows.len()).find(|&row| session(row).is_some()).unwrap_or_default(), top: 0 },
        }
    }

    fn find_selection(&mut self, catalog: &Catalog) {
        if !self.touched {
            self.cursor = self.first_selection(catalog);
            return self.note_preselection();
        }
        let Some(selected) = self.selected else { return self.note_selection() };
        // A copy of the session on another machine may be listed now.
        let selected = match selected {
            RowKey::Session(key) => RowKey::Session(catalog.listed_copy(key)),
            RowKey::Project(_) | RowKey::MissingParent(_) => selected,
        };
        let hidden_below = || match selected {
            // The session is hidden by a fold or filter: select its project, or the row now at this position.
            RowKey::Session(key) if catalog.has(key) => self.row_of(RowKey::Project(project_of(catalog, key))),
            _ => None,
        };
        match self.row_of(selected).or_else(hidden_below) {
            Some(row) => self.cursor.follow(row),
            // The last session of a project was removed: the previous row is closer than the next project.
            None => {
                let is_session = |row: usize| self.rows.get(row).and_then(SessionRow::session).is_some();
                let at = self.cursor.at;
                self.cursor.at -= usize::from(at > 0 && !is_session(at) && is_session(at - 1));
            }
        }
        self.note_selection();
    }
}

impl SessionsPane {
    /// Switches to the next result order: grouped by project if all fit on the screen, best first, newest first.
    pub(crate) fn next_order(&mut self) {
        let shows = &mut self.shows;
        (shows.hits_flat, shows.newest_hits_first) = match (self.is_flat, shows.newest_hits_first) {
            (false, _) => (true, false),
            (true, false) => (true, true),
            (true, true) => (false, false),
        };
    }

    /// Builds the rows of search results: grouped by project and family if all of them fit, otherwise in result order.
    pub(super) fn show_hits(&mut self, catalog: &Catalog, shown: &[SessionKey]) {
        let mut ranked: Vec<_> = shown.iter().filter_map(|&key| Some((self.found(key)?.hit.rank(), key))).collect();
        self.hidden_hits = self.hits.as_ref().map_or(0, |hits| hits.len().saturating_sub(ranked.len()));
        if !self.is_flat && !self.shows.hits_flat && ranked.len() < self.room.1 {
            let families = catalog.families();
            let mut context: Vec<SessionKey> = ranked.iter().flat_map(|&(_, hit)| families.line(hit)).collect();
            context.sort_unstable();
            context.dedup();
            let projects: HashSet<_> = context.iter().map(|&key| catalog.project(key)).collect();
            if context.len() + projects.len() <= self.room.1 {
                let all = (take(&mut self.families), take(&mut self.projects));
                self.group_families(catalog, &context);
                for project in &mut self.projects {
                    // Actions on a project apply to its hits only.
                    project.sessions.retain(|key| self.hits.as_ref().is_none_or(|hits| hits.contains_key(key)));
                    project.sum = catalog.sum(&project.sessions);
                }
                self.push_threads(catalog);
                if self.rows.iter().map(SessionRow::lines).sum::<usize>() <= self.room.1 {
                    self.unsearched = Some(all);
                    return;
                }
                self.rows.clear();
                (self.families, self.projects) = all;
            }
        }
        self.is_flat = true;
        if self.shows.newest_hits_first {
            sort::by_key(&mut ranked, |&(_, key)| Reverse(catalog[key].facts().order_time()));
        } else {
            ranked.sort_unstable();
        }
        let row = |(_, key)| SessionRow::Session {
            key,
            prefix: String::new(),
            below: 0,
            is_tall: self.is_tall(key),
            period: None,
        };
        self.rows = ranked.into_iter().map(row).collect();
    }

    /// Returns `true` if the row of a session has a line with the text around its hit.
    fn is_tall(&self, key: SessionKey) -> bool {
        self.found(key).is_some_and(|found| found.snippet.is_some() || found.entries > 0)
    }

    /// Returns the search hit of a session.
    pub fn found(&self, key: SessionKey) -> Option<&SessionHit> {
        self.hits.as_ref()?.get(&key)
    }

    /// Returns `true` if a session matches the search, or if no search is active.
    pub(crate) fn is_hit(&self, key: SessionKey) -> bool {
        self.hits.is_none() || self.found(key).is_some()
    }

    /// Returns the hits of the selected row: those of a project, or of a session and its forks.
    pub(crate) fn focused_hits(&self) -> Vec<SessionHit> {
        let sessions = match self.selected_row() {
            Some(SessionRow::Session { key, .. }) => self.families.family(*key),
            Some(SessionRow::Project(at)) => self.projects[*at].sessions.clone(),
            Some(SessionRow::MissingParent(..)) | None => Vec::new(),
        };
        sessions.into_iter().filter_map(|key| self.found(key).cloned()).collect()
    }

    /// Returns the hit of the selected session.
    pub fn selected_hit(&self) -> Option<&SessionHit> {
        self.found(self.selected_session()?)
    }

    /// Selects the best match, or the newest one if results are sorted by time.
    pub(crate) fn select_first_hit(&mut self) {
        let rank = |row: &SessionRow| Some(self.found(row.session()?)?.hit.rank());
        let hits = self.rows.iter().enumerate().filter_map(|(at, row)| Some((rank(row)?, at)));
        let row = if self.is_flat { None } else { hits.min().map(|(_, row)| row) };
        self.cursor = Cursor { at: row.unwrap_or(0), top: 0 };
        self.note_preselection();
    }
}
