//! What is known of files without owners and modes: who may use one is left to the folder that it is in.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use same_file::Handle;

use crate::system::messages::FileFacts;

/// There are no modes.
pub(crate) fn for_owner(_options: &mut OpenOptions) {}

/// There are no modes.
///
/// # Errors
/// None.
pub(crate) fn make_private(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Makes a folder.
///
/// # Errors
/// It cannot be made, or is there.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)
}

/// There are no modes.
///
/// # Errors
/// None.
pub(crate) fn close_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// There are no modes.
///
/// # Errors
/// None.
pub(crate) fn open_as(_file: &File, _like: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns the directory: there are no modes.
///
/// # Errors
/// None.
pub(crate) fn private_dir(dir: &Path) -> io::Result<PathBuf> {
    Ok(dir.to_path_buf())
}

/// Whoever it is of, it is where only this user may write.
pub(crate) fn is_own(_metadata: &Metadata) -> bool {
    true
}

/// As [`is_own`].
pub(crate) fn is_private(_metadata: &Metadata) -> bool {
    true
}

/// No file has to be waited for.
pub(crate) fn without_waiting(_options: &mut OpenOptions) {}

/// Lets options open a link itself, which is no file then.
pub(crate) fn without_links(options: &mut OpenOptions) {
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}

/// Its name says whether a file may be executed.
pub(crate) fn is_executable(_file: &Path) -> bool {
    true
}

/// Whether an open file is the one at a path.
///
/// # Errors
/// There is none, or it cannot be looked at.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(Handle::from_file(file.try_clone()?)? == Handle::from_path(path)?)
}

/// It cannot be done in one step.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`].
pub(crate) fn rename_new(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Folders reach the disk in their own time.
///
/// # Errors
/// None.
pub(crate) fn sync_names(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Fills a buffer from a place in a file.
///
/// # Errors
/// It ends before, or cannot be read.
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

/// Whether an error says that the file system has no locks.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// The path that has these bytes; `None` if there can be none.
pub(crate) fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// What the file system says of a file.
pub(crate) fn facts(metadata: &Metadata) -> FileFacts {
    let time = |time: io::Result<SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    };
    FileFacts {
        file: None,
        bytes: metadata.len(),
        written: time(metadata.modified()),
        changed: time(metadata.created()),
    }
}

/// Asks for files of one directory.
pub(crate) struct DirHandle;

impl DirHandle {
    /// The directory at a path.
    pub(crate) fn open(_dir: &Path) -> Self {
        Self
    }

    /// What the file system says of a file in it; `None` if that is no file.
    ///
    /// # Errors
    /// It cannot be looked at.
    #[allow(clippy::unused_self, reason = "others have a handle")]
    pub(crate) fn file(&self, path: &Path) -> io::Result<Option<FileFacts>> {
        let metadata = fs::metadata(path)?;
        Ok(metadata.is_file().then(|| facts(&metadata)))
    }
}
