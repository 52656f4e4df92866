//! The trash: where removed files go, and whence they come back. It is the system's, by the crate `trash` (on Linux that
//! of the FreeDesktop specification), or whatever a configured command makes of it.

mod back;
#[cfg(all(unix, not(target_os = "macos")))]
mod home;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::disk::trash::back::{Contents, in_words};
#[cfg(all(unix, not(target_os = "macos")))]
use crate::disk::trash::home::Home;

/// How files get into the trash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trash {
    /// A program and its arguments, which gets the path of the file as its last one; none for the system's trash.
    pub command: Vec<String>,
}

impl Trash {
    /// The trash for one request, made at the time `now` in milliseconds since 1970.
    pub(crate) fn open(&self, now: i64) -> Bin<'_> {
        Bin {
            command: &self.command,
            #[cfg(all(unix, not(target_os = "macos")))]
            home: Home::new(now),
            contents: None,
            added: HashSet::new(),
        }
    }
}

/// The trash during one request, which may move many files: what it holds is looked up once.
pub(crate) struct Bin<'a> {
    command: &'a [String],
    #[cfg(all(unix, not(target_os = "macos")))]
    home: Home,
    /// What it held when that was looked up.
    contents: Option<Contents>,
    /// What was put into it since.
    added: HashSet<PathBuf>,
}

impl Bin<'_> {
    /// Moves a file to the trash; of a symbolic link, the link.
    ///
    /// # Errors
    /// The trash does not take it: the file is where it was.
    pub(crate) fn put(&mut self, path: &Path) -> Result<()> {
        let known = known_as(path);
        self.added.insert(known.clone());
        let Some((program, arguments)) = self.command.split_first() else { return self.put_by_system(&known) };
        let mut command = Command::new(program);
        command.args(arguments).arg(path).stdin(Stdio::null()).stdout(Stdio::null());
        // Ctrl+C in a terminal is for pitree, which stops when the file is gone.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let output = command.output().with_context(|| format!("can't run {program}"))?;
        if path.symlink_metadata().is_err() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        match said.trim() {
            "" if output.status.success() => bail!("{program} left the file where it was"),
            "" => bail!("{program} failed ({})", output.status),
            said => bail!("{program} says: {said}"),
        }
    }

    #[cfg_attr(not(all(unix, not(target_os = "macos"))), allow(clippy::unused_self, reason = "no home trash there"))]
    fn put_by_system(&mut self, path: &Path) -> Result<()> {
        #[cfg(all(unix, not(target_os = "macos")))]
        if self.home.put(path).is_some() {
            return Ok(());
        }
        trash::delete(path).map_err(|error| anyhow::anyhow!(in_words(&error)))
    }

    /// Takes a file back to where it was: the one that was removed last, of those with at least so many bytes.
    ///
    /// # Errors
    /// It is not in the trash, or its place is taken: then it stays there.
    pub(crate) fn take_back(&mut self, path: &Path, at_least: u64) -> Result<()> {
        let known = known_as(path);
        let contents = match self.contents.take().filter(|_| !self.added.contains(&known)) {
            Some(contents) => contents,
            None => {
                self.added.clear();
                Contents::read()?
            }
        };
        self.contents.insert(contents).take_back(path, &known, at_least)
    }
}

/// What a file in the trash is known by: where it was, links in the path of its folder resolved.
fn known_as(path: &Path) -> PathBuf {
    let real = path.parent().and_then(|folder| folder.canonicalize().ok());
    real.zip(path.file_name()).map_or_else(|| path.to_path_buf(), |(folder, name)| folder.join(name))
}
