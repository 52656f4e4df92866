//! Contents of messages at which pi fails, and their readable forms.

use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Content, Entry};
use crate::session::json::edit::{RawObject, quote};
use crate::session::json::value::items;
use crate::session::json::{JsonReader, ValueKind};

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
                        block.with(&[("text", Some(as_text(text).as_bytes()))])
                    }
                    _ => raw.to_vec(),
                },
            };
            let blocks: Vec<Vec<u8>> = items(content).map(block).collect();
            return Some(message.with(&[("content", Some(&[&b"["[..], &blocks.join(&b","[..]), b"]"].concat()))]));
        }
        _ => as_text(content),
    };
    Some(message.with(&[("content", Some(new.as_bytes()))]))
}
