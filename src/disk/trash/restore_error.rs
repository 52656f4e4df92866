//! Reasons why a file cannot be restored, and errors of the crate `trash`.

use std::fmt;
use std::path::PathBuf;

/// A permanent reason why a file cannot be restored.
#[derive(Debug)]
pub(crate) enum RestoreError {
    /// The file is not in the trash.
    Emptied(PathBuf),
    /// The trash holds another file under the recorded name.
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
