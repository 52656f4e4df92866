//! Files to restore from the trash, reasons why a file cannot be restored, and errors of the crate `trash`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::disk::fingerprint::Fingerprint;

/// A permanent reason why a file cannot be restored.
#[derive(Debug)]
pub(crate) enum RestoreError {
    /// The file is not in the trash.
    #[cfg_attr(target_os = "macos", allow(dead_code, reason = "its trash cannot be listed"))]
    Emptied(PathBuf),
    /// The trash holds another file under the recorded name.
    #[cfg_attr(
        not(all(unix, not(target_os = "macos"))),
        allow(dead_code, reason = "other trashes have no known names")
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
    Taken(PathBuf),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emptied(path) => {
                write!(
                    f,
                    "{} not found in the trash; the trash may have been emptied, or the file is in another trash",
                    path.display()
                )
            }
            Self::Other { path, item, from } => {
                let (path, item) = (path.display(), item.display());
                let from = from.as_ref().map_or(String::new(), |from| format!(", deleted from {}", from.display()));
                write!(f, "{path} is no longer in the trash: {item} is another file{from}, and stays there")
            }
            Self::Taken(path) => {
                write!(f, "cannot restore {}: file exists", path.display())
            }
        }
    }
}

impl std::error::Error for RestoreError {}

/// A file to restore.
#[cfg_attr(not(all(unix, not(target_os = "macos"))), allow(dead_code, reason = "other trashes compare less"))]
pub(crate) struct RestoreTarget<'a> {
    pub(super) path: &'a Path,
    /// The path as the trash records it.
    pub(super) known: &'a Path,
    pub(super) at_least: u64,
    pub(super) file: Option<&'a Fingerprint>,
}

impl RestoreTarget<'_> {
    /// Returns `true` if a file in the trash may be this one.
    #[cfg_attr(not(all(unix, not(target_os = "macos"))), allow(dead_code, reason = "other trashes compare less"))]
    pub(super) fn is_at(&self, item: &Path) -> bool {
        let is_long_enough = |item: fs::Metadata| !item.is_dir() && item.len() >= self.at_least;
        item.symlink_metadata().is_ok_and(is_long_enough)
            && self.file.is_none_or(|file| file.fits(item).unwrap_or(false))
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
