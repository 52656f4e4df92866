//! Missing directories: possible new locations, and the recorded replacements. They are stored in `moved.json` in the
//! state directory, for all sessions of a directory. The identities of working directories while they exist, inode and git
//! remote, are in `directories.json` there. They find a directory again that was renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::paths::normalize;
use crate::base::sort;
use crate::disk::files::{self, read_small};
use crate::disk::fingerprint::{FileMetadata, hash};
use crate::disk::state;

/// The maximum number of directories searched for a moved one.
const MAX_DIRS: usize = 5_000;

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// The maximum number of files checked in each directory.
const MAX_FILES: usize = 200;

/// A possible new location of a missing directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelocationCandidate {
    /// The directory.
    pub dir: PathBuf,
    /// The number of files touched by the session that it contains.
    pub files: usize,
    /// The number of files that were checked.
    pub checked: usize,
}

/// Returns possible new locations of `gone`, best first. These are git worktrees of that name, and directories with that name
/// or with the identity recorded in the state directory. The directories are nearby, or in `known`: the working directories of
/// other sessions. A candidate with another identity must contain a `touched` file, or be a git repository if there are no
/// such files.
pub fn candidates(
    gone: &Path,
    touched: &[String],
    known: &[PathBuf],
    state: Option<&Path>,
) -> Vec<RelocationCandidate> {
    let Some(name) = gone.file_name() else { return Vec::new() };
    let identity = state.and_then(|state| identity_of(state, gone));
    let is_same = |dir: &Path| {
        identity.as_ref().is_some_and(|gone| DirIdentity::read(dir).is_some_and(|found| gone.is_same(&found)))
    };
    let is_of_name = |dir: &PathBuf| dir.file_name() == Some(name);
    let known: Vec<PathBuf> = known.iter().filter(|dir| dir.is_dir()).cloned().collect();
    let mut dirs: BTreeSet<PathBuf> = known.iter().filter(|dir| is_of_name(dir) || is_same(dir)).cloned().collect();
    dirs.extend(known.iter().filter_map(|dir| worktree(dir, name)));
    let near = gone.ancestors().skip(1).find(|dir| dir.is_dir());
    dirs.extend(near.into_iter().flat_map(below).filter(|dir| is_of_name(dir) || is_same(dir)));
    let inside = |file: &String| normalize(&gone.join(file)).strip_prefix(gone).map(Path::to_path_buf).ok();
    let files: BTreeSet<PathBuf> = touched.iter().filter_map(inside).take(MAX_FILES).collect();
    let candidate = |dir: PathBuf| {
        let there = files.iter().filter(|file| dir.join(file).exists()).count();
        RelocationCandidate { files: there, checked: files.len(), dir }
    };
    let is_likely = |one: &RelocationCandidate| {
        one.files > 0 || is_same(&one.dir) || (one.checked == 0 && one.dir.join(".git").exists())
    };
    let mut all: Vec<RelocationCandidate> = dirs.into_iter().map(candidate).filter(is_likely).collect();
    sort::by_cached_key(&mut all, |one| std::cmp::Reverse((one.files, is_same(&one.dir))));
    all.truncate(MAX_SUGGESTIONS);
    all
}

/// Returns the current location of the worktree with this name in the repository of a directory. `git worktree move`
/// keeps the name.
fn worktree(dir: &Path, name: &std::ffi::OsStr) -> Option<PathBuf> {
    let pointer = fs::read_to_string(dir.join(".git/worktrees").join(name).join("gitdir")).ok()?;
    Path::new(pointer.trim()).parent().filter(|tree| tree.is_dir()).map(Path::to_path_buf)
}

/// Returns the visible directories up to three levels below a directory.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_path_buf()];
    let mut level = 0;
    for _ in 0..3 {
        let last = found.len();
        for at in level..last {
            let inside = files::entries(&found[at]);
            let is_dir = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_hidden = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
            found.extend(inside.filter(|entry| is_dir(entry) && !is_hidden(entry)).map(|entry| entry.path()));
            if found.len() > MAX_DIRS {
                return found;
            }
        }
        level = last;
    }
    found
}

/// Returns an existing directory as pi records it: with symbolic links resolved.
///
/// # Errors
/// It is not a directory, or its path is not UTF-8.
pub(crate) fn directory(dir: &Path) -> Result<String> {
    ensure!(dir.is_dir(), "no such directory: {}", dir.display());
    let real = dunce::canonicalize(dir).with_context(|| format!("cannot resolve {}", dir.display()))?;
    real.to_str().map(str::to_owned).with_context(|| format!("{} is not UTF-8; pi cannot use it", real.display()))
}

/// Completes a typed directory path. Returns the unambiguous part, and the names that can follow.
pub fn complete(typed: &Path) -> (PathBuf, Vec<String>) {
    let ends = typed.as_os_str().as_encoded_bytes().ends_with(b"/");
    let (dir, start) = match (ends, typed.parent(), typed.file_name()) {
        (false, Some(parent), Some(name)) => (parent, name.to_string_lossy().into_owned()),
        _ => (typed, String::new()),
    };
    let names = files::entries(dir)
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok());
    let is_hidden = |name: &String| name.starts_with('.') && !start.starts_with('.');
    let mut names: Vec<String> = names.filter(|name| name.starts_with(&start) && !is_hidden(name)).collect();
    names.sort();
    let common = |one: String, other: &String| {
        let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a);
        same.collect::<String>()
    };
    let all = names.iter().skip(1).fold(names.first().cloned().unwrap_or(start), common);
    let end = if names.len() == 1 { format!("{all}/") } else { all };
    (dir.join(end), names)
}

/// Returns a directory or its recorded replacement, or `None` if the replacement is missing or unknown.
pub fn now(state: Option<&Path>, dir: &str) -> Option<PathBuf> {
    let is_there = |dir: &PathBuf| dir.is_dir();
    let all = |state: &Path| state::read::<BTreeMap<String, String>>(&file(state)).ok();
    let recorded = || state.and_then(|state| all(state)?.remove(dir)).map(PathBuf::from);
    Some(PathBuf::from(dir)).filter(is_there).or_else(|| recorded().filter(is_there))
}

/// Returns all recorded replacements of missing directories.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn all(state: &Path) -> io::Result<BTreeMap<String, String>> {
    state::load(&file(state))
}

/// Records the replacement of a missing directory.
///
/// # Errors
/// The replacement does not exist, its name is not UTF-8, or the file cannot be written.
pub(crate) fn remember(state: &Path, gone: &str, dir: &Path) -> io::Result<()> {
    let not_found = || io::Error::new(io::ErrorKind::NotFound, format!("no such directory: {}", dir.display()));
    let dir = Some(dir).filter(|dir| dir.is_dir()).ok_or_else(not_found)?;
    let dir = dir.to_str().ok_or_else(|| io::Error::other("its name is not UTF-8"))?;
    state::update(&file(state), |recorded: &mut BTreeMap<String, String>| {
        recorded.insert(gone.into(), dir.into());
    })
}

/// Returns the path of the file with the replacements.
pub(crate) fn file(state: &Path) -> PathBuf {
    state.join("moved.json")
}

/// The maximum number of recorded directories.
const MAX_IDENTITIES: usize = 5_000;

/// The maximum number of bytes read of the configuration of a repository.
const MAX_CONFIG: u64 = 64 * 1024;

/// The identity of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct DirIdentity {
    /// The device number.
    device: u64,
    inode: u64,
    /// The hash of the URL of the git remote `origin`, which can have a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remote: Option<u64>,
}

impl DirIdentity {
    /// Reads the identity of an existing directory.
    fn read(dir: &Path) -> Option<Self> {
        let (device, inode) = FileMetadata::of(dir).ok().filter(|_| dir.is_dir())?.file;
        Some(Self { device, inode, remote: remote(dir) })
    }

    /// Returns `true` if this is the same directory with another name, or another clone of the repository.
    fn is_same(&self, other: &Self) -> bool {
        let is_inode = (self.device, self.inode) == (other.device, other.inode);
        is_inode || (self.remote.is_some() && self.remote == other.remote)
    }
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct IdentityRecord {
    /// The identities by directory.
    #[serde(default)]
    directories: BTreeMap<String, DirIdentity>,
    /// Fields of a newer pitree, preserved.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl IdentityRecord {
    /// Adds identities, and limits their number. Those of directories that exist are removed first, because they can be read
    /// again.
    fn add(&mut self, found: &BTreeMap<String, DirIdentity>) {
        self.directories.extend(found.clone());
        let excess = self.directories.len().saturating_sub(MAX_IDENTITIES);
        for dir in found.keys().take(excess) {
            self.directories.remove(dir);
        }
        while self.directories.len() > MAX_IDENTITIES {
            self.directories.pop_first();
        }
    }
}

/// Records the identities of those of the directories that exist. Identities of other directories stay, up to a limit.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn record_identities<'a>(state: &Path, dirs: impl Iterator<Item = &'a str>) -> io::Result<()> {
    let dirs: BTreeSet<&str> = dirs.collect();
    let found = dirs
        .into_iter()
        .take(MAX_IDENTITIES)
        .filter_map(|dir| Some((dir.to_owned(), DirIdentity::read(Path::new(dir))?)));
    let found: BTreeMap<String, DirIdentity> = found.collect();
    let known: IdentityRecord = state::read(&identities_file(state))?;
    let is_known = |(dir, identity): (&String, &DirIdentity)| known.directories.get(dir) == Some(identity);
    if found.iter().all(is_known) {
        return Ok(());
    }
    state::update(&identities_file(state), |record: &mut IdentityRecord| record.add(&found))
}

/// Returns the recorded identity of a directory.
fn identity_of(state: &Path, dir: &Path) -> Option<DirIdentity> {
    state::read::<IdentityRecord>(&identities_file(state)).ok()?.directories.remove(dir.to_str()?)
}

fn identities_file(state: &Path) -> PathBuf {
    state.join("directories.json")
}

/// Returns the hash of the URL of the remote `origin` in the configuration of a repository.
fn remote(dir: &Path) -> Option<u64> {
    let config = read_small(&dir.join(".git/config"), MAX_CONFIG).ok()??;
    let text = String::from_utf8(config).ok()?;
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let url = lines.by_ref().take_while(|line| !line.starts_with('['));
    let url = url.filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "url");
    url.map(|(_, url)| hash(url.trim().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(root: &Path, path: &str) -> PathBuf {
        let dir = root.join(path);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn a_directory_that_has_the_files_is_offered() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let gone = root.join("code/app");
        let touched = ["src/main.rs", "./a/../README.md", "/etc/hosts"].map(String::from);
        let moved = dir(root, "code/2026/rust/app");
        let empty = dir(root, "code/other/app");
        let elsewhere = dir(root, "elsewhere/app");
        fs::write(moved.join("README.md"), "").unwrap();
        dir(&moved, "src");
        fs::write(moved.join("src/main.rs"), "").unwrap();
        fs::write(elsewhere.join("README.md"), "").unwrap();
        let found = candidates(&gone, &touched, &[elsewhere.clone(), root.join("gone/app"), empty.clone()], None);
        let dirs: Vec<_> = found.iter().map(|one| (one.dir.clone(), one.files, one.checked)).collect();
        assert_eq!(dirs, [(moved, 2, 2), (elsewhere, 1, 2)]);
        // Without touched files, a repository is a candidate.
        assert_eq!(candidates(&gone, &[], &[], None), []);
        dir(&empty, ".git");
        assert_eq!(candidates(&gone, &[], &[], None)[0].dir, empty);
        assert_eq!(candidates(Path::new("/"), &[], &[], None), []);
    }

    #[cfg(unix)]
    #[test]
    fn a_renamed_directory_is_offered() {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("state");
        let old = dir(root.path(), "code/app");
        dir(root.path(), "code/other");
        record_identities(&state, [old.to_str().unwrap()].into_iter()).unwrap();
        let new = root.path().join("code/shop");
        fs::rename(&old, &new).unwrap();
        let touched = ["removed.rs".to_string()];
        assert_eq!(candidates(&old, &touched, &[], None), []);
        assert_eq!(candidates(&old, &touched, &[], Some(&state))[0].dir, new);
    }

    #[test]
    fn a_worktree_that_git_moved_is_offered() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let (main, tree) = (dir(root, "main"), dir(root, "deep/down/below/all/renamed"));
        dir(&main, ".git/worktrees/feature");
        fs::write(main.join(".git/worktrees/feature/gitdir"), format!("{}/.git\n", tree.display())).unwrap();
        fs::write(tree.join(".git"), "gitdir: ...").unwrap();
        let found = candidates(&root.join("feature"), &[], &[main], None);
        assert_eq!(found.into_iter().map(|one| one.dir).collect::<Vec<_>>(), [tree]);
    }

    #[test]
    fn what_is_typed_is_completed_as_far_as_it_is_clear() {
        let root = tempfile::tempdir().unwrap();
        for path in ["project", "program", "other", ".hidden"] {
            dir(root.path(), path);
        }
        fs::write(root.path().join("profile"), "").unwrap();
        let completed = |typed: &str| {
            let (path, names) = complete(&root.path().join(typed));
            let start = format!("{}/", root.path().display());
            (path.to_str().unwrap().strip_prefix(&start).unwrap().to_string(), names.join(" "))
        };
        assert_eq!(completed("p"), ("pro".into(), "program project".into()));
        assert_eq!(completed("proj"), ("project/".into(), "project".into()));
        assert_eq!(completed(".h"), (".hidden/".into(), ".hidden".into()));
        assert_eq!(completed("x"), ("x".into(), String::new()));
        let (_, names) = complete(&root.path().join(""));
        assert_eq!(names, ["other", "program", "project"]);
    }

    #[test]
    fn what_was_said_holds_while_it_is_there() {
        let root = tempfile::tempdir().unwrap();
        let (state, new) = (root.path().join("state"), dir(root.path(), "new"));
        assert_eq!(now(Some(&state), "/gone"), None);
        assert!(remember(&state, "/gone", &root.path().join("no")).is_err());
        remember(&state, "/gone", &new).unwrap();
        remember(&state, "/other", &new).unwrap();
        assert_eq!(now(Some(&state), "/gone"), Some(new.clone()));
        assert_eq!(all(&state).unwrap().len(), 2);
        let there = root.path().to_str().unwrap();
        assert_eq!(now(Some(&state), there), Some(there.into()));
        fs::remove_dir(&new).unwrap();
        assert_eq!(now(Some(&state), "/gone"), None);
    }
}

#[cfg(test)]
mod identity_tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_renamed_directory_and_another_clone_are_recognized() {
        let root = tempfile::tempdir().unwrap();
        let (state, old, new) = (root.path().join("state"), root.path().join("old"), root.path().join("new"));
        fs::create_dir_all(old.join(".git")).unwrap();
        let config = "[core]\n\tbare = false\n[remote \"origin\"]\n\tfetch = x\n\turl = git@host:app.git\n[branch]\n\turl = no\n";
        fs::write(old.join(".git/config"), config).unwrap();
        let missing = root.path().join("missing");
        record_identities(&state, [old.to_str().unwrap(), missing.to_str().unwrap()].into_iter()).unwrap();
        assert_eq!(identity_of(&state, &missing), None);
        fs::rename(&old, &new).unwrap();
        // The identity of a directory that no longer exists stays.
        record_identities(&state, [old.to_str().unwrap(), new.to_str().unwrap()].into_iter()).unwrap();
        let before = identity_of(&state, &old).unwrap();
        assert_eq!(before.remote, Some(hash(b"git@host:app.git")));
        assert!(before.is_same(&DirIdentity::read(&new).unwrap()));
        let clone = root.path().join("clone");
        fs::create_dir_all(clone.join(".git")).unwrap();
        fs::write(clone.join(".git/config"), config).unwrap();
        assert!(before.is_same(&DirIdentity::read(&clone).unwrap()));
        let other = DirIdentity::read(root.path()).unwrap();
        assert!(!before.is_same(&other) && DirIdentity::read(&missing).is_none());
    }
}
