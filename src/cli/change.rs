//! Functions shared by commands that change something: making changes, asking before a migration, and printing results.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::base::numbers::{bytes, count, thousands};
use crate::base::text::clean;
use crate::base::{archive_paths, paths, time};
use crate::catalog::{Catalog, SessionKey};
use crate::changes::journal::JournalRecord;
use crate::changes::{Change, ChangeEvent, ChangeProgress, ChangeResult, Changes, Refusal, Request};
use crate::cli::command_context::machine_named;
use crate::cli::exit::Stopped;
use crate::cli::output::{PathFields, object};
use crate::cli::{CommandContext, Exit, now, output, resolve, table};
use crate::disk::locate;
use crate::machines;
use crate::machines::registry::Machine;
use crate::machines::sync::SyncContext;
use crate::pi::running;
use crate::pi::warnings::{LOSES, running_pi_evidence};
use crate::runtime::raw_output;
use crate::session::digest::Digest;
use crate::system::signals;

/// The time in milliseconds before a command shows its progress, because most changes are short.
const QUIET: i64 = 500;

/// The interval between progress reports in milliseconds.
const BETWEEN_REPORTS: i64 = 100;

/// The maximum number of listed signs of pis.
const SIGNS: usize = 20;

/// Options of all commands that change something.
#[derive(Debug, Default, clap::Args)]
pub(super) struct ChangeArgs {
    /// Print what would change without changing anything
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print each change as a line of JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Seconds to wait for a locked file
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = crate::cli::number)]
    pub(super) wait: u64,
}

/// Options of commands that ask before they change something.
#[derive(Debug, clap::Args)]
pub(super) struct ConfirmedArgs {
    /// Don't ask
    #[arg(long)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) args: ChangeArgs,
}

impl ConfirmedArgs {
    /// Returns `true` if the user is asked.
    ///
    /// # Errors
    /// Input or standard error is no terminal.
    pub(super) fn asks(&self) -> Result<bool> {
        let asks = !self.yes && !self.args.dry_run;
        if asks {
            output::check_can_ask()?;
        }
        Ok(asks)
    }
}

/// Makes the changes of a command and prints the results.
pub(super) struct ChangePrinter<'a> {
    pub(super) changes: Changes,
    args: &'a ChangeArgs,
    pub(super) context: &'a CommandContext,
}

impl<'a> ChangePrinter<'a> {
    /// Creates it for the chosen files.
    ///
    /// # Errors
    /// The sessions are samples, or there is no directory for the journal.
    pub(super) fn new(context: &'a CommandContext, args: &'a ChangeArgs) -> Result<Self> {
        context.refuse_samples()?;
        let changes = context.changes().context("cannot locate the journal: no home directory; set HOME")?;
        let changes = if args.dry_run { changes.dry_run() } else { changes };
        signals::hold().context("cannot handle signals")?;
        Ok(Self { changes, args, context })
    }

    /// Returns `true` for output as JSON.
    pub(super) fn is_json(&self) -> bool {
        self.args.json
    }

    /// Makes a change and prints it.
    ///
    /// # Errors
    /// The errors of [`make`](Self::make), or the output cannot be written.
    pub(super) fn finish(&self, request: &Request) -> Result<Exit> {
        self.print_result(&self.make(request)?, CliStep::Make)
    }

    /// Makes a change, and shows its progress if it takes long. A signal stops it between two of several changes. The
    /// pitree on another machine makes changes of its sessions.
    ///
    /// # Errors
    /// The errors of [`Changes::make`].
    pub(super) fn make(&self, request: &Request) -> Result<ChangeResult> {
        if let Some(machine) = machines::changes::machine_of(request)? {
            return self.make_on(&machine, request);
        }
        match self.make_as_it_is(request) {
            Err(error) if matches!(error.downcast_ref(), Some(Refusal::Archived { .. })) => {
                self.ask_to_bring_back(&error)?;
                self.make_as_it_is(&request.clone().after_unarchive())
            }
            made => made,
        }
    }

    /// Makes a change on another machine.
    ///
    /// # Errors
    /// The machine is unknown or cannot be reached, or the change cannot be made there.
    pub(super) fn make_on(&self, name: &str, request: &Request) -> Result<ChangeResult> {
        if self.args.dry_run {
            bail!("--dry-run cannot be used for sessions on other machines");
        }
        self.on_machine(name, |machine, context| machines::changes::make(machine, request, context))
    }

    /// Undoes or redoes the last change if it was made on another machine. Returns `None` if it was made on this one.
    ///
    /// # Errors
    /// The errors of [`make_on`](Self::make_on).
    pub(super) fn undo_elsewhere(&self, redoes: bool) -> Result<Option<ChangeResult>> {
        let is_of_user = |record: &&JournalRecord| !record.is_of_mirror();
        let since = self.changes.history()?.iter().filter(is_of_user).map(|record| record.time).max();
        let last = locate::state_dir()
            .and_then(|state| machines::changes::last_change(&state, since.unwrap_or(i64::MIN), redoes));
        let Some((machine, commands)) = last else { return Ok(None) };
        if self.args.dry_run {
            bail!("the last change was made on {machine}; --dry-run cannot be used for it");
        }
        self.on_machine(&machine, |machine, context| machines::changes::make_step(machine, &commands, context))
            .map(Some)
    }

    fn on_machine(
        &self,
        name: &str,
        make: impl FnOnce(&Machine, &SyncContext<'_>) -> Result<ChangeResult>,
    ) -> Result<ChangeResult> {
        let machine = machine_named(&self.context.machines()?, name)?;
        self.context.with_sync(&self.changes, |sync| make(&machine, sync))
    }

    /// Makes a change of mirrored files.
    ///
    /// # Errors
    /// The errors of [`Changes::make`].
    pub(super) fn make_in_mirrors(&self, request: &Request) -> Result<ChangeResult> {
        self.changes.clone().of_mirrors().make(request, now(), &mut crate::changes::to_the_end)
    }

    /// Asks whether to bring back an archived session before it is changed.
    ///
    /// # Errors
    /// `error`, if there is no terminal; or the user declined.
    fn ask_to_bring_back(&self, error: &Error) -> Result<()> {
        if self.args.dry_run || !output::can_ask() {
            bail!("{error}");
        }
        note!("{error}.");
        must_agree("Bring back from the archive?")
    }

    /// Brings back an archived session, after a question unless `is_sure`. Returns its original path, or the path of
    /// another session.
    ///
    /// # Errors
    /// The user declined or cannot be asked, or the session cannot be brought back.
    pub(super) fn brought_back(&self, path: PathBuf, is_sure: bool) -> Result<PathBuf> {
        if !archive_paths::is_archived(&path) {
            return Ok(path);
        }
        if !is_sure || self.args.dry_run {
            self.ask_to_bring_back(&Refusal::Archived { paths: vec![path.clone()] }.into())?;
        }
        let done = self.make_as_it_is(&Request::Unarchive { files: vec![path.clone()] })?;
        self.print_result_as_note(&done);
        Ok(done.made.unwrap_or(path))
    }

    fn make_as_it_is(&self, request: &Request) -> Result<ChangeResult> {
        let mut waits_since = None;
        let (begun, mut shown) = (now(), None);
        let mut watch = |event: ChangeEvent<'_>| {
            match event {
                ChangeEvent::Waits(who) => {
                    let since = waits_since.get_or_insert_with(|| {
                        note!("waiting for {who}; press Ctrl+C to cancel");
                        now()
                    });
                    if now() - *since >= i64::try_from(self.args.wait.saturating_mul(1000)).unwrap_or(i64::MAX) {
                        return ControlFlow::Break(());
                    }
                }
                ChangeEvent::Made(ChangeProgress { done, total }) => {
                    let is_due = shown.map_or(begun + QUIET, |shown| shown + BETWEEN_REPORTS) <= now();
                    if is_due {
                        shown = Some(now());
                        output::progress(&format!("{} of {}; Ctrl+C: stop", thousands(done), thousands(total)));
                    }
                }
            }
            signals::pending_signal().map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
        };
        let made = signals::held_during(|| self.changes.make(request, now(), &mut watch));
        if shown.is_some() {
            output::progress("");
        }
        made.map_err(|error| match signals::pending_signal() {
            Some(signal) => error.context(Stopped(Exit::Signal(signal), "stopped")),
            None => error,
        })
    }

    /// Lists signs of pis that may be using sessions. Returns `true` if there are any.
    pub(super) fn print_pi_evidence(&self, catalog: &Catalog, sessions: &[SessionKey]) -> bool {
        // The pis of other machines are unknown.
        let here = sessions.iter().map(|&key| &catalog[key]).filter(|session| !session.facts().is_mirrored());
        self.print_pi_evidence_of(&here.map(|session| &***session).collect::<Vec<_>>())
    }

    /// Like [`print_pi_evidence`](Self::print_pi_evidence), with the consequence of moving their files.
    pub(super) fn print_pi_evidence_before_move(&self, catalog: &Catalog, sessions: &[SessionKey]) -> bool {
        let has_signs = self.print_pi_evidence(catalog, sessions);
        if has_signs {
            output::note(LOSES);
        }
        has_signs
    }

    /// Like [`print_pi_evidence`](Self::print_pi_evidence), for sessions of this machine.
    fn print_pi_evidence_of(&self, sessions: &[&Digest]) -> bool {
        let signs =
            running_pi_evidence(sessions, &running::running(locate::state_dir().as_deref()), now(), &self.context.home);
        signs.iter().take(SIGNS).for_each(|sign| note!("{sign}."));
        if signs.len() > SIGNS {
            note!("and {} more", signs.len() - SIGNS);
        }
        !signs.is_empty()
    }

    /// Asks before files are replaced: a verb, and what follows. A pi that may be using a session needs a second look.
    ///
    /// # Errors
    /// The terminal fails.
    pub(super) fn is_replacement_wanted(
        &self,
        (verb, what): (&str, &str),
        keys: &[SessionKey],
        catalog: &Catalog,
    ) -> Result<bool> {
        output::note("The originals move to the trash, and take space until it is emptied.");
        let has_signs = self.print_pi_evidence(catalog, keys);
        is_confirmed(has_signs, &format!("{verb} {what}?"), &format!("{} {what}", verb.to_lowercase()))
    }

    /// Makes a change that requires a version 3 file. Asks the user unless migration is allowed (`migrate`). `request`
    /// receives `true` if it is allowed.
    ///
    /// # Errors
    /// The errors of [`Changes::make`], or the user declined.
    pub(super) fn make_migrating(&self, migrate: bool, request: impl Fn(bool) -> Request) -> Result<ChangeResult> {
        let error = match self.make(&request(migrate)) {
            Err(error) if matches!(error.downcast_ref(), Some(Refusal::Old { .. })) => error,
            made => return made,
        };
        if self.args.dry_run || !output::can_ask() {
            return Err(anyhow!("{error}; use --migrate to convert it and move the original to the trash"));
        }
        note!("{error}. The original moves to the trash; `pitree undo` restores it.");
        if let Some(Refusal::Old { path, .. }) = error.downcast_ref()
            && let Ok(session) = resolve::digest(path)
        {
            self.print_pi_evidence_of(&[&session]);
        }
        must_agree("Convert to version 3?")?;
        self.make(&request(true))
    }

    /// Prints what was done, or would be.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn print_result(&self, done: &ChangeResult, step: CliStep) -> Result<Exit> {
        let print = || {
            if self.args.json {
                for change in done.changes.iter().map(ChangeFields::from) {
                    let machine = done.machine.as_ref().map(|origin| object! { machine: &origin.machine });
                    let group = done.group.map(|group| object! { group });
                    let done = !self.args.dry_run;
                    output::json(&object! {
                        step, #[serde(flatten)] change, done, #[serde(flatten)] machine, #[serde(flatten)] group,
                    })?;
                }
            } else {
                for line in self.lines(done, step) {
                    output::line(clean(&line))?;
                }
            }
            Ok::<_, Error>(output::flush()?)
        };
        print().with_context(|| self.unprinted(done))?;
        done.warnings.iter().for_each(|warning| output::error(warning));
        if done.left == 0 {
            let is_found = step == CliStep::Make || !done.changes.is_empty();
            return Ok(Exit::Done.found(is_found));
        }
        output::error(&format!("interrupted; {} remaining", thousands(done.left)));
        Ok(signals::pending_signal().map_or(Exit::Failed, Exit::Signal))
    }

    /// Prints the path of the file that a change made, and what was done to standard error. A dry run and JSON are printed
    /// by [`print_result`](Self::print_result).
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn print_made(&self, done: &ChangeResult) -> Result<Exit> {
        match &done.made {
            Some(made) if !self.args.json && !self.args.dry_run => {
                self.print_result_as_note(done);
                raw_output::print(made.as_os_str()).with_context(|| self.unprinted(done))?;
                Ok(Exit::Done)
            }
            _ => self.print_result(done, CliStep::Make),
        }
    }

    /// Describes changes that could not be printed.
    pub(super) fn unprinted(&self, done: &ChangeResult) -> String {
        match (self.args.dry_run, done.changes.len()) {
            (true, _) => "cannot print the dry run".into(),
            (_, 0) => format!("cannot print this: {}", done.summary),
            (_, 1) => "the change was made, but cannot be printed".into(),
            (_, several) => format!("the {} changes were made, but cannot be printed", thousands(several)),
        }
    }

    /// Prints what was done to standard error, if standard output has other content.
    pub(super) fn print_result_as_note(&self, done: &ChangeResult) {
        for line in self.lines(done, CliStep::Make).iter().chain(&done.warnings) {
            output::note(line);
        }
    }

    fn lines(&self, done: &ChangeResult, step: CliStep) -> Vec<String> {
        let (did, would) = match step {
            CliStep::Make => ("", "would: "),
            CliStep::Undo => ("undone: ", "would undo: "),
            CliStep::Redo => ("redone: ", "would redo: "),
            CliStep::Restore => ("restored: ", "would restore: "),
        };
        let start = if self.args.dry_run { would } else { did };
        let short = |path: &Path| match &done.machine {
            Some(origin) => format!("{}:{}", origin.machine, path.display()),
            None => self.short(path),
        };
        let line = |change: &Change| match (step, short(change.path())) {
            (CliStep::Restore, path) => format!("{start}{path}"),
            (_, path) => format!("{start}{}  {path}", change.describe()),
        };
        match &done.changes[..] {
            [] => vec![done.summary.clone()],
            changes => changes.iter().map(line).collect(),
        }
    }

    /// Shortens a path with `~` for the home directory.
    pub(super) fn short(&self, path: &Path) -> String {
        self.context.short(path)
    }
}

/// Asks a question. Returns an error if the user declines.
fn must_agree(question: &str) -> Result<()> {
    ensure!(output::is_yes(question)?, Stopped(Exit::Nothing, "nothing was changed"));
    Ok(())
}

/// Asks before a change. If a pi may be using a session, the user types "yes" to do `what` anyway.
///
/// # Errors
/// The terminal fails.
pub(super) fn is_confirmed(has_signs: bool, question: &str, what: &str) -> Result<bool> {
    if !has_signs {
        return output::is_yes(question);
    }
    Ok(output::ask(&format!("Type \"yes\" to {what} anyway:"))? == "yes")
}

/// Lists the number, the size and the age of sessions.
pub(super) fn print_sessions(catalog: &Catalog, sessions: &[SessionKey]) {
    let facts = || sessions.iter().map(|&key| catalog[key].facts());
    let size = facts().filter(|facts| !facts.is_link()).map(|facts| facts.bytes()).sum();
    let newest = facts().filter_map(|facts| facts.modified()).max();
    let files = count(sessions.len(), "session", "sessions");
    note!("{files}, {}, newest activity: {}", bytes(size), table::age(newest));
}

/// A step of a change on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CliStep {
    /// Make the change.
    Make,
    /// Undo the change.
    Undo,
    /// Redo the change.
    Redo,
    /// Restore a file from the trash.
    Restore,
}

/// The journal data of a change, except that a path that is not UTF-8 has the usual JSON form.
#[derive(Serialize)]
#[serde(untagged)]
enum ChangeFields<'a> {
    AsIs(&'a Change),
    Odd(Map<String, Value>),
}

impl<'a> From<&'a Change> for ChangeFields<'a> {
    fn from(change: &'a Change) -> Self {
        let odd = paths::non_utf8_base64(change.path()).and_then(|_| {
            let Value::Object(mut fields) = serde_json::to_value(change).ok()? else { return None };
            let Value::Object(path) = serde_json::to_value(PathFields::from(change.path())).ok()? else { return None };
            fields.extend(path);
            Some(fields)
        });
        odd.map_or(Self::AsIs(change), Self::Odd)
    }
}

/// Prints the JSON form of journal records.
pub(super) fn print_records(records: &[JournalRecord]) -> Result<Exit> {
    for JournalRecord { number, time, state, change, .. } in records {
        let change = ChangeFields::from(change);
        output::json(&object! { number, time: time::iso(*time), state, #[serde(flatten)] change })?;
    }
    Ok(Exit::Done)
}
