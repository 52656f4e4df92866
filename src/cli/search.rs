//! `pitree search`: prints the hits of a query, one per line below its session. A hit is an entry of a session, or a session that matched by
//! its title.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::base::numbers::{count, thousands};
use crate::catalog::search::SearchedSession;
use crate::catalog::user_data::local_cwds;
use crate::cli::command_context::read;
use crate::cli::hit_line::HitLine;
use crate::cli::hits::{HitSearch, HitTotals, read_query};
use crate::cli::selection::ProjectArg;
use crate::cli::{CommandContext, Exit, output, resolve};
use crate::disk::parallel;
use crate::disk::scan::Unreadable;
use crate::search::qualifier;
use crate::search::query::Query;
use crate::session::digest::facts::SessionFacts;
use crate::session::worktrees::Worktrees;

/// The maximum width of a line in a pipe.
const WITHOUT_TERMINAL: usize = 160;

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
        let search = HitSearch::new(query, sessions, context.query_scope(), context)?;
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
            let (ids, columns) = (resolve::shortest(search.ids()), output::columns().unwrap_or(WITHOUT_TERMINAL));
            for hits in lines.chunk_by(HitLine::is_of_session) {
                HitLine::print(hits, ids, columns, context.config.glyphs())?;
            }
            if lines.is_empty() {
                note!("no match in {}", count(search.ids().count(), "session", "sessions"));
            }
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
