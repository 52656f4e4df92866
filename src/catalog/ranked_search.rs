//! Searches sessions in the order of their hits, so that the first hits of many can be printed without searching the
//! others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::normalize::fold;
use crate::base::sort;
use crate::catalog::search::{DIGESTS_AT_ONCE, SearchedSession, Searcher, SessionHit, with_keys};
use crate::disk::parallel;
use crate::search::matching::{Matcher, Tier};
use crate::session::digest::Digest;
use crate::session::digest::listed::ListedSession;
use crate::session::search_text::SearchTexts;
use crate::session::search_titles::{SearchTitles, TitlesBuf};
use crate::session::trigrams;

/// Returns the places of some sessions, newest first.
fn newest_first(sessions: &[SearchedSession], places: Vec<usize>) -> Vec<usize> {
    let facts = |at: u32| sessions[at as usize].digest.facts();
    let mut timed: Vec<(i64, u32)> = places.into_iter().map(|at| (facts(at as u32).order_time(), at as u32)).collect();
    sort::newest_first(&mut timed, &|a, b| facts(a).path().compare(facts(b).path()));
    timed.into_iter().map(|(_, at)| at as usize).collect()
}

impl SearchedSession {
    /// Sorts sessions, newest first.
    pub(crate) fn newest_first(sessions: &[Self]) -> Arc<[Self]> {
        let places = newest_first(sessions, (0..sessions.len()).collect());
        places.into_iter().map(|at| sessions[at].clone()).collect()
    }
}

impl Searcher {
    /// Returns the sessions that may match literally, in the order of their possible hits.
    pub(crate) fn ranked<'a>(&self, sessions: &'a [SearchedSession], matcher: &Matcher) -> Vec<&'a SearchedSession> {
        let all: Vec<usize> = (0..sessions.len()).collect();
        let facts = |at: usize| sessions[at].digest.facts();
        let mut places = newest_first(sessions, with_keys(sessions, &all, &matcher.keys(false)));
        let has_headings = |at: &usize| facts(*at).is_named() || facts(*at).is_labeled();
        let other = matcher.literal_rank(SearchTitles::default());
        let can_differ = other > (Tier::Name, 0);
        let accented: HashSet<usize> = with_keys(sessions, &places, &[trigrams::ACCENTS]).into_iter().collect();
        let by_texts = |at: usize| matcher.ranks_by_texts(&fold(facts(at).id()), accented.contains(&at));
        let differs = |at: &usize| can_differ && (has_headings(at) || by_texts(*at));
        let different: Vec<usize> = places.iter().copied().filter(differs).collect();
        if !different.is_empty() {
            let ranks = parallel::map(different.chunks(DIGESTS_AT_ONCE), |some| {
                let (mut ranks, digests) =
                    (Vec::with_capacity(some.len()), some.iter().map(|&at| &*sessions[at].digest));
                ListedSession::each_once(digests, &mut Vec::new(), |at, digest| {
                    let known = || Some(matcher.literal_rank(TitlesBuf::new(&digest).as_titles()));
                    let matched = || {
                        let session = (&sessions[some[at]], &*digest);
                        self.match_one(session, matcher, |found, _| (found.hit.tier, found.hit.score))
                    };
                    let rank = if by_texts(some[at]) { matched() } else { known() };
                    ranks.extend(rank.map(|rank| (some[at], rank)));
                });
                ranks
            });
            let ranks: HashMap<usize, _> = ranks.into_iter().flatten().collect();
            sort::by_cached_key(&mut places, |at| *ranks.get(at).unwrap_or(&other));
        }
        places.into_iter().map(|at| &sessions[at]).collect()
    }

    /// Matches a session. Calls a function with the match and the texts, or returns `None`.
    pub(crate) fn match_one<T>(
        &self,
        (session, digest): (&SearchedSession, &Digest),
        matcher: &Matcher,
        act: impl FnOnce(SessionHit, Option<SearchTexts<'_>>) -> T,
    ) -> Option<T> {
        let in_texts = |texts: Option<SearchTexts<'_>>| {
            let titles = TitlesBuf::new(digest);
            let hit = matcher.matches(&session.candidate(digest, titles.as_titles(), texts))?;
            Some(act(SessionHit::new(session.key, hit), texts))
        };
        if matcher.has_texts() { self.with_texts(session, in_texts) } else { in_texts(None) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::catalog::{Catalog, SessionKey};
    use crate::disk::demo;
    use crate::disk::scan::{IndexPlace, ScanSources};
    use crate::search::qualifier::value::QueryScope;
    use crate::search::query::Query;

    fn read(dirs: &[std::path::PathBuf], cache: Option<&Path>) -> Catalog {
        let cache = cache.map(|dir| IndexPlace { dir, limit: u64::MAX });
        Catalog::read(ScanSources { dirs, home: demo::HOME, cache }, 0)
    }

    #[test]
    fn matches_in_order_of_possible_ranks_are_the_sorted_hits() {
        let dir = tempfile::tempdir().unwrap();
        let (dirs, cache) = ([dir.path().join("sessions")], dir.path().join("cache"));
        demo::write(&dirs[0], &dirs[0], None).unwrap();
        read(&dirs, Some(&cache));
        for catalog in [read(&dirs, None), read(&dirs, Some(&cache))] {
            let (sessions, searcher) = (catalog.searched_sessions(), Searcher::default());
            searcher.read(&sessions, |_, _| true);
            // Words of names, labels and texts.
            for text in [
                "auth",
                "refactor auth",
                "e",
                "a e",
                "works",
                "the works",
                "re:[ae]",
                "e -auth",
                "ad1b",
                "e 7184-ad1b",
                "is:fork",
                "is:labeled e",
            ] {
                let (query, here) = (Query::parse(text).unwrap(), QueryScope::default());
                let matcher = Matcher::literal(&query, &here);
                let found = searcher.search_quietly(&sessions, (&query, &here), || false).unwrap();
                let found: Vec<SessionKey> = found.iter().map(|(session, _)| session.key).collect();
                let matched = |session: &&SearchedSession| {
                    searcher.match_one((session, &session.digest), &matcher, |hit, _| hit.session)
                };
                let ranked: Vec<SessionKey> = searcher.ranked(&sessions, &matcher).iter().filter_map(matched).collect();
                assert!(!found.is_empty() && ranked == found, "{text}: {ranked:?}, not {found:?}");
            }
        }
    }
}
