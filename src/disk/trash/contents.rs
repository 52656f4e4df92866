//! The content of the system's trash, for files whose place there is unknown, such as those that a command moved. Also the
//! reasons why a file cannot be restored.

use std::path::PathBuf;

use thiserror::Error;

/// A permanent reason why a file cannot be restored.
#[derive(Debug, Error)]
pub(crate) enum RestoreError {
    /// The file is not in the trash.
    #[error("{} not found in the trash; the trash may have been emptied, or the file is in another trash", .0.display())]
    Emptied(PathBuf),
    /// The trash holds another file under the recorded name.
    #[error(
        "{} is no longer in the trash: {} is another file{}, and stays there",
        .path.display(),
        .item.display(),
        .from.as_ref().map_or(String::new(), |from| format!(", deleted from {}", from.display()))
    )]
    Other {
        /// The path before the deletion.
        path: PathBuf,
        /// The other file.
        item: PathBuf,
        /// The original path of the other file, if recorded.
        from: Option<PathBuf>,
    },
    /// Another file exists at the path.
    #[error("cannot restore {}: file exists", .0.display())]
    Taken(PathBuf),
}

impl RestoreError {
    /// Returns `true` if another file exists at the path.
    pub(crate) fn is_taken(error: &anyhow::Error) -> bool {
        matches!(error.downcast_ref(), Some(Self::Taken(_)))
    }
}

/// Describes an error without technical details.
pub(super) fn in_words(error: &trash::Error) -> String {
    match error {
        trash::Error::Unknown { description } | trash::Error::Os { description, .. } => description.clone(),
        #[cfg(all(unix, not(target_os = "macos")))]
        trash::Error::FileSystem { path, source } => format!("{}: {source}", path.display()),
        trash::Error::CouldNotAccess { target } => format!("cannot reach {target}"),
        other => other.to_string(),
    }
}

#[cfg(target_os = "macos")]
pub(super) use macos::TrashContents;
#[cfg(not(target_os = "macos"))]
pub(super) use others::TrashContents;

/// The trash of macOS, from which programs cannot restore files.
#[cfg(target_os = "macos")]
mod macos {
    use std::path::Path;

    use anyhow::{Result, bail};

    use crate::disk::fingerprint::Fingerprint;

    /// The content of the trash, which is unavailable.
    pub(crate) struct TrashContents;

    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "other systems support restoring")]
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
        pub(crate) fn take_back(&self, path: &Path, _: &Path, _: u64, _: Option<&Fingerprint>) -> Result<()> {
            bail!("cannot restore {} from the macOS trash; use Put Back in Finder", path.display())
        }
    }
}

/// The trashes of the FreeDesktop specification, and the recycle bin of Windows.
#[cfg(not(target_os = "macos"))]
mod others {
    use std::collections::HashMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    use anyhow::{Context, Error, Result};
    use trash::{TrashItem, TrashItemSize, os_limited};

    use crate::base::catch_panic;
    use crate::disk::fingerprint::Fingerprint;
    use crate::disk::trash::contents::{RestoreError, in_words};
    use crate::disk::trash::home;

    /// The content of the trash, by original path.
    pub(crate) struct TrashContents(HashMap<PathBuf, Vec<TrashItem>>);

    impl TrashContents {
        /// Reads the content of the trash.
        ///
        /// # Errors
        /// The trash cannot be read.
        pub(crate) fn read() -> Result<Self> {
            // The crate panics on mount points that are not Unicode (5.3).
            let items = catch_panic::catch(os_limited::list).map_err(Error::msg);
            let items = items.and_then(|items| items.map_err(|error| Error::msg(in_words(&error))));
            let mut by_path = HashMap::<PathBuf, Vec<TrashItem>>::new();
            for item in items.context("cannot read the trash")? {
                by_path.entry(item.original_path()).or_default().push(item);
            }
            Ok(Self(by_path))
        }

        /// Restores the most recently deleted of the files that the trash knows by a path. It has at least the given size, and
        /// fits a fingerprint as far as the system tells its place.
        ///
        /// # Errors
        /// The file is not in the trash, or cannot be moved and stays there.
        pub(crate) fn take_back(
            &self,
            path: &Path,
            known: &Path,
            at_least: u64,
            file: Option<&Fingerprint>,
        ) -> Result<()> {
            let items = || self.0.get(known).into_iter().flatten();
            let fits = |item: &&TrashItem| match place(item) {
                Some((place, found)) => {
                    let is_long_enough = !found.is_dir() && found.len() >= at_least;
                    is_long_enough && file.is_none_or(|file| file.fits(&place).unwrap_or(false))
                }
                None => matches!(
                    os_limited::metadata(item).map(|metadata| metadata.size),
                    Ok(TrashItemSize::Bytes(bytes)) if bytes >= at_least
                ),
            };
            // For equal times, the most recently written trash info file wins.
            let written = |item: &TrashItem| Path::new(&item.id).metadata().and_then(|info| info.modified()).ok();
            let last = |item: &&TrashItem| (item.time_deleted, written(item));
            let Some(item) = items().filter(fits).max_by_key(last) else {
                let other = items().filter(|item| place(item).is_some()).max_by_key(last).and_then(place);
                return Err(match other {
                    Some((item, _)) => RestoreError::Other { path: path.into(), item, from: Some(known.into()) },
                    None => RestoreError::Emptied(path.into()),
                }
                .into());
            };
            let restored = match place(item) {
                Some((place, _)) => home::move_back(&place, known).map_err(Error::from).inspect(|()| {
                    let _ = fs::remove_file(&item.id); // an orphaned trash info file is harmless
                }),
                None => os_limited::restore_all([item.clone()]).map_err(|error| Error::msg(in_words(&error))),
            };
            restored.with_context(|| format!("cannot restore {} from the trash", path.display()))
        }
    }

    /// Returns the place of a file in a trash of the FreeDesktop specification, given its trash info file, and its metadata.
    fn place(item: &TrashItem) -> Option<(PathBuf, fs::Metadata)> {
        let info = Path::new(&item.id);
        let place = info.parent()?.parent()?.join("files").join(info.file_stem()?);
        let found = place.symlink_metadata().ok()?;
        Some((place, found))
    }
}
