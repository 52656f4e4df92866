//! The trashes of the FreeDesktop specification. pitree implements the home trash itself, because it must know the
//! place of each file in advance. The crate `trash` handles the others.

mod cross_device;
mod home;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use crate::base::catch_panic;
use crate::disk::create;
pub(super) use crate::disk::trash::freedesktop::home::HomeTrash;
use crate::disk::trash::freedesktop::home::{TrashedFile, forget, info_of};
use crate::disk::trash::merge;
use crate::disk::trash::restore_error::{RestoreError, RestoreTarget, in_words};

/// Moves a file to the trash, to its reserved place if there is one.
///
/// # Errors
/// The file cannot be moved; it is unchanged and the place is released.
pub(super) fn put(path: &Path, item: Option<&Path>) -> Result<()> {
    match item {
        Some(item) => home::put(path, item),
        None => trash::delete(path).map_err(|error| anyhow!(in_words(&error))),
    }
}

/// Returns `true` if the path has the form of a place in a trash.
pub(super) fn is_place(item: &Path) -> bool {
    info_of(item).is_some()
}

/// Returns the trash info of a [place](is_place).
pub(super) fn note(item: &Path) -> Option<TrashedFile> {
    home::read(info_of(item)?)
}

/// Moves a file from a [place](is_place) to a new path. From another file system, it is first copied to a draft, so
/// that the new path has the complete file or none. Never replaces another file.
///
/// # Errors
/// The file cannot be moved and stays in the trash.
pub(super) fn restore(item: &Path, to: &Path) -> io::Result<()> {
    move_back(item, to)?;
    forget(item);
    Ok(())
}

fn move_back(item: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        create::folders(folder)?;
    }
    match create::rename(item, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let draft = create::draft(to);
            cross_device::copy(item, &draft)?;
            create::rename(&draft, to).inspect_err(|_| drop(fs::remove_file(&draft)))?;
            create::sync_folder(to);
            let _ = fs::remove_file(item); // a second copy in the trash is harmless
        }
        renamed => renamed?,
    }
    Ok(())
}

/// Releases an unused place.
pub(super) fn give_up(item: &Path) {
    home::give_up(item);
}

/// Removes the copy of a file from its place in the trash if the file still exists at `path` and nothing is lost.
pub(super) fn clear(path: &Path, item: &Path) {
    if path.symlink_metadata().is_ok() {
        // Leftovers that cannot be removed stay.
        if merge::has(path, item).unwrap_or(false) && fs::remove_file(item).is_ok() {
            forget(item);
        }
        give_up(item);
    }
}

/// The content of the trash, by original path.
pub(crate) struct TrashContents {
    items: HashMap<PathBuf, Vec<TrashedFile>>,
    /// The reason why only the home trash is known.
    others: Result<(), String>,
}

impl TrashContents {
    /// Reads the content of the trash.
    ///
    /// # Errors
    /// The trash cannot be read.
    pub(crate) fn read() -> Result<Self> {
        let mut lying = home::lying().context("cannot read the trash")?;
        // The crate panics on mount points that are not Unicode (5.3). The home trash still works.
        let others = catch_panic::catch(trash::os_limited::list);
        let others = others.and_then(|others| others.map_err(|error| in_words(&error))).map(|others| {
            lying.extend(others.into_iter().map(|item| TrashedFile {
                path: item.original_path(),
                time: item.time_deleted,
                info: item.id.into(),
            }));
        });
        let mut items = HashMap::<PathBuf, Vec<TrashedFile>>::new();
        for item in lying {
            items.entry(item.path.clone()).or_default().push(item);
        }
        Ok(Self { items, others })
    }

    /// Restores the most recently deleted of the matching files.
    ///
    /// # Errors
    /// The file is not in the trash, or cannot be moved and stays there.
    pub(super) fn take_back(&mut self, wanted: &RestoreTarget<'_>) -> Result<()> {
        let path = wanted.path;
        let places =
            || self.items.get(wanted.known).into_iter().flatten().filter_map(|lying| Some((place(lying)?, lying)));
        // For equal times, the most recently written trash info file wins.
        let written = |info: &Path| info.metadata().and_then(|info| info.modified()).ok();
        let last = |(_, lying): &(PathBuf, &TrashedFile)| (lying.time, written(&lying.info));
        if let Some((item, lying)) = places().filter(|(item, _)| wanted.is_at(item)).max_by_key(last) {
            move_back(&item, wanted.known)
                .with_context(|| format!("cannot restore {} from the trash", path.display()))?;
            let _ = fs::remove_file(&lying.info); // an orphaned trash info file is harmless
            return Ok(());
        }
        if let Err(why) = &self.others {
            bail!("{} is not in the home trash, and other trashes cannot be read: {why}", path.display())
        }
        let other = places().filter(|(item, _)| item.symlink_metadata().is_ok()).max_by_key(last);
        Err(match other {
            Some((item, lying)) => RestoreError::Other { path: path.into(), item, from: Some(lying.path.clone()) },
            None => RestoreError::Emptied(path.into()),
        }
        .into())
    }
}

/// Returns the place of a trashed file.
fn place(lying: &TrashedFile) -> Option<PathBuf> {
    Some(lying.info.parent()?.parent()?.join("files").join(lying.info.file_stem()?))
}
