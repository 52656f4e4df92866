//! `pitree archive` and `pitree unarchive`: move sessions to the compressed archive, and bring them back.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap_complete::ArgValueCompleter;

use crate::base::numbers::{bytes, count};
use crate::base::time;
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{FileSnapshot, Refusal, Request};
use crate::cli::change::{ChangeArgs, Changer, CliStep};
use crate::cli::chosen_sessions::{chosen_sessions, skip_mirrored};
use crate::cli::exit::Exit;
use crate::cli::resolve::{self, SessionResolver};
use crate::cli::{CommandContext, completions, now, output};
use crate::disk::locate;
use crate::pi::running;
use crate::pi::warnings::LOSES;

/// Move sessions to the compressed archive
///
/// pi's /resume lists no archived sessions; pitree still lists, searches and shows them. Subagent sessions move with
/// their sessions. Each archived file is verified before the original is removed. Asks for confirmation unless --yes is
/// given. Warns if pi may be using a session. Bring sessions back with `pitree unarchive` or `pitree undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  pitree archive 01a1ceea           archive a session
  pitree archive before:6mo --yes   archive sessions without activity for six months
  pitree archive in:logq --dry-run  show what would move")]
pub(super) struct ArchiveCommand {
    #[command(flatten)]
    args: ArchiveArgs,
}

/// Bring sessions back from the archive
///
/// The files are the same again, with their times and modes.
#[derive(Debug, clap::Args)]
pub(super) struct UnarchiveCommand {
    #[command(flatten)]
    args: ArchiveArgs,
}

/// The arguments of both commands.
#[derive(Debug, clap::Args)]
struct ArchiveArgs {
    /// Session paths, ids, unique id prefixes, or names; or a query
    #[arg(value_name = "SESSION|QUERY", required = true, add = ArgValueCompleter::new(completions::sessions))]
    words: Vec<OsString>,
    /// Include the whole family of each session: the root session, all its forks, and subagent sessions
    #[arg(long)]
    family: bool,
    /// Don't ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    switches: ChangeArgs,
}

impl ArchiveCommand {
    pub(super) fn run(&self, chosen: &CommandContext) -> Result<ExitCode> {
        let args = &self.args;
        let changer = Changer::new(chosen, &args.switches)?;
        if args.asks() {
            output::check_can_ask()?;
        }
        let mut is_retried = false;
        loop {
            let resolver = SessionResolver::new(chosen);
            let sessions = args.sessions(&resolver, false)?;
            if sessions.is_empty() {
                output::note("no session to archive");
                return Ok(Exit::Nothing.into());
            }
            let mut catalog = resolver.into_catalog();
            catalog.set_pis(running::running(locate::state_dir().as_deref()), now());
            if !args.is_wanted(&catalog, &sessions, &changer)? {
                output::note("canceled; no session moved");
                return Ok(Exit::Nothing.into());
            }
            // The archive and the journal have absolute paths.
            let absolute = |&key: &SessionKey| {
                let file = FileSnapshot::listed(&catalog[key].facts());
                Ok(FileSnapshot { path: resolve::absolute(&file.path)?, ..file })
            };
            let files = sessions.iter().map(absolute).collect::<Result<_>>()?;
            match changer.make(&Request::Archive { files }) {
                Ok(done) => return changer.say(&done, CliStep::Make),
                Err(error) => match error.downcast_ref() {
                    // A pi may be using it: ask again, or retry once without questions.
                    Some(Refusal::Changed { .. }) if args.asks() || !is_retried => {
                        output::note("sessions changed in the meantime; reading them again");
                        is_retried = true;
                    }
                    _ => return Err(error),
                },
            }
        }
    }
}

impl UnarchiveCommand {
    pub(super) fn run(&self, chosen: &CommandContext) -> Result<ExitCode> {
        let changer = Changer::new(chosen, &self.args.switches)?;
        if self.args.asks() {
            output::check_can_ask()?;
        }
        let resolver = SessionResolver::new(chosen);
        let sessions = self.args.sessions(&resolver, true)?;
        let catalog = resolver.catalog();
        if sessions.is_empty() {
            output::note("no archived session found");
            return Ok(Exit::Nothing.into());
        }
        if self.args.asks() {
            output::note(&count(sessions.len(), "session", "sessions"));
            if !output::is_yes("Bring back from the archive?")? {
                output::note("canceled; no session moved");
                return Ok(Exit::Nothing.into());
            }
        }
        let files = sessions.iter().map(|&key| catalog[key].file_path()).collect();
        changer.say(&changer.make(&Request::Unarchive { files })?, CliStep::Make)
    }
}

impl ArchiveArgs {
    fn asks(&self) -> bool {
        !self.yes && !self.switches.dry_run
    }

    /// Returns the chosen sessions that are archived or not, with their families or their subagents.
    fn sessions(&self, resolver: &SessionResolver<'_>, archived: bool) -> Result<Vec<SessionKey>> {
        let catalog = resolver.catalog();
        let found = chosen_sessions(&self.words, resolver, resolver.chosen().here_and_now())?.unwrap_or_default();
        let mut found: Vec<SessionKey> = found.into_iter().collect();
        catalog.sort_newest_first(&mut found);
        if self.family {
            found = catalog.families().whole(&found);
        }
        let mut all = catalog.with_subagents(&found);
        skip_mirrored(catalog, &mut all);
        all.retain(|&key| catalog[key].facts().is_archived() == archived && !catalog[key].facts().is_link());
        Ok(all)
    }

    /// Asks for confirmation unless that is not wanted.
    fn is_wanted(&self, catalog: &Catalog, sessions: &[SessionKey], changer: &Changer<'_>) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let facts = || sessions.iter().map(|&key| catalog[key].facts());
        let newest = facts().filter_map(|facts| facts.modified()).max();
        let age = newest.map_or("?".into(), |newest| time::age(now(), newest));
        let files = count(sessions.len(), "session", "sessions");
        output::note(&format!("{files}, {}, newest activity: {age}", bytes(facts().map(|facts| facts.bytes()).sum())));
        let has_signs = changer.tell_signs(catalog, sessions);
        if has_signs {
            output::note(LOSES);
        }
        if !self.asks() {
            return Ok(true);
        }
        output::note("pi's /resume will not list them until they are brought back.");
        match has_signs {
            false => output::is_yes("Move to the archive?"),
            true => Ok(output::ask("Type \"yes\" to move them anyway:")? == "yes"),
        }
    }
}
