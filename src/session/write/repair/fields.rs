//! The fields that pi needs of a header and of a message.

use thiserror::Error;

use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Content, Entry, parse};
use crate::session::json::edit::{RawObject, quote};
use crate::session::json::value::items;
use crate::session::json::{JsonReader, ValueKind};
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

/// The known facts about a session besides its file, for a header that is missing or has no ID.
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
    /// Returns a header with the ID and the fields that it lacks.
    ///
    /// # Errors
    /// It lacks the working directory, which is not known.
    pub(super) fn complete(&self, raw: &[u8], version: f64) -> Result<Vec<u8>, Unrepairable> {
        let Some(object) = RawObject::new(raw) else { return Ok(raw.to_vec()) };
        let is_missing = |key: &str| object.get(key).is_none();
        let mut fields = Vec::new();
        // Version 1 has no version.
        let has_version = parse::line(raw).is_ok_and(|entry| entry.is_some_and(|entry| entry.version.is_some()));
        fields.extend((!has_version && version >= 2.0).then(|| ("version", Some(version.to_string()))));
        fields.push(("id", Some(quote(&self.id))));
        fields.extend(is_missing("timestamp").then(|| ("timestamp", Some(quote(&iso(self.time_ms))))));
        if is_missing("cwd") {
            let [cwd] = &self.cwds[..] else { return Err(Unrepairable::NoDirectory) };
            fields.push(("cwd", Some(quote(cwd))));
        }
        Ok(object.with(&fields))
    }
}

/// Returns `true` if pi fails at the content of a message.
pub(super) fn is_broken(entry: &Entry<'_>) -> bool {
    let is_talk = matches!(entry.kind, EntryKind::User | EntryKind::Assistant);
    let content = entry.message.as_ref().filter(|_| is_talk).map(|message| &message.content);
    content.is_some_and(|content| {
        content.breaks_pi_list() || (entry.kind == EntryKind::Assistant && content.breaks_pi_tree())
    })
}

/// Returns `true` if a message of a user, an assistant or a tool has no content that can be read.
pub(super) fn lacks_content(entry: &Entry<'_>) -> bool {
    let is_message = matches!(entry.kind, EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult);
    let content = entry.message.as_ref().map(|message| &message.content);
    is_message && content.is_none_or(|content| matches!(content, Content::Missing | Content::Null))
}

/// Returns the message of an entry with a content that pi can read: text instead of other values.
pub(super) fn readable(object: &RawObject<'_>) -> Option<Vec<u8>> {
    let message = RawObject::new(object.get("message")?)?;
    let content = message.get("content")?;
    let as_text = |raw: &[u8]| quote(&String::from_utf8_lossy(raw));
    let new = match JsonReader::new(content).kind().ok()? {
        ValueKind::Null => "[]".into(),
        ValueKind::Array => {
            let block = |raw: &[u8]| match RawObject::new(raw) {
                None => format!(r#"{{"type":"text","text":{}}}"#, as_text(raw)).into_bytes(),
                Some(block) => match block.get("text").filter(|_| block.text("type").as_deref() == Some("text")) {
                    Some(text) if !matches!(text.first(), Some(b'"' | b'n')) => {
                        block.with(&[("text", Some(as_text(text)))])
                    }
                    _ => raw.to_vec(),
                },
            };
            let blocks: Vec<Vec<u8>> = items(content).map(block).collect();
            return Some(message.with(&[("content", Some([&b"["[..], &blocks.join(&b","[..]), b"]"].concat()))]));
        }
        _ => as_text(content),
    };
    Some(message.with(&[("content", Some(new))]))
}
