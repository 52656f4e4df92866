//! Finds programs like a shell.

use std::env;
use std::path::{PathBuf, absolute, is_separator};

use crate::system::files::is_executable;

/// Returns the absolute path of a command, because it can run in another directory. A name with a slash is used
/// directly. Other names are searched in the directories of the PATH, where an empty directory is the working
/// directory. The first executable file is used.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    if program.contains(is_separator) {
        return absolute(program).ok();
    }
    let names = [program.to_string(), format!("{program}{}", env::consts::EXE_SUFFIX)];
    let dirs = env::var_os("PATH")?;
    let files = env::split_paths(&dirs).flat_map(|dir| names.clone().map(|name| dir.join(name)));
    files.filter_map(|file| absolute(file).ok()).find(|file| file.is_file() && is_executable(file))
}

/// Returns the path of this program.
///
/// # Errors
/// The system cannot determine it.
pub(crate) fn this() -> std::io::Result<PathBuf> {
    env::current_exe()
}
