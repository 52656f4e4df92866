//! Whether a pi is at work, and where. pi holds no file open between its writes, so the only trace is its process:
//! named `pi` (0.74.2, 0.87.1 set their title so), with the session's directory as its working directory.

use std::collections::HashSet;
use std::path::PathBuf;

/// The working directories of the running pis; `None` where the system does not tell.
pub(crate) fn working_dirs() -> Option<HashSet<PathBuf>> {
    if cfg!(target_os = "linux") { from_proc() } else { None }
}

fn from_proc() -> Option<HashSet<PathBuf>> {
    let mut dirs = HashSet::new();
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let is_process = process.file_name().to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if !is_process {
            continue;
        }
        let path = process.path();
        // Processes of others, and those that just ended, can't be read: they are none of ours.
        let Ok(name) = std::fs::read_to_string(path.join("comm")) else { continue };
        if name.trim_end() == "pi"
            && let Ok(dir) = std::fs::read_link(path.join("cwd"))
        {
            dirs.insert(dir);
        }
    }
    Some(dirs)
}
