//! Runs queries over sessions in parallel, and caches the loaded data for the next query.

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::base::sort;
use crate::catalog::SessionKey;
use crate::catalog::grep::{self, HitOrder};
use crate::catalog::search_cache::{self, CachedFile, SearchCache, TextState};
pub use crate::catalog::searched_session::SearchedSession;
use crate::disk::parallel::{self, threads};
use crate::search::byte_search::whole_words;
use crate::search::candidate::MatchField;
use crate::search::matching::{Match, Matcher, Tier};
use crate::search::qualifier::value::QueryScope;
use crate::search::query::Query;
use crate::session::digest::listed::{LazySession, SessionFilter, SessionSource};
use crate::session::entry::text_fields::TextField;
use crate::session::search_text::{SearchTextBuilder, SearchTexts, TextBuffers};
use crate::session::search_titles::TitlesBuf;
use crate::session::tree::{EntryFeature, EntryIndex, Tree};

/// The number of sessions that a thread matches between checks for cancellation.
const CANCEL_CHECK_INTERVAL: usize = 64;
/// The minimum number of sessions for a second thread.
const MIN_PARALLEL: usize = 256;
/// The number of bytes shown before and after a hit.
const EXCERPT: (usize, usize) = (36, 120);

/// The maximum size of cached texts in bytes. Texts beyond it are read for each search.
const MAX_CACHED: usize = 128 * 1024 * 1024;

/// The maximum number of sessions whose titles are cached.
const MAX_KEPT: usize = 20_000;

/// The number of sessions whose titles are folded before they are cached.
const TITLES_AT_ONCE: usize = 1024;

/// The number of sessions whose digests are read together; few, so that all threads get some.
pub(super) const DIGESTS_AT_ONCE: usize = 16;

/// The maximum size in bytes of cached texts that are also in the index. Covers some thousand short sessions, for which
/// system calls would dominate a search. Other texts are read from the index for each search, which is fast.
const MAX_CACHED_INDEXED: usize = 8 * 1024 * 1024;

/// A found session.
#[derive(Clone, Debug)]
pub struct SessionHit {
    /// The session.
    pub session: SessionKey,
    /// The best match.
    pub hit: Match,
    /// The entry of the match.
    pub at: Option<HitPlace>,
    /// The text around the match; `None` if the list already shows it.
    pub snippet: Option<HitQuote>,
    /// `Some(true)` if the entry is on the path from the root to the leaf.
    pub is_active: Option<bool>,
    /// The number of matching entries that no older session has; 0 if unknown.
    pub entries: usize,
    /// The number of forks with the same matching entries only.
    pub forks: usize,
}

/// The text around a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitQuote {
    /// The kind of text; `None` if it is obvious.
    pub field: Option<TextField>,
    /// The excerpt.
    pub text: String,
    /// `true` if the excerpt is truncated at its start.
    pub is_cut: bool,
}

/// An entry of a session that may not be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitPlace {
    /// The index of the entry.
    Place(EntryIndex),
    /// The byte offset of its line.
    Offset(u64),
    /// The newest entry with a feature that requires the tree.
    Newest(EntryFeature),
}

impl HitPlace {
    /// Finds the entry in the tree of its session.
    pub fn find(self, tree: &Tree) -> Option<EntryIndex> {
        match self {
            Self::Place(at) => Some(at).filter(|&at| (at as usize) < tree.nodes.len()),
            Self::Offset(offset) => {
                let found = tree.nodes.binary_search_by_key(&offset, |node| node.offset);
                found.ok().map(|at| at as EntryIndex)
            }
            Self::Newest(feature) => tree.featured(feature).last().copied(),
        }
    }
}

/// The search over sessions, with its cache and the last result.
#[derive(Debug)]
pub struct Searcher {
    /// The maximum size of cached texts in bytes.
    most: usize,
    cache: RwLock<SearchCache>,
    previous: Mutex<Option<PreviousSearch>>,
}

/// The last search. A narrower query only searches its hits.
#[derive(Debug)]
struct PreviousSearch {
    query: Query,
    sessions: Arc<[SearchedSession]>,
    generation: u64,
    hits: Vec<usize>,
}

impl Default for Searcher {
    fn default() -> Self {
        Self::with_limit(MAX_CACHED)
    }
}

impl Searcher {
    /// Creates a searcher with a maximum size of cached texts in bytes.
    fn with_limit(most: usize) -> Self {
        Self { most, cache: RwLock::default(), previous: Mutex::default() }
    }

    /// Releases all cached data.
    pub(crate) fn clear_cache(&self) {
        *self.previous.lock() = None;
        self.cache.write().clear();
    }

    /// Loads the texts of sessions, first those in the index. Reports the progress after each batch until all are loaded
    /// or `report` returns `false`.
    pub fn read(&self, sessions: &[SearchedSession], mut report: impl FnMut(usize, usize) -> bool) {
        let mut missing: Vec<&SearchedSession> = {
            let cache = self.cache.read();
            let is_known = |known: &CachedFile| known.text_state != TextState::Unread;
            sessions.iter().filter(|session| !cache.get(session).is_some_and(is_known)).collect()
        };
        let is_large = sessions.len() > MAX_KEPT;
        missing.retain(|session| !(is_large && session.digest.has_stored_texts()));
        sort::by_key(&mut missing, |session| !session.digest.has_stored_texts());
        let before = sessions.len() - missing.len();
        let load = |session: &&SearchedSession,
                    (indexed, builder, buffer): &mut (TextBuffers, SearchTextBuilder, Vec<u8>),
                    is_stopped: parallel::StopSignal<'_>| {
            let (texts, most) = if session.digest.has_stored_texts() {
                let most = self.most.min(MAX_CACHED_INDEXED);
                if self.cache.read().bytes >= most {
                    return None; // read from the index for each search
                }
                (session.digest.stored_texts(indexed), most)
            } else {
                let read = search_cache::read_into(&session.digest.path, (builder, buffer), is_stopped);
                (read.ok().flatten(), self.most)
            };
            self.cache.write().add_texts(session, texts?, most);
            None::<()>
        };
        parallel::each(&missing, (load, |_, _| None), |_, done| report(before + done, sessions.len()));
    }

    /// Calls a function with the texts of a session, loading them if they are not cached.
    pub(crate) fn with_texts<T>(&self, session: &SearchedSession, act: impl FnOnce(Option<SearchTexts<'_>>) -> T) -> T {
        self.cache.read().with_texts(session, act)
    }

    /// Returns the cache with the titles of some sessions, unless there are many. Other titles are folded for each
    /// search.
    pub(super) fn cache_with_titles<'a>(
        &self,
        sessions: &(impl Iterator<Item = &'a SearchedSession> + Clone),
    ) -> RwLockReadGuard<'_, SearchCache> {
        loop {
            let cache = self.cache.read();
            let missing = sessions.clone().filter(|session| cache.get(session).is_none());
            let missing: Vec<&SearchedSession> = missing.take(MAX_KEPT.saturating_sub(cache.sessions.len())).collect();
            if missing.is_empty() {
                return cache;
            }
            drop(cache);
            for some in missing.chunks(TITLES_AT_ONCE) {
                let titles = parallel::map(some.chunks(DIGESTS_AT_ONCE), |some| {
                    LazySession::load_all(&some.iter().map(|session| &*session.digest).collect::<Vec<_>>());
                    some.iter().map(|session| TitlesBuf::new(&session.digest)).collect::<Vec<_>>()
                });
                let mut cache = self.cache.write();
                some.iter()
                    .zip(titles.iter().flatten())
                    .for_each(|(session, titles)| cache.add_titles(session, titles));
            }
        }
    }

    /// Returns the sessions to search: all, or the hits of the last search if the query narrows it.
    fn to_search(&self, query: &Query, sessions: &Arc<[SearchedSession]>) -> Vec<usize> {
        let (last, generation) = (self.previous.lock(), self.cache.read().generation);
        let is_same = |last: &&PreviousSearch| Arc::ptr_eq(&last.sessions, sessions) && last.generation == generation;
        let narrowed = last.as_ref().filter(is_same).filter(|last| query.narrows(&last.query));
        narrowed.map_or_else(|| (0..sessions.len()).collect(), |last| last.hits.clone())
    }

    /// Returns the matching sessions, best first, or `None` if `is_stale` returned `true`. A following narrower query
    /// only searches these.
    pub fn search(
        &self,
        sessions: &Arc<[SearchedSession]>,
        (query, scope): (&Query, &QueryScope),
        is_stale: impl Fn() -> bool + Sync,
    ) -> Option<Vec<SessionHit>> {
        let found = self.find(true, sessions, (query, scope), &is_stale)?;
        Some(found.into_iter().map(|(_, hit)| hit).collect())
    }

    /// Like [`Searcher::search`] for an automatic query: does not replace the last search. Returns the sessions with their
    /// hits, without excerpts.
    pub(crate) fn search_quietly<'a>(
        &self,
        sessions: &'a Arc<[SearchedSession]>,
        (query, scope): (&Query, &QueryScope),
        is_stale: impl Fn() -> bool + Sync,
    ) -> Option<Vec<(&'a SearchedSession, SessionHit)>> {
        let found = self.find(false, sessions, (query, scope), &is_stale)?;
        Some(found.into_iter().map(|(at, hit)| (&sessions[at], hit)).collect())
    }

    /// Returns the matches by the index of their session, best first. `is_shown` adds excerpts, and keeps the hits for a narrower query.
    fn find(
        &self,
        is_shown: bool,
        sessions: &Arc<[SearchedSession]>,
        (query, scope): (&Query, &QueryScope),
        is_stale: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<(usize, SessionHit)>> {
        let matcher = Matcher::new(query, scope);
        let all = self.to_search(query, sessions);
        let literal = with_keys(sessions, &all, &matcher.keys(false));
        let is_complete = literal.len() == all.len();
        let mut hits = self.find_among((literal, sessions), is_shown, (query, &matcher), is_stale)?;
        // Fuzzy matches only count if no session has a literal match.
        if hits.iter().any(|(_, found)| found.hit.tier < Tier::Fuzzy) {
            hits.retain(|(_, found)| found.hit.tier < Tier::Fuzzy);
        } else if !is_complete && matcher.is_fuzzy() {
            let others = with_keys(sessions, &all, &matcher.keys(true));
            hits = self.find_among((others, sessions), is_shown, (query, &matcher), is_stale)?;
        }
        let path = |at: usize| sessions[at].digest.facts().path();
        sort::by(&mut hits, |(a, one), (b, other)| {
            one.hit.rank().cmp(&other.hit.rank()).then_with(|| path(*a).compare(path(*b)))
        });
        Some(hits)
    }

    /// Returns the matches among some sessions, by index. If all are searched, a following narrower query only searches
    /// the matches.
    fn find_among(
        &self,
        (mut to_search, sessions): (Vec<usize>, &Arc<[SearchedSession]>),
        is_shown: bool,
        (query, matcher): (&Query, &Matcher),
        is_stale: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<(usize, SessionHit)>> {
        let cache = self.cache_with_titles(&to_search.iter().map(|&at| &sessions[at]));
        let is_all = to_search.len() == sessions.len();
        let is_on_disk = |at: &usize| cache.is_on_disk(&sessions[*at]);
        let work = |at: &mut usize| {
            let session = &sessions[*at];
            let hit = |texts: Option<SearchTexts<'_>>| {
                let mut hit = cache.with_candidate(session, texts, |candidate| {
                    Some(SessionHit::new(session.key, matcher.matches(candidate)?))
                })?;
                if is_shown {
                    hit.quote(&cache, session, texts);
                }
                Some(hit)
            };
            let hit = if matcher.has_texts() { cache.with_texts(session, hit) } else { hit(None) };
            hit.map(|hit| (*at, hit))
        };
        let hits = each(&mut to_search, (is_on_disk, is_stale), work)?;
        if is_shown && is_all {
            *self.previous.lock() = Some(PreviousSearch {
                query: query.clone(),
                sessions: sessions.clone(),
                generation: cache.generation,
                hits: hits.iter().map(|(at, _)| *at).collect(),
            });
        }
        Some(hits)
    }

    /// Returns the sessions to search completely: those that match all terms except words. Newest first. Returns `None`
    /// if the search was canceled.
    pub(crate) fn sessions_to_grep<'a>(
        &self,
        sessions: &'a Arc<[SearchedSession]>,
        (query, scope): (&Query, &QueryScope),
        is_stale: impl Fn() -> bool + Sync,
    ) -> Option<Vec<&'a SearchedSession>> {
        let found = self.search_quietly(sessions, (&query.without_words(), scope), is_stale)?;
        Some(found.into_iter().map(|(session, _)| session).collect())
    }

    /// Searches the complete content of sessions, and reports hits as they are found with the number of sessions
    /// searched.
    pub(crate) fn search_everything(
        &self,
        sessions: &Arc<[SearchedSession]>,
        (query, scope): (&Query, &QueryScope),
        is_stale: impl Fn() -> bool + Sync,
        mut report: impl FnMut(Vec<SessionHit>, usize) -> bool,
    ) {
        let Some(to_grep) = self.sessions_to_grep(sessions, (query, scope), &is_stale) else { return };
        let paths: Vec<PathBuf> = to_grep.iter().map(|session| session.digest.file_path()).collect();
        let by_path: HashMap<&Path, &SearchedSession> =
            paths.iter().map(PathBuf::as_path).zip(to_grep.iter().copied()).collect();
        let (words, skipped) = (query.words(), sessions.len() - to_grep.len());
        grep::each(&paths, (&words, &query.roles()), (1, HitOrder::Found), is_stale, |batch| {
            let mut found: Vec<SessionHit> = Vec::new();
            for hit in batch.hits {
                let Some(session) = by_path.get(hit.path.as_path()) else { continue };
                // The hits of a session are consecutive, and the first is the one to open.
                if found.last().is_none_or(|last| last.session != session.key) {
                    let time = session.digest.facts().order_time();
                    let of_text = Match { tier: Tier::Text, score: 0, place: None, time };
                    found.push(SessionHit {
                        at: Some(HitPlace::Offset(hit.offset)),
                        snippet: Some(HitQuote { field: Some(hit.field), text: hit.snippet.text, is_cut: false }),
                        is_active: hit.active,
                        ..SessionHit::new(session.key, of_text)
                    });
                }
            }
            report(found, skipped + batch.done)
        });
        report(Vec::new(), sessions.len());
    }
}

/// Returns those of some sessions whose texts and titles may have all keys (see [`crate::session::trigrams`]): sessions
/// in the index that have them, and all others.
pub(super) fn with_keys(sessions: &[SearchedSession], all: &[usize], keys: &[u16]) -> Vec<usize> {
    if keys.is_empty() {
        return all.to_vec();
    }
    let mut filters: Vec<(&Arc<dyn SessionSource>, SessionFilter<'_>)> = Vec::new();
    let may_match = |&&at: &&usize| {
        let Some((source, number)) = sessions[at].digest.source() else { return true };
        let known = filters.iter().position(|(known, _)| Arc::ptr_eq(known, source));
        let place = known.unwrap_or_else(|| {
            filters.push((source, source.with_keys(keys)));
            filters.len() - 1
        });
        filters[place].1(number)
    };
    all.iter().filter(may_match).copied().collect()
}

/// Maps items with `work`, in parallel if there are many, and keeps their order. Returns `None` if `is_stale` returned
/// `true`, which is checked periodically and before each item that `takes_long`.
pub(super) fn each<T: Send, R: Send>(
    items: &mut [T],
    (takes_long, is_stale): (impl Fn(&T) -> bool + Sync, impl Fn() -> bool + Sync),
    work: impl Fn(&mut T) -> Option<R> + Sync,
) -> Option<Vec<R>> {
    let stop = AtomicBool::new(false);
    let some = |items: &mut [T]| {
        let mut done = Vec::new();
        for (count, item) in items.iter_mut().enumerate() {
            let is_due = count % CANCEL_CHECK_INTERVAL == 0 || takes_long(item);
            if is_due && (stop.load(Ordering::Relaxed) || is_stale()) {
                stop.store(true, Ordering::Relaxed);
                break;
            }
            done.extend(work(item));
        }
        done
    };
    let done = if items.len() < MIN_PARALLEL {
        some(items)
    } else {
        let size = items.len().div_ceil(threads());
        thread::scope(|scope| {
            let workers: Vec<_> = items.chunks_mut(size).map(|chunk| scope.spawn(|| some(chunk))).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        })
    };
    (!stop.into_inner()).then_some(done)
}

impl SessionHit {
    pub(super) fn new(session: SessionKey, hit: Match) -> Self {
        let at = hit.place.as_ref().and_then(|place| place.entry).map(HitPlace::Place);
        Self { session, at, hit, snippet: None, is_active: None, entries: 0, forks: 0 }
    }

    /// Adds the place and the excerpt of a hit.
    pub(super) fn quote(&mut self, cache: &SearchCache, session: &SearchedSession, texts: Option<SearchTexts<'_>>) {
        let entry = self.hit.place.as_ref().and_then(|place| place.entry);
        self.is_active = entry.map(|entry| cache.facts(session).active.has(entry));
        self.snippet = snippet(&self.hit, cache, session, texts);
    }
}

/// Returns the text around a hit, or `None` if the list already shows it.
fn snippet(
    hit: &Match,
    cache: &SearchCache,
    session: &SearchedSession,
    texts: Option<SearchTexts<'_>>,
) -> Option<HitQuote> {
    let place = hit.place.as_ref()?;
    let whole = |text: String| Some(HitQuote { field: None, text, is_cut: false });
    let passages = match place.field {
        MatchField::Conversation => texts?.conversation,
        MatchField::Summary => texts?.summaries,
        MatchField::Label => {
            let digest = session.digest.uncached_digest();
            let label = digest.labels.iter().find(|label| Some(label.at) == place.entry)?;
            return whole(format!("[{}]", label.text));
        }
        MatchField::File => {
            let details = session.digest.uncached_digest().details_once();
            let touched = details.touches.all.iter().find(|touched| Some(touched.entry) == place.entry)?;
            return whole(details.touches.paths.get(touched.path).to_string());
        }
        MatchField::Name | MatchField::FirstMessage | MatchField::Id | MatchField::Cwd => return None,
    };
    let folded = passages.folded;
    let (entry, text) = passages.around(place.at.start)?;
    let start = folded.floor_char_boundary(place.at.start.saturating_sub(EXCERPT.0)).max(text.start);
    // A phrase can continue in the next text.
    let end = folded.ceil_char_boundary((place.at.end + EXCERPT.1).min(text.end.max(place.at.end)));
    let shown = whole_words(folded, start..end, place.at.clone());
    let of = match place.field {
        MatchField::Summary => TextField::Summary,
        _ if cache.facts(session).prompts.binary_search(&entry).is_ok() => TextField::User,
        _ => TextField::Assistant,
    };
    let is_cut = shown.start > text.start;
    Some(HitQuote { field: Some(of), text: passages.original_text(shown), is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::disk::demo;
    use crate::disk::scan::ScanSources;

    fn found(
        searcher: &Searcher,
        sessions: &Arc<[SearchedSession]>,
        query: &str,
    ) -> Vec<(SessionKey, Option<HitQuote>)> {
        let here = QueryScope { home: demo::HOME.into(), ..QueryScope::default() };
        let query = Query::parse(query).unwrap();
        let hits = searcher.search(sessions, (&query, &here), || false).unwrap();
        hits.into_iter().map(|hit| (hit.session, hit.snippet)).collect()
    }

    #[test]
    fn uncached_texts_are_read_for_each_search() {
        let dir = tempfile::tempdir().unwrap();
        demo::write(dir.path(), dir.path(), None).unwrap();
        let dirs = [dir.path().into()];
        let sources = ScanSources { dirs: &dirs, home: demo::HOME, cache: None };
        let catalog = Catalog::read(sources, 0);
        let sessions = catalog.searched_sessions();
        assert_eq!(sessions.len(), 44);
        let all = Searcher::default();
        all.read(&sessions, |_, _| true);
        let size = all.cache.read().bytes;
        for most in [0, size / 3] {
            let little = Searcher::with_limit(most);
            little.read(&sessions, |_, _| true);
            assert!(little.cache.read().bytes <= most);
            for query in ["cookie", "redis expiry", "rfctauth", "edited:store.ts the", "-redis is:abandoned"] {
                assert_eq!(found(&little, &sessions, query), found(&all, &sessions, query), "{query}, {most} bytes");
            }
        }
        all.clear_cache();
        let cache = all.cache.read();
        assert_eq!((cache.bytes, cache.sessions.len(), cache.arena.bytes()), (0, 0, 0));
        drop(cache);
        let cookie = found(&all, &sessions, "cookie");
        assert!(cookie.iter().all(|(_, snippet)| snippet.is_none()), "only titles are known");
    }
}
