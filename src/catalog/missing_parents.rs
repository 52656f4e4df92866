//! Missing sessions that other sessions were forked from. They group their forks.

use std::path::{Path, PathBuf};

use crate::catalog::key::SessionKey;
use crate::session::links::{ById, IdHash};

/// The minimum number of forks for a group. A single fork shows by itself that its parent is missing.
const MIN_FORKS: usize = 2;

/// A missing session, identified by its former path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MissingParentKey(pub(super) IdHash);

/// A missing session.
#[derive(Clone, Debug)]
pub struct MissingParent {
    /// The former path of its file.
    pub path: PathBuf,
    /// The sessions forked from it, oldest first.
    pub forks: Vec<SessionKey>,
}

impl MissingParentKey {
    /// Creates the key of a path.
    pub(super) fn new(path: &Path) -> Self {
        Self(IdHash::new(path.as_os_str().as_encoded_bytes()))
    }
}

/// Groups forks by their missing parents. `orphans` are sorted, oldest first.
pub(super) fn group<'a>(orphans: impl Iterator<Item = (SessionKey, &'a Path)>) -> ById<MissingParent> {
    let mut parents: ById<MissingParent> = ById::default();
    for (key, path) in orphans {
        let parent = parents.entry(MissingParentKey::new(path).0);
        parent.or_insert_with(|| MissingParent { path: path.into(), forks: Vec::new() }).forks.push(key);
    }
    parents.retain(|_, parent| parent.forks.len() >= MIN_FORKS);
    parents
}

/// Returns the id in the name of a session file of pi: `<time>_<id>.jsonl` (1.5.2).
pub(crate) fn id_in_name(path: &Path) -> Option<&str> {
    Some(path.file_stem()?.to_str()?.split_once('_')?.1)
}
