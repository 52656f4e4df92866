//! What pitree puts into pi's own directory: its extension, where pitree is, and its skill. Nothing else there is touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::create;
use crate::disk::locate::Environment;

/// What tells agents how to look things up in earlier sessions.
pub(crate) const SKILL: &str = include_str!("../../skills/pitree/SKILL.md");

/// The file that names the program.
const PROGRAM: &str = "program";

/// A file in a folder of its own, as pi 0.87.1 and 1.5.2 load each such folder.
#[derive(Debug)]
struct Part {
    folder: PathBuf,
    name: &'static str,
    text: &'static str,
    /// The first words, by which it is known again.
    begins: &'static str,
}

impl Part {
    fn file(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    /// Whether it is there, as a pitree wrote it.
    ///
    /// # Errors
    /// What is there is somebody else's, or can't be read.
    fn is_there(&self) -> io::Result<bool> {
        let file = self.file();
        let foreign = |path: &Path| Err(io::Error::other(format!("{} is not pitree's", path.display())));
        // A link may lead to where somebody works on it.
        for path in [&self.folder, &file] {
            if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
                return foreign(path);
            }
        }
        match fs::read(&file) {
            Ok(text) if text.starts_with(self.begins.as_bytes()) => Ok(true),
            Ok(_) => foreign(&file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_dir(&self.folder) {
                Ok(mut files) => files.next().map_or(Ok(false), |_| foreign(&self.folder)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        }
    }
}

/// All of it, in pi's directory.
#[derive(Debug)]
pub(crate) struct InPi {
    extension: Part,
    skill: Part,
}

impl InPi {
    /// Where pi looks for it; `None` without a home directory.
    pub(crate) fn new(environment: &Environment) -> Option<Self> {
        let agent = Some(environment.agent()).filter(|agent| agent.is_absolute())?;
        let text = include_str!("../../assets/pi/pitree.ts");
        Some(Self {
            extension: Part { folder: agent.join("extensions/pitree"), name: "index.ts", text, begins: "// pitree" },
            skill: Part {
                folder: agent.join("skills/pitree"),
                name: "SKILL.md",
                text: SKILL,
                begins: "---\nname: pitree\n",
            },
        })
    }

    fn parts(&self) -> [&Part; 2] {
        [&self.extension, &self.skill]
    }

    fn program(&self) -> PathBuf {
        self.extension.folder.join(PROGRAM)
    }

    /// Its files, in the order in which they are written: pi takes the extension when it is there, and then the program is
    /// named already.
    pub(crate) fn files(&self) -> [PathBuf; 3] {
        [self.program(), self.extension.file(), self.skill.file()]
    }

    /// Whether anything of it is there.
    ///
    /// # Errors
    /// What is there is somebody else's, or can't be read.
    pub(crate) fn is_there(&self) -> io::Result<bool> {
        let [extension, skill] = self.parts().map(Part::is_there);
        Ok(extension? | skill?)
    }

    /// Writes it, and that `program` is pitree.
    ///
    /// # Errors
    /// A file can't be written.
    pub(crate) fn write(&self, program: &Path) -> io::Result<()> {
        create::folders(&self.extension.folder)?;
        create::replace(&self.program(), program.as_os_str().as_encoded_bytes())?;
        for part in self.parts() {
            create::folders(&part.folder)?;
            create::replace(&part.file(), part.text.as_bytes())?;
        }
        Ok(())
    }

    /// Removes its files, and their folders if nothing else is in them.
    ///
    /// # Errors
    /// A file can't be removed.
    pub(crate) fn remove(&self) -> io::Result<()> {
        for path in self.files() {
            gone(fs::remove_file(path))?;
        }
        for part in self.parts() {
            match gone(fs::remove_dir(&part.folder)) {
                Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// What was not there needs not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
