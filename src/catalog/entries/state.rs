//! The entries that earlier runs printed, by session file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::paths;

/// The format of this state and of the records. Increase it to print all entries again.
pub(super) const FORM: &str = "1";

/// A path as text, and its bytes in base64 if it is not UTF-8.
pub(crate) type PathKey = (String, Option<String>);

/// The entries printed so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PrintedEntries {
    /// The newest generation.
    pub(crate) generation: i64,
    /// The sessions by path.
    pub(crate) sessions: BTreeMap<PathKey, PrintedSession>,
}

/// The printed entries of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PrintedSession {
    /// A hash of all that determines the records: the versions of the session files with common entries, the rules, the
    /// family, the project and the home directory. 0 if a file was written shortly before, or could not be read.
    pub(super) inputs: u64,
    /// The number of entries.
    pub(super) entries: u32,
    /// The length and the hash of the file up to these entries, or beyond.
    pub(super) content: (u64, u64),
    /// A hash of the keys and places of these entries, and of their session.
    pub(super) state: u64,
    /// The number of redacted values.
    pub(super) secrets: u32,
    /// The generation.
    pub(super) generation: i64,
}

/// Returns the key of a path.
pub(super) fn key(path: &Path) -> PathKey {
    (path.to_string_lossy().into_owned(), paths::non_utf8_base64(path))
}

impl PrintedEntries {
    /// Deserializes the state. Returns `None` for another format.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (form, content) = postcard::from_bytes::<(String, Self)>(bytes).ok()?;
        (form == FORM).then_some(content)
    }

    /// Serializes the state.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(&(FORM, self)).unwrap_or_default()
    }
}
