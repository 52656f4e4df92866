//! Folded rows as persistent names: directories and file paths.

use crate::app::panes::sessions::{RowKey, SessionsPane};
use crate::catalog::{Catalog, SessionKey};

/// The maximum number of saved folds.
const MOST: usize = 5_000;

impl SessionsPane {
    /// Returns the directories of folded projects and the files of folded sessions, including those not loaded yet.
    pub(crate) fn folded(&self, catalog: &Catalog) -> (Vec<String>, Vec<String>) {
        let mut projects: Vec<String> = self.to_fold.0.iter().cloned().collect();
        let is_folded = |key| self.folds.contains(&RowKey::Project(key));
        projects.extend(self.projects.iter().filter(|one| is_folded(one.key)).map(|one| one.cwd.to_string()));
        let mut sessions: Vec<String> = self.to_fold.1.iter().cloned().collect();
        sessions.extend(self.folds.iter().filter_map(|fold| match fold {
            RowKey::Session(key) => Some(catalog.get(*key)?.path.to_str()?.to_owned()),
            RowKey::Project(_) | RowKey::MissingParent(_) => None,
        }));
        for names in [&mut projects, &mut sessions] {
            names.sort_unstable();
            names.truncate(MOST);
        }
        (projects, sessions)
    }

    /// Folds projects by directory and sessions by file once they are loaded.
    pub(crate) fn fold_when_there(&mut self, projects: &[String], sessions: &[String]) {
        self.to_fold = (projects.iter().cloned().collect(), sessions.iter().cloned().collect());
        self.as_of = None; // what is there already is folded as well
    }

    /// Applies saved folds to the sessions loaded so far.
    pub(super) fn fold_awaited(&mut self, catalog: &Catalog, shown: &[SessionKey]) {
        let (projects, sessions) = &mut self.to_fold;
        if projects.is_empty() && sessions.is_empty() {
            return;
        }
        for project in &self.projects {
            if projects.remove(&*project.cwd) {
                self.folds.insert(RowKey::Project(project.key));
            }
        }
        for &key in shown {
            if catalog[key].path.to_str().is_some_and(|path| sessions.remove(path)) {
                self.folds.insert(RowKey::Session(key));
            }
        }
    }
}
