//! A directory for recovered files. It is new or empty, and pitree creates each file and directory in it, so that it
//! follows no symbolic link, as long as no other program changes the directory meanwhile.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::disk::create::{folders, private};
use crate::system::files::make_folder;

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
