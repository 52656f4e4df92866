//! What the trash holds, and how it gives something back.

pub(crate) use system::Contents;

/// The reason without the words for programmers.
pub(super) fn in_words(error: &trash::Error) -> String {
    match error {
        trash::Error::Unknown { description } | trash::Error::Os { description, .. } => description.clone(),
        #[cfg(all(unix, not(target_os = "macos")))]
        trash::Error::FileSystem { path, source } => format!("{}: {source}", path.display()),
        trash::Error::CouldNotAccess { target } => format!("can't reach {target}"),
        other => other.to_string(),
    }
}

/// Systems whose trash can be asked what it holds.
#[cfg(any(windows, all(unix, not(target_os = "macos"))))]
mod system {
    use std::collections::HashMap;
    use std::path::{Path, PathBuf};

    use anyhow::{Context, Result, anyhow, bail};
    use trash::{TrashItem, TrashItemSize, os_limited};

    use crate::disk::trash::back::in_words;

    /// What is in the trash, by where it was.
    pub(crate) struct Contents(HashMap<PathBuf, Vec<TrashItem>>);

    impl Contents {
        /// Looks into the trash.
        ///
        /// # Errors
        /// It can't be read.
        pub(crate) fn read() -> Result<Self> {
            let items = os_limited::list().map_err(|error| anyhow!(in_words(&error)));
            let mut by_path = HashMap::<PathBuf, Vec<TrashItem>>::new();
            for item in items.context("can't look into the trash")? {
                by_path.entry(item.original_path()).or_default().push(item);
            }
            Ok(Self(by_path))
        }

        /// Takes a file back to where it was, which is `known` to the trash: the one that was removed last, of those
        /// with at least so many bytes.
        ///
        /// # Errors
        /// It is not in the trash, or its place is taken: then it stays there.
        pub(crate) fn take_back(&mut self, path: &Path, known: &Path, at_least: u64) -> Result<()> {
            let is_whole = |item: &TrashItem| {
                let size = os_limited::metadata(item).map(|metadata| metadata.size);
                matches!(size, Ok(TrashItemSize::Bytes(bytes)) if bytes >= at_least)
            };
            let items = self.0.get(known).into_iter().flatten().filter(|item| is_whole(item));
            // Of those removed in the same second, on Unix the one whose note was written last.
            let written = |item: &TrashItem| std::fs::metadata(&item.id).and_then(|info| info.modified()).ok();
            let Some(item) = items.max_by_key(|item| (item.time_deleted, written(item))) else {
                bail!("{} is not in the trash: it was emptied, or another trash took the file", path.display());
            };
            if path.symlink_metadata().is_ok() {
                bail!("there is a file in its place, which stays as it is: {}", path.display());
            }
            restore(item, known).with_context(|| format!("can't take {} back from the trash", path.display()))
        }
    }

    /// The crate puts an empty file in the place first, which would stay if the program were killed then. A new name is
    /// there at once, and never in place of another file.
    #[cfg(unix)]
    fn restore(item: &TrashItem, to: &Path) -> Result<()> {
        let info = Path::new(&item.id);
        let in_trash = || Some(info.parent()?.parent()?.join("files").join(info.file_stem()?));
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if let Some(in_trash) = in_trash()
            && crate::disk::create::rename(&in_trash, to).is_ok()
        {
            std::fs::remove_file(info)?;
            return Ok(());
        }
        by_crate(item)
    }

    #[cfg(not(unix))]
    fn restore(item: &TrashItem, _to: &Path) -> Result<()> {
        by_crate(item)
    }

    fn by_crate(item: &TrashItem) -> Result<()> {
        os_limited::restore_all([item.clone()]).map_err(|error| anyhow!(in_words(&error)))
    }
}

/// Systems whose trash only a person can take things from.
#[cfg(not(any(windows, all(unix, not(target_os = "macos")))))]
mod system {
    use std::path::Path;

    use anyhow::{Result, bail};

    pub(crate) struct Contents;

    impl Contents {
        #[allow(clippy::unnecessary_wraps, reason = "others may fail")]
        pub(crate) fn read() -> Result<Self> {
            Ok(Self)
        }

        pub(crate) fn take_back(&mut self, path: &Path, _known: &Path, _at_least: u64) -> Result<()> {
            bail!("this system's trash gives nothing back to programs: put {} back by hand", path.display())
        }
    }
}
