//! Folds of the rows. If there are many projects, they start folded.

use std::mem::take;
use std::path::Path;

use crate::app::panes::sessions::{Folds, RowKey, SavedFolds, SessionRow, SessionsPane, project_of};
use crate::base::text::width;
use crate::catalog::{Catalog, ProjectKey};

/// The maximum number of projects that start unfolded: a few screens of headers.
const MAX_UNFOLDED: usize = 50;

/// The maximum number of saved folds of each kind.
const MAX_SAVED: usize = 5_000;

impl Folds {
    /// Returns `true` if a row is folded.
    pub(super) fn has(&self, key: RowKey) -> bool {
        let starts_folded =
            |project| self.starts_folded && !self.unfolded.contains(&project) && !self.opened.contains(&project);
        self.folded.contains(&key) || matches!(key, RowKey::Project(project) if starts_folded(project))
    }

    fn fold(&mut self, key: RowKey) {
        self.folded.insert(key);
        if let RowKey::Project(project) = key {
            self.unfolded.remove(&project);
        }
    }

    fn unfold(&mut self, key: RowKey) {
        self.folded.remove(&key);
        if let (true, RowKey::Project(project)) = (self.starts_folded, key) {
            self.unfolded.insert(project);
        }
    }

    /// Unfolds a row on the way to a selection. A project that starts folded is unfolded only for this run.
    pub(super) fn open(&mut self, key: RowKey) {
        self.folded.remove(&key);
        if let RowKey::Project(project) = key {
            self.opened.insert(project);
        }
    }
}

impl SessionsPane {
    /// Returns `true` if there are so many projects that they start folded.
    pub(crate) fn starts_folded(&self) -> bool {
        self.folds.starts_folded
    }

    /// Returns `true` if a row is folded.
    pub fn is_folded(&self, row: usize) -> bool {
        self.hits.is_none() && self.key(row).is_some_and(|key| self.folds.has(key))
    }

    /// Returns `true` if the fold symbol of a row is at a column.
    pub(crate) fn is_fold_symbol(&self, row: usize, column: usize) -> bool {
        let start = match self.rows.get(row) {
            Some(SessionRow::Session { prefix, .. }) => width(prefix) + if self.is_flat { 0 } else { 2 },
            Some(SessionRow::MissingParent(..)) => 2,
            Some(SessionRow::Project(_)) | None => 0,
        };
        self.can_fold(row) && (start..start + 2).contains(&column)
    }

    /// Returns `true` if a row can be folded or is folded.
    pub(crate) fn can_fold(&self, row: usize) -> bool {
        match self.rows.get(row).filter(|_| self.hits.is_none()) {
            Some(SessionRow::Project(_) | SessionRow::MissingParent(..)) => true,
            Some(SessionRow::Session { below, .. }) => *below > 0,
            None => false,
        }
    }

    /// Folds the selected row or moves to its parent. Returns `true` if anything changed.
    pub fn fold(&mut self, catalog: &Catalog) -> bool {
        let row = self.cursor.at;
        if let Some(key) = self.key(row).filter(|_| self.can_fold(row) && !self.is_folded(row)) {
            self.folds.fold(key);
            self.rebuild(catalog);
            return true;
        }
        let depth = match self.rows.get(row) {
            Some(SessionRow::Session { prefix, .. }) => prefix.chars().count(),
            Some(SessionRow::MissingParent(..)) => 0,
            Some(SessionRow::Project(_)) | None => return false,
        };
        if self.alone.contains_key(&row) {
            return false;
        }
        // The parent is the nearest less indented row above; the parent of a root is its project.
        let is_parent = |row: &usize| match &self.rows[*row] {
            SessionRow::Project(_) => true,
            SessionRow::MissingParent(..) => depth > 0,
            SessionRow::Session { prefix, .. } => prefix.chars().count() < depth,
        };
        let parent = (0..row).rev().find(is_parent);
        if let Some(parent) = parent.filter(|_| !self.is_flat) {
            self.cursor.at = parent;
            return true;
        }
        false
    }

    /// Unfolds the selected row. Returns `true` if it was folded.
    pub fn unfold(&mut self, catalog: &Catalog) -> bool {
        let key = self.key(self.cursor.at).filter(|_| self.is_folded(self.cursor.at));
        if let Some(key) = key {
            self.folds.unfold(key);
            self.rebuild(catalog);
        }
        key.is_some()
    }

    /// Folds or unfolds the selected project.
    pub(crate) fn toggle(&mut self, catalog: &Catalog) {
        if !self.unfold(catalog) {
            self.fold(catalog);
        }
    }

    /// Folds or unfolds all projects and families.
    pub(crate) fn fold_all(&mut self, fold: bool, catalog: &Catalog) {
        self.folds.folded.clear();
        if self.folds.starts_folded {
            self.folds.unfolded.extend(self.projects.iter().map(|project| project.key));
        }
        self.rebuild(catalog);
        if fold {
            let rows = (0..self.rows.len()).filter(|&row| self.can_fold(row));
            self.folds.folded = rows.filter_map(|row| self.key(row)).collect();
            self.folds.unfolded.clear();
            self.rebuild(catalog);
        }
    }

    /// Updates the folds after the sessions have changed: applies saved folds, and folds projects if there are many.
    pub(super) fn update_folds(&mut self, catalog: &Catalog, is_filter_changed: bool) {
        self.apply_saved_folds(catalog);
        let here = self.projects.iter().filter(|project| self.here.is_project(&project.cwd));
        self.folds.opened.extend(here.map(|project| project.key));
        // A new project does not fold the others while the user works.
        if is_filter_changed || !catalog.progress.finished {
            self.folds.starts_folded = self.projects.len() > MAX_UNFOLDED;
        }
    }

    /// Unfolds the project of the selected session unless the user folded it: the session may have been selected in a
    /// search or in another order.
    pub(super) fn open_selected(&mut self, catalog: &Catalog) {
        if let (true, Some(RowKey::Session(key))) = (self.touched, self.selected)
            && catalog.has(key)
        {
            self.folds.opened.insert(project_of(catalog, key));
        }
    }

    /// Folds and unfolds projects by directory and sessions by file once they are loaded.
    pub(crate) fn fold_when_there(&mut self, saved: SavedFolds) {
        self.folds.awaited = saved;
        self.listed_for = None; // also those that are already loaded
    }

    /// Applies saved folds to the sessions loaded so far.
    fn apply_saved_folds(&mut self, catalog: &Catalog) {
        let Folds { folded, unfolded, awaited, .. } = &mut self.folds;
        if *awaited == SavedFolds::default() {
            return;
        }
        for project in &self.projects {
            if awaited.folded_projects.remove(&*project.cwd) {
                folded.insert(RowKey::Project(project.key));
            }
            if awaited.unfolded_projects.remove(&*project.cwd) {
                unfolded.insert(project.key);
            }
        }
        awaited.folded_sessions.retain(|path| {
            let key = catalog.key_of(Path::new(path)).filter(|&key| catalog.has(key));
            folded.extend(key.map(RowKey::Session));
            key.is_none()
        });
    }

    /// Returns the folds to save, including those of projects and sessions that are not loaded yet.
    pub(crate) fn saved_folds(&self, catalog: &Catalog) -> SavedFolds {
        let Folds { folded, unfolded, awaited, .. } = &self.folds;
        let mut saved = awaited.clone();
        let dir = |&project: &ProjectKey| catalog.dir(project).to_string();
        saved.unfolded_projects.extend(unfolded.iter().map(dir));
        for fold in folded {
            match fold {
                RowKey::Project(project) => drop(saved.folded_projects.insert(dir(project))),
                RowKey::Session(key) => {
                    let path = catalog.get(*key).map(|session| session.file_path());
                    saved.folded_sessions.extend(path.and_then(|path| path.into_os_string().into_string().ok()));
                }
                RowKey::MissingParent(_) => {}
            }
        }
        for names in [&mut saved.folded_projects, &mut saved.unfolded_projects, &mut saved.folded_sessions] {
            *names = take(names).into_iter().take(MAX_SAVED).collect();
        }
        saved
    }
}
