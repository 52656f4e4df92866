//! The identities of working directories while they exist: inode and git remote. They find a directory again that was
//! renamed. Stored in `directories.json` in the state directory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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

type Identities = BTreeMap<String, DirIdentity>;

/// Records the identities of those of the directories that exist. Identities of other directories stay, up to a limit.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn record<'a>(state: &Path, dirs: impl Iterator<Item = &'a str>) -> io::Result<()> {
    let found = dirs.filter_map(|dir| Some((dir.to_owned(), DirIdentity::read(Path::new(dir))?)));
    let found: Identities = found.take(MOST).collect();
    let known: Identities = state::read(&file(state))?;
    if found.iter().all(|(dir, identity)| known.get(dir) == Some(identity)) {
        return Ok(());
    }
    state::update(&file(state), |all: &mut Identities| {
        all.extend(found);
        while all.len() > MOST {
            all.pop_first();
        }
    })
}

/// Returns the recorded identity of a directory.
pub(crate) fn of(state: &Path, dir: &Path) -> Option<DirIdentity> {
    state::read::<Identities>(&file(state)).ok()?.remove(dir.to_str()?)
}

fn file(state: &Path) -> PathBuf {
    state.join("directories.json")
}

/// Returns the hash of the URL of the remote `origin` in the configuration of a repository.
fn remote(dir: &Path) -> Option<u64> {
    let mut text = String::new();
    let config = dir.join(".git/config");
    File::open(config.is_file().then_some(config)?).ok()?.take(MOST_CONFIG).read_to_string(&mut text).ok()?;
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
