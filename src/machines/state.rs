//! The recorded state of each machine: its last synchronization, and the pis that ran then.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::machine_paths;
use crate::base::named::named;
use crate::disk::state as state_file;
use crate::machines::wire::RemotePi;
use crate::pi::status::PiStatus;

named! {
    /// The way in which files of a machine are read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Method {
        /// A pitree on the machine.
        Pitree = "pitree",
        /// `rsync`.
        Rsync = "rsync",
        /// `tar`, and `tail` for additions.
        Tar = "tar",
        /// Files of a directory.
        Files = "files",
    }
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
    /// The way in which files are read.
    pub method: Option<Method>,
    /// The version of pitree there.
    pub pitree: Option<String>,
    /// The path of pitree there.
    pub program: Option<String>,
    /// The time when no pitree was found there, in milliseconds since 1970.
    pub without_pitree: Option<i64>,
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

    /// Returns the time of the next attempt: after the interval, or later after failures. It is due if the clock was set
    /// back.
    pub(crate) fn next(&self, interval_ms: i64, now: i64) -> i64 {
        /// The maximum factor of the interval after failures.
        const MOST: i64 = 30;
        let factor = 1i64.checked_shl(self.failures).unwrap_or(MOST).clamp(1, MOST);
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
