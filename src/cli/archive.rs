//! `pitree archive` and `pitree unarchive`: move sessions to the compressed archive, and bring them back.

use std::ffi::OsString;

use anyhow::Result;

use crate::base::numbers::count;
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{FileSnapshot, Refusal, Request};
use crate::cli::change::{Changer, CliStep, ConfirmedArgs, is_confirmed, tell_sessions};
use crate::cli::chosen_sessions::{sessions_to_change, skip_mirrored};
use crate::cli::{CommandContext, Exit, completions, output, resolve};
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
    #[arg(value_name = "SESSION|QUERY", required = true, add = completions::sessions())]
    words: Vec<OsString>,
    /// Include the whole family of each session: the root session, all its forks, and subagent sessions
    #[arg(long)]
    family: bool,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

impl ArchiveCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let args = &self.args;
        let changer = Changer::new(context, &args.confirmed.switches)?;
        let asks = args.confirmed.asks()?;
        let mut read_again: Option<Catalog> = None;
        loop {
            let catalog = read_again.as_ref().unwrap_or_else(|| context.catalog());
            let sessions = args.sessions(catalog, context, false)?;
            if sessions.is_empty() {
                return output::nothing("no session to archive");
            }
            if !args.confirmed.yes {
                tell_sessions(catalog, &sessions);
                let has_signs = changer.tell_signs(catalog, &sessions);
                if has_signs {
                    output::note(LOSES);
                }
                if asks {
                    output::note("pi's /resume will not list them until they are brought back.");
                    if !is_confirmed(has_signs, "Move to the archive?", "move them")? {
                        return output::nothing("canceled; no session moved");
                    }
                }
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
                    Some(Refusal::Changed { .. }) if asks || read_again.is_none() => {
                        output::note("sessions changed in the meantime; reading them again");
                        read_again = Some(context.read_catalog());
                    }
                    _ => return Err(error),
                },
            }
        }
    }
}

impl UnarchiveCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = Changer::new(context, &self.args.confirmed.switches)?;
        let asks = self.args.confirmed.asks()?;
        let catalog = context.catalog();
        let sessions = self.args.sessions(catalog, context, true)?;
        if sessions.is_empty() {
            return output::nothing("no archived session found");
        }
        if asks {
            output::note(&count(sessions.len(), "session", "sessions"));
            if !output::is_yes("Bring back from the archive?")? {
                return output::nothing("canceled; no session moved");
            }
        }
        let files = sessions.iter().map(|&key| catalog[key].file_path()).collect();
        changer.finish(&Request::Unarchive { files })
    }
}

impl ArchiveArgs {
    /// Returns the chosen sessions that are archived or not, with their families or their subagents.
    fn sessions(&self, catalog: &Catalog, context: &CommandContext, archived: bool) -> Result<Vec<SessionKey>> {
        let mut all = catalog.with_subagents(&sessions_to_change(&self.words, self.family, catalog, context)?);
        skip_mirrored(catalog, &mut all);
        all.retain(|&key| catalog[key].facts().is_archived() == archived && !catalog[key].facts().is_link());
        Ok(all)
    }
}
