//! The trash of macOS, from which programs cannot restore files.

use std::path::Path;

use anyhow::{Result, bail};

use crate::disk::fingerprint::Fingerprint;

/// The content of the trash, which is unavailable.
pub(crate) struct TrashContents;

impl TrashContents {
    /// Reads nothing.
    ///
    /// # Errors
    /// None.
    #[allow(clippy::unnecessary_wraps, reason = "reading can fail on other systems")]
    pub(crate) fn read() -> Result<Self> {
        Ok(Self)
    }

    /// Restores nothing.
    ///
    /// # Errors
    /// Always.
    #[allow(clippy::unused_self, reason = "other systems support restoring")]
    pub(crate) fn take_back(
        &mut self,
        (path, _known): (&Path, &Path),
        _at_least: u64,
        _file: Option<&Fingerprint>,
    ) -> Result<()> {
        bail!("cannot restore {} from the macOS trash; use Put Back in Finder", path.display())
    }
}
