//! Projects: sessions grouped by working directory; those in linked worktrees belong to the main working tree.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::numbers::{count, nonzero_dollars};
use crate::base::paths::{shorten, split_name};
use crate::base::sort;
use crate::base::text::{Glyphs, Span, Tone, clean, width};
use crate::catalog::families::Families;
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::render::DocLine;
use crate::session::digest::details::EntryTotals;

/// Hidden sessions of subagents, which totals include.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HiddenSubagents {
    /// Number of sessions.
    pub sessions: usize,
    /// Cost in US dollars of entries that no visible session contains.
    pub cost: f64,
}

impl HiddenSubagents {
    /// Formats the cost as a note to a total; returns `None` if it is zero.
    pub(crate) fn in_words(self) -> Option<String> {
        let cost = nonzero_dollars(self.cost)?;
        Some(format!("{cost} by {}", count(self.sessions, "hidden subagent", "hidden subagents")))
    }
}

/// Sessions with the same directory in any worktree, and the families that started there.
#[derive(Clone, Debug)]
pub struct Project {
    /// The key of the project.
    pub key: ProjectKey,
    /// The directory; empty if the session headers contain none.
    pub cwd: Arc<str>,
    /// `true` if pi's list omits the files of the project; `cwd` is then the session directory.
    pub is_unlisted: bool,
    /// Its sessions.
    pub sessions: Vec<SessionKey>,
    /// The roots of its families, newest first.
    pub(super) roots: Vec<SessionKey>,
    /// The time of the newest message, in milliseconds since 1970.
    pub latest: i64,
    /// Totals of its sessions, hidden subagents included.
    pub sum: EntryTotals,
    /// The hidden sessions of its subagents.
    pub hidden: HiddenSubagents,
    /// Number of trailing characters of `cwd` shared with another project; only the text before them is unique.
    pub shared: usize,
    /// Indices of all projects with the same directory name, this one included; empty if the name is unique.
    pub namesakes: Arc<[usize]>,
}

/// The summary of the selected project, which the tree pane shows.
#[derive(Debug, Default)]
pub struct ProjectSummary {
    /// The project and the version of the catalog.
    pub(crate) of: Option<(ProjectKey, u64)>,
    /// The lines.
    pub lines: Vec<DocLine>,
}

/// The label of files that pi's list omits, in front of the directory in which they are.
const UNLISTED: &str = "not listed by pi";

/// Columns for the directory beside a long name that is not unique.
const MIN_DIR: usize = 12;

/// The name of a project for display.
#[derive(Clone, Debug)]
pub struct ProjectName {
    /// The last part of the path.
    pub name: String,
    /// The parent directory; empty without one.
    pub dir: String,
    /// Number of trailing characters shared with another project.
    shared: usize,
}

impl Project {
    /// Returns the name for display.
    pub fn name(&self, home: &str) -> ProjectName {
        let path = clean(&shorten(&self.cwd, home)).into_owned();
        if self.cwd.is_empty() {
            return ProjectName { name: "(no directory)".into(), dir: String::new(), shared: 0 };
        }
        if self.is_unlisted {
            return ProjectName { name: UNLISTED.into(), dir: path, shared: 0 };
        }
        let (dir, name) = split_name(&path);
        ProjectName { name: name.into(), dir: dir.into(), shared: self.shared }
    }
}

impl ProjectName {
    /// Returns the name and as much of the parent directory as distinguishes the project from its neighbors, in at most
    /// `room` columns.
    pub fn cut(&self, room: usize, glyphs: &Glyphs) -> Vec<Span> {
        let Self { name, dir, shared } = self;
        // Number of characters shared with another project in the name and in the directory.
        let (of_name, of_dir) = (*shared, shared.checked_sub(name.chars().count() + 1));
        let least = if of_dir.is_some() { MIN_DIR.min(width(dir)) + 2 } else { 0 };
        let columns = width(name).min(room.saturating_sub(least).max(room / 2));
        let shown = glyphs.cut_middle(name, columns, (of_name + 2).clamp(columns / 2, columns * 2 / 3));
        let mut spans = vec![Span::new(Tone::Strong, shown)];
        let rest = room.saturating_sub(width(&spans[0].text) + 2);
        if !dir.is_empty() && (of_dir.is_some() || rest >= MIN_DIR.min(width(dir))) {
            let place = dir.chars().count().saturating_sub(of_dir.unwrap_or(0) + 1);
            spans.push(Span::dim(format!("  {}", glyphs.cut_around(dir, place, rest))));
        }
        spans
    }
}

/// Groups families into projects, newest first. A fork belongs to the project of its family's root.
pub(super) fn of(catalog: &Catalog, families: &Families) -> Vec<Project> {
    let mut projects: Vec<Project> = Vec::new();
    let mut places: Vec<Option<usize>> = Vec::new();
    // Roots are sorted newest first, so projects are too.
    for &root in families.roots() {
        let key = catalog.project_of_family(root);
        places.resize(places.len().max(key.index() + 1), None);
        let place = *places[key.index()].get_or_insert_with(|| {
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
    pinned_first(&mut projects, catalog, families);
    find_namesakes(&mut projects);
    projects
}

/// Moves the families with a pinned session to the top of their projects.
fn pinned_first(projects: &mut [Project], catalog: &Catalog, families: &Families) {
    if !catalog.marks().has_pins() {
        return;
    }
    for project in projects {
        let pinned =
            project.sessions.iter().filter(|&&key| catalog.marks().is_pinned(&catalog[key].facts().marks_key()));
        let pinned: HashSet<SessionKey> = pinned.filter_map(|&key| families.line(key).last()).collect();
        sort::by_key(&mut project.roots, |root| !pinned.contains(root)); // stable
    }
}

/// Adds the hidden sessions of subagents to the totals of their projects.
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

/// Computes `shared` and `namesakes` of each project. Sorted by reversed path, the project with the longest common
/// suffix is a neighbor.
fn find_namesakes(projects: &mut [Project]) {
    let mut order: Vec<usize> = (0..projects.len()).collect();
    sort::by(&mut order, |&a, &b| projects[a].cwd.bytes().rev().cmp(projects[b].cwd.bytes().rev()));
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
