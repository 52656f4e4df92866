//! The recorded state of each machine: its last synchronization, and the pis that ran then.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::text::clean;
use crate::base::{machine_paths, time};
use crate::disk::state as state_file;
use crate::pi::status::{PiState, PiStatus};

/// A running pi of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemotePi {
    /// The path of the session there.
    pub session: String,
    /// The state.
    pub state: PiState,
    /// The start of the state in milliseconds since 1970.
    pub since: i64,
    /// The process ID there.
    pub pid: u32,
    /// The ID of the model.
    pub model: Option<String>,
    /// The cost in dollars.
    pub cost: f64,
}

/// The state of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MachineState {
    /// The time of the last successful synchronization in milliseconds since 1970.
    pub synced: Option<i64>,
    /// The time of the last attempt.
    pub tried: Option<i64>,
    /// The reason why the last attempt failed.
    pub error: Option<String>,
    /// `true` if the machine could not be reached.
    pub is_offline: bool,
    /// The number of failed attempts since the last success.
    pub failures: u32,
    /// The last messages of the programs of the last attempt, if it failed.
    pub messages: Vec<String>,
    /// The first line of `rsync --version` there.
    pub rsync: Option<String>,
    /// The version of pitree there.
    pub pitree: Option<String>,
    /// The path of pitree there.
    pub program: Option<String>,
    /// The names of other programs there: `pi`, and those that install pitree.
    pub programs: Vec<String>,
    /// The session directory there.
    pub dir: Option<String>,
    /// The number of mirrored files.
    pub files: u64,
    /// The size of the mirror in bytes.
    pub bytes: u64,
    /// The number of files that are gone there, but stay here until the user decides.
    pub gone: u64,
    /// Problems of the last synchronization, such as files that were left out.
    pub warnings: Vec<String>,
    /// The running pis.
    pub pis: Vec<RemotePi>,
    /// The files, below the session directory, that moved to the trash once or that the user keeps. If the user restores
    /// one, it stays.
    pub trashed: BTreeSet<String>,
    /// The files that a synchronization is moving to the trash, or was when it was interrupted.
    pub moving: BTreeSet<String>,
    /// The bytes received and sent by the last synchronization.
    pub transferred: u64,
}

impl MachineState {
    /// Returns `true` if files are gone there, and the user has to decide whether to remove them here.
    pub fn is_stale(&self) -> bool {
        self.gone > 0
    }

    /// Describes the last synchronization.
    pub(crate) fn in_words(&self, now: i64) -> String {
        let synced = self.synced.map_or("never synced".into(), |then| format!("synced {}", time::ago(now, then)));
        let problem = match &self.error {
            Some(error) if self.is_offline => format!("; offline: {error}"),
            Some(error) => format!("; {error}"),
            None => self.warnings.first().map_or(String::new(), |warning| format!("; {warning}")),
        };
        let gone = if self.is_stale() { format!("; {} gone there are kept", self.gone) } else { String::new() };
        format!("{synced}{gone}{problem}")
    }

    /// Describes what works on the machine, and what is missing; empty for a directory.
    pub(crate) fn abilities(&self) -> Vec<String> {
        let Some(rsync) = &self.rsync else { return Vec::new() };
        let has = |name: &str| self.programs.iter().any(|program| program == name);
        let pitree = match (&self.pitree, &self.program) {
            (Some(version), Some(program)) => format!("pitree {version} ({program}) changes sessions"),
            _ => {
                let install = match () {
                    () if has("npm") => "npm install -g pitree",
                    () if has("cargo") => "cargo install pitree",
                    () => "copy the program to ~/.local/bin",
                };
                format!("no pitree, so that sessions cannot be changed from here; to install it there: {install}")
            }
        };
        let mut abilities = vec![format!("read by {}", rsync.split_whitespace().collect::<Vec<_>>().join(" ")), pitree];
        abilities.extend((!has("pi")).then(|| "pi is not on the PATH of its shell; resuming there may fail".into()));
        abilities.iter().map(|text| clean(text).into_owned()).collect()
    }

    /// Returns the time of the next attempt: after the interval, or later after failures. It is due if the clock was set
    /// back.
    pub(crate) fn next(&self, interval_ms: i64, now: i64) -> i64 {
        /// The maximum factor of the interval after failures.
        const MAX_FACTOR: i64 = 30;
        let factor = 1i64.checked_shl(self.failures).unwrap_or(MAX_FACTOR).clamp(1, MAX_FACTOR);
        self.tried
            .filter(|tried| *tried <= now)
            .map_or(0, |tried| tried.saturating_add(interval_ms.saturating_mul(factor)))
    }

    /// Returns the state of the pis as of the last synchronization, with the paths of their sessions in the mirror.
    pub(crate) fn pis_in(&self, machine: &str, mirrors: &Path) -> Vec<PiStatus> {
        let Some(mirror) = self.dir.as_ref().and_then(|dir| machine_paths::mirror(mirrors, machine, dir)) else {
            return Vec::new();
        };
        let status = |pi: &RemotePi| {
            let session = machine_paths::named_by(&mirror.join("x"), Path::new(&pi.session))?;
            Some(PiStatus {
                pid: pi.pid,
                session,
                id: String::new(),
                name: None,
                cwd: String::new(),
                state: pi.state,
                since: pi.since,
                entry: None,
                model: pi.model.clone(),
                cost: pi.cost,
            })
        };
        self.pis.iter().filter_map(status).collect()
    }
}

/// Returns the path of the state of a machine.
pub(super) fn file(state: &Path, machine: &str) -> PathBuf {
    state.join("machines").join(format!("{machine}.json"))
}

/// Reads the state of a machine; empty if there is none.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read(state: &Path, machine: &str) -> io::Result<MachineState> {
    state_file::read(&file(state, machine))
}

/// Writes the state of a machine.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(state: &Path, machine: &str, content: &MachineState) -> io::Result<()> {
    state_file::update(&file(state, machine), |known: &mut MachineState| known.clone_from(content))
}

/// Forgets the state of a machine.
pub(super) fn forget(state: &Path, machine: &str) {
    let _ = std::fs::remove_file(file(state, machine)); // it only describes the mirror
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_become_rare_after_failures() {
        let state = |failures| MachineState { tried: Some(1000), failures, ..MachineState::default() };
        assert_eq!((MachineState::default().next(60, 1000), state(0).next(60, 999)), (0, 0));
        assert_eq!(
            [0, 1, 2, 4, 5, 70].map(|failures| state(failures).next(60, 1000)),
            [1060, 1120, 1240, 1960, 2800, 2800]
        );
    }
}
