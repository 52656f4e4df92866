//! Prints the hits of a search: all hits, pages, or only the files.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, anyhow, bail};
use serde::Serialize;

use crate::base::catch_panic;
use crate::base::text::{clean, width};
use crate::catalog::grep::{self, HitOrder};
use crate::catalog::hits::RankedSession;
use crate::catalog::lost_work::{LostWorkCache, compared_paths};
use crate::catalog::search::{HitPlace, SearchedSession, Searcher, SessionHit};
use crate::catalog::user_data::local_cwds;
use crate::cli::hit_line::{EntryPlace, HitLine, LABEL, hit_name};
use crate::cli::{CommandContext, output};
use crate::disk::parallel;
use crate::disk::scan::Unreadable;
use crate::runtime::secret_rules::SecretFinder;
use crate::search::candidate::MatchField;
use crate::search::matching::Matcher;
use crate::search::qualifier::value::{Needs, QueryScope};
use crate::search::query::{Query, QueryProblem};
use crate::session::digest::Digest;
use crate::session::digest::listed::LazySession;
use crate::session::search_text::SearchTexts;
use crate::session::tree::EntryIndex;

/// The totals of a search, and their JSON form.
#[derive(Default, Serialize)]
#[serde(tag = "type", rename = "end")]
pub(super) struct HitTotals {
    pub(super) printed: usize,
    /// The number of hits, or of those that were counted.
    pub(super) total: usize,
    /// `true` if all hits were counted.
    #[serde(rename = "totalIsExact")]
    pub(super) is_exact: bool,
    /// The last printed hit, if there are more.
    pub(super) next: Option<String>,
}

/// A session that may match, and its best hit, if it was matched before.
type FoundSession<'a> = (RankedSession<'a>, Option<&'a SessionHit>);

/// The place of a session, the number of its hits that were not printed before, and the lines of the first of them.
type SessionLines = (usize, usize, Result<Vec<HitLine>, Unreadable>);

/// The number of sessions that a thread matches at a time.
const SESSIONS_AT_ONCE: usize = 8;

/// After a full page, the hits of this many more sessions are counted, so that most totals are exact.
const COUNTED_SESSIONS: usize = 128;

/// A running search.
pub(super) struct HitSearch {
    query: Query,
    sessions: Arc<[SearchedSession]>,
    /// See [`HitSearch::newest_first`].
    newest_first: OnceLock<Arc<[SearchedSession]>>,
    scope: QueryScope,
    matcher: Matcher,
    /// The matcher without fuzzy matches.
    literal: Matcher,
    searcher: Searcher,
}

/// Parses the query of the command line.
///
/// # Errors
/// The query is empty or invalid; the message marks the place.
pub(super) fn read_query(words: &[String]) -> Result<Query> {
    let text = words.join(" ");
    let problem = match Query::parse(&text) {
        Ok(query) if !query.is_empty() => {
            if let Some((word, name)) = query.likely_typo() {
                note!("searching for the text {}; for the qualifier, write {name}:", clean(word));
            }
            return Ok(query);
        }
        Ok(_) => QueryProblem { at: 0..text.len(), message: "the query is empty".into() },
        Err(problem) => problem,
    };
    let piece = |from: usize, to: usize| clean(text.get(from..to).unwrap_or_default()).into_owned();
    let before = width(&piece(0, problem.at.start));
    let marks = width(&piece(problem.at.start, problem.at.end)).max(1);
    let (before, marks) = (" ".repeat(before), "^".repeat(marks));
    bail!("{}\n{}\n{before}{marks}", problem.message, clean(&text))
}

/// Returns the number of hits in a session that were printed before, if it contains the hit after which to continue.
fn skipped(session: &Digest, places: Option<&[EntryPlace]>, after: &str) -> Option<usize> {
    let Some(places) = places else { return (hit_name(session, None, None) == after).then_some(1) };
    let offset = |at: EntryIndex| session.details().offsets.get(at as usize).copied();
    let name = |&(at, field): &EntryPlace| hit_name(session, offset(at), (field == MatchField::Label).then_some(LABEL));
    places.iter().position(|place| name(place) == after).map(|at| at + 1)
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
        mut scope: QueryScope,
        context: &CommandContext,
    ) -> Result<Self> {
        let cache = context.cache.as_deref();
        if query.needs(Needs::SECRETS) {
            let progress = |done: usize, all: usize| output::progress_of(done, all, "files");
            let known = SecretFinder::default().find(&sessions, (&context.config.redact, cache), progress)?;
            scope.secrets = known.map(Arc::new);
        }
        if query.needs(Needs::LOST_WORK) {
            let compared: Vec<_> = sessions.iter().filter_map(|it| compared_paths(&it.digest.facts())).collect();
            let progress = |done: usize, all: usize| output::progress_of(done, all, "sessions compared");
            scope.lost = LostWorkCache::default().find(&compared, (&context.home, cache), progress).map(Arc::new);
        }
        if query.needs(Needs::MARKS) {
            scope.marks = Arc::new(context.marks()?);
        }
        if query.needs(Needs::LAST_SEEN) {
            scope.last_seen = Arc::new(context.last_seen());
        }
        if query.needs(Needs::WORKTREES) {
            scope.worktrees = Arc::new(context.worktrees(local_cwds(sessions.iter().map(|sought| &sought.digest))));
        }
        let (matcher, literal) = (Matcher::new(&query, &scope), Matcher::literal(&query, &scope));
        let search = Self {
            query,
            sessions,
            newest_first: OnceLock::new(),
            scope,
            matcher,
            literal,
            searcher: Searcher::default(),
        };
        // A byte search needs no texts, but excluded words do.
        let without_words = Matcher::new(&search.query.without_words(), &search.scope);
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

    /// Returns the sessions in the order for a search of all of them. The index usually has their digests in this order,
    /// and reads neighbors together.
    fn newest_first(&self) -> &Arc<[SearchedSession]> {
        self.newest_first.get_or_init(|| SearchedSession::newest_first(&self.sessions))
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
        let asked = (&self.query, &self.scope);
        let found = self.searcher.search_quietly(self.newest_first(), asked, || false).unwrap_or_default();
        self.note_undecided();
        found.into_iter().map(|(sought, _)| sought.digest.file_path()).collect()
    }

    /// Prints a note if some sessions were not fully searched. Returns `true` if so.
    pub(super) fn note_undecided(&self) -> bool {
        let is_undecided = self.query.is_undecided();
        if is_undecided {
            output::note("some sessions were not fully searched: the pattern backtracks too much");
        }
        is_undecided
    }

    /// Searches the complete content of files, newest sessions first, until `each` returns `false`. It receives the
    /// sessions by file.
    fn bytes(&self, most: usize, mut each: impl FnMut(grep::GrepBatch, &HashMap<&Path, &SearchedSession>) -> bool) {
        let asked = (&self.query, &self.scope);
        let fit = self.searcher.sessions_to_grep(self.newest_first(), asked, || false).unwrap_or_default();
        let paths: Vec<PathBuf> = fit.iter().map(|sought| sought.digest.file_path()).collect();
        let by_path = paths.iter().map(PathBuf::as_path).zip(fit.iter().copied()).collect();
        let asked = (&*self.query.words(), &*self.query.roles());
        grep::each(&paths, asked, (most, HitOrder::Given), || false, |batch| each(batch, &by_path));
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
        let literal = self.searcher.ranked(&self.sessions, &self.literal);
        let found: Vec<FoundSession<'_>> = literal.into_iter().map(|session| (session, None)).collect();
        if let Some(start) = self.start(&found, after) {
            let sum = self.page(&found, (start, limit), unreadable, &mut each)?;
            if sum.total > 0 || !self.matcher.is_fuzzy() {
                return Ok(sum);
            }
        }
        let asked = (&self.query, &self.scope);
        let hits = self.searcher.search_quietly(self.newest_first(), asked, || false).unwrap_or_default();
        let found: Vec<FoundSession<'_>> = hits.iter().map(|(session, hit)| ((*session, None), Some(hit))).collect();
        let start = self.start(&found, after).ok_or_else(|| unknown(after.unwrap_or_default()))?;
        self.page(&found, (start, limit), unreadable, &mut each)
    }

    /// Returns the place of the first session to print, and the number of its hits to skip, which were printed before
    /// the hit `after`. Returns `None` if there is no such hit.
    fn start(&self, found: &[FoundSession<'_>], after: Option<&str>) -> Option<(usize, usize)> {
        let Some(after) = after else { return Some((0, 0)) };
        let skipped = |found: FoundSession<'_>| {
            let session = &*found.0.0.digest.uncached_digest();
            let (_, places) = catch_panic::catch(|| self.matched(found, session)).ok()??;
            skipped(session, places.as_deref(), after)
        };
        let mut possible =
            found.iter().enumerate().filter(|(_, ((sought, _), _))| after.starts_with(sought.digest.facts().id()));
        possible.find_map(|(at, &found)| Some((at, skipped(found)?)))
    }

    /// Returns the match of a session, and the places of matches in entries if the session matches there. Returns `None`
    /// if it does not match.
    fn matched<'a>(
        &self,
        ((sought, is_apart), known): FoundSession<'a>,
        session: &Digest,
    ) -> Option<(Cow<'a, SessionHit>, Option<Vec<EntryPlace>>)> {
        if let Some(hit) = known {
            let places = |texts: Option<SearchTexts<'_>>| places(session, texts, hit, &self.matcher);
            return Some((Cow::Borrowed(hit), hit.at.and_then(|_| self.searcher.with_texts(sought, places))));
        }
        self.searcher.match_one((sought, session), &self.literal, |hit, texts| {
            let counts = is_apart.is_none_or(|is_apart| is_apart == hit.hit.is_apart());
            let places = if counts { places(session, texts, &hit, &self.matcher) } else { None };
            counts.then_some((Cow::Owned(hit), places))
        })?
    }

    /// Reports at most `limit` hits from the given start.
    fn page(
        &self,
        found: &[FoundSession<'_>],
        ((start, skipped), limit): ((usize, usize), usize),
        unreadable: &mut Vec<Unreadable>,
        each: &mut dyn FnMut(Vec<HitLine>) -> Result<()>,
    ) -> Result<HitTotals> {
        let chunks: Vec<usize> = (0..found.len()).step_by(SESSIONS_AT_ONCE).collect();
        let is_full = AtomicBool::new(false);
        let lines = |&first: &usize, room: &mut Vec<u8>, send: &dyn Fn(Vec<SessionLines>) -> bool| {
            let some = &found[first..found.len().min(first + SESSIONS_AT_ONCE)];
            let (mut results, mut left) = (Vec::with_capacity(some.len()), limit);
            LazySession::each_once(some.iter().map(|((sought, _), _)| &*sought.digest), room, |at, session| {
                let skipped = if first + at == start { skipped } else { 0 };
                // The hits before the page are only counted.
                let left_now = if first + at < start || is_full.load(Ordering::Relaxed) { 0 } else { left };
                let lines = catch_panic::catch(|| self.lines(some[at], &session, (skipped, left_now)));
                let (count, lines) = lines.unwrap_or_else(|why| (0, Err(anyhow!("{why}"))));
                left -= lines.as_ref().map_or(0, Vec::len);
                let lines = lines.map_err(|error| Unreadable::new(&session.path, &format!("{error:#}")));
                results.push((first + at, count, lines));
            });
            send(results);
        };
        let lost = |&first: &usize, why: String| {
            let some = found[first..].iter().take(SESSIONS_AT_ONCE).map(|((sought, _), _)| sought.digest.file_path());
            some.zip(first..).map(|(path, at)| (at, 0, Err(Unreadable::new(&path, &why)))).collect()
        };
        let mut sum = HitTotals { total: skipped, is_exact: true, ..HitTotals::default() };
        let (mut last, mut is_more, mut result) = (None, false, Ok(()));
        let mut take = |(at, count, lines): SessionLines| {
            sum.total += count;
            if let Some(last) = last {
                is_more |= count > 0;
                sum.is_exact = !is_more || at - last < COUNTED_SESSIONS || at + 1 == found.len();
                return sum.is_exact;
            }
            let room = limit - sum.printed;
            match lines {
                Ok(lines) if lines.is_empty() => {}
                Ok(mut lines) => {
                    lines.truncate(room);
                    sum.printed += lines.len();
                    sum.next = lines.last().map(|line| line.hit.clone());
                    result = each(lines);
                }
                Err(error) => unreadable.push(error),
            }
            if sum.printed == limit {
                (last, is_more) = (Some(at), count > room);
                is_full.store(true, Ordering::Relaxed);
            }
            result.is_ok()
        };
        parallel::in_order(&chunks, (lines, lost), |results| results.into_iter().all(&mut take));
        result?;
        sum.next = sum.next.filter(|_| is_more);
        Ok(sum)
    }

    /// Returns the number of hits in a session without those to skip, and the lines of the first `limit` of them.
    fn lines(
        &self,
        found: FoundSession<'_>,
        session: &Digest,
        (skipped, limit): (usize, usize),
    ) -> (usize, Result<Vec<HitLine>>) {
        match self.matched(found, session) {
            None => (0, Ok(Vec::new())),
            Some((_, None)) if skipped > 0 => (0, Ok(Vec::new())),
            Some((_, None)) if limit == 0 => (1, Ok(Vec::new())),
            Some((hit, None)) => (1, Ok(vec![HitLine::of_title(session, &hit, &self.matcher)])),
            Some((hit, Some(mut places))) => {
                places.drain(..skipped.min(places.len())); // the file may have changed
                let count = places.len();
                places.truncate(limit);
                (count, HitLine::of_entries(session, places, &hit, &self.matcher))
            }
        }
    }

    /// Reports hits in the complete content of files, newest sessions first.
    fn everything(
        &self,
        (limit, mut after): (usize, Option<&str>),
        unreadable: &mut Vec<Unreadable>,
        mut each: impl FnMut(Vec<HitLine>) -> Result<()>,
    ) -> Result<HitTotals> {
        let (mut sum, mut result) = (HitTotals::default(), Ok(()));
        self.bytes(if after.is_some() { usize::MAX } else { limit }, |batch, by_path| {
            unreadable.extend(batch.unreadable);
            let line = |hit: grep::EntryHit| {
                let session = by_path.get(&*hit.path)?.digest.uncached_digest();
                let what = (Some(hit.field.name()), hit.active);
                let time = session.modified; // the time of the entry would require reading its line again
                Some(HitLine::new(&session, (Some(hit.offset), hit.id), what, time, hit.snippet))
            };
            let mut lines: Vec<HitLine> = batch.hits.into_iter().filter_map(line).collect();
            if let Some(last) = after {
                let found = lines.iter().position(|line| line.hit == last);
                let skipped = found.map_or(lines.len(), |at| at + 1);
                sum.total += skipped;
                lines.drain(..skipped);
                after = after.filter(|_| found.is_none());
            }
            lines.truncate(limit - sum.printed);
            sum.printed += lines.len();
            sum.total += lines.len();
            sum.next = lines.last().map(|line| line.hit.clone()).or(sum.next.take());
            result = each(lines);
            result.is_ok() && sum.printed < limit
        });
        result?;
        if let Some(after) = after {
            return Err(unknown(after));
        }
        // The search stops at the limit.
        let is_full = sum.printed == limit;
        Ok(HitTotals { is_exact: !is_full, next: sum.next.filter(|_| is_full), ..sum })
    }
}

/// Returns the places of matches in the entries of a session, or `None` if the session matched only by its titles.
fn places(
    session: &Digest,
    texts: Option<SearchTexts<'_>>,
    found: &SessionHit,
    matcher: &Matcher,
) -> Option<Vec<EntryPlace>> {
    let at = found.at?;
    let mut places = texts.map(|texts| matcher.entries(session, texts)).unwrap_or_default();
    if let (true, HitPlace::Place(at), Some(place)) = (places.is_empty(), at, &found.hit.place) {
        places.push((at, place.field));
    }
    Some(places)
}
