//! Holds sessions against queries, by all processors, and keeps what was read of them for the next key.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use crate::disk::crew::threads;
use crate::disk::files::Files;
use crate::library::shelves::{Place, Shelves};
use crate::library::{Library, SessionKey, grep, texts};
use crate::search::candidate::{Candidate, MatchField, MatchPlace, Titles, TitlesBuf};
use crate::search::here::HereAndNow;
use crate::search::matching::{Match, Matcher, Tier};
use crate::search::query::Query;
use crate::session::digest::{Digest, Shared};
use crate::session::texts::{Passages, Texts, TextsBuf};
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
/// The most that stands there of sessions that have changed since, in bytes, before the rest is moved together.
const MOST_DEAD: usize = 32 * 1024 * 1024;

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
}

impl Library {
    /// All sessions as a search needs them, the newest first.
    pub fn sought(&self) -> Arc<[Sought]> {
        let sought = |key: SessionKey| Sought {
            key,
            digest: self[key].clone(),
            is_live: self.is_live(key),
            has_forks: self.forks(key).next().is_some(),
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
    kept: RwLock<Kept>,
    last: Mutex<Option<Last>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// By the places of their keys.
    sessions: Vec<Option<Known>>,
    shelves: Shelves,
    /// How large the texts are, in bytes.
    bytes: usize,
    /// How much stands on the shelves for nobody, in bytes.
    dead: usize,
    /// How often texts were added or forgotten.
    generation: u64,
}

/// What was read of a file when it had a length and a time.
#[derive(Clone, Copy, Debug)]
struct Known {
    as_of: (u64, i64),
    /// Name, id, directory, first message, labels.
    titles: [Place; 5],
    text: Text,
}

/// What was read of a session's text.
#[derive(Clone, Copy, Debug)]
enum Text {
    /// Nothing yet.
    Unread,
    /// It is here: conversation and summaries.
    Kept([Place; 2]),
    /// There was no room to keep it: it is read when it is searched.
    OnDisk,
}

/// The last search: one that narrows it looks only among its hits.
#[derive(Debug)]
struct Last {
    query: Query,
    sessions: Arc<[Sought]>,
    generation: u64,
    hits: Vec<usize>,
}

fn as_of(session: &Sought) -> (u64, i64) {
    (session.digest.bytes, session.digest.mtime)
}

impl Kept {
    /// What is known of a session as it is now.
    fn get(&self, session: &Sought) -> Option<&Known> {
        let known = self.sessions.get(session.key.place())?.as_ref();
        known.filter(|known| known.as_of == as_of(session))
    }

    /// Takes what the list knows of a session.
    fn know(&mut self, session: &Sought) {
        self.forget(session.key);
        let folded = TitlesBuf::new(&session.digest);
        let Titles { name, id, cwd, first_message, labels } = folded.as_titles();
        let [name, id, cwd, first_message] =
            [name, id, cwd, first_message].map(|folded| Passages { folded, starts: &[] });
        let titles = [name, id, cwd, first_message, labels].map(|title| self.shelves.put(title));
        let known = Known { as_of: as_of(session), titles, text: Text::Unread };
        let place = session.key.place();
        if self.sessions.len() <= place {
            self.sessions.resize(place + 1, None);
        }
        self.sessions[place] = Some(known);
    }

    /// Takes the texts of a session, if they are no more than there is room for.
    fn put(&mut self, session: &Sought, texts: Texts<'_>, most: usize) {
        self.know(session);
        let texts = [texts.conversation, texts.summaries];
        let bytes: usize = texts.iter().map(Passages::bytes).sum();
        let text = match self.bytes + bytes <= most {
            true => Text::Kept(texts.map(|passages| self.shelves.put(passages))),
            false => Text::OnDisk,
        };
        self.bytes += text.places().iter().map(Place::bytes).sum::<usize>();
        self.sessions[session.key.place()].iter_mut().for_each(|known| known.text = text);
        self.generation += 1;
    }

    fn forget(&mut self, key: SessionKey) {
        let Some(known) = self.sessions.get_mut(key.place()).and_then(Option::take) else { return };
        let bytes = |places: &[Place]| places.iter().map(Place::bytes).sum::<usize>();
        self.bytes -= bytes(known.text.places());
        self.dead += bytes(known.text.places()) + bytes(&known.titles);
        if self.dead > MOST_DEAD {
            self.tidy();
        }
    }

    /// Puts what is still for somebody on new shelves.
    fn tidy(&mut self) {
        let old = std::mem::take(&mut self.shelves);
        self.dead = 0;
        for known in self.sessions.iter_mut().flatten() {
            let places = known.titles.iter_mut().chain(known.text.places_mut());
            places.for_each(|place| *place = self.shelves.put(old.get(*place)));
        }
    }

    fn titles(&self, known: &Known) -> Titles<'_> {
        let [name, id, cwd, first_message, labels] = known.titles.map(|place| self.shelves.get(place));
        Titles { name: name.folded, id: id.folded, cwd: cwd.folded, first_message: first_message.folded, labels }
    }

    /// The texts of a session, if they are kept.
    fn texts(&self, known: &Known) -> Option<Texts<'_>> {
        let Text::Kept(places) = known.text else { return None };
        let [conversation, summaries] = places.map(|place| self.shelves.get(place));
        Some(Texts { conversation, summaries })
    }

    /// Does something with the texts of a session: as they are kept, as they are now in its file if there was no room to
    /// keep them, or without any as long as they were not read.
    fn with_texts<T>(&self, files: Files, session: &Sought, act: impl FnOnce(Option<Texts<'_>>) -> T) -> T {
        let known = self.get(session);
        if known.is_some_and(|known| matches!(known.text, Text::OnDisk)) {
            let read = texts::of(files, &session.digest.path).ok().flatten();
            return act(read.as_ref().map(TextsBuf::as_texts));
        }
        act(known.and_then(|known| self.texts(known)))
    }
}

impl Text {
    fn places(&self) -> &[Place] {
        if let Self::Kept(places) = self { places } else { &[] }
    }

    fn places_mut(&mut self) -> &mut [Place] {
        if let Self::Kept(places) = self { places } else { &mut [] }
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
        Self { most, kept: RwLock::default(), last: Mutex::default() }
    }

    // What a thread that panicked left is whole: it is put in place by single steps.

    fn kept(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_mut(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self) -> MutexGuard<'_, Option<Last>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back all that is kept.
    pub(crate) fn forget(&self) {
        *self.last() = None;
        let kept = &mut *self.kept_mut();
        *kept = Kept { generation: kept.generation + 1, ..Kept::default() };
    }

    /// Reads the texts of sessions that are not known yet, in their order; says after each batch how many of how many
    /// are, until all are or `told` returns false.
    pub fn read(&self, files: Files, sessions: &[Sought], mut told: impl FnMut(usize, usize) -> bool) {
        let missing: Vec<&Sought> = {
            let kept = self.kept();
            let is_known = |known: &Known| !matches!(known.text, Text::Unread);
            sessions.iter().filter(|session| !kept.get(session).is_some_and(is_known)).collect()
        };
        let before = sessions.len() - missing.len();
        let paths: Vec<_> = missing.iter().map(|session| &session.digest.path).collect();
        let found = |at: usize, texts: Texts<'_>| self.kept_mut().put(missing[at], texts, self.most);
        texts::read(files, &paths, found, |batch| told(before + batch.done, sessions.len()));
    }

    /// Does something with what was read of a session, or is read now if there was no room to keep it.
    pub(crate) fn with_texts<T>(&self, files: Files, session: &Sought, act: impl FnOnce(Option<Texts<'_>>) -> T) -> T {
        self.kept().with_texts(files, session, act)
    }

    /// What is kept, with at least the titles of all these sessions.
    fn kept_of(&self, sessions: &[Sought]) -> RwLockReadGuard<'_, Kept> {
        loop {
            let kept = self.kept();
            let missing: Vec<&Sought> = sessions.iter().filter(|session| kept.get(session).is_none()).collect();
            if missing.is_empty() {
                return kept;
            }
            drop(kept);
            let mut kept = self.kept_mut();
            missing.into_iter().for_each(|session| kept.know(session));
        }
    }

    /// The sessions to try: all, or those that the last search found, if this one narrows it.
    fn to_try(&self, query: &Query, sessions: &Arc<[Sought]>, generation: u64) -> Vec<usize> {
        let last = self.last();
        let is_same = |last: &&Last| Arc::ptr_eq(&last.sessions, sessions) && last.generation == generation;
        let narrowed = last.as_ref().filter(is_same).filter(|last| query.narrows(&last.query));
        narrowed.map_or_else(|| (0..sessions.len()).collect(), |last| last.hits.clone())
    }

    /// The sessions that match, the best first; `None` if `is_stale` says that nobody waits any more.
    pub fn search(
        &self,
        files: Files,
        sessions: &Arc<[Sought]>,
        (query, around): (&Query, &HereAndNow),
        is_stale: impl Fn() -> bool + Sync,
    ) -> Option<Vec<SessionHit>> {
        let kept = self.kept_of(sessions);
        let to_try = self.to_try(query, sessions, kept.generation);
        let matcher = Matcher::new(query, around);
        let stop = AtomicBool::new(false);
        let work = |places: &[usize]| {
            let mut found = Vec::new();
            for (count, &at) in places.iter().enumerate() {
                let Some(known) = kept.get(&sessions[at]) else { continue };
                let is_due = count % BETWEEN_LOOKS == 0 || matches!(known.text, Text::OnDisk);
                if is_due && (stop.load(Ordering::Relaxed) || is_stale()) {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
                let hit = |texts: Option<Texts<'_>>| try_one(&matcher, &sessions[at], kept.titles(known), texts);
                let hit = match matcher.has_texts() {
                    true => kept.with_texts(files, &sessions[at], hit),
                    false => hit(None),
                };
                found.extend(hit.map(|hit| (at, hit)));
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
        if matcher.wants_several() {
            for (at, found) in hits.iter_mut().take(LOOKED_AT).filter(|(_, found)| is_in_conversation(&found.hit)) {
                let session = &sessions[*at];
                kept.with_texts(files, session, |texts| {
                    texts.map(|texts| put_together(&matcher, found, &session.digest, texts))
                });
            }
        }
        let last = Last { query: query.clone(), sessions: sessions.clone(), generation: kept.generation, hits: places };
        *self.last() = Some(last);
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
        grep::each(files, &paths, (&words, 1), is_stale, |batch| {
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

fn is_in_conversation(hit: &Match) -> bool {
    matches!(hit.place, Some(MatchPlace { field: MatchField::Conversation, .. }))
}

/// Where all words stand in one entry, that is the place to go to.
fn put_together(matcher: &Matcher, found: &mut SessionHit, digest: &Digest, texts: Texts<'_>) {
    let Some(place) = matcher.together(texts) else { return };
    found.at = place.entry.map(At::Place);
    found.is_active = place.entry.map(|entry| digest.is_active(entry));
    found.hit.place = Some(place);
    found.snippet = snippet(&found.hit, digest, Some(texts));
}

fn try_one(matcher: &Matcher, session: &Sought, titles: Titles<'_>, texts: Option<Texts<'_>>) -> Option<SessionHit> {
    let &Sought { ref digest, is_live, has_forks, .. } = session;
    let hit = matcher.matches(&Candidate { digest, titles, texts, is_live, has_forks })?;
    let entry = hit.place.as_ref().and_then(|place| place.entry);
    let is_active = entry.map(|entry| digest.is_active(entry));
    let snippet = snippet(&hit, digest, texts);
    Some(SessionHit { session: session.key, at: entry.map(At::Place), hit, snippet, is_active })
}

/// The folded text around a hit; nothing for one in what the list shows anyway.
fn snippet(hit: &Match, digest: &Digest, texts: Option<Texts<'_>>) -> Option<String> {
    let place = hit.place.as_ref()?;
    let folded = match place.field {
        MatchField::Conversation => texts?.conversation.folded,
        MatchField::Summary => texts?.summaries.folded,
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
    use crate::library::tests::library;
    use crate::session::texts::PassagesBuf;

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
        let whole = all.kept().bytes;
        for most in [0, whole / 3] {
            let little = Searcher::keeping(most);
            little.read(Files::Demo, &sessions, |_, _| true);
            assert!(little.kept().bytes <= most);
            for query in ["cookie", "redis expiry", "rfctauth", "edited:store.ts the", "-redis is:abandoned"] {
                assert_eq!(found(&little, &sessions, query), found(&all, &sessions, query), "{query}, {most} bytes");
            }
        }
        all.forget();
        let kept = all.kept();
        assert_eq!((kept.bytes, kept.sessions.len(), kept.shelves.bytes()), (0, 0, 0));
        drop(kept);
        let cookie = found(&all, &sessions, "cookie");
        assert!(cookie.iter().all(|(_, snippet)| snippet.is_none()), "only titles are known");
    }

    #[test]
    fn what_is_known_of_sessions_as_they_were_is_given_back() {
        let library = library(&[("a", None, 1), ("b", None, 2)]);
        let [still, growing] = &library.sought()[..] else { panic!("two sessions") };
        let (mut growing, mut kept) = (growing.clone(), Kept::default());
        let long = "x".repeat(MOST_DEAD / 4);
        let put = |kept: &mut Kept, session: &Sought, at: Index, text: &str| {
            let mut conversation = PassagesBuf::default();
            conversation.push(at, text);
            kept.put(session, Texts { conversation: conversation.as_passages(), ..Texts::default() }, MOST_KEPT);
        };
        put(&mut kept, still, 3, "Still");
        for at in 0..20 {
            growing.digest = Arc::new(Digest { bytes: at.into(), ..(*growing.digest).clone() });
            put(&mut kept, &growing, at, &long);
            assert!(kept.shelves.bytes() <= 2 * MOST_DEAD, "{} bytes after {at}", kept.shelves.bytes());
        }
        let texts = |session: &Sought| {
            kept.with_texts(Files::Disk, session, |texts| {
                let said = texts.unwrap().conversation.each();
                said.map(|(at, text)| (at, text.to_string())).collect::<Vec<_>>()
            })
        };
        assert_eq!(texts(still), [(3, "still".to_string())]);
        assert!(texts(&growing) == [(19, long)]);
    }
}
