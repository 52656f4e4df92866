//! The identities of working directories while they exist: inode and git remote. They find a directory again that was
//! renamed. Stored in `directories.json` in the state directory.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::disk::files::read_small;
use crate::disk::fingerprint::{FileVersion, hash};
use crate::disk::state;

/// The maximum number of recorded directories.
const MOST: usize = 5_000;

/// The maximum number of bytes read of the configuration of a repository.
const MOST_CONFIG: u64 = 64 * 1024;

/// The identity of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirIdentity {
    /// The device number.
    device: u64,
    inode: u64,
    /// The hash of the URL of the git remote `origin`, which can have a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remote: Option<u64>,
}

impl DirIdentity {
    /// Reads the identity of an existing directory.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        let (device, inode) = FileVersion::of(dir).ok().filter(|_| dir.is_dir())?.file;
        Some(Self { device, inode, remote: remote(dir) })
    }

    /// Returns `true` if this is the same directory with another name, or another clone of the repository.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_inode = (self.device, self.inode) == (other.device, other.inode);
        is_inode || (self.remote.is_some() && self.remote == other.remote)
    }
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// The identities by directory.
    #[serde(default)]
    directories: BTreeMap<String, DirIdentity>,
    /// Fields of a newer pitree, preserved.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Record {
    /// Adds identities, and limits their number. Those of directories that exist are removed first, because they can be read
    /// again.
    fn add(&mut self, found: &BTreeMap<String, DirIdentity>) {
        self.directories.extend(found.clone());
        let excess = self.directories.len().saturating_sub(MOST);
        for dir in found.keys().take(excess) {
            self.directories.remove(dir);
        }
        while self.directories.len() > MOST {
            self.directories.pop_first();
        }
    }
}

/// Records the identities of those of the directories that exist. Identities of other directories stay, up to a limit.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn record<'a>(state: &Path, dirs: impl Iterator<Item = &'a str>) -> io::Result<()> {
    let dirs: BTreeSet<&str> = dirs.collect();
    let found =
        dirs.into_iter().take(MOST).filter_map(|dir| Some((dir.to_owned(), DirIdentity::read(Path::new(dir))?)));
    let found: BTreeMap<String, DirIdentity> = found.collect();
    let known: Record = state::read(&file(state))?;
    let is_known = |(dir, identity): (&String, &DirIdentity)| known.directories.get(dir) == Some(identity);
    if found.iter().all(is_known) {
        return Ok(());
    }
    state::update(&file(state), |record: &mut Record| record.add(&found))
}

/// Returns the recorded identity of a directory.
pub(crate) fn of(state: &Path, dir: &Path) -> Option<DirIdentity> {
    state::read::<Record>(&file(state)).ok()?.directories.remove(dir.to_str()?)
}

fn file(state: &Path) -> PathBuf {
    state.join("directories.json")
}

/// Returns the hash of the URL of the remote `origin` in the configuration of a repository.
fn remote(dir: &Path) -> Option<u64> {
    let config = read_small(&dir.join(".git/config"), MOST_CONFIG).ok()??;
    let text = String::from_utf8(config).ok()?;
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let url = lines.by_ref().take_while(|line| !line.starts_with('['));
    let url = url.filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "url");
    url.map(|(_, url)| hash(url.trim().as_bytes()))
}

#[cfg(test)]
mod tests {
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
        record(&state, [old.to_str().unwrap(), missing.to_str().unwrap()].into_iter()).unwrap();
        assert_eq!(of(&state, &missing), None);
        fs::rename(&old, &new).unwrap();
        // The identity of a directory that no longer exists stays.
        record(&state, [old.to_str().unwrap(), new.to_str().unwrap()].into_iter()).unwrap();
        let before = of(&state, &old).unwrap();
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
