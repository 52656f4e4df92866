//! Where a query that found nothing would find something.

use std::sync::Arc;

use crate::catalog::search::{SearchedSession, Searcher};
use crate::disk::files::Files;
use crate::search::query::Query;
use crate::search::scope::QueryScope;

/// How many sessions a query would find elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// Where everything in the files is searched.
    pub everything: usize,
    /// Where tools touched a file that is called so.
    pub files: usize,
    /// How many files were searched for everything, of how many; nothing when all were.
    pub progress: Option<(usize, usize)>,
}

impl Searcher {
    /// Looks where a query that found nothing would find something, and says what is known so far, until nobody waits any
    /// more.
    pub fn elsewhere(
        &self,
        (files, sessions): (Files, &Arc<[SearchedSession]>),
        (query, around): (&Query, &QueryScope),
        is_stale: impl Fn() -> bool + Sync,
        mut told: impl FnMut(Suggestions) -> bool,
    ) {
        let mut found = Suggestions::default();
        let by_file = query.as_files().and_then(|query| self.look(files, sessions, (&query, around), &is_stale));
        found.files = by_file.map_or(0, |found| found.len());
        if !query.everything {
            let everything = Query { everything: true, ..query.clone() };
            let all = sessions.len();
            found.progress = Some((0, all));
            self.search_everything((files, sessions), (&everything, around), &is_stale, |more, done| {
                found.everything += more.len();
                found.progress = (done < all).then_some((done, all));
                told(found)
            });
        } else {
            told(found);
        }
    }
}
