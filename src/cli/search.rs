//! `pitree search`: prints the hits of a query, one per line. A hit is an entry of a session, or a session that matched by
//! its title.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{count, thousands};
use crate::base::paths::{file_name, shorten};
use crate::base::text::{clean, width};
use crate::base::time;
use crate::catalog::search::{SearchedSession, SessionHit};
use crate::catalog::user_data::local_cwds;
use crate::cli::command_context::read;
use crate::cli::hits::{HitSearch, HitTotals};
use crate::cli::output::PathFields;
use crate::cli::selection::ProjectArg;
use crate::cli::table::{self, Column, LAST};
use crate::cli::{CommandContext, Exit, output, resolve};
use crate::disk::load::Bodies;
use crate::disk::parallel;
use crate::disk::scan::Unreadable;
use crate::search::byte_search::Snippet;
use crate::search::candidate::MatchField;
use crate::search::matching::{Matcher, Tier};
use crate::search::qualifier;
use crate::search::query::{Query, QueryProblem};
use crate::session::digest::Digest;
use crate::session::digest::facts::SessionFacts;
use crate::session::entry::{RawTime, parse};
use crate::session::search_text::searched;
use crate::session::search_titles::capped;
use crate::session::tree::Index;
use crate::session::worktrees::Worktrees;

/// The maximum width of a project in columns; the session id is more useful.
const PROJECT: usize = 24;

/// Search messages, names, labels and summaries, best hits first
///
/// The query language is the same as in the browser: words, "phrases", -excluded words, re:pattern, and the qualifiers
/// below. Quote characters that are special to the shell. Put -- before a query that begins with a dash.
#[derive(Debug, clap::Args)]
#[command(after_help = qualifier::help())]
pub(super) struct SearchCommand {
    /// Search query; all words must match
    #[arg(required = true)]
    query: Vec<String>,
    /// Include tool output, thinking, arguments and custom entries (same as `all:` in the query)
    #[arg(long)]
    all: bool,
    /// Print at most N hits; the total may then be a lower bound
    #[arg(long, value_name = "N", default_value = "100", value_parser = crate::cli::some)]
    limit: usize,
    /// Continue after this hit of the same query (`hit` or `next` in the --json output)
    #[arg(long, value_name = "HIT")]
    after: Option<String>,
    /// Search only the newest session of this project, or pi's own if pi runs the command
    #[arg(long)]
    here: bool,
    #[command(flatten)]
    project: ProjectArg,
    /// Include subagent sessions
    #[arg(long)]
    subagents: bool,
    /// Print JSON Lines; the last line is a summary
    #[arg(long)]
    json: bool,
}

/// The sessions to search, the unreadable files, and the worktrees if they are printed.
type FoundSessions = (Arc<[SearchedSession]>, Vec<Unreadable>, Option<Worktrees>);

impl SearchCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let mut query = read_query(&self.query)?;
        query.everything |= self.all;
        let (sessions, mut unreadable, worktrees) = self.sessions(&query, context)?;
        let search = HitSearch::new(query, sessions, context.here_and_now(), context)?;
        let page = (self.limit, self.after.as_deref());
        let mut lines = Vec::new();
        let mut sum = search.each(page, &mut unreadable, |mut found| {
            if let Some(worktrees) = &worktrees {
                found.iter_mut().for_each(|line| line.set_worktree(worktrees));
                found.iter().try_for_each(output::json)?;
                output::flush()?;
            } else {
                lines.extend(found);
            }
            Ok(())
        })?;
        sum.is_exact &= !search.note_undecided();
        let HitTotals { printed, total, is_exact, ref next } = sum;
        if self.json {
            output::json(&sum)?;
        } else {
            const WHOLE: Column = Column::Whole;
            const TITLE: Column = Column::Words(table::TITLE);
            // Age, id, project and title of the session, abandoned mark, kind of text, match.
            const COLUMNS: [Column; 7] =
                [Column::Number, WHOLE, Column::Path(PROJECT), TITLE, WHOLE, WHOLE, Column::Words(LAST)];
            let ids = resolve::shortest(search.ids());
            let none = format!("no match in {}", count(search.ids().count(), "session", "sessions"));
            context.table(COLUMNS, lines.iter().map(|line| line.row(ids, &context.home)), &none)?;
            if let Some(next) = next {
                let least = if is_exact { "" } else { "at least " };
                let (printed, total) = (count(printed, "hit", "hits"), thousands(total));
                note!("{printed} of {least}{total}; continue with --after {next}");
            }
        }
        // Freeing the memory piece by piece would be slower than exiting.
        std::mem::forget(search);
        Ok(output::end(unreadable)?.found(printed > 0))
    }

    /// Returns the sessions to search in any order, the unreadable files, and for JSON the worktrees.
    fn sessions(&self, query: &Query, context: &CommandContext) -> Result<FoundSessions> {
        let here = self.here.then(|| context.session(OsStr::new("."))).transpose()?;
        let (mut scan, mut sessions) = (context.sources().scan(), Vec::new());
        let unreadable = read(&mut scan, |batch| sessions.extend(batch));
        context.keep(scan);
        let is_here = |facts: &SessionFacts<'_>| here.as_ref().is_none_or(|here| facts.path().is(here.as_os_str()));
        let is_in_project = self.project.matcher(context);
        let is_wanted = |session: &&SearchedSession| {
            let facts = session.digest.facts();
            is_in_project(&facts) && (self.subagents || !facts.is_subagent()) && is_here(&facts)
        };
        let cwds = self.json.then(|| local_cwds(sessions.iter()).map(String::from).collect::<HashSet<_>>());
        let (worktrees, all) = parallel::both(
            sessions.len(),
            || cwds.map(|cwds| context.worktrees(cwds.iter().map(String::as_str))),
            || context.searched(sessions, query),
        );
        // Copying takes as long as a search for a rare word.
        let sessions = if all.iter().all(|session| is_wanted(&session)) {
            all
        } else {
            all.iter().filter(is_wanted).cloned().collect()
        };
        if let (Some(here), true) = (&here, sessions.is_empty()) {
            bail!("{} is not among the searched sessions; specify its directory with --dir", here.display());
        }
        Ok((sessions, unreadable, worktrees))
    }
}

/// Parses the query of the command line.
///
/// # Errors
/// The query is empty or invalid; the message marks the place.
pub(super) fn read_query(words: &[String]) -> Result<Query> {
    let text = words.join(" ");
    let problem = match Query::parse(&text) {
        Ok(query) if !query.is_empty() => return Ok(query),
        Ok(_) => QueryProblem { at: 0..text.len(), message: "the query is empty".into() },
        Err(problem) => problem,
    };
    let piece = |from: usize, to: usize| clean(text.get(from..to).unwrap_or_default()).into_owned();
    let before = width(&piece(0, problem.at.start));
    let marks = width(&piece(problem.at.start, problem.at.end)).max(1);
    let (before, marks) = (" ".repeat(before), "^".repeat(marks));
    bail!("{}\n{}\n{before}{marks}", problem.message, clean(&text))
}

/// The maximum length of a title in a hit, in UTF-16 code units, because a first message can be very long.
const MOST_TITLE: usize = 500;

/// The JSON form of a hit.
#[derive(Serialize)]
#[serde(tag = "type", rename = "hit", rename_all = "camelCase")]
pub(super) struct HitLine {
    /// An identifier for continuing after this hit.
    pub(super) hit: String,
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

/// An entry with a match, and the field.
pub(super) type EntryPlace = (Index, MatchField);

/// Texts that an entry can have beside others. The identifiers of their hits contain the kind of text.
const OTHER_FIELDS: [&str; 3] = [LABEL, "thinking", "arguments"];

/// The field of labels.
pub(super) const LABEL: &str = "label";

/// Returns the identifier of a hit in a field: the session id and the offset of its line, which are stable.
pub(super) fn hit_name(session: &Digest, offset: Option<u64>, field: Option<&str>) -> String {
    let id = &session.header.id;
    match (offset, field.filter(|field| OTHER_FIELDS.contains(field))) {
        (None, _) => id.clone(),
        (Some(offset), None) => format!("{id}@{offset}"),
        (Some(offset), Some(field)) => format!("{id}@{offset}:{field}"),
    }
}

impl HitLine {
    /// Creates the hit of a session that matched by its title.
    pub(super) fn of_title(session: &Digest, found: &SessionHit, matcher: &Matcher) -> Self {
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
        Self::new(session, (None, None), (field, None), session.modified, snippet)
    }

    /// Creates the hits in entries of a session.
    pub(super) fn of_entries(
        session: &Digest,
        places: Vec<EntryPlace>,
        found: &SessionHit,
        matcher: &Matcher,
    ) -> Result<Vec<Self>> {
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
                    (LABEL, session.labels.iter().find(|label| label.at == at).map(|label| label.text.to_string()))
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
            lines.push(Self::new(session, (Some(offset), id), what, time, snippet));
        }
        Ok(lines)
    }

    /// Creates a hit at an offset with the id of its entry, the matching text, and `true` if the entry is on the active
    /// path.
    pub(super) fn new(
        session: &Digest,
        (offset, entry_id): (Option<u64>, Option<String>),
        (field, active): (Option<&'static str>, Option<bool>),
        time: Option<i64>,
        snippet: Snippet,
    ) -> Self {
        Self {
            hit: hit_name(session, offset, field),
            path: (&*session.path).into(),
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
        }
    }

    /// Sets the project and the worktree of the session.
    fn set_worktree(&mut self, worktrees: &Worktrees) {
        self.project = file_name(Path::new(&*worktrees.project(&self.cwd)));
        self.worktree = worktrees.of(&self.cwd).map(|worktree| worktree.name.clone());
    }

    /// Returns the row in the table, with ids of the given length.
    pub(super) fn row(&self, ids: usize, home: &str) -> [String; 7] {
        [
            table::age(self.age),
            utf16_prefix(&self.id, ids).into(),
            shorten(&self.cwd, home).into(),
            self.title.clone(),
            if self.active == Some(false) { "abandoned".into() } else { String::new() },
            self.field.unwrap_or_default().into(),
            self.snippet.split_whitespace().collect::<Vec<_>>().join(" "),
        ]
    }
}
