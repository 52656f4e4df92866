//! Creates new files atomically and with minimal permissions, and temporary copies.

use std::env;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk::files::open_regular;
use crate::system::files as system;
pub(crate) use crate::system::files::{make_private, sync_names};

/// The maximum number of attempts to create a draft.
const TRIES: usize = 20;

/// An upper limit of the time to write a draft.
const WRITING: Duration = Duration::from_secs(3600);

/// Returns options that create a file accessible only by its owner.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    system::for_owner(&mut options);
    options
}

/// Creates a private directory with its parents, or makes an existing directory private.
///
/// # Errors
/// The directory cannot be created, or others can write to it and this cannot be changed.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    folders(folder)?;
    system::close_folder(folder)
}

/// Creates a directory and its missing parents, accessible only by the owner regardless of the umask. Existing
/// directories are unchanged.
///
/// # Errors
/// A directory cannot be created.
pub(crate) fn folders(folder: &Path) -> io::Result<()> {
    // An empty path is the working directory.
    let is_there = |folder: &&Path| folder.as_os_str().is_empty() || folder.is_dir();
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !is_there(folder)).collect();
    for folder in missing.into_iter().rev() {
        match system::make_folder(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {} // created meanwhile
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Creates the missing parents of a file, and syncs their names.
///
/// # Errors
/// A directory cannot be created or synced.
pub(crate) fn synced_folders(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.is_dir()).collect();
    folders(folder)?;
    missing.into_iter().rev().try_for_each(sync_folder_of)
}

/// Replaces one of pitree's own files, or a symbolic link in its place, atomically and durably. The new file is
/// private.
///
/// # Errors
/// The file cannot be written; the previous file is unchanged.
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

/// Creates a draft that will replace a file, named after this process, and removes abandoned drafts. Its lock marks it
/// as in use, because PIDs are ambiguous between PID namespaces.
///
/// # Errors
/// The draft cannot be created.
pub(crate) fn locked_draft(path: &Path) -> io::Result<(File, PathBuf)> {
    remove_drafts(path);
    let draft = beside(path, &format!(".{}.new", std::process::id()));
    for _ in 0..TRIES {
        let _ = fs::remove_file(&draft); // on file systems without locks: left by an earlier process with this PID
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

/// The suffixes of temporary files next to a session: a draft, lines that a pi wrote late, the versions before and after a
/// rewrite, and the original of an archived session.
pub(crate) const DRAFT: &str = ".new";
pub(crate) const LATE: &str = ".late";
pub(crate) const ORIGINAL: &str = ".original";
pub(crate) const REWRITTEN: &str = ".rewritten";
pub(crate) const ARCHIVED: &str = ".archived";

/// The suffixes of the versions before and after a conversion, without the format version.
pub(crate) const VERSION: &str = ".v";

/// Returns the path of the draft of a file: in the same directory, with a name that is not a session name.
pub(crate) fn draft(path: &Path) -> PathBuf {
    beside(path, DRAFT)
}

/// Appends a suffix to a path.
pub(crate) fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// Writes the [`draft`] of a file and syncs it to disk. Its permissions are those of the file `like`, and its owner can
/// always read and write it. Without `like`, the file is private.
///
/// # Errors
/// The draft cannot be written; it is removed.
pub(crate) fn write_draft(path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<PathBuf> {
    let draft = draft(path);
    let mut file = private().write(true).create_new(true).open(&draft)?;
    let written = (|| {
        file.write_all(bytes)?;
        like.map_or(Ok(()), |like| system::open_as(&file, like))?;
        file.sync_all()
    })();
    written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    Ok(draft)
}

/// Creates a new file atomically.
///
/// # Errors
/// The errors of [`write_draft`], and an error if the file exists.
pub(crate) fn file(path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
    let draft = write_draft(path, bytes, like)?;
    rename(&draft, path).inspect_err(|_| drop(fs::remove_file(&draft)))?;
    sync_folder(path);
    Ok(())
}

/// Creates a hard link, or a copy on file systems without hard links.
///
/// # Errors
/// The target exists, or the file system fails; nothing is left at the target.
pub(crate) fn second_name(path: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(path, to).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::copy(path, to).map(drop).inspect_err(|_| drop(fs::remove_file(to))),
    })
}

/// Renames a file within a file system; never replaces an existing file.
///
/// # Errors
/// The target exists, or the file system fails.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match system::rename_new(from, to) {
        // Some file systems do not support this operation.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {}
        renamed => return renamed,
    }
    match fs::hard_link(from, to) {
        Ok(()) => {
            sync_folder(to); // sync the new name before removing the old one
            fs::remove_file(from).inspect_err(|_| drop(fs::remove_file(to)))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links either.
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Syncs the directory of a file, and ignores errors on file systems that cannot sync directories.
pub(crate) fn sync_folder(of: &Path) {
    let _ = sync_folder_of(of);
}

/// Syncs the directory of a file.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_folder_of(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), sync_names)
}

/// Creates a private directory with a random name for temporary files.
///
/// # Errors
/// The directory cannot be created.
pub(crate) fn temp_folder(prefix: &str) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let folder = env::temp_dir().join(format!("{prefix}{:016x}", u64::from_ne_bytes(random)));
    // The directory must be new, because an existing directory is not trusted.
    system::make_folder(&folder)?;
    Ok(folder)
}

/// A copy of a text for another program, in a private temporary directory that is removed on drop with all files in it.
#[derive(Debug)]
pub(crate) struct TempCopy {
    folder: PathBuf,
    pub(crate) file: PathBuf,
}

impl TempCopy {
    /// Writes a text to a file with this name in a new temporary directory.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn new(name: &str, text: &str) -> io::Result<Self> {
        let folder = temp_folder("pitree-")?;
        let aside = Self { file: folder.join(name), folder };
        let mut file = private().write(true).create_new(true).open(&aside.file)?;
        file.write_all(text.as_bytes())?;
        Ok(aside)
    }

    /// Returns `true` if the file was changed.
    pub(crate) fn is_other_than(&self, text: &str) -> bool {
        fs::read(&self.file).is_ok_and(|now| now != text.as_bytes())
    }
}

impl Drop for TempCopy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder); // a remaining copy is still private
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[cfg(unix)]
    fn mode_of(path: &Path) -> Option<u32> {
        fs::metadata(path).ok().map(|metadata| metadata.permissions().mode() & 0o777)
    }

    #[cfg(unix)]
    #[test]
    fn a_draft_can_be_written_to_whatever_it_is_like() {
        let dir = tempfile::tempdir().unwrap();
        let (like, new) = (dir.path().join("like"), dir.path().join("new"));
        fs::write(&like, "").unwrap();
        for (mode, drafted) in [(0o400, 0o600), (0o444, 0o644), (0o600, 0o600), (0o664, 0o664)] {
            fs::set_permissions(&like, fs::Permissions::from_mode(mode)).unwrap();
            file(&new, b"one", Some(&like)).unwrap();
            assert_eq!((mode_of(&new), fs::read(&new).unwrap()), (Some(drafted), b"one".to_vec()));
            fs::remove_file(&new).unwrap();
        }
    }

    #[cfg(unix)]
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

    #[test]
    fn a_copy_is_its_owners_and_goes() {
        let aside = TempCopy::new("entry.txt", "text\n").unwrap();
        let folder = aside.folder.clone();
        assert_eq!(fs::read_to_string(&aside.file).unwrap(), "text\n");
        assert!(!aside.is_other_than("text\n") && aside.is_other_than("other"));
        #[cfg(unix)]
        for (path, mode) in [(&aside.file, 0o600), (&folder, 0o700)] {
            assert_eq!(mode_of(path), Some(mode));
        }
        fs::write(folder.join("entry.txt.swp"), "left by an editor").unwrap();
        drop(aside);
        assert!(!folder.exists());
    }
}
