//! What pitree puts into pi's own directory: its extension, and where pitree is. Nothing else there is touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::create;
use crate::disk::locate::Environment;

/// What pi loads, and by its first words how it is known again.
const EXTENSION: (&str, &str) = ("index.ts", include_str!("../../assets/pi/pitree.ts"));
const BEGINS: &str = "// pitree";
/// The file that names the program.
const PROGRAM: &str = "program";

/// The folder of pi's directory that the extension is in; pi 0.87.1 and 1.5.2 load the `index.ts` of each such folder.
pub(crate) struct Extension(pub(crate) PathBuf);

impl Extension {
    /// Where pi looks for it.
    pub(crate) fn new(environment: &Environment) -> Self {
        Self(environment.agent().join("extensions/pitree"))
    }

    /// Its files.
    pub(crate) fn files(&self) -> [PathBuf; 2] {
        [EXTENSION.0, PROGRAM].map(|name| self.0.join(name))
    }

    /// Whether it is there, as pitree wrote it.
    ///
    /// # Errors
    /// What is there is somebody else's, or can't be read.
    pub(crate) fn is_there(&self) -> io::Result<bool> {
        let [code, _] = self.files();
        let foreign = |path: &Path| Err(io::Error::other(format!("{} is not pitree's", path.display())));
        // A link may lead to where somebody works on it.
        for path in [&self.0, &code] {
            if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
                return foreign(path);
            }
        }
        match fs::read(&code) {
            Ok(text) if text.starts_with(BEGINS.as_bytes()) => Ok(true),
            Ok(_) => foreign(&code),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_dir(&self.0) {
                Ok(mut files) => files.next().map_or(Ok(false), |_| foreign(&self.0)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Writes it, and that `program` is pitree.
    ///
    /// # Errors
    /// A file can't be written.
    pub(crate) fn write(&self, program: &Path) -> io::Result<()> {
        create::folders(&self.0)?;
        let [code, named] = self.files();
        // pi takes the extension only when it is whole, and then the program is named already.
        create::replace(&named, program.as_os_str().as_encoded_bytes())?;
        create::replace(&code, EXTENSION.1.as_bytes())
    }

    /// Removes its files, and the folder if nothing else is in it.
    ///
    /// # Errors
    /// A file can't be removed.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let [code, named] = self.files();
        for path in [named, code] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        match fs::remove_dir(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            _ => Ok(()),
        }
    }
}
