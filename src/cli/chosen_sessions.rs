//! The sessions and files of a command: given as arguments, or found by a query.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use crate::base::numbers::count;
use crate::catalog::{Catalog, SessionKey};
use crate::cli::hits::HitSearch;
use crate::cli::project::ProjectArg;
use crate::cli::search::read_query;
use crate::cli::{CommandContext, resolve};
use crate::disk::scan::Unreadable;
use crate::search::qualifier::value::QueryScope;

/// Returns the files of the sessions that match a query.
fn found_files(
    words: &[OsString],
    catalog: &Catalog,
    here: QueryScope,
    context: &CommandContext,
) -> Result<HashSet<PathBuf>> {
    let words = words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
    Ok(HitSearch::new(read_query(&words)?, catalog.searched_sessions(), here, context)?.files())
}

/// Returns the sessions given as arguments or found by a query.
///
/// # Errors
/// An argument is not a session of the catalog, or the query is invalid.
fn chosen_sessions(
    words: &[OsString],
    catalog: &Catalog,
    here: QueryScope,
    context: &CommandContext,
) -> Result<HashSet<SessionKey>> {
    if words.iter().all(|word| context.is_session(word)) {
        let key = |word: &OsString| {
            let path = context.session(word)?;
            let absolute = resolve::absolute(&path)?;
            let find = |path: &PathBuf| catalog.key_of(path);
            find(&path).or_else(|| find(&absolute)).ok_or_else(|| {
                anyhow!("{} is not among the sessions; specify its directory with --dir", path.display())
            })
        };
        return words.iter().map(key).collect();
    }
    let files = found_files(words, catalog, here, context)?;
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
    let found = chosen_sessions(words, catalog, context.here_and_now(), context)?;
    let mut found: Vec<SessionKey> = found.into_iter().collect();
    catalog.sort_newest_first(&mut found);
    Ok(if with_family { catalog.families().whole(&found) } else { found })
}

/// Returns a test for the listed sessions of a command: those given as arguments or found by a query, or all without
/// words; and those in the project.
///
/// # Errors
/// An argument is not a session of the catalog, or the query is invalid.
pub(super) fn selection<'a>(
    words: &[OsString],
    project: &'a ProjectArg,
    here: QueryScope,
    context: &'a CommandContext,
) -> Result<impl Fn(SessionKey) -> bool + use<'a>> {
    let catalog = context.catalog();
    let mut chosen = None;
    if !words.is_empty() {
        // The listed sessions instead of their copies.
        let found = chosen_sessions(words, catalog, here, context)?.into_iter().map(|key| catalog.listed_copy(key));
        chosen = Some(found.collect::<HashSet<_>>());
    }
    let is_in_project = project.matcher(context);
    Ok(move |key| {
        chosen.as_ref().is_none_or(|chosen| chosen.contains(&key))
            && catalog.get(key).is_some_and(|session| is_in_project(&session.facts()))
    })
}

/// Returns the named files and sessions if all words are such, or else the sessions that match a query; all sessions
/// without words. Sets the files that could not be read while all sessions were.
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
        bail!("{} is a directory; give files, or a session directory with --dir", Path::new(path).display());
    }
    let is_file = |word: &OsString| Path::new(word).is_file();
    if !words.is_empty() && words.iter().all(|word| is_file(word) || context.is_session(word)) {
        let path = |word: &OsString| if is_file(word) { Ok(word.into()) } else { context.session(word) };
        return words.iter().map(path).collect();
    }
    let catalog = context.catalog();
    let mut found = None;
    if !words.is_empty() {
        found = Some(found_files(words, catalog, context.here_and_now(), context)?);
    }
    let is_in_project = project.matcher(context);
    unreadable.clone_from(&catalog.unreadable);
    let sessions = catalog.newest_first().into_iter().filter_map(|key| catalog.get(key));
    let sessions = sessions.filter(|session| is_in_project(&session.facts()));
    let files = sessions.map(|session| session.file_path());
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
