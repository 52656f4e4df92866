//! Jobs that search sessions and the open tree.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;

use crate::app::message::{Reply, Work};
use crate::app::panes::tree::hits::seen;
use crate::catalog;
use crate::catalog::lost_work::compared_paths;
use crate::catalog::{EntryRef, SessionKey};
use crate::runtime::jobs::{BETWEEN_WORDS, JobContext, LONGEST_PAUSE};
use crate::search::text_match::Words;
use crate::session::tree::{Index, Tree};

impl JobContext {
    /// Runs a query over sessions, or over the entries of one. Returns the last reply, or `None` if there is none or it is
    /// no longer wanted.
    pub(super) fn search(
        &self,
        mut work: Work,
        is_wanted: &(impl Fn() -> bool + Sync),
        reply: &mut dyn FnMut(Reply) -> bool,
    ) -> Result<Option<Reply>> {
        if !self.complete(&mut work, is_wanted, reply)? {
            return Ok(None);
        }
        match work {
            Work::Suggest { query, sessions, around } => {
                let reported = |found| reply(Reply::Suggestions(found));
                self.searcher.suggest(&sessions, (&*query, &*around), || !is_wanted(), reported);
                Ok(None)
            }
            Work::MatchEntries { query, around, session, tree } => {
                let found = (&*session, &*tree);
                let found = self.searcher.matching_entries(found, (&query, &around), || !is_wanted());
                let Some(found) = found else { return Ok(None) };
                let hits = found.into_iter().map(|at| EntryRef { session: session.key, at: seen(&tree, at) });
                Ok(Some(Reply::EntriesFound { hits: hits.collect(), first_last: (true, true), progress: None }))
            }
            Work::Search { query, sessions, around } if query.everything && !query.words().is_empty() => {
                let all = sessions.len();
                let reported = |hits, done| {
                    let progress = (done < all).then_some((done, all));
                    reply(Reply::SessionsFound { hits, more: true, progress })
                };
                let asked = (&*query, &*around);
                self.searcher.search_everything(&sessions, asked, || !is_wanted(), reported);
                Ok(None)
            }
            Work::Search { query, sessions, around } => {
                let (asked, is_stale) = ((&*query, &*around), || !is_wanted());
                let hits = self.searcher.search(&sessions, asked, is_stale);
                let hits = hits.and_then(|hits| self.searcher.assign_entries(&sessions, asked, hits, is_stale));
                Ok(hits.map(|hits| Reply::SessionsFound { hits, more: false, progress: None }))
            }
            _ => Ok(None),
        }
    }

    /// Adds what is known of secrets and lost work to the scope of a query that needs it. Returns `false` if it is no longer
    /// wanted.
    fn complete(
        &self,
        work: &mut Work,
        is_wanted: &impl Fn() -> bool,
        reply: &mut dyn FnMut(Reply) -> bool,
    ) -> Result<bool> {
        let (query, sessions, scope) = match work {
            Work::Search { query, sessions, around } | Work::Suggest { query, sessions, around } => {
                (query, &**sessions, around)
            }
            Work::MatchEntries { query, session, around, .. } => (query, std::slice::from_ref(&**session), around),
            _ => return Ok(true),
        };
        let mut reported = Instant::now();
        let mut told = |done, all| {
            if sessions.len() > 1 && done < all && reported.elapsed() >= LONGEST_PAUSE {
                reported = Instant::now();
                reply(Reply::SessionsFound { hits: Vec::new(), more: true, progress: Some((done, all)) });
            }
            is_wanted()
        };
        // A query that does not need them does not wait for another search.
        if query.needs_secrets() {
            let mut finder = self.secrets.lock();
            let place = (&self.setting.config.redact, self.cache.as_deref());
            scope.secrets = finder.find(sessions, place, &mut told)?.map(Arc::new);
            if scope.secrets.is_none() {
                return Ok(false);
            }
        }
        if query.needs_lost_work() {
            let mut cache = self.lost.lock();
            let place = (&*self.setting.home, self.cache.as_deref());
            let compared: Vec<_> = sessions.iter().filter_map(|it| compared_paths(&it.digest.facts())).collect();
            scope.lost = cache.find(&compared, place, told).map(Arc::new);
            return Ok(scope.lost.is_some());
        }
        Ok(true)
    }

    /// Finds the entries of sessions with some words. Batches grow in duration, because the browser rebuilds all rows
    /// for each.
    pub(super) fn find(
        &self,
        (files, start): (Vec<(SessionKey, PathBuf, Arc<Tree>)>, Index),
        words: &Words,
        is_wanted: impl Fn() -> bool,
        mut reply: impl FnMut(Reply) -> bool,
    ) {
        let (total, mut hits, mut is_first) = (files.len(), Vec::new(), start == 0);
        let (mut pause, mut sent) = (BETWEEN_WORDS, Instant::now());
        for (number, (session, path, tree)) in files.into_iter().enumerate() {
            catalog::find::each(&path, (&tree, start), words, |found, is_end| {
                hits.extend(found.into_iter().map(|at| EntryRef { session, at: seen(&tree, at) }));
                let done = number + usize::from(is_end);
                let (is_last, has_news) = (done == total, !hits.is_empty() || total > 1);
                if is_last || (has_news && sent.elapsed() >= pause) {
                    let progress = (!is_last && total > 1).then_some((done, total));
                    let first_last = (is_first && (is_last || !hits.is_empty()), is_last);
                    is_first &= !first_last.0;
                    reply(Reply::EntriesFound { hits: std::mem::take(&mut hits), first_last, progress });
                    (pause, sent) = ((pause * 2).min(LONGEST_PAUSE), Instant::now());
                }
                is_wanted()
            });
            if !is_wanted() {
                return;
            }
        }
    }
}
