//! `pitree entries`: a stream of all entries for databases, with a cursor to continue from.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap_complete::ArgValueCompleter;

use crate::catalog::entries::state::PrintedEntries;
use crate::catalog::entries::{EntriesRequest, EntriesTotals};
use crate::catalog::key::SessionKey;
use crate::catalog::stats::sessions::StatsSessions;
use crate::changes::random;
use crate::cli::chosen_sessions::listed_sessions;
use crate::cli::exit::Exit;
use crate::cli::output::{self, Output, object};
use crate::cli::project::ProjectArg;
use crate::cli::resolve::SessionResolver;
use crate::cli::{CommandContext, completions, now};
use crate::disk::cursors::{self, Cursor};
use crate::disk::locate;
use crate::runtime::chosen_rules::ChosenRules;

/// Print all entries as JSON Lines for a database, without likely secrets
///
/// Each line is an entry with its session, project, text, tools, files, tokens and cost. The last line has a cursor; with
/// --since CURSOR, the next run prints only what has changed since then. Likely secrets are replaced by marks such as
/// [github-token 1]; rules cannot find every secret. DuckDB and ClickHouse can load the lines.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::cli::exit::help("Examples:
  pitree entries > entries.jsonl                 all entries
  pitree entries --since e1-7c9f0b1d-52a0e6c4    entries since an earlier run
  pitree entries after:1w in:webshop             entries of the sessions that match a query
  pitree entries | jq -r 'select(.own) | .cost'  costs, each counted once"))]
pub(super) struct EntriesCommand {
    /// Sessions (path, id, or unique id prefix), or a query (see `pitree search --help`)
    #[arg(value_name = "SESSION|QUERY", add = ArgValueCompleter::new(completions::sessions))]
    words: Vec<OsString>,
    /// Print only what is new since the run that printed this cursor
    #[arg(long, value_name = "CURSOR")]
    since: Option<String>,
    /// Keep secrets
    #[arg(long)]
    no_redact: bool,
    #[command(flatten)]
    project: ProjectArg,
}

impl EntriesCommand {
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<ExitCode> {
        let started = now();
        let (since, before) = self.before()?;
        let rules = (!self.no_redact).then(|| ChosenRules::new(&chosen.config.redact)).transpose()?;
        let resolver = SessionResolver::new(chosen);
        let catalog = resolver.catalog();
        let is_found = listed_sessions(&self.words, &resolver, chosen.here_and_now())?;
        let is_in_project = self.project.matcher(chosen);
        let is_wanted = |key: SessionKey| {
            let is_found = is_found.as_ref().is_none_or(|found| found.contains(&key));
            is_found && catalog.get(key).is_some_and(|session| is_in_project(&session.facts()))
        };
        let sessions = StatsSessions::new(catalog, is_wanted).with_worktrees(chosen.worktrees(catalog.cwds()));
        let request =
            EntriesRequest { sessions: &sessions, rules: rules.as_deref(), home: &chosen.home, before, started };
        let mut unreadable = catalog.unreadable.clone();
        let mut written = Ok(());
        let run = request.run(&unreadable, |lines| {
            written = out.write_all(lines);
            written.is_ok()
        });
        let Some(run) = run else {
            written?;
            return Ok(Exit::Failed.into());
        };
        out.flush()?;
        let cursor = keep(since.as_ref(), &run.printed, chosen)?;
        let EntriesTotals { entries, sessions: printed, removed } = run.totals;
        let end = object! {
            #[serde(rename = "type")] record: "end",
            machine: None::<&str>, // this one
            generation: run.printed.generation,
            cursor: cursor.map(|cursor| cursor.text()),
            entries,
            sessions: printed,
            removed_sessions: removed,
        };
        output::json(out, &end)?;
        unreadable.extend(run.unreadable);
        let is_narrowed = !self.words.is_empty() || self.project.dir.is_some();
        let has_sessions = !run.printed.sessions.is_empty() || removed > 0;
        Ok(output::end(out, unreadable)?.found(has_sessions || !is_narrowed).into())
    }

    /// Returns the cursor of the run before, and the entries printed until then.
    fn before(&self) -> Result<(Option<Cursor>, PrintedEntries)> {
        let Some(text) = &self.since else { return Ok((None, PrintedEntries::default())) };
        let advice = "run without --since and load the output into an empty table";
        let Some(cursor) = Cursor::parse(text) else {
            bail!("{text} is not a cursor of this version; {advice}");
        };
        let state_dir = locate::state_dir().context("no state directory found; set HOME")?;
        let content = cursors::read(&state_dir, &cursor).with_context(|| format!("cannot read the cursor {text}"))?;
        match content.as_deref().map(PrintedEntries::from_bytes) {
            Some(Some(before)) => Ok((Some(cursor), before)),
            Some(None) => bail!("the cursor {text} was written by another version; {advice}"),
            None => bail!("the cursor {text} is not kept on this machine; {advice}"),
        }
    }
}

/// Stores a new cursor. Returns `None` for the demo sessions, which are removed at the end.
fn keep(before: Option<&Cursor>, printed: &PrintedEntries, chosen: &CommandContext) -> Result<Option<Cursor>> {
    if chosen.demo.is_some() {
        return Ok(None);
    }
    let state_dir = locate::state_dir().context("no state directory found; set HOME")?;
    let cursor = Cursor::next(before, random());
    cursors::write(&state_dir, &cursor, &printed.to_bytes()).context("cannot write the cursor")?;
    Ok(Some(cursor))
}
