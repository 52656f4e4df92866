//! Files without owners and modes: access is determined by their directory.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use same_file::Handle;
use twox_hash::XxHash3_64;

use crate::system::messages::FileMetadata;

/// Does nothing: there are no modes.
pub(crate) fn for_owner(_options: &mut OpenOptions) {}

/// Does nothing: there are no modes.
///
/// # Errors
/// None.
pub(crate) fn make_private(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Creates a directory.
///
/// # Errors
/// The directory cannot be created, or exists.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)
}

/// Does nothing: there are no modes.
///
/// # Errors
/// None.
pub(crate) fn close_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Does nothing: there are no modes.
///
/// # Errors
/// None.
pub(crate) fn open_as(_file: &File, _like: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns `None`: there are no modes.
pub(crate) fn permissions(_metadata: &Metadata) -> Option<u32> {
    None
}

/// Does nothing: there are no modes.
///
/// # Errors
/// None.
pub(crate) fn set_permissions(_file: &File, _permissions: u32) -> io::Result<()> {
    Ok(())
}

/// Returns `None`: writing reports a full disk.
pub(crate) fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

/// Returns the directory: there are no modes.
///
/// # Errors
/// None.
pub(crate) fn private_dir(dir: &Path) -> io::Result<PathBuf> {
    Ok(dir.to_path_buf())
}

/// Returns `true`: only this user can write to the directories in question.
pub(crate) fn is_own(_metadata: &Metadata) -> bool {
    true
}

/// Like [`is_own`].
pub(crate) fn is_of_user(_metadata: &Metadata) -> bool {
    true
}

/// Like [`is_own`].
pub(crate) fn is_private(_metadata: &Metadata) -> bool {
    true
}

/// Returns `false`, because modes are unknown.
pub(crate) fn is_writable_by_all(_metadata: &Metadata) -> bool {
    false
}

/// Does nothing: opening never blocks.
pub(crate) fn without_waiting(_options: &mut OpenOptions) {}

/// Sets options to open a link itself, which is not a regular file.
pub(crate) fn without_links(options: &mut OpenOptions) {
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}

/// Returns `true`: the file name determines if a file is executable.
pub(crate) fn is_executable(_file: &Path) -> bool {
    true
}

/// Returns `true` if an open file is the one at a path.
///
/// # Errors
/// There is no file, or it is inaccessible.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(Handle::from_file(file.try_clone()?)? == Handle::from_path(path)?)
}

/// Not supported atomically.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`].
pub(crate) fn rename_new(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: directories cannot be synced.
///
/// # Errors
/// None.
pub(crate) fn sync_names(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Syncs all files of a file system at once, which this system cannot do.
#[allow(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(crate) fn sync_file_system(_folder: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Fills a buffer from an offset.
///
/// # Errors
/// The file ends early, or cannot be read.
pub(crate) fn read_exact_at(file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < to.len() {
        match file.seek_read(&mut to[done..], at + done as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all bytes at an offset.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.seek_write(&bytes[done..], at + done as u64) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => done += written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Fails: a lock would keep this process from reading the draft through another handle.
///
/// # Errors
/// Always [`io::ErrorKind::Unsupported`].
pub(crate) fn lock_draft(_file: &File) -> Result<(), TryLockError> {
    Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
}

/// Creates a symbolic link to a file.
///
/// # Errors
/// The path is taken, or the user may not create links.
pub(crate) fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, path)
}

/// Returns `true` if the error means that the file system has no locks.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// Converts bytes to a path, or returns `None` if they are not a valid path.
pub(crate) fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Returns the version of a file.
pub(crate) fn version(metadata: &Metadata, path: &Path) -> FileMetadata {
    let time = |time: io::Result<SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    };
    FileMetadata {
        file: (0, XxHash3_64::oneshot(path.as_os_str().as_encoded_bytes())),
        bytes: metadata.len(),
        written: time(metadata.modified()),
        changed: time(metadata.created()),
    }
}

/// A directory for file lookups.
pub(crate) struct DirHandle;

impl DirHandle {
    /// Opens a directory.
    pub(crate) fn open(_dir: &Path) -> Self {
        Self
    }

    /// Returns the version of the file with this name in the directory at `path`, or `None` if it is not a regular file.
    ///
    /// # Errors
    /// The file is inaccessible.
    pub(crate) fn file(&self, path: &Path, name: &OsStr) -> io::Result<Option<FileMetadata>> {
        let path = path.join(name);
        let metadata = fs::metadata(&path)?;
        Ok(metadata.is_file().then(|| version(&metadata, &path)))
    }
}
