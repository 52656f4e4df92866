//! Errors that name a path.

use std::path::Path;

use anyhow::{Context, Result};

/// Adds a path to an error.
pub(crate) trait PathContext<T, E> {
    /// Returns the error with `what`, such as "cannot read", and the path.
    ///
    /// # Errors
    /// Those of the value.
    fn path_context(self, what: &str, path: impl AsRef<Path>) -> Result<T>;
}

impl<T, E, R: Context<T, E>> PathContext<T, E> for R {
    fn path_context(self, what: &str, path: impl AsRef<Path>) -> Result<T> {
        self.with_context(|| format!("{what} {}", path.as_ref().display()))
    }
}
