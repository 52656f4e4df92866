//! The content of the recycle bin.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use trash::{TrashItem, TrashItemSize, os_limited};

use crate::disk::fingerprint::Fingerprint;
use crate::disk::trash::restore_error::{RestoreError, in_words};

/// The content of the recycle bin, by original path.
pub(crate) struct TrashContents(HashMap<PathBuf, Vec<TrashItem>>);

impl TrashContents {
    /// Reads the recycle bin.
    ///
    /// # Errors
    /// The recycle bin cannot be read.
    pub(crate) fn read() -> Result<Self> {
        let items = os_limited::list().map_err(|error| anyhow!(in_words(&error)));
        let mut by_path = HashMap::<PathBuf, Vec<TrashItem>>::new();
        for item in items.context("cannot read the trash")? {
            by_path.entry(item.original_path()).or_default().push(item);
        }
        Ok(Self(by_path))
    }

    /// Restores the most recently deleted file with at least the given size.
    ///
    /// # Errors
    /// The file is not in the recycle bin, or cannot be moved and stays there.
    pub(crate) fn take_back(
        &mut self,
        (path, known): (&Path, &Path),
        at_least: u64,
        _file: Option<&Fingerprint>,
    ) -> Result<()> {
        let is_whole = |item: &TrashItem| {
            let size = os_limited::metadata(item).map(|metadata| metadata.size);
            matches!(size, Ok(TrashItemSize::Bytes(bytes)) if bytes >= at_least)
        };
        let items = self.0.get(known).into_iter().flatten().filter(|item| is_whole(item));
        let Some(item) = items.max_by_key(|item| item.time_deleted) else {
            return Err(RestoreError::Emptied(path.into()).into());
        };
        let restored = os_limited::restore_all([item.clone()]).map_err(|error| anyhow!(in_words(&error)));
        restored.with_context(|| format!("cannot restore {} from the trash", path.display()))
    }
}
