//! Alternative searches for a query without results.

use std::sync::Arc;

use crate::catalog::search::{SearchedSession, Searcher};
use crate::disk::files::Files;
use crate::search::query::Query;
use crate::search::scope::QueryScope;

/// The number of hits of alternative searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// Hits with `all:`.
    pub everything: usize,
    /// Sessions in which a tool touched a file with that name.
    pub files: usize,
    /// The number of files searched so far and in total; `None` when complete.
    pub progress: Option<(usize, usize)>,
}

impl Searcher {
    /// Runs the alternative searches and reports results until it is canceled.
    pub fn suggest(
        &self,
        (files, sessions): (Files, &Arc<[SearchedSession]>),
        (query, scope): (&Query, &QueryScope),
        is_stale: impl Fn() -> bool + Sync,
        mut report: impl FnMut(Suggestions) -> bool,
    ) {
        let mut found = Suggestions::default();
        let by_file =
            query.as_files().and_then(|query| self.search_quietly(files, sessions, (&query, scope), &is_stale));
        found.files = by_file.map_or(0, |found| found.len());
        if !query.everything {
            let everything = Query { everything: true, ..query.clone() };
            let all = sessions.len();
            found.progress = Some((0, all));
            self.search_everything((files, sessions), (&everything, scope), &is_stale, |more, done| {
                found.everything += more.len();
                found.progress = (done < all).then_some((done, all));
                report(found)
            });
        } else {
            report(found);
        }
    }
}
