//! Linked worktrees of git repositories, by the working directories of sessions in them. A directory in a linked worktree
//! belongs to the project of the same directory in the main working tree.

use crate::base::paths::windows_form;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// A linked worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its directory.
    pub dir: String,
    /// The directory of the main working tree, or that of a bare repository.
    pub main: String,
    /// The name: that of its directory, if that differs from the name of the main working tree.
    pub name: String,
    /// The branch that was checked out last.
    pub branch: Option<String>,
}

impl Worktree {
    /// Returns the same path in the main working tree; `None` for a path outside of the worktree.
    pub fn in_main(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(&*self.dir)?;
        let is_inside = rest.is_empty() || rest.starts_with(['/', '\\']);
        is_inside.then(|| format!("{}{rest}", self.main))
    }

    /// Returns the name, and the branch if that differs.
    pub fn words(&self) -> String {
        match self.branch.as_ref().filter(|branch| **branch != self.name) {
            Some(branch) => format!("{} ({branch})", self.name),
            None => self.name.clone(),
        }
    }
}

/// A worktree, and the directory in the main working tree that stands for a directory in the worktree.
type WorktreeDirs = (Arc<Worktree>, Arc<str>);

/// The linked worktrees of working directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktrees {
    /// `true` if each worktree is a project of its own.
    are_separate: bool,
    places: HashMap<String, WorktreeDirs>,
}

impl Worktrees {
    /// Creates it without directories. If worktrees are separate, each is a project of its own.
    pub fn new(are_separate: bool) -> Self {
        Self { are_separate, ..Self::default() }
    }

    /// Takes over the working directories of an earlier result.
    pub fn keep(&mut self, before: Self) {
        self.places = before.places;
    }

    /// Records the worktree of a working directory. Returns `true` if that is new.
    pub fn insert(&mut self, cwd: &str, worktree: &Arc<Worktree>) -> bool {
        if self.of(cwd) == Some(&**worktree) {
            return false;
        }
        let Some(project) = worktree.in_main(cwd) else { return false };
        self.places.insert(cwd.into(), (worktree.clone(), Arc::from(project)));
        true
    }

    /// Records that a working directory is in no linked worktree. Returns `true` if that is new.
    pub fn remove(&mut self, cwd: &str) -> bool {
        self.places.remove(cwd).is_some()
    }

    /// Returns the worktree of a working directory.
    pub fn of(&self, cwd: &str) -> Option<&Worktree> {
        self.places.get(cwd).map(|(worktree, _)| &**worktree)
    }

    /// Returns the worktree of a working directory whose project is another directory.
    pub fn grouped(&self, cwd: &str) -> Option<&Worktree> {
        self.of(cwd).filter(|_| !self.are_separate)
    }

    /// Returns the project of a working directory: the directory itself, or that in the main working tree. All forms of a
    /// Windows path are one project.
    pub fn project<'a>(&'a self, cwd: &'a str) -> Cow<'a, str> {
        windows_form(match self.places.get(cwd) {
            Some((_, project)) if !self.are_separate => project,
            _ => cwd,
        })
    }

    /// Returns the path of a file in the project of a working directory.
    pub fn path_in_project<'a>(&self, cwd: &str, path: &'a str) -> Cow<'a, str> {
        self.grouped(cwd).and_then(|worktree| worktree.in_main(path)).map_or(path.into(), Cow::Owned)
    }

    /// Iterates over the worktrees; one with several working directories occurs several times.
    pub fn all(&self) -> impl Iterator<Item = &Worktree> {
        self.places.values().map(|(worktree, _)| &**worktree)
    }

    /// Returns the names and branches of all worktrees in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let names = self.all().flat_map(|tree| tree.branch.iter().chain([&tree.name]));
        let mut names: Vec<String> = names.cloned().collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_files_of_a_worktree_belong_to_the_main_working_tree() {
        let worktree = Arc::new(Worktree {
            dir: "/w/fix".into(),
            main: "/code/app".into(),
            name: "fix".into(),
            branch: Some("fix-42".into()),
        });
        let mut all = Worktrees::default();
        assert!(all.insert("/w/fix", &worktree) && all.insert("/w/fix/web", &worktree));
        assert!(!all.insert("/w/fix", &worktree) && !all.insert("/w/fixed", &worktree));
        let dirs = ["/w/fix", "/w/fix/web", "/w/fixed", "/code/app", ""];
        assert_eq!(dirs.map(|cwd| all.project(cwd)), ["/code/app", "/code/app/web", "/w/fixed", "/code/app", ""]);
        assert_eq!(all.path_in_project("/w/fix/web", "/w/fix/a.rs"), "/code/app/a.rs");
        assert_eq!(all.path_in_project("/w/fix/web", "/etc/hosts"), "/etc/hosts");
        assert_eq!(all.path_in_project("/code/app", "/w/fix/a.rs"), "/w/fix/a.rs");
        assert_eq!(all.names(), ["fix", "fix-42"]);
        assert_eq!(worktree.words(), "fix (fix-42)");
        let separate = Worktrees { are_separate: true, ..all.clone() };
        assert_eq!(separate.project("/w/fix"), "/w/fix");
        assert!(separate.of("/w/fix").is_some() && separate.grouped("/w/fix").is_none());
        assert!(all.remove("/w/fix") && !all.remove("/w/fix") && all.of("/w/fix").is_none());
    }
}
