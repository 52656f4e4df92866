//! The files of an index: a table, segments, and a lock. The table lists the segments. It is replaced at once, so that all
//! processes see the same rows. A process that changes the table or the segments holds the lock meanwhile. A cleanup
//! removes files that no other command would remove: those of interrupted processes, of missing directories, and unused
//! ones.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};
use std::{io, thread};

use crate::disk::files::children;
use crate::disk::fingerprint::hash;
use crate::disk::index::segment_file::SegmentFile;
use crate::disk::index::table::{SessionTable, SharedData};
use crate::disk::new_file::{self, DRAFT, Draft};
use crate::disk::{create, lock};

/// The maximum wait for a lock. Each is held for a short time.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval after which the time of last use is updated. It is the modification time of the table.
const USED: Duration = Duration::from_secs(24 * 3600);

/// The extensions of the files.
const TABLE: &str = "index";
const SEGMENT: &str = "segment";
const LOCK: &str = "lock";

/// The age at which an unused index is removed.
const UNUSED: Duration = Duration::from_secs(90 * 24 * 3600);

/// The extension of the list of sessions with likely secrets: see `catalog::secrets`.
const SECRETS: &str = "secrets";

/// The extension of the list of sessions with lost work: see `catalog::lost_work`.
const LOST: &str = "work";

/// The maximum wait for the cleanup, which blocks on an unresponsive network file system.
const CLEANUP: Duration = Duration::from_secs(1);

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
    /// The path of the table.
    pub(super) table: PathBuf,
}

impl IndexFiles {
    /// Returns the files of the index of a directory with symbolic links resolved.
    pub(super) fn new(cache: &Path, canonical: &Path) -> Self {
        let name = hash(canonical.as_os_str().as_encoded_bytes());
        Self { table: cache.join(format!("{name:016x}.{TABLE}")) }
    }

    /// Returns the files of the index to which a file in the cache directory belongs by its name.
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_stem()?.to_str()?;
        let name = name.split_once('-').map_or(name, |(name, _)| name);
        Some(Self { table: path.with_file_name(name).with_extension(TABLE) })
    }

    /// Returns the path of a segment.
    pub(super) fn segment(&self, number: u64) -> PathBuf {
        let name = self.table.file_stem().unwrap_or_default().to_string_lossy();
        self.table.with_file_name(format!("{name}-{number:016x}.{SEGMENT}"))
    }

    /// Returns the existing files: the table first, then the segments, listed or not, then the lock.
    pub(super) fn existing(&self) -> Vec<PathBuf> {
        [TABLE, SEGMENT, LOCK].iter().flat_map(|kind| self.existing_of(kind)).collect()
    }

    fn existing_of(&self, kind: &str) -> impl Iterator<Item = PathBuf> {
        let all = children(self.table.parent().unwrap_or(Path::new("")));
        all.filter(move |path| extension(path) == kind && Self::of(path).as_ref() == Some(self))
    }

    /// Locks the table and the segments against other writers. Returns `None` on a file system without locks. Does not
    /// create the directory, which may have been removed on purpose.
    ///
    /// # Errors
    /// The lock cannot be created, or another process holds it for long.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        let begun = Instant::now();
        let mut wait =
            |_: &str| if begun.elapsed() < LOCK_TIMEOUT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let (mut options, path) = (create::private(), self.table.with_extension(LOCK));
        options.read(true).write(true).create(true).truncate(false);
        match lock::open(&options, &path, &mut wait) {
            Err(error) if lock::has_no_locks(&error) => Ok(None),
            locked => locked.map(Some),
        }
    }

    /// Replaces the table, and keeps the time of last use. That of a new table is long ago, until the scan that created it
    /// ends: see [`IndexFiles::note_use`]. Then removes unlisted segments. The caller holds the lock.
    ///
    /// # Errors
    /// The table cannot be written, or a segment cannot be removed.
    pub(super) fn replace_table(&self, table: &SessionTable) -> io::Result<()> {
        new_file::remove_drafts(&self.table);
        let draft = Draft::of(&self.table)?;
        let used = self.used().or_else(|_| io::Result::Ok(draft.file.metadata()?.modified()? - USED))?;
        table.write(&SegmentFile { file: draft.file.try_clone()?, home: "".into() })?;
        draft.file.set_modified(used)?;
        // Until it has its name, the lock protects it from cleanups.
        draft.replace(&self.table)?;
        self.remove_unlisted(&table.shared)
    }

    /// Removes segments that are not in the table: those of interrupted processes, and replaced ones. The caller holds
    /// the lock.
    ///
    /// # Errors
    /// A file cannot be removed.
    fn remove_unlisted(&self, shared: &SharedData) -> io::Result<()> {
        let listed: Vec<PathBuf> = shared.segments.iter().map(|segment| self.segment(segment.number)).collect();
        let unlisted: Vec<PathBuf> = self.existing_of(SEGMENT).filter(|path| !listed.contains(path)).collect();
        remove(&unlisted).map(drop)
    }

    /// Returns the time at which the scan began that last used the index: see [`IndexFiles::note_use`].
    ///
    /// # Errors
    /// There is no table.
    pub(super) fn used(&self) -> io::Result<SystemTime> {
        self.table.symlink_metadata()?.modified()
    }

    /// Records the time at which a scan of all files began: always after it has changed the index, else at most once a
    /// day.
    pub(super) fn note_use(&self, begun: SystemTime, is_changed: bool) {
        let is_old = |used: SystemTime| begun.duration_since(used).is_ok_and(|age| is_changed || age > USED);
        if self.used().is_ok_and(is_old) {
            let _ = File::options().write(true).open(&self.table).and_then(|file| file.set_modified(begun));
        }
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

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// Removes abandoned drafts, and the indexes of directories that are missing or were not used for 90 days.
pub(crate) fn clean_up(cache: &Path) {
    let (done, finished) = mpsc::channel::<()>();
    let cache = cache.to_path_buf();
    thread::spawn(move || {
        remove_outdated(&cache);
        drop(done);
    });
    let _ = finished.recv_timeout(CLEANUP); // it continues in the background
}

fn remove_outdated(cache: &Path) {
    for path in children(cache) {
        match extension(&path) {
            draft if DRAFT.strip_prefix('.') == Some(draft) => new_file::remove_abandoned(&path),
            TABLE => {
                let files = IndexFiles { table: path };
                let is_unused = files.used().is_ok_and(|used| used.elapsed().is_ok_and(|age| age > UNUSED));
                if is_unused || SharedData::read(&files.table).is_none_or(|shared| is_gone(&shared.dir())) {
                    let _ = remove(&files.existing()); // the next start tries again
                }
            }
            SEGMENT => {
                let Some(files) = IndexFiles::of(&path) else { continue };
                let shared = || SharedData::read(&files.table).unwrap_or_default();
                let is_listed = shared().segments.iter().any(|segment| files.segment(segment.number) == path);
                if !is_listed && let Ok(_lock) = files.lock() {
                    let _ = files.remove_unlisted(&shared()); // the next start tries again
                }
            }
            // Of an earlier format.
            "all" | "added" | "merge" => drop(fs::remove_file(path)),
            _ => {}
        }
    }
}

/// Returns the directories of other indexes that are inside one of these directories or contain one. Symbolic links are
/// resolved.
pub(in crate::disk) fn related(cache: &Path, canonical: &[PathBuf]) -> Vec<PathBuf> {
    let lists = children(cache).filter(|path| extension(path) == TABLE);
    let is_related = |dir: &PathBuf| canonical.iter().any(|one| one.starts_with(dir) || dir.starts_with(one));
    let dirs = lists.filter_map(|path| Some(SharedData::read(&path)?.dir()));
    dirs.filter(|dir| !canonical.contains(dir) && is_related(dir)).collect()
}

/// Removes all index files. Returns their number and their total size in bytes.
///
/// # Errors
/// A file cannot be removed.
pub(crate) fn clear(cache: &Path) -> io::Result<(usize, u64)> {
    let all: Vec<PathBuf> = children(cache).collect();
    remove(all.iter().filter(|path| [TABLE, SEGMENT, LOCK, SECRETS, LOST].contains(&extension(path))))
}

/// Returns `true` if a directory is missing, and `false` if it is inaccessible.
fn is_gone(dir: &Path) -> bool {
    let is_missing = |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    fs::metadata(dir).map_or_else(is_missing, |found| !found.is_dir())
}
