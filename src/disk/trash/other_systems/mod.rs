//! The trashes of other systems, by the crate `trash`: where a file will lie is not known before it is there.

#![allow(clippy::unnecessary_wraps, reason = "what can't fail here may do so elsewhere")]

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

/// The trash of the home, which tells nothing of its places.
pub(super) struct HomeTrash;

impl HomeTrash {
    /// Returns the trash.
    pub(super) fn new() -> Self {
        Self
    }

    /// No place can be chosen.
    ///
    /// # Errors
    /// None.
    #[allow(clippy::unused_self, reason = "others have places")]
    pub(super) fn choose(&mut self, _path: &Path) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Nothing is to be taken.
    ///
    /// # Errors
    /// None.
    #[allow(clippy::unused_self, reason = "others have places")]
    pub(super) fn claim(&mut self, _path: &Path, _item: &Path, _time: i64) -> Result<bool> {
        Ok(true)
    }

    /// Nothing is to be written.
    ///
    /// # Errors
    /// None.
    #[allow(clippy::unused_self, reason = "others have places")]
    pub(super) fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Moves a file to the trash.
///
/// # Errors
/// That is not possible: the file is where it was.
pub(super) fn put(path: &Path, _item: Option<&Path>) -> Result<()> {
    trash::delete(path).map_err(|error| anyhow!(in_words(&error)))
}

/// No path is known to be one of a file in the trash.
pub(super) fn is_place(_item: &Path) -> bool {
    false
}

/// The note of a deletion, which there is none of.
pub(super) struct Note {
    /// The path before the deletion.
    pub(super) path: PathBuf,
}

impl Note {
    /// Returns `false`.
    #[allow(clippy::unused_self, reason = "others have notes")]
    pub(super) fn is_of(&self, _paths: &[&Path], _time: i64) -> bool {
        false
    }
}

/// Returns `None`: there are no notes.
pub(super) fn note(_item: &Path) -> Option<Note> {
    None
}

/// There are no places.
///
/// # Errors
/// It can't be done.
pub(super) fn restore(_item: &Path, _to: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There are no places.
pub(super) fn give_up(_item: &Path) {}

/// There are no places.
pub(super) fn clear(_path: &Path, _item: &Path) {}
