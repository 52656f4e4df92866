//! `pitree rm`: moves sessions to the trash after a confirmation that lists the consequences.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::base::numbers::count;
use crate::base::text::Glyphs;
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{FileSnapshot, Refusal, Request};
use crate::cli::change::{Changer, CliStep, ConfirmedArgs, is_confirmed, tell_sessions};
use crate::cli::table::words;
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::pi::warnings::LOSES;
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedSession;

/// The maximum number of sessions listed in a question.
const NAMED: usize = 20;

/// Move sessions to the trash
///
/// Asks for confirmation unless --yes is given. Warns if pi may be using a session, also with --dry-run. Bring sessions
/// back with `pitree restore` or `pitree undo`.
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
        let changer = Changer::new(context, &self.confirmed.switches)?;
        let asks = self.confirmed.asks()?;
        let mut removal = self.removal(context, asks)?;
        if self.confirmed.switches.dry_run {
            removal.tell_signs(&changer);
        }
        let mut is_retried = false;
        loop {
            if asks && !removal.is_wanted(&changer)? {
                return output::nothing("canceled; no session moved");
            }
            let files = removal.going().map(|session| FileSnapshot::of(session)).collect();
            let error = match changer.make(&Request::Trash { files }) {
                Ok(done) => return changer.say(&done, CliStep::Make),
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
        let mut catalog = if asks || self.family { context.absolute_catalog() } else { Catalog::default() };
        let (mut paths, mut others) = (Vec::new(), Vec::new());
        for word in &self.sessions {
            let session = resolve::digest(&context.file(word)?)?;
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
    fn delete(&self, changer: &Changer<'_>, reason: &str, left: &[FileSnapshot]) -> Result<Exit> {
        let paths: Vec<PathBuf> = left.iter().map(|file| file.path.clone()).collect();
        let what = format!("cannot move to the trash: {reason}\nnot moved: {}", names(&paths, changer));
        if self.confirmed.yes || self.confirmed.switches.dry_run {
            bail!("{what}");
        }
        output::note(&what);
        if output::ask("Type \"delete\" to delete permanently (no undo):")? != "delete" {
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
    fn going(&self) -> impl Iterator<Item = &SharedSession> {
        self.goes.iter().map(|&key| &self.catalog[key])
    }

    /// Reads the sessions again, and drops missing ones.
    fn read_again(&mut self) -> Result<()> {
        let (there, gone): (Vec<SessionKey>, Vec<SessionKey>) =
            self.goes.iter().partition(|&&key| self.catalog[key].path.is_file());
        let again = |&key: &SessionKey| resolve::digest(&self.catalog[key].path);
        let read = there.iter().map(again).collect::<Result<Vec<Digest>>>()?;
        let gone: Vec<PathBuf> = gone.iter().map(|&key| self.catalog[key].path.clone()).collect();
        self.catalog.update(read, &gone);
        self.goes = there;
        if self.goes.is_empty() {
            bail!("the sessions no longer exist; nothing to remove");
        }
        Ok(())
    }

    /// Asks for confirmation.
    fn is_wanted(&self, changer: &Changer<'_>) -> Result<bool> {
        let glyphs = changer.context.config.signs();
        tell_sessions(&self.catalog, &self.goes);
        for session in self.going().take(NAMED) {
            let link = if session.is_link { "  (symbolic link; its target stays)" } else { "" };
            note!("  {}  {}{link}", title(session, glyphs), changer.short(&session.path));
        }
        if self.goes.len() > NAMED {
            note!("  and {} more", self.goes.len() - NAMED);
        }
        let orphans = self.orphans();
        if !orphans.is_empty() {
            let titles: Vec<String> = orphans.iter().take(NAMED).map(|session| title(session, glyphs)).collect();
            let more = if orphans.len() > NAMED { format!(", {}", glyphs.ellipsis) } else { String::new() };
            let stay =
                count(orphans.len(), "remaining session loses its parent", "remaining sessions lose their parent");
            note!("{stay}: {}{more}", titles.join(", "));
        }
        is_confirmed(self.tell_signs(changer), "Move to the trash?", "move them")
    }

    /// Warns about running pis. Returns `true` if there is a warning.
    fn tell_signs(&self, changer: &Changer<'_>) -> bool {
        let has_signs = changer.tell_signs(&self.catalog, &self.goes);
        if has_signs {
            output::note(LOSES);
        }
        has_signs
    }

    /// Returns the remaining sessions whose parent is removed.
    fn orphans(&self) -> Vec<&SharedSession> {
        // Removing a symbolic link keeps the parent.
        let gone: HashSet<&PathBuf> =
            self.going().filter(|session| !session.is_link).map(|session| session.real_path()).collect();
        let goes: HashSet<SessionKey> = self.goes.iter().copied().collect();
        let stays = self.catalog.keys().filter(|key| !goes.contains(key)).map(|key| &self.catalog[key]);
        let owner = |session: &SharedSession| session.owner.as_ref().and_then(|owner| owner.path.clone());
        let loses = |session: &&SharedSession| {
            session.parent_path.clone().into_iter().chain(owner(session)).any(|parent| gone.contains(&parent))
        };
        stays.filter(loses).collect()
    }
}

fn title(session: &Digest, glyphs: &Glyphs) -> String {
    format!("\"{}\"", words(session.title(), 60, glyphs))
}

fn names(paths: &[PathBuf], changer: &Changer<'_>) -> String {
    paths.iter().map(|path| changer.short(path)).collect::<Vec<_>>().join(", ")
}
