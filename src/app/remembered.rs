//! How the browser was left, so that the next one begins so: the order of the sessions, what is folded, the sizes of panes,
//! and what was searched. What a setting decides is only remembered as long as the setting stays the same.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::model::Model;
use crate::app::panes::layout::Sharing;
use crate::app::queries::Queries;
use crate::config::Config;

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// How the panes share the screen.
    panes: Sharing,
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

impl Remembered {
    /// How the browser is left.
    pub fn of(model: &Model, config: &Config, before: &Self) -> Self {
        let (folded_projects, folded_sessions) = model.sessions.folded(&model.library);
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
        model.queries = Queries::new(&self.queries);
        model.sessions.fold_when_there(&self.folded_projects, &self.folded_sessions);
    }
}
