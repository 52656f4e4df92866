//! New files of users, such as exports: written as a draft and renamed when they are complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::disk::create::{self, locked_draft, private_folder, sync_folder};

/// A file that is not visible under its name yet. Only its owner can read it. Dropping it removes the draft.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: BufWriter<File>,
    draft: PathBuf,
    is_finished: bool,
}

impl NewFile {
    /// Creates the draft of a file in its directory.
    ///
    /// # Errors
    /// The draft cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        // A relative path without a directory is in the working directory.
        let path = std::path::absolute(path)?;
        let (file, draft) = locked_draft(&path)?;
        Ok(Self { file: BufWriter::with_capacity(64 * 1024, file), draft, is_finished: false })
    }

    /// Makes the file visible under its name. Replaces a file there only if `replaces`.
    ///
    /// # Errors
    /// The file cannot be written or renamed, or the name is taken; the draft is removed.
    pub(crate) fn finish(mut self, path: &Path, replaces: bool) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        if replaces { fs::rename(&self.draft, path) } else { create::rename(&self.draft, path) }?;
        self.is_finished = true;
        sync_folder(&std::path::absolute(path)?);
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_file(&self.draft); // the next export to this file removes it
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
