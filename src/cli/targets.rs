//! Resolves the words of commands that work on files: files, sessions, or a query.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::cli::hits::HitSearch;
use crate::cli::project::ProjectArg;
use crate::cli::resolve::SessionResolver;
use crate::cli::search::read_query;
use crate::disk::scan::Unreadable;

/// Returns the named files and sessions if all words are such, or else the sessions that match a query; all sessions
/// without words. Sets the files that could not be read while all sessions were.
///
/// # Errors
/// A word is a directory, a session is ambiguous, or the query is invalid.
pub(super) fn files(
    words: &[OsString],
    project: &ProjectArg,
    resolver: &SessionResolver<'_>,
    unreadable: &mut Vec<Unreadable>,
) -> Result<Vec<PathBuf>> {
    if let Some(path) = words.iter().find(|word| *word != "." && Path::new(word).is_dir()) {
        bail!("{} is a directory; give files, or a session directory with --dir", Path::new(path).display());
    }
    let is_file = |word: &OsString| Path::new(word).is_file();
    let is_target = |word: &OsString| is_file(word) || resolver.is_session(word);
    if !words.is_empty() && words.iter().all(is_target) {
        let path = |word: &OsString| if is_file(word) { Ok(word.into()) } else { resolver.session(word) };
        return words.iter().map(path).collect();
    }
    let (catalog, chosen) = (resolver.catalog(), resolver.chosen());
    let is_found = match words {
        [] => None,
        words => {
            let words = words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
            let sessions = catalog.searched_sessions();
            Some(HitSearch::new(read_query(&words)?, sessions, chosen.here_and_now(), chosen)?.files())
        }
    };
    let is_in_project = project.matcher(chosen);
    unreadable.clone_from(&catalog.unreadable);
    let sessions = catalog.newest_first().into_iter().filter_map(|key| catalog.get(key));
    let sessions = sessions.filter(|session| is_in_project(&session.facts()));
    let files = sessions.map(|session| session.file_path());
    Ok(files.filter(|path| is_found.as_ref().is_none_or(|found| found.contains(path))).collect())
}
