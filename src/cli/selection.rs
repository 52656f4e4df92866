//! The sessions and files of a command: given as arguments, found by a query, or those of a project.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::base::numbers::count;
use crate::catalog::{Catalog, SessionKey};
use crate::cli::command_context::absolute;
use crate::cli::hits::{HitSearch, read_query};
use crate::cli::{CommandContext, Exit, completions, output};
use crate::disk::locate::Environment;
use crate::disk::program;
use crate::disk::scan::Unreadable;
use crate::disk::worktrees::WorktreeFinder;
use crate::search::qualifier::is_in_dir;
use crate::search::qualifier::value::QueryScope;
use crate::session::digest::facts::SessionFacts;

/// The sessions that a command reads: given as arguments or found by a query, and limited to a project; or else all.
#[derive(Debug, clap::Args)]
pub(super) struct SelectionArgs {
    /// Sessions (path, id, or unique id prefix), or a query (see `pitree search --help`)
    #[arg(value_name = "SESSION|QUERY", add = completions::sessions())]
    words: Vec<OsString>,
    #[command(flatten)]
    project: ProjectArg,
}

impl SelectionArgs {
    /// Returns a test for the listed sessions that are selected.
    ///
    /// # Errors
    /// An argument is not a session of the catalog, or the query is invalid.
    pub(super) fn matcher<'a>(
        &'a self,
        scope: QueryScope,
        context: &'a CommandContext,
    ) -> Result<impl Fn(SessionKey) -> bool + use<'a>> {
        let catalog = context.catalog();
        let mut chosen = None;
        if !self.words.is_empty() {
            // The listed sessions instead of their copies.
            let found = chosen_sessions(&self.words, catalog, scope, context)?.into_iter();
            chosen = Some(found.map(|key| catalog.listed_copy(key)).collect::<HashSet<_>>());
        }
        let is_in_project = self.project.matcher(context);
        Ok(move |key| {
            chosen.as_ref().is_none_or(|chosen| chosen.contains(&key))
                && catalog.get(key).is_some_and(|session| is_in_project(&session.facts()))
        })
    }

    /// Reports files that could not be read, and returns the exit code. A selection without a result is an exit code of its
    /// own.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn end(&self, unreadable: Vec<Unreadable>, is_found: bool) -> Result<Exit> {
        let selects_all = self.words.is_empty() && self.project.dir.is_none();
        Ok(output::end(unreadable)?.found(is_found || selects_all))
    }
}

/// Returns the files of the sessions that match a query.
fn found_files(
    words: &[OsString],
    catalog: &Catalog,
    scope: QueryScope,
    context: &CommandContext,
) -> Result<HashSet<PathBuf>> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(HitSearch::new(read_query(&words)?, catalog.searched_sessions(), scope, context)?.files())
}

/// Returns the sessions given as arguments or found by a query.
fn chosen_sessions(
    words: &[OsString],
    catalog: &Catalog,
    scope: QueryScope,
    context: &CommandContext,
) -> Result<HashSet<SessionKey>> {
    if words.iter().all(|word| context.is_session(word)) {
        let key = |word: &OsString| {
            let path = context.session(word)?;
            catalog.key_of(&path).with_context(|| {
                format!("{} is not among the sessions; specify its directory with --dir", path.display())
            })
        };
        return words.iter().map(key).collect();
    }
    let files = found_files(words, catalog, scope, context)?;
    Ok(files.iter().filter_map(|path| catalog.key_of(path)).collect())
}

/// Returns the sessions to change, newest first, with their families if that is wanted.
///
/// # Errors
/// An argument is not a session of the catalog, or the query is invalid.
pub(super) fn sessions_to_change(
    words: &[OsString],
    with_family: bool,
    catalog: &Catalog,
    context: &CommandContext,
) -> Result<Vec<SessionKey>> {
    let found = chosen_sessions(words, catalog, context.query_scope(), context)?;
    let mut found: Vec<SessionKey> = found.into_iter().collect();
    catalog.sort_newest_first(&mut found);
    Ok(if with_family { catalog.families().whole(&found) } else { found })
}

/// Returns `true` if a word names an existing file.
pub(super) fn is_file(word: &OsString) -> bool {
    Path::new(word).is_file()
}

/// Returns the named files and sessions if all words are such, or else the sessions that match a query; all sessions
/// without words. Sets the files that could not be read while all sessions were. The paths are absolute.
///
/// # Errors
/// A word is a directory, a session is ambiguous, or the query is invalid.
pub(super) fn files(
    words: &[OsString],
    project: &ProjectArg,
    context: &CommandContext,
    unreadable: &mut Vec<Unreadable>,
) -> Result<Vec<PathBuf>> {
    if let Some(path) = words.iter().find(|word| *word != "." && Path::new(word).is_dir()) {
        bail!("{} is a directory; give files, or a session directory with --dir", path.display());
    }
    if !words.is_empty() && words.iter().all(|word| is_file(word) || context.is_session(word)) {
        let path = |word: &OsString| if is_file(word) { absolute(Path::new(word)) } else { context.session(word) };
        return words.iter().map(path).collect();
    }
    let catalog = context.catalog();
    let mut found = None;
    if !words.is_empty() {
        found = Some(found_files(words, catalog, context.query_scope(), context)?);
    }
    let is_in_project = project.matcher(context);
    unreadable.clone_from(&catalog.unreadable);
    let sessions = catalog.newest_first().into_iter().map(|key| &catalog[key]);
    let files = sessions.filter(|session| is_in_project(&session.facts())).map(|session| session.file_path());
    Ok(files.filter(|path| found.as_ref().is_none_or(|found| found.contains(path))).collect())
}

/// Removes the sessions of other machines, which only pitree there can change in such a way, and reports their number.
pub(super) fn skip_mirrored(catalog: &Catalog, sessions: &mut Vec<SessionKey>) {
    let before = sessions.len();
    sessions.retain(|&key| !catalog[key].facts().is_mirrored());
    note_mirrored(before - sessions.len());
}

/// Reports the number of skipped sessions of other machines.
pub(super) fn note_mirrored(skipped: usize) {
    if skipped > 0 {
        let sessions = count(skipped, "session of another machine", "sessions of other machines");
        note!("skipped {sessions}; run this command there");
    }
}

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
        let scope = context.query_scope();
        let mut dirs: Vec<String> = self.dir.iter().cloned().collect();
        // pi records a directory with symbolic links resolved.
        let real =
            self.dir.iter().filter(|dir| dir.starts_with(['/', '.'])).filter_map(|dir| dunce::canonicalize(dir).ok());
        dirs.extend(real.map(|real| real.to_string_lossy().into_owned()));
        let tests: Vec<_> = dirs.iter().map(|dir| is_in_dir(dir, &scope)).collect();
        let is_any = tests.is_empty();
        let mut finder = (!is_any && context.demo.is_none()).then(|| context.worktree_finder());
        // Removed worktrees are found by the repository of the named directory.
        finder.iter_mut().for_each(|finder| _ = finder.find(dirs.iter().map(String::as_str)));
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
