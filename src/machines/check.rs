//! Checks what works on a machine, and what is missing.

use std::io;

use serde::Serialize;

use crate::base::text::clean;
use crate::config::{Address, SyncConfig};
use crate::disk::{parallel, program};
use crate::machines::client::Client;
use crate::machines::link::{Link, LinkError};
use crate::machines::listing;
use crate::machines::registry::Machine;
use crate::machines::shell;
use crate::machines::transport::Transport;

/// The script that finds programs and counts sessions.
const SCRIPT: &str = "echo pitree-check; for p in rsync tar cargo npm pi; do if command -v $p >/dev/null 2>&1; then echo $p; fi; done; \
    echo; find \"$D\" -type f -name '*.jsonl' 2>/dev/null | wc -l";

/// The result of a check.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineCheck {
    /// The reason why the machine cannot be reached.
    pub(crate) error: Option<String>,
    /// `true` if it can be reached.
    pub(crate) is_reachable: bool,
    /// The number of session files.
    pub(crate) sessions: Option<u64>,
    /// The version of a fitting pitree there.
    pub(crate) pitree: Option<String>,
    /// `true` if `rsync` is installed there and here.
    pub(crate) rsync: bool,
    /// `true` if `tar` is installed there.
    pub(crate) tar: bool,
    /// `true` if pi is installed there, as far as a shell without a login finds it.
    pub(crate) pi: bool,
    /// The command that installs pitree there.
    pub(crate) install: Option<&'static str>,
}

/// Checks a machine.
pub(crate) fn check(machine: &Machine, config: &SyncConfig, can_ask: bool) -> MachineCheck {
    if let Address::Dir(dir) = &machine.address {
        let is_reachable = dir.is_dir();
        let error = (!is_reachable).then(|| format!("no directory {}", dir.display()));
        let sessions = is_reachable.then(|| listing::list(dir).files.len() as u64);
        return MachineCheck { error, is_reachable, sessions, ..MachineCheck::default() };
    }
    let transport = Transport { address: &machine.address, config, can_ask };
    let mut checked = match programs(transport) {
        Ok(checked) => checked,
        Err(error) => return MachineCheck { error: Some(error.reason), ..MachineCheck::default() },
    };
    checked.rsync &= transport.rsh().is_some() && program::find("rsync").is_some();
    match Client::connect(transport) {
        Ok(client) => (checked.pitree, checked.install) = (Some(clean(&client.facts.pitree).into_owned()), None),
        Err(error) if error.is_missing => {}
        Err(error) => checked.error = Some(error.reason),
    }
    checked
}

/// Checks several machines at the same time. The results are in the order of the machines.
pub(crate) fn several(machines: &[Machine], config: &SyncConfig, can_ask: bool) -> Vec<MachineCheck> {
    parallel::map_waiting(machines, machines.len(), |machine| check(machine, config, can_ask), MachineCheck::default)
}

/// Finds the programs on a machine, and counts its sessions.
///
/// # Errors
/// It cannot be reached.
pub(super) fn programs(transport: Transport<'_>) -> Result<MachineCheck, LinkError> {
    let script = format!("D={}; {SCRIPT}", shell::dir_of(transport.address));
    let mut link = Link::run(transport, &script)?;
    link.end_input();
    let mut read = || {
        link.skip_to(&["pitree-check"])?;
        let mut found = Vec::new();
        loop {
            let line = link.line()?;
            if line.is_empty() || found.len() > 10 {
                break;
            }
            found.push(line);
        }
        let sessions = link.line()?.trim().parse().ok();
        Ok::<_, io::Error>((found, sessions))
    };
    let (found, sessions) = read().map_err(|error| link.explain(&error))?;
    let has = |name: &str| found.iter().any(|found| found == name);
    let install = match () {
        () if has("npm") => "npm install -g pitree",
        () if has("cargo") => "cargo install pitree",
        () => "copy the pitree program to ~/.local/bin",
    };
    let (rsync, tar, pi) = (has("rsync"), has("tar"), has("pi"));
    Ok(MachineCheck { is_reachable: true, sessions, rsync, tar, pi, install: Some(install), ..MachineCheck::default() })
}
