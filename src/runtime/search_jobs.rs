//! Jobs that search sessions and the open tree.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;

use crate::app::message::{Reply, SearchRequest};
use crate::app::panes::tree::hits::seen;
use crate::catalog;
use crate::catalog::lost_work::compared_paths;
use crate::catalog::{EntryRef, SessionKey};
use crate::runtime::jobs::{BETWEEN_WORDS, JobContext, LONGEST_PAUSE};
use crate::search::qualifier::value::Needs;
use crate::search::text_match::Words;
use crate::session::tree::{EntryIndex, Tree};

impl JobContext {
    /// Searches sessions.
    pub(super) fn search(
        &self,
        mut request: SearchRequest,
        is_wanted: &(impl Fn() -> bool + Sync),
        reply: &mut dyn FnMut(Reply) -> bool,
    ) -> Result<Option<Reply>> {
        if !self.complete(&mut request, is_wanted, reply)? {
            return Ok(None);
        }
        let SearchRequest { query, sessions, scope } = &request;
        let (asked, is_stale) = ((&**query, &**scope), || !is_wanted());
        if query.everything && !query.words().is_empty() {
            let all = sessions.len();
            let reported = |hits, done| {
                let progress = (done < all).then_some((done, all));
                reply(Reply::SessionsFound { hits, more: true, progress })
            };
            self.searcher.search_everything(sessions, asked, is_stale, reported);
            return Ok(None);
        }
        let hits = self.searcher.search(sessions, asked, is_stale);
        let hits = hits.and_then(|hits| self.searcher.assign_entries(sessions, asked, hits, is_stale));
        Ok(hits.map(|hits| Reply::SessionsFound { hits, more: false, progress: None }))
    }

    /// Finds out where a query without hits would have hits.
    pub(super) fn suggest(
        &self,
        mut request: SearchRequest,
        is_wanted: &(impl Fn() -> bool + Sync),
        reply: &mut dyn FnMut(Reply) -> bool,
    ) -> Result<()> {
        if self.complete(&mut request, is_wanted, reply)? {
            let SearchRequest { query, sessions, scope } = &request;
            let reported = |found| reply(Reply::Suggestions(found));
            self.searcher.suggest(sessions, (&**query, &**scope), || !is_wanted(), reported);
        }
        Ok(())
    }

    /// Finds the entries of a session that match a query.
    pub(super) fn match_entries(
        &self,
        mut request: SearchRequest,
        tree: &Tree,
        is_wanted: &(impl Fn() -> bool + Sync),
        reply: &mut dyn FnMut(Reply) -> bool,
    ) -> Result<Option<Reply>> {
        if !self.complete(&mut request, is_wanted, reply)? {
            return Ok(None);
        }
        let SearchRequest { query, sessions, scope } = &request;
        let session = &sessions[0];
        let found = self.searcher.matching_entries((session, tree), (query, scope), || !is_wanted());
        let hits = |found: Vec<EntryIndex>| {
            let hits = found.into_iter().map(|at| EntryRef { session: session.key, at: seen(tree, at) });
            Reply::EntriesFound { hits: hits.collect(), is_first: true, is_last: true, progress: None }
        };
        Ok(found.map(hits))
    }

    /// Adds what is known of secrets and lost work to the scope of a query that needs it. Returns `false` if it is no longer
    /// wanted.
    fn complete(
        &self,
        SearchRequest { query, sessions, scope }: &mut SearchRequest,
        is_wanted: &impl Fn() -> bool,
        reply: &mut dyn FnMut(Reply) -> bool,
    ) -> Result<bool> {
        let mut reported = Instant::now();
        let mut told = |done, all| {
            if sessions.len() > 1 && done < all && reported.elapsed() >= LONGEST_PAUSE {
                reported = Instant::now();
                reply(Reply::SessionsFound { hits: Vec::new(), more: true, progress: Some((done, all)) });
            }
            is_wanted()
        };
        // A query that does not need them does not wait for another search.
        if query.needs(Needs::SECRETS) {
            let mut finder = self.secrets.lock();
            let place = (&self.settings.config.redact, self.cache.as_deref());
            scope.secrets = finder.find(sessions, place, &mut told)?.map(Arc::new);
            if scope.secrets.is_none() {
                return Ok(false);
            }
        }
        if query.needs(Needs::LOST_WORK) {
            let mut cache = self.lost.lock();
            let place = (&*self.settings.home, self.cache.as_deref());
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
        (files, start): (Vec<(SessionKey, PathBuf, Arc<Tree>)>, EntryIndex),
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
                    let starts = is_first && (is_last || !hits.is_empty());
                    is_first &= !starts;
                    let hits = std::mem::take(&mut hits);
                    reply(Reply::EntriesFound { hits, is_first: starts, is_last, progress });
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
