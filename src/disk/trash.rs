//! The trash: where removed files go, and whence they come back. It is the system's, by the crate `trash` (on Linux that
//! of the FreeDesktop specification), or whatever a configured command makes of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// How files get into the trash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trash {
    /// A program and its arguments, which gets the path of the file as its last one; none for the system's trash.
    pub command: Vec<String>,
}

impl Trash {
    /// Moves a file to the trash; of a symbolic link, the link.
    ///
    /// # Errors
    /// The trash does not take it: the file is where it was.
    pub(crate) fn put(&self, path: &Path) -> Result<()> {
        let Some((program, arguments)) = self.command.split_first() else {
            return trash::delete(path).map_err(|error| anyhow::anyhow!(in_words(&error)));
        };
        let mut command = Command::new(program);
        command.args(arguments).arg(path).stdin(Stdio::null()).stdout(Stdio::null());
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
}

/// The reason without the words for programmers.
fn in_words(error: &trash::Error) -> String {
    match error {
        trash::Error::Unknown { description } | trash::Error::Os { description, .. } => description.clone(),
        #[cfg(all(unix, not(target_os = "macos")))]
        trash::Error::FileSystem { path, source } => format!("{}: {source}", path.display()),
        trash::Error::CouldNotAccess { target } => format!("can't reach {target}"),
        other => other.to_string(),
    }
}

/// What a file in the trash is known by: where it was, links in the path of its folder resolved.
fn known_as(path: &Path) -> PathBuf {
    let real = path.parent().and_then(|folder| folder.canonicalize().ok());
    real.zip(path.file_name()).map_or_else(|| path.to_path_buf(), |(folder, name)| folder.join(name))
}

pub(crate) use back::Contents;

/// Systems whose trash can be asked what it holds.
#[cfg(any(windows, all(unix, not(target_os = "macos"))))]
mod back {
    use super::*;
    use trash::{TrashItem, TrashItemSize, os_limited};

    /// What is in the trash.
    pub(crate) struct Contents(Vec<TrashItem>);

    impl Contents {
        /// Looks into the trash.
        ///
        /// # Errors
        /// It can't be read.
        pub(crate) fn read() -> Result<Self> {
            let items = os_limited::list().map_err(|error| anyhow::anyhow!(in_words(&error)));
            Ok(Self(items.context("can't look into the trash")?))
        }

        /// Takes a file back to where it was: the one that was removed last, of those with at least so many bytes.
        ///
        /// # Errors
        /// It is not in the trash, or its place is taken: then it stays there.
        pub(crate) fn take_back(&self, path: &Path, at_least: u64) -> Result<()> {
            let known = known_as(path);
            let is_whole = |item: &&TrashItem| {
                let size = os_limited::metadata(item).map(|metadata| metadata.size);
                matches!(size, Ok(TrashItemSize::Bytes(bytes)) if bytes >= at_least)
            };
            let items = self.0.iter().filter(|item| item.original_path() == known).filter(is_whole);
            let Some(item) = items.max_by_key(|item| item.time_deleted) else {
                bail!("{} is not in the trash: it was emptied, or another trash took the file", path.display());
            };
            if path.symlink_metadata().is_ok() {
                bail!("there is a file in its place, which stays as it is: {}", path.display());
            }
            restore(item, &known).with_context(|| format!("can't take {} back from the trash", path.display()))
        }
    }

    /// The crate puts an empty file in the place first, which would stay if the program were killed then; a hard link
    /// is there at once, and never in place of another file.
    #[cfg(unix)]
    fn restore(item: &TrashItem, to: &Path) -> Result<()> {
        let info = Path::new(&item.id);
        let in_trash = || Some(info.parent()?.parent()?.join("files").join(info.file_stem()?));
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if let Some(in_trash) = in_trash()
            && std::fs::hard_link(&in_trash, to).is_ok()
        {
            crate::disk::create::sync_folder(to);
            std::fs::remove_file(in_trash)?;
            std::fs::remove_file(info)?;
            return Ok(());
        }
        by_crate(item)
    }

    #[cfg(not(unix))]
    fn restore(item: &TrashItem, _to: &Path) -> Result<()> {
        by_crate(item)
    }

    fn by_crate(item: &TrashItem) -> Result<()> {
        os_limited::restore_all([item.clone()]).map_err(|error| anyhow::anyhow!(in_words(&error)))
    }
}

/// Systems whose trash only a person can take things from.
#[cfg(not(any(windows, all(unix, not(target_os = "macos")))))]
mod back {
    use super::*;

    pub(crate) struct Contents;

    impl Contents {
        pub(crate) fn read() -> Result<Self> {
            Ok(Self)
        }

        pub(crate) fn take_back(&self, path: &Path, _at_least: u64) -> Result<()> {
            bail!("this system's trash gives nothing back to programs: put {} back by hand", known_as(path).display())
        }
    }
}
