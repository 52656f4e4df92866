//! `pitree move`: sessions follow a project that was renamed or moved. `pitree archive` moves sessions to the compressed
//! archive, and `pitree archive --restore` brings them back.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueHint;

use crate::app::flows::directories;
use crate::base::numbers::{bytes, count};
use crate::base::paths::shorten;
use crate::catalog::moves::MovePlan;
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{FileSnapshot, Refusal, Request};
use crate::cli::change::{ChangePrinter, CliStep, ConfirmedArgs, is_confirmed, print_sessions};
use crate::cli::command_context::absolute;
use crate::cli::selection::{sessions_to_change, skip_mirrored};
use crate::cli::{CommandContext, Exit, completions, output};
use crate::disk::{locate, relocations};
use crate::pi::launch::is_there;

/// Move sessions to another working directory
///
/// With OLD and NEW, the sessions follow a project directory that was renamed or moved. Sessions of missing directories below
/// OLD follow too. pi lists them in NEW: each file moves to the folder that pi uses for NEW, and its header gets the new
/// directory. The original moves to the trash. Subagent sessions move with their sessions. `pitree undo` moves all back.
///
/// Asks for confirmation unless --yes is given. Warns if pi may be using a session. Forks elsewhere name the old path of
/// their parent: pitree finds it by ID, pi needs --relink.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "pitree move [OPTIONS] <OLD> [NEW]\n       pitree move [OPTIONS] <SESSION|QUERY>... --to <DIR>"
)]
pub(super) struct MoveCommand {
    /// The old and the new directory; with --to, session paths, ids, unique id prefixes, or names; or a query
    #[arg(value_name = "OLD|SESSION|QUERY", required = true, add = completions::sessions())]
    words: Vec<OsString>,
    /// Move the given sessions to this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    to: Option<PathBuf>,
    /// Include the whole family of each session: the root session, all its forks, and subagent sessions
    #[arg(long)]
    family: bool,
    /// Set the new path of the parent in forks elsewhere
    #[arg(long)]
    relink: bool,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

/// The sessions to move.
struct ChosenMove {
    sessions: Vec<SessionKey>,
    /// The old directory, if a project moves.
    from: Option<String>,
    /// The new directory.
    to: String,
    /// The number of archived sessions that stay.
    archived: usize,
}

impl MoveCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.confirmed.args)?;
        let moved = self.sessions_to_move(context)?;
        let asks = self.confirmed.asks()?;
        if moved.archived > 0 {
            let archived = count(moved.archived, "archived session stays", "archived sessions stay");
            note!("{archived}; `pitree archive --restore` brings them back first");
        }
        if moved.sessions.is_empty() {
            return output::nothing("no session to move");
        }
        let catalog = context.catalog();
        let to_move = (&*moved.sessions, moved.from.as_deref(), &*moved.to);
        let mut plan = directories::plan(catalog, &context.located, to_move);
        if !self.relink && !plan.forks.is_empty() {
            let forks = count(plan.forks.len(), "fork elsewhere names", "forks elsewhere name");
            note!("{forks} the old path; --relink sets the new path");
            plan.forks.clear();
        }
        let request = directories::request(catalog, &context.located, &plan);
        if asks && !is_wanted(&plan, &moved, &changer)? {
            return output::nothing("canceled; no session moved");
        }
        changer.finish(&request)
    }

    /// Returns the sessions to move, and their directories.
    fn sessions_to_move(&self, context: &CommandContext) -> Result<ChosenMove> {
        let catalog = context.catalog();
        if let Some(to) = &self.to {
            let to = relocations::directory(&absolute(to)?)?;
            let mut sessions = sessions_to_change(&self.words, self.family, catalog, context)?;
            skip_mirrored(catalog, &mut sessions);
            return Ok(ChosenMove { sessions, from: None, to, archived: 0 });
        }
        let [old, rest @ ..] = &self.words[..] else { bail!("name the old directory") };
        let old = absolute(Path::new(old))?;
        let from = old_directory(catalog, &old);
        if self.family {
            bail!("--family needs sessions and --to");
        }
        let to = match rest {
            [new] => relocations::directory(&absolute(Path::new(new))?)?,
            [] => bail!("{}", suggestion(catalog, &from, &context.home)),
            _ => bail!("give one old and one new directory, or sessions and --to"),
        };
        let (sessions, archived) = catalog.sessions_of_dir(&from, |dir| !is_there(dir));
        if sessions.is_empty() && archived == 0 {
            bail!("no session has the working directory {from}; `pitree ls` lists the directories");
        }
        Ok(ChosenMove { sessions, from: Some(from), to, archived })
    }
}

/// Returns the directory as its sessions name it: pi records it with symbolic links resolved.
fn old_directory(catalog: &Catalog, old: &Path) -> String {
    let typed = old.to_string_lossy().into_owned();
    let is_known = |dir: &str| !catalog.sessions_of_dir(dir, |_| true).0.is_empty();
    let real = || dunce::canonicalize(old).ok().map(|real| real.to_string_lossy().into_owned());
    if is_known(&typed) { typed } else { real().filter(|real| is_known(real)).unwrap_or(typed) }
}

/// Returns the message about a missing new directory, with the candidates.
fn suggestion(catalog: &Catalog, old: &str, home: &str) -> String {
    let (sessions, _) = catalog.sessions_of_dir(old, |_| false);
    let (touched, known) = directories::relocation_hints(catalog, sessions.first().copied());
    let candidates = relocations::candidates(Path::new(old), &touched, &known, locate::state_dir().as_deref());
    let candidates: Vec<String> =
        candidates.iter().map(|one| shorten(&one.dir.to_string_lossy(), home).into_owned()).collect();
    match candidates.is_empty() {
        true => format!("name the new directory of {old}: no directory with its name or its files was found nearby"),
        false => format!("name the new directory of {old}; it may be {}", candidates.join(" or ")),
    }
}

/// Asks for confirmation.
fn is_wanted(plan: &MovePlan, moved: &ChosenMove, changer: &ChangePrinter<'_>) -> Result<bool> {
    let catalog = changer.context.catalog();
    let keys: Vec<SessionKey> = plan.sessions.iter().map(|one| one.key).collect();
    let size: u64 = keys.iter().map(|&key| catalog[key].facts().bytes()).sum();
    let sessions = count(keys.len(), "session", "sessions");
    let [from, to] = [moved.from.as_deref().unwrap_or_default(), &moved.to]
        .map(|dir| shorten(dir, &changer.context.home).into_owned());
    let from = if from.is_empty() { String::new() } else { format!(" from {from}") };
    note!("{sessions}{from}, {}", bytes(size));
    if !plan.forks.is_empty() {
        note!("sets the parent path in {}", count(plan.forks.len(), "fork", "forks"));
    }
    changer.is_replacement_wanted(("Move", &format!("{sessions} to {to}")), &keys, catalog)
}

/// Move sessions to the compressed archive
///
/// pi's /resume lists no archived sessions; pitree still lists, searches and shows them. Subagent sessions move with
/// their sessions. Each archived file is verified before the original is removed. Asks for confirmation unless --yes is
/// given. Warns if pi may be using a session. `pitree undo` brings the sessions back too.
#[derive(Debug, clap::Args)]
pub(super) struct ArchiveCommand {
    /// Session paths, ids, unique id prefixes, or names; or a query
    #[arg(value_name = "SESSION|QUERY", required = true, add = completions::sessions())]
    words: Vec<OsString>,
    /// Include the whole family of each session: the root session, all its forks, and subagent sessions
    #[arg(long)]
    family: bool,
    /// Bring the sessions back; their files are the same again, with their times and modes
    #[arg(long)]
    restore: bool,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

impl ArchiveCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.confirmed.args)?;
        let asks = self.confirmed.asks()?;
        if self.restore {
            return self.restore(&changer, asks);
        }
        let mut read_again: Option<Catalog> = None;
        loop {
            let catalog = read_again.as_ref().unwrap_or_else(|| context.catalog());
            let sessions = self.sessions(catalog, context, false)?;
            if sessions.is_empty() {
                return output::nothing("no session to archive");
            }
            if !self.confirmed.yes {
                print_sessions(catalog, &sessions);
                let has_signs = changer.print_pi_evidence_before_move(catalog, &sessions);
                if asks {
                    output::note("pi's /resume will not list them until they are brought back.");
                    if !is_confirmed(has_signs, "Move to the archive?", "move them")? {
                        return output::nothing("canceled; no session moved");
                    }
                }
            }
            let files = sessions.iter().map(|&key| FileSnapshot::listed(&catalog[key].facts())).collect();
            match changer.make(&Request::Archive { files }) {
                Ok(done) => return changer.print_result(&done, CliStep::Make),
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

    fn restore(&self, changer: &ChangePrinter<'_>, asks: bool) -> Result<Exit> {
        let catalog = changer.context.catalog();
        let sessions = self.sessions(catalog, changer.context, true)?;
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

    /// Returns the chosen sessions that are archived or not, with their families or their subagents.
    fn sessions(&self, catalog: &Catalog, context: &CommandContext, archived: bool) -> Result<Vec<SessionKey>> {
        let mut all = catalog.with_subagents(&sessions_to_change(&self.words, self.family, catalog, context)?);
        skip_mirrored(catalog, &mut all);
        all.retain(|&key| catalog[key].facts().is_archived() == archived && !catalog[key].facts().is_link());
        Ok(all)
    }
}
