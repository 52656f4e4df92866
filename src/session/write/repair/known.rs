//! The header of a session whose own header is missing or incomplete.

use crate::session::entry::parse;
use crate::session::json::edit::{RawObject, quote};
use crate::session::write::line::iso;

/// The known facts about a session besides its file, for a header that is missing or incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownHeader {
    /// The session ID, such as that in the file name.
    pub id: String,
    /// The working directory.
    pub cwd: String,
    /// The time of the session, in milliseconds since 1970.
    pub time_ms: i64,
}

impl KnownHeader {
    /// Returns a header with the fields that it lacks, or `None` if it is complete.
    pub(super) fn missing(&self, raw: &[u8], version: f64) -> Option<Vec<u8>> {
        let object = RawObject::new(raw)?;
        let is_missing = |key: &str| object.get(key).is_none();
        // Version 1 has no version.
        let mut fields = Vec::new();
        let has_version = parse::line(raw).is_ok_and(|entry| entry.is_some_and(|entry| entry.version.is_some()));
        fields.extend((!has_version && version >= 2.0).then(|| ("version", version.to_string())));
        fields.extend(is_missing("timestamp").then(|| ("timestamp", quote(&iso(self.time_ms)))));
        fields.extend(is_missing("cwd").then(|| ("cwd", quote(&self.cwd))));
        let changes: Vec<_> = fields.iter().map(|(key, value)| (*key, Some(value.as_bytes()))).collect();
        (!changes.is_empty()).then(|| object.with(&changes))
    }
}
