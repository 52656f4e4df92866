//! The files of an index: a list of segments, the segments, and locks. The list is replaced at once, so that all
//! processes see the same segments. A process that changes the list or the segments holds a lock meanwhile.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::disk::create;
use crate::disk::fingerprint::hash;
use crate::disk::index::segment_draft::SegmentDraft;
use crate::disk::index::segment_file::{self, open_own, push_piece, verified};
use crate::disk::lock;
use crate::disk::new_file::{self, Draft};
use crate::system;

/// The maximum wait for a lock. Each is held for a short time.
const PATIENCE: Duration = Duration::from_secs(2);

/// The maximum number of attempts to lock a file that is removed meanwhile.
const TRIES: usize = 5;

/// The interval after which the time of last use is updated. It is the modification time of the list.
const USED: Duration = Duration::from_secs(24 * 3600);

/// The extensions of the files.
pub(super) const LIST: &str = "index";
pub(super) const SEGMENT: &str = "segment";
pub(super) const LOCK: &str = "lock";

/// The directory and the size limit of indexes.
#[derive(Clone, Copy, Debug)]
pub struct IndexPlace<'a> {
    /// The directory of all index files.
    pub dir: &'a Path,
    /// The maximum size of an index in bytes. While it is rewritten, it can be larger.
    pub limit: u64,
}

impl<'a> From<&'a Path> for IndexPlace<'a> {
    /// Without a limit.
    fn from(dir: &'a Path) -> Self {
        Self { dir, limit: u64::MAX }
    }
}

/// The files of the index of a session directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexFiles {
    /// The path of the list.
    pub(super) list: PathBuf,
}

impl IndexFiles {
    /// Returns the files of the index of a directory with symbolic links resolved.
    pub(super) fn new(cache: &Path, real: &Path) -> Self {
        let name = hash(real.as_os_str().as_encoded_bytes());
        Self { list: cache.join(format!("{name:016x}.{LIST}")) }
    }

    /// Returns the files of the index to which a file in the cache directory belongs by its name.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_stem()?.to_str()?;
        let name = name.split_once('-').map_or(name, |(name, _)| name);
        Some(Self { list: path.with_file_name(name).with_extension(LIST) })
    }

    /// Reads the list of an index with this content.
    pub(super) fn read(&self, of: u64) -> Option<SegmentList> {
        SegmentList::read(&self.list).filter(|list| list.of == of)
    }

    /// Returns the path of a segment.
    pub(super) fn segment(&self, number: u64) -> PathBuf {
        let name = self.list.file_stem().unwrap_or_default().to_string_lossy();
        self.list.with_file_name(format!("{name}-{number:016x}.{SEGMENT}"))
    }

    /// Returns the existing files: the list first, then the segments, listed or not, then the lock.
    pub(super) fn existing(&self) -> Vec<PathBuf> {
        [LIST, SEGMENT, LOCK].iter().flat_map(|kind| self.existing_of(kind)).collect()
    }

    fn existing_of(&self, kind: &str) -> impl Iterator<Item = PathBuf> {
        let all = files(self.list.parent().unwrap_or(Path::new(""))).into_iter();
        all.filter(move |path| extension(path) == kind && Self::of(path).as_ref() == Some(self))
    }

    /// Locks the list and the segments against other writers. Returns `None` on a file system without locks. Does not
    /// create the directory, which may have been removed on purpose.
    ///
    /// # Errors
    /// The lock cannot be created, or another process holds it for long.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        let begun = Instant::now();
        let mut wait =
            |_: &str| if begun.elapsed() < PATIENCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let (mut options, path) = (create::private(), self.list.with_extension(LOCK));
        options.read(true).write(true).create(true).truncate(false);
        for _ in 0..TRIES {
            match lock::open(&options, &path, &mut wait) {
                Ok(file) => return Ok(Some(file)),
                // The process that held it removed the index.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if lock::has_no_locks(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    /// Removes all files. Returns their number and their total size in bytes.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(super) fn remove(&self) -> io::Result<(usize, u64)> {
        remove(&self.existing())
    }

    /// Writes a draft as a segment with a new number, and returns the number. The caller holds the lock.
    ///
    /// # Errors
    /// The segment cannot be written.
    pub(super) fn add(&self, draft: SegmentDraft) -> io::Result<u64> {
        let number = getrandom::u64().map_err(io::Error::other)?;
        draft.finish(&self.segment(number))?;
        Ok(number)
    }

    /// Replaces the list, and keeps the time of last use. That of a new list is long ago, until the scan that created it
    /// ends: see [`IndexFiles::note_use`]. Then removes unlisted segments. The caller holds the lock.
    ///
    /// # Errors
    /// The list cannot be written, or a segment cannot be removed.
    pub(super) fn replace_list(&self, list: &SegmentList) -> io::Result<()> {
        let mut bytes = Vec::new();
        push_piece(&mut bytes, &segment_file::bytes(list));
        new_file::remove_drafts(&self.list);
        let mut draft = Draft::of(&self.list)?;
        let used = self.used().or_else(|_| io::Result::Ok(draft.file.metadata()?.modified()? - USED))?;
        io::Write::write_all(&mut draft, &bytes)?;
        draft.file.set_modified(used)?;
        // Until it has its name, the lock protects it from cleanups.
        draft.replace(&self.list)?;
        self.remove_unlisted(list)
    }

    /// Removes segments that are not in the list: those of interrupted processes, and replaced ones. The caller holds
    /// the lock.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(super) fn remove_unlisted(&self, list: &SegmentList) -> io::Result<()> {
        let listed: Vec<PathBuf> = list.segments.iter().map(|&number| self.segment(number)).collect();
        let unlisted: Vec<PathBuf> = self.existing_of(SEGMENT).filter(|path| !listed.contains(path)).collect();
        remove(&unlisted).map(drop)
    }

    /// Returns the time at which the scan began that last used the index: see [`IndexFiles::note_use`].
    ///
    /// # Errors
    /// There is no list.
    pub(super) fn used(&self) -> io::Result<SystemTime> {
        self.list.symlink_metadata()?.modified()
    }

    /// Records the time at which a scan of all files began: always after it has changed the index, else at most once a
    /// day.
    pub(super) fn note_use(&self, begun: SystemTime, is_changed: bool) {
        let is_old = |used: SystemTime| begun.duration_since(used).is_ok_and(|age| is_changed || age > USED);
        if self.used().is_ok_and(is_old) {
            let _ = File::options().write(true).open(&self.list).and_then(|file| file.set_modified(begun));
        }
    }
}

/// The list of the segments of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SegmentList {
    /// The hash of what the index is for: see [`super::Index`].
    pub(super) of: u64,
    /// The bytes of the session directory with symbolic links resolved.
    pub(super) dir: Vec<u8>,
    /// The numbers of the segments. The rows of later segments replace those of earlier ones.
    pub(super) segments: Vec<u64>,
    /// The size limit in bytes that was last exceeded.
    pub(super) limit: u64,
    /// With this limit, files with earlier modification times (in milliseconds since 1970) are omitted.
    pub(super) oldest: i64,
}

impl SegmentList {
    /// Reads a list. Returns `None` if it is missing, damaged, or not trustworthy.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        open_own(path)?.read_to_end(&mut bytes).ok()?;
        postcard::from_bytes(verified(&bytes)?).ok()
    }

    /// Returns the session directory with symbolic links resolved.
    pub(super) fn dir(&self) -> PathBuf {
        system::files::path_of(self.dir.clone()).unwrap_or_default()
    }
}

/// Removes the existing ones of some files. Returns their number and their total size in bytes.
///
/// # Errors
/// A file cannot be removed.
pub(super) fn remove<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> io::Result<(usize, u64)> {
    let (mut count, mut bytes) = (0, 0);
    for path in paths {
        let length = path.symlink_metadata().map_or(0, |found| found.len());
        match fs::remove_file(path) {
            Ok(()) => (count, bytes) = (count + 1, bytes + length),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        }
    }
    Ok((count, bytes))
}

/// Returns the paths of the files in a directory.
pub(super) fn files(cache: &Path) -> Vec<PathBuf> {
    fs::read_dir(cache).into_iter().flatten().flatten().map(|file| file.path()).collect()
}

pub(super) fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}
