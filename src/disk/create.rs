//! Makes files that were not there: whole or not at all, and readable by no more people than they should be.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk::files::open_regular;
use crate::system::files as system;
pub(crate) use crate::system::files::{make_private, sync_names};

/// Attempts to create a draft.
const TRIES: usize = 20;

/// Writing a draft takes less time than this.
const WRITING: Duration = Duration::from_secs(3600);

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

/// Replaces a file of pitree's own, or a link in its place, atomically and durably, for its owner alone.
///
/// # Errors
/// It cannot be written; the previous file is unchanged.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (mut file, draft) = locked_draft(path)?;
    let written = (|| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    })();
    written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    sync_folder(path);
    Ok(())
}

/// Creates a draft that is to replace a file, named after this process, and removes abandoned ones. Its lock marks it as
/// in use: other processes may run in another PID namespace.
///
/// # Errors
/// It cannot be created.
pub(crate) fn locked_draft(path: &Path) -> io::Result<(File, PathBuf)> {
    remove_drafts(path);
    let draft = beside(path, &format!(".{}.new", std::process::id()));
    for _ in 0..TRIES {
        let _ = fs::remove_file(&draft); // on file systems without locks: from an earlier process with this PID
        let file = private().read(true).write(true).create_new(true).open(&draft)?;
        // Another process may have removed the draft before it was locked.
        let is_held = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if !is_held && system::is_at(&file, &draft).unwrap_or(false) {
            return Ok((file, draft));
        }
    }
    Err(io::Error::other(format!("another program keeps removing {}", draft.display())))
}

/// Removes the abandoned drafts of a file.
pub(crate) fn remove_drafts(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let is_draft = |file: &fs::DirEntry| {
        let file = file.file_name();
        let process = file.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let process = process.and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(b".new"));
        process.is_some_and(|process| process.iter().all(u8::is_ascii_digit))
    };
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(is_draft).for_each(|file| remove_abandoned(&file.path()));
}

/// Removes a draft unless a process is writing it.
pub(crate) fn remove_abandoned(draft: &Path) {
    let Ok(file) = open_regular(draft, OpenOptions::new().read(true).write(true)) else { return };
    let is_old = || Some(file.metadata().ok()?.modified().ok()?.elapsed().ok()? > WRITING);
    let is_abandoned = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        // The file system has no locks.
        Err(TryLockError::Error(_)) => is_old() == Some(true),
    };
    if is_abandoned {
        let _ = fs::remove_file(draft); // the next run tries again
    }
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
