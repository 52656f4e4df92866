//! `pitree resume`: resumes a session in pi, at its leaf or at any entry, directly or in a fork. `pitree fork`: forks a session
//! at an entry.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::base::machine_paths;
use crate::base::numbers::{count, thousands};
use crate::base::paths::base64;
use crate::catalog::context_edits::plan_edits;
use crate::catalog::context_suggestions::suggestions;
use crate::changes::{ChangeResult, Request};
use crate::cli::change::{ChangeArgs, ChangePrinter, CliStep};
use crate::cli::context::warn_of_old_pi;
use crate::cli::output::{PathFields, object};
use crate::cli::resolve::SessionPlace;
use crate::cli::{CommandContext, Exit, completions, now, output, resolve};
use crate::config::GoBy;
use crate::disk::load::EntryReader;
use crate::disk::locate;
use crate::machines::resume::RemoteStart;
use crate::pi::launch::{self, Launch, Start, is_there};
use crate::pi::running;
use crate::pi::warnings::{is_open, running_pi_evidence};
use crate::runtime::secret_rules::ChosenRules;
use crate::runtime::{clipboard, raw_output};
use crate::session::entry::{EntryId, parse};
use crate::session::tree::{EntryIndex, Tree, resume};
use crate::session::write::context_edit::NewEdit;

/// Resume a session in pi, at its leaf or at any entry
///
/// Resuming at a user message continues before it and puts its text in pi's editor, as in pi's /tree.
#[derive(Debug, clap::Args)]
pub(super) struct ResumeCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the entry as well
    #[arg(default_value = ".", add = completions::sessions())]
    session: OsString,
    /// Entry id, unique id prefix, or label; defaults to the leaf
    #[arg(add = completions::entries())]
    entry: Option<String>,
    /// Have the model summarize the branch you leave, as in pi's /tree
    #[arg(long, conflicts_with = "fork")]
    summarize: bool,
    /// Fork the session at the entry and resume the fork
    #[arg(long)]
    fork: bool,
    /// Fork with the suggested edits of the context, and resume the fork; see `pitree context --suggest`
    #[arg(long, conflicts_with_all = ["summarize", "allow_write"])]
    lean: bool,
    /// Print the shell command instead of starting pi; only --fork, --lean, --migrate and --allow-write change files
    #[arg(long)]
    print: bool,
    /// Append a line that moves the leaf if pi cannot go to the entry by itself
    #[arg(long, conflicts_with = "fork")]
    allow_write: bool,
    /// Migrate an old session file to version 3, as pi does; moves the original to the trash
    #[arg(long)]
    migrate: bool,
    /// Don't ask, even if another pi has the session open
    #[arg(long)]
    yes: bool,
    /// Print what would be done without changing files or starting pi
    #[arg(long)]
    dry_run: bool,
    /// Print changes and the command as JSON Lines instead of starting pi
    #[arg(long)]
    json: bool,
    /// Seconds to wait for a locked file
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = crate::cli::number)]
    wait: u64,
}

impl ResumeCommand {
    /// Returns `true` if pi resumes in a fork.
    fn forks(&self) -> bool {
        self.fork || self.lean
    }

    /// Returns the suggested edits of the context after an entry; `None` if there are none.
    fn lean_edits(
        &self,
        tree: &Tree,
        at: Option<EntryIndex>,
        path: &Path,
        context: &CommandContext,
    ) -> Result<Option<Vec<NewEdit>>> {
        let at = at.context("the context is empty: no messages")?;
        let rules = ChosenRules::new(&context.config.redact)?;
        let plan = plan_edits(path, tree, at, &suggestions(path, tree, at, &rules)?)?;
        if plan.edits.is_empty() {
            output::note("no edits are suggested; the fork has the whole context");
            return Ok(None);
        }
        warn_of_old_pi(context);
        note!("{} {} tokens", count(plan.edits.len(), "edit saves", "edits save"), thousands(plan.saved() as usize));
        Ok(Some(plan.new_edits(tree)))
    }

    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let args = ChangeArgs { dry_run: self.dry_run, json: self.json, wait: self.wait };
        let changer = ChangePrinter::new(context, &args)?;
        let SessionPlace { path, entry } = context.place(&self.session, self.entry.as_deref())?;
        if machine_paths::is_mirrored(&path) {
            return self.resume_there(&path, entry.as_deref(), context);
        }
        let path = changer.brought_back(path, self.yes)?;
        if self.summarize && entry.is_none() {
            bail!("--summarize needs an entry: SESSION ENTRY or SESSION@ENTRY");
        }
        let starts = !(self.yes || self.print || self.json || self.dry_run);
        if !self.forks() && !may_start(&path, starts, context)? {
            return output::nothing("pi was not started");
        }
        let tree = context.tree(&path)?;
        let entry = entry.as_deref().map(|word| resolve::entry(word, &tree)).transpose()?.or(tree.leaf);
        let goal = entry.map(|entry| resume::at(&tree, entry));
        let to = goal.and_then(|goal| goal.at).map(|at| EntryId::of(&tree, at));
        let moves =
            entry.zip(goal).filter(|(_, goal)| self.forks() || !goal.is_here || goal.returned_text_entry.is_some());
        let config = &context.config;
        let goes = match (moves, config.go_by) {
            (None, _) => Ok(()),
            (_, GoBy::Itself) => launch::goes_by_itself(&config.pi, locate::state_dir().as_deref()),
            (_, GoBy::Line) => Err(launch::GOES_BY_LINE.into()),
        };
        let first = moves.filter(|_| goes.is_ok()).and_then(|(entry, goal)| match self.forks() {
            true => resume::text_command(&tree, goal.returned_text_entry?, &path),
            false => Some(resume::goto(&tree, entry, self.summarize)),
        });
        if self.summarize && (self.forks() || first.is_none()) {
            match goes {
                Ok(()) => bail!("the session is at this entry already: nothing to summarize; omit --summarize"),
                Err(reason) => bail!("pi cannot summarize the branch: {reason}; omit --summarize"),
            }
        }
        // Text that pi cannot restore itself is copied.
        let text_of = goal.and_then(|goal| goal.returned_text_entry);
        let text = text_of.map(|at| text(&tree, at, &path)).transpose()?;
        let moves_leaf = !self.forks() && first.is_none() && goal.is_some_and(|goal| !goal.is_here);
        // The command line or the configuration can allow a line in the session file to move the leaf.
        let may_write = self.allow_write || self.migrate || (config.go_by == GoBy::Line && !self.print);
        if let (true, Err(reason)) = (moves_leaf && !may_write && !tree.header.is_newer(), goes) {
            bail!(
                "cannot resume at this entry without writing to {}: {reason}; --allow-write appends a line that moves the leaf, --fork leaves the file unchanged",
                path.display()
            );
        }
        let edits =
            if self.lean { self.lean_edits(&tree, goal.and_then(|goal| goal.at), &path, context)? } else { None };
        let request = |migrate| match (path.clone(), to.clone()) {
            (path, at) if self.forks() => Request::Fork { path, at, migrate },
            (path, to) => Request::MoveLeaf { path, to, migrate },
        };
        let cwd = launch::place(&tree.header.cwd, locate::state_dir().as_deref());
        let starts = !(self.print || self.json || self.dry_run);
        if starts && (self.forks() || moves_leaf) && !cwd.is_empty() && !is_there(&cwd) {
            bail!("the session's working directory is missing: {cwd}; use --print and run the command elsewhere");
        }
        let make = || match (edits, &to) {
            // Entries of old formats have other IDs after a migration.
            (Some(edits), Some(at)) => {
                changer.make(&Request::EditContext { path: path.clone(), at: at.clone(), edits, in_fork: true })
            }
            _ => changer.make_migrating(self.migrate, request),
        };
        let done = (self.forks() || moves_leaf).then(make).transpose()?;
        let session = done.as_ref().and_then(|done| done.made.clone()).unwrap_or(path);
        let start = Start { path: session, cwd, first, forks: false, entry: None };
        self.go_on(&changer, done.as_ref(), Launch { pi: &config.pi, start: &start }, text)
    }

    /// Resumes a session on its machine.
    fn resume_there(&self, path: &Path, entry: Option<&str>, context: &CommandContext) -> Result<Exit> {
        if self.forks() || self.summarize {
            bail!("--fork and --summarize cannot be used for sessions on other machines; run pitree there");
        }
        let mut id = None;
        if let Some(word) = entry {
            let tree = context.tree(path)?;
            let at = resolve::entry(word, &tree)?;
            id = tree.id(at).filter(|_| tree.leaf != Some(at)).map(String::from);
        }
        let start = RemoteStart::of(path, id.as_deref(), &context.config)?;
        let starts = !(self.yes || self.print || self.json || self.dry_run);
        let is_open = || context.remote_pis().iter().any(|pi| pi.session == *path);
        if starts && is_open() {
            note!("A pi on {} has the session open. {APART}", start.machine);
            output::check_can_ask()?;
            if !output::is_yes("Resume it anyway?")? {
                return output::nothing("pi was not started");
            }
        }
        if self.json {
            let (machine, command) = (&start.machine, &start.words);
            let remote_path = machine_paths::remote_path(path).map(|path| path.to_string_lossy().into_owned());
            output::json(&object! { machine, remote_path, command })?;
            output::flush()?;
        } else if self.print || self.dry_run {
            raw_output::print(OsStr::new(&start.line()))?;
        } else {
            bail!("{}", start.replace_process());
        }
        Ok(Exit::Done)
    }

    /// Starts pi, or prints the command. `text` is the text of a message to return to the user.
    fn go_on(
        &self,
        changer: &ChangePrinter<'_>,
        done: Option<&ChangeResult>,
        launch: Launch<'_>,
        text: Option<String>,
    ) -> Result<Exit> {
        let Start { path, cwd, first, .. } = launch.start;
        if self.dry_run || self.json {
            if let Some(done) = done {
                changer.print_result(done, CliStep::Make)?;
            }
            if self.json {
                let words = launch.words();
                let command: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                // If an argument is not UTF-8, all are also printed in base64.
                let is_odd = words.iter().any(|word| word.to_str().is_none());
                let bytes = is_odd.then(|| object! { command_bytes: words.iter().map(base64).collect::<Vec<_>>() });
                let path = PathFields::from(&**path);
                let line = object! { #[serde(flatten)] path, cwd, command, #[serde(flatten)] bytes, text };
                output::json(&line)?;
            } else {
                outln!("would run: {}", crate::base::text::clean(&launch.command_line()))?;
            }
            output::flush()?;
            return Ok(Exit::Done);
        }
        if let Some(done) = done {
            changer.print_result_as_note(done);
        }
        if let Some(text) = text.filter(|_| first.is_none()) {
            offer_text(&text);
        }
        if !self.print {
            bail!("{}", launch.replace_process());
        }
        if !cwd.is_empty() && !is_there(cwd) {
            output::error(&format!("the session's working directory is missing: {cwd}"));
        }
        let printed = raw_output::print(OsStr::new(&launch.command_line()));
        printed.with_context(|| done.map_or("cannot print the command".into(), |done| changer.unprinted(done)))?;
        Ok(Exit::Done)
    }
}

/// The consequence of two pi processes in one session.
const APART: &str =
    "Two pi processes in one session do not see each other's entries; use --fork to resume in a new session.";

/// Warns about pi processes that may use a session. If one has it open and another would start (`starts`), asks first.
/// Returns `true` if pi may start.
///
/// # Errors
/// The session or the terminal cannot be read, or there is no terminal to ask on.
fn may_start(session: &Path, starts: bool, context: &CommandContext) -> Result<bool> {
    let pis = running::running(locate::state_dir().as_deref());
    let digest = resolve::digest(session)?;
    let signs = running_pi_evidence(&[&digest], &pis, now(), &context.home);
    for sign in &signs {
        note!("{sign}.");
    }
    if !signs.is_empty() {
        output::note(APART);
    }
    if !starts || !is_open(&digest, &pis) {
        return Ok(true);
    }
    anyhow::ensure!(
        output::can_ask(),
        "cannot ask for confirmation without a terminal; use --yes to resume the session anyway"
    );
    output::is_yes("Resume it anyway?")
}

/// Returns the text of a message.
fn text(tree: &Tree, at: EntryIndex, path: &Path) -> Result<String> {
    Ok(parse::text(&EntryReader::open(path)?.line(&tree[at])?))
}

/// Returns the text of a message to the user for editing: on the clipboard in a terminal, otherwise as output.
fn offer_text(text: &str) {
    if !text.is_empty() && std::io::stderr().is_terminal() && clipboard::copy(text) {
        output::note("copied the message text to the clipboard");
    } else if !text.is_empty() {
        note!("message text:\n{text}");
    }
}

/// Fork a session at an entry and print the new path
#[derive(Debug, clap::Args)]
pub(super) struct ForkCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the entry as well
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Last entry to copy: id, unique id prefix, or label; required unless SESSION is SESSION@ENTRY
    #[arg(add = completions::entries())]
    entry: Option<String>,
    /// Migrate an old session file to version 3, as pi does; moves the original to the trash
    #[arg(long)]
    migrate: bool,
    #[command(flatten)]
    args: ChangeArgs,
}

impl ForkCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.args)?;
        let SessionPlace { path, entry } = context.place(&self.session, self.entry.as_deref())?;
        let entry = entry.context("name the last entry of the new session: SESSION ENTRY or SESSION@ENTRY")?;
        let tree = context.tree(&path)?;
        let at = Some(EntryId::of(&tree, resolve::entry(&entry, &tree)?));
        let request = |migrate| Request::Fork { path: path.clone(), at: at.clone(), migrate };
        let done = changer.make_migrating(self.migrate, request)?;
        changer.print_made(&done)
    }
}
