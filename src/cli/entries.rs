//! `pitree entries`: a stream of all entries for databases.

use std::ffi::OsString;

use anyhow::Result;

use crate::base::time;
use crate::catalog::entries::EntriesRequest;
use crate::catalog::stats::sessions::StatsSessions;
use crate::cli::chosen_sessions::selection;
use crate::cli::project::ProjectArg;
use crate::cli::{CommandContext, Exit, completions, now, output};
use crate::runtime::secret_rules::ChosenRules;
use crate::search::qualifier::value::date::DateValue;

/// Print all entries as JSON Lines for a database, without likely secrets
///
/// Each line is an entry with its session, project, text, tools, files, tokens and cost. With --since TIME, sessions whose
/// files are unchanged since then are left out. Likely secrets are replaced by marks such as [github-token 1]; rules cannot
/// find every secret. DuckDB and ClickHouse can load the lines.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::cli::exit::help("Examples:
  pitree entries > entries.jsonl                 all entries
  pitree entries --since 1d                      entries of the sessions that changed in the last day
  pitree entries after:1w in:webshop             entries of the sessions that match a query
  pitree entries | jq -r 'select(.own) | .cost'  costs, each counted once"))]
pub(super) struct EntriesCommand {
    /// Sessions (path, id, or unique id prefix), or a query (see `pitree search --help`)
    #[arg(value_name = "SESSION|QUERY", add = completions::sessions())]
    words: Vec<OsString>,
    /// Print the entries of sessions whose files changed since this time (2026-05-01T12:00:00Z, 2026-05-01, today, 2w)
    #[arg(long, value_name = "TIME", value_parser = Since::read)]
    since: Option<Since>,
    /// Keep secrets
    #[arg(long)]
    no_redact: bool,
    #[command(flatten)]
    project: ProjectArg,
}

/// A value of `--since`.
#[derive(Clone, Copy, Debug)]
enum Since {
    Date(DateValue),
    /// Milliseconds since 1970.
    Time(i64),
}

impl Since {
    fn read(text: &str) -> Result<Self, String> {
        let time = || time::parse(text).filter(|_| text.contains(':')).map(Self::Time);
        DateValue::read(text).map(Self::Date).or_else(|error| time().ok_or(error))
    }
}

impl EntriesCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let run = time::iso(now()).unwrap_or_default();
        let rules = (!self.no_redact).then(|| ChosenRules::new(&context.config.redact)).transpose()?;
        let catalog = context.catalog();
        let here = context.here_and_now();
        let since = self.since.map(|since| match since {
            Since::Date(date) => date.ms(&here),
            Since::Time(ms) => ms,
        });
        let is_wanted = selection(&self.words, &self.project, here, context)?;
        let has_sessions = catalog.keys().any(&is_wanted);
        let sessions = StatsSessions::new(catalog, is_wanted).with_worktrees(context.worktrees(catalog.cwds()));
        let request =
            EntriesRequest { sessions: &sessions, rules: rules.as_deref(), home: &context.home, since, run: &run };
        let mut written = Ok(());
        let unreadable = request.run(|lines| {
            written = output::write(lines);
            written.is_ok()
        });
        written?;
        let is_narrowed = !self.words.is_empty() || self.project.dir.is_some();
        let all = catalog.unreadable.iter().cloned().chain(unreadable).collect();
        Ok(output::end(all)?.found(has_sessions || !is_narrowed))
    }
}
