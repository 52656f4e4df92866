//! Cache of sessions between runs: digests and searched texts of a directory. The index only saves time. Missing,
//! damaged, foreign or outdated data is read from the sessions again, and deleting the index loses nothing.
//!
//! A filter of each segment narrows the sessions in which a search must look: see [`filter`].
//!
//! An index is a list of segments: see [`list`]. Additions are written to a new segment, and [`merging`] combines
//! segments, so that small changes need small writes. Data is only used if it is verifiably correct: the session file
//! has the recorded version, each piece has the recorded hash, and the index file has the right owner and format.
//!
//! The index must not contain text that its session files no longer contain: such text is overwritten at once. See
//! [`segment::RowUse::Stale`].

mod cleanup;
mod filter;
mod list;
mod merging;
mod open_index;
mod segment;
mod segment_draft;
mod segment_file;
mod table;
mod writing;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(super) use cleanup::related;
pub(crate) use cleanup::{clean_up, clear};
pub use list::IndexPlace;
pub(super) use merging::MergeScope;
pub(super) use open_index::{Index, real};
pub(super) use segment::DirRecords;

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
        list::remove(&self.paths)
    }

    /// Returns the state of the index of a directory for a home directory.
    pub(crate) fn new(cache: &Path, dir: &Path, home: &str) -> Self {
        let Index { files, segments, .. } = Index::open(IndexPlace::from(cache), dir, home);
        let stamps = segments.iter().flat_map(|segment| segment.table().stamps());
        let sessions: HashSet<(u64, u64)> = stamps.map(|stamp| stamp.file).collect();
        let bytes = segments.iter().filter_map(|segment| Some(fs::metadata(files.segment(segment.number)).ok()?.len()));
        Self { dir: real(dir), paths: files.existing(), bytes: bytes.sum(), sessions: sessions.len() }
    }
}
