//! The directory in which pitree was started, and its sessions.

use std::path::Path;
use std::sync::Arc;

use crate::session::worktrees::Worktrees;

/// The directory in which pitree was started, and its project.
#[derive(Clone, Debug, Default)]
pub struct CurrentDir {
    /// The directory itself.
    start: String,
    /// The directory, or that in the main working tree.
    dir: String,
    home: String,
    project: Option<Arc<str>>,
}

impl CurrentDir {
    /// Creates it for a directory. The `home` directory is not a project for everything below it.
    pub fn new(dir: String, home: String) -> Self {
        Self { start: dir.clone(), dir, home, project: None }
    }

    /// Uses the directory in the main working tree instead of one in a linked worktree. [`CurrentDir::find`] follows.
    pub(crate) fn set_worktrees(&mut self, worktrees: &Worktrees) {
        self.dir = worktrees.project(&self.start).into();
    }

    /// Finds the project among the directories of projects: the nearest parent directory.
    pub(crate) fn find(&mut self, dirs: impl Iterator<Item = impl AsRef<str>>) {
        let is_around = |dir: &str| {
            let is_root = Path::new(&self.home).starts_with(dir) && *dir != *self.dir;
            !dir.is_empty() && !is_root && Path::new(&self.dir).starts_with(dir)
        };
        let around = dirs.filter(|dir| is_around(dir.as_ref()));
        self.project = around.max_by_key(|dir| dir.as_ref().len()).map(|dir| dir.as_ref().into());
    }

    /// Returns `true` if `dir` is the directory of the project itself, not one below it.
    pub(crate) fn is_project(&self, dir: &str) -> bool {
        self.project.as_deref() == Some(dir)
    }

    /// Returns `true` if a project with this directory is the project, or is below the directory.
    pub(crate) fn has(&self, dir: &str) -> bool {
        self.is_project(dir) || (!self.dir.is_empty() && Path::new(dir).starts_with(&self.dir))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_project_above() {
        let dirs = ["/", "/home/me", "/home/me/code", "/home/me/code/app", "/home/me/code/app/sub/x", ""];
        let here = |dir: &str| {
            let mut here = CurrentDir::new(dir.into(), "/home/me".into());
            here.find(dirs.into_iter());
            here
        };
        let within = here("/home/me/code/app/sub");
        assert_eq!(within.project.as_deref(), Some("/home/me/code/app"));
        let found = dirs.into_iter().filter(|dir| within.has(dir)).collect::<Vec<_>>();
        assert_eq!(found, ["/home/me/code/app", "/home/me/code/app/sub/x"]);
        assert!(within.is_project("/home/me/code/app") && !within.is_project("/home/me/code/app/sub/x"));
        assert_eq!(here("/home/me/other").project, None);
        assert_eq!(here("/home/me").project.as_deref(), Some("/home/me"));
        assert_eq!(here("/home/me/code/apple").project.as_deref(), Some("/home/me/code"));
        assert!(!CurrentDir::default().has("/home/me"));
    }
}
