//! What tells that a file is still the one that was read: the file system's word for it, finer than what is shown.

use std::fs::Metadata;
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::session::links::IdHash;
use crate::system::{self, FileFacts};

/// What the file system says of a file. Where it is the same, so is the file, unless it was written to again within the
/// grain of its clock: see [`FileVersion::is_settled`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileVersion {
    /// The file system and its number for the file; where there are none, a hash of the path.
    pub(crate) file: (u64, u64),
    /// Its length in bytes.
    pub(crate) bytes: u64,
    /// When it was written, in nanoseconds since 1970.
    written: i64,
    /// When anything about it changed: unlike the time before, nobody can set it. Its replacement, too, has another one.
    changed: i64,
}

/// Twice the longest tick of a kernel by which files are dated, in nanoseconds.
const TICK: i64 = 20_000_000;

/// As long the clocks of file systems may stand that count in milliseconds, seconds, or two of them (FAT), and a bit.
const COARSE: i64 = 2_100_000_000;

impl FileVersion {
    /// The stamp of the file at a path.
    pub(crate) fn new(metadata: &Metadata, path: &Path) -> Self {
        Self::of(&system::files::facts(metadata), path)
    }

    /// The same by what the file system says of it.
    pub(crate) fn of(facts: &FileFacts, path: &Path) -> Self {
        Self {
            file: facts.file.unwrap_or_else(|| (0, hash(path.as_os_str().as_encoded_bytes()))),
            bytes: facts.bytes,
            written: facts.written,
            changed: facts.changed,
        }
    }

    /// What a file is looked up by; another one may have the same.
    pub(crate) fn key(&self) -> IdHash {
        IdHash::number(self.file.0).with(IdHash::number(self.file.1))
    }

    /// When it was written, in milliseconds since 1970.
    pub(crate) fn mtime(&self) -> i64 {
        self.written.div_euclid(1_000_000)
    }

    /// Whether whoever writes to the file after `then`, the stamp of a file made at that time, leaves another stamp. Of a
    /// file that was written just before, or at a time that is still to come, that is not certain.
    pub(crate) fn is_settled(&self, then: &Self) -> bool {
        let is_fine = self.changed % 1_000_000 != 0 && then.changed % 1_000_000 != 0;
        let grain = if is_fine { TICK } else { COARSE };
        self.written.max(self.changed) < then.changed.saturating_sub(grain)
    }

    /// Whether this may be the file of another stamp with something added to it.
    pub(crate) fn has_grown_from(&self, before: &Self) -> bool {
        self.file == before.file && self.bytes > before.bytes
    }
}

/// A hash that tells damage, and files apart; not for what somebody wants to be the same.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}
