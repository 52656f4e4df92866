//! The trash of macOS, from which programs cannot restore files.

use anyhow::{Result, bail};

use crate::disk::trash::restore_error::RestoreTarget;

/// The content of the trash, which is unavailable.
pub(crate) struct TrashContents;

impl TrashContents {
    /// Reads nothing.
    ///
    /// # Errors
    /// None.
    pub(crate) fn read() -> Result<Self> {
        Ok(Self)
    }

    /// Restores nothing.
    ///
    /// # Errors
    /// Always.
    #[allow(clippy::unused_self, reason = "other systems support restoring")]
    pub(crate) fn take_back(&mut self, wanted: &RestoreTarget<'_>) -> Result<()> {
        bail!("cannot restore {} from the macOS trash; use Put Back in Finder", wanted.path.display())
    }
}
