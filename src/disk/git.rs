//! Asks the installed `git` about commits, and about files at the tips of refs. It runs only in directories of this user, and
//! starts no other program: hooks, the file system monitor and downloads of missing objects are disabled. Settings of the
//! system are ignored.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::disk::program::{find, read_bytes, read_command};
use crate::system::files::is_of_user;

/// The time limit of a question.
const LIMIT: Duration = Duration::from_secs(2);

/// The maximum number of refs, the newest ones.
const MAX_REFS: usize = 200;

/// The maximum size in bytes of a file at the tip of a ref.
const MAX_FILE: u64 = 2 << 20;

/// The maximum size in bytes of all versions of a file.
const MAX_VERSIONS: u64 = 64 << 20;

/// The maximum size in bytes of an answer without contents.
const MAX_ANSWER: u64 = 4 << 20;

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

/// The repository of a directory, if git can read it.
#[derive(Debug)]
pub(crate) struct Repository<'d> {
    git: PathBuf,
    dir: &'d Path,
}

impl<'d> Repository<'d> {
    /// Returns the repository of a directory. Returns `None` if git does not answer, or if the directory or the repository is
    /// missing or belongs to another user.
    pub(crate) fn of(dir: &'d Path) -> Option<Self> {
        let repository = Self { git: git_for(dir)?, dir };
        repository.succeeds(&["rev-parse", "--git-dir"])?.then_some(repository)
    }

    /// Returns `true` if it has a commit, given by the hexadecimal digits of its hash or of a prefix. Returns `None` if git
    /// does not answer.
    pub(crate) fn has_commit(&self, sha: &str) -> Option<bool> {
        self.succeeds(&["cat-file", "-e", &format!("{sha}^{{commit}}")])
    }

    fn succeeds(&self, arguments: &[&str]) -> Option<bool> {
        let ended = read_command(command(&self.git, self.dir, arguments), LIMIT).ok().flatten();
        ended.map(|(status, _)| status.success())
    }
}

/// Returns the nearest directory above a path that looks like the root of a working tree. Does not start git.
pub(crate) fn root(path: &Path) -> Option<&Path> {
    path.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())
}

/// Returns the objects at the tips of all refs of a repository, of at most 200, without duplicates. Returns `None` if git
/// does not answer, if the repository belongs to another user, or if objects of it are not on this machine.
pub(crate) fn tips(root: &Path) -> Option<BTreeSet<String>> {
    let git = git_for(root)?;
    let run = |arguments: &[&str]| answer(command(&git, root, arguments), Vec::new(), MAX_ANSWER);
    // In a partial clone, a missing object does not tell that the file is missing.
    if run(&["config", "--get", "extensions.partialClone"])?.is_some() {
        return None;
    }
    let count = format!("--count={MAX_REFS}");
    let listed = run(&["for-each-ref", &count, "--sort=-creatordate", "--format=%(objectname)"])??;
    let listed = String::from_utf8(listed).ok()?;
    Some(listed.lines().map(String::from).collect())
}

/// The different contents of a file at the tips of refs.
#[derive(Debug)]
pub(crate) enum TipContents {
    /// All contents.
    All(Vec<Vec<u8>>),
    /// The contents cannot be compared: the file name has a line break, or a content is larger than 2 MB.
    Unsuitable,
    /// git failed or was stopped; the next call may succeed.
    Unanswered,
}

/// Returns the different contents of a file at the tips of refs. `name` is its path from the root of the working tree.
pub(crate) fn contents(root: &Path, tips: &BTreeSet<String>, name: &str) -> TipContents {
    if name.contains(['\n', '\0']) {
        return TipContents::Unsuitable;
    }
    if tips.is_empty() {
        return TipContents::All(Vec::new());
    }
    let Some(contents) = read_contents(root, tips, name) else { return TipContents::Unanswered };
    match contents.iter().all(|content| content.len() as u64 <= MAX_FILE) {
        true => TipContents::All(contents),
        false => TipContents::Unsuitable,
    }
}

/// Reads contents of any size, up to the limit of all. Returns `None` if git does not answer completely.
fn read_contents(root: &Path, tips: &BTreeSet<String>, name: &str) -> Option<Vec<Vec<u8>>> {
    let git = git_for(root)?;
    let run = |option: &str, names: String, most: u64| {
        answer(command(&git, root, &["cat-file", option]), names.into_bytes(), most)?
    };
    let names: String = tips.iter().map(|tip| format!("{tip}:{name}\n")).collect();
    let found = run("--batch-check=%(objecttype) %(objectname)", names, MAX_ANSWER)?;
    let found = String::from_utf8_lossy(&found);
    let lines: Vec<&str> = found.lines().collect();
    if lines.len() != tips.len() {
        return None;
    }
    // Other objects are directories and submodules; the lines of missing ones start with the question.
    let blobs: BTreeSet<&str> = lines.into_iter().filter_map(|line| line.strip_prefix("blob ")).collect();
    if blobs.is_empty() {
        return Some(Vec::new());
    }
    let output = run("--batch=%(objectsize)", blobs.iter().map(|blob| format!("{blob}\n")).collect(), MAX_VERSIONS)?;
    let mut rest = &output[..];
    let mut contents = Vec::new();
    for _ in blobs {
        let (size, after) = rest.split_at(rest.iter().position(|&byte| byte == b'\n')?);
        let size: usize = std::str::from_utf8(size).ok()?.parse().ok()?;
        let content = after.get(1..)?.get(..size)?;
        contents.push(content.to_vec());
        rest = after.get(size + 2..)?;
    }
    Some(contents)
}

/// Returns the path of git, if a directory belongs to this user.
fn git_for(dir: &Path) -> Option<PathBuf> {
    let is_safe = dir.is_absolute() && fs::metadata(dir).is_ok_and(|found| found.is_dir() && is_of_user(&found));
    is_safe.then(|| find("git")).flatten()
}

/// Returns the output of a command, or `Some(None)` if it failed. Returns `None` if it cannot be run or was too slow.
fn answer(command: Command, input: Vec<u8>, most: u64) -> Option<Option<Vec<u8>>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let (status, output) = read_bytes(command, input, LIMIT, most).ok()??;
    Some(status.success().then_some(output))
}

fn command(git: &Path, dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(git);
    command.arg("-C").arg(dir);
    SETTINGS.iter().for_each(|setting| _ = command.args(["-c", setting]));
    command.args(arguments).envs(VARIABLES);
    REMOVED.iter().for_each(|name| _ = command.env_remove(name));
    command
}
