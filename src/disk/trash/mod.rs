//! The trash: where removed files go, and whence they come back. It is the system's, by the crate `trash` (on Linux that
//! of the FreeDesktop specification), or whatever a configured command makes of it.

mod back;
#[cfg(all(unix, not(target_os = "macos")))]
mod home;
#[cfg(all(unix, not(target_os = "macos")))]
mod over;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};

use crate::disk::reach::is_there;
pub(crate) use crate::disk::trash::back::NotBack;
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

/// The trash was asked, and did not take a file: it is where it was.
#[derive(Debug)]
pub(crate) struct NotTaken(anyhow::Error);

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for NotTaken {}

impl Bin<'_> {
    /// Takes a place in the trash for a file, where that can be known before the file is there.
    ///
    /// # Errors
    /// [`NotTaken`].
    #[cfg_attr(not(all(unix, not(target_os = "macos"))), allow(clippy::unused_self, reason = "no home trash there"))]
    pub(crate) fn reserve(&mut self, path: &Path) -> Result<Option<PathBuf>> {
        #[cfg(all(unix, not(target_os = "macos")))]
        if self.command.is_empty() {
            return Ok(Some(self.home.reserve(&known_as(path)).map_err(NotTaken)?));
        }
        Ok(None)
    }

    /// Gives up a place in which nothing is.
    #[cfg_attr(
        not(all(unix, not(target_os = "macos"))),
        allow(clippy::unused_self, unused_variables, reason = "no home trash there")
    )]
    pub(crate) fn give_up(&self, item: &Path) {
        #[cfg(all(unix, not(target_os = "macos")))]
        home::give_up(item);
    }

    /// Moves a file to the trash, to the place that was taken for it; of a symbolic link, the link.
    ///
    /// # Errors
    /// [`NotTaken`]: the place is given up.
    pub(crate) fn put(&mut self, path: &Path, item: Option<&Path>) -> Result<()> {
        let known = known_as(path);
        self.added.insert(known.clone());
        let put = match (self.command.split_first(), item) {
            (Some((program, arguments)), _) => by_command(program, arguments, path),
            #[cfg(all(unix, not(target_os = "macos")))]
            (None, Some(item)) => home::put(&known, item),
            (None, _) => trash::delete(&known).map_err(|error| anyhow!(in_words(&error))),
        };
        put.map_err(|error| NotTaken(error).into())
    }

    /// Takes a place and moves a file there.
    ///
    /// # Errors
    /// [`NotTaken`].
    pub(crate) fn put_somewhere(&mut self, path: &Path) -> Result<()> {
        let item = self.reserve(path)?;
        self.put(path, item.as_deref())
    }

    /// Takes a file back to where it was: from its place in the trash if that is known; else the one that was removed
    /// last, of those with at least so many bytes.
    ///
    /// # Errors
    /// [`NotBack`], or it can't be reached now: then it stays in the trash.
    #[cfg_attr(not(all(unix, not(target_os = "macos"))), allow(unused_variables, reason = "no home trash there"))]
    pub(crate) fn take_back(&mut self, path: &Path, item: Option<&Path>, at_least: u64) -> Result<()> {
        let look = || format!("can't look at {}", path.display());
        if is_there(path).with_context(look)? {
            return Err(NotBack::Taken(path.into()).into());
        }
        #[cfg(all(unix, not(target_os = "macos")))]
        if let Some((item, info)) = item.and_then(|item| Some((item, home::info_of(item)?))) {
            if is_there(item).with_context(|| format!("can't look at {}", item.display()))? {
                let back = back::restore(item, &info, path);
                return back.with_context(|| format!("can't take {} back from the trash", path.display()));
            }
            // A command may have put it elsewhere since.
            if self.command.is_empty() {
                return Err(NotBack::Emptied(path.into()).into());
            }
        }
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

    /// Clears away what is left of a file in its place in the trash, if it is at `path` as well and nothing is lost by
    /// that: a copy that was not finished, or not removed.
    #[cfg_attr(not(all(unix, not(target_os = "macos"))), allow(clippy::unused_self, reason = "no home trash there"))]
    pub(crate) fn clear(&mut self, path: &Path, item: &Path) {
        #[cfg(all(unix, not(target_os = "macos")))]
        if path.symlink_metadata().is_ok() {
            if over::has(path, item).unwrap_or(false) {
                let _ = std::fs::remove_file(item); // what can't be cleared away stays
            }
            home::give_up(item);
        }
    }
}

/// Lets a program move a file.
fn by_command(program: &str, arguments: &[String], path: &Path) -> Result<()> {
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

/// What a file in the trash is known by: where it was, links in the path of its folder resolved.
fn known_as(path: &Path) -> PathBuf {
    let real = path.parent().and_then(|folder| folder.canonicalize().ok());
    real.zip(path.file_name()).map_or_else(|| path.to_path_buf(), |(folder, name)| folder.join(name))
}
