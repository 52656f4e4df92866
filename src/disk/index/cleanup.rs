//! Removes index files that no other command would remove: those of interrupted processes, of missing directories, and
//! unused ones.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::disk::index::list::{IndexFiles, LIST, LOCK, SEGMENT, SegmentList, extension, files, remove};
use crate::disk::new_file::{self, DRAFT};

/// The age at which an unused index is removed.
const UNUSED: Duration = Duration::from_secs(90 * 24 * 3600);

/// The extension of the list of sessions with likely secrets: see `catalog::known_secrets`.
const SECRETS: &str = "secrets";

/// The extension of the list of sessions with lost work: see `catalog::lost_work`.
const LOST: &str = "work";

/// The maximum wait for the cleanup, which blocks on an unresponsive network file system.
const PATIENCE: Duration = Duration::from_secs(1);

/// Removes abandoned drafts, and the indexes of directories that are missing or were not used for 90 days.
pub(crate) fn clean_up(cache: &Path) {
    let (done, finished) = mpsc::channel::<()>();
    let cache = cache.to_path_buf();
    thread::spawn(move || {
        remove_outdated(&cache);
        drop(done);
    });
    let _ = finished.recv_timeout(PATIENCE); // it continues in the background
}

fn remove_outdated(cache: &Path) {
    for path in files(cache) {
        match extension(&path) {
            draft if DRAFT.strip_prefix('.') == Some(draft) => new_file::remove_abandoned(&path),
            LIST if is_unused(&path) || SegmentList::read(&path).is_none_or(|list| is_gone(&list.dir())) => {
                let _ = IndexFiles { list: path }.remove(); // the next start tries again
            }
            SEGMENT => {
                let Some(files) = IndexFiles::of(&path) else { continue };
                let list = || SegmentList::read(&files.list).unwrap_or_default();
                let is_listed = |list: &SegmentList| list.segments.iter().any(|&number| files.segment(number) == path);
                if !is_listed(&list())
                    && let Ok(_lock) = files.lock()
                {
                    let _ = files.remove_unlisted(&list()); // the next start tries again
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
pub(in crate::disk) fn related(cache: &Path, real: &[PathBuf]) -> Vec<PathBuf> {
    let lists = files(cache).into_iter().filter(|path| extension(path) == LIST);
    let is_related = |dir: &PathBuf| real.iter().any(|one| one.starts_with(dir) || dir.starts_with(one));
    let dirs = lists.filter_map(|path| Some(SegmentList::read(&path)?.dir()));
    dirs.filter(|dir| !real.contains(dir) && is_related(dir)).collect()
}

/// Removes all index files. Returns their number and their total size in bytes.
///
/// # Errors
/// A file cannot be removed.
pub(crate) fn clear(cache: &Path) -> io::Result<(usize, u64)> {
    let all = files(cache);
    remove(all.iter().filter(|path| [LIST, SEGMENT, LOCK, SECRETS, LOST].contains(&extension(path))))
}

fn is_unused(path: &Path) -> bool {
    let age = || path.symlink_metadata().ok()?.modified().ok()?.elapsed().ok();
    age().is_some_and(|age| age > UNUSED)
}

/// Returns `true` if a directory is missing, and `false` if it is inaccessible.
fn is_gone(dir: &Path) -> bool {
    match fs::metadata(dir) {
        Ok(found) => !found.is_dir(),
        Err(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}
