//! Missing sessions that other sessions were forked from. They group their forks.

use std::path::{Path, PathBuf};

use crate::catalog::key::SessionKey;
use crate::session::links::{ById, IdHash};

/// The minimum number of forks for a group. A single fork shows by itself that its parent is missing.
const FEWEST: usize = 2;

/// A missing session, identified by its former path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MissingParentKey(IdHash);

/// A missing session.
#[derive(Clone, Debug)]
pub struct MissingParent {
    /// The former path of its file.
    pub path: PathBuf,
    /// The sessions forked from it, oldest first.
    pub forks: Vec<SessionKey>,
}

/// All missing parents.
#[derive(Debug, Default)]
pub(super) struct MissingParents(ById<MissingParent>);

impl MissingParentKey {
    /// Creates the key of a path.
    pub(super) fn new(path: &Path) -> Self {
        Self(IdHash::new(path.as_os_str().as_encoded_bytes()))
    }
}

impl MissingParents {
    /// Groups sessions with missing parents, oldest first.
    pub(super) fn new<'a>(orphans: impl Iterator<Item = (SessionKey, &'a Path)>) -> Self {
        let mut ghosts: ById<MissingParent> = ById::default();
        for (key, path) in orphans {
            let ghost = ghosts.entry(MissingParentKey::new(path).0);
            ghost.or_insert_with(|| MissingParent { path: path.into(), forks: Vec::new() }).forks.push(key);
        }
        ghosts.retain(|_, ghost| ghost.forks.len() >= FEWEST);
        Self(ghosts)
    }

    /// Returns a missing parent.
    pub(super) fn get(&self, key: MissingParentKey) -> Option<&MissingParent> {
        self.0.get(&key.0)
    }
}

/// Returns the id in the name of a session file of pi: `<time>_<id>.jsonl` (1.5.2).
pub(crate) fn id_in_name(path: &Path) -> Option<&str> {
    Some(path.file_stem()?.to_str()?.split_once('_')?.1)
}
