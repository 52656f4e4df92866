//! Holds sessions against queries, by all processors, and keeps what was read of them for the next key.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::app::message::{At, Found, Sought};
use crate::disk::crew::threads;
use crate::disk::files::Files;
use crate::library::{grep, texts};
use crate::search::find::matcher::{Around, Candidate, Field, Hit, Matcher, Place, Tier, Titles};
use crate::search::query::Query;
use crate::search::query::complete::Lists;
use crate::session::digest::searchable::Searchable;

/// Sessions that one thread tries before it looks whether anybody still waits.
const BETWEEN_LOOKS: usize = 64;
/// Fewer sessions are not worth a second thread.
const WORTH_SPLITTING: usize = 256;
/// Of so many hits the entry is looked for that has all words: more are hardly looked at.
const LOOKED_AT: usize = 100;
/// How much of a text is shown before and behind a hit, in bytes.
const AROUND_HIT: (usize, usize) = (36, 120);

/// What is known of sessions, and what was found last.
#[derive(Debug, Default)]
pub struct Finder {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    sessions: HashMap<PathBuf, Known>,
    /// How often texts were added.
    generation: u64,
    last: Option<Last>,
}

/// What was read of a file when it had a length and a time.
#[derive(Clone, Debug)]
struct Known {
    as_of: (u64, i64),
    titles: Arc<Titles>,
    text: Option<Arc<Searchable>>,
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

fn as_of(session: &Sought) -> (u64, i64) {
    (session.summary.bytes, session.summary.mtime)
}

impl Finder {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A panic elsewhere ends the program anyway.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the texts of sessions that are not known yet, in their order; says after each batch how many of how many
    /// are, until all are or `told` returns false.
    pub fn read(&self, files: Files, sessions: &[Sought], mut told: impl FnMut(usize, usize) -> bool) {
        let is_known = |kept: &Kept, session: &Sought| {
            let known = kept.sessions.get(&session.summary.path);
            known.is_some_and(|known| known.as_of == as_of(session) && known.text.is_some())
        };
        let missing: Vec<&Sought> = {
            let kept = self.lock();
            sessions.iter().filter(|session| !is_known(&kept, session)).collect()
        };
        let by_path: HashMap<&PathBuf, &Sought> =
            missing.iter().map(|&session| (&session.summary.path, session)).collect();
        let paths: Vec<&PathBuf> = missing.iter().map(|session| &session.summary.path).collect();
        let before = sessions.len() - missing.len();
        texts::read(files, &paths, |batch| {
            let mut kept = self.lock();
            for (path, text) in batch.texts {
                let Some(session) = by_path.get(&path) else { continue };
                let known = Known { text: Some(Arc::new(text)), ..Known::new(session) };
                kept.sessions.insert(path, known);
            }
            kept.generation += 1;
            drop(kept);
            told(before + batch.done, sessions.len())
        });
    }

    /// What these sessions have that qualifiers may ask for.
    pub fn values(&self, sessions: &[Sought]) -> Lists {
        let texts: Vec<_> = sessions.iter().filter_map(|session| self.text_of(&session.summary.path)).collect();
        Lists::new(texts.iter().map(Arc::as_ref))
    }

    /// What was read of a session.
    pub fn text_of(&self, path: &PathBuf) -> Option<Arc<Searchable>> {
        self.lock().sessions.get(path)?.text.clone()
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
        let known = sessions.iter().map(|session| {
            let known = kept.sessions.entry(session.summary.path.clone()).or_insert_with(|| Known::new(session));
            if known.as_of != as_of(session) {
                *known = Known::new(session);
            }
            known.clone()
        });
        (kept.generation, known.collect(), (0..sessions.len()).collect())
    }

    /// The sessions that match, the best first; `None` if `is_stale` says that nobody waits any more.
    pub fn find(
        &self,
        query: &Query,
        sessions: &Arc<[Sought]>,
        around: &Around,
        is_stale: impl Fn() -> bool + Sync,
    ) -> Option<Vec<Found>> {
        let (generation, known, to_try) = self.prepare(query, sessions);
        let matcher = Matcher::new(query, around);
        let stop = AtomicBool::new(false);
        let work = |places: &[usize]| {
            let mut found = Vec::new();
            for (count, &at) in places.iter().enumerate() {
                if count % BETWEEN_LOOKS == 0 && (stop.load(Ordering::Relaxed) || is_stale()) {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
                found.extend(try_one(&matcher, &sessions[at], &known[at]).map(|hit| (at, hit)));
            }
            found
        };
        let mut hits: Vec<(usize, Found)> = if to_try.len() < WORTH_SPLITTING {
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
        let last = Last { query: query.clone(), sessions: sessions.clone(), generation, known, hits: places };
        self.lock().last = Some(last);
        // Scattered letters are for what is nowhere as it was typed.
        if hits.iter().any(|(_, found)| found.hit.tier < Tier::Fuzzy) {
            hits.retain(|(_, found)| found.hit.tier < Tier::Fuzzy);
        }
        hits.sort_by_key(|(_, found)| found.hit.rank());
        let mut hits: Vec<Found> = hits.into_iter().map(|(_, found)| found).collect();
        for found in hits.iter_mut().take(LOOKED_AT) {
            if let Some(text) = self.text_of(&found.path) {
                put_together(&matcher, found, &text);
            }
        }
        Some(hits)
    }

    /// The sessions in which everything is searched, as they are found, with how many of the sessions are done.
    pub fn find_everything(
        &self,
        (files, sessions): (Files, &Arc<[Sought]>),
        (query, around): (&Query, &Around),
        is_stale: impl Fn() -> bool + Sync,
        mut told: impl FnMut(Vec<Found>, usize) -> bool,
    ) {
        // What must hold besides; without words to tell them apart, the newest come first.
        let Some(fit) = self.find(&query.without_words(), sessions, around, &is_stale) else { return };
        let paths: Vec<&PathBuf> = fit.iter().map(|found| &found.path).collect();
        let times: HashMap<&PathBuf, i64> = fit.iter().map(|found| (&found.path, found.hit.time)).collect();
        let (words, skipped) = (query.words(), sessions.len() - fit.len());
        grep::search(files, &paths, grep::Wanted { words: &words, in_one: 1, in_all: usize::MAX }, is_stale, |batch| {
            let mut found: Vec<Found> = Vec::new();
            for hit in batch.hits {
                // The hits of a session come together, and the first is the one to go to.
                if found.last().is_none_or(|last| last.path != hit.path) {
                    found.extend(times.get(&hit.path).map(|&time| of_everything(hit, time)));
                }
            }
            told(found, skipped + batch.done)
        });
        told(Vec::new(), sessions.len());
    }
}

fn of_everything(hit: grep::Hit, time: i64) -> Found {
    Found {
        path: hit.path,
        hit: Hit { tier: Tier::Text, score: 0, place: None, time },
        at: Some(At::Offset(hit.offset)),
        snippet: Some(format!("{}: {}", hit.field.name(), hit.snippet.text)),
        is_active: hit.active,
    }
}

impl Known {
    fn new(session: &Sought) -> Self {
        Self { as_of: as_of(session), titles: Arc::new(Titles::new(&session.summary)), text: None }
    }
}

/// Where all words stand in one entry, that is the place to go to.
fn put_together(matcher: &Matcher, found: &mut Found, text: &Searchable) {
    if !matches!(found.hit.place, Some(Place { field: Field::Conversation, .. })) {
        return;
    }
    let Some(place) = matcher.together(text) else { return };
    found.at = place.entry.map(At::Place);
    found.is_active = place.entry.map(|entry| text.is_active(entry));
    found.hit.place = Some(place);
    found.snippet = snippet(&found.hit, text);
}

fn try_one(matcher: &Matcher, session: &Sought, known: &Known) -> Option<Found> {
    let text = known.text.as_deref();
    let hit = matcher.matches(&Candidate {
        summary: &session.summary,
        titles: &known.titles,
        text,
        is_live: session.is_live,
        has_forks: session.has_forks,
        is_fork: session.is_fork,
    })?;
    let entry = hit.place.as_ref().and_then(|place| place.entry);
    let is_active = entry.zip(text).map(|(entry, text)| text.is_active(entry));
    let snippet = text.and_then(|text| snippet(&hit, text));
    Some(Found { path: session.summary.path.clone(), at: entry.map(At::Place), hit, snippet, is_active })
}

/// The folded text around a hit; nothing for one in what the list shows anyway.
fn snippet(hit: &Hit, text: &Searchable) -> Option<String> {
    let place = hit.place.as_ref()?;
    let folded = match place.field {
        Field::Conversation => &text.conversation.folded,
        Field::Summary => &text.summaries.folded,
        Field::Label => {
            return text.labels.iter().find(|(at, _)| Some(*at) == place.entry).map(|(_, label)| format!("[{label}]"));
        }
        Field::File => {
            let touched = text.files.iter().find(|touched| Some(touched.entry) == place.entry)?;
            return Some(touched.path.to_string());
        }
        Field::Name | Field::FirstMessage | Field::Id | Field::Cwd => return None,
    };
    let start = folded.floor_char_boundary(place.at.start.saturating_sub(AROUND_HIT.0));
    let end = folded.ceil_char_boundary((place.at.end + AROUND_HIT.1).min(folded.len()));
    let cut = if start > 0 { "…" } else { "" };
    Some(format!("{cut}{}", &folded[start..end]))
}
