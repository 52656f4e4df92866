//! Owners, modes and identity of files, and operations on an open directory.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::system::messages::FileMetadata;

/// Mode bits: write permission for others, and all permissions for others.
const OTHERS_WRITE: u32 = 0o022;

/// The mode bit that lets every user write. A group often has only its user.
const ALL_WRITE: u32 = 0o002;
const OTHERS: u32 = 0o077;

/// Sets options to create a private file.
pub(crate) fn for_owner(options: &mut OpenOptions) {
    options.mode(0o600);
}

/// Makes an existing or new file private.
///
/// # Errors
/// The mode cannot be changed.
pub(crate) fn make_private(file: &File) -> io::Result<()> {
    if mode(&file.metadata()?) == 0o600 { Ok(()) } else { set_mode(file, 0o600) }
}

/// Creates a private directory regardless of the umask.
///
/// # Errors
/// The directory cannot be created, or exists.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

/// Removes permissions of others from a directory.
///
/// # Errors
/// Others can write to it, and this cannot be changed.
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

/// Gives a file the permissions of another one, and always read and write for its owner.
///
/// # Errors
/// The mode cannot be changed.
pub(crate) fn open_as(file: &File, like: &Path) -> io::Result<()> {
    set_mode(file, mode(&fs::metadata(like)?) | 0o600)
}

/// Returns the permissions of a file.
#[allow(clippy::unnecessary_wraps, reason = "other systems have no modes")]
pub(crate) fn permissions(metadata: &Metadata) -> Option<u32> {
    Some(mode(metadata))
}

/// Sets the permissions of a file.
///
/// # Errors
/// The mode cannot be changed.
pub(crate) fn set_permissions(file: &File, permissions: u32) -> io::Result<()> {
    set_mode(file, permissions & 0o777)
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
    let real = dunce::canonicalize(dir)?;
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

/// Returns `true` if it belongs to this user and only they can write to it.
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    is_closed_to(OTHERS_WRITE, metadata)
}

/// Returns `true` if it belongs to this user and only they can access it.
pub(crate) fn is_private(metadata: &Metadata) -> bool {
    is_closed_to(OTHERS, metadata)
}

/// Returns `true` if it belongs to this user; others may be able to write to it.
pub(crate) fn is_of_user(metadata: &Metadata) -> bool {
    is_closed_to(0, metadata)
}

/// Returns `true` if every user can write to it.
pub(crate) fn is_writable_by_all(metadata: &Metadata) -> bool {
    metadata.mode() & ALL_WRITE != 0
}

fn is_closed_to(others: u32, metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & others == 0
}

/// Sets options to open a pipe or a device without blocking.
pub(crate) fn without_waiting(options: &mut OpenOptions) {
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
}

/// Sets options to open without blocking and without following links.
pub(crate) fn without_links(options: &mut OpenOptions) {
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits().cast_signed());
}

/// Returns `true` if a file is executable.
pub(crate) fn is_executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Returns `true` if an open file is the one at a path.
///
/// # Errors
/// There is no file, or it is inaccessible.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, there) = (file.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

/// Renames a file without replacing another one. Some file systems and some Unix systems cannot do this atomically.
///
/// # Errors
/// The target exists; or [`io::ErrorKind::Unsupported`], [`io::ErrorKind::InvalidInput`]: not supported here.
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

/// Syncs the names in a directory. Ignores file systems that cannot sync directories.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_names(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    let can_not = |error: &io::Error| matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported);
    if synced.as_ref().is_err_and(can_not) { Ok(()) } else { synced }
}

/// Syncs all files of a file system at once. Returns `false` if the system cannot do so.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_file_system(folder: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        rustix::fs::syncfs(File::open(folder)?)?;
        Ok(true)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Ok(false)
    }
}

/// Fills a buffer from an offset without moving other readers of the file.
///
/// # Errors
/// The file ends early, or cannot be read.
pub(crate) fn read_exact_at(file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(to, at)
}

/// Writes all bytes at an offset without moving other readers of the file.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// Locks a draft, so that other pitrees do not remove it.
///
/// # Errors
/// Another process holds the lock, or the file system has no locks.
pub(crate) fn lock_draft(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Creates a symbolic link.
///
/// # Errors
/// The path is taken, or the file system has no links.
pub(crate) fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Returns `true` if the error means that the file system has no locks.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error())
}

/// Converts bytes to a path, or returns `None` if they are not a valid path.
pub(crate) fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(OsString::from_vec(bytes).into())
}

/// Returns the number of free bytes of the file system of a directory, if known.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(folder).ok()?;
    facts.f_bavail.checked_mul(facts.f_frsize)
}

/// Returns the version of a file.
pub(crate) fn version(metadata: &Metadata, _path: &Path) -> FileMetadata {
    FileMetadata {
        file: (metadata.dev(), metadata.ino()),
        bytes: metadata.len(),
        written: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
    }
}

fn nanoseconds(seconds: i64, more: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(more)
}

/// A handle of a directory for file lookups, which is faster than walking the whole path for each file. Empty if the
/// directory cannot be opened.
pub(crate) struct DirHandle(Option<rustix::fd::OwnedFd>);

impl DirHandle {
    /// Opens a directory.
    pub(crate) fn open(dir: &Path) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self(rustix::fs::open(dir, flags, Mode::empty()).ok())
    }

    /// Returns the version of the file with this name in the directory at `path`, or `None` if it is not a regular file.
    ///
    /// # Errors
    /// The file is inaccessible.
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub(crate) fn file(&self, path: &Path, name: &OsStr) -> io::Result<Option<FileMetadata>> {
        let Some(dir) = &self.0 else {
            let path = path.join(name);
            let metadata = fs::metadata(&path)?;
            return Ok(metadata.is_file().then(|| version(&metadata, &path)));
        };
        let stat = rustix::fs::statat(dir, name, AtFlags::empty())?;
        let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
        Ok(is_file.then(|| FileMetadata {
            file: (stat.st_dev as u64, stat.st_ino as u64),
            bytes: stat.st_size as u64,
            written: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }))
    }
}
