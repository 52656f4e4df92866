//! Reads digests of all session files, by all processors, in batches: what the index knows of them at once, then the rest,
//! newest first.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use crate::disk::crew;
use crate::disk::digest::{Reading, Wishes};
use crate::disk::files::Files;
use crate::disk::find::Known;
pub use crate::disk::find::{FoundFiles, SessionFile, Unreadable, find, milliseconds, one};
use crate::disk::index::{Index, WORTH_GOING_ON};
use crate::disk::lines;
use crate::session::digest::{Digest, Owner, Shared};
use crate::session::lines::Header;

/// What was read since the last batch.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Sessions.
    pub sessions: Vec<Shared>,
    /// Files that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Files dealt with so far, those that are no sessions included.
    pub done: usize,
}

/// Where sessions are, and how they are read.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// Where bytes come from.
    pub files: Files,
    /// The session directories.
    pub dirs: &'a [PathBuf],
    /// In tool calls, paths below it start with `~`.
    pub home: &'a str,
    /// The folder of the index, if one is to be used.
    pub cache: Option<&'a Path>,
}

/// The files of all sessions, to be read.
#[derive(Debug)]
pub struct Scan<'a> {
    sources: Sources<'a>,
    /// What was found.
    pub found: FoundFiles,
    /// The files of sessions that were shown and are not as they were: what is not read of them is not there.
    pub outdated: Vec<PathBuf>,
    /// What the index knows of each of the directories.
    index: Vec<Index>,
}

/// What the index knows of sessions whose files nobody has looked at yet.
#[derive(Debug)]
pub struct Remembered<'a> {
    sources: Sources<'a>,
    index: Vec<Index>,
}

impl<'a> Sources<'a> {
    /// Finds the files.
    pub fn scan(self) -> Scan<'a> {
        let (found, index) = thread::scope(|scope| {
            let index = scope.spawn(|| self.index());
            (find(self.files, self.dirs), index.join().unwrap_or_default())
        });
        Scan::new(self, found, index)
    }

    /// Looks at the index alone.
    pub fn remembered(self) -> Remembered<'a> {
        Remembered { sources: self, index: self.index() }
    }

    fn index(&self) -> Vec<Index> {
        let Some(cache) = self.cache.filter(|_| self.files == Files::Disk) else { return Vec::new() };
        self.dirs.iter().map(|dir| Index::open(cache, dir, self.home)).collect()
    }
}

impl<'a> Remembered<'a> {
    /// The sessions as they were when they were read: some may have changed since, or be gone. The scan that follows
    /// gives none of them again that is as it was.
    pub fn sessions(&mut self) -> Vec<Shared> {
        let sources = self.sources;
        self.index.iter_mut().flat_map(|index| index.show(|file, digest| sources.complete(file, digest))).collect()
    }

    /// Finds the files.
    pub fn scan(self) -> Scan<'a> {
        Scan::new(self.sources, find(self.sources.files, self.sources.dirs), self.index)
    }
}

impl<'a> Sources<'a> {
    /// Some files alone, without the index.
    pub fn of(self, files: Vec<SessionFile>) -> Scan<'a> {
        Scan::new(self, FoundFiles { files, unreadable: Vec::new() }, Vec::new())
    }

    /// One file alone; nothing if there is none.
    pub fn one(self, path: &Path) -> Scan<'a> {
        self.of(one(self.files, path, None).into_iter().collect())
    }
}

impl<'a> Scan<'a> {
    fn new(sources: Sources<'a>, mut found: FoundFiles, mut index: Vec<Index>) -> Self {
        for (dir, index) in index.iter_mut().enumerate() {
            index.look(dir, &mut found.files);
        }
        let mut outdated: Vec<PathBuf> = index.iter().flat_map(Index::outdated).map(Path::to_path_buf).collect();
        if index.len() > 1 && !outdated.is_empty() {
            // Of directories within each other, the index of another one may know it as it is.
            let same = found.files.iter().filter(|file| matches!(file.known, Known::Same(_)));
            let same: HashSet<&Path> = same.map(AsRef::as_ref).collect();
            outdated.retain(|path| !same.contains(path.as_path()));
        }
        Self { sources, found, outdated, index }
    }

    /// Leaves out the files of sub-agents.
    pub fn skip_subagents(&mut self) {
        self.found.files.retain(|file| file.owner.is_none());
    }

    /// Reads digests of the files, but for those that were shown already, and passes them on in batches, until all are done
    /// or `batch` returns false. Gives how many files the index did not know.
    pub fn read(&mut self, mut batch: impl FnMut(Batch) -> bool) -> usize {
        let files = std::mem::take(&mut self.found.files);
        let (index, sources) = (&self.index, &self.sources);
        let digests = crew::map(&files, |file| {
            let index = index.get(file.dir)?;
            let place = match file.known {
                Known::Same(place) if index.is_shown(place) => return Some(None),
                Known::Same(place) => place,
                Known::Moved(place) => {
                    index.keep_moved(place, file);
                    place
                }
                Known::Before(_) | Known::Nothing => return None,
            };
            index.digest(place).map(|digest| digest.map(|digest| Arc::new(sources.complete(file, digest))))
        });
        let (mut sessions, mut rest) = (Vec::new(), Vec::new());
        for (file, digest) in files.iter().zip(digests) {
            match digest {
                Some(digest) => sessions.extend(digest),
                None => rest.push(file),
            }
        }
        let before = files.len() - rest.len();
        if before > 0 && !batch(Batch { sessions, unreadable: Vec::new(), done: before }) {
            return rest.len();
        }
        let work = |found: &&SessionFile, buffer: &mut Vec<u8>, stop: crew::Stop<'_>| {
            let digest = sources.digest(found, index.get(found.dir), buffer, || stop.is_due());
            digest.map(|digest| digest.map(Arc::new)).transpose()
        };
        let lost = |found: &&SessionFile, reason: String| Some(Err(Unreadable::new(&found.path, &reason)));
        crew::each(&rest, (work, lost), |read| {
            let done = before + read.done;
            let (sessions, unreadable) = read.split();
            batch(Batch { sessions, unreadable, done })
        });
        rest.len()
    }

    /// The headers of the files that are sessions: no more is read of those that the index does not know.
    pub(crate) fn headers(&self) -> Vec<(&SessionFile, Header)> {
        let mut buffer = Vec::new();
        let mut read =
            |file: &SessionFile| lines::header(&mut self.sources.files.session(&file.path).ok()??, &mut buffer).ok()?;
        let mut header = |file: &SessionFile| {
            let known = match file.known {
                Known::Same(place) | Known::Moved(place) => self.index[file.dir].digest(place),
                Known::Before(_) | Known::Nothing => None,
            };
            known.map_or_else(|| read(file), |digest| digest.map(|digest| digest.header))
        };
        self.found.files.iter().filter_map(|file| header(file).map(|header| (file, header))).collect()
    }

    /// Keeps in the index what was read anew.
    ///
    /// # Errors
    /// It can't be written: the next scan takes longer for it.
    pub fn keep(self) -> io::Result<()> {
        self.index.into_iter().try_for_each(Index::finish)
    }
}

impl Sources<'_> {
    /// The digest of one file; `None` if it is no session, or nobody waits for it any more.
    fn digest(
        &self,
        found: &SessionFile,
        index: Option<&Index>,
        buffer: &mut Vec<u8>,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Option<Digest>, Unreadable> {
        let before = match found.known {
            Known::Before(place) if found.bytes >= WORTH_GOING_ON => index.and_then(|index| index.before(place)),
            _ => None,
        };
        let wishes = Wishes { texts: index.is_some(), state: index.is_some() && found.bytes >= WORTH_GOING_ON, before };
        let reading = Reading { files: self.files, home: self.home };
        let read = reading.session((&found.path, found.mtime), wishes, buffer, &is_stopped);
        let mut read = read.map_err(|error| Unreadable::file(&found.path, &error))?;
        if let Some(index) = index.filter(|_| !is_stopped()) {
            index.keep(found, read.as_mut());
        }
        Ok(read.map(|session| self.complete(found, session.digest)))
    }

    /// A digest with what the file system knows of its file.
    fn complete(&self, found: &SessionFile, digest: Digest) -> Digest {
        Digest {
            path: found.path.clone(),
            real_path: found.real_path.clone(),
            is_link: found.is_link,
            owner: found.owner.clone(),
            bytes: found.bytes,
            mtime: found.mtime,
            parent_path: digest.header.parent_session.as_ref().map(|parent| self.real_path(found, Path::new(parent))),
            ..digest
        }
    }
}

impl Sources<'_> {
    /// A path that a session names its parent by, with symbolic links resolved if that exists.
    fn real_path(&self, found: &SessionFile, parent: &Path) -> PathBuf {
        // Nearly all lie in the same folder, which is known: then only the file itself may be a link.
        let is_beside = found.real_path.is_none() && !found.is_link && parent.parent() == found.path.parent();
        match self.files {
            Files::Demo => parent.into(),
            Files::Disk if is_beside && !parent.is_symlink() => parent.into(),
            Files::Disk => fs::canonicalize(parent).unwrap_or_else(|_| parent.into()),
        }
    }
}

/// A digest with what the file system knows of its file.
pub(crate) fn placed(digest: Digest, found: &SessionFile) -> Digest {
    Sources { files: Files::Disk, dirs: &[], home: "", cache: None }.complete(found, digest)
}

/// Reads digests of some files and passes them on in batches, until all are done or `batch` returns false. In tool calls,
/// paths below `home` start with `~`.
pub fn read(files: Files, found: &[SessionFile], home: &str, batch: impl FnMut(Batch) -> bool) {
    Sources { files, dirs: &[], home, cache: None }.of(found.to_vec()).read(batch);
}

/// The digest of one file as it is now; `owner` as it is known. `None` if it is no session, or gone. In tool calls, paths
/// below `home` start with `~`.
///
/// # Errors
/// It can't be read.
pub fn again(path: &Path, owner: Option<Owner>, home: &str) -> Result<Option<Digest>, Unreadable> {
    let Some(found) = one(Files::Disk, path, owner) else { return Ok(None) };
    let sources = Sources { files: Files::Disk, dirs: &[], home, cache: None };
    sources.digest(&found, None, &mut Vec::new(), || false)
}
