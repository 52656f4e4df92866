//! Scans all session files in parallel and reports digests in batches: first from the index, then from the files,
//! newest first.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use crate::disk::digest::{self, ScanOptions};
use crate::disk::files;
use crate::disk::find::IndexedFile;
pub use crate::disk::find::{FoundFiles, SessionFile, Unreadable, find, milliseconds, one};
use crate::disk::index::{self, Index, WORTH_GOING_ON};
use crate::disk::lines;
use crate::disk::parallel;
use crate::session::digest::{Digest, SharedDigest, SubagentOwner};
use crate::session::lines::Header;

/// The results since the last batch.
#[derive(Clone, Debug, Default)]
pub struct ScanBatch {
    /// The sessions.
    pub sessions: Vec<SharedDigest>,
    /// The files that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// The number of files processed so far, including those that are not sessions.
    pub done: usize,
}

/// The session directories and the parameters for reading them.
#[derive(Clone, Copy, Debug)]
pub struct ScanSources<'a> {
    /// The session directories.
    pub dirs: &'a [PathBuf],
    /// The home directory; in tool calls, paths below it start with `~`.
    pub home: &'a str,
    /// The directory of the index; `None` to ignore the index.
    pub cache: Option<&'a Path>,
}

/// The files of a scan.
#[derive(Debug)]
pub struct Scan<'a> {
    sources: ScanSources<'a>,
    /// The files found.
    pub found: FoundFiles,
    /// The files of shown sessions that have changed; those that are not read again are missing.
    pub outdated: Vec<PathBuf>,
    /// The index of each directory.
    index: Vec<Index>,
    /// Indexes of directories inside or around these. Text of missing sessions must be removed from them too.
    related: Vec<Index>,
    real: RealPaths,
}

impl<'a> ScanSources<'a> {
    /// Finds the files.
    pub fn scan(self) -> Scan<'a> {
        let (found, index) = thread::scope(|scope| {
            let index = scope.spawn(|| self.index());
            (find(self.dirs), index.join().unwrap_or_default())
        });
        self.with(index).look(found)
    }

    /// Finds the files to rebuild the index from all of them.
    pub fn rebuild(self) -> Scan<'a> {
        let empty = |cache| self.dirs.iter().map(|dir| Index::empty(cache, dir, self.home)).collect();
        self.with(self.cache.map_or_else(Vec::new, empty)).scan()
    }

    /// Opens only the index.
    pub fn remembered(self) -> Scan<'a> {
        self.with(self.index())
    }

    /// Scans specific files without the index.
    pub fn of(self, files: Vec<SessionFile>) -> Scan<'a> {
        self.with(Vec::new()).look(FoundFiles { files, unreadable: Vec::new() })
    }

    /// Scans one file; empty if it is missing.
    pub fn one(self, path: &Path) -> Scan<'a> {
        self.of(one(path, None).into_iter().collect())
    }

    fn with(self, index: Vec<Index>) -> Scan<'a> {
        let (found, outdated, related, real) = Default::default();
        Scan { sources: self, found, outdated, index, related, real }
    }

    fn index(&self) -> Vec<Index> {
        let Some(cache) = self.cache else { return Vec::new() };
        self.dirs.iter().map(|dir| Index::open(cache, dir, self.home)).collect()
    }
}

impl Scan<'_> {
    /// Returns the sessions as last read; some may have changed or be missing. The following scan skips those that are
    /// unchanged.
    pub fn sessions(&mut self) -> Vec<SharedDigest> {
        let real = &self.real;
        let complete = |file, digest| complete(file, digest, real);
        self.index.iter_mut().flat_map(|index| index.show(complete)).collect()
    }

    /// Finds the files.
    #[must_use]
    pub fn scan(self) -> Self {
        let found = find(self.sources.dirs);
        self.look(found)
    }

    /// Compares the files with the index.
    fn look(self, mut found: FoundFiles) -> Self {
        let Self { sources, mut index, mut related, real, .. } = self;
        if let Some(cache) = sources.cache.filter(|_| !index.is_empty()) {
            let dirs: Vec<PathBuf> = sources.dirs.iter().map(|dir| index::real(dir)).collect();
            let open = |dir: &PathBuf| Index::open(cache, dir, sources.home);
            related = index::related(cache, &dirs).iter().map(open).collect();
            for (dir, index) in (0..).map(Some).zip(&mut index).chain(related.iter_mut().map(|index| (None, index))) {
                index.look(dir, &dirs, &mut found.files);
            }
        }
        let mut outdated: Vec<PathBuf> = index.iter().flat_map(Index::outdated).map(Path::to_path_buf).collect();
        if index.len() > 1 && !outdated.is_empty() {
            // For nested session directories, the index of another directory may contain the file.
            let same = found.files.iter().filter(|file| matches!(file.known, IndexedFile::Same(_)));
            let same: HashSet<&Path> = same.map(|file| file.path.as_path()).collect();
            outdated.retain(|path| !same.contains(path.as_path()));
        }
        Self { sources, found, outdated, index, related, real }
    }

    /// Removes and returns the files of subagent sessions.
    pub fn skip_subagents(&mut self) -> Vec<SessionFile> {
        let (rest, subagents) =
            std::mem::take(&mut self.found.files).into_iter().partition(|file| file.owner.is_none());
        self.found.files = rest;
        subagents
    }

    /// Reads digests of the files that were not shown yet, and reports them in batches until all are done or `batch`
    /// returns `false`. Returns the number of files that were not in the index.
    pub fn read(&mut self, mut batch: impl FnMut(ScanBatch) -> bool) -> usize {
        let files = std::mem::take(&mut self.found.files);
        let (index, sources, real, all) = (&self.index, &self.sources, &self.real, files.len());
        let known = parallel::map(files, |file| {
            let Some(index) = index.get(file.dir) else { return Err(Box::new(file)) };
            let place = match file.known {
                IndexedFile::Same(place) if index.is_shown(place) => return Ok(None),
                IndexedFile::Same(place) => place,
                IndexedFile::Moved(place) => {
                    index.keep_moved(place, &file);
                    place
                }
                IndexedFile::Before(_) | IndexedFile::Nothing => return Err(Box::new(file)),
            };
            match index.digest(place) {
                Some(digest) => Ok(digest.map(|digest| Arc::new(complete(file, digest, real)))),
                None => Err(Box::new(file)),
            }
        });
        let (mut sessions, mut rest) = (Vec::new(), Vec::new());
        for known in known {
            match known {
                Ok(session) => sessions.extend(session),
                Err(file) => rest.push(*file),
            }
        }
        let before = all - rest.len();
        if before > 0 && !batch(ScanBatch { sessions, unreadable: Vec::new(), done: before }) {
            return rest.len();
        }
        let work = |found: &SessionFile, buffer: &mut Vec<u8>, stop: parallel::StopSignal<'_>| {
            let digest = sources.digest(found, (index.get(found.dir), real), buffer, stop);
            digest.map(|digest| digest.map(Arc::new)).transpose()
        };
        let lost = |found: &SessionFile, reason: String| Some(Err(Unreadable::new(&found.path, &reason)));
        parallel::each(&rest, (work, lost), |results, done| {
            let (sessions, unreadable): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
            let sessions = sessions.into_iter().flatten().collect();
            let unreadable = unreadable.into_iter().filter_map(Result::err).collect();
            batch(ScanBatch { sessions, unreadable, done: before + done })
        });
        rest.len()
    }

    /// Returns the headers of the session files. Reads only the header of files that are not in the index.
    pub(crate) fn headers(&self) -> Vec<(&SessionFile, Header)> {
        let mut buffer = Vec::new();
        let mut read = |file: &SessionFile| {
            lines::head(&mut files::session(&file.path).ok()??, &mut buffer).ok()?.header().cloned()
        };
        let mut header = |file: &SessionFile| {
            let known = match file.known {
                IndexedFile::Same(place) | IndexedFile::Moved(place) => self.index[file.dir].digest(place),
                IndexedFile::Before(_) | IndexedFile::Nothing => None,
            };
            known.map_or_else(|| read(file), |digest| digest.map(|digest| digest.header))
        };
        self.found.files.iter().filter_map(|file| header(file).map(|header| (file, header))).collect()
    }

    /// Adds the sessions to the index, and removes text that no session file contains any more.
    ///
    /// # Errors
    /// The index cannot be written; the next scan takes longer.
    pub fn keep(self) -> io::Result<()> {
        let written: Vec<_> = self.index.into_iter().chain(self.related).map(Index::finish).collect();
        written.into_iter().collect()
    }
}

impl ScanSources<'_> {
    /// Reads the digest of one file. Returns `None` if it is not a session or reading was canceled.
    fn digest(
        &self,
        found: &SessionFile,
        (index, real): (Option<&Index>, &RealPaths),
        buffer: &mut Vec<u8>,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Option<Digest>, Unreadable> {
        let (bytes, mtime) = found.version();
        let before = match found.known {
            IndexedFile::Before(place) if bytes >= WORTH_GOING_ON => index.and_then(|index| index.before(place)),
            _ => None,
        };
        let wishes = ScanOptions { texts: index.is_some(), state: index.is_some() && bytes >= WORTH_GOING_ON, before };
        let read = digest::read(self.home, (&found.path, mtime), wishes, buffer, &is_stopped);
        let mut read = read.map_err(|error| Unreadable::file(&found.path, &error))?;
        if let Some(index) = index.filter(|_| !is_stopped()) {
            index.keep(found, read.as_mut());
        }
        Ok(read.map(|session| complete(found.clone(), session.digest, real)))
    }
}

/// Adds the metadata of a file to its digest.
pub(super) fn complete(found: SessionFile, digest: Digest, real: &RealPaths) -> Digest {
    let parent = digest.header.parent_session.as_ref().map(Path::new);
    let parent_path = parent.map(|parent| real.of(parent).unwrap_or_else(|| parent.into()));
    let (bytes, mtime) = found.version();
    let SessionFile { path, real_path, is_link, owner, .. } = found;
    Digest { path, real_path, is_link, owner, bytes, mtime, parent_path, ..digest }
}

/// Resolves symbolic links. Most parent sessions are in a few directories, so each directory is resolved once.
#[derive(Debug, Default)]
pub(super) struct RealPaths(RwLock<HashMap<PathBuf, Option<PathBuf>>>);

impl RealPaths {
    /// Returns a path with symbolic links resolved, or `None` if it does not exist.
    fn of(&self, path: &Path) -> Option<PathBuf> {
        let is_link = fs::symlink_metadata(path).ok()?.is_symlink();
        let dir = path.parent().filter(|dir| !is_link && !dir.as_os_str().is_empty());
        let (Some(dir), Some(name)) = (dir, path.file_name()) else { return fs::canonicalize(path).ok() };
        let known =
            self.0.read().unwrap_or_else(PoisonError::into_inner).get(dir).map(|real| Some(real.as_ref()?.join(name)));
        known.unwrap_or_else(|| {
            let real = fs::canonicalize(dir).ok();
            self.0.write().unwrap_or_else(PoisonError::into_inner).insert(dir.into(), real.clone());
            Some(real?.join(name))
        })
    }
}

/// Reads digests of files and reports them in batches until all are done or `batch` returns `false`. In tool calls,
/// paths below `home` start with `~`.
pub fn read(found: &[SessionFile], home: &str, batch: impl FnMut(ScanBatch) -> bool) {
    ScanSources { dirs: &[], home, cache: None }.of(found.to_vec()).read(batch);
}

/// Reads the current digest of one file with the known `owner`. Returns `None` if it is missing or not a session. In
/// tool calls, paths below `home` start with `~`.
///
/// # Errors
/// The file cannot be read.
pub fn again(path: &Path, owner: Option<SubagentOwner>, home: &str) -> Result<Option<Digest>, Unreadable> {
    let Some(found) = one(path, owner) else { return Ok(None) };
    let sources = ScanSources { dirs: &[], home, cache: None };
    sources.digest(&found, (None, &RealPaths::default()), &mut Vec::new(), || false)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn real_paths_are_those_that_the_system_knows() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/one"), "").unwrap();
        symlink(at("a"), at("linked")).unwrap();
        symlink(at("a/b/one"), at("a/link")).unwrap();
        symlink(at("nowhere"), at("a/broken")).unwrap();
        let real = RealPaths::default();
        let below = [
            "a/b/one",
            "linked/b/one",
            "a/link",
            "linked/link",
            "a/b/../link",
            "a/b/..",
            "a/broken",
            "a/gone",
            "gone/x",
        ];
        let paths: Vec<PathBuf> = below.map(at).into_iter().chain(["src".into(), "/".into(), "".into()]).collect();
        for path in paths.iter().chain(&paths) {
            assert_eq!(real.of(path), fs::canonicalize(path).ok(), "{}", path.display());
        }
    }
}
