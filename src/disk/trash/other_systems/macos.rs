//! The trash of macOS, from which only a person can take things.

use anyhow::{Result, bail};

use crate::disk::trash::restore_error::RestoreTarget;

/// What is in the trash, which nobody tells.
pub(crate) struct TrashContents;

impl TrashContents {
    /// Looks into nothing.
    ///
    /// # Errors
    /// None.
    pub(crate) fn read() -> Result<Self> {
        Ok(Self)
    }

    /// Takes nothing back.
    ///
    /// # Errors
    /// Always.
    #[allow(clippy::unused_self, reason = "others take something back")]
    pub(crate) fn take_back(&mut self, wanted: &RestoreTarget<'_>) -> Result<()> {
        bail!("this system's trash gives nothing back to programs: put {} back by hand", wanted.path.display())
    }
}
