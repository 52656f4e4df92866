//! The known machines and the parameters of a synchronization, for several commands.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::changes::Changes;
use crate::cli::output;
use crate::config::Config;
use crate::disk::locate;
use crate::machines::registry::{self, Machine};
use crate::machines::state;
use crate::machines::sync::SyncContext;
use crate::pi::running;
use crate::pi::status::PiStatus;
use crate::runtime::jobs::now;
use crate::system::signals;

/// Returns all machines.
///
/// # Errors
/// The list cannot be read.
pub(super) fn machines(config: &Config) -> Result<Vec<Machine>> {
    registry::machines(config, locate::data_dir().as_deref()).context("cannot read the list of machines")
}

/// Returns the machine with a name.
///
/// # Errors
/// There is none.
pub(super) fn named(machines: &[Machine], name: &str) -> Result<Machine> {
    let found = machines.iter().find(|machine| machine.name == name);
    found.cloned().with_context(|| {
        let names: Vec<&str> = machines.iter().map(|machine| &*machine.name).collect();
        let known =
            if names.is_empty() { "run `pitree machine add`".into() } else { format!("known: {}", names.join(", ")) };
        format!("no machine {name:?}; {known}")
    })
}

/// Returns the data and state directories.
///
/// # Errors
/// There is no home directory.
pub(super) fn dirs() -> Result<(PathBuf, PathBuf)> {
    let none = "cannot locate the mirrors: no home directory; set HOME";
    Ok((locate::data_dir().context(none)?, locate::state_dir().context(none)?))
}

/// Calls a function with the context of synchronizations.
///
/// # Errors
/// There is no home directory, or `work` fails.
pub(super) fn with_context<T>(
    (config, changes): (&Config, &Changes),
    work: impl FnOnce(&SyncContext<'_>) -> Result<T>,
) -> Result<T> {
    let (data, state) = dirs()?;
    let context = SyncContext {
        config: &config.sync,
        data: &data,
        state: &state,
        changes,
        can_ask: output::can_ask(),
        now,
        is_wanted: &|| signals::noted().is_none(),
    };
    work(&context)
}

/// Returns the running pis that report their state, also those of other machines as of the last synchronization.
pub(super) fn reported(config: &Config, mirrors: Option<&Path>) -> Vec<PiStatus> {
    let mut reported = running::reported(locate::state_dir().as_deref());
    reported.extend(remote_pis(config, mirrors));
    reported
}

/// Returns the running pis of other machines as of the last synchronization.
pub(super) fn remote_pis(config: &Config, mirrors: Option<&Path>) -> Vec<PiStatus> {
    let (Some(state_dir), Some(mirrors)) = (locate::state_dir(), mirrors) else { return Vec::new() };
    // Without the list of machines, their sessions are listed without states.
    let machines = machines(config).unwrap_or_default();
    let pis_of =
        |machine: &Machine| state::read(&state_dir, &machine.name).unwrap_or_default().pis_in(&machine.name, mirrors);
    machines.iter().flat_map(pis_of).collect()
}
