//! The header of a session whose own header is missing or incomplete.

use thiserror::Error;

use crate::session::entry::parse;
use crate::session::json::edit::{RawObject, quote};
use crate::session::write::line::iso;

/// An error: the file cannot be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum Unrepairable {
    /// A newer format has unknown rules.
    #[error("it has format version {0}, which is newer than pitree {version} supports; update pitree", version = env!("CARGO_PKG_VERSION"))]
    Newer(f64),
    /// The file contains no entry.
    #[error("it contains no entry of a session")]
    NoSession,
    /// The header lacks the working directory, which cannot be determined.
    #[error("its working directory is unknown; run `pitree doctor --repair FILE --cwd DIR`")]
    NoDirectory,
}

/// The known facts about a session besides its file, for a header that is missing or incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownHeader {
    /// The session ID, such as that in the file name.
    pub id: String,
    /// The possible working directories: the one if it is known.
    pub cwds: Vec<String>,
    /// The time of the session, in milliseconds since 1970.
    pub time_ms: i64,
}

impl KnownHeader {
    /// Returns a header with the fields that it lacks, or `None` if it is complete.
    ///
    /// # Errors
    /// It lacks the working directory, which is not known.
    pub(super) fn missing(&self, raw: &[u8], version: f64) -> Result<Option<Vec<u8>>, Unrepairable> {
        let Some(object) = RawObject::new(raw) else { return Ok(None) };
        let is_missing = |key: &str| object.get(key).is_none();
        // Version 1 has no version.
        let mut fields = Vec::new();
        let has_version = parse::line(raw).is_ok_and(|entry| entry.is_some_and(|entry| entry.version.is_some()));
        fields.extend((!has_version && version >= 2.0).then(|| ("version", version.to_string())));
        fields.extend(is_missing("timestamp").then(|| ("timestamp", quote(&iso(self.time_ms)))));
        if is_missing("cwd") {
            let [cwd] = &self.cwds[..] else { return Err(Unrepairable::NoDirectory) };
            fields.push(("cwd", quote(cwd)));
        }
        let changes: Vec<_> = fields.iter().map(|(key, value)| (*key, Some(value.as_bytes()))).collect();
        Ok((!changes.is_empty()).then(|| object.with(&changes)))
    }
}
