//! File locks shared with other programs. Waiting is reported to the caller and never endless. A lock is released when
//! its file is closed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::disk::files::open_regular;
pub(crate) use crate::system::files::{has_no_locks, is_at};
use crate::system::os;

/// A callback that receives a description of the lock holder, and returns `true` to keep waiting.
pub(crate) type LockObserver<'a> = &'a mut dyn FnMut(&str) -> ControlFlow<()>;

/// The time before waiting is reported, because most locks are short.
pub(crate) const QUIET: Duration = Duration::from_millis(500);

/// The interval between attempts to take a lock.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The interval between lookups of the lock holder.
const WHO: Duration = Duration::from_secs(1);

/// The name of an unknown lock holder.
const SOMEBODY: &str = "another program";

/// The maximum number of attempts on a file that keeps being replaced.
const TRIES: usize = 20;

/// Opens and locks the file at a path, even if it is replaced meanwhile.
///
/// # Errors
/// The file cannot be opened, or another process holds the lock and `wait` returned `false`; [`has_no_locks`] detects a
/// file system without locks.
pub(crate) fn open(options: &OpenOptions, path: &Path, wait: LockObserver<'_>) -> io::Result<File> {
    for _ in 0..TRIES {
        let file = open_regular(path, options)?;
        take(&file, wait)?;
        match is_at(&file, path) {
            Ok(true) => return Ok(file),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Err(io::Error::other("another program keeps replacing it"))
}

/// Locks an open file.
///
/// # Errors
/// The errors of [`open`].
pub(crate) fn take(file: &File, wait: LockObserver<'_>) -> io::Result<()> {
    let begun = Instant::now();
    let mut who: Option<(String, Instant)> = None;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        if begun.elapsed() >= QUIET {
            let (holder, _) = match who.take().filter(|(_, seen)| seen.elapsed() < WHO) {
                Some(known) => who.insert(known),
                None => who.insert((os::lock_holder(file).unwrap_or_else(|| SOMEBODY.into()), Instant::now())),
            };
            if wait(holder).is_break() {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, format!("locked by {holder}")));
            }
        }
        sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn options() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        options
    }

    #[test]
    fn waiting_is_told_and_can_be_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "").unwrap();
        let first = open(&options(), &path, &mut |_| ControlFlow::Break(())).unwrap();
        let mut told = Vec::new();
        let error = open(&options(), &path, &mut |who| {
            told.push(who.to_string());
            if told.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(told.len(), 3);
        if cfg!(target_os = "linux") {
            assert!(told[0].ends_with(&format!(" (pid {})", std::process::id())), "{told:?}");
        }
        let release = |_: &str| {
            first.unlock().unwrap();
            ControlFlow::Continue(())
        };
        open(&options(), &path, &mut { release }).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_removed_while_it_was_waited_for_is_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut options = options();
        options.create(true);
        let first = open(&options, &path, &mut |_| ControlFlow::Break(())).unwrap();
        let mut remove = |_: &str| {
            fs::remove_file(&path).unwrap();
            first.unlock().unwrap();
            ControlFlow::Continue(())
        };
        assert!(is_at(&open(&options, &path, &mut remove).unwrap(), &path).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_replaced_while_it_was_waited_for_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("file"), dir.path().join("other"));
        fs::write(&path, "old").unwrap();
        fs::write(&other, "new").unwrap();
        let first = open(&options(), &path, &mut |_| ControlFlow::Break(())).unwrap();
        let mut replace = |_: &str| {
            fs::rename(&other, &path).unwrap();
            first.unlock().unwrap();
            ControlFlow::Continue(())
        };
        let file = open(&options(), &path, &mut replace).unwrap();
        assert_eq!(io::read_to_string(file).unwrap(), "new");
    }
}
