//! The version of a file according to file system metadata, more precise than displayed times.

use std::fs::Metadata;
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::session::links::IdHash;
use crate::system::{self, FileFacts};

/// File system metadata. If it is equal, the file is unchanged, unless it was written again within the granularity of
/// its timestamps: see [`FileVersion::is_settled`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileVersion {
    /// The device and inode number, or a hash of the path.
    pub(crate) file: (u64, u64),
    /// The length in bytes.
    pub(crate) bytes: u64,
    /// The modification time in nanoseconds since 1970.
    written: i64,
    /// The change time. Unlike the modification time, programs cannot set it, and a replaced file has another one.
    changed: i64,
}

/// Twice the longest timestamp granularity of a kernel, in nanoseconds.
const TICK: i64 = 20_000_000;

/// The granularity of file systems that count in milliseconds, seconds or two seconds (FAT), plus a margin.
const COARSE: i64 = 2_100_000_000;

impl FileVersion {
    /// Returns the version of the file at a path.
    pub(crate) fn new(metadata: &Metadata, path: &Path) -> Self {
        Self::of(&system::files::facts(metadata), path)
    }

    /// Returns the version from file system metadata.
    pub(crate) fn of(facts: &FileFacts, path: &Path) -> Self {
        Self {
            file: facts.file.unwrap_or_else(|| (0, hash(path.as_os_str().as_encoded_bytes()))),
            bytes: facts.bytes,
            written: facts.written,
            changed: facts.changed,
        }
    }

    /// Returns a hash for lookup; other files can have the same hash.
    pub(crate) fn key(&self) -> IdHash {
        IdHash::number(self.file.0).with(IdHash::number(self.file.1))
    }

    /// Returns the modification time in milliseconds since 1970.
    pub(crate) fn mtime(&self) -> i64 {
        self.written.div_euclid(1_000_000)
    }

    /// Returns `true` if every write after `then`, the version of a file created at that time, changes this version.
    /// Uncertain for a file written just before, or with a time in the future.
    pub(crate) fn is_settled(&self, then: &Self) -> bool {
        let is_fine = self.changed % 1_000_000 != 0 && then.changed % 1_000_000 != 0;
        let grain = if is_fine { TICK } else { COARSE };
        self.written.max(self.changed) < then.changed.saturating_sub(grain)
    }

    /// Returns `true` if this can be the version of the same file after an append.
    pub(crate) fn has_grown_from(&self, before: &Self) -> bool {
        self.file == before.file && self.bytes > before.bytes
    }
}

/// Returns a hash that detects damage and distinguishes files. Not collision-resistant against attackers.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}
