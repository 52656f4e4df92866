//! UI state saved between runs: sort order, folds, pane sizes and queries.
//!
//! The state of a setting is restored only while the setting itself stays the same.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::histories::QueryHistory;
use crate::app::model::Model;
use crate::app::panes::layout::PaneSizes;
use crate::app::panes::sessions::SavedFolds;

/// The saved state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedState {
    /// Sizes of the panes.
    panes: PaneSizes,
    /// The setting and the user's choice.
    sort: Option<(String, String)>,
    tool_runs: Option<(bool, bool)>,
    here_only: bool,
    /// Folds of the sessions pane.
    #[serde(flatten)]
    folds: SavedFolds,
    /// `true` if the user was welcomed.
    welcomed: bool,
    /// Queries, most recent last.
    queries: Vec<String>,
    /// Fields of a newer pitree, preserved.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl SavedState {
    /// Returns `true` if the user was welcomed.
    pub fn is_welcomed(&self) -> bool {
        self.welcomed
    }

    /// Records that the user was welcomed.
    pub fn note_welcome(&mut self) {
        self.welcomed = true;
    }

    /// Returns the current state of the browser.
    pub fn of(model: &Model, before: &Self) -> Self {
        let config = &model.settings.config;
        let sort = (config.sort.name().to_owned(), model.sessions.shows.sort.name().to_owned());
        Self {
            panes: model.pane_sizes,
            sort: Some(sort).filter(|(setting, choice)| setting != choice),
            tool_runs: Some((config.tool_runs, model.tree.collapses_runs))
                .filter(|(setting, choice)| setting != choice),
            // A command-line option applies to this run only.
            here_only: if model.settings.here_only { before.here_only } else { model.sessions.shows.here_only },
            folds: model.sessions.saved_folds(&model.catalog),
            welcomed: before.welcomed,
            queries: model.queries.all.clone(),
            others: before.others.clone(),
        }
    }

    /// Adopts the changes between `before` and `left`, the state at the start and the end of a browser. Other browsers
    /// may have saved in between.
    pub fn merge(&mut self, before: &Self, left: &Self) {
        fn take<T: Clone + PartialEq>(current: &mut T, before: &T, left: &T) {
            if left != before {
                current.clone_from(left);
            }
        }
        take(&mut self.panes, &before.panes, &left.panes);
        take(&mut self.sort, &before.sort, &left.sort);
        take(&mut self.tool_runs, &before.tool_runs, &left.tool_runs);
        take(&mut self.here_only, &before.here_only, &left.here_only);
        let (folds, before_folds, left_folds) = (&mut self.folds, &before.folds, &left.folds);
        take(&mut folds.folded_projects, &before_folds.folded_projects, &left_folds.folded_projects);
        take(&mut folds.unfolded_projects, &before_folds.unfolded_projects, &left_folds.unfolded_projects);
        take(&mut folds.folded_sessions, &before_folds.folded_sessions, &left_folds.folded_sessions);
        // The queries of this browser are at the end.
        let mut earlier = before.queries.iter();
        let asked = left.queries.iter().skip_while(|query| earlier.any(|other| other == *query));
        let mut queries = QueryHistory::new(&self.queries);
        asked.for_each(|query| queries.note(query));
        self.queries = queries.all;
    }

    /// Restores the state.
    pub fn restore(&self, model: &mut Model) {
        let config = &model.settings.config;
        model.pane_sizes = self.panes;
        model.is_welcomed |= self.welcomed;
        if let Some((_, choice)) = self.sort.as_ref().filter(|(setting, _)| setting == config.sort.name()) {
            model.sessions.shows.sort = choice.parse().unwrap_or(config.sort);
        }
        if let Some((_, choice)) = self.tool_runs.filter(|(setting, _)| *setting == config.tool_runs) {
            model.tree.collapses_runs = choice;
        }
        model.sessions.shows.here_only |= self.here_only;
        model.queries = QueryHistory::new(&self.queries);
        model.sessions.fold_when_there(self.folds.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(here_only: bool, queries: &[&str]) -> SavedState {
        let queries = queries.iter().map(|query| (*query).into()).collect();
        SavedState { here_only, queries, ..SavedState::default() }
    }

    #[test]
    fn merging_keeps_the_changes_of_both_browsers() {
        let before = remembered(false, &["a", "b", "c"]);
        let mut merged = remembered(true, &["a", "b", "c", "x"]);
        merged.folds.folded_projects = ["/p".into()].into();
        let mut left = remembered(false, &["a", "c", "b", "y"]);
        left.sort = Some(("recent".into(), "name".into()));
        merged.merge(&before, &left);
        assert_eq!(merged.queries, ["a", "c", "x", "b", "y"]);
        assert!(merged.here_only && merged.folds.folded_projects.len() == 1 && merged.sort.is_some());
        let same = merged.clone();
        merged.merge(&left, &left);
        assert_eq!(merged, same);
    }
}
