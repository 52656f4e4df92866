//! Functions without Linux's /proc: processes through the crate `sysinfo`, other data unavailable.

#![allow(dead_code, reason = "on Linux only tests look at it, and elsewhere not everything asks for all of it")]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The limit of file watches is not a setting.
pub(crate) const RAISE_WATCHES: &str = "";

/// The limit of file watchers is not a setting.
pub(crate) const RAISE_WATCHERS: &str = "";

/// There is no process directory.
pub(crate) const PROCESSES: Option<&str> = None;

/// Identifies this machine in the format of pitree's extension.
pub(crate) fn namespace_id() -> Option<String> {
    System::host_name()
}

/// Returns `None`: [`place`] is the same after a restart, and the start time identifies a process.
pub(crate) fn boot_time() -> Option<SystemTime> {
    None
}

/// Returns `true` if a process with this start time, in seconds since 1970, is still running.
pub(crate) fn runs(pid: u32, start: &str) -> bool {
    let (pid, mut system) = (Pid::from_u32(pid), System::new());
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, ProcessRefreshKind::nothing());
    let start = start.parse::<u64>();
    // Both clocks differ slightly.
    system.process(pid).zip(start.ok()).is_some_and(|(process, start)| process.start_time().abs_diff(start) <= 2)
}

/// Returns `None`: `ps` prints the terminal.
pub(crate) fn terminal_of(_pid: u32) -> Option<String> {
    None
}

/// Returns `None`: the environment of other processes is unknown.
pub(crate) fn variable_of(_pid: u32, _name: &str) -> Option<String> {
    None
}

/// Returns `None`: the lock holder is unknown.
pub(crate) fn lock_holder(_file: &File) -> Option<String> {
    None
}

/// Returns `None`: the open files of other processes are unknown.
pub(crate) fn are_written(_files: &[PathBuf]) -> Option<Vec<bool>> {
    None
}

/// Syncs files.
///
/// # Errors
/// The disk fails, or a file cannot be opened.
pub(crate) fn sync_all(files: &[PathBuf]) -> io::Result<()> {
    files.iter().try_for_each(|file| File::options().write(true).open(file)?.sync_all())
}

/// Syncs open files.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_files(files: &[File]) -> io::Result<()> {
    files.iter().try_for_each(File::sync_all)
}

/// Returns `false`: remote directories are not detected.
pub(crate) fn is_remote(_dir: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_runs_that_began_when_it_did() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        assert!(runs(child.id(), &now.to_string()));
        assert!(!runs(child.id(), &(now - 60).to_string()), "an earlier one of the same number");
        assert!(!runs(child.id(), "") && namespace_id().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!runs(child.id(), &now.to_string()));
    }
}
