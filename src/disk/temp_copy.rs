//! A temporary copy of a text for another program, in a private directory that is removed afterward with all files in
//! it.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::disk::create::private;
use crate::system;

/// The copy, removed on drop.
#[derive(Debug)]
pub(crate) struct TempCopy {
    folder: PathBuf,
    file: PathBuf,
}

impl TempCopy {
    /// Writes a text to a file with this name in a new temporary directory.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn new(name: &str, text: &str) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let folder = env::temp_dir().join(format!("pitree-{:016x}", u64::from_ne_bytes(random)));
        // The directory must be new, because an existing directory is not trusted.
        system::files::make_folder(&folder)?;
        let aside = Self { file: folder.join(name), folder };
        let mut file = private().write(true).create_new(true).open(&aside.file)?;
        file.write_all(text.as_bytes())?;
        Ok(aside)
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.file
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
    use super::*;

    #[test]
    fn a_copy_is_its_owners_and_goes() {
        let aside = TempCopy::new("entry.txt", "text\n").unwrap();
        let folder = aside.folder.clone();
        assert_eq!(fs::read_to_string(aside.path()).unwrap(), "text\n");
        assert!(!aside.is_other_than("text\n") && aside.is_other_than("other"));
        #[cfg(unix)]
        for (path, mode) in [(aside.path(), 0o600), (&folder, 0o700)] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode);
        }
        fs::write(folder.join("entry.txt.swp"), "left by an editor").unwrap();
        drop(aside);
        assert!(!folder.exists());
    }
}
