//! Holds sessions against queries, by all processors, and keeps what was read of them for the next key.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::disk::crew::threads;
use crate::disk::files::Files;
use crate::library::{Library, SessionKey, grep, texts};
use crate::search::candidate::{Candidate, MatchField, MatchPlace, Titles};
use crate::search::here::HereAndNow;
use crate::search::matching::{Match, Matcher, Tier};
use crate::search::query::Query;
use crate::session::digest::texts::Texts;
use crate::session::digest::{Digest, Shared};
use crate::session::tree::{Index, Tree};

/// Sessions that one thread tries before it looks whether anybody still waits.
const BETWEEN_LOOKS: usize = 64;
/// Fewer sessions are not worth a second thread.
const WORTH_SPLITTING: usize = 256;
/// Of so many hits the entry is looked for that has all words: more are hardly looked at.
const LOOKED_AT: usize = 100;
/// How much of a text is shown before and behind a hit, in bytes.
const AROUND_HIT: (usize, usize) = (36, 120);

/// The most that is kept of texts, in bytes. What is beyond that is read again for each search.
const MOST_KEPT: usize = 128 * 1024 * 1024;

/// A session that is searched.
#[derive(Clone, Debug)]
pub struct Sought {
    /// Which one.
    pub key: SessionKey,
    /// What the list knows of it.
    pub digest: Shared,
    /// Whether a pi is likely at work in it.
    pub is_live: bool,
    /// Whether others were forked from it.
    pub has_forks: bool,
    /// Whether it was forked from another one.
    pub is_fork: bool,
}

impl Library {
    /// All sessions as a search needs them, the newest first.
    pub(crate) fn sought(&self) -> Arc<[Sought]> {
        let sought = |key: SessionKey| Sought {
            key,
            digest: self[key].clone(),
            is_live: self.is_live(key),
            has_forks: self.forks(key).next().is_some(),
            is_fork: self[key].header.parent_session.is_some(),
        };
        self.newest_first().into_iter().map(sought).collect()
    }
}

/// A session that was found.
#[derive(Clone, Debug)]
pub struct SessionHit {
    /// Which one.
    pub session: SessionKey,
    /// How well, and in what.
    pub hit: Match,
    /// The entry that it was found in.
    pub at: Option<At>,
    /// The text around, folded; nothing where the list shows it anyway.
    pub snippet: Option<String>,
    /// Whether that is on the path from the root to the leaf.
    pub is_active: Option<bool>,
}

/// An entry of a session that may not be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// By its place among the entries.
    Place(Index),
    /// By where its line starts in the file, in bytes.
    Offset(u64),
}

impl At {
    /// Where the entry is in the tree of the session.
    pub fn find(self, tree: &Tree) -> Option<Index> {
        match self {
            Self::Place(at) => Some(at).filter(|&at| (at as usize) < tree.nodes.len()),
            Self::Offset(offset) => {
                let found = tree.nodes.binary_search_by_key(&offset, |node| node.offset);
                found.ok().map(|at| at as Index)
            }
        }
    }
}

/// What is known of sessions, and what was found last.
#[derive(Debug)]
pub struct Searcher {
    /// The most that is kept of texts, in bytes.
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    sessions: HashMap<SessionKey, Known>,
    /// How large the texts are, in bytes.
    bytes: usize,
    /// How often texts were added.
    generation: u64,
    last: Option<Last>,
}

/// What was read of a file when it had a length and a time.
#[derive(Clone, Debug)]
struct Known {
    as_of: (u64, i64),
    titles: Arc<Titles>,
    text: Text,
}

/// What was read of a session's text.
#[derive(Clone, Debug)]
enum Text {
    /// Nothing yet.
    Unread,
    /// It is here.
    Kept(Arc<Texts>),
    /// There was no room to keep it: it is read when it is searched.
    OnDisk,
}

/// The last search: one that narrows it looks only among its hits.
#[derive(Debug)]
struct Last {
    query: Query,
    sessions: Arc<[Sought]>,
    generation: u64,
    known: Arc<[Known]>,
    hits: Vec<usize>,
}

impl Known {
    fn new(session: &Sought) -> Self {
        Self { as_of: as_of(session), titles: Arc::new(Titles::new(&session.digest)), text: Text::Unread }
    }
}

fn as_of(session: &Sought) -> (u64, i64) {
    (session.digest.bytes, session.digest.mtime)
}

impl Kept {
    fn put(&mut self, session: &Sought, text: Texts, most: usize) {
        let bytes = text.bytes();
        let text = match self.bytes + bytes <= most {
            true => Text::Kept(Arc::new(text)),
            false => Text::OnDisk,
        };
        self.forget(session.key);
        if let Text::Kept(_) = text {
            self.bytes += bytes;
        }
        self.sessions.insert(session.key, Known { text, ..Known::new(session) });
    }

    fn forget(&mut self, key: SessionKey) {
        if let Some(Known { text: Text::Kept(text), .. }) = self.sessions.remove(&key) {
            self.bytes -= text.bytes();
        }
    }
}

impl Default for Searcher {
    fn default() -> Self {
        Self::keeping(MOST_KEPT)
    }
}

impl Searcher {
    /// One that keeps so many bytes of texts at the most.
    pub(crate) fn keeping(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // What a thread that panicked left is whole: it is put in place by single steps.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back all that is kept.
    pub(crate) fn forget(&self) {
        *self.lock() = Kept::default();
    }

    /// Reads the texts of sessions that are not known yet, in their order; says after each batch how many of how many
    /// are, until all are or `told` returns false.
    pub fn read(&self, files: Files, sessions: &[Sought], mut told: impl FnMut(usize, usize) -> bool) {
        let is_known = |kept: &Kept, session: &Sought| {
            let known = kept.sessions.get(&session.key);
            known.is_some_and(|known| known.as_of == as_of(session) && !matches!(known.text, Text::Unread))
        };
        let missing: Vec<&Sought> = {
            let kept = self.lock();
            sessions.iter().filter(|session| !is_known(&kept, session)).collect()
        };
        let before = sessions.len() - missing.len();
        let paths: Vec<_> = missing.iter().map(|session| &session.digest.path).collect();
        texts::read(files, &paths, |batch| {
            let mut kept = self.lock();
            for (at, texts) in batch.texts {
                kept.put(missing[at], texts, self.most);
            }
            kept.generation += 1;
            drop(kept);
            told(before + batch.done, sessions.len())
        });
    }

    /// What was read of a session, or is read now if there was no room to keep it.
    pub(crate) fn texts_of(&self, files: Files, session: &Sought) -> Option<Arc<Texts>> {
        let known = self.lock().sessions.get(&session.key)?.clone();
        known.text(files, session)
    }

    /// What is known of the sessions, and of these the ones to try.
    fn prepare(&self, query: &Query, sessions: &Arc<[Sought]>) -> (u64, Arc<[Known]>, Vec<usize>) {
        let kept = &mut *self.lock();
        let same = kept
            .last
            .as_ref()
            .filter(|last| Arc::ptr_eq(&last.sessions, sessions) && last.generation == kept.generation);
        if let Some(last) = same {
            let all = || (0..sessions.len()).collect();
            let to_try = if query.narrows(&last.query) { last.hits.clone() } else { all() };
            return (last.generation, last.known.clone(), to_try);
        }
        let mut known = Vec::with_capacity(sessions.len());
        for session in sessions.iter() {
            if kept.sessions.get(&session.key).is_none_or(|known| known.as_of != as_of(session)) {
                kept.forget(session.key);
                kept.sessions.insert(session.key, Known::new(session));
            }
            known.extend(kept.sessions.get(&session.key).cloned());
        }
        (kept.generation, known.into(), (0..sessions.len()).collect())
    }

    /// The sessions that match, the best first; `None` if `is_stale` says that nobody waits any more.
    pub fn search(
        &self,
        files: Files,
        sessions: &Arc<[Sought]>,
        (query, around): (&Query, &HereAndNow),
        is_stale: impl Fn() -> bool + Sync,
    ) -> Option<Vec<SessionHit>> {
        let (generation, known, to_try) = self.prepare(query, sessions);
        let matcher = Matcher::new(query, around);
        let stop = AtomicBool::new(false);
        let work = |places: &[usize]| {
            let mut found = Vec::new();
            for (count, &at) in places.iter().enumerate() {
                let is_due = count % BETWEEN_LOOKS == 0 || matches!(known[at].text, Text::OnDisk);
                if is_due && (stop.load(Ordering::Relaxed) || is_stale()) {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
                let text = known[at].text(files, &sessions[at]);
                found.extend(try_one(&matcher, &sessions[at], &known[at].titles, text.as_deref()).map(|hit| (at, hit)));
            }
            found
        };
        let mut hits: Vec<(usize, SessionHit)> = if to_try.len() < WORTH_SPLITTING {
            work(&to_try)
        } else {
            thread::scope(|scope| {
                let chunks = to_try.chunks(to_try.len().div_ceil(threads()));
                let workers: Vec<_> = chunks.map(|chunk| scope.spawn(|| work(chunk))).collect();
                workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
            })
        };
        if stop.into_inner() {
            return None;
        }
        let places = hits.iter().map(|(at, _)| *at).collect();
        // Scattered letters are for what is nowhere as it was typed.
        if hits.iter().any(|(_, found)| found.hit.tier < Tier::Fuzzy) {
            hits.retain(|(_, found)| found.hit.tier < Tier::Fuzzy);
        }
        hits.sort_by_key(|(_, found)| found.hit.rank());
        for (at, found) in hits.iter_mut().take(LOOKED_AT) {
            if let Some(text) = known[*at].text(files, &sessions[*at]) {
                put_together(&matcher, found, &sessions[*at].digest, &text);
            }
        }
        let last = Last { query: query.clone(), sessions: sessions.clone(), generation, known, hits: places };
        self.lock().last = Some(last);
        Some(hits.into_iter().map(|(_, found)| found).collect())
    }

    /// The sessions in which everything is searched, as they are found, with how many of the sessions are done.
    pub(crate) fn search_everything(
        &self,
        (files, sessions): (Files, &Arc<[Sought]>),
        (query, around): (&Query, &HereAndNow),
        is_stale: impl Fn() -> bool + Sync,
        mut told: impl FnMut(Vec<SessionHit>, usize) -> bool,
    ) {
        // What must hold besides; without words to tell them apart, the newest come first.
        let Some(fit) = self.search(files, sessions, (&query.without_words(), around), &is_stale) else { return };
        let paths: HashMap<SessionKey, &Sought> = sessions.iter().map(|session| (session.key, session)).collect();
        let fit: Vec<(&Sought, i64)> =
            fit.iter().filter_map(|found| Some((*paths.get(&found.session)?, found.hit.time))).collect();
        let by_path: HashMap<_, _> =
            fit.iter().map(|(session, time)| (session.digest.path.as_path(), (session.key, *time))).collect();
        let paths: Vec<_> = fit.iter().map(|(session, _)| &session.digest.path).collect();
        let (words, skipped) = (query.words(), sessions.len() - fit.len());
        let wanted = grep::Wanted { words: &words, in_one: 1, in_all: usize::MAX };
        grep::each(files, &paths, wanted, is_stale, |batch| {
            let mut found: Vec<SessionHit> = Vec::new();
            for hit in batch.hits {
                let Some(&(session, time)) = by_path.get(hit.path.as_path()) else { continue };
                // The hits of a session come together, and the first is the one to go to.
                if found.last().is_none_or(|last| last.session != session) {
                    found.push(of_everything(&hit, session, time));
                }
            }
            told(found, skipped + batch.done)
        });
        told(Vec::new(), sessions.len());
    }
}

fn of_everything(hit: &grep::EntryHit, session: SessionKey, time: i64) -> SessionHit {
    SessionHit {
        session,
        hit: Match { tier: Tier::Text, score: 0, place: None, time },
        at: Some(At::Offset(hit.offset)),
        snippet: Some(format!("{}: {}", hit.field.name(), hit.snippet.text)),
        is_active: hit.active,
    }
}

impl Known {
    fn text(&self, files: Files, session: &Sought) -> Option<Arc<Texts>> {
        match &self.text {
            Text::Unread => None,
            Text::Kept(text) => Some(text.clone()),
            Text::OnDisk => texts::of(files, &session.digest.path).ok().flatten().map(Arc::new),
        }
    }
}

/// Where all words stand in one entry, that is the place to go to.
fn put_together(matcher: &Matcher, found: &mut SessionHit, digest: &Digest, texts: &Texts) {
    if !matches!(found.hit.place, Some(MatchPlace { field: MatchField::Conversation, .. })) {
        return;
    }
    let Some(place) = matcher.together(texts) else { return };
    found.at = place.entry.map(At::Place);
    found.is_active = place.entry.map(|entry| digest.is_active(entry));
    found.hit.place = Some(place);
    found.snippet = snippet(&found.hit, digest, Some(texts));
}

fn try_one(matcher: &Matcher, session: &Sought, titles: &Titles, texts: Option<&Texts>) -> Option<SessionHit> {
    let hit = matcher.matches(&Candidate {
        digest: &session.digest,
        titles,
        texts,
        is_live: session.is_live,
        has_forks: session.has_forks,
        is_fork: session.is_fork,
    })?;
    let entry = hit.place.as_ref().and_then(|place| place.entry);
    let is_active = entry.map(|entry| session.digest.is_active(entry));
    let snippet = snippet(&hit, &session.digest, texts);
    Some(SessionHit { session: session.key, at: entry.map(At::Place), hit, snippet, is_active })
}

/// The folded text around a hit; nothing for one in what the list shows anyway.
fn snippet(hit: &Match, digest: &Digest, texts: Option<&Texts>) -> Option<String> {
    let place = hit.place.as_ref()?;
    let folded = match place.field {
        MatchField::Conversation => &texts?.conversation.folded,
        MatchField::Summary => &texts?.summaries.folded,
        MatchField::Label => {
            let label = digest.labels.iter().find(|label| Some(label.at) == place.entry)?;
            return Some(format!("[{}]", label.text));
        }
        MatchField::File => {
            let touched = digest.touches.iter().find(|touched| Some(touched.entry) == place.entry)?;
            return Some(touched.path.to_string());
        }
        MatchField::Name | MatchField::FirstMessage | MatchField::Id | MatchField::Cwd => return None,
    };
    let start = folded.floor_char_boundary(place.at.start.saturating_sub(AROUND_HIT.0));
    let end = folded.ceil_char_boundary((place.at.end + AROUND_HIT.1).min(folded.len()));
    let cut = if start > 0 { "…" } else { "" };
    Some(format!("{cut}{}", &folded[start..end]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::demo;

    fn found(searcher: &Searcher, sessions: &Arc<[Sought]>, query: &str) -> Vec<(SessionKey, Option<String>)> {
        let here = HereAndNow { now_ms: 0, home: demo::HOME.into(), zone: jiff::tz::TimeZone::UTC };
        let query = Query::parse(query).unwrap();
        let hits = searcher.search(Files::Demo, sessions, (&query, &here), || false).unwrap();
        hits.into_iter().map(|hit| (hit.session, hit.snippet)).collect()
    }

    #[test]
    fn what_there_is_no_room_for_is_read_when_it_is_searched() {
        let library = Library::read((Files::Demo, &[demo::ROOT.into()], demo::HOME), 0, std::path::Path::to_path_buf);
        let sessions = library.sought();
        assert_eq!(sessions.len(), 17);
        let all = Searcher::default();
        all.read(Files::Demo, &sessions, |_, _| true);
        let whole = all.lock().bytes;
        for most in [0, whole / 3] {
            let little = Searcher::keeping(most);
            little.read(Files::Demo, &sessions, |_, _| true);
            assert!(little.lock().bytes <= most);
            for query in ["cookie", "redis expiry", "rfctauth", "edited:store.ts the", "-redis is:abandoned"] {
                assert_eq!(found(&little, &sessions, query), found(&all, &sessions, query), "{query}, {most} bytes");
            }
        }
        all.forget();
        assert!(all.lock().bytes == 0 && all.lock().sessions.is_empty());
        let cookie = found(&all, &sessions, "cookie");
        assert!(cookie.iter().all(|(_, snippet)| snippet.is_none()), "only titles are known");
    }
}
