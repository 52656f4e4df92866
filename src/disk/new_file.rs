//! New files. A file is written as a draft and gets its name when it is complete. A draft has a random name next to its
//! place that no user and no other pitree gives, and is locked while it is written. A pitree only removes its own drafts,
//! and abandoned ones.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::disk::create::{self, folders, private, private_folder, rename, sync_folder};
use crate::disk::files::open_regular;
use crate::system::files as system_files;
use crate::system::files::make_folder;

/// The end of the name of a draft. Before it are the name of the file and a random number.
pub(crate) const DRAFT: &str = ".pitree-new";

/// The maximum number of attempts to create a draft.
const TRIES: usize = 20;

/// An upper limit of the time to write a draft.
const WRITING: Duration = Duration::from_secs(3600);

/// A file that is not visible under its name yet. Only its owner can read it. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The open file.
    pub(crate) file: File,
    path: PathBuf,
    is_placed: bool,
}

impl Draft {
    /// Creates the draft of a file in its directory.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn of(place: &Path) -> io::Result<Self> {
        for _ in 0..TRIES {
            let path = create::unique(place, DRAFT)?;
            let file = private().read(true).write(true).create_new(true).open(&path)?;
            let _ = system_files::lock_draft(&file); // without a lock, the draft counts as abandoned when it is old
            let draft = Self { file, path, is_placed: false };
            // Another process may have removed the draft before it was locked.
            if system_files::is_at(&draft.file, &draft.path).unwrap_or(false) {
                return Ok(draft);
            }
        }
        Err(io::Error::other(format!("another program keeps removing the drafts of {}", place.display())))
    }

    /// Returns its present path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the draft its name, unless another file has it. The caller syncs its content first.
    ///
    /// # Errors
    /// The name is taken, or the file system fails.
    pub(crate) fn place(self, at: &Path) -> io::Result<()> {
        self.give_name(at, rename)
    }

    /// Gives the draft its name, and replaces a file that has it. The caller syncs its content first.
    ///
    /// # Errors
    /// The file system fails.
    pub(crate) fn replace(self, at: &Path) -> io::Result<()> {
        self.give_name(at, |draft, at| fs::rename(draft, at))
    }

    /// Gives the complete draft its name, unless another file has it. Its permissions are those of the file `like`, and its
    /// owner can always read and write it. Without `like`, the file is private.
    ///
    /// # Errors
    /// The name is taken, or the file system fails.
    pub(crate) fn finish(self, at: &Path, like: Option<&Path>) -> io::Result<()> {
        like.map_or(Ok(()), |like| system_files::open_as(&self.file, like))?;
        self.file.sync_all()?;
        self.place(at)
    }

    fn give_name(mut self, at: &Path, rename: impl FnOnce(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        if !system_files::is_at(&self.file, &self.path)? {
            return Err(io::Error::other(format!("another program replaced {}", self.path.display())));
        }
        rename(&self.path, at)?;
        self.is_placed = true;
        sync_folder(at);
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let is_other = || system_files::is_at(&self.file, &self.path).is_ok_and(|is_at| !is_at);
        if !self.is_placed && !is_other() {
            let _ = fs::remove_file(&self.path); // a later run removes it
        }
    }
}

/// Removes the abandoned drafts of a file.
pub(crate) fn remove_drafts(place: &Path) {
    create::uniques(place, DRAFT).iter().for_each(|draft| remove_abandoned(draft));
}

/// Removes a draft unless a process is writing it.
pub(crate) fn remove_abandoned(draft: &Path) {
    let Ok(file) = open_regular(draft, OpenOptions::new().read(true).write(true)) else { return };
    let is_old = || Some(file.metadata().ok()?.modified().ok()?.elapsed().ok()? > WRITING);
    let is_abandoned = match system_files::lock_draft(&file) {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        // The file system has no locks.
        Err(TryLockError::Error(_)) => is_old() == Some(true),
    };
    if is_abandoned {
        let _ = fs::remove_file(draft); // the next run tries again
    }
}

/// Replaces one of pitree's own files, or a symbolic link in its place, atomically and durably. The new file is
/// private.
///
/// # Errors
/// The file cannot be written; the previous file is unchanged.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    remove_drafts(path);
    let mut draft = Draft::of(path)?;
    draft.write_all(bytes)?;
    draft.file.sync_all()?;
    draft.replace(path)
}

/// Creates a new file atomically, with permissions as for [`Draft::finish`].
///
/// # Errors
/// The file exists, or cannot be written.
pub(crate) fn write(path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
    let mut draft = Draft::of(path)?;
    draft.write_all(bytes)?;
    draft.finish(path, like)
}

/// A new file of a user, such as an export. Dropping it before it is finished removes it.
#[derive(Debug)]
pub(crate) enum NewFile {
    /// A draft of a regular file.
    Draft(BufWriter<Draft>),
    /// A device or a pipe, which is written to.
    Stream(File),
}

impl NewFile {
    /// Creates the draft of a file in its directory, and removes abandoned ones. Opens a device or a pipe, because only
    /// regular files and symbolic links to them are replaced.
    ///
    /// # Errors
    /// The draft cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        // A relative path without a directory is in the working directory.
        let path = std::path::absolute(path)?;
        if fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return OpenOptions::new().write(true).open(&path).map(Self::Stream);
        }
        remove_drafts(&path);
        Ok(Self::Draft(BufWriter::with_capacity(64 * 1024, Draft::of(&path)?)))
    }

    /// Makes the file visible under its name. Replaces a file there only if `replaces`.
    ///
    /// # Errors
    /// The file cannot be written or renamed, or the name is taken; the draft is removed.
    pub(crate) fn finish(self, path: &Path, replaces: bool) -> io::Result<()> {
        let Self::Draft(draft) = self else { return Ok(()) };
        let path = std::path::absolute(path)?;
        let draft = draft.into_inner().map_err(io::IntoInnerError::into_error)?;
        draft.file.sync_all()?;
        if replaces { draft.replace(&path) } else { draft.place(&path) }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Draft(draft) => draft.write(bytes),
            Self::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Draft(draft) => draft.flush(),
            Self::Stream(file) => file.flush(),
        }
    }
}

/// Writes a whole file of a user, and replaces one there only if `replaces`.
///
/// # Errors
/// The file cannot be written, or the name is taken.
pub(crate) fn write_for_user(path: &Path, text: &str, replaces: bool) -> Result<()> {
    let write = || {
        let mut file = NewFile::create(path)?;
        file.write_all(text.as_bytes())?;
        file.finish(path, replaces)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Returns `true` if a name is taken, even by a broken symbolic link.
pub(crate) fn is_taken(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Creates a directory for new files with its parents, accessible only by the owner. An existing one is unchanged.
///
/// # Errors
/// The directory cannot be created.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    if path.is_dir() { Ok(()) } else { private_folder(&std::path::absolute(path)?) }
}

/// The directory. All files in it are new.
#[derive(Debug)]
pub(crate) struct RecoveredDir(PathBuf);

impl RecoveredDir {
    /// Creates the directory, or opens an empty one. Returns `None` if it is not empty, or not a directory.
    ///
    /// # Errors
    /// The directory cannot be created or read.
    pub(crate) fn create(path: &Path) -> io::Result<Option<Self>> {
        match fs::symlink_metadata(path) {
            Ok(_) if !path.is_dir() || fs::read_dir(path)?.next().is_some() => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => folders(&std::path::absolute(path)?)?,
            Err(error) => return Err(error),
        }
        Ok(Some(Self(dunce::canonicalize(path)?)))
    }

    /// Writes a file at a place: the names of its directories, and its own.
    ///
    /// # Errors
    /// The file exists, it cannot be written, or something else replaced one of its directories.
    pub(crate) fn write(&self, place: &[String], bytes: &[u8]) -> io::Result<PathBuf> {
        let [dirs @ .., name] = place else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut path = self.0.clone();
        for dir in dirs {
            path.push(dir);
            match make_folder(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !fs::symlink_metadata(&path)?.is_dir() {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        path.push(name);
        // A new file does not follow a symbolic link.
        let mut file = private().write(true).create_new(true).open(&path)?;
        if let Err(error) = file.write_all(bytes) {
            let _ = fs::remove_file(&path); // half a file would look like a recovered one
            return Err(error);
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_written_to() {
        use std::os::unix::fs::OpenOptionsExt;

        let dir = tempfile::tempdir().unwrap();
        let [pipe, link, file] = ["pipe", "link", "file"].map(|name| dir.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink("pipe", &link).unwrap();
        for path in [&pipe, &link] {
            let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
            let mut reader = OpenOptions::new().read(true).custom_flags(nonblocking).open(&pipe).unwrap();
            write_for_user(path, "text", true).unwrap();
            let mut text = [0; 4];
            io::Read::read_exact(&mut reader, &mut text).unwrap();
            assert_eq!((&text, fs::read_dir(dir.path()).unwrap().count()), (b"text", 2));
        }
        fs::write(&file, "kept").unwrap();
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_for_user(&link, "text", true).unwrap();
        assert_eq!((fs::read(&file).unwrap(), fs::read(&link).unwrap()), (b"kept".to_vec(), b"text".to_vec()));
    }

    #[test]
    fn a_file_appears_when_it_is_complete_and_replaces_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        let names = || fs::read_dir(dir.path()).unwrap().count();
        let write = |text: &str| {
            let mut file = NewFile::create(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file
        };
        drop(write("dropped"));
        assert_eq!(names(), 0);
        write("one").finish(&path, false).unwrap();
        assert!(write("two").finish(&path, false).is_err());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names()), ("one", 1));
        write("three").finish(&path, true).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names()), ("three", 1));
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn drafts_of_two_programs_do_not_meet() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("s.jsonl");
        fs::write(dir.path().join("s.jsonl.new"), "of a user").unwrap();
        let (one, other) = (Draft::of(&place).unwrap(), Draft::of(&place).unwrap());
        fs::write(one.path(), "one").unwrap();
        fs::write(other.path(), "half").unwrap();
        remove_drafts(&place);
        one.place(&place).unwrap();
        assert!(Draft::of(&place).unwrap().place(&place).is_err(), "the name is taken");
        drop(other);
        assert_eq!(names(dir.path()), ["s.jsonl", "s.jsonl.new"]);
        assert_eq!(fs::read_to_string(&place).unwrap(), "one");
    }

    #[test]
    fn what_another_program_put_in_its_place_is_neither_used_nor_removed() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("s.jsonl");
        let draft = Draft::of(&place).unwrap();
        let path = draft.path().to_path_buf();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "other").unwrap();
        assert!(draft.replace(&place).is_err() && !place.exists());
        assert_eq!(fs::read_to_string(path).unwrap(), "other");
    }

    #[test]
    fn an_abandoned_draft_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("s.jsonl");
        let left = create::unique(&place, DRAFT).unwrap();
        fs::write(&left, "of a killed process").unwrap();
        for other in ["s.jsonl.0123.pitree-new", "t.jsonl.0123456789abcdef.pitree-new", "s.jsonl.new"] {
            fs::write(dir.path().join(other), "").unwrap();
        }
        assert!(left.exists());
        remove_drafts(&place);
        assert!(!left.exists());
        assert_eq!(names(dir.path()).len(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn a_draft_can_be_written_to_whatever_it_is_like() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o777);
        let dir = tempfile::tempdir().unwrap();
        let (like, new) = (dir.path().join("like"), dir.path().join("new"));
        fs::write(&like, "").unwrap();
        for (like_mode, drafted) in [(0o400, 0o600), (0o444, 0o644), (0o600, 0o600), (0o664, 0o664)] {
            fs::set_permissions(&like, fs::Permissions::from_mode(like_mode)).unwrap();
            write(&new, b"one", Some(&like)).unwrap();
            assert_eq!((mode(&new), fs::read(&new).unwrap()), (Some(drafted), b"one".to_vec()));
            fs::remove_file(&new).unwrap();
        }
    }
}

#[cfg(test)]
mod recovered_tests {
    use super::*;

    fn place(path: &str) -> Vec<String> {
        path.split('/').map(String::from).collect()
    }

    #[test]
    fn writes_only_new_files() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("new/dir");
        let recovered = RecoveredDir::create(&target).unwrap().unwrap();
        recovered.write(&place("a/b"), b"x").unwrap();
        assert_eq!(fs::read(target.join("a/b")).unwrap(), b"x");
        assert!(recovered.write(&place("a/b"), b"y").is_err() && recovered.write(&place("a"), b"y").is_err());
        assert!(RecoveredDir::create(&target).unwrap().is_none(), "not empty");
        assert!(RecoveredDir::create(&target.join("a/b")).unwrap().is_none(), "not a directory");
    }

    #[test]
    #[cfg(unix)]
    fn follows_no_symbolic_link() {
        let dir = tempfile::tempdir().unwrap();
        let [target, elsewhere] = ["target", "elsewhere"].map(|name| dir.path().join(name));
        fs::create_dir(&elsewhere).unwrap();
        let recovered = RecoveredDir::create(&target).unwrap().unwrap();
        std::os::unix::fs::symlink(&elsewhere, target.join("link")).unwrap();
        std::os::unix::fs::symlink(elsewhere.join("file"), target.join("file")).unwrap();
        assert!(recovered.write(&place("link/a"), b"x").is_err());
        assert!(recovered.write(&place("file"), b"x").is_err());
        assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
    }
}
