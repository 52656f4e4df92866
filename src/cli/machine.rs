//! `pitree machine`: other machines and their mirrored sessions.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Subcommand;
use serde::Serialize;

use crate::base::numbers::{bytes, count};
use crate::base::{machine_paths, time};
use crate::changes::{FileSnapshot, Request};
use crate::cli::change::{ChangeArgs, ChangePrinter};
use crate::cli::command_context::{NO_MIRRORS, absolute, machine_dirs, machine_named};
use crate::cli::output::object;
use crate::cli::{CommandContext, Exit, completions, now, output};
use crate::config::Address;
use crate::disk::{locate, scan};
use crate::machines::registry::{self, Machine};
use crate::machines::state::{self, MachineState};
use crate::machines::sync::{self, GoneFiles, SyncContext};
use crate::system::signals;

/// The message without machines.
const NO_MACHINES: &str = "no machines; add one with `pitree machine add NAME ssh:HOST`";

/// Mirror the sessions of other machines
///
/// Sessions of a machine appear in lists and searches of all sessions, also while it is offline. `rsync` copies them
/// through ssh, docker or another program; or they are in a directory. A mirror is read-only; names, labels and the trash
/// of its sessions are changed by the pitree on the machine.
#[derive(Debug, clap::Args)]
pub(super) struct MachineCommand {
    #[command(subcommand)]
    what: MachineAction,
}

#[derive(Debug, Subcommand)]
enum MachineAction {
    /// Add a machine and check it
    Add {
        /// A name of up to 32 letters, digits, dots, dashes and underscores
        name: String,
        /// ssh:HOST[:DIR], docker:CONTAINER[:DIR], command:PROGRAM ARGS…, or dir:PATH
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        address: Vec<String>,
    },
    /// List the machines and the state of their mirrors
    List {
        /// Print each machine as a line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a machine from the list; its mirror stays unless --delete moves it to the trash
    Remove {
        /// The machine
        #[arg(add = completions::machines())]
        name: String,
        /// Move the mirrored sessions to the trash
        #[arg(long)]
        delete: bool,
    },
    /// Update the mirrors of machines
    Sync {
        /// The machines; all by default
        #[arg(add = completions::machines())]
        names: Vec<String>,
        /// Move sessions that are gone there to the trash, even if they are many
        #[arg(long, conflicts_with = "keep_gone")]
        delete_gone: bool,
        /// Keep the sessions that are gone there
        #[arg(long)]
        keep_gone: bool,
        /// Print the command that reaches each machine, what works there and what is missing
        #[arg(short, long, conflicts_with = "json")]
        verbose: bool,
        /// Print each machine as a line of JSON
        #[arg(long)]
        json: bool,
    },
}

impl MachineCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        context.refuse_samples()?;
        match &self.what {
            MachineAction::Add { name, address } => add(context, name, address),
            MachineAction::List { json } => list(context, *json),
            MachineAction::Remove { name, delete } => remove(context, name, *delete),
            MachineAction::Sync { names, delete_gone, keep_gone, verbose, json } => {
                let gone = match (delete_gone, keep_gone) {
                    (true, _) => GoneFiles::Remove,
                    (_, true) => GoneFiles::Keep,
                    _ => GoneFiles::Ask,
                };
                sync(context, names, SyncOutput { gone, verbose: *verbose, json: *json })
            }
        }
    }
}

fn add(context: &CommandContext, name: &str, address: &[String]) -> Result<Exit> {
    let (data, _) = machine_dirs()?;
    let mut address = Address::parse(address).map_err(anyhow::Error::msg)?;
    if let Address::Dir(dir) = &mut address {
        *dir = absolute(&locate::expand(&*dir, Path::new(&context.home)))?;
    }
    let known = context.machines()?;
    registry::check_name(name, &known)?;
    let machine = Machine { name: name.into(), address, is_configured: false };
    let probed = match sync::probe(&machine, &context.config.sync, output::can_ask()) {
        Ok(probed) => probed,
        Err(error) => bail!("cannot read {name} ({}): {error}; it was not added", machine.address),
    };
    registry::add(&machine, &known, &data)?;
    note!("{name}: {} works, {}", machine.address, sync::summary(&probed));
    probed.abilities().iter().for_each(|line| note!("  {line}"));
    note!("Added. Run `pitree machine sync {name}`, or open the browser, to mirror its sessions.");
    Ok(Exit::Done)
}

fn list(context: &CommandContext, json: bool) -> Result<Exit> {
    let state_dir = locate::state_dir();
    let with_state = |machine: Machine| {
        let state = state_dir.as_deref().and_then(|dir| state::read(dir, &machine.name).ok()).unwrap_or_default();
        (machine, state)
    };
    let machines: Vec<(Machine, MachineState)> = context.machines()?.into_iter().map(with_state).collect();
    if machines.is_empty() && !json {
        return output::nothing(NO_MACHINES);
    }
    let row = |(machine, state): &(Machine, MachineState)| {
        let files = count(usize::try_from(state.files).unwrap_or(usize::MAX), "session", "sessions");
        [machine.name.clone(), machine.address.to_string(), files, bytes(state.bytes), state.in_words(now())]
    };
    context.list(
        json,
        &machines,
        |(machine, state)| fields(machine, state),
        ("name address/ sessions> size> state~100", row),
        "",
    )?;
    Ok(Exit::Done)
}

fn fields<'a>(machine: &'a Machine, state: &'a MachineState) -> impl Serialize + use<'a> {
    let Machine { name, address, is_configured } = machine;
    let (synced, tried) = (state.synced.and_then(time::iso), state.tried.and_then(time::iso));
    let MachineState { error, is_offline, messages, rsync, pitree, dir, files, bytes, .. } = state;
    let MachineState { gone, warnings, transferred, .. } = state;
    object! {
        name, address: address.words(), is_configured, synced, tried, error, is_offline, messages, rsync, pitree, dir,
        sessions: files, bytes, gone, warnings, transferred,
    }
}

fn remove(context: &CommandContext, name: &str, deletes: bool) -> Result<Exit> {
    let (data, state_dir) = machine_dirs()?;
    let known = context.machines()?;
    // The mirror of a machine stays when the machine is removed.
    let has_mirror = machine_paths::is_name(name) && machine_paths::mirrors_in(&data).join(name).is_dir();
    if !(deletes && has_mirror) {
        let machine = machine_named(&known, name)?;
        ensure!(!machine.is_configured, "{name} is in config.toml; remove it there");
    }
    if deletes {
        let args = ChangeArgs::default();
        let changer = ChangePrinter::new(context, &args)?;
        let found = scan::find(&[machine_paths::mirrors_in(&data)]);
        let file = |file: &scan::SessionFile| {
            let (bytes, mtime) = file.version();
            FileSnapshot { path: file.path.clone(), bytes, mtime }
        };
        let is_of = |file: &&scan::SessionFile| machine_paths::machine(&file.path) == Some(name);
        let files: Vec<FileSnapshot> = found.files.iter().filter(is_of).map(file).collect();
        if !files.is_empty() {
            changer.print_result_as_note(&changer.make_in_mirrors(&Request::Trash { files })?);
        }
    }
    registry::remove(name, &data)?;
    sync::forget(name, &data, &state_dir);
    let stays = if deletes { "" } else { "; its mirrored sessions stay" };
    note!("Removed {name}{stays}.");
    Ok(Exit::Done)
}

/// The options of `pitree machine sync`.
struct SyncOutput {
    gone: GoneFiles,
    verbose: bool,
    json: bool,
}

/// Prints how a machine is reached, what works there, and the messages of a failure.
fn details(machine: &Machine, state: &MachineState, context: &CommandContext) {
    let command = sync::command(machine, &context.config.sync, output::can_ask());
    let command = command.map(|command| format!("reached by: {command}"));
    let dir = state.dir.as_ref().map(|dir| format!("session directory: {dir}"));
    let lines = command.into_iter().chain(state.messages.clone()).chain(dir).chain(state.abilities());
    lines.for_each(|line| note!("  {line}"));
}

fn sync(context: &CommandContext, names: &[String], SyncOutput { gone, verbose, json }: SyncOutput) -> Result<Exit> {
    let mut machines = context.machines()?;
    if !names.is_empty() {
        machines = names.iter().map(|name| machine_named(&machines, name)).collect::<Result<_>>()?;
    }
    if machines.is_empty() {
        return output::nothing(NO_MACHINES);
    }
    let changes = context.changes().context(NO_MIRRORS)?;
    signals::hold().context("cannot handle signals")?;
    let states = context.with_sync(&changes, |sync| {
        let sync = SyncContext { can_ask: sync.can_ask && machines.len() == 1, ..*sync };
        Ok(sync::several(&machines, &sync, &gone))
    })?;
    let mut exit = Exit::Done;
    for (machine, state) in machines.iter().zip(states) {
        let name = &machine.name;
        let state = match state {
            Ok(Some(state)) => state,
            failed => {
                let is_locked = "another pitree is synchronizing it; repeat the command";
                let reason = failed.map_or_else(|error| error.to_string(), |_| is_locked.into());
                output::error(&format!("{name}: {reason}"));
                exit = Exit::Failed;
                continue;
            }
        };
        if json {
            output::json(&fields(machine, &state))?;
        } else if let Some(error) = &state.error {
            output::error(&format!("{name}: {error}"));
        } else {
            note!("{name}: {}", sync::summary(&state));
        }
        if verbose {
            details(machine, &state, context);
        }
        if state.error.is_some() {
            exit = Exit::Failed;
        }
        if !json {
            state.warnings.iter().for_each(|warning| note!("{name}: {warning}"));
        }
        if state.is_stale() && state.error.is_none() {
            exit = if exit == Exit::Done { Exit::Over } else { exit };
            let gone = usize::try_from(state.gone).unwrap_or(usize::MAX);
            let gone = count(gone, "mirrored session is", "mirrored sessions are");
            note!(
                "{name}: {gone} gone there; nothing was removed. Run `pitree machine sync {name} --delete-gone` to move them to the trash, or --keep-gone to keep them."
            );
        }
    }
    Ok(exit)
}
