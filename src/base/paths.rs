//! Paths as people read them.

use std::borrow::Cow;

/// `path` with `~` for the home directory, as pi shortens it (0.87.1: by text, not by component).
pub(crate) fn shorten<'a>(path: &'a str, home: &str) -> Cow<'a, str> {
    match path.strip_prefix(home) {
        Some(rest) if !home.is_empty() => Cow::Owned(format!("~{rest}")),
        _ => Cow::Borrowed(path),
    }
}
