//! Projects: the sessions of one working directory.

use std::collections::HashMap;

use crate::session::digest::summary::Shared;
use crate::session::family::Families;

/// Sessions with the same working directory, and the families that began there.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The working directory; empty if the sessions name none.
    pub cwd: String,
    /// Its sessions' places among all sessions.
    pub sessions: Vec<usize>,
    /// Its families' roots, the newest first.
    pub(super) roots: Vec<usize>,
    /// The newest message, in milliseconds since 1970.
    pub latest: i64,
    /// US dollars.
    pub cost: f64,
}

/// The projects of families, the newest first.
pub(super) fn of(sessions: &[Shared], families: &Families) -> Vec<Project> {
    let mut projects: Vec<Project> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    let mut project_of = vec![0; sessions.len()];
    // Roots come newest first, so projects do.
    for &root in &families.roots {
        let cwd = sessions[root].header.cwd.as_str();
        let at = *place.entry(cwd).or_insert_with(|| {
            let project = Project { cwd: cwd.to_string(), latest: families.latest[root], ..Project::default() };
            projects.push(project);
            projects.len() - 1
        });
        projects[at].roots.push(root);
        project_of[root] = at;
    }
    for at in families.preorder() {
        if let Some(parent) = families.parents[at] {
            project_of[at] = project_of[parent];
        }
        let project = &mut projects[project_of[at]];
        project.sessions.push(at);
        project.cost += sessions[at].cost;
    }
    projects
}
