//! Sessions in the trash: `pitree rm` moves them there, `pitree trash restore` brings them back, and `pitree trash` lists them and
//! deletes them permanently.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::Subcommand;

use crate::base::numbers::{bytes, count};
use crate::base::text::Glyphs;
use crate::base::time;
use crate::catalog::{Catalog, SessionKey};
use crate::changes::change::TrashChange;
use crate::changes::journal::JournalRecord;
use crate::changes::{Change, FileSnapshot, Refusal, Request, history};
use crate::cli::change::{self, ChangeArgs, ChangePrinter, CliStep, ConfirmedArgs, is_confirmed, print_sessions};
use crate::cli::command_context::absolute;
use crate::cli::table::{TITLE, words};
use crate::cli::{CommandContext, Exit, completions, now, output, resolve};
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedLazySession;

/// List, restore or empty pitree's trash
///
/// Concerns only what pitree moved to the trash: deleted sessions, forks and imports that were undone, and the originals
/// of converted files.
#[derive(Debug, clap::Args)]
pub(super) struct TrashCommand {
    #[command(subcommand)]
    what: Option<TrashAction>,
}

#[derive(Debug, Subcommand)]
enum TrashAction {
    /// List the sessions in pitree's trash, most recent last (default)
    List {
        /// Print each change as a line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Restore a session from the trash
    ///
    /// Without WHAT, lists the deleted sessions, most recent last. If a running pi kept writing to the old path, the
    /// restored session includes those entries.
    Restore {
        /// Number in the list, original path, or id prefix
        what: Option<OsString>,
        #[command(flatten)]
        args: ChangeArgs,
    },
    /// Permanently delete sessions in pitree's trash
    ///
    /// Asks for a typed word, because this cannot be undone. Without WHAT, deletes all of them.
    Empty {
        /// Numbers in the list, original paths, or id prefixes
        what: Vec<OsString>,
        #[command(flatten)]
        args: ChangeArgs,
    },
}

impl TrashCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        match &self.what {
            Some(TrashAction::Empty { what, args }) => empty(context, what, args),
            Some(TrashAction::Restore { what, args }) => restore(context, what.as_deref(), args),
            what => {
                let json = matches!(what, Some(TrashAction::List { json: true }));
                let args = ChangeArgs { json, ..ChangeArgs::default() };
                let changer = ChangePrinter::new(context, &args)?;
                print_trash(&trashed(&changer)?, &changer)
            }
        }
    }
}

/// Returns the changes with a file in the trash.
fn trashed(changer: &ChangePrinter<'_>) -> Result<Vec<JournalRecord>> {
    Ok(changer.changes.history()?.into_iter().filter(JournalRecord::is_in_trash).collect())
}

fn empty(context: &CommandContext, what: &[OsString], args: &ChangeArgs) -> Result<Exit> {
    let changer = ChangePrinter::new(context, args)?;
    let mut away = trashed(&changer)?;
    if what.is_empty() {
        let all = away.len();
        away.retain(|record| record.trash_path().is_some());
        if away.len() < all {
            let left = count(all - away.len(), "session is", "sessions are");
            note!("{left} in a trash whose places pitree does not know; empty it there");
        }
    } else {
        let numbers = what.iter().map(|what| find(what, &away, &changer)).collect::<Result<Vec<u64>>>()?;
        away.retain(|record| numbers.contains(&record.number));
    }
    if away.is_empty() {
        return output::nothing("pitree's trash is empty");
    }
    if !args.dry_run {
        ensure!(output::can_ask(), "cannot ask for confirmation without a terminal; empty the trash in one");
        let size = away.iter().map(JournalRecord::bytes_in_trash).sum();
        let sessions = count(away.len(), "session", "sessions");
        note!("{sessions} in pitree's trash, {}", bytes(size));
        if !is_deletion_wanted()? {
            return output::nothing("canceled; no file deleted");
        }
    }
    let numbers = away.iter().map(|record| record.number).collect();
    changer.finish(&Request::EmptyTrash { numbers })
}

/// Asks for a typed word before a permanent deletion.
fn is_deletion_wanted() -> Result<bool> {
    Ok(output::ask("Type \"delete\" to delete permanently (no undo):")? == "delete")
}

/// Prints the sessions in the trash as JSON or as a table: number, age, size, session title, original path.
fn print_trash(away: &[JournalRecord], changer: &ChangePrinter<'_>) -> Result<Exit> {
    if changer.is_json() {
        return change::print_records(away);
    }
    let (now, mut sessions) = (now(), history::sessions(&mut away.iter(), away, &|| true));
    let cells = |record: &JournalRecord| {
        let size = match &record.change {
            Change::Trash(TrashChange { link: true, .. }) => "link".into(),
            _ => bytes(record.bytes_in_trash()),
        };
        let (title, _) = sessions.remove(&record.number).unwrap_or_default();
        let path = changer.short(record.change.path());
        [record.number.to_string(), time::age(now, record.time), size, title, path]
    };
    changer.context.table("number> age> size> title~40 path/", away.iter().map(cells), "pitree's trash is empty")?;
    Ok(Exit::Done)
}

/// Returns the number of the matching change.
///
/// # Errors
/// No change or several changes match.
fn find(what: &OsStr, away: &[JournalRecord], changer: &ChangePrinter<'_>) -> Result<u64> {
    let number = what.to_str().and_then(|what| what.parse().ok());
    if let Some(record) = away.iter().find(|record| number == Some(record.number)) {
        return Ok(record.number);
    }
    let path = absolute(Path::new(what)).ok();
    let mut matches: Vec<&JournalRecord> =
        away.iter().filter(|record| Some(record.change.path()) == path.as_deref()).collect();
    if matches.is_empty() && !what.is_empty() {
        matches = away.iter().filter(|record| has_id(record.change.path(), what)).collect();
    }
    match &matches[..] {
        [one] => Ok(one.number),
        [] => bail!("no session in pitree's trash matches {what:?}; run `pitree trash restore` to list them"),
        several => {
            let sessions = history::sessions(&mut matches.iter().copied(), away, &|| true);
            let line = |one: &&JournalRecord| {
                let title = sessions.get(&one.number).map_or("", |(title, _)| title);
                let title = words(title, TITLE, changer.context.config.glyphs());
                format!("\n{}  {title}  {}", one.number, one.change.path().display())
            };
            let list: String = several.iter().map(line).collect();
            bail!("{what:?} matches {} sessions in the trash; give a number:{list}", several.len())
        }
    }
}

/// Returns `true` if the id in a file name, or the whole name, has this prefix.
fn has_id(path: &Path, start: &OsStr) -> bool {
    let name = path.file_stem().unwrap_or_default().as_encoded_bytes();
    let start = start.as_encoded_bytes();
    let id = name.iter().position(|&byte| byte == b'_').map(|at| &name[at + 1..]);
    name.starts_with(start) || id.is_some_and(|id| id.starts_with(start))
}

/// The maximum number of sessions listed in a question.
const MAX_LISTED: usize = 20;

/// Move sessions to the trash
///
/// Asks for confirmation unless --yes is given. Warns if pi may be using a session, also with --dry-run. Bring sessions
/// back with `pitree trash restore` or `pitree undo`.
#[derive(Debug, clap::Args)]
pub(super) struct RmCommand {
    /// Session paths, ids, unique id prefixes, or names
    #[arg(value_name = "SESSION", required = true, add = completions::sessions())]
    sessions: Vec<OsString>,
    /// Include the whole family of each session: the root session, all its forks, and subagent sessions
    #[arg(long)]
    family: bool,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

impl RmCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.confirmed.args)?;
        let asks = self.confirmed.asks()?;
        let mut removal = self.removal(context, asks)?;
        if self.confirmed.args.dry_run {
            changer.print_pi_evidence_before_move(&removal.catalog, &removal.goes);
        }
        let mut is_retried = false;
        loop {
            if asks && !removal.is_wanted(&changer)? {
                return output::nothing("canceled; no session moved");
            }
            let files = removal.going().map(|session| FileSnapshot::of(session)).collect();
            let error = match changer.make(&Request::Trash { files }) {
                Ok(done) => return changer.print_result(&done, CliStep::Make),
                Err(error) => error,
            };
            match error.downcast_ref() {
                // A pi may be using it: ask again, or retry once without questions.
                Some(Refusal::Changed { paths }) if asks || !is_retried => {
                    note!("reloaded sessions that changed in the meantime: {}", names(paths, &changer));
                    removal.read_again()?;
                    is_retried = true;
                }
                Some(Refusal::NoTrash { reason, left }) => return self.delete(&changer, reason, left),
                _ => return Err(error),
            }
        }
    }

    /// Returns the sessions to remove.
    fn removal(&self, context: &CommandContext, asks: bool) -> Result<Removal> {
        let mut catalog = if asks || self.family { context.read_catalog() } else { Catalog::default() };
        let (mut paths, mut others) = (Vec::new(), Vec::new());
        for word in &self.sessions {
            let session = resolve::digest(&context.session(word)?)?;
            let known = catalog.key_of(&session.path).filter(|&key| catalog.has(key)).or_else(|| {
                // The same file through a symbolic link.
                let real_path = Some(session.real_path()).filter(|_| !session.is_link)?;
                catalog.key_of_file(real_path)
            });
            paths.push(known.map_or(&session.path, |key| &catalog[key].path).clone());
            others.extend(known.is_none().then_some(session));
        }
        catalog.update(others, &[]);
        let mut goes: Vec<SessionKey> = paths.iter().filter_map(|path| catalog.key_of(path)).collect();
        if self.family {
            goes = catalog.families().whole(&goes);
        }
        let mut seen = HashSet::new();
        goes.retain(|&key| seen.insert(key));
        Ok(Removal { catalog, goes })
    }

    /// Permanently deletes files that the trash refused, if the user types the word for it.
    fn delete(&self, changer: &ChangePrinter<'_>, reason: &str, left: &[FileSnapshot]) -> Result<Exit> {
        let paths: Vec<PathBuf> = left.iter().map(|file| file.path.clone()).collect();
        let what = format!("cannot move to the trash: {reason}\nnot moved: {}", names(&paths, changer));
        if self.confirmed.yes || self.confirmed.args.dry_run {
            bail!("{what}");
        }
        output::note(&what);
        if !is_deletion_wanted()? {
            return output::nothing("canceled; no file deleted");
        }
        changer.finish(&Request::Delete { files: left.to_vec() })
    }
}

/// The sessions to remove, among all sessions.
struct Removal {
    /// All known sessions.
    catalog: Catalog,
    /// The sessions to remove.
    goes: Vec<SessionKey>,
}

impl Removal {
    fn going(&self) -> impl Iterator<Item = &SharedLazySession> {
        self.goes.iter().map(|&key| &self.catalog[key])
    }

    /// Reads the sessions again, and drops missing ones.
    fn read_again(&mut self) -> Result<()> {
        let (there, gone): (Vec<PathBuf>, Vec<PathBuf>) =
            self.going().map(|session| session.path.clone()).partition(|path| path.is_file());
        let read = there.iter().map(|path| resolve::digest(path)).collect::<Result<Vec<Digest>>>()?;
        self.catalog.update(read, &gone);
        self.goes.retain(|&key| self.catalog.has(key));
        ensure!(!self.goes.is_empty(), "the sessions no longer exist; nothing to remove");
        Ok(())
    }

    /// Asks for confirmation.
    fn is_wanted(&self, changer: &ChangePrinter<'_>) -> Result<bool> {
        let glyphs = changer.context.config.glyphs();
        print_sessions(&self.catalog, &self.goes);
        for session in self.going().take(MAX_LISTED) {
            let link = if session.is_link { "  (symbolic link; its target stays)" } else { "" };
            note!("  {}  {}{link}", title(session, glyphs), changer.short(&session.path));
        }
        if self.goes.len() > MAX_LISTED {
            note!("  and {} more", self.goes.len() - MAX_LISTED);
        }
        let orphans = self.orphans();
        if !orphans.is_empty() {
            let titles: Vec<String> = orphans.iter().take(MAX_LISTED).map(|session| title(session, glyphs)).collect();
            let more = if orphans.len() > MAX_LISTED { format!(", {}", glyphs.ellipsis) } else { String::new() };
            let stay =
                count(orphans.len(), "remaining session loses its parent", "remaining sessions lose their parent");
            note!("{stay}: {}{more}", titles.join(", "));
        }
        is_confirmed(
            changer.print_pi_evidence_before_move(&self.catalog, &self.goes),
            "Move to the trash?",
            "move them",
        )
    }

    /// Returns the remaining sessions whose parent is removed.
    fn orphans(&self) -> Vec<&SharedLazySession> {
        // Removing a symbolic link keeps the parent.
        let gone: HashSet<&PathBuf> =
            self.going().filter(|session| !session.is_link).map(|session| session.real_path()).collect();
        let goes: HashSet<SessionKey> = self.goes.iter().copied().collect();
        let stays = self.catalog.keys().filter(|key| !goes.contains(key)).map(|key| &self.catalog[key]);
        let loses = |session: &&SharedLazySession| {
            let owner = session.owner.as_ref().and_then(|owner| owner.path.as_ref());
            session.parent_path.iter().chain(owner).any(|parent| gone.contains(parent))
        };
        stays.filter(loses).collect()
    }
}

fn title(session: &Digest, glyphs: &Glyphs) -> String {
    format!("\"{}\"", words(session.title(), 60, glyphs))
}

fn names(paths: &[PathBuf], changer: &ChangePrinter<'_>) -> String {
    paths.iter().map(|path| changer.short(path)).collect::<Vec<_>>().join(", ")
}

fn restore(context: &CommandContext, what: Option<&OsStr>, args: &ChangeArgs) -> Result<Exit> {
    let changer = ChangePrinter::new(context, args)?;
    let mut away: Vec<JournalRecord> = changer.changes.history()?.into_iter().filter(JournalRecord::is_away).collect();
    let Some(what) = what else {
        away.retain(JournalRecord::is_in_trash);
        return print_trash(&away, &changer);
    };
    let number = find(what, &away, &changer)?;
    let done = changer.make(&Request::Undo { number: Some(number) })?;
    changer.print_result(&done, CliStep::Restore)
}
