//! Owners and modes of files, what tells them apart, and what is asked of an open folder.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::system::messages::FileFacts;

/// What others may do: write, and anything.
const OTHERS_WRITE: u32 = 0o022;
const OTHERS: u32 = 0o077;

/// Lets options make a file for its owner alone.
pub(crate) fn for_owner(options: &mut OpenOptions) {
    options.mode(0o600);
}

/// Makes a file its owner's alone: one that was there may be open to others, and a new one closed to all.
///
/// # Errors
/// That cannot be changed.
pub(crate) fn make_private(file: &File) -> io::Result<()> {
    if mode(&file.metadata()?) == 0o600 { Ok(()) } else { set_mode(file, 0o600) }
}

/// Makes a folder for its owner alone, whatever the process takes from the modes of new files.
///
/// # Errors
/// It cannot be made, or is there.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

/// Closes a folder to others.
///
/// # Errors
/// They may write to it, and that cannot be changed.
pub(crate) fn close_folder(folder: &Path) -> io::Result<()> {
    let mode = mode(&fs::metadata(folder)?);
    if mode != 0o700
        && let Err(error) = fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        && mode & OTHERS_WRITE != 0
    {
        let reason = format!("{} is writable by other users, and pitree cannot change its mode", folder.display());
        return Err(io::Error::new(error.kind(), format!("{reason} ({error})")));
    }
    Ok(())
}

/// Opens a file to those who can open another one, and to its owner in any case.
///
/// # Errors
/// That cannot be changed.
pub(crate) fn open_as(file: &File, like: &Path) -> io::Result<()> {
    set_mode(file, mode(&fs::metadata(like)?) | 0o600)
}

fn mode(metadata: &Metadata) -> u32 {
    metadata.mode() & 0o777
}

fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// Resolves a directory in which no other user can write, rename or replace a file.
///
/// # Errors
/// It is open to other users, or they can replace one of its parent directories.
pub(crate) fn private_dir(dir: &Path) -> io::Result<PathBuf> {
    const STICKY: u32 = 0o1000;
    let real = dir.canonicalize()?;
    let denied = |dir: &Path, reason: &str| {
        let reason = format!("{} {reason}", dir.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
    };
    if !is_private(&fs::metadata(&real)?) {
        return denied(&real, "belongs to another user or is open to other users");
    }
    for parent in real.ancestors().skip(1) {
        let mode = fs::metadata(parent)?.mode();
        if mode & 0o002 != 0 && mode & STICKY == 0 {
            return denied(parent, "is writable by all users");
        }
    }
    Ok(real)
}

/// Whether something is this user's own, and nobody else's to write to.
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    is_closed_to(OTHERS_WRITE, metadata)
}

/// Whether something is this user's own, and nobody else may do anything with it.
pub(crate) fn is_private(metadata: &Metadata) -> bool {
    is_closed_to(OTHERS, metadata)
}

fn is_closed_to(others: u32, metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & others == 0
}

/// Lets options open a pipe or a device without waiting for anybody.
pub(crate) fn without_waiting(options: &mut OpenOptions) {
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
}

/// The same, and links are not followed.
pub(crate) fn without_links(options: &mut OpenOptions) {
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits().cast_signed());
}

/// Whether a file may be executed.
pub(crate) fn is_executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Whether an open file is the one at a path.
///
/// # Errors
/// There is none, or it cannot be looked at.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, there) = (file.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

/// Gives a file another name unless there is such a file. Not every file system, and not every Unix, can do that in one step.
///
/// # Errors
/// There is such a file; or [`io::ErrorKind::Unsupported`], [`io::ErrorKind::InvalidInput`]: it cannot be done here.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        let _ = (from, to);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Lets the names in a folder reach the disk. File systems that cannot do that for folders do it in their own time.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_names(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    let can_not = |error: &io::Error| matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported);
    if synced.as_ref().is_err_and(can_not) { Ok(()) } else { synced }
}

/// Fills a buffer from a place in a file; other readers of it are not moved.
///
/// # Errors
/// It ends before, or cannot be read.
pub(crate) fn read_exact_at(file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(to, at)
}

/// Whether an error says that the file system has no locks.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error())
}

/// The path that has these bytes; `None` if there can be none.
pub(crate) fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(OsString::from_vec(bytes).into())
}

/// What the file system says of a file.
pub(crate) fn facts(metadata: &Metadata) -> FileFacts {
    FileFacts {
        file: Some((metadata.dev(), metadata.ino())),
        bytes: metadata.len(),
        written: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
    }
}

fn nanoseconds(seconds: i64, more: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(more)
}

/// Asks for files of one directory by a handle of it, where it can be had: to walk the whole path for each takes longer.
pub(crate) struct DirHandle(Option<rustix::fd::OwnedFd>);

impl DirHandle {
    /// The directory at a path.
    pub(crate) fn open(dir: &Path) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self(rustix::fs::open(dir, flags, Mode::empty()).ok())
    }

    /// What the file system says of a file in it; `None` if that is no file.
    ///
    /// # Errors
    /// It cannot be looked at.
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub(crate) fn file(&self, path: &Path) -> io::Result<Option<FileFacts>> {
        let Some(dir) = &self.0 else {
            let metadata = fs::metadata(path)?;
            return Ok(metadata.is_file().then(|| facts(&metadata)));
        };
        let name = path.file_name().map_or(&b""[..], OsStr::as_bytes);
        let stat = rustix::fs::statat(dir, OsStr::from_bytes(name), AtFlags::empty())?;
        let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
        Ok(is_file.then(|| FileFacts {
            file: Some((stat.st_dev as u64, stat.st_ino as u64)),
            bytes: stat.st_size as u64,
            written: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }))
    }
}
