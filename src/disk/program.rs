//! Looks for a program as a shell does.

use std::env;
use std::path::{PathBuf, absolute, is_separator};

use crate::system::files::is_executable;

/// The file that a command name means, from the root: the command may run in another directory. A name with a slash is
/// taken as it is; any other one is looked for in the directories of the PATH, of which an empty one is that where
/// pitree is: the first that is a file and may be executed.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    if program.contains(is_separator) {
        return absolute(program).ok();
    }
    let names = [program.to_string(), format!("{program}{}", env::consts::EXE_SUFFIX)];
    let dirs = env::var_os("PATH")?;
    let files = env::split_paths(&dirs).flat_map(|dir| names.clone().map(|name| dir.join(name)));
    files.filter_map(|file| absolute(file).ok()).find(|file| file.is_file() && is_executable(file))
}

/// The file of this program.
///
/// # Errors
/// The system can't tell.
pub(crate) fn this() -> std::io::Result<PathBuf> {
    env::current_exe()
}
