//! Projects: the sessions of one working directory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::paths::split_name;
use crate::library::families::Families;
use crate::library::{Library, ProjectKey, SessionKey};
use crate::session::digest::entries::Tally;

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
    /// What its sessions have together.
    pub sum: Tally,
    /// As many characters at the end of `cwd` as are the same in another project: what stands before tells them apart.
    pub shared: usize,
    /// The places of all projects whose directories have the same name, itself too; none if no other has it.
    pub namesakes: Arc<[usize]>,
}

/// The projects of families, the newest first. A fork belongs to the project in which its family began.
pub(super) fn of(library: &Library, families: &Families) -> Vec<Project> {
    let mut projects: Vec<Project> = Vec::new();
    let mut places: Vec<Option<usize>> = Vec::new();
    // Roots come newest first, so projects do.
    for &root in families.roots() {
        let key = library.project_of_family(root);
        places.resize(places.len().max(key.place() + 1), None);
        let place = *places[key.place()].get_or_insert_with(|| {
            projects.push(Project {
                key,
                cwd: library.dir(key).clone(),
                is_unlisted: library.is_unlisted(key),
                sessions: Vec::new(),
                roots: Vec::new(),
                latest: families.latest(root),
                sum: Tally::default(),
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
        project.sum = library.sum(&project.sessions);
    }
    tell_apart(&mut projects);
    projects
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
