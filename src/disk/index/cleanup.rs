//! Removes index files that no other command would remove: those of interrupted processes, of missing directories, and
//! unused ones.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::disk::create;
use crate::disk::index::segment;

/// The age at which an unused index is removed.
const UNUSED: Duration = Duration::from_secs(90 * 24 * 3600);

/// The maximum wait for the cleanup, which blocks on an unresponsive network file system.
const PATIENCE: Duration = Duration::from_secs(1);

/// The files of an index: all sessions, and later additions.
const PARTS: [&str; 2] = ["all", "added"];

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
        let is_outdated = match extension(&path) {
            "new" => {
                create::remove_abandoned(&path);
                false
            }
            "all" => is_unused(&path) || segment::dir(&path).is_none_or(|dir| is_gone(&dir)),
            "added" => !path.with_extension(PARTS[0]).exists(),
            _ => false,
        };
        if is_outdated {
            let _ = PARTS.map(|part| fs::remove_file(path.with_extension(part))); // the next start tries again
        }
    }
}

/// Returns the directories of other indexes that are inside one of these directories or contain one. Symbolic links are
/// resolved.
pub(in crate::disk) fn related(cache: &Path, real: &[PathBuf]) -> Vec<PathBuf> {
    let volumes = files(cache).into_iter().filter(|path| extension(path) == PARTS[0]);
    let is_related = |dir: &PathBuf| real.iter().any(|one| one.starts_with(dir) || dir.starts_with(one));
    volumes.filter_map(|path| segment::dir(&path)).filter(|dir| !real.contains(dir) && is_related(dir)).collect()
}

/// Removes all index files. Returns their number and their total size in bytes.
///
/// # Errors
/// A file cannot be removed.
pub(crate) fn clear(cache: &Path) -> io::Result<(usize, u64)> {
    let all = files(cache);
    remove(all.iter().filter(|path| PARTS.contains(&extension(path))))
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

fn files(cache: &Path) -> Vec<PathBuf> {
    fs::read_dir(cache).into_iter().flatten().flatten().map(|file| file.path()).collect()
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
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
