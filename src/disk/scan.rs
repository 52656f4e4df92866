//! Scans all session files in parallel and reports digests in batches: first from the index, then from the files,
//! newest first.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};
use std::{io, thread};

use crate::disk::digest::{self, ScanOptions};
use crate::disk::find::Listings;
pub use crate::disk::find::find;
pub use crate::disk::index::IndexPlace;
use crate::disk::index::{self, MergeScope, SessionIndex, WORTH_GOING_ON};
pub use crate::disk::session_file::{FoundFiles, SessionFile, Unreadable, milliseconds, one};
use crate::disk::session_file::{IndexedFile, RealPaths, complete};
use crate::disk::{bug_log, parallel};
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedLazySession;
use crate::session::digest::{Digest, SubagentOwner};

/// The results since the last batch.
#[derive(Clone, Debug, Default)]
pub struct ScanBatch {
    /// The sessions.
    pub sessions: Vec<SharedLazySession>,
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
    /// The directory of the index, and its size limit; `None` to ignore the index.
    pub cache: Option<IndexPlace<'a>>,
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
    index: Vec<SessionIndex>,
    /// Indexes of directories inside or around these. Text of missing sessions must be removed from them too.
    related: Vec<SessionIndex>,
    real: RealPaths,
}

impl<'a> ScanSources<'a> {
    /// Finds the files.
    pub fn scan(self) -> Scan<'a> {
        let (listings, index) = thread::scope(|scope| {
            let index = scope.spawn(|| self.index());
            (Listings::new(self.dirs), index.join().unwrap_or_default())
        });
        self.with(index).compare_with_index(Some(listings))
    }

    /// Finds the files to rebuild the index from all of them.
    pub fn rebuild(self) -> Scan<'a> {
        let empty = |cache| self.dirs.iter().map(|dir| SessionIndex::empty(cache, dir, self.home)).collect();
        self.with(self.cache.map_or_else(Vec::new, empty)).scan()
    }

    /// Opens only the index.
    pub fn remembered(self) -> Scan<'a> {
        self.with(self.index())
    }

    /// Returns the sessions whose facts fulfill a condition: those of the index, without looking at their files, and new
    /// ones in directories whose list of files changed since. Fast with many sessions, but the session of a file that was
    /// replaced without a change of its directory is missing.
    ///
    /// Returns `None` if a scan is needed: without a complete index, or to remove the text of a deleted or changed file in
    /// one of these directories.
    pub fn recalled(self, is_wanted: &dyn Fn(&SessionFacts<'_>) -> bool) -> Option<Vec<SharedLazySession>> {
        let index = self.index();
        let since: Option<Vec<SystemTime>> = index.iter().map(SessionIndex::known_until).collect();
        let since = since.filter(|since| !since.is_empty())?;
        let listings = Listings::changed(self.dirs, &since);
        let listed: Vec<(usize, PathBuf, PathBuf)> = listings.dirs().collect();
        let FoundFiles { files, unchanged, .. } = listings.find(&&index[..]);
        for (number, index) in index.iter().enumerate() {
            let dirs = listed.iter().filter(|(of, ..)| *of == number).map(|(_, dir, real)| (&**dir, &**real));
            let records = unchanged.iter().map(|file| file.record()).filter(|(of, _)| *of == number);
            if !index.has_all(dirs, records.map(|(_, place)| place)) {
                return None;
            }
        }
        let mut sessions: Vec<SharedLazySession> = Vec::new();
        for index in &index {
            sessions.extend(index.sessions_with(is_wanted)?);
        }
        self.of(files).read(|batch| {
            sessions.extend(batch.sessions.into_iter().filter(|session| is_wanted(&session.facts())));
            true
        });
        if self.dirs.len() > 1 {
            // One directory can contain another one.
            let mut seen = HashSet::new();
            sessions.retain(|session| seen.insert(session.file_path()));
        }
        Some(sessions)
    }

    /// Scans specific files without the index.
    pub fn of(self, files: Vec<SessionFile>) -> Scan<'a> {
        let found = FoundFiles { files, ..FoundFiles::default() };
        Scan { found, ..self.with(Vec::new()) }
    }

    /// Scans one file; empty if it is missing.
    pub fn one(self, path: &Path) -> Scan<'a> {
        self.of(one(path, None).into_iter().collect())
    }

    fn with(self, index: Vec<SessionIndex>) -> Scan<'a> {
        let (found, outdated, related, real) = Default::default();
        Scan { sources: self, found, outdated, index, related, real }
    }

    fn index(&self) -> Vec<SessionIndex> {
        let Some(cache) = self.cache else { return Vec::new() };
        self.dirs.iter().map(|dir| SessionIndex::open(cache, dir, self.home)).collect()
    }
}

impl Scan<'_> {
    /// Returns the sessions as last read; some may have changed or be missing. The following scan skips those that are
    /// unchanged.
    pub fn sessions(&mut self) -> Vec<SharedLazySession> {
        self.index.iter_mut().flat_map(SessionIndex::show).collect()
    }

    /// Finds the files.
    #[must_use]
    pub fn scan(self) -> Self {
        self.compare_with_index(None)
    }

    /// Looks at the files and compares them with the index. Lists them first, if they are not listed yet.
    fn compare_with_index(self, listings: Option<Listings>) -> Self {
        let Self { sources, mut index, mut related, real, .. } = self;
        let find = |known: &[SessionIndex]| listings.unwrap_or_else(|| Listings::pending(sources.dirs)).find(&known);
        let found = if let Some(cache) = sources.cache.filter(|_| !index.is_empty()) {
            let dirs: Vec<PathBuf> = sources.dirs.iter().map(|dir| index::canonical(dir)).collect();
            let open = |dir: &PathBuf| SessionIndex::open(cache, dir, sources.home);
            related = index::related(cache.dir, &dirs).iter().map(open).collect();
            // Indexes of nested directories need all files.
            let is_nested = |(at, dir): (usize, &PathBuf)| dirs[..at].iter().any(|other| is_inside(dir, other));
            let is_alone = related.is_empty() && !dirs.iter().enumerate().any(is_nested);
            let mut found = find(if is_alone { &index } else { &[] });
            for (dir, index) in (0..).map(Some).zip(&mut index).chain(related.iter_mut().map(|index| (None, index))) {
                index.compare_rows(dir, &dirs, &mut found);
            }
            found
        } else {
            find(&[])
        };
        let mut outdated: Vec<PathBuf> = index.iter().flat_map(SessionIndex::outdated).collect();
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
        let (begun, files) = (Instant::now(), self.found.len());
        let new = self.read_all(&mut batch);
        bug_log::note(format_args!("scan of {files} files took {:?}; {new} were not in the index", begun.elapsed()));
        new
    }

    /// [`Scan::read`], compiled once.
    fn read_all(&mut self, batch: &mut dyn FnMut(ScanBatch) -> bool) -> usize {
        let files = std::mem::take(&mut self.found.files);
        let unchanged = std::mem::take(&mut self.found.unchanged);
        let (index, sources, real, all) = (&self.index, &self.sources, &self.real, files.len() + unchanged.len());
        let unchanged = unchanged.into_iter().filter_map(|file| {
            let (dir, place) = file.record();
            index.get(dir)?.unshown(place)
        });
        let mut sessions: Vec<SharedLazySession> = unchanged.collect();
        let known = parallel::map(files, |file| {
            let session = match (index.get(file.dir), file.known) {
                (Some(index), IndexedFile::Same(place)) if index.is_shown(place) => Some(None),
                (Some(index), IndexedFile::Same(place)) => index.session(place, &file, real),
                (Some(index), IndexedFile::Moved(place)) => {
                    index.keep_moved(place, &file);
                    index.session(place, &file, real)
                }
                _ => None,
            };
            session.ok_or_else(|| Box::new(file))
        });
        let mut rest = Vec::new();
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
            let digest = sources.digest(found, index.get(found.dir), real, buffer, stop);
            digest.map(|digest| digest.map(SharedLazySession::from)).transpose()
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

    /// Adds the sessions to the index, and removes text that no session file contains any more.
    ///
    /// # Errors
    /// The index cannot be written; the next scan takes longer.
    pub fn keep(self) -> io::Result<()> {
        self.keep_and_merge(MergeScope::Quick)
    }

    /// Like [`Scan::keep`], but may take long.
    ///
    /// # Errors
    /// Those of [`Scan::keep`].
    pub fn keep_in_background(self) -> io::Result<()> {
        self.keep_and_merge(MergeScope::Any)
    }

    fn keep_and_merge(self, scope: MergeScope) -> io::Result<()> {
        let all = self.index.into_iter().chain(self.related);
        let written: Vec<_> = all.map(|index| index.finish(scope)).collect();
        written.into_iter().collect()
    }
}

impl ScanSources<'_> {
    /// Reads the digest of one file. Returns `None` if it is not a session or reading was canceled.
    fn digest(
        &self,
        found: &SessionFile,
        index: Option<&SessionIndex>,
        real: &RealPaths,
        buffer: &mut Vec<u8>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Digest>, Unreadable> {
        let (bytes, mtime) = found.version();
        let before = match found.known {
            IndexedFile::Before(place) if bytes >= WORTH_GOING_ON => index.and_then(|index| index.before(place)),
            _ => None,
        };
        let wishes = ScanOptions { texts: index.is_some(), state: index.is_some() && bytes >= WORTH_GOING_ON, before };
        let read = digest::read(self.home, &found.path, mtime, wishes, buffer, is_stopped);
        let mut read = read.map_err(|error| Unreadable::file(&found.path, &error))?;
        if let Some(index) = index.filter(|_| !is_stopped()) {
            index.keep(found, read.as_mut());
        }
        Ok(read.map(|session| complete(found.clone(), session.digest, real)))
    }
}

/// Returns `true` if one directory contains the other.
fn is_inside(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
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
pub fn reread(path: &Path, owner: Option<SubagentOwner>, home: &str) -> Result<Option<Digest>, Unreadable> {
    let Some(found) = one(path, owner) else { return Ok(None) };
    let sources = ScanSources { dirs: &[], home, cache: None };
    sources.digest(&found, None, &RealPaths::default(), &mut Vec::new(), &|| false)
}
