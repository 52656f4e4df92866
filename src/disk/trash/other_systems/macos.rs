//! The trash of macOS, from which only a person can take things.

use anyhow::{Result, bail};

use crate::disk::trash::restore_error::Wanted;

/// What is in the trash, which nobody tells.
pub(crate) struct Contents;

impl Contents {
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
    pub(crate) fn take_back(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        bail!("this system's trash gives nothing back to programs: put {} back by hand", wanted.path.display())
    }
}
