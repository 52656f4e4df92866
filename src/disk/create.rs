//! Makes files that were not there: whole or not at all, and readable by no more people than they should be.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options that make a file for its owner alone.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Where a file is written before it takes its name: beside it, and not named like a session.
pub(crate) fn draft(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Writes a file beside its place, under the name of its [`draft`], on the disk when this returns. It can be read by
/// those who can read the file `like`.
///
/// # Errors
/// It can't be written; nothing of it is left then.
pub(crate) fn write_draft(path: &Path, bytes: &[u8], like: &Path) -> io::Result<PathBuf> {
    let draft = draft(path);
    let mut file = private().write(true).create_new(true).open(&draft)?;
    let written = (|| {
        file.write_all(bytes)?;
        file.set_permissions(fs::metadata(like)?.permissions())?;
        file.sync_all()
    })();
    written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    Ok(draft)
}

/// Makes a new file, whole or not at all.
///
/// # Errors
/// As for [`write_draft`], or there is such a file already.
pub(crate) fn file(path: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
    let draft = write_draft(path, bytes, like)?;
    let named = name(&draft, path);
    named.inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Gives a file a name that no file has, taking the one that it had.
///
/// # Errors
/// There is such a file already, or the file system refuses.
pub(crate) fn name(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // Not every file system has hard links.
        Err(_) if fs::symlink_metadata(to).is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to)?,
    }
    sync_folder(to);
    Ok(())
}

/// Lets the names in a file's folder reach the disk. Where folders can't be synced, they do so in their own time.
pub(crate) fn sync_folder(of: &Path) {
    let _ = of.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all()));
}
