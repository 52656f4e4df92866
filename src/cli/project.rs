//! The option `--project`.

use std::cell::RefCell;
use std::path::Path;

use clap_complete::ArgValueCompleter;

use crate::cli::{CommandContext, completions};
use crate::disk::worktrees::WorktreeFinder;
use crate::search::qualifier::is_in_dir;

/// The option that limits a list to a project: filters sessions by directory like the qualifier `in:`.
#[derive(Debug, clap::Args)]
pub(super) struct ProjectArg {
    /// Only sessions that worked in this directory or below, or in its worktrees; a plain name matches any directory with that name, like in:NAME in a query
    #[arg(id = "project", long = "project", value_name = "DIR", add = ArgValueCompleter::new(completions::projects))]
    pub(super) dir: Option<String>,
}

impl ProjectArg {
    /// Returns a test of a session's working directory.
    pub(super) fn matcher(&self, chosen: &CommandContext) -> impl Fn(&str) -> bool {
        let here = chosen.here_and_now();
        let dirs = self.dir.iter().flat_map(|dir| {
            let is_path = dir.starts_with(['/', '.']);
            // pi records a directory with symbolic links resolved.
            let real = is_path.then(|| Path::new(dir).canonicalize().ok()).flatten();
            [Some(dir.clone()), real.map(|real| real.to_string_lossy().into_owned())]
        });
        let tests: Vec<_> = dirs.flatten().map(|dir| is_in_dir(&dir, &here)).collect();
        let finder = chosen.demo.is_none().then(|| RefCell::new(chosen.worktree_finder()));
        let is_in = move |dir: &str| tests.is_empty() || tests.iter().any(|is_in| is_in(dir));
        move |cwd| {
            let is_project_in = |finder: &RefCell<WorktreeFinder>| {
                let mut finder = finder.borrow_mut();
                finder.find([cwd].into_iter());
                finder.found().grouped(cwd).is_some() && is_in(finder.found().project(cwd))
            };
            is_in(cwd) || finder.as_ref().is_some_and(is_project_in)
        }
    }
}
