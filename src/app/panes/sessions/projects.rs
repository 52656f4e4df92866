//! Projects: the sessions of one working directory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::numbers::{count, nonzero_dollars};
use crate::base::paths::split_name;
use crate::catalog::families::Families;
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::session::digest::entries::EntryTotals;

/// Hidden sessions of subagents, which sums include.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HiddenSubagents {
    /// Their number.
    pub sessions: usize,
    /// US dollars that none of the shown sessions have.
    pub cost: f64,
}

impl HiddenSubagents {
    /// Returns the cost in words, as a part of a sum; `None` if there is none.
    pub(crate) fn in_words(self) -> Option<String> {
        let cost = nonzero_dollars(self.cost)?;
        Some(format!("{cost} by {}", count(self.sessions, "hidden subagent", "hidden subagents")))
    }
}

/// Sessions with the same working directory, and the families that began there.
#[derive(Clone, Debug)]
pub struct Project {
    /// Which one.
    pub key: ProjectKey,
    /// The working directory; empty if the sessions name none.
    pub cwd: Arc<str>,
    /// `true` if pi's list omits its files; `cwd` is then the session directory.
    pub is_unlisted: bool,
    /// Its sessions.
    pub sessions: Vec<SessionKey>,
    /// Its families' roots, the newest first.
    pub(super) roots: Vec<SessionKey>,
    /// The newest message, in milliseconds since 1970.
    pub latest: i64,
    /// The sum over its sessions, hidden subagents included.
    pub sum: EntryTotals,
    /// The sessions of its subagents that are hidden.
    pub hidden: HiddenSubagents,
    /// As many characters at the end of `cwd` as are the same in another project: what stands before tells them apart.
    pub shared: usize,
    /// The places of all projects whose directories have the same name, itself too; none if no other has it.
    pub namesakes: Arc<[usize]>,
}

/// The projects of families, the newest first. A fork belongs to the project in which its family began.
pub(super) fn of(catalog: &Catalog, families: &Families) -> Vec<Project> {
    let mut projects: Vec<Project> = Vec::new();
    let mut places: Vec<Option<usize>> = Vec::new();
    // Roots come newest first, so projects do.
    for &root in families.roots() {
        let key = catalog.project_of_family(root);
        places.resize(places.len().max(key.place() + 1), None);
        let place = *places[key.place()].get_or_insert_with(|| {
            projects.push(Project {
                key,
                cwd: catalog.dir(key).clone(),
                is_unlisted: catalog.is_unlisted(key),
                sessions: Vec::new(),
                roots: Vec::new(),
                latest: families.latest(root),
                sum: EntryTotals::default(),
                hidden: HiddenSubagents::default(),
                shared: 0,
                namesakes: Arc::default(),
            });
            projects.len() - 1
        });
        let project = &mut projects[place];
        project.roots.push(root);
        project.sessions.extend(families.below_all(&[root]));
    }
    for project in &mut projects {
        project.sum = catalog.sum(&project.sessions);
    }
    tell_apart(&mut projects);
    projects
}

/// Adds the hidden sessions of subagents to the sums of their projects.
pub(super) fn add_hidden(projects: &mut [Project], catalog: &Catalog, hidden: &[SessionKey]) {
    let mut by_project: HashMap<ProjectKey, Vec<SessionKey>> = HashMap::new();
    for &key in hidden {
        let root = catalog.families().line(key).last().unwrap_or(key);
        by_project.entry(catalog.project_of_family(root)).or_default().push(key);
    }
    for project in projects {
        let Some(hidden) = by_project.get(&project.key) else { continue };
        let shown = std::mem::replace(&mut project.sum, catalog.sum(project.sessions.iter().chain(hidden)));
        project.hidden = HiddenSubagents { sessions: hidden.len(), cost: project.sum.cost - shown.cost };
    }
}

/// Finds out how much of its end each project shares with the one that ends most like it (ordered from their ends, the two are
/// neighbours), and which others have its name.
fn tell_apart(projects: &mut [Project]) {
    let mut order: Vec<usize> = (0..projects.len()).collect();
    order.sort_unstable_by(|&a, &b| projects[a].cwd.chars().rev().cmp(projects[b].cwd.chars().rev()));
    for pair in order.windows(2) {
        let (a, b) = (projects[pair[0]].cwd.chars(), projects[pair[1]].cwd.chars());
        let shared = a.rev().zip(b.rev()).take_while(|(a, b)| a == b).count();
        for &at in pair {
            projects[at].shared = projects[at].shared.max(shared);
        }
    }
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for &at in &order {
        named.entry(split_name(&projects[at].cwd).1).or_default().push(at);
    }
    let groups: Vec<Arc<[usize]>> = named.into_values().filter(|group| group.len() > 1).map(Arc::from).collect();
    for group in groups {
        for &at in &*group {
            projects[at].namesakes = group.clone();
        }
    }
}
