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

/// Makes a folder for its owner alone, or makes one so that is there, with what is above it.
///
/// # Errors
/// It can't be made, or others may write to it and that can't be changed.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mode = fs::metadata(folder)?.permissions().mode();
        let is_open = |bits: u32| mode & bits != 0;
        if is_open(0o077)
            && let Err(error) = fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
            && is_open(0o022)
        {
            let reason = format!("others may write to the folder {}, which pitree can't change", folder.display());
            return Err(io::Error::new(error.kind(), format!("{reason} ({error})")));
        }
        Ok(())
    }
    #[cfg(not(unix))]
    fs::create_dir_all(folder)
}

/// Where a file is written before it takes its name: beside it, and not named like a session.
pub(crate) fn draft(path: &Path) -> PathBuf {
    beside(path, ".new")
}

/// A path with more at its end.
pub(crate) fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
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
    rename(&draft, path).inspect_err(|_| drop(fs::remove_file(&draft)))?;
    sync_folder(path);
    Ok(())
}

/// Gives a file a name that no file has, taking the one that it had; both in the same file system.
///
/// # Errors
/// There is such a file already, or the file system refuses.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let renamed = renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from);
        // Not every file system can do that.
        let can = |error: &io::Error| !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported);
        if renamed.as_ref().err().is_none_or(can) {
            return renamed;
        }
    }
    match fs::hard_link(from, to) {
        Ok(()) => {
            sync_folder(to); // the new name reaches the disk before the old one goes
            fs::remove_file(from).inspect_err(|_| drop(fs::remove_file(to)))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Nor has every one hard links.
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Lets the names in a file's folder reach the disk. Where folders can't be synced, they do so in their own time.
pub(crate) fn sync_folder(of: &Path) {
    let _ = sync_folder_of(of);
}

/// Lets the names in a file's folder reach the disk.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_folder_of(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), sync_names)
}

/// Lets the names in a folder reach the disk. File systems that can't do that for folders do it in their own time.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_names(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    let can_not = |error: &io::Error| matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported);
    if !cfg!(unix) || synced.as_ref().is_err_and(can_not) { Ok(()) } else { synced }
}
