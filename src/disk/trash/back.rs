//! Why something does not come back from the trash, and what the crate `trash` says.

use std::fmt;
use std::path::PathBuf;

/// The trash has nothing to give back, or nowhere to give it to, and will not have it later by itself.
#[derive(Debug)]
pub(crate) enum NotBack {
    /// The file is not in the trash.
    #[cfg_attr(target_os = "macos", allow(dead_code, reason = "its trash tells nothing"))]
    Emptied(PathBuf),
    /// There is another file in its place.
    Taken(PathBuf),
}

impl fmt::Display for NotBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emptied(path) => {
                write!(f, "{} is not in the trash: it was emptied, or another trash took the file", path.display())
            }
            Self::Taken(path) => {
                write!(f, "there is a file in its place, which stays as it is: {}", path.display())
            }
        }
    }
}

impl std::error::Error for NotBack {}

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
