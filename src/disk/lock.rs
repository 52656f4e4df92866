//! Locks of files, against other programs that take them as well: waited for in sight of whoever asked, never without
//! end. They go with the open file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::disk::files::open_regular;

/// Is told who is waited for, in words, and says whether to go on waiting.
pub(crate) type Wait<'a> = &'a mut dyn FnMut(&str) -> ControlFlow<()>;

/// As long nothing is said of waiting: mostly it is over by then.
pub(crate) const QUIET: Duration = Duration::from_millis(500);

/// How long it takes until a lock that was given up is seen to be free.
const LOOK: Duration = Duration::from_millis(20);

/// How often it is looked who holds the lock.
const WHO: Duration = Duration::from_secs(1);

/// How often a file that keeps being replaced is opened again.
const TRIES: usize = 20;

/// Opens a file and takes its lock; the file that is at the path then, also if another one was there before.
///
/// # Errors
/// It can't be opened, or somebody else holds the lock and `wait` gave up; [`is_unsupported`] tells a file system that has
/// no locks.
pub(crate) fn open(options: &OpenOptions, path: &Path, wait: Wait<'_>) -> io::Result<File> {
    for _ in 0..TRIES {
        let file = open_regular(path, options)?;
        take(&file, wait)?;
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
    Err(io::Error::other("it keeps being replaced by another program"))
}

/// Takes the lock of an open file.
///
/// # Errors
/// As [`open`].
pub(crate) fn take(file: &File, wait: Wait<'_>) -> io::Result<()> {
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
                None => who.insert((holder(file), Instant::now())),
            };
            if wait(holder).is_break() {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, format!("it is held by {holder}")));
            }
        }
        sleep(LOOK);
    }
}

/// Whether an error says that the file system has no locks.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    #[cfg(unix)]
    let is_full = error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error());
    #[cfg(not(unix))]
    let is_full = false;
    error.kind() == io::ErrorKind::Unsupported || is_full
}

/// Whether an open file is the one at a path.
///
/// # Errors
/// There is none, or it can't be looked at.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

/// An open file can't be replaced there.
#[cfg(not(unix))]
pub(crate) fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Who holds the lock of a file, in words, as far as the system tells.
fn holder(file: &File) -> String {
    const SOMEBODY: &str = "another program";
    #[cfg(target_os = "linux")]
    {
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        let process = file.metadata().ok().and_then(|file| process(&locks, &file));
        process.and_then(described).unwrap_or_else(|| SOMEBODY.into())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        SOMEBODY.into()
    }
}

/// The process that holds a lock of a file, by what `/proc/locks` says: `1: FLOCK ADVISORY WRITE 4711 fd:01:131 0 EOF`.
#[cfg(target_os = "linux")]
fn process(locks: &str, file: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let (major, minor) = (rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()));
    let file = format!("{major:02x}:{minor:02x}:{}", file.ino());
    let line = locks.lines().find(|line| line.split(' ').any(|word| word == file) && !line.contains("->"))?;
    let mut words = line.split_whitespace().skip_while(|word| !matches!(*word, "READ" | "WRITE"));
    words.nth(1)?.parse().ok()
}

/// A process by its name and number, and what lets it go on if it is stopped.
#[cfg(target_os = "linux")]
fn described(process: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (start, end) = (stat.find('(')?, stat.rfind(')')?);
    let (name, state) = (stat.get(start + 1..end)?, stat.get(end + 2..end + 3)?);
    let stopped = match state {
        "T" | "t" => format!(", which is stopped (`kill -CONT {process}` lets it go on)"),
        _ => String::new(),
    };
    Some(format!("{name}, process {process}{stopped}"))
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
            assert!(told[0].ends_with(&format!(", process {}", std::process::id())), "{told:?}");
        }
        let release = |_: &str| {
            first.unlock().unwrap();
            ControlFlow::Continue(())
        };
        open(&options(), &path, &mut { release }).unwrap();
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

    #[cfg(target_os = "linux")]
    #[test]
    fn reads_what_the_system_says_of_locks() {
        use std::os::unix::fs::MetadataExt;
        let file = fs::metadata("/").unwrap();
        let place =
            format!("{:02x}:{:02x}:{}", rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()), file.ino());
        let locks = format!(
            "1: POSIX  ADVISORY  READ 5 00:19:1 128 128\n2: -> FLOCK  ADVISORY  WRITE 6 {place} 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 {place} 0 EOF\n"
        );
        assert_eq!(process(&locks, &file), Some(4711));
        assert_eq!(process("", &file), None);
        assert_eq!(described(u32::MAX), None);
    }
}
