//! The texts of an entry by field: everything that a user may search for, including tool output and thinking, but no
//! IDs, common field names, or images.

use crate::base::named::named;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Content, Entry, Message, parse};
use crate::session::json::{JsonReader, Str, ValueKind as Json};

named! {
    /// The field of a text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum TextField {
        /// A user message.
        User = "user",
        /// An assistant message.
        Assistant = "assistant",
        /// Thinking of the model.
        Thinking = "thinking",
        /// The arguments of a tool call: names and values.
        Arguments = "arguments",
        /// Tool output, including its diff.
        Tool = "tool",
        /// A command run by the user, and its output.
        Bash = "bash",
        /// Messages and data of extensions.
        Custom = "custom",
        /// A summary of a compaction or a branch, with its details.
        Summary = "summary",
        /// A label, current or not.
        Label = "label",
        /// A session name, current or not.
        Name = "name",
        /// The error and the diagnostics of an assistant message.
        Error = "error",
        /// Any other text: system messages, context edits, unknown types.
        Other = "other",
    }
}

/// Fields of unknown objects that contain no text.
const NO_TEXT: [&str; 4] = ["type", "id", "parentId", "timestamp"];

/// The minimum length in bytes from which a string of base64 digits is treated as data.
const DATA: usize = 256;

/// Calls `each` with every text of an entry; `line` is the line of the entry.
pub fn texts<'a>(entry: &Entry<'a>, line: &'a [u8], each: &mut dyn FnMut(TextField, Str<'a>)) {
    let mut some = |field, text: Option<Str<'a>>| {
        if let Some(text) = text {
            each(field, text);
        }
    };
    let data = entry.data.unwrap_or_default();
    match entry.kind {
        EntryKind::User => message(entry, TextField::User, each),
        EntryKind::Assistant => message(entry, TextField::Assistant, each),
        EntryKind::ToolResult => message(entry, TextField::Tool, each),
        EntryKind::Bash => message(entry, TextField::Bash, each),
        EntryKind::CustomRole => message(entry, TextField::Custom, each),
        EntryKind::SummaryRole => message(entry, TextField::Summary, each),
        EntryKind::SystemRole | EntryKind::OtherMessage => message(entry, TextField::Other, each),
        EntryKind::Compaction | EntryKind::BranchSummary => {
            some(TextField::Summary, entry.summary);
            values(data, TextField::Summary, each);
            if let Some(raw) = entry.system_message {
                system(&parse::message(raw), each);
            }
        }
        EntryKind::CustomMessage => {
            some(TextField::Custom, entry.custom_type);
            content(&entry.content, TextField::Custom, each);
            values(data, TextField::Custom, each);
        }
        EntryKind::Custom => {
            some(TextField::Custom, entry.custom_type);
            values(data, TextField::Custom, each);
        }
        EntryKind::Label => some(TextField::Label, entry.label),
        EntryKind::SessionInfo => some(TextField::Name, entry.name),
        EntryKind::ContextEdit => object(entry.replacement.unwrap_or_default(), TextField::Other, each),
        EntryKind::ModelChange | EntryKind::ThinkingLevel => {}
        EntryKind::Usage | EntryKind::Unknown => object(line, TextField::Other, each),
    }
}

fn message<'a>(entry: &Entry<'a>, field: TextField, each: &mut dyn FnMut(TextField, Str<'a>)) {
    let Some(message) = &entry.message else { return };
    content(&message.content, field, each);
    for nested in message.nested_calls() {
        values(nested.call.arguments, TextField::Arguments, each);
        nested.error.into_iter().for_each(|error| each(TextField::Tool, error));
    }
    system(message, each);
    let others = [message.custom_type, message.command, message.output, message.summary, message.diff];
    others.into_iter().flatten().for_each(|text| each(field, text));
    if let Some(error) = message.error_message {
        each(TextField::Error, error);
    }
    values(message.diagnostics.unwrap_or_default(), TextField::Error, each);
}

/// Calls `each` with the sections and tools of a system message.
fn system<'a>(message: &Message<'a>, each: &mut dyn FnMut(TextField, Str<'a>)) {
    message.sections().filter_map(|(_, text)| text).for_each(|text| each(TextField::Other, text));
    for (name, description) in message.tools_added().chain(message.tools_removed()) {
        each(TextField::Other, name);
        each(TextField::Other, description);
    }
}

fn content<'a>(content: &Content<'a>, field: TextField, each: &mut dyn FnMut(TextField, Str<'a>)) {
    if let Content::Text(text) = content {
        each(field, *text);
    }
    for block in content.blocks() {
        match block {
            Block::Text(text) => each(field, *text),
            Block::Thinking(thinking) => each(TextField::Thinking, *thinking),
            Block::ToolCall(call) => values(call.arguments, TextField::Arguments, each),
            Block::Other { raw, .. } => object(raw, field, each),
            Block::Image { .. } | Block::Broken => {}
        }
    }
}

/// Calls `each` with the texts of an unknown object.
fn object<'a>(raw: &'a [u8], field: TextField, each: &mut dyn FnMut(TextField, Str<'a>)) {
    let mut r = JsonReader::new(raw);
    if r.kind() != Ok(Json::Object) {
        return values(raw, field, each);
    }
    // The line was checked before, so there are no errors.
    let _ = r.each_field(|r, key| {
        let value = r.skip()?;
        if !NO_TEXT.iter().any(|name| key.is(name)) {
            values(value, field, each);
        }
        Ok(())
    });
}

/// Calls `each` with every key, string and number in any JSON, without recursion.
fn values<'a>(raw: &'a [u8], field: TextField, each: &mut dyn FnMut(TextField, Str<'a>)) {
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        let rest = &raw[at..];
        at += match byte {
            b'"' => {
                let mut r = JsonReader::new(rest);
                let Ok(text) = r.string() else { return };
                if !is_data(text.raw()) {
                    each(field, text);
                }
                r.place()
            }
            b'-' | b'0'..=b'9' => {
                let is_in = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let len = rest.iter().position(|b| !is_in(b)).unwrap_or(rest.len());
                each(field, Str::plain(std::str::from_utf8(&rest[..len]).unwrap_or_default()));
                len
            }
            _ => 1,
        };
    }
}

/// Returns `true` if a raw string is an image or other data in base64.
fn is_data(raw: &[u8]) -> bool {
    let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_');
    // A slash may be escaped with a backslash.
    let is_slash = |at: usize| raw[at] == b'\\' && raw.get(at + 1) == Some(&b'/');
    let digits = match memchr::memmem::find(&raw[..raw.len().min(DATA)], b";base64,") {
        Some(at) if raw.starts_with(b"data:") => at + b";base64,".len(),
        _ => 0,
    };
    raw.len() >= DATA && (digits..raw.len()).all(|at| is_digit(&raw[at]) || is_slash(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::parse;

    fn said(line: &str) -> Vec<(&'static str, String)> {
        let entry = parse::line(line.as_bytes()).unwrap().unwrap();
        let mut said = Vec::new();
        texts(&entry, line.as_bytes(), &mut |field, text| said.push((field.name(), text.owned())));
        said
    }

    fn own(said: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        said.iter().map(|(field, text)| (*field, text.to_string())).collect()
    }

    #[test]
    fn returns_the_texts_of_messages() {
        let blocks = r#"{"type":"message","id":"i","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","thinkingSignature":"xyz"},{"type":"text","text":"So"},{"type":"toolCall","id":"call","name":"edit","arguments":{"path":"a.rs","edits":[{"line":-1.5e3,"new":"\u00e9","all":true}]}},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"cite","id":"c","where":"there"}],"errorMessage":"broke","model":"m"}}"#;
        let wanted = own(&[
            ("thinking", "Hm"),
            ("assistant", "So"),
            ("arguments", "path"),
            ("arguments", "a.rs"),
            ("arguments", "edits"),
            ("arguments", "line"),
            ("arguments", "-1.5e3"),
            ("arguments", "new"),
            ("arguments", "é"),
            ("arguments", "all"),
            ("assistant", "there"),
            ("error", "broke"),
        ]);
        assert_eq!(said(blocks), wanted);
        let message = |rest: &str| said(&format!(r#"{{"type":"message","id":"i","message":{{{rest}}}}}"#));
        assert_eq!(message(r#""role":"user","content":"hi""#), own(&[("user", "hi")]));
        assert_eq!(
            message(
                r#""role":"toolResult","toolCallId":"c","toolName":"edit","content":[{"type":"text","text":"ok"}],"details":{"diff":"+1"}"#
            ),
            own(&[("tool", "ok"), ("tool", "+1")])
        );
        assert_eq!(
            message(r#""role":"bashExecution","command":"ls","output":"a b","exitCode":0"#),
            own(&[("bash", "ls"), ("bash", "a b")])
        );
        assert_eq!(
            message(
                r#""role":"system","content":"be kind","sections":{"rules":"be brief","docs":null},"toolsAdded":[{"name":"read","description":"reads","parameters":{"type":"object"}}],"toolsRemoved":[{"name":"edit"}]"#
            ),
            own(&[
                ("other", "be kind"),
                ("other", "be brief"),
                ("other", "read"),
                ("other", "reads"),
                ("other", "edit"),
                ("other", "")
            ])
        );
        assert_eq!(
            message(
                r#""role":"toolResult","content":[],"nestedCalls":{"calls":[{"name":"read","arguments":{"path":"a.rs"},"status":"error","error":"ENOENT"}]}"#
            ),
            own(&[("arguments", "path"), ("arguments", "a.rs"), ("tool", "ENOENT")])
        );
    }

    #[test]
    fn returns_the_texts_of_other_entries() {
        for (line, wanted) in [
            (
                r#"{"type":"custom","customType":"todo","data":{"items":["a",7,null]}}"#,
                &[("custom", "todo"), ("custom", "items"), ("custom", "a"), ("custom", "7")][..],
            ),
            (
                r#"{"type":"custom_message","customType":"note","content":"c","details":"d"}"#,
                &[("custom", "note"), ("custom", "c"), ("custom", "d")],
            ),
            (
                r#"{"type":"compaction","summary":"s","details":{"readFiles":["f"]}}"#,
                &[("summary", "s"), ("summary", "readFiles"), ("summary", "f")],
            ),
            (
                r#"{"type":"compaction","summary":"s","systemMessage":{"role":"system","content":"","sections":{"rules":"be brief"}}}"#,
                &[("summary", "s"), ("other", "be brief")],
            ),
            (r#"{"type":"branch_summary","summary":"s","fromId":"root"}"#, &[("summary", "s")]),
            (r#"{"type":"label","targetId":"t","label":"l"}"#, &[("label", "l")]),
            (r#"{"type":"session_info","name":"n"}"#, &[("name", "n")]),
            (r#"{"type":"context_edit","targetId":"t","replacement":{"content":"c"}}"#, &[("other", "c")]),
            (r#"{"type":"context_edit","targetId":"t","replacement":null}"#, &[]),
            (r#"{"type":"model_change","provider":"p","modelId":"m"}"#, &[]),
            (
                r#"{"type":"new","id":"i","parentId":"p","timestamp":"t","what":{"id":"x"}}"#,
                &[("other", "id"), ("other", "x")],
            ),
        ] {
            assert_eq!(said(line), own(wanted), "{line}");
        }
    }

    #[test]
    fn data_is_no_text() {
        let data = "AZaz09+/".repeat(40);
        let shown = |text: &str| said(&format!(r#"{{"type":"custom","data":["{text}"]}}"#)).len();
        assert_eq!(shown(&data), 0);
        assert_eq!(shown(&data.replace('/', "\\/")), 0);
        assert_eq!(shown(&format!("data:image/png;base64,{data}")), 0);
        assert_eq!(shown(&data[..200]), 1);
        assert_eq!(shown(&format!("{data} words")), 1);
        assert_eq!(shown(&format!("{data}\\n")), 1);
    }

    #[test]
    fn deep_data_needs_no_recursion() {
        let deep = format!("{}7{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(said(&format!(r#"{{"type":"custom","data":{deep}}}"#)), own(&[("custom", "7")]));
    }
}
