//! The trashes of other systems, through the crate `trash`. The place of a file is unknown in advance.

#![allow(clippy::unnecessary_wraps, reason = "what cannot fail here may do so elsewhere")]

#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

#[cfg(target_os = "macos")]
pub(super) use crate::disk::trash::other_systems::macos::TrashContents;
#[cfg(windows)]
pub(super) use crate::disk::trash::other_systems::windows::TrashContents;
use crate::disk::trash::restore_error::in_words;

/// The home trash without known places.
pub(super) struct HomeTrash;

impl HomeTrash {
    /// Creates the trash.
    pub(super) fn new() -> Self {
        Self
    }

    /// Returns `None`: no place can be chosen.
    ///
    /// # Errors
    /// None.
    #[allow(clippy::unused_self, reason = "other systems have places")]
    pub(super) fn choose(&mut self, _path: &Path) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Does nothing: there are no places to reserve.
    ///
    /// # Errors
    /// None.
    #[allow(clippy::unused_self, reason = "other systems have places")]
    pub(super) fn claim(&mut self, _path: &Path, _item: &Path, _time: i64) -> Result<bool> {
        Ok(true)
    }

    /// Does nothing: there are no trash info files.
    ///
    /// # Errors
    /// None.
    #[allow(clippy::unused_self, reason = "other systems have places")]
    pub(super) fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Moves a file to the trash.
///
/// # Errors
/// The file cannot be moved; it is unchanged.
pub(super) fn put(path: &Path, _item: Option<&Path>) -> Result<()> {
    trash::delete(path).map_err(|error| anyhow!(in_words(&error)))
}

/// Returns `false`: no path is known to be a place in the trash.
pub(super) fn is_place(_item: &Path) -> bool {
    false
}

/// Trash info, which does not exist here.
pub(super) struct Note {
    /// The path before the deletion.
    pub(super) path: PathBuf,
}

impl Note {
    /// Returns `false`.
    #[allow(clippy::unused_self, reason = "other systems have trash info files")]
    pub(super) fn is_of(&self, _paths: &[&Path], _time: i64) -> bool {
        false
    }
}

/// Returns `None`: there is no trash info.
pub(super) fn note(_item: &Path) -> Option<Note> {
    None
}

/// Restores nothing.
///
/// # Errors
/// Always.
pub(super) fn restore(_item: &Path, _to: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: there are no places.
pub(super) fn give_up(_item: &Path) {}

/// Does nothing: there are no places.
pub(super) fn clear(_path: &Path, _item: &Path) {}
