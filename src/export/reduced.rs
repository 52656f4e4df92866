//! Entries of a session file without the results of tools, thinking or images. All other bytes stay the same, and pi
//! still finds a result for each call.

use std::borrow::Cow;

use crate::base::numbers::bytes as format_bytes;
use crate::export::document::{Detail, ToolDetail};
use crate::export::jsonl::SIGNATURES;
use crate::session::entry::kind::EntryKind;
use crate::session::json::JsonReader;
use crate::session::json::edit::{RawObject, quote};
use crate::session::json::value::items;
use crate::session::write::shorten::text_block;

/// The text in place of the result of a tool or a command.
const NO_RESULT: &str = "[result left out of this export]";

/// Returns the line of an entry with only the content of `detail`. `kind` is the kind of the entry to which the content
/// belongs: for a context edit, the kind of its target.
pub fn reduced(line: &[u8], kind: EntryKind, detail: Detail) -> Cow<'_, [u8]> {
    if detail == Detail::WHOLE { None } else { changed(line, kind, detail) }.map_or(line.into(), Cow::Owned)
}

/// Returns the line with less content, or `None` if it has no other content.
fn changed(line: &[u8], kind: EntryKind, detail: Detail) -> Option<Vec<u8>> {
    let object = RawObject::new(line)?;
    let key = match &*object.text("type")? {
        "custom_message" => return message(&object, kind, detail),
        "message" => "message",
        "context_edit" => "replacement",
        _ => return None,
    };
    let new = message(&RawObject::new(object.get(key)?)?, kind, detail)?;
    Some(object.with(&[(key, Some(&new))]))
}

/// Returns a message with less content.
fn message(object: &RawObject<'_>, kind: EntryKind, detail: Detail) -> Option<Vec<u8>> {
    let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
    match kind {
        EntryKind::ToolResult if detail.tools != ToolDetail::Full => {
            changes.push(("content", Some(format!("[{}]", text_block(NO_RESULT)).into())));
            changes.extend([("details", None), ("nestedCalls", None)]);
        }
        EntryKind::Bash if detail.tools != ToolDetail::Full => {
            // A context edit of a command has content instead, which pi ignores (1.6.0).
            let note = |key: &'static str, note: String| object.get(key).map(|_| (key, Some(note.into())));
            changes.extend(note("output", quote(NO_RESULT)));
            changes.extend(note("content", format!("[{}]", text_block(NO_RESULT))));
            changes.push(("fullOutputPath", None));
        }
        _ => changes.extend(object.get("content").and_then(|raw| Some(("content", Some(content(raw, detail)?))))),
    }
    if !detail.thinking {
        changes.extend(call_id(object, "toolCallId").map(|id| ("toolCallId", Some(id))));
    }
    (!changes.is_empty()).then(|| object.with(&changes))
}

/// Returns the blocks of a message with less content, or `None` if they do not change.
fn content(raw: &[u8], detail: Detail) -> Option<Vec<u8>> {
    let blocks: Vec<(&[u8], Cow<'_, [u8]>)> = items(raw).map(|old| (old, block(old, detail))).collect();
    let is_changed = blocks.iter().any(|(old, new)| **old != **new);
    let left: Vec<Cow<'_, [u8]>> = blocks.into_iter().map(|(_, new)| new).filter(|new| !new.is_empty()).collect();
    is_changed.then(|| [b"[", &left.join(&b',')[..], b"]"].concat())
}

/// Returns a block with less content; it is empty if the block is left out.
fn block(raw: &[u8], detail: Detail) -> Cow<'_, [u8]> {
    let Some(object) = RawObject::new(raw) else { return raw.into() };
    match object.text("type").as_deref() {
        Some("thinking") if !detail.thinking => Cow::default(),
        Some("image") if !detail.images => {
            let mime = object.text("mimeType").unwrap_or("image".into());
            let note = format!("[image left out of this export: {mime}, {}]", format_bytes(raw.len() as u64));
            text_block(&note).into_bytes().into()
        }
        _ if !detail.thinking => {
            let id = call_id(&object, "id");
            let signatures = SIGNATURES.iter().map(|&key| (key, None));
            let changes: Vec<_> = signatures.chain(id.map(|id| ("id", Some(id)))).collect();
            object.with(&changes).into()
        }
        _ => raw.into(),
    }
}

/// Returns the ID of a call without the item of OpenAI's Responses API, as in `call_1|fc_2`. The API rejects such an item
/// without the thinking before it; pi omits it for another model (1.6.0).
fn call_id(object: &RawObject<'_>, key: &str) -> Option<Vec<u8>> {
    let id = JsonReader::new(object.get(key)?).opt_string().ok()??.text();
    let (call, _) = id.split_once('|').filter(|(call, _)| !call.is_empty())?;
    Some(quote(call).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Detail = Detail { tools: ToolDetail::Short, thinking: false, images: false, ..Detail::WHOLE };

    fn reduced_text(line: &str, kind: EntryKind, detail: Detail) -> String {
        String::from_utf8(reduced(line.as_bytes(), kind, detail).into_owned()).unwrap()
    }

    #[test]
    fn thinking_is_left_out_with_its_signatures() {
        let line = r#"{"type":"message","id":"a","message":{"role":"assistant", "content":[{"type":"thinking","thinking":"t","thinkingSignature":"s"},{"type":"text","text":"b","textSignature":"u"}, {"type":"toolCall","id":"c|fc_1","name":"x","arguments":{"id":"d|e"},"thoughtSignature":"v"}],"n":1e999}}"#;
        let wanted = r#"{"type":"message","id":"a","message":{"role":"assistant", "content":[{"type":"text","text":"b"},{"type":"toolCall","id":"c","name":"x","arguments":{"id":"d|e"}}],"n":1e999}}"#;
        assert_eq!(reduced_text(line, EntryKind::Assistant, NONE), wanted);
        assert_eq!(reduced_text(line, EntryKind::Assistant, Detail { thinking: true, ..NONE }), line);
        let edit = r#"{"type":"context_edit","id":"e","targetId":"a","replacement":{"content":[{"type":"thinking","thinking":"t"}]}}"#;
        assert!(reduced_text(edit, EntryKind::Assistant, NONE).ends_with(r#""replacement":{"content":[]}}"#));
    }

    #[test]
    fn results_are_replaced_by_a_note() {
        let note = r#"[{"type":"text","text":"[result left out of this export]"}]"#;
        let line = r#"{"type":"message","message":{"role":"toolResult","toolCallId":"c|fc_1","content":[{"type":"text","text":"secret"}],"details":{"diff":"secret"},"nestedCalls":{"calls":["secret"]},"isError":true}}"#;
        let wanted = format!(
            r#"{{"type":"message","message":{{"role":"toolResult","toolCallId":"c","content":{note},"isError":true}}}}"#
        );
        assert_eq!(reduced_text(line, EntryKind::ToolResult, NONE), wanted);
        let bash = r#"{"type":"message","message":{"role":"bashExecution","command":"c","output":"secret","fullOutputPath":"/secret"}}"#;
        let wanted = r#"{"type":"message","message":{"role":"bashExecution","command":"c","output":"[result left out of this export]"}}"#;
        assert_eq!(reduced_text(bash, EntryKind::Bash, NONE), wanted);
        let edit = r#"{"type":"context_edit","targetId":"r","replacement":{"content":"secret"}}"#;
        let wanted = edit.replace("\"secret\"", note);
        assert_eq!(reduced_text(edit, EntryKind::ToolResult, NONE), wanted);
        assert_eq!(reduced_text(edit, EntryKind::Bash, NONE), wanted);
        let omission = r#"{"type":"context_edit","targetId":"r","replacement":null}"#;
        assert_eq!(reduced_text(omission, EntryKind::ToolResult, NONE), omission);
    }

    #[test]
    fn images_become_texts() {
        let image = r#"{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#;
        let note = r#"{"type":"text","text":"[image left out of this export: image/png, 61 B]"}"#;
        for (line, kind) in [
            (format!(r#"{{"type":"message","message":{{"role":"user","content":[{image}]}}}}"#), EntryKind::User),
            (format!(r#"{{"type":"custom_message","content":[{image}],"display":true}}"#), EntryKind::CustomMessage),
        ] {
            assert_eq!(reduced_text(&line, kind, NONE), line.replace(image, note));
            assert_eq!(reduced_text(&line, kind, Detail { images: true, ..NONE }), line);
        }
    }

    #[test]
    fn other_lines_stay_as_they_are() {
        for line in [
            r#"{"type":"custom","data":{"content":[{"type":"image","data":"A"}]}}"#,
            r#"{"type":"message","message":{"role":"user","content":"c|d"}}"#,
            r#"{"type":"message","message":null}"#,
            "[]",
            "no JSON",
        ] {
            assert_eq!(reduced_text(line, EntryKind::User, NONE), line);
        }
    }
}
