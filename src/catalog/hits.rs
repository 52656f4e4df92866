//! Hits of a search: entries of found sessions that match the query, and sessions in the order of their hits. An entry that
//! forks inherited belongs to the oldest found session, and a fork without its own matching entries is not a hit. The first
//! hits of many sessions can be printed without searching the others.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::normalize::{fold, fold_into};
use crate::base::sort;
use crate::catalog::search::{DIGESTS_AT_ONCE, HitPlace, SearchedSession, Searcher, SessionHit, each, with_keys};
use crate::catalog::search_cache::{SearchCache, read_texts};
use crate::catalog::{SessionKey, families, find};
use crate::disk::parallel;
use crate::search::byte_search::Probe;
use crate::search::candidate::{Candidate, MatchField, MatchPlace};
use crate::search::entry_match::{EntryMatches, MatchingEntry, QueryParts};
use crate::search::matching::{APART, Matcher, Tier};
use crate::search::qualifier::value::QueryScope;
use crate::search::query::Query;
use crate::session::digest::Digest;
use crate::session::digest::listed::LazySession;
use crate::session::links::{ById, EntryIndex};
use crate::session::search_text::{SearchTexts, SearchTextsBuf};
use crate::session::search_titles::{SearchTitles, TitlesBuf};
use crate::session::tree::Tree;
use crate::session::trigrams;

impl Searcher {
    /// Counts the matching entries of found sessions, drops sessions without their own, and points the others to one of
    /// them. Returns `None` if the search was canceled.
    pub fn assign_entries(
        &self,
        sessions: &Arc<[SearchedSession]>,
        (query, scope): (&Query, &QueryScope),
        mut hits: Vec<SessionHit>,
        is_stale: impl Fn() -> bool + Sync,
    ) -> Option<Vec<SessionHit>> {
        let parts = QueryParts::new(query, scope);
        if let Some(feature) = parts.feature() {
            hits.iter_mut().for_each(|hit| hit.at = Some(HitPlace::Newest(feature)));
        }
        if !parts.can_match_cached() {
            return Some(hits);
        }
        let found: HashSet<SessionKey> = hits.iter().map(|hit| hit.session).collect();
        let found = sessions.iter().filter(|session| found.contains(&session.key));
        let cache = self.cache_with_titles(&found);
        let by_key: HashMap<SessionKey, &SearchedSession> = found.map(|session| (session.key, session)).collect();
        let searched = |hit: &SessionHit| by_key.get(&hit.session).copied();
        let is_on_disk = |hit: &SessionHit| searched(hit).is_some_and(|session| cache.is_on_disk(session));
        let alone = |hit: &mut SessionHit| {
            let is_nowhere = hit.hit.tier == Tier::Fuzzy && parts.is_single_word();
            let session = searched(hit).filter(|_| !is_nowhere)?;
            with(&cache, session, |candidate| {
                let entries = parts.match_cached(candidate).best();
                if let Some(group) = session.sharing_group {
                    return Some((group, hit.session, entries));
                }
                if let Some(entry) = entry_to_open(hit, &entries) {
                    point_to((&cache, session), candidate, &parts, hit, entry);
                }
                None
            })
        };
        let shared: Vec<(u32, _, Vec<MatchingEntry>)> = each(&mut hits, (is_on_disk, &is_stale), alone)?;
        let mut families: HashMap<u32, Vec<(&SearchedSession, Vec<MatchingEntry>)>> = HashMap::new();
        for (group, key, entries) in shared {
            let session = by_key.get(&key).copied();
            families.entry(group).or_default().extend(session.map(|session| (session, entries)));
        }
        let mut own = HashMap::new();
        for family in families.into_values() {
            own.extend(assign_to_oldest(family, &parts).into_iter().map(|(session, own)| (session.key, own)));
        }
        hits.retain(|hit| !matches!(own.get(&hit.session), Some(None)));
        let in_family = |hit: &mut SessionHit| {
            let (Some((entries, forks)), session) = (own.get(&hit.session)?, searched(hit)?) else { return None };
            hit.forks = *forks;
            let entry = entry_to_open(hit, entries)?;
            with(&cache, session, |candidate| point_to((&cache, session), candidate, &parts, hit, entry));
            None::<()>
        };
        each(&mut hits, (is_on_disk, &is_stale), in_family)?;
        Some(hits)
    }

    /// Returns the matching entries of an open session in file order, or `None` if the search was canceled.
    pub fn matching_entries(
        &self,
        (session, tree): (&SearchedSession, &Tree),
        (query, scope): (&Query, &QueryScope),
        is_stale: impl Fn() -> bool,
    ) -> Option<Vec<EntryIndex>> {
        let parts = QueryParts::new(query, scope);
        if parts.feature().is_some() {
            return Some(parts.match_tree(tree));
        }
        let mut matches = EntryMatches::default();
        if parts.can_match_cached() {
            let cache = self.cache_with_titles(&std::iter::once(session));
            matches = with(&cache, session, |candidate| {
                let is_unread = candidate.texts.is_none();
                let read = if is_unread { read_texts(&session.digest.path).ok().flatten() } else { None };
                let texts = candidate.texts.or_else(|| read.as_ref().map(SearchTextsBuf::as_texts));
                parts.match_cached(&Candidate { texts, ..*candidate })
            });
        }
        let is_read = !parts.needs_lines() || {
            let (probes, mut folded) = (parts.probes(), String::new());
            let may_have =
                |is_in: &mut dyn FnMut(&Probe) -> bool| probes.as_ref().is_none_or(|probes| probes.iter().any(is_in));
            find::lines(&session.digest.path, (tree, 0), may_have, |texts| {
                if let Some((at, entry, texts)) = texts {
                    folded.clear();
                    if query.everything {
                        fold_into(&mut folded, texts);
                    }
                    parts.match_line(entry, &folded, at, &mut matches);
                }
                !is_stale()
            })
        };
        let is_there = |at: &EntryIndex| (*at as usize) < tree.nodes.len();
        is_read.then(|| matches.best().into_iter().map(|entry| entry.at).filter(is_there).collect())
    }
}

/// Calls a function with the loaded data of a session.
fn with<T>(cache: &SearchCache, session: &SearchedSession, act: impl FnOnce(&Candidate<'_>) -> T) -> T {
    cache.with_texts(session, |texts| cache.with_candidate(session, texts, act))
}

/// The entries that belong to a session, and the number of forks that have no others; `None` for a fork that inherited
/// all of them.
type OwnEntries = Option<(Vec<MatchingEntry>, usize)>;

/// Assigns each entry to the oldest found session that has it. A fork found by its own name points to one of its own
/// entries, if there is any.
fn assign_to_oldest<'a>(
    mut family: Vec<(&'a SearchedSession, Vec<MatchingEntry>)>,
    parts: &QueryParts,
) -> Vec<(&'a SearchedSession, OwnEntries)> {
    sort::by(&mut family, |(a, _), (b, _)| a.digest.facts().compare_age(&b.digest.facts()));
    let name = |session: &'a SearchedSession| session.digest.name.as_deref().filter(|name| parts.is_in(&fold(name)));
    let id = |session: &'a SearchedSession, entry: &MatchingEntry| session.digest.entry_key(entry.at);
    let mut oldest: ById<usize> = ById::default();
    for (session, entries) in family.iter().filter(|(session, _)| name(session).is_some()) {
        oldest.extend(entries.iter().filter_map(|entry| id(session, entry)).map(|id| (id, usize::MAX)));
    }
    if !oldest.is_empty() {
        for (place, (session, _)) in family.iter().enumerate() {
            for id in &session.digest.details().entries.ids {
                oldest.entry(*id).and_modify(|oldest| *oldest = place.min(*oldest));
            }
        }
    }
    let mut first: ById<usize> = ById::default();
    let mut own: Vec<(&SearchedSession, OwnEntries)> = Vec::with_capacity(family.len());
    for (place, (session, mut entries)) in family.into_iter().enumerate() {
        let id = |entry: &MatchingEntry| id(session, entry);
        let before = entries.first().and_then(id).and_then(|id| first.get(&id)).copied();
        let is_own = |entry: &MatchingEntry| id(entry).and_then(|id| oldest.get(&id)) == Some(&place);
        if name(session).is_some() && entries.iter().any(is_own) {
            entries.retain(is_own);
        }
        entries.retain(|entry| id(entry).is_none_or(|id| !first.contains_key(&id)));
        let is_named_so = |other: &'a SearchedSession| name(session).is_none_or(|own| name(other) == Some(own));
        let assigned = match before.and_then(|before| own.get_mut(before)) {
            Some((other, Some((_, forks)))) if entries.is_empty() && is_named_so(other) => {
                *forks += 1;
                None
            }
            _ => Some((entries, 0)),
        };
        if let Some((entries, _)) = &assigned {
            first.extend(entries.iter().filter_map(id).map(|id| (id, place)));
        }
        own.push((session, assigned));
    }
    own
}

/// Counts the entries of a hit, and returns the one to open, or `None` if the hit already points to an entry.
fn entry_to_open(hit: &mut SessionHit, entries: &[MatchingEntry]) -> Option<EntryIndex> {
    hit.entries = entries.len();
    let is_there = |at: EntryIndex| entries.binary_search_by_key(&at, |entry| entry.at).is_ok();
    if matches!(hit.at, Some(HitPlace::Place(at)) if is_there(at)) {
        return None;
    }
    entries.iter().max_by_key(|entry| (entry.own, Reverse(entry.at))).map(|entry| entry.at)
}

/// Points a hit to an entry.
fn point_to(
    (cache, session): (&SearchCache, &SearchedSession),
    known: &Candidate<'_>,
    parts: &QueryParts,
    hit: &mut SessionHit,
    entry: EntryIndex,
) {
    let field = hit.hit.place.as_ref().map_or(MatchField::File, |place| place.field);
    let place = parts.place(known, entry);
    let place = place.unwrap_or(MatchPlace { field, entry: Some(entry), at: 0..0 });
    hit.at = Some(HitPlace::Place(entry));
    hit.hit.place = Some(place);
    hit.quote(cache, session, known.texts);
}

/// The number of sessions, newest first, whose texts are searched for adjacent words before others are printed.
const MAX_ADJACENT: usize = 512;

/// A session that may match. With `Some`, only a match whose words are apart counts, or one with adjacent words.
pub(crate) type RankedSession<'a> = (&'a SearchedSession, Option<bool>);

/// Returns the places of some sessions, newest first.
fn newest_first(sessions: &[SearchedSession], places: &[usize]) -> Vec<usize> {
    let timed = places.iter().map(|&at| (sessions[at].digest.facts().order_time(), at as u32)).collect();
    families::newest_first(timed, |at| &sessions[at].digest).collect()
}

impl SearchedSession {
    /// Sorts sessions, newest first.
    pub(crate) fn newest_first(sessions: &[Self]) -> Arc<[Self]> {
        let places = newest_first(sessions, &(0..sessions.len()).collect::<Vec<_>>());
        places.into_iter().map(|at| sessions[at].clone()).collect()
    }
}

impl Searcher {
    /// Returns the sessions that may match literally, in the order of their possible hits. A session whose texts may have
    /// the words adjacent is in two places.
    pub(crate) fn ranked<'a>(&self, sessions: &'a [SearchedSession], matcher: &Matcher) -> Vec<RankedSession<'a>> {
        let all: Vec<usize> = (0..sessions.len()).collect();
        let facts = |at: usize| sessions[at].digest.facts();
        let places = newest_first(sessions, &with_keys(sessions, &all, &matcher.keys(false)));
        let has_headings = |at: &usize| facts(*at).is_named() || facts(*at).is_labeled();
        let other = matcher.literal_rank(SearchTitles::default());
        let can_differ = other > (Tier::Name, 0);
        let accented: HashSet<usize> = with_keys(sessions, &places, &[trigrams::ACCENTS]).into_iter().collect();
        let adjacent = matcher.keys_of_adjacent().map(|keys| with_keys(sessions, &places, &keys));
        let adjacent: HashSet<usize> = adjacent.into_iter().flatten().take(MAX_ADJACENT).collect();
        let by_texts = |at: &usize| {
            let (id, cwd) = (fold(facts(*at).id()), fold(facts(*at).cwd()));
            can_differ && matcher.ranks_by_texts(&id, &cwd, accented.contains(at))
        };
        let by_texts: HashSet<usize> = places.iter().copied().filter(by_texts).collect();
        let differs = |at: &usize| can_differ && has_headings(at) || by_texts.contains(at);
        let different: Vec<usize> = places.iter().copied().filter(differs).collect();
        let mut ranks = HashMap::new();
        if !different.is_empty() {
            let found = parallel::map(different.chunks(DIGESTS_AT_ONCE), |some| {
                let (mut ranks, digests) =
                    (Vec::with_capacity(some.len()), some.iter().map(|&at| &*sessions[at].digest));
                LazySession::each_once(digests, &mut Vec::new(), |at, digest| {
                    let known = || Some(matcher.literal_rank(TitlesBuf::new(&digest).as_titles()));
                    let matched = || {
                        let session = (&sessions[some[at]], &*digest);
                        self.match_one(session, matcher, |found, _| (found.hit.tier, found.hit.score))
                    };
                    let rank = if by_texts.contains(&some[at]) { matched() } else { known() };
                    ranks.extend(rank.map(|rank| (some[at], rank)));
                });
                ranks
            });
            ranks.extend(found.into_iter().flatten());
        }
        let rank = |at: &usize| *ranks.get(at).unwrap_or(&other);
        let is_open = |at: &usize| adjacent.contains(at) && rank(at).1 >= APART && !by_texts.contains(at);
        let both = |at: usize| if is_open(&at) { vec![(at, Some(false)), (at, Some(true))] } else { vec![(at, None)] };
        let mut places: Vec<(usize, Option<bool>)> = places.into_iter().flat_map(both).collect();
        if !(ranks.is_empty() && adjacent.is_empty()) {
            sort::by_cached_key(&mut places, |(at, is_apart)| {
                let (tier, score) = rank(at);
                (tier, if *is_apart == Some(false) { score - APART } else { score })
            });
        }
        places.into_iter().map(|(at, is_apart)| (&sessions[at], is_apart)).collect()
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
                "use jwt",
                "webshop the",
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
                let matched = |&(session, is_apart): &RankedSession<'_>| {
                    let hit = searcher.match_one((session, &session.digest), &matcher, |hit, _| hit)?;
                    is_apart.is_none_or(|is_apart| hit.hit.is_apart() == is_apart).then_some(hit.session)
                };
                let ranked: Vec<SessionKey> = searcher.ranked(&sessions, &matcher).iter().filter_map(matched).collect();
                assert!(!found.is_empty() && ranked == found, "{text}: {ranked:?}, not {found:?}");
            }
        }
    }
}
