//! Prints the hits of a search: all hits, pages, or only the files.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::paths::{file_name, shorten};
use crate::base::time;
use crate::catalog::SessionKey;
use crate::catalog::grep::{self, HitOrder};
use crate::catalog::lost_work::{LossCache, compared_paths};
use crate::catalog::machines::local_cwds;
use crate::catalog::search::{HitPlace, SearchedSession, Searcher, SessionHit};
use crate::cli::output::PathFields;
use crate::cli::{CommandContext, output, resolve};
use crate::disk::load::Bodies;
use crate::disk::parallel;
use crate::disk::scan::Unreadable;
use crate::runtime::secret_finder::SecretFinder;
use crate::search::byte_search::Snippet;
use crate::search::candidate::MatchField;
use crate::search::matching::{Matcher, Tier};
use crate::search::qualifier::value::QueryScope;
use crate::search::query::Query;
use crate::session::digest::Digest;
use crate::session::entry::{RawTime, parse};
use crate::session::search_text::searched;
use crate::session::search_titles::capped;
use crate::session::tree::Index;
use crate::session::worktrees::Worktrees;

/// The maximum length of a title in a hit, in UTF-16 code units, because a first message can be very long.
const MOST_TITLE: usize = 500;

/// The JSON form of a hit.
#[derive(Serialize)]
#[serde(tag = "type", rename = "hit", rename_all = "camelCase")]
pub(super) struct HitLine {
    /// An identifier for continuing after this hit.
    hit: String,
    #[serde(flatten)]
    path: PathFields,
    /// The session id.
    id: String,
    entry_id: Option<String>,
    field: Option<&'static str>,
    active: Option<bool>,
    snippet: String,
    ranges: Vec<[usize; 2]>,
    /// The time of the entry, or of the session if the hit has no entry.
    time: Option<String>,
    /// The session title.
    title: String,
    name: Option<String>,
    cwd: String,
    project: String,
    /// The name of the linked worktree.
    worktree: Option<String>,
    modified: Option<String>,
    #[serde(skip)]
    age: Option<i64>,
}

/// The totals of a search, and their JSON form.
#[derive(Default, Serialize)]
#[serde(tag = "type", rename = "end")]
pub(super) struct HitTotals {
    pub(super) printed: usize,
    /// The number of hits; `None` if the search stopped early.
    pub(super) total: Option<usize>,
    /// The last printed hit, if there are more.
    pub(super) next: Option<String>,
}

/// A session and its best hit.
type FoundSession<'a> = (&'a SearchedSession, &'a SessionHit);

/// The number of hits in a session that were not printed before, and the lines of the first of them.
type SessionLines = (usize, Result<Vec<HitLine>, Unreadable>);

/// A running search.
pub(super) struct HitSearch {
    query: Query,
    sessions: Arc<[SearchedSession]>,
    here: QueryScope,
    searcher: Searcher,
}

/// Returns the identifier of a hit: the session id and the offset of its line, which are stable.
fn name(session: &Digest, offset: Option<u64>) -> String {
    let id = &session.header.id;
    offset.map_or_else(|| id.clone(), |offset| format!("{id}@{offset}"))
}

/// Returns the number of hits in a session that were printed before, if it contains the hit after which to continue.
fn skipped(session: &Digest, places: Option<&[(Index, MatchField)]>, after: &str) -> Option<usize> {
    let Some(places) = places else { return (name(session, None) == after).then_some(1) };
    let offset = |at: Index| session.details().offsets.get(at as usize).copied();
    places.iter().position(|&(at, _)| name(session, offset(at)) == after).map(|at| at + 1)
}

/// Creates the error for an unknown hit.
fn unknown(after: &str) -> anyhow::Error {
    anyhow!("hit {after} not found for this query; omit --after to start over")
}

impl HitSearch {
    /// Starts a search over sessions, and loads texts as needed. If the query needs it, searches them for secrets and lost
    /// work.
    ///
    /// # Errors
    /// A command for a value to redact failed, or the lasting marks cannot be read.
    pub(super) fn new(
        query: Query,
        sessions: Arc<[SearchedSession]>,
        mut here: QueryScope,
        chosen: &CommandContext,
    ) -> Result<Self> {
        if query.needs_secrets() {
            let place = (&chosen.config.redact, chosen.cache.as_deref());
            let known = SecretFinder::default().find(&sessions, place, |done, all| {
                output::progress(&format!("{done} of {all} files"));
                true
            })?;
            output::progress("");
            here.secrets = known.map(Arc::new);
        }
        if query.needs_lost_work() {
            let place = (&*chosen.home, chosen.cache.as_deref());
            let compared: Vec<_> = sessions.iter().filter_map(|it| compared_paths(&it.digest.facts())).collect();
            let known = LossCache::default().find(&compared, place, |done, all| {
                output::progress(&format!("{done} of {all} sessions compared"));
                true
            });
            output::progress("");
            here.lost = known.map(Arc::new);
        }
        if query.needs_marks() {
            here.marks = Arc::new(chosen.marks()?);
        }
        if query.needs_last_seen() {
            here.last_seen = Arc::new(chosen.last_seen());
        }
        if query.needs_worktrees() {
            here.worktrees = Arc::new(chosen.worktrees(local_cwds(sessions.iter().map(|sought| &sought.digest))));
        }
        let search = Self { query, sessions, here, searcher: Searcher::default() };
        // A byte search needs no texts, but excluded words do.
        let without_words = Matcher::new(&search.query.without_words(), &search.here);
        if !search.is_of_bytes() || without_words.has_texts() {
            // Texts in the index are searched there.
            let is_unread = |session: &&SearchedSession| !session.digest.has_stored_texts();
            let unread: Vec<SearchedSession> = search.sessions.iter().filter(is_unread).cloned().collect();
            search.searcher.read(&unread, |_, _| true);
        }
        Ok(search)
    }

    /// Returns `true` for a search of the complete content of files.
    fn is_of_bytes(&self) -> bool {
        self.query.everything && !self.query.words().is_empty()
    }

    /// Iterates over the ids of the searched sessions.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().map(|sought| sought.digest.facts().id())
    }

    /// Returns the files of the found sessions.
    pub(super) fn files(&self) -> HashSet<PathBuf> {
        if self.is_of_bytes() {
            let mut found = HashSet::new();
            self.bytes(usize::MAX, |batch, _| {
                found.extend(batch.hits.into_iter().map(|hit| hit.path));
                true
            });
            return found;
        }
        let asked = (&self.query, &self.here);
        let hits = self.searcher.search_quietly(&self.sessions, asked, || false).unwrap_or_default();
        let found: HashSet<SessionKey> = hits.into_iter().map(|hit| hit.session).collect();
        let is_found = |sought: &&SearchedSession| found.contains(&sought.key);
        self.sessions.iter().filter(is_found).map(|sought| sought.digest.file_path()).collect()
    }

    /// Searches the complete content of files, newest sessions first, until `told` returns enough. It receives the
    /// sessions by file.
    fn bytes(&self, most: usize, mut each: impl FnMut(grep::GrepBatch, &HashMap<&Path, &SearchedSession>) -> bool) {
        let asked = (&self.query, &self.here);
        let fit = self.searcher.sessions_to_grep(&self.sessions, asked, || false).unwrap_or_default();
        let paths: Vec<PathBuf> = fit.iter().map(|sought| sought.digest.file_path()).collect();
        let by_path = paths.iter().map(PathBuf::as_path).zip(fit.iter().copied()).collect();
        let asked = (&*self.query.words(), most, HitOrder::Given);
        grep::each(&paths, asked, || false, |batch| each(batch, &by_path));
    }

    /// Reports hits, best first: at most `limit`, and only those that come after the hit `after`.
    pub(super) fn each(
        &self,
        (limit, after): (usize, Option<&str>),
        unreadable: &mut Vec<Unreadable>,
        mut each: impl FnMut(Vec<HitLine>) -> Result<()>,
    ) -> Result<HitTotals> {
        if self.is_of_bytes() {
            return self.everything((limit, after), unreadable, each);
        }
        let hits = self.searcher.search_counting(&self.sessions, (&self.query, &self.here));
        let keys: HashSet<SessionKey> = hits.iter().map(|hit| hit.session).collect();
        let sessions = self.sessions.iter().filter(|session| keys.contains(&session.key));
        let by_key: HashMap<SessionKey, &SearchedSession> = sessions.map(|session| (session.key, session)).collect();
        let found = hits.iter().filter_map(|hit| Some((*by_key.get(&hit.session)?, hit)));
        let found: Vec<FoundSession<'_>> = found.collect();
        let matcher = Matcher::new(&self.query, &self.here);
        let places = |(sought, hit): FoundSession<'_>, session: &Digest| {
            hit.at.is_some().then(|| self.places(sought, session, hit, &matcher))
        };
        let count = |&found: &FoundSession<'_>| match found.1.entries {
            0 => places(found, &found.0.digest.once()).map_or(1, |places| places.len()),
            entries => entries,
        };
        // Hits up to the one after which to continue were printed before.
        let place = |after: &str| {
            let is_possible = |(sought, _): &FoundSession<'_>| after.starts_with(sought.digest.facts().id());
            let skipped = |found: FoundSession<'_>| {
                let session = &*found.0.digest.once();
                skipped(session, places(found, session).as_deref(), after)
            };
            let mut possible = found.iter().enumerate().filter(|(_, found)| is_possible(found));
            possible.find_map(|(at, &found)| Some((at, skipped(found)?))).ok_or_else(|| unknown(after))
        };
        let (start, skipped) = after.map_or(Ok((0, 0)), place)?;
        let lines = |&at: &usize, (): &mut (), send: &dyn Fn(SessionLines) -> bool| {
            let (sought, hit) = found[at];
            let session = &*sought.digest.once();
            let (places, skipped) = (places(found[at], session), if at == start { skipped } else { 0 });
            let count = places.as_ref().map_or(1, Vec::len) - skipped;
            let lines = match places {
                None if skipped > 0 => Ok(Vec::new()),
                None => title_line(session, hit, &matcher).map(|line| vec![line]),
                Some(places) => {
                    let places = places.into_iter().skip(skipped).take(limit).collect();
                    self.entries(session, places, hit, &matcher)
                }
            };
            send((count, lines.map_err(|error| Unreadable::new(&session.path, &format!("{error:#}")))));
        };
        let lost = |&at: &usize, why| (0, Err(Unreadable::new(&found[at].0.digest.file_path(), &why)));
        let (mut sum, mut total, mut is_more) = (HitTotals::default(), skipped, false);
        let (mut end, mut result) = (start, Ok(()));
        let to_print: Vec<usize> = (start..found.len()).collect();
        parallel::in_order(&to_print, (lines, lost), |(count, lines): SessionLines| {
            let room = limit - sum.printed;
            (end, total, is_more) = (end + 1, total + count, is_more || count > room);
            match lines {
                Ok(mut lines) => {
                    lines.truncate(room);
                    sum.printed += lines.len();
                    sum.next = lines.last().map(|line| line.hit.clone()).or(sum.next.take());
                    result = each(lines);
                }
                Err(error) => unreadable.push(error),
            }
            result.is_ok() && sum.printed < limit
        });
        result?;
        let counted = |some: &[FoundSession<'_>]| parallel::map(some, count).into_iter().sum::<usize>();
        let rest = counted(&found[end..]);
        total += counted(&found[..start]) + rest;
        Ok(HitTotals { total: Some(total), next: sum.next.filter(|_| is_more || rest > 0), ..sum })
    }

    /// Reports hits in the complete content of files, newest sessions first.
    fn everything(
        &self,
        (limit, mut after): (usize, Option<&str>),
        unreadable: &mut Vec<Unreadable>,
        mut each: impl FnMut(Vec<HitLine>) -> Result<()>,
    ) -> Result<HitTotals> {
        let (mut sum, mut result, is_first) = (HitTotals::default(), Ok(()), after.is_none());
        self.bytes(if after.is_some() { usize::MAX } else { limit }, |batch, by_path| {
            unreadable.extend(batch.unreadable);
            let line = |hit: grep::EntryHit| {
                let session = by_path.get(&*hit.path)?.digest.once();
                let what = (Some(hit.field.name()), hit.active);
                let time = session.modified; // the time of the entry would require reading its line again
                Some(HitLine::new(&session, (Some(hit.offset), hit.id), what, time, hit.snippet))
            };
            let lines: Result<Vec<HitLine>> = batch.hits.into_iter().filter_map(line).collect();
            result = lines.and_then(|mut lines| {
                if let Some(last) = after {
                    let Some(at) = lines.iter().position(|line| line.hit == last) else { return Ok(()) };
                    (after, lines) = (None, lines.split_off(at + 1));
                }
                lines.truncate(limit - sum.printed);
                sum.printed += lines.len();
                sum.next = lines.last().map(|line| line.hit.clone()).or(sum.next.take());
                each(lines)
            });
            result.is_ok() && sum.printed < limit
        });
        result?;
        if let Some(after) = after {
            return Err(unknown(after));
        }
        // The search stops at the limit.
        let is_full = sum.printed == limit;
        let total = (!is_full && is_first).then_some(sum.printed);
        Ok(HitTotals { total, next: sum.next.filter(|_| is_full), ..sum })
    }

    /// Returns the places of matches in a session.
    fn places(
        &self,
        sought: &SearchedSession,
        session: &Digest,
        found: &SessionHit,
        matcher: &Matcher,
    ) -> Vec<(Index, MatchField)> {
        let mut places: Vec<(Index, MatchField)> = self
            .searcher
            .with_texts(sought, |texts| texts.map(|texts| matcher.entries(session, texts)).unwrap_or_default());
        if let (true, Some(HitPlace::Place(at)), Some(place)) = (places.is_empty(), found.at, &found.hit.place) {
            places.push((at, place.field));
        }
        places
    }

    /// Returns the entries of a session with matches.
    fn entries(
        &self,
        session: &Digest,
        places: Vec<(Index, MatchField)>,
        found: &SessionHit,
        matcher: &Matcher,
    ) -> Result<Vec<HitLine>> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let mut bodies = Bodies::open(&session.path)?;
        let has_ids = session.header.version >= 2.0;
        let mut lines = Vec::new();
        for (at, field) in places {
            let Some(&offset) = session.details().offsets.get(at as usize) else { continue };
            let line = bodies.line_at(offset)?;
            let entry = parse::line(&line).ok().flatten();
            let (field, said) = match field {
                MatchField::Label => {
                    ("label", session.labels.iter().find(|label| label.at == at).map(|label| label.text.to_string()))
                }
                MatchField::File => {
                    let touches = &session.details().touches;
                    let touched = touches.all.iter().find(|touched| touched.entry == at);
                    ("file", touched.map(|touched| touches.paths.get(touched.path).to_string()))
                }
                _ => {
                    let said = entry.as_ref().and_then(searched);
                    said.map_or(("", None), |(field, text)| (field.name(), Some(text)))
                }
            };
            let said = said.unwrap_or_default();
            let snippet = Snippet::around(&said, &matcher.marks(&said, found.hit.tier == Tier::Fuzzy));
            let time = entry.as_ref().and_then(|entry| entry.timestamp.and_then(RawTime::ms));
            let id = entry.and_then(|entry| entry.id).filter(|_| has_ids).map(|id| id.text().into_owned());
            let what = (Some(field), Some(session.is_active(at)));
            lines.push(HitLine::new(session, (Some(offset), id), what, time, snippet)?);
        }
        Ok(lines)
    }
}

/// Creates the hit of a session that matched by its title.
fn title_line(session: &Digest, found: &SessionHit, matcher: &Matcher) -> Result<HitLine> {
    let (field, text) = match found.hit.place.as_ref().map(|place| place.field) {
        Some(MatchField::Name) => (Some("name"), session.name.as_deref().unwrap_or_default()),
        Some(MatchField::Id) => (Some("id"), &*session.header.id),
        Some(MatchField::Cwd) => (Some("cwd"), &*session.header.cwd),
        Some(MatchField::FirstMessage) => {
            (Some("firstMessage"), capped(session.first_message.as_deref().unwrap_or_default()))
        }
        _ => (None, session.title()),
    };
    let snippet = Snippet::around(text, &matcher.marks(text, found.hit.tier == Tier::Fuzzy));
    HitLine::new(session, (None, None), (field, None), session.modified, snippet)
}

impl HitLine {
    /// Creates a hit at an offset with the id of its entry, the matching text, and `true` if the entry is on the active
    /// path.
    fn new(
        session: &Digest,
        (offset, entry_id): (Option<u64>, Option<String>),
        (field, active): (Option<&'static str>, Option<bool>),
        time: Option<i64>,
        snippet: Snippet,
    ) -> Result<Self> {
        Ok(Self {
            hit: name(session, offset),
            path: (&*resolve::absolute(&session.path)?).into(),
            id: session.header.id.clone(),
            entry_id,
            field,
            active,
            snippet: snippet.text,
            ranges: snippet.ranges.into_iter().map(|range| [range.start, range.end]).collect(),
            time: time.and_then(time::iso),
            title: utf16_prefix(session.title(), MOST_TITLE).to_string(),
            name: session.name.as_deref().map(|name| utf16_prefix(name, MOST_TITLE).into()),
            cwd: session.header.cwd.clone(),
            project: file_name(Path::new(&session.header.cwd)),
            worktree: None,
            modified: session.modified.and_then(time::iso),
            age: session.modified,
        })
    }

    /// Sets the project and the worktree of the session.
    pub(super) fn set_worktree(&mut self, worktrees: &Worktrees) {
        self.project = file_name(Path::new(worktrees.project(&self.cwd)));
        self.worktree = worktrees.of(&self.cwd).map(|worktree| worktree.name.clone());
    }

    /// Returns the row in the table, with ids of the given length.
    pub(super) fn row(&self, now: i64, ids: usize, home: &str) -> [String; 7] {
        let age = self.age.map_or("?".into(), |then| time::age(now, then));
        let (id, project) = (utf16_prefix(&self.id, ids).to_string(), shorten(&self.cwd, home).into_owned());
        let path = if self.active == Some(false) { "abandoned" } else { "" };
        let snippet = self.snippet.split_whitespace().collect::<Vec<_>>().join(" ");
        [age, id, project, self.title.clone(), path.into(), self.field.unwrap_or_default().into(), snippet]
    }
}
