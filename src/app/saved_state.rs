//! How the browser was left, so that the next one begins so: the order of the sessions, what is folded, the sizes of panes,
//! and what was searched. What a setting decides is only remembered as long as the setting stays the same.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::model::Model;
use crate::app::panes::layout::PaneSizes;
use crate::app::query_history::QueryHistory;
use crate::config::Config;

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedState {
    /// How the panes share the screen.
    panes: PaneSizes,
    /// The setting and the choice.
    sort: Option<(String, String)>,
    tool_runs: Option<(bool, bool)>,
    here_only: bool,
    /// The working directories of projects that are folded,
    folded_projects: Vec<String>,
    /// and the files of sessions whose forks are.
    folded_sessions: Vec<String>,
    /// What was searched, the last query last.
    queries: Vec<String>,
    /// What a newer pitree keeps here.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl SavedState {
    /// How the browser is left.
    pub fn of(model: &Model, config: &Config, before: &Self) -> Self {
        let (folded_projects, folded_sessions) = model.sessions.folded(&model.catalog);
        let sort = (config.sort.name().to_owned(), model.sessions.shows.sort.name().to_owned());
        Self {
            panes: model.sharing,
            sort: Some(sort).filter(|(setting, choice)| setting != choice),
            tool_runs: Some((config.tool_runs, model.tree.tells_runs)).filter(|(setting, choice)| setting != choice),
            // What the command line says is for once.
            here_only: if model.setting.here_only { before.here_only } else { model.sessions.shows.here_only },
            folded_projects,
            folded_sessions,
            queries: model.queries.all().to_vec(),
            others: before.others.clone(),
        }
    }

    /// Takes over the changes of a browser that found `before` and was left as `left`. Other browsers may have written
    /// in between.
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
        take(&mut self.folded_projects, &before.folded_projects, &left.folded_projects);
        take(&mut self.folded_sessions, &before.folded_sessions, &left.folded_sessions);
        // Queries that were asked in this browser are at the end.
        let mut earlier = before.queries.iter();
        let asked = left.queries.iter().skip_while(|query| earlier.any(|other| other == *query));
        let mut queries = QueryHistory::new(&self.queries);
        asked.for_each(|query| queries.note(query));
        self.queries = queries.all().to_vec();
    }

    /// Leaves a browser so.
    pub fn restore(&self, model: &mut Model, config: &Config) {
        model.sharing = self.panes;
        if let Some((_, choice)) = self.sort.as_ref().filter(|(setting, _)| setting == config.sort.name()) {
            model.sessions.shows.sort = choice.parse().unwrap_or(config.sort);
        }
        if let Some((_, choice)) = self.tool_runs.filter(|(setting, _)| *setting == config.tool_runs) {
            model.tree.tells_runs = choice;
        }
        model.sessions.shows.here_only |= self.here_only;
        model.queries = QueryHistory::new(&self.queries);
        model.sessions.fold_when_there(&self.folded_projects, &self.folded_sessions);
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
    fn two_browsers_keep_what_both_changed() {
        let before = remembered(false, &["a", "b", "c"]);
        let mut merged = remembered(true, &["a", "b", "c", "x"]);
        merged.folded_projects = vec!["/p".into()];
        let mut left = remembered(false, &["a", "c", "b", "y"]);
        left.sort = Some(("recent".into(), "name".into()));
        merged.merge(&before, &left);
        assert_eq!(merged.queries, ["a", "c", "x", "b", "y"]);
        assert!(merged.here_only && merged.folded_projects.len() == 1 && merged.sort.is_some());
        let same = merged.clone();
        merged.merge(&left, &left);
        assert_eq!(merged, same);
    }
}
