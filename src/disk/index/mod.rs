//! Cache of sessions between runs: digests and searched texts of a directory. The index only saves time. Missing,
//! damaged, foreign or outdated data is read from the sessions again, and deleting the index loses nothing.
//!
//! A filter of each segment narrows the sessions in which a search must look: see [`filter`].
//!
//! An index is a table with facts about each session (see [`table`]), and segments with the rest of their data. Additions are
//! written to a new segment and a new table, so that small changes need small writes: see [`changes`]. Data is only used
//! if it is verifiably correct: the session file has the recorded version, each piece has the recorded hash, and the files
//! have the right owner and format.
//!
//! The index must not contain text that its session files no longer contain: such text is overwritten at once. See
//! [`open_index::RowUse::Stale`].

mod additions;
mod changes;
mod files;
mod filter;
mod open_index;
mod segment_file;
mod stored;
mod table;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

pub(super) use changes::MergeScope;
pub use files::IndexPlace;
pub(super) use files::related;
pub(crate) use files::{clean_up, clear};
pub(super) use open_index::{SessionIndex, canonical};

/// The minimum size in bytes of a file for which reading continues at the previous end.
pub(super) const WORTH_GOING_ON: u64 = 1 << 20;

/// The state of the index of a directory.
#[derive(Clone, Debug)]
pub(crate) struct IndexFacts {
    /// The directory with symbolic links resolved.
    pub(crate) dir: PathBuf,
    /// The paths of its existing files.
    pub(crate) paths: Vec<PathBuf>,
    /// The sizes of the usable files in bytes.
    pub(crate) bytes: u64,
    /// The number of sessions in the index.
    pub(crate) sessions: usize,
}

impl IndexFacts {
    /// Removes the files. Returns their number and their total size in bytes.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(crate) fn remove(&self) -> io::Result<(usize, u64)> {
        files::remove(&self.paths)
    }

    /// Returns the state of the index of a directory for a home directory.
    pub(crate) fn new(cache: &Path, dir: &Path, home: &str) -> Self {
        let SessionIndex { files, stored, .. } = SessionIndex::open(IndexPlace::from(cache), dir, home);
        let sessions: HashSet<(u64, u64)> = stored.table.files().collect();
        let table = files.table.metadata().ok().filter(|_| !stored.files.is_empty());
        let segments = stored.files.iter().filter_map(|file| file.file.metadata().ok());
        let bytes = segments.chain(table).map(|found| found.len());
        Self { dir: canonical(dir), paths: files.existing(), bytes: bytes.sum(), sessions: sessions.len() }
    }
}
