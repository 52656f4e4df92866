//! `pitree search`: what a query finds, one hit a line.

use std::collections::HashMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use serde::Serialize;

use crate::base::js::cut;
use crate::base::numbers::count;
use crate::base::paths::shorten;
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
use crate::session::entry::read;
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
    /// Also sessions of sub-agents
    #[arg(long)]
    subagents: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// A hit as a script sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HitLine {
    #[serde(flatten)]
    path: PathFields,
    /// Of the session.
    id: String,
    entry_id: Option<String>,
    field: Option<&'static str>,
    active: Option<bool>,
    snippet: String,
    ranges: Vec<[usize; 2]>,
    /// Of the session, as what follows.
    title: String,
    cwd: String,
    modified: Option<String>,
    #[serde(skip)]
    time: Option<i64>,
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
        let (sessions, mut unreadable) = self.sessions(chosen, now_ms);
        let searcher = Searcher::default();
        // What is looked for in all bytes needs no texts, but what must not be there does.
        let without_words = Matcher::new(&query.without_words(), &here);
        if !query.everything || query.words().is_empty() || without_words.has_texts() {
            // What lies in the index is searched there.
            let unread: Vec<Sought> = sessions.iter().filter(|session| !session.digest.is_stored()).cloned().collect();
            searcher.read(chosen.files, &unread, |_, _| true);
        }
        let search = Search { chosen, query, sessions, here, searcher, limit: self.limit.get() };
        let (mut out, mut lines, mut is_found) = (output::stdout(), Vec::new(), false);
        search.each(&mut unreadable, |found| {
            is_found |= !found.is_empty();
            if self.json {
                found.iter().try_for_each(|line| output::json(&mut out, line))?;
                out.flush()?;
            } else {
                lines.extend(found);
            }
            Ok(())
        })?;
        if !self.json {
            let ids = resolve::shortest(search.sessions.iter().map(|sought| &*sought.digest.header.id));
            let row = |line: &HitLine| line.row(now_ms, ids, &chosen.home);
            table::print(&mut out, COLUMNS, &lines.iter().map(row).collect::<Vec<_>>(), chosen.config.signs())?;
            if lines.is_empty() {
                output::tell(&format!("no match in {}", count(search.sessions.len(), "session", "sessions")));
            }
        }
        out.flush()?;
        let end = output::end(unreadable);
        Ok(if is_found { end } else { ExitCode::FAILURE })
    }

    /// All sessions, the newest first, with what the browser would say of them.
    fn sessions(&self, chosen: &Chosen, now: i64) -> (Arc<[Sought]>, Vec<Unreadable>) {
        let mut library = Library::read(chosen.sources(), now, Path::to_path_buf);
        let is_wanted = |session: &&Sought| self.subagents || session.digest.owner.is_none();
        let sessions = library.sought().iter().filter(is_wanted).cloned().collect();
        (sessions, std::mem::take(&mut library.unreadable))
    }
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
}

impl Search<'_> {
    /// Passes on the hits, the best first.
    fn each(&self, unreadable: &mut Vec<Unreadable>, mut told: impl FnMut(Vec<HitLine>) -> Result<()>) -> Result<()> {
        if self.query.everything && !self.query.words().is_empty() {
            return self.everything(unreadable, told);
        }
        let by_key: HashMap<SessionKey, &Sought> = self.sessions.iter().map(|session| (session.key, session)).collect();
        let matcher = Matcher::new(&self.query, &self.here);
        let found = self.searcher.look(self.chosen.files, &self.sessions, (&self.query, &self.here), || false);
        let mut room = self.limit;
        for found in found.unwrap_or_default() {
            let Some(&sought) = by_key.get(&found.session).filter(|_| room > 0) else { break };
            let session = &*sought.digest;
            let lines = match found.at {
                None => Ok(vec![title_line(session, &found, &matcher)?]),
                Some(_) => self.entries(sought, &found, &matcher, room),
            };
            match lines {
                Ok(lines) => {
                    room -= lines.len();
                    told(lines)?;
                }
                Err(error) => unreadable.push(Unreadable::new(&session.path, &format!("{error:#}"))),
            }
        }
        Ok(())
    }

    /// Passes on the hits in all that the files hold, those of the newest sessions first.
    fn everything(
        &self,
        unreadable: &mut Vec<Unreadable>,
        mut told: impl FnMut(Vec<HitLine>) -> Result<()>,
    ) -> Result<()> {
        let asked = (&self.query, &self.here);
        let fit = self.searcher.fit((self.chosen.files, &self.sessions), asked, || false).unwrap_or_default();
        let paths: Vec<&PathBuf> = fit.iter().map(|session| &session.digest.path).collect();
        let by_path: HashMap<&PathBuf, &Digest> =
            fit.iter().map(|sought| (&sought.digest.path, &*sought.digest)).collect();
        let line = |hit: grep::EntryHit| {
            let session = by_path.get(&hit.path)?;
            Some(HitLine::new(session, (hit.id, Some(hit.field.name()), hit.active), hit.snippet))
        };
        let (mut room, mut result) = (self.limit, Ok(()));
        grep::each(
            self.chosen.files,
            &paths,
            (&self.query.words(), self.limit, Order::Given),
            || false,
            |batch| {
                unreadable.extend(batch.unreadable);
                let lines: Result<Vec<HitLine>> = batch.hits.into_iter().take(room).filter_map(line).collect();
                result = lines.and_then(|lines| {
                    room -= lines.len();
                    told(lines)
                });
                result.is_ok() && room > 0
            },
        );
        result
    }

    /// The entries of a session in which something stands that is looked for.
    fn entries(&self, sought: &Sought, found: &SessionHit, matcher: &Matcher, room: usize) -> Result<Vec<HitLine>> {
        let session = &*sought.digest;
        let mut bodies = Bodies::open(self.chosen.files, &session.path)?;
        let mut places: Vec<(Index, MatchField)> = self.searcher.with_texts(self.chosen.files, sought, |texts| {
            texts.map(|texts| matcher.entries(session, texts)).unwrap_or_default()
        });
        if let (true, Some(At::Place(at)), Some(place)) = (places.is_empty(), found.at, &found.hit.place) {
            places.push((at, place.field));
        }
        let has_ids = session.header.version >= 2.0;
        let mut lines = Vec::new();
        for (at, field) in places.into_iter().take(room) {
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
            let id = entry.and_then(|entry| entry.id).filter(|_| has_ids).map(|id| id.text().into_owned());
            lines.push(HitLine::new(session, (id, Some(field), Some(session.is_active(at))), snippet)?);
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
    HitLine::new(session, (None, field, None), snippet)
}

impl HitLine {
    fn new(
        session: &Digest,
        (entry_id, field, active): (Option<String>, Option<&'static str>, Option<bool>),
        snippet: Snippet,
    ) -> Result<Self> {
        Ok(Self {
            path: (&*resolve::absolute(&session.path)?).into(),
            id: session.header.id.clone(),
            entry_id,
            field,
            active,
            snippet: snippet.text,
            ranges: snippet.ranges.into_iter().map(|range| [range.start, range.end]).collect(),
            title: cut(session.title(), MOST_TITLE).to_string(),
            cwd: session.header.cwd.clone(),
            modified: session.modified.and_then(time::iso),
            time: session.modified,
        })
    }

    fn row(&self, now: i64, ids: usize, home: &str) -> [String; 7] {
        let age = self.time.map_or("?".into(), |then| time::age(now, then));
        let (id, project) = (cut(&self.id, ids).to_string(), shorten(&self.cwd, home).into_owned());
        let path = if self.active == Some(false) { "abandoned" } else { "" };
        let snippet = self.snippet.split_whitespace().collect::<Vec<_>>().join(" ");
        [age, id, project, self.title.clone(), path.into(), self.field.unwrap_or_default().into(), snippet]
    }
}
