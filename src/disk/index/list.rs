//! The files of an index: a list of segments, the segments, and locks. The list is replaced at once, so that all
//! processes see the same segments. A process that changes the list or the segments holds a lock meanwhile.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::disk::create;
use crate::disk::fingerprint::hash;
use crate::disk::index::segment::open_own;
use crate::disk::lock;
use crate::disk::new_file::{self, Draft};
use crate::system;

/// The magic bytes at the start of a list.
const MAGIC: [u8; 8] = *b"pitree-l";

/// The maximum size of a list in bytes.
const MOST_LIST: u64 = 1 << 20;

/// The maximum wait for a lock. Each is held for a short time.
const PATIENCE: Duration = Duration::from_secs(2);

/// The maximum number of attempts to lock a file that is removed meanwhile.
const TRIES: usize = 5;

/// The interval after which the time of last use is updated. It is the modification time of the list.
const USED: Duration = Duration::from_secs(24 * 3600);

/// The extensions of the files: lists, segments, and the locks for changing and for merging segments.
pub(super) const LIST: &str = "index";
pub(super) const SEGMENT: &str = "segment";
pub(super) const LOCK: &str = "lock";
pub(super) const MERGE_LOCK: &str = "merge";

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
#[derive(Clone, Debug)]
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

    /// Returns the existing files: the list first, then the segments, listed or not, then the locks.
    pub(super) fn existing(&self) -> Vec<PathBuf> {
        let locks = [LOCK, MERGE_LOCK].map(|lock| self.list.with_extension(lock));
        let mut all = vec![self.list.clone()];
        all.extend(self.segments());
        all.extend(locks);
        all.retain(|path| path.symlink_metadata().is_ok());
        all
    }

    fn segments(&self) -> impl Iterator<Item = PathBuf> {
        let name = self.list.file_stem().unwrap_or_default().to_os_string();
        files(self.list.parent().unwrap_or(Path::new(""))).into_iter().filter(move |path| {
            let file = path.file_stem().unwrap_or_default().as_encoded_bytes();
            let rest = file.strip_prefix(name.as_encoded_bytes());
            rest.is_some_and(|rest| rest.starts_with(b"-")) && path.extension() == Some(OsStr::new(SEGMENT))
        })
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
        let (options, path) = (lock_options(), self.list.with_extension(LOCK));
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

    /// Takes the lock for merging segments. Returns `None` if another process merges them, or without locks.
    pub(super) fn lock_merging(&self) -> Option<File> {
        let file = lock_options().open(self.list.with_extension(MERGE_LOCK)).ok()?;
        file.try_lock().is_ok().then_some(file)
    }

    /// Removes all files. Returns their number and their total size in bytes.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(super) fn remove(&self) -> io::Result<(usize, u64)> {
        remove(&self.existing())
    }

    /// Removes segments that are not in the list: those of interrupted processes, and replaced ones. The caller holds
    /// the lock.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(super) fn remove_unlisted(&self, list: &SegmentList) -> io::Result<()> {
        let listed: Vec<PathBuf> = list.segments.iter().map(|&number| self.segment(number)).collect();
        let unlisted: Vec<PathBuf> = self.segments().filter(|path| !listed.contains(path)).collect();
        remove(unlisted.iter()).map(drop)
    }

    /// Returns the time at which the scan began that last used the index: see [`IndexFiles::note_use`].
    pub(super) fn used(&self) -> Option<SystemTime> {
        self.list.symlink_metadata().and_then(|found| found.modified()).ok()
    }

    /// Records the time at which a scan of all files began: always after it has changed the index, else at most once a
    /// day.
    pub(super) fn note_use(&self, begun: SystemTime, is_changed: bool) {
        let is_old = |used: SystemTime| begun.duration_since(used).is_ok_and(|age| is_changed || age > USED);
        if self.used().is_some_and(is_old) {
            let _ = File::options().write(true).open(&self.list).and_then(|file| file.set_modified(begun));
        }
    }
}

/// Returns the options to open a lock file or create it.
fn lock_options() -> OpenOptions {
    let mut options = create::private();
    options.read(true).write(true).create(true).truncate(false);
    options
}

/// The list of the segments of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentList {
    /// The hash of what the index is for: see [`super::Index`].
    pub(super) of: u64,
    /// The session directory with symbolic links resolved.
    pub(super) dir: PathBuf,
    /// The numbers of the segments. The records of later segments replace those of earlier ones.
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
        io::Read::read_to_end(&mut io::Read::take(open_own(path)?, MOST_LIST), &mut bytes).ok()?;
        let (rest, written) = bytes.split_last_chunk()?;
        if hash(rest) != u64::from_le_bytes(*written) {
            return None;
        }
        let (words, _) = rest.strip_prefix(&MAGIC)?.as_chunks();
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        let [of, limit, oldest, count] = std::array::from_fn(|_| words.next().unwrap_or_default());
        let segments: Vec<u64> = words.take(usize::try_from(count).ok()?).collect();
        let dir = rest.get(MAGIC.len() + 8 * (4 + segments.len())..)?.to_vec();
        Some(Self { of, dir: system::files::path_of(dir)?, segments, limit, oldest: oldest.cast_signed() })
    }

    /// Replaces the list at a path, and keeps the time of last use. That of a new list is long ago, until the scan that
    /// created it ends: see [`IndexFiles::note_use`].
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let Self { of, dir, segments, limit, oldest } = self;
        let words = [*of, *limit, oldest.cast_unsigned(), segments.len() as u64];
        let mut bytes = MAGIC.to_vec();
        words.iter().chain(segments).for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(dir.as_os_str().as_encoded_bytes());
        bytes.extend(hash(&bytes).to_le_bytes());
        new_file::remove_drafts(path);
        let mut draft = Draft::of(path)?;
        let modified = |found: fs::Metadata| found.modified();
        let used = path.symlink_metadata().and_then(modified);
        let used = used.or_else(|_| Ok::<_, io::Error>(modified(draft.file.metadata()?)? - USED))?;
        io::Write::write_all(&mut draft, &bytes)?;
        draft.file.set_modified(used)?;
        // Until it has its name, the lock protects it from cleanups.
        draft.replace(path)
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
