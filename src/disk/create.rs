//! Makes files that were not there: whole or not at all, and readable by no more people than they should be.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::system::files as system;
pub(crate) use crate::system::files::{make_private, sync_names};

/// Options that make a file for its owner alone.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    system::for_owner(&mut options);
    options
}

/// Makes a folder for its owner alone, or makes one so that is there, with what is above it.
///
/// # Errors
/// It can't be made, or others may write to it and that can't be changed.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    folders(folder)?;
    system::close_folder(folder)
}

/// Makes a folder and those above it that are not there, for their owner alone, whatever the process takes from the modes
/// of new files. Those that are there stay as they are.
///
/// # Errors
/// One can't be made.
pub(crate) fn folders(folder: &Path) -> io::Result<()> {
    // Nothing is the folder where the process is.
    let is_there = |folder: &&Path| folder.as_os_str().is_empty() || folder.is_dir();
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !is_there(folder)).collect();
    for folder in missing.into_iter().rev() {
        match system::make_folder(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {} // somebody was faster
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes a file of pitree's own whole in place of what is there, a link included, for its owner alone.
///
/// # Errors
/// It can't be written; then what is there stays.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Two pitrees may write it at once.
    let draft = beside(path, &format!(".{}.new", std::process::id()));
    let written = (|| {
        private().write(true).create(true).truncate(true).open(&draft)?.write_all(bytes)?;
        fs::rename(&draft, path)
    })();
    written.inspect_err(|_| drop(fs::remove_file(&draft))) // nobody comes back to it
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

/// Writes a file beside its place, under the name of its [`draft`], on the disk when this returns. It can be read and
/// written by those who can read and write the file `like`, and by its owner in any case.
///
/// # Errors
/// It can't be written; nothing of it is left then.
pub(crate) fn write_draft(path: &Path, bytes: &[u8], like: &Path) -> io::Result<PathBuf> {
    let draft = draft(path);
    let mut file = private().write(true).create_new(true).open(&draft)?;
    let written = (|| {
        file.write_all(bytes)?;
        system::open_as(&file, like)?;
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

/// Gives a file a second name, or what stands for one: not every file system has hard links.
///
/// # Errors
/// There is such a file already, or the file system refuses; nothing is left then.
pub(crate) fn second_name(path: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(path, to).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::copy(path, to).map(drop).inspect_err(|_| drop(fs::remove_file(to))),
    })
}

/// Gives a file a name that no file has, taking the one that it had; both in the same file system.
///
/// # Errors
/// There is such a file already, or the file system refuses.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match system::rename_new(from, to) {
        // Not every file system can do that.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {}
        renamed => return renamed,
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode_of(path: &Path) -> Option<u32> {
        fs::metadata(path).ok().map(|metadata| metadata.permissions().mode() & 0o777)
    }

    #[test]
    fn a_draft_can_be_written_to_whatever_it_is_like() {
        let dir = tempfile::tempdir().unwrap();
        let (like, new) = (dir.path().join("like"), dir.path().join("new"));
        fs::write(&like, "").unwrap();
        for (mode, drafted) in [(0o400, 0o600), (0o444, 0o644), (0o600, 0o600), (0o664, 0o664)] {
            fs::set_permissions(&like, fs::Permissions::from_mode(mode)).unwrap();
            file(&new, b"one", &like).unwrap();
            assert_eq!((mode_of(&new), fs::read(&new).unwrap()), (Some(drafted), b"one".to_vec()));
            fs::remove_file(&new).unwrap();
        }
    }

    #[test]
    fn folders_that_are_there_stay_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let there = dir.path().join("there");
        fs::create_dir(&there).unwrap();
        fs::set_permissions(&there, fs::Permissions::from_mode(0o755)).unwrap();
        folders(&there.join("a/b")).unwrap();
        folders(&there.join("a/b")).unwrap();
        assert_eq!(["", "a", "a/b"].map(|path| mode_of(&there.join(path))), [0o755, 0o700, 0o700].map(Some));
        fs::write(there.join("file"), "").unwrap();
        assert!(folders(&there.join("file")).is_err() && folders(&there.join("file/a")).is_err());
    }
}
