//! The option `--project`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use crate::cli::{CommandContext, completions};
use crate::disk::locate::Environment;
use crate::disk::program;
use crate::disk::worktrees::WorktreeFinder;
use crate::search::qualifier::is_in_dir;
use crate::session::digest::facts::SessionFacts;

/// The option that limits a list to a project: filters sessions by directory like the qualifier `in:`.
#[derive(Debug, clap::Args)]
pub(super) struct ProjectArg {
    /// Only sessions that worked in this directory or below, or in its worktrees; a plain name matches any directory with that name, like in:NAME in a query
    #[arg(id = "project", long = "project", value_name = "DIR", value_parser = project, add = completions::projects())]
    pub(super) dir: Option<String>,
}

/// Refuses a directory relative to the current one if that is gone, because it would stand for all sessions.
fn project(dir: &str) -> Result<String, String> {
    let is_relative = matches!(dir.split(['/', '\\']).next(), Some("." | ".."));
    if is_relative && Environment::current().cwd.as_os_str().is_empty() {
        let here = program::variable("PWD").unwrap_or_default();
        return Err(format!("the current directory {here} no longer exists"));
    }
    Ok(dir.into())
}

impl ProjectArg {
    /// Returns a test of a session's working directory, which is only looked up if the option is given.
    pub(super) fn matcher(&self, context: &CommandContext) -> impl Fn(&SessionFacts<'_>) -> bool {
        let here = context.here_and_now();
        let dirs = self.dir.iter().flat_map(|dir| {
            let is_path = dir.starts_with(['/', '.']);
            // pi records a directory with symbolic links resolved.
            let real = is_path.then(|| dunce::canonicalize(Path::new(dir)).ok()).flatten();
            [Some(dir.clone()), real.map(|real| real.to_string_lossy().into_owned())]
        });
        let dirs: Vec<String> = dirs.flatten().collect();
        let tests: Vec<_> = dirs.iter().map(|dir| is_in_dir(dir, &here)).collect();
        let is_wanted = !tests.is_empty() && context.demo.is_none();
        let mut finder = is_wanted.then(|| context.worktree_finder());
        // Removed worktrees are found by the repository of the named directory.
        finder.iter_mut().for_each(|finder| _ = finder.find(dirs.iter().map(String::as_str)));
        let is_any = tests.is_empty();
        let is_in = move |dir: &str| tests.iter().any(|is_in| is_in(dir));
        let (finder, known) = (finder.map(RefCell::new), RefCell::<HashMap<String, bool>>::default());
        move |session| {
            if is_any {
                return true;
            }
            let cwd = session.cwd();
            let is_project_in = |finder: &RefCell<WorktreeFinder>| {
                if let Some(&is_in) = known.borrow().get(cwd) {
                    return is_in;
                }
                let mut finder = finder.borrow_mut();
                finder.find([cwd].into_iter());
                let is_in = finder.found().grouped(cwd).is_some() && is_in(&finder.found().project(cwd));
                known.borrow_mut().insert(cwd.into(), is_in);
                is_in
            };
            is_in(cwd) || finder.as_ref().is_some_and(is_project_in)
        }
    }
}
