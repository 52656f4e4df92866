//! A copy of a text for another program to show: a file that only its owner can read, in a folder of its own that only
//! they can enter, and that goes with what the program left there.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::disk::create::private;
use crate::system;

/// The copy. It is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct TempCopy {
    folder: PathBuf,
    file: PathBuf,
}

impl TempCopy {
    /// Writes a text to a file of this name, in the directory for what is temporary.
    ///
    /// # Errors
    /// It can't be written.
    pub(crate) fn new(name: &str, text: &str) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let folder = env::temp_dir().join(format!("pitree-{:016x}", u64::from_ne_bytes(random)));
        // Whoever was there before is not trusted: it must be new.
        system::files::make_folder(&folder)?;
        let aside = Self { file: folder.join(name), folder };
        let mut file = private().write(true).create_new(true).open(&aside.file)?;
        file.write_all(text.as_bytes())?;
        Ok(aside)
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// Whether the file has another text now.
    pub(crate) fn is_other_than(&self, text: &str) -> bool {
        fs::read(&self.file).is_ok_and(|now| now != text.as_bytes())
    }
}

impl Drop for TempCopy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder); // what can't be removed is still its owner's alone
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
