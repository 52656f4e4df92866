//! `pitree search`: what a query finds, one hit a line.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use serde::Serialize;

use crate::base::js::cut;
use crate::base::numbers::{count, thousands};
use crate::base::paths::{file_name, shorten};
use crate::base::text::{clean, width};
use crate::base::time;
use crate::cli::output::PathFields;
use crate::cli::table::{self, Column, LAST, TITLE};
use crate::cli::{Chosen, output, resolve};
use crate::disk::load::Bodies;
use crate::disk::locate::Environment;
use crate::disk::scan::Unreadable;
use crate::library::grep::{self, Order};
use crate::library::search::{At, Searcher, SessionHit, Sought};
use crate::library::{Library, SessionKey};
use crate::search::candidate::MatchField;
use crate::search::fuzzy::capped;
use crate::search::here::HereAndNow;
use crate::search::matching::{Matcher, Tier};
use crate::search::qualifier;
use crate::search::query::{Problem, Query};
use crate::search::raw::Snippet;
use crate::session::digest::Digest;
use crate::session::entry::{Stamp, read};
use crate::session::texts::searched;
use crate::session::tree::Index;

/// As much of a title stands in each hit, in UTF-16 code units: a first message may be very long.
const MOST_TITLE: usize = 500;

/// The most columns of a project: the session's id tells more.
const PROJECT: usize = 24;

/// Age, id, project and title of the session, whether the entry is abandoned, what it is, and what was found.
const COLUMNS: [Column; 7] = [
    Column::Number,
    Column::Whole,
    Column::Path(PROJECT),
    Column::Words(TITLE),
    Column::Whole,
    Column::Whole,
    Column::Words(LAST),
];

/// Search all sessions: what was said, names, labels, summaries; the best hits first
///
/// The language is that of the browser: words, "phrases", -excluded words, re:pattern, and the qualifiers below. Put the
/// query in quotes where the shell would take a part of it, and behind -- if it begins with a dash.
#[derive(Debug, clap::Args)]
#[command(after_help = qualifier::help())]
pub(super) struct SearchCommand {
    /// What to look for; several words must all be there
    #[arg(required = true)]
    query: Vec<String>,
    /// Also in tool output, thinking, arguments and custom entries, as all: in the query does
    #[arg(long)]
    all: bool,
    /// Print so many hits at most
    #[arg(long, value_name = "N", default_value = "100", value_parser = crate::cli::some)]
    limit: NonZeroUsize,
    /// Go on behind this hit of the same query, by what --json gives as `hit` and `next`
    #[arg(long, value_name = "HIT")]
    after: Option<String>,
    /// Only in the session of the pi in which this runs, else in the newest one of this directory
    #[arg(long)]
    here: bool,
    /// Also sessions of sub-agents
    #[arg(long)]
    subagents: bool,
    /// One JSON object a line, the last of which says how many hits there are
    #[arg(long)]
    json: bool,
}

/// The form of what is printed for scripts.
const SCHEMA: u32 = 1;

/// A hit as a script sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HitLine {
    schema: u32,
    r#type: &'static str,
    /// Names it, to go on behind it.
    hit: String,
    #[serde(flatten)]
    path: PathFields,
    /// Of the session.
    id: String,
    entry_id: Option<String>,
    field: Option<&'static str>,
    active: Option<bool>,
    snippet: String,
    ranges: Vec<[usize; 2]>,
    /// Of the entry; of a hit without one, of the session.
    time: Option<String>,
    /// Of the session, as what follows.
    title: String,
    name: Option<String>,
    cwd: String,
    project: String,
    modified: Option<String>,
    #[serde(skip)]
    age: Option<i64>,
}

/// The last line: how many hits there are in all, where that was counted, and behind which one to go on.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EndLine<'a> {
    schema: u32,
    r#type: &'static str,
    printed: usize,
    total: Option<usize>,
    next: Option<&'a str>,
}

/// What a search came to.
#[derive(Default)]
struct Sum {
    printed: usize,
    total: Option<usize>,
    /// The last hit that was printed, where there are more.
    next: Option<String>,
}

impl SearchCommand {
    pub(super) fn run(&self, chosen: &Chosen) -> Result<ExitCode> {
        let mut query = match read_query(&self.query) {
            Ok(query) => query,
            Err(wrong) => return Ok(wrong),
        };
        query.everything |= self.all;
        let now_ms = crate::cli::now();
        let dir = Environment::current().cwd.to_string_lossy().into_owned();
        let here = HereAndNow { now_ms, home: chosen.home.clone(), dir, zone: jiff::tz::TimeZone::system() };
        let (sessions, mut unreadable) = self.sessions(chosen, now_ms)?;
        let searcher = Searcher::default();
        // What is looked for in all bytes needs no texts, but what must not be there does.
        let without_words = Matcher::new(&query.without_words(), &here);
        if !query.everything || query.words().is_empty() || without_words.has_texts() {
            // What lies in the index is searched there.
            let unread: Vec<Sought> = sessions.iter().filter(|session| !session.digest.is_stored()).cloned().collect();
            searcher.read(chosen.files, &unread, |_, _| true);
        }
        let after = self.after.as_deref();
        let search = Search { chosen, query, sessions, here, searcher, limit: self.limit.get(), after };
        let (mut out, mut lines) = (output::stdout(), Vec::new());
        let sum = search.each(&mut unreadable, |found| {
            if self.json {
                found.iter().try_for_each(|line| output::json(&mut out, line))?;
                out.flush()?;
            } else {
                lines.extend(found);
            }
            Ok(())
        })?;
        if self.json {
            let Sum { printed, total, ref next } = sum;
            let end = EndLine { schema: SCHEMA, r#type: "end", printed, total, next: next.as_deref() };
            output::json(&mut out, &end)?;
        } else {
            let ids = resolve::shortest(search.sessions.iter().map(|sought| &*sought.digest.header.id));
            let row = |line: &HitLine| line.row(now_ms, ids, &chosen.home);
            table::print(&mut out, COLUMNS, &lines.iter().map(row).collect::<Vec<_>>(), chosen.config.signs())?;
            if lines.is_empty() {
                output::tell(&format!("no match in {}", count(search.sessions.len(), "session", "sessions")));
            }
            if let Some(next) = &sum.next {
                let of = sum.total.map_or(String::new(), |total| format!(" of {}", thousands(total)));
                output::tell(&format!("{}{of}; more with --after {next}", count(sum.printed, "hit", "hits")));
            }
        }
        out.flush()?;
        let end = output::end(unreadable);
        Ok(if sum.printed > 0 { end } else { ExitCode::FAILURE })
    }

    /// All sessions, the newest first, with what the browser would say of them.
    fn sessions(&self, chosen: &Chosen, now: i64) -> Result<(Arc<[Sought]>, Vec<Unreadable>)> {
        let here = self.here.then(|| resolve::file(OsStr::new("."), chosen)).transpose()?;
        let mut library = Library::read(chosen.sources(), now, Path::to_path_buf);
        let is_here = |session: &Sought| {
            here.as_ref().is_none_or(|here| resolve::absolute(&session.digest.path).is_ok_and(|path| path == *here))
        };
        let is_wanted = |session: &&Sought| (self.subagents || session.digest.owner.is_none()) && is_here(session);
        let sessions: Arc<[Sought]> = library.sought().iter().filter(is_wanted).cloned().collect();
        if let (Some(here), true) = (&here, sessions.is_empty()) {
            bail!("{} is not among the sessions that are read; name its directory with --dir", here.display());
        }
        Ok((sessions, std::mem::take(&mut library.unreadable)))
    }
}

/// The files of the sessions that a query of some words finds. What is wrong with it is said, and how the program ends for
/// it comes back.
pub(super) fn sessions(words: &[String], chosen: &Chosen) -> Result<HashSet<PathBuf>, ExitCode> {
    let query = read_query(words)?;
    let now_ms = crate::cli::now();
    let dir = Environment::current().cwd.to_string_lossy().into_owned();
    let here = HereAndNow { now_ms, home: chosen.home.clone(), dir, zone: jiff::tz::TimeZone::system() };
    let library = Library::read(chosen.sources(), now_ms, Path::to_path_buf);
    let all: Arc<[Sought]> = library.sought().iter().cloned().collect();
    let searcher = Searcher::default();
    if query.everything && !query.words().is_empty() {
        let fit = searcher.fit((chosen.files, &all), (&query, &here), || false).unwrap_or_default();
        let paths: Vec<&PathBuf> = fit.iter().map(|session| &session.digest.path).collect();
        let mut found = HashSet::new();
        let add = |batch: grep::Batch| {
            found.extend(batch.hits.into_iter().map(|hit| hit.path));
            true
        };
        grep::each(chosen.files, &paths, (&query.words(), usize::MAX, Order::Given), || false, add);
        return Ok(found);
    }
    let unread: Vec<Sought> = all.iter().filter(|session| !session.digest.is_stored()).cloned().collect();
    searcher.read(chosen.files, &unread, |_, _| true);
    let found = searcher.look(chosen.files, &all, (&query, &here), || false).unwrap_or_default();
    let path = |hit: SessionHit| library.get(hit.session).map(|digest| digest.path.clone());
    Ok(found.into_iter().filter_map(path).collect())
}

/// Reads a query of some words. What is wrong with it is said, and how the program ends for it comes back.
pub(super) fn read_query(words: &[String]) -> Result<Query, ExitCode> {
    let text = words.join(" ");
    let problem = match Query::parse(&text) {
        Ok(query) if !query.is_empty() => return Ok(query),
        Ok(_) => Problem { at: 0..text.len(), what: "the query asks for nothing".into() },
        Err(problem) => problem,
    };
    let piece = |from: usize, to: usize| clean(text.get(from..to).unwrap_or_default()).into_owned();
    let before = width(&piece(0, problem.at.start));
    let marks = width(&piece(problem.at.start, problem.at.end)).max(1);
    let (before, marks) = (" ".repeat(before), "^".repeat(marks));
    output::complain(&format!("{}\n{}\n{before}{marks}", problem.what, clean(&text)));
    Err(ExitCode::from(2))
}

/// A search under way.
struct Search<'a> {
    chosen: &'a Chosen,
    query: Query,
    sessions: Arc<[Sought]>,
    here: HereAndNow,
    searcher: Searcher,
    limit: usize,
    /// The hit behind which to go on.
    after: Option<&'a str>,
}

/// Names a hit: by the id of its session and where the line of its entry starts, which stays as it is.
fn name(session: &Digest, offset: Option<u64>) -> String {
    let id = &session.header.id;
    offset.map_or_else(|| id.clone(), |offset| format!("{id}@{offset}"))
}

/// Why nothing can be gone on with.
fn unknown(after: &str) -> anyhow::Error {
    anyhow!("this query finds no hit {after} now; begin without --after")
}

impl Search<'_> {
    /// Passes on the hits, the best first.
    fn each(&self, unreadable: &mut Vec<Unreadable>, mut told: impl FnMut(Vec<HitLine>) -> Result<()>) -> Result<Sum> {
        if self.query.everything && !self.query.words().is_empty() {
            return self.everything(unreadable, told);
        }
        let by_key: HashMap<SessionKey, &Sought> = self.sessions.iter().map(|session| (session.key, session)).collect();
        let matcher = Matcher::new(&self.query, &self.here);
        let found = self.searcher.look(self.chosen.files, &self.sessions, (&self.query, &self.here), || false);
        let (mut sum, mut total, mut after, mut is_more) = (Sum::default(), 0, self.after, false);
        for found in found.unwrap_or_default() {
            let Some(&sought) = by_key.get(&found.session) else { continue };
            let session = &*sought.digest;
            let places = if found.at.is_none() { None } else { Some(self.places(sought, &found, &matcher)) };
            total += places.as_ref().map_or(1, Vec::len);
            // What stands before the hit behind which to go on was printed before.
            let skipped = after.and_then(|after| self.skipped(session, places.as_deref(), after));
            if after.is_some() && skipped.is_none() {
                continue;
            }
            let (skipped, room) = (skipped.unwrap_or_default(), self.limit - sum.printed);
            after = None;
            is_more |= places.as_ref().map_or(1, Vec::len) > skipped + room;
            let lines = match places {
                None if skipped > 0 || room == 0 => Ok(Vec::new()),
                None => title_line(session, &found, &matcher).map(|line| vec![line]),
                Some(places) => {
                    let places = places.into_iter().skip(skipped).take(room).collect();
                    self.entries(session, places, &found, &matcher)
                }
            };
            match lines {
                Ok(lines) => {
                    sum.printed += lines.len();
                    sum.next = lines.last().map(|line| line.hit.clone()).or(sum.next);
                    told(lines)?;
                }
                Err(error) => unreadable.push(Unreadable::new(&session.path, &format!("{error:#}"))),
            }
        }
        if let Some(after) = after {
            return Err(unknown(after));
        }
        Ok(Sum { total: Some(total), next: sum.next.filter(|_| is_more), ..sum })
    }

    /// How many hits of a session were printed before, if the hit behind which to go on is one of them.
    fn skipped(&self, session: &Digest, places: Option<&[(Index, MatchField)]>, after: &str) -> Option<usize> {
        let Some(places) = places else { return (name(session, None) == after).then_some(1) };
        if !after.starts_with(&session.header.id) {
            return None;
        }
        let offset = |at: Index| session.details().offsets.get(at as usize).copied();
        places.iter().position(|&(at, _)| name(session, offset(at)) == after).map(|at| at + 1)
    }

    /// Passes on the hits in all that the files hold, those of the newest sessions first.
    fn everything(
        &self,
        unreadable: &mut Vec<Unreadable>,
        mut told: impl FnMut(Vec<HitLine>) -> Result<()>,
    ) -> Result<Sum> {
        let asked = (&self.query, &self.here);
        let fit = self.searcher.fit((self.chosen.files, &self.sessions), asked, || false).unwrap_or_default();
        let paths: Vec<&PathBuf> = fit.iter().map(|session| &session.digest.path).collect();
        let by_path: HashMap<&PathBuf, &Digest> =
            fit.iter().map(|sought| (&sought.digest.path, &*sought.digest)).collect();
        let line = |hit: grep::EntryHit| {
            let session = by_path.get(&hit.path)?;
            let time = session.modified; // the entry's own would take another look at its line
            Some(HitLine::new(
                session,
                (Some(hit.offset), hit.id),
                (Some(hit.field.name()), hit.active),
                time,
                hit.snippet,
            ))
        };
        let (mut sum, mut after, mut result) = (Sum::default(), self.after, Ok(()));
        let most = if after.is_some() { usize::MAX } else { self.limit };
        grep::each(
            self.chosen.files,
            &paths,
            (&self.query.words(), most, Order::Given),
            || false,
            |batch| {
                unreadable.extend(batch.unreadable);
                let lines: Result<Vec<HitLine>> = batch.hits.into_iter().filter_map(line).collect();
                result = lines.and_then(|mut lines| {
                    if let Some(last) = after {
                        let Some(at) = lines.iter().position(|line| line.hit == last) else { return Ok(()) };
                        (after, lines) = (None, lines.split_off(at + 1));
                    }
                    lines.truncate(self.limit - sum.printed);
                    sum.printed += lines.len();
                    sum.next = lines.last().map(|line| line.hit.clone()).or(sum.next.take());
                    told(lines)
                });
                result.is_ok() && sum.printed < self.limit
            },
        );
        result?;
        if let Some(after) = after {
            return Err(unknown(after));
        }
        // It is not looked for more than is wanted.
        let is_full = sum.printed == self.limit;
        Ok(Sum {
            total: (!is_full && self.after.is_none()).then_some(sum.printed),
            next: sum.next.filter(|_| is_full),
            ..sum
        })
    }

    /// Where in a session something stands that is looked for.
    fn places(&self, sought: &Sought, found: &SessionHit, matcher: &Matcher) -> Vec<(Index, MatchField)> {
        let mut places: Vec<(Index, MatchField)> = self.searcher.with_texts(self.chosen.files, sought, |texts| {
            texts.map(|texts| matcher.entries(&sought.digest, texts)).unwrap_or_default()
        });
        if let (true, Some(At::Place(at)), Some(place)) = (places.is_empty(), found.at, &found.hit.place) {
            places.push((at, place.field));
        }
        places
    }

    /// The entries of a session in which something stands that is looked for.
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
        let mut bodies = Bodies::open(self.chosen.files, &session.path)?;
        let has_ids = session.header.version >= 2.0;
        let mut lines = Vec::new();
        for (at, field) in places {
            let Some(&offset) = session.details().offsets.get(at as usize) else { continue };
            let line = bodies.line_at(offset)?;
            let entry = read::line(&line).ok().flatten();
            let (field, said) = match field {
                MatchField::Label => {
                    ("label", session.labels.iter().find(|label| label.at == at).map(|label| label.text.to_string()))
                }
                MatchField::File => {
                    let touched = session.details().touches.iter().find(|touched| touched.entry == at);
                    ("file", touched.map(|touched| touched.path.to_string()))
                }
                _ => {
                    let said = entry.as_ref().and_then(searched);
                    said.map_or(("", None), |(field, text)| (field.name(), Some(text)))
                }
            };
            let said = said.unwrap_or_default();
            let snippet = Snippet::around(&said, &matcher.marks(&said, found.hit.tier == Tier::Fuzzy));
            let time = entry.as_ref().and_then(|entry| entry.timestamp.and_then(Stamp::ms));
            let id = entry.and_then(|entry| entry.id).filter(|_| has_ids).map(|id| id.text().into_owned());
            let what = (Some(field), Some(session.is_active(at)));
            lines.push(HitLine::new(session, (Some(offset), id), what, time, snippet)?);
        }
        Ok(lines)
    }
}

/// The hit of a session that was found by what a list shows of it.
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
    fn new(
        session: &Digest,
        (offset, entry_id): (Option<u64>, Option<String>),
        (field, active): (Option<&'static str>, Option<bool>),
        time: Option<i64>,
        snippet: Snippet,
    ) -> Result<Self> {
        Ok(Self {
            schema: SCHEMA,
            r#type: "hit",
            hit: name(session, offset),
            path: (&*resolve::absolute(&session.path)?).into(),
            id: session.header.id.clone(),
            entry_id,
            field,
            active,
            snippet: snippet.text,
            ranges: snippet.ranges.into_iter().map(|range| [range.start, range.end]).collect(),
            time: time.and_then(time::iso),
            title: cut(session.title(), MOST_TITLE).to_string(),
            name: session.name.as_deref().map(String::from),
            cwd: session.header.cwd.clone(),
            project: file_name(Path::new(&session.header.cwd)),
            modified: session.modified.and_then(time::iso),
            age: session.modified,
        })
    }

    fn row(&self, now: i64, ids: usize, home: &str) -> [String; 7] {
        let age = self.age.map_or("?".into(), |then| time::age(now, then));
        let (id, project) = (cut(&self.id, ids).to_string(), shorten(&self.cwd, home).into_owned());
        let path = if self.active == Some(false) { "abandoned" } else { "" };
        let snippet = self.snippet.split_whitespace().collect::<Vec<_>>().join(" ");
        [age, id, project, self.title.clone(), path.into(), self.field.unwrap_or_default().into(), snippet]
    }
}
