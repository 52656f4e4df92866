//! Asks the installed `git` about commits. It runs only in directories of this user, and starts no other program: hooks,
//! the file system monitor and downloads of missing objects are disabled, and settings of the system are ignored.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::disk::program::{find, read_command};
use crate::system::files::is_of_user;

/// The time limit of a question.
const LIMIT: Duration = Duration::from_secs(2);

/// Settings that override those of the repository and of the user. An empty `safe.directory` removes exceptions, so that
/// git refuses repositories of other users.
const SETTINGS: [&str; 3] = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "safe.directory="];

/// Variables for the process.
const VARIABLES: [(&str, &str); 6] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // Versions before 2.44 would fetch; no protocol has this name.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
];

/// Variables that choose another repository or add settings.
const REMOVED: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_INDEX_FILE",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
];

/// Returns `true` if the repository of a directory has a commit, given by the hexadecimal digits of its hash or of a
/// prefix. Returns `None` if git does not answer, or if the directory or the repository is missing or belongs to another
/// user.
pub(crate) fn has_commit(dir: &Path, sha: &str) -> Option<bool> {
    let is_safe = dir.is_absolute() && fs::metadata(dir).is_ok_and(|found| found.is_dir() && is_of_user(&found));
    let git = is_safe.then(|| find("git")).flatten()?;
    let succeeds = |arguments: &[&str]| {
        let ended = read_command(command(&git, dir, arguments), LIMIT).ok().flatten();
        ended.map(|(status, _)| status.success())
    };
    succeeds(&["rev-parse", "--git-dir"])?.then_some(())?;
    succeeds(&["cat-file", "-e", &format!("{sha}^{{commit}}")])
}

fn command(git: &Path, dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(git);
    command.arg("-C").arg(dir);
    SETTINGS.iter().for_each(|setting| _ = command.args(["-c", setting]));
    command.args(arguments).envs(VARIABLES);
    REMOVED.iter().for_each(|name| _ = command.env_remove(name));
    command
}
