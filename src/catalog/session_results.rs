//! Reads session files in parallel, and keeps results that are computed once for each version of a file next to the index.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::disk::fingerprint::{FileMetadata, hash};
use crate::disk::parallel::{self, StopSignal};
use crate::disk::scan::Unreadable;
use crate::disk::{create, files, new_file};

/// Calls `work` for each item in parallel. `path` returns its file, and `report` gets the number of items done until it
/// returns `false`. Returns the results in any order, and the files that could not be read.
pub(super) fn read_files<T: Sync, R: Send>(
    items: &[T],
    path: impl Fn(&T) -> &Path + Sync,
    work: impl Fn(&T, &mut Vec<u8>, StopSignal<'_>) -> io::Result<R> + Sync,
    mut report: impl FnMut(usize) -> bool,
) -> (Vec<R>, Vec<Unreadable>) {
    let read = |item: &T, buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
        Some(work(item, buffer, stop).map_err(|error| Unreadable::new(path(item), &error)))
    };
    let lost = |item: &T, reason: String| Some(Err(Unreadable::new(path(item), &reason)));
    let (mut results, mut unreadable) = (Vec::new(), Vec::new());
    parallel::each(items, (read, lost), |batch, done| {
        for result in batch {
            match result {
                Ok(result) => results.push(result),
                Err(error) => unreadable.push(error),
            }
        }
        report(done)
    });
    (results, unreadable)
}

/// The number of sessions that are kept in addition to twice the searched ones, such as those of other directories.
const MAX_OTHERS: usize = 1000;

/// The results for sessions.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionResults<T> {
    form: u32,
    /// A hash of what the results depend on besides the sessions.
    basis: u64,
    /// The version of each session file and its result, by the hash of the path.
    pub(super) results: HashMap<u64, (u64, T)>,
    /// The file of the results; `None` to keep them in memory only.
    #[serde(skip)]
    place: Option<PathBuf>,
    /// `true` if they differ from their file.
    #[serde(skip)]
    pub(super) is_changed: bool,
}

/// A result that still holds (`None`), or a new one.
pub(super) type FoundResult<T> = Option<T>;

impl<T: Serialize + DeserializeOwned + Send + Sync> SessionResults<T> {
    /// Reads the results in a file, if they have the format version `form` and the same `basis`.
    pub(super) fn read(place: Option<PathBuf>, form: u32, basis: u64) -> Self {
        let bytes = place.as_deref().and_then(|place| files::read_regular(place).ok());
        let known = bytes.and_then(|bytes| postcard::from_bytes(&bytes).ok());
        let known = known.filter(|known: &Self| (known.form, known.basis) == (form, basis));
        let known =
            known.unwrap_or_else(|| Self { form, basis, results: HashMap::new(), place: None, is_changed: false });
        Self { place, ..known }
    }

    /// Returns the known result for the current version of a session file, and stores a new one. `find` returns `None` if
    /// there is no result now.
    pub(super) fn update_one(
        &mut self,
        path: &Path,
        find: impl FnOnce(Option<&T>) -> Option<FoundResult<T>>,
    ) -> Option<&T> {
        let (key, version) = (key(path), version(path)?);
        let new = find(self.known(key, version))?;
        self.add(key, version, new);
        self.results.get(&key).map(|(_, result)| result)
    }

    /// Finds the results for sessions in parallel; `path` returns their files. `find` gets the known result for the current
    /// version of the file, and returns `None` if there is no result now. `report` gets the numbers of sessions done and of
    /// all. Returns the results with their files, or `None` if `report` returned `false`.
    pub(super) fn update<S: Sync>(
        &mut self,
        sessions: &[S],
        path: impl Fn(&S) -> &PathBuf + Sync,
        find: impl Fn(&S, Option<&T>, &mut Vec<u8>, StopSignal<'_>) -> Option<FoundResult<T>> + Sync,
        mut report: impl FnMut(usize, usize) -> bool,
    ) -> Option<Vec<(PathBuf, &T)>> {
        let known = &*self;
        let work = |session: &S, buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
            let (key, version) = (key(path(session)), version(path(session))?);
            Some((key, version, find(session, known.known(key, version), buffer, stop)?))
        };
        let (mut found, mut is_complete) = (Vec::new(), true);
        parallel::each(sessions, (work, |_: &S, _| None), |batch, done| {
            found.extend(batch);
            is_complete = report(done, sessions.len());
            is_complete
        });
        let mut current = HashSet::new();
        for (key, version, new) in found {
            self.add(key, version, new);
            current.insert(key);
        }
        let result = |session: &S| {
            let (_, result) = self.results.get(current.get(&key(path(session)))?)?;
            Some((path(session).clone(), result))
        };
        is_complete.then(|| sessions.iter().filter_map(result).collect())
    }

    fn known(&self, key: u64, version: u64) -> Option<&T> {
        self.results.get(&key).filter(|(known, _)| *known == version).map(|(_, result)| result)
    }

    fn add(&mut self, key: u64, version: u64, new: FoundResult<T>) {
        self.is_changed |= new.is_some();
        self.results.extend(new.map(|new| (key, (version, new))));
    }

    /// Writes new results to a file that only this user can read. Forgets files other than these if there are many, because
    /// they may be gone; a search in one session forgets none.
    pub(super) fn save<'a>(&mut self, paths: impl ExactSizeIterator<Item = &'a PathBuf>) {
        let Some(place) = self.place.clone().filter(|_| self.is_changed) else { return };
        if paths.len() > 1 && self.results.len() > 2 * paths.len() + MAX_OTHERS {
            let known: HashSet<u64> = paths.map(|path| key(path)).collect();
            self.results.retain(|path, _| known.contains(path));
        }
        // If they cannot be written, they are computed again.
        let written = postcard::to_allocvec(self).map_err(io::Error::other).and_then(|bytes| {
            place.parent().map_or(Ok(()), create::private_folder)?;
            new_file::replace(&place, &bytes)
        });
        self.is_changed = written.is_err();
    }
}

/// Returns the hash of a path.
pub(super) fn key(path: &Path) -> u64 {
    hash(path.as_os_str().as_encoded_bytes())
}

/// Returns a hash of the version of a file, or `None` if it is inaccessible.
fn version(path: &Path) -> Option<u64> {
    let FileMetadata { file, bytes, written, changed } = FileMetadata::of(path).ok()?;
    let numbers = [file.0, file.1, bytes, written as u64, changed as u64];
    Some(hash(&numbers.map(u64::to_le_bytes).concat()))
}
