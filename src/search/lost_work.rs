//! Which sessions have lost work, for `is:lost`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::session::links::EntryIndex;

/// The lost lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostFile {
    /// The path, relative to the working directory of the session.
    pub name: String,
    /// The number of different lines.
    pub lines: usize,
}

/// Lines that a session brought and that are neither in the working tree nor in a tip of git's refs, without their text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostWork {
    /// The ends of the branches with such lines, the newest first.
    pub ends: Vec<EntryIndex>,
    /// The files with such lines at one of these ends, those with the most lines first.
    pub files: Vec<LostFile>,
}

/// The lost work of sessions by file; sessions without lost work are not contained.
#[derive(Debug, Default)]
pub struct LostSessions(pub HashMap<PathBuf, LostWork>);

impl LostSessions {
    /// Returns the ends of the branches of a session with lost work; empty if there are none.
    pub(crate) fn ends(&self, path: &Path) -> &[EntryIndex] {
        self.0.get(path).map_or(&[], |lost| &lost.ends)
    }
}
