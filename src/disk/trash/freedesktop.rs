//! The content of the trashes of the FreeDesktop specification: of the home trash, and of others through the crate
//! `trash`.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::base::catch_panic;
use crate::disk::fingerprint::Fingerprint;
use crate::disk::trash::home;
use crate::disk::trash::restore_error::{RestoreError, in_words};

/// The content of the trash, by original path.
pub(crate) struct TrashContents {
    /// The trash info files, with deletion times in seconds since 1970.
    items: HashMap<PathBuf, Vec<(PathBuf, i64)>>,
    /// The reason why only the home trash is known.
    others: Result<(), String>,
}

impl TrashContents {
    /// Reads the content of the trash.
    ///
    /// # Errors
    /// The trash cannot be read.
    pub(crate) fn read() -> Result<Self> {
        let mut items = HashMap::<PathBuf, Vec<(PathBuf, i64)>>::new();
        for info in infos().context("cannot read the trash")? {
            // Other programs also write there.
            if let Some(lying) = home::read(&info) {
                items.entry(lying.path).or_default().push((info, lying.time));
            }
        }
        // The crate panics on mount points that are not Unicode (5.3). The home trash still works.
        let others = catch_panic::catch(trash::os_limited::list);
        let others = others.and_then(|others| others.map_err(|error| in_words(&error))).map(|others| {
            for item in others {
                items.entry(item.original_path()).or_default().push((item.id.into(), item.time_deleted));
            }
        });
        Ok(Self { items, others })
    }

    /// Restores the most recently deleted of the matching files.
    ///
    /// # Errors
    /// The file is not in the trash, or cannot be moved and stays there.
    pub(super) fn take_back(
        &mut self,
        (path, known): (&Path, &Path),
        at_least: u64,
        file: Option<&Fingerprint>,
    ) -> Result<()> {
        let places = || self.items.get(known).into_iter().flatten().filter_map(|lying| Some((place(&lying.0)?, lying)));
        // For equal times, the most recently written trash info file wins.
        let written = |info: &Path| info.metadata().and_then(|info| info.modified()).ok();
        let last = |(_, (info, time)): &(PathBuf, &(PathBuf, i64))| (*time, written(info));
        let is_long_enough = |item: fs::Metadata| !item.is_dir() && item.len() >= at_least;
        let may_be = |(item, _): &(PathBuf, _)| {
            item.symlink_metadata().is_ok_and(is_long_enough)
                && file.is_none_or(|file| file.fits(item).unwrap_or(false))
        };
        if let Some((item, (info, _))) = places().filter(may_be).max_by_key(last) {
            home::move_back(&item, known)
                .with_context(|| format!("cannot restore {} from the trash", path.display()))?;
            let _ = fs::remove_file(info); // an orphaned trash info file is harmless
            return Ok(());
        }
        if let Err(why) = &self.others {
            bail!("{} is not in the home trash, and other trashes cannot be read: {why}", path.display())
        }
        let other = places().filter(|(item, _)| item.symlink_metadata().is_ok()).max_by_key(last);
        Err(match other {
            Some((item, _)) => RestoreError::Other { path: path.into(), item, from: Some(known.into()) },
            None => RestoreError::Emptied(path.into()),
        }
        .into())
    }
}

/// Lists the trash info files of the home trash.
fn infos() -> io::Result<Vec<PathBuf>> {
    let Ok(folder) = home::folder() else { return Ok(Vec::new()) };
    match fs::read_dir(folder.join("info")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        infos => Ok(infos?.flatten().map(|info| info.path()).collect()),
    }
}

/// Returns the place of the file with a trash info file.
fn place(info: &Path) -> Option<PathBuf> {
    Some(info.parent()?.parent()?.join("files").join(info.file_stem()?))
}
