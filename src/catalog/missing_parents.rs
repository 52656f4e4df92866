//! Sessions that are gone, as far as those tell that were forked from them: they keep their forks together.

use std::path::{Path, PathBuf};

use crate::catalog::key::SessionKey;
use crate::session::links::{ById, IdHash};

/// The fewest forks that are kept together: a single one says by itself that its parent is gone.
const FEWEST: usize = 2;

/// A session that is gone, by the path that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MissingParentKey(IdHash);

/// A session that is gone.
#[derive(Clone, Debug)]
pub struct MissingParent {
    /// Where its file was.
    pub path: PathBuf,
    /// The sessions that were forked from it, the oldest first.
    pub forks: Vec<SessionKey>,
}

/// The sessions that are gone.
#[derive(Debug, Default)]
pub(super) struct MissingParents(ById<MissingParent>);

impl MissingParentKey {
    /// The one whose file was at a path.
    pub(super) fn new(path: &Path) -> Self {
        Self(IdHash::new(path.as_os_str().as_encoded_bytes()))
    }
}

impl MissingParents {
    /// Of these sessions, the oldest first, whose parents are gone.
    pub(super) fn new<'a>(orphans: impl Iterator<Item = (SessionKey, &'a Path)>) -> Self {
        let mut ghosts: ById<MissingParent> = ById::default();
        for (key, path) in orphans {
            let ghost = ghosts.entry(MissingParentKey::new(path).0);
            ghost.or_insert_with(|| MissingParent { path: path.into(), forks: Vec::new() }).forks.push(key);
        }
        ghosts.retain(|_, ghost| ghost.forks.len() >= FEWEST);
        Self(ghosts)
    }

    /// One of them.
    pub(super) fn get(&self, key: MissingParentKey) -> Option<&MissingParent> {
        self.0.get(&key.0)
    }
}

/// The id in the name that pi gives to a session file: `<time>_<id>.jsonl` (1.5.2).
pub(crate) fn id_in_name(path: &Path) -> Option<&str> {
    Some(path.file_stem()?.to_str()?.split_once('_')?.1)
}
