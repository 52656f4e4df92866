//! Files that pitree installs in pi's directory: its extension, the path of the pitree program, and its skill. A record
//! of the written texts distinguishes outdated and incomplete files, which are replaced, from edited ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::disk::files::{self, read_regular};
use crate::disk::locate::Environment;
use crate::disk::{create, new_file};

/// The skill that tells agents how to search earlier sessions.
pub(crate) const SKILL: &str = include_str!("../../skills/pitree/SKILL.md");

/// The name of the file with the path of the program.
const PROGRAM: &str = "program";

/// The name of the record of a directory.
const RECORD: &str = "installed.json";

/// A record of the texts that pitree wrote to a directory. A file being replaced has several.
#[derive(Default, Serialize, Deserialize)]
struct InstallRecord {
    version: u32,
    files: BTreeMap<String, Vec<String>>,
}

impl InstallRecord {
    /// Reads the record of a directory. A missing or damaged record is empty.
    fn read(dir: &Path) -> Self {
        let text = read_regular(&dir.join(RECORD)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn write(&self, dir: &Path) -> io::Result<()> {
        new_file::replace(&dir.join(RECORD), &serde_json::to_vec(&Self { version: 1, files: self.files.clone() })?)
    }
}

/// A file that pitree installs.
#[derive(Debug)]
struct InstalledFile {
    name: &'static str,
    text: Vec<u8>,
}

/// A directory with installed files. pi 0.87.1, 1.5.2 and 1.6.0 load each such directory.
#[derive(Debug)]
pub(crate) struct InstalledDir {
    path: PathBuf,
    parts: Vec<InstalledFile>,
}

/// The content found at the path of an installed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundContent {
    Nothing,
    /// Text written by some version of pitree, or the beginning of one.
    Ours,
    /// Content of the user, with a description.
    Theirs(&'static str),
}

/// A file that was written or removed, or that is unchanged, for the reason.
pub(crate) type InstallOutcome = (PathBuf, Option<&'static str>);

/// Options of install and remove.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct InstallOptions {
    /// Print what would change without changing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace or delete edited files as well
    #[arg(long)]
    pub(crate) force: bool,
}

impl InstalledDir {
    /// Returns the content at the path of an installed file.
    ///
    /// # Errors
    /// The file cannot be read.
    fn found(&self, part: &InstalledFile, record: &InstallRecord) -> io::Result<FoundContent> {
        let file = self.path.join(part.name);
        // A link can point to the file that the user edits.
        if [&self.path, &file].into_iter().any(|path| is_link(path)) {
            return Ok(FoundContent::Theirs("a symbolic link"));
        }
        let text = match read_regular(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.has_others_alone() => {
                return Ok(FoundContent::Theirs("in a directory with other files"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FoundContent::Nothing),
            text => at(&file, text)?,
        };
        let recorded = record.files.get(part.name);
        // A path can be invalid UTF-8.
        let in_record = String::from_utf8_lossy(&text);
        let is_ours = part.text.starts_with(&text)
            || recorded.is_some_and(|texts| texts.iter().any(|written| written.starts_with(&*in_record)));
        Ok(if is_ours { FoundContent::Ours } else { FoundContent::Theirs("edited since pitree wrote it") })
    }

    /// Returns `true` if the directory has files but none written by pitree.
    fn has_others_alone(&self) -> bool {
        let names: Vec<_> = files::entries(&self.path).map(|file| file.file_name()).collect();
        // A draft has a suffix after its name.
        let is_ours = |name: &&[u8]| {
            let mut ours = self.parts.iter().map(|part| part.name).chain([RECORD]);
            ours.any(|ours| name.starts_with(ours.as_bytes()))
        };
        !names.is_empty() && !names.iter().any(|name| is_ours(&name.as_encoded_bytes()))
    }

    /// Returns `true` if all files are installed with the current texts.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn is_current(&self) -> io::Result<bool> {
        for part in &self.parts {
            let file = self.path.join(part.name);
            match read_regular(&file) {
                Ok(text) if text == part.text => {}
                Ok(_) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                error => drop(at(&file, error)?),
            }
        }
        Ok(true)
    }

    /// Returns the paths of the files that [`Self::install`] writes.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn to_write(&self) -> io::Result<Vec<PathBuf>> {
        let outcomes = self.install(InstallOptions { dry_run: true, ..InstallOptions::default() })?;
        let mut files: Vec<PathBuf> =
            outcomes.into_iter().filter(|(_, kept)| kept.is_none()).map(|(file, _)| file).collect();
        if !files.is_empty() {
            files.push(self.path.join(RECORD));
        }
        Ok(files)
    }

    /// Writes the files except those edited by the user.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn install(&self, how: InstallOptions) -> io::Result<Vec<InstallOutcome>> {
        let mut record = InstallRecord::read(&self.path);
        let (mut outcomes, mut parts) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let file = self.path.join(part.name);
            match self.found(part, &record)? {
                FoundContent::Theirs(reason) if !how.force => outcomes.push((file, Some(reason))),
                _ => {
                    outcomes.push((file, None));
                    parts.push(part);
                }
            }
        }
        if parts.is_empty() || how.dry_run {
            return Ok(outcomes);
        }
        if is_link(&self.path) {
            at(&self.path, fs::remove_file(&self.path))?;
        }
        at(&self.path, create::folders(&self.path))?;
        // If pitree is interrupted, the record contains either text of each file, old or new.
        for part in &parts {
            record.files.entry(part.name.into()).or_default().push(String::from_utf8_lossy(&part.text).into());
        }
        at(&self.path, record.write(&self.path))?;
        for part in &parts {
            let file = self.path.join(part.name);
            at(&file, new_file::replace(&file, &part.text))?;
            record.files.insert(part.name.into(), vec![String::from_utf8_lossy(&part.text).into()]);
        }
        at(&self.path, record.write(&self.path))?;
        Ok(outcomes)
    }

    /// Removes the files except those edited by the user, and the directory if it is empty.
    ///
    /// # Errors
    /// A file cannot be read or removed.
    pub(crate) fn remove(&self, how: InstallOptions) -> io::Result<Vec<InstallOutcome>> {
        let record = InstallRecord::read(&self.path);
        let mut outcomes = Vec::new();
        for part in &self.parts {
            let file = self.path.join(part.name);
            match self.found(part, &record)? {
                FoundContent::Nothing => continue,
                FoundContent::Theirs(_) if file.symlink_metadata().is_err() => continue,
                FoundContent::Theirs(reason) if !how.force => {
                    outcomes.push((file, Some(reason)));
                    continue;
                }
                _ if how.dry_run => {}
                // Of a link to a directory, the link itself.
                _ if is_link(&self.path) => {
                    at(&self.path, fs::remove_file(&self.path))?;
                    return Ok(vec![(self.path.clone(), None)]);
                }
                _ => at(&file, fs::remove_file(&file))?,
            }
            outcomes.push((file, None));
        }
        let is_kept = outcomes.iter().any(|outcome| outcome.1.is_some());
        if !how.dry_run && !is_kept && !is_link(&self.path) {
            let rest = [RECORD].into_iter().chain(self.parts.iter().map(|part| part.name));
            rest.for_each(|name| new_file::remove_drafts(&self.path.join(name)));
            at(&self.path, gone(fs::remove_file(self.path.join(RECORD))))?;
            match gone(fs::remove_dir(&self.path)) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                removed => at(&self.path, removed)?,
            }
        }
        Ok(outcomes)
    }
}

/// Returns the directories for a pitree program with their files in the order of writing. The path of the program comes
/// before the extension, because pi loads the extension at once. Returns `None` without a home directory.
pub(crate) fn dirs(environment: &Environment, program: &Path) -> Option<[InstalledDir; 2]> {
    let agent = Some(environment.agent()).filter(|agent| agent.is_absolute())?;
    let part = |name, text: &[u8]| InstalledFile { name, text: text.into() };
    let program = part(PROGRAM, program.as_os_str().as_encoded_bytes());
    let extension = part("index.ts", include_bytes!("../../assets/pi/pitree.ts"));
    let skill = part("SKILL.md", SKILL.as_bytes());
    Some([
        InstalledDir { path: agent.join("extensions/pitree"), parts: vec![program, extension] },
        InstalledDir { path: agent.join("skills/pitree"), parts: vec![skill] },
    ])
}

/// Returns `true` if pi's settings list the npm package of pitree, which contains the extension (pi 1.6.0).
pub(crate) fn is_in_package(environment: &Environment) -> bool {
    let settings = read_regular(&environment.agent().join("settings.json")).unwrap_or_default();
    memchr::memmem::find(&settings, b"\"npm:pitree").is_some()
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

/// Adds the path of the file to an error.
fn at<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Ignores the error that the file is missing.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
