//! Reasons why a file cannot be restored, and errors of the crate `trash`.

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
