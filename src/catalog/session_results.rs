//! Results that are computed once for each version of a session file, and kept in a file next to the index.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk::fingerprint::{FileVersion, hash};
use crate::disk::{create, files, new_file};

/// The number of sessions that are kept in addition to twice the searched ones, such as those of other directories.
const MOST_OTHERS: usize = 1000;

/// Reads results. Returns `None` if there are none, or in another format.
pub(super) fn read<T: DeserializeOwned>(place: &Path) -> Option<T> {
    postcard::from_bytes(&files::read_regular(place).ok()?).ok()
}

/// Writes results to a file that only this user can read.
pub(super) fn write(place: &Path, results: &impl Serialize) -> io::Result<()> {
    place.parent().map_or(Ok(()), create::private_folder)?;
    let bytes = postcard::to_allocvec(results).map_err(io::Error::other)?;
    new_file::replace(place, &bytes)
}

/// Forgets files other than these if there are many, because they may be gone. A search in one session forgets none.
pub(super) fn forget_others<'a, T>(results: &mut HashMap<u64, T>, paths: impl ExactSizeIterator<Item = &'a PathBuf>) {
    if paths.len() > 1 && results.len() > 2 * paths.len() + MOST_OTHERS {
        let known: HashSet<u64> = paths.map(|path| key(path)).collect();
        results.retain(|path, _| known.contains(path));
    }
}

/// Returns the hash of a path.
pub(super) fn key(path: &Path) -> u64 {
    hash(path.as_os_str().as_encoded_bytes())
}

/// Returns a hash of the version of a file, or `None` if it is inaccessible.
pub(super) fn version(path: &Path) -> Option<u64> {
    FileVersion::of(path).ok().as_ref().map(version_hash)
}

/// Returns a hash of a version.
fn version_hash(FileVersion { file, bytes, written, changed }: &FileVersion) -> u64 {
    let numbers = [file.0, file.1, *bytes, *written as u64, *changed as u64];
    hash(&numbers.map(u64::to_le_bytes).concat())
}
