//! The trashes of the FreeDesktop specification: that of the home by pitree itself, which knows the place of each file before
//! it moves; others by the crate `trash`.

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

/// Moves a file to the trash, to the place that was taken for it if there is one.
///
/// # Errors
/// That is not possible: the file is where it was, and the place is given up.
pub(super) fn put(path: &Path, item: Option<&Path>) -> Result<()> {
    match item {
        Some(item) => home::put(path, item),
        None => trash::delete(path).map_err(|error| anyhow!(in_words(&error))),
    }
}

/// Whether a path is one that a file in the trash may have.
pub(super) fn is_place(item: &Path) -> bool {
    info_of(item).is_some()
}

/// Returns the note of the deletion of what lies at a [place](is_place), if there is one.
pub(super) fn note(item: &Path) -> Option<TrashedFile> {
    home::read(info_of(item)?)
}

/// Takes what lies at a [place](is_place) to where nothing is. From another file system it is copied to a draft beside that
/// first: under its name there is all of it or nothing, and never in place of another file.
///
/// # Errors
/// It can't be moved: then it stays in the trash.
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
            let _ = fs::remove_file(item); // a second one in the trash is of no harm
        }
        renamed => renamed?,
    }
    Ok(())
}

/// Gives up a place in which nothing is.
pub(super) fn give_up(item: &Path) {
    home::give_up(item);
}

/// Clears away what is left of a file in its place in the trash, if it is at `path` as well and nothing is lost by that.
pub(super) fn clear(path: &Path, item: &Path) {
    if path.symlink_metadata().is_ok() {
        // What can't be cleared away stays.
        if merge::has(path, item).unwrap_or(false) && fs::remove_file(item).is_ok() {
            forget(item);
        }
        give_up(item);
    }
}

/// What is in the trash, by where it was.
pub(crate) struct TrashContents {
    items: HashMap<PathBuf, Vec<TrashedFile>>,
    /// Why only that in the home trash is known.
    others: Result<(), String>,
}

impl TrashContents {
    /// Looks into the trash.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn read() -> Result<Self> {
        let mut lying = home::lying().context("can't look into the trash")?;
        // The crate panics at mount points whose names are no Unicode (5.3): those of the home come back all the same.
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

    /// Restores a file: the one deleted last of those that may be it.
    ///
    /// # Errors
    /// It is not in the trash, or can't be moved: then it stays there.
    pub(super) fn take_back(&mut self, wanted: &RestoreTarget<'_>) -> Result<()> {
        let path = wanted.path;
        let places =
            || self.items.get(wanted.known).into_iter().flatten().filter_map(|lying| Some((place(lying)?, lying)));
        // Of those removed in the same second the one whose note was written last.
        let written = |info: &Path| info.metadata().and_then(|info| info.modified()).ok();
        let last = |(_, lying): &(PathBuf, &TrashedFile)| (lying.time, written(&lying.info));
        if let Some((item, lying)) = places().filter(|(item, _)| wanted.is_at(item)).max_by_key(last) {
            move_back(&item, wanted.known)
                .with_context(|| format!("can't take {} back from the trash", path.display()))?;
            let _ = fs::remove_file(&lying.info); // a note of nothing is of no harm
            return Ok(());
        }
        if let Err(why) = &self.others {
            bail!("{} is not in the home trash, and others can't be looked into: {why}", path.display())
        }
        let other = places().filter(|(item, _)| item.symlink_metadata().is_ok()).max_by_key(last);
        Err(match other {
            Some((item, lying)) => RestoreError::Other { path: path.into(), item, from: Some(lying.path.clone()) },
            None => RestoreError::Emptied(path.into()),
        }
        .into())
    }
}

/// Where the file lies that a note is of.
fn place(lying: &TrashedFile) -> Option<PathBuf> {
    Some(lying.info.parent()?.parent()?.join("files").join(lying.info.file_stem()?))
}
