//! Search over sessions: the line that is typed, the query that it reads as, and who is waited for. What was found is in
//! the sessions pane, the entry in which the selected session was found in the tree.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::app::panes::sessions::RowKey;
use crate::app::ticket::Claim;
use crate::app::widgets::line::LineEdit;
use crate::catalog::search::{SearchedSession, SessionHit};
use crate::catalog::suggestions::Suggestions;
use crate::catalog::{Catalog, SessionKey};
use crate::search::matching::Matcher;
use crate::search::query::complete::{Completion, CompletionCandidate, complete};
use crate::search::query::{Query, QueryProblem};
use crate::search::scope::QueryScope;
use crate::search::value_lists::{ValueList, ValueLists};

/// As long, in milliseconds, sessions that change by themselves are not searched again,
const REST: i64 = 1000;
/// and files not for everything, which takes all processors.
const REST_FROM_FILES: i64 = 10_000;

/// A search over sessions.
#[derive(Debug)]
pub struct Search {
    /// The line.
    pub line: LineEdit,
    /// What it reads as, or why it reads as nothing.
    pub query: Result<Arc<Query>, QueryProblem>,
    /// What marks hits in texts; that of the last query that could be read.
    pub matcher: Arc<Matcher>,
    /// How many texts were read, of how many.
    pub read: Option<(usize, usize)>,
    /// How many files were searched for everything, of how many.
    pub searched: Option<(usize, usize)>,
    /// How the query may go on at the cursor.
    pub completion: Option<Completion>,
    /// The candidates that it goes on with, one after the other.
    pub cycle: Option<CompletionCycle>,
    /// Whether somebody chose a row since the query changed: until then the best hit is selected.
    pub chosen: bool,
    /// The row that was selected when the search began: one comes back to it who chose none.
    pub from: Option<RowKey>,
    /// Whether the keyboard was in the line when a hit was gone to: one comes back to it.
    pub from_line: bool,
    /// Hits that were in focus when the sessions were searched again: they stay until the query changes.
    kept: HashMap<SessionKey, SessionHit>,
    /// How many entries were found, each counted once; nothing if that is not known.
    pub entries: usize,
    /// Where a query that found nothing would find something, as far as it is known.
    pub elsewhere: Option<Suggestions>,
    /// Who waits for that,
    pub looking: Option<Claim>,
    /// for texts,
    pub reading: Option<Claim>,
    /// and for hits.
    pub searching: Option<Claim>,
    /// The sessions that are searched.
    pub sessions: Arc<[SearchedSession]>,
    /// The version of the catalog that they are of, as far as that is not put off.
    as_of: Option<u64>,
    /// When they were taken, in milliseconds since 1970.
    taken: i64,
    /// Whether they have changed since, which is put off.
    is_put_off: bool,
    /// The directories that they worked in.
    dirs: Vec<String>,
    /// The query of the hits that are shown.
    pub answered: Option<Arc<Query>>,
}

/// Completing what stands in the line with one candidate after the other.
#[derive(Debug)]
pub struct CompletionCycle {
    /// The candidates.
    pub options: Vec<CompletionCandidate>,
    /// The one that is in the line.
    pub at: usize,
    /// What stands before it and behind it.
    before: String,
    after: String,
    /// The line with it.
    line: String,
}

impl CompletionCycle {
    fn new(line: &str, Completion { at, options }: Completion, forward: bool) -> Self {
        let (before, after) = (line[..at.start].into(), line[at.end..].into());
        let at = if forward { 0 } else { options.len().saturating_sub(1) };
        Self { options, at, before, after, line: String::new() }
    }

    fn turned(mut self, forward: bool) -> Self {
        let len = self.options.len().max(1);
        self.at = (self.at + if forward { 1 } else { len - 1 }) % len;
        self
    }
}

impl Search {
    /// A search that begins with a text.
    pub(crate) fn new(text: &str, from: Option<RowKey>, scope: &QueryScope) -> Self {
        Self {
            line: LineEdit::new(text),
            query: Ok(Arc::default()),
            matcher: Arc::new(Matcher::new(&Query::default(), scope)),
            read: None,
            searched: None,
            completion: None,
            cycle: None,
            chosen: false,
            from,
            from_line: false,
            kept: HashMap::new(),
            entries: 0,
            elsewhere: None,
            looking: None,
            reading: None,
            searching: None,
            sessions: Arc::default(),
            as_of: None,
            taken: 0,
            is_put_off: false,
            dirs: Vec::new(),
            answered: None,
        }
    }

    /// Forgets what was chosen for the query before.
    pub(crate) fn begin_query(&mut self) {
        self.chosen = false;
        self.kept.clear();
    }

    /// Keeps hits that are in focus, and those that were, although the sessions may not match any more. A session that
    /// still matches stays at the entry at which it was found.
    pub(crate) fn keep(&mut self, focused: Vec<SessionHit>, hits: &mut HashMap<SessionKey, SessionHit>) {
        self.kept.extend(focused.into_iter().map(|hit| (hit.session, hit)));
        for (&key, before) in &self.kept {
            match hits.get_mut(&key) {
                Some(hit) if before.at.is_some() => {
                    *hit = SessionHit { entries: hit.entries, forks: hit.forks, ..before.clone() };
                }
                Some(_) => {}
                None => drop(hits.insert(key, before.clone())),
            }
        }
    }

    /// Somebody chooses a row.
    pub(crate) fn choose(&mut self) {
        self.chosen = true;
        self.from = None;
    }

    /// Whether the sessions are others than those that are searched.
    pub(crate) fn is_outdated(&self, catalog: &Catalog) -> bool {
        self.as_of != Some(catalog.version())
    }

    /// The sessions changed by themselves: they are not searched anew for each line that a pi writes.
    pub(crate) fn put_off(&mut self, catalog: &Catalog) {
        self.as_of = Some(catalog.version());
        self.is_put_off = true;
    }

    /// When that is made up for, in milliseconds since 1970: when all that was asked for is answered, and a while is over.
    pub(crate) fn due(&self) -> Option<i64> {
        let is_apart = self.query.as_ref().is_ok_and(|query| query.everything);
        let is_at_rest = self.read.is_none() && self.searching.is_none();
        (self.is_put_off && is_at_rest).then_some(self.taken + if is_apart { REST_FROM_FILES } else { REST })
    }

    /// Takes the sessions as they are `now`, in milliseconds since 1970.
    pub(crate) fn take_sessions(&mut self, catalog: &Catalog, now: i64) {
        self.as_of = Some(catalog.version());
        (self.taken, self.is_put_off) = (now, false);
        self.sessions = catalog.sought();
        let mut seen = HashSet::new();
        let dirs = self.sessions.iter().map(|session| &session.digest.header.cwd);
        self.dirs = dirs.filter(|cwd| !cwd.is_empty() && seen.insert(*cwd)).cloned().collect();
        let total = self.sessions.len();
        self.read = (total > 0).then_some((0, total));
    }

    /// Finds how the query may go on at the cursor.
    pub(crate) fn note_completion(&mut self, values: &ValueLists) {
        let ValueLists { files, labels, models, tools } = values;
        let values = ValueList { dirs: &self.dirs, files, labels, models, tools };
        let value = self.line.value();
        let cursor = value.char_indices().nth(self.line.cursor()).map_or(value.len(), |(at, _)| at);
        self.completion = complete(value, cursor, values);
        self.cycle.take_if(|cycle| cycle.line != self.line.value());
    }

    /// Completes what stands at the cursor, again and again with the next candidate, or the one before. Returns whether
    /// there was anything to complete.
    pub fn complete(&mut self, forward: bool) -> bool {
        let mut cycle = match (self.cycle.take(), self.completion.take()) {
            (Some(cycle), _) => cycle.turned(forward),
            (None, Some(completion)) => CompletionCycle::new(self.line.value(), completion, forward),
            (None, None) => return false,
        };
        let Some(option) = cycle.options.get(cycle.at) else { return false };
        let CompletionCycle { before, after, .. } = &cycle;
        self.line = LineEdit::new(&format!("{before}{}{after}", option.text));
        self.line.go_to(before.chars().count() + option.text.chars().count());
        cycle.line = self.line.value().into();
        // A single one is the one that is wanted: the next time what follows it is completed.
        self.cycle = Some(cycle).filter(|cycle| cycle.options.len() > 1);
        true
    }

    /// Switches between the conversation and everything in the files.
    pub(crate) fn toggle_everything(&mut self) {
        let value = self.line.value();
        let value = match value.strip_prefix("all:") {
            Some(rest) => rest.trim_start().to_string(),
            None => format!("all: {value}"),
        };
        self.line = LineEdit::new(&value);
    }

    /// Takes how many texts were read, of how many. Returns whether the sessions are to be held against the query again:
    /// everything is not searched in the texts, only what a qualifier asks for may stand there.
    pub(crate) fn take_read(&mut self, done: usize, total: usize) -> bool {
        self.read = (done < total).then_some((done, total));
        let is_apart = self.query.as_ref().is_ok_and(|query| query.everything);
        !is_apart || done == total
    }

    /// Takes how far a search is. Returns whether the hits are the first ones of the query.
    pub(crate) fn take_hits(&mut self, progress: Option<(usize, usize)>) -> bool {
        let Ok(query) = &self.query else { return false };
        let is_new = self.answered.as_ref() != Some(query);
        self.answered = Some(query.clone());
        self.searched = progress;
        self.searching = self.searching.take().filter(|_| progress.is_some());
        is_new
    }
}
