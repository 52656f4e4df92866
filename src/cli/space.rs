//! `pitree space`: the bytes of sessions by kind of content, project, session, tool and type.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{bytes, share, thousands};
use crate::base::paths::shorten;
use crate::base::sort;
use crate::base::text::Tone;
use crate::catalog::SessionKey;
use crate::catalog::space::{SpaceGrouping, SpaceKey, SpaceReport, SpaceRow, measure};
use crate::catalog::stats::sessions::StatsSessions;
use crate::cli::output::{self, PathFields, object};
use crate::cli::selection::SelectionArgs;
use crate::cli::stats::named_value;
use crate::cli::table::{BAR, Column, LAST};
use crate::cli::{CommandContext, Exit, resolve};
use crate::session::space::{LargeEntry, SessionSpace, SpaceKind, SpaceSum};

/// The default number of rows.
const ROWS: usize = 20;

/// Show what takes space in session files
///
/// Each byte of a file belongs to one kind: prompts, answers, thinking, tool calls, tool results, images, entries of
/// extensions, summaries, others, or damaged lines. Two columns overlap with the kinds. "copies" are entries that an
/// older session of the family contains too. "outside" are entries that no branch end sends to the model.
#[derive(Debug, clap::Args)]
pub(super) struct SpaceCommand {
    /// Group by kind, project, session, tool, type (of extension entries) or entry
    #[arg(long, value_name = "GROUPING", default_value = "kind", value_parser = named_value(SpaceGrouping::ALL, SpaceGrouping::name), conflicts_with = "json")]
    by: SpaceGrouping,
    /// Print at most N rows [default: 20]; with --json, at most N sessions and projects
    #[arg(long, value_name = "N", value_parser = crate::cli::some)]
    limit: Option<usize>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Print JSON Lines: sessions, projects, and the total
    #[arg(long)]
    json: bool,
}

impl SpaceCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let catalog = context.catalog();
        let is_wanted = self.selection.matcher(context.query_scope(), context)?;
        let sessions = StatsSessions::new(catalog, is_wanted).with_worktrees(context.worktrees(catalog.cwds()));
        let report = measure(&sessions, |done, all| output::progress_of(done, all, "sessions")).unwrap_or_default();
        let printer = Printer { report: &report, sessions: &sessions, context };
        match self.json {
            true => printer.json(self.limit.unwrap_or(usize::MAX))?,
            false => printer.tables(self.by, self.limit.unwrap_or(ROWS))?,
        }
        let unreadable = catalog.unreadable.iter().chain(&report.unreadable).cloned().collect();
        self.selection.end(unreadable, !report.sessions.is_empty())
    }
}

/// Prints a report.
struct Printer<'a> {
    report: &'a SpaceReport,
    sessions: &'a StatsSessions,
    context: &'a CommandContext,
}

impl Printer<'_> {
    /// Prints the rows of a grouping, and the largest entries.
    fn tables(&self, by: SpaceGrouping, limit: usize) -> Result<()> {
        let (rows, all) = self.report.rows(by, limit, self.sessions);
        self.table(by, &rows)?;
        if all > rows.len() {
            note!("{} of {} rows; --limit shows more", rows.len(), thousands(all));
        }
        let largest = self.report.largest.len();
        if by != SpaceGrouping::Entry && largest > 0 {
            let heading = if largest == 1 { "largest entry" } else { "largest entries" };
            outln!("\n{}", output::paint(Tone::Dim, heading))?;
            let (rows, _) = self.report.rows(SpaceGrouping::Entry, largest, self.sessions);
            self.table(SpaceGrouping::Entry, &rows)?;
        }
        Ok(())
    }

    fn table(&self, by: SpaceGrouping, rows: &[SpaceRow]) -> Result<()> {
        const NUMBER: Column = Column::Number;
        let last = if by == SpaceGrouping::Project { Column::Path } else { Column::Words(LAST) };
        let columns = [NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, Column::Whole, Column::Words(BAR), last];
        let most = rows.first().map_or(0, |row| row.sum.bytes);
        // A narrow terminal shows fewer columns, so that there is room for the names.
        let room = output::columns().unwrap_or(usize::MAX);
        let is_entries = by == SpaceGrouping::Entry;
        let total = self.report.total;
        let fitted = |mut cells: [String; 8]| {
            let narrow: &[usize] = if room < 72 { &[2, 4] } else { &[] };
            let dropped: &[usize] = if is_entries { &[2, 3, 4, 6] } else { narrow };
            dropped.iter().for_each(|&at| cells[at].clear());
            cells
        };
        let cells = |sum: &SpaceSum, sessions: usize, id: String, bar: String, name: String| {
            let some = |size: u64| if size == 0 { String::new() } else { bytes(size) };
            let share = share(sum.bytes, total.bytes);
            let counted = thousands(if by == SpaceGrouping::Session { sum.count } else { sessions });
            fitted([bytes(sum.bytes), share, some(sum.duplicate), some(sum.outside), counted, id, bar, name])
        };
        let mut lines = Vec::new();
        if !is_entries {
            let counted = if by == SpaceGrouping::Session { "entries" } else { "sessions" };
            let header = ["bytes", "share", "copies", "outside", counted, "", "", by.name()];
            lines.push(fitted(header.map(String::from)));
        }
        let ids = self.sessions_of(rows).map(|key| self.id(key)).collect::<Vec<_>>();
        let shortest = resolve::shortest(ids.iter().map(String::as_str));
        for row in rows {
            let bar = self.context.bar(row.sum.bytes as f64, most as f64);
            let id = match row.key {
                SpaceKey::Session(key) => utf16_prefix(&self.id(key), shortest).to_owned(),
                SpaceKey::Entry(key, at) => {
                    let id = self.report.large_entry(key, at).and_then(|entry| entry.id.as_deref());
                    let id = id.map_or_else(|| format!("#{at}"), String::from);
                    format!("{}@{id}", utf16_prefix(&self.id(key), shortest))
                }
                SpaceKey::Kind(_) | SpaceKey::Text(_) => String::new(),
            };
            let name = match by {
                SpaceGrouping::Project => shorten(&row.name, &self.context.home).into_owned(),
                SpaceGrouping::Entry => format!("{}  {}", row.name, row.title),
                _ => row.name.clone(),
            };
            lines.push(cells(&row.sum, row.sessions, id, bar, name));
        }
        if !is_entries {
            lines.push(cells(&total, self.report.sessions.len(), String::new(), String::new(), "total".into()));
        }
        self.context.styled_table(columns, &lines, (!is_entries, true))
    }

    fn sessions_of(&self, rows: &[SpaceRow]) -> impl Iterator<Item = SessionKey> {
        rows.iter().filter_map(|row| match row.key {
            SpaceKey::Session(key) | SpaceKey::Entry(key, _) => Some(key),
            SpaceKey::Kind(_) | SpaceKey::Text(_) => None,
        })
    }

    fn id(&self, key: SessionKey) -> String {
        self.sessions.get(key).map_or_else(String::new, |session| session.facts().id().to_owned())
    }

    fn path(&self, key: SessionKey) -> PathFields {
        let path = self.sessions.get(key).map(|session| session.file_path()).unwrap_or_default();
        PathFields::from(&*path)
    }

    /// Prints a line for each session and project, and one for the total.
    fn json(&self, limit: usize) -> Result<()> {
        for (key, space) in self.report.sessions.iter().take(limit) {
            let facts = self.sessions.get(*key).map(|session| session.facts());
            let line = object! {
                r#type: "session",
                id: self.id(*key),
                #[serde(flatten)] path: self.path(*key),
                cwd: facts.map_or("", |facts| facts.cwd()),
                sessions: 1,
                #[serde(flatten)] sums: fields([space].into_iter()),
            };
            output::json(&line)?;
        }
        let mut projects: HashMap<Cow<'_, str>, Vec<&SessionSpace>> = HashMap::new();
        for (key, space) in &self.report.sessions {
            let session = self.sessions.get(*key);
            let project = session.map_or("".into(), |session| self.sessions.project(session));
            projects.entry(project).or_default().push(space);
        }
        for row in self.report.rows(SpaceGrouping::Project, limit, self.sessions).0 {
            let SpaceKey::Text(cwd) = &row.key else { continue };
            let spaces = projects.get(&**cwd).into_iter().flatten().copied();
            let line = object! {
                r#type: "project",
                cwd: cwd,
                sessions: row.sessions,
                #[serde(flatten)] sums: fields(spaces),
            };
            output::json(&line)?;
        }
        let largest = self.report.largest.iter().map(|(key, entry)| {
            let LargeEntry { at, id, kind, name, bytes, .. } = entry;
            object! {
                id: self.id(*key),
                #[serde(flatten)] path: self.path(*key),
                entry_id: id,
                index: at,
                bytes: bytes,
                kind: kind.name(),
                name: Some(name).filter(|name| !name.is_empty()),
            }
        });
        let line = object! {
            r#type: "total",
            sessions: self.report.sessions.len(),
            #[serde(flatten)] sums: fields(self.report.sessions.iter().map(|(_, space)| space)),
            largest: largest.collect::<Vec<_>>(),
        };
        output::json(&line)
    }
}

/// The JSON form of a sum.
fn sum_fields(SpaceSum { bytes, count, duplicate, outside }: SpaceSum) -> impl Serialize {
    object! { bytes, count, duplicate_bytes: duplicate, outside_context_bytes: outside }
}

/// The JSON form of the sums of some sessions.
fn fields<'a>(spaces: impl Iterator<Item = &'a SessionSpace>) -> impl Serialize {
    let mut total = SpaceSum::default();
    let mut sums: [BTreeMap<String, SpaceSum>; 3] = Default::default();
    for space in spaces {
        total += space.total;
        for group in &space.groups {
            *sums[0].entry(group.kind.name().into()).or_default() += group.sum;
            let by_name = match group.kind {
                kind if kind.is_of_tool() => 1,
                SpaceKind::Custom => 2,
                _ => continue,
            };
            *sums[by_name].entry(group.name.to_string()).or_default() += group.sum;
        }
    }
    let [kinds, tools, types] = sums.map(|sums| {
        let mut sums: Vec<(String, SpaceSum)> = sums.into_iter().collect();
        sort::by_key(&mut sums, |(_, sum)| std::cmp::Reverse(sum.bytes));
        let named = sums.into_iter().map(|(name, sum)| object! { name, #[serde(flatten)] sum: sum_fields(sum) });
        named.collect::<Vec<_>>()
    });
    object! { #[serde(flatten)] total: sum_fields(total), kinds, tools, types }
}
