//! The sessions that a command counts: given as arguments, or found by a query.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, anyhow};

use crate::base::numbers::count;
use crate::catalog::{Catalog, SessionKey};
use crate::cli::hits::HitSearch;
use crate::cli::output;
use crate::cli::resolve::{self, SessionResolver};
use crate::cli::search::read_query;
use crate::search::qualifier::value::QueryScope;

/// Returns the sessions given as arguments or found by a query; `None` for all.
///
/// # Errors
/// An argument is not a session of the catalog, or the query is invalid.
pub(super) fn chosen_sessions(
    words: &[OsString],
    resolver: &SessionResolver<'_>,
    here: QueryScope,
) -> Result<Option<HashSet<SessionKey>>> {
    if words.is_empty() {
        return Ok(None);
    }
    let catalog = resolver.catalog();
    if words.iter().all(|word| resolver.is_session(word)) {
        let key = |word: &OsString| {
            let path = resolver.session(word)?;
            let absolute = resolve::absolute(&path)?;
            let find = |path: &PathBuf| catalog.key_of(path);
            find(&path).or_else(|| find(&absolute)).ok_or_else(|| {
                anyhow!("{} is not among the sessions; specify its directory with --dir", path.display())
            })
        };
        return words.iter().map(key).collect::<Result<_>>().map(Some);
    }
    let words = words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
    let search = HitSearch::new(read_query(&words)?, catalog.searched_sessions(), here, resolver.chosen())?;
    let files = search.files();
    Ok(Some(files.iter().filter_map(|path| catalog.key_of(path)).collect()))
}

/// Like [`chosen_sessions`], with the listed sessions instead of their copies.
pub(super) fn listed_sessions(
    words: &[OsString],
    resolver: &SessionResolver<'_>,
    here: QueryScope,
) -> Result<Option<HashSet<SessionKey>>> {
    let found = chosen_sessions(words, resolver, here)?;
    Ok(found.map(|found| found.into_iter().map(|key| resolver.catalog().listed_copy(key)).collect()))
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
        output::note(&format!("skipped {sessions}; run this command there"));
    }
}
