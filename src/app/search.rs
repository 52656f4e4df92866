//! State of a search over all sessions: the input line, its query and the pending work.
//!
//! The sessions pane holds the hits, the tree pane the entry of the selected hit.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::app::panes::sessions::RowKey;
use crate::app::ticket::Claim;
use crate::app::widgets::LineEdit;
use crate::catalog::search::{SearchedSession, SessionHit};
use crate::catalog::suggestions::Suggestions;
use crate::catalog::{Catalog, SessionKey};
use crate::search::matching::Matcher;
use crate::search::qualifier::value::{ValueList, ValueLists};
use crate::search::query::complete::{Completion, CompletionCandidate, complete};
use crate::search::query::{Query, QueryProblem};

/// Milliseconds before changed sessions are searched again.
const PAUSE: i64 = 1000;
/// Milliseconds before changed files are searched again for all text, which uses all processors.
const PAUSE_OF_FILES: i64 = 10_000;

/// A search over all sessions.
#[derive(Debug, Default)]
pub struct Search {
    /// The input line.
    pub line: LineEdit,
    /// The parsed query; empty if it has an error.
    pub query: Arc<Query>,
    /// The error in the query.
    pub problem: Option<QueryProblem>,
    /// Marks hits in texts, for the last valid query.
    pub matcher: Option<Arc<Matcher>>,
    /// Number of texts read, and their total.
    pub read: Option<(usize, usize)>,
    /// Number of files searched for all text, and their total.
    pub searched: Option<(usize, usize)>,
    /// Completions at the cursor.
    pub completion: Option<Completion>,
    /// The completion in progress.
    pub cycle: Option<CompletionCycle>,
    /// `true` if the user has selected a row since the query changed; otherwise the best hit is selected.
    pub chosen: bool,
    /// The row that was selected before the search; restored if the user selects no other.
    pub from: Option<RowKey>,
    /// `true` if the user went to a hit from the input line; going back then returns to the line.
    pub from_line: bool,
    /// Hits that were visible when the sessions were searched again; they stay until the query changes.
    pub(crate) kept: HashMap<SessionKey, SessionHit>,
    /// Number of matching entries, each counted once.
    pub entries: usize,
    /// Hits of alternative searches.
    pub elsewhere: Option<Suggestions>,
    /// Claim on the suggestions.
    pub suggesting: Option<Claim>,
    /// Claim on the reading of texts.
    pub reading: Option<Claim>,
    /// Claim on the hits.
    pub searching: Option<Claim>,
    /// The sessions to search.
    pub sessions: Arc<[SearchedSession]>,
    /// Version of the catalog that was searched or whose search was postponed.
    pub(crate) catalog_version: Option<u64>,
    /// Time at which the sessions were taken, in milliseconds since 1970.
    taken: i64,
    /// `true` if the sessions have changed and the next search is postponed.
    pub(crate) is_put_off: bool,
    /// Directories of projects, for completion.
    dirs: Vec<String>,
    /// Tags of sessions, for completion.
    tags: Vec<String>,
    /// Names and branches of worktrees, for completion.
    worktrees: Vec<String>,
    /// Names of machines, for completion.
    machines: Vec<String>,
    /// The query of the hits in the list.
    pub answered: Option<Arc<Query>>,
}

/// A completion that the user cycles through.
#[derive(Debug)]
pub struct CompletionCycle {
    /// The candidates.
    pub options: Vec<CompletionCandidate>,
    /// Index of the inserted candidate.
    pub at: usize,
    /// Text before and after the candidate.
    before: String,
    after: String,
    /// The line with the candidate.
    line: String,
}

impl Search {
    /// Starts a search with a line.
    pub(crate) fn new(line: LineEdit, from: Option<RowKey>) -> Self {
        Self { line, from, ..Self::default() }
    }

    /// Keeps visible hits, now and earlier, even if the sessions no longer match. A session that still matches keeps
    /// the entry at which it was found.
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

    /// Records that the user selected a row.
    pub(crate) fn choose(&mut self) {
        self.chosen = true;
        self.from = None;
    }

    /// Returns `true` if the sessions have changed since the search.
    pub(crate) fn is_outdated(&self, catalog: &Catalog) -> bool {
        self.catalog_version != Some(catalog.version())
    }

    /// Returns the time of the postponed search, in milliseconds since 1970: a pause after all pending work.
    pub(crate) fn due(&self) -> Option<i64> {
        let is_apart = self.query.everything;
        let is_at_rest = self.read.is_none() && self.searching.is_none();
        (self.is_put_off && is_at_rest).then_some(self.taken + if is_apart { PAUSE_OF_FILES } else { PAUSE })
    }

    /// Takes the sessions to search at `now`, in milliseconds since 1970.
    pub(crate) fn take_sessions(&mut self, catalog: &Catalog, now: i64) {
        self.catalog_version = Some(catalog.version());
        (self.taken, self.is_put_off) = (now, false);
        self.sessions = catalog.searched_sessions();
        let mut seen = HashSet::new();
        let dirs = self.sessions.iter().map(|session| &**catalog.project_dir(session.key));
        self.dirs = dirs.filter(|dir| !dir.is_empty() && seen.insert(*dir)).map(String::from).collect();
        self.worktrees = catalog.worktrees().names();
        self.machines = catalog.machine_names();
        self.tags = catalog.marks().tags_by_frequency();
        let total = self.sessions.len();
        self.read = (total > 0).then_some((0, total));
    }

    /// Updates the completions at the cursor.
    pub(crate) fn note_completion(&mut self, values: &ValueLists) {
        let Self { dirs, tags, worktrees, machines, .. } = &*self;
        let values = ValueList { dirs, tags, worktrees, machines, lists: values };
        let value = self.line.value();
        let cursor = value.char_indices().nth(self.line.cursor()).map_or(value.len(), |(at, _)| at);
        self.completion = complete(value, cursor, values);
        self.cycle.take_if(|cycle| cycle.line != self.line.value());
    }

    /// Inserts a completion at the cursor; repeated calls insert the next or previous candidate. Returns `true` if
    /// there is one.
    pub fn complete(&mut self, forward: bool) -> bool {
        let mut cycle = match (self.cycle.take(), self.completion.take()) {
            (Some(mut cycle), _) => {
                let len = cycle.options.len().max(1);
                cycle.at = (cycle.at + if forward { 1 } else { len - 1 }) % len;
                cycle
            }
            (None, Some(Completion { at, options })) => {
                let line = self.line.value();
                let (before, after) = (line[..at.start].into(), line[at.end..].into());
                let at = if forward { 0 } else { options.len().saturating_sub(1) };
                CompletionCycle { options, at, before, after, line: String::new() }
            }
            (None, None) => return false,
        };
        let Some(option) = cycle.options.get(cycle.at) else { return false };
        let CompletionCycle { before, after, .. } = &cycle;
        self.line = LineEdit::new(&format!("{before}{}{after}", option.text));
        self.line.go_to(before.chars().count() + option.text.chars().count());
        cycle.line = self.line.value().into();
        // After a single candidate, the next completion continues behind it.
        self.cycle = Some(cycle).filter(|cycle| cycle.options.len() > 1);
        true
    }
}
