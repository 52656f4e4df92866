//! The contents of messages in context edits. They are raw JSON, so that signatures and unknown fields stay as they are.

use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{bytes, count};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::json::Str;
use crate::session::json::edit::{RawObject, quote};
use crate::session::json::value::{Fields, items};
use crate::session::links::IdHash;
use crate::session::write::line::{NewEntry, head};

/// The most UTF-16 code units of a line that a shortened text keeps.
const LINE: usize = 400;

/// Replaces an image that is left out.
const NO_IMAGE: &str = "[image left out]";

/// A context edit to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewEdit {
    /// The ID of the edited entry.
    pub target: String,
    /// `null`, or an object with the content: raw JSON on one line.
    pub replacement: String,
}

/// The effect of a context edit on a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditEffect {
    /// pi does not send it.
    Omitted,
    /// pi sends another content: its texts, and a line for each call and image.
    Replaced(String),
}

impl EditEffect {
    /// Returns the effect of an edit on a message by their lines; `None` if it restores the content.
    pub(crate) fn new(line: &[u8], edit: &[u8]) -> Option<Self> {
        let kind = parse::entry(line).kind;
        let Some(raw) = parse::entry(edit).replacement else { return Some(Self::Omitted) };
        let new = replaced(raw, kind).unwrap_or_default();
        let block = |block: &[u8]| {
            let other = |name| Some(format!("[{}]", Fields::new(block).str(name)?.text()));
            text(block).map(Str::owned).or_else(|| other("name")).or_else(|| other("mimeType"))
        };
        let blocks = || items(&new).filter_map(block).collect::<Vec<_>>().join("\n");
        (new != original(line, kind))
            .then(|| Self::Replaced(if new.starts_with(b"[") { blocks() } else { words(&new) }))
    }

    /// Returns the description.
    pub fn text(&self) -> &'static str {
        match self {
            Self::Omitted => "not sent to the model",
            Self::Replaced(_) => "replaced for the model",
        }
    }
}

/// Returns the line with the content of the `replacement` of a context edit.
pub(crate) fn with_replacement(line: &[u8], edit: &[u8]) -> Option<Vec<u8>> {
    let new = replaced(parse::entry(edit).replacement?, parse::entry(line).kind)?;
    let object = RawObject::new(line)?;
    match object.get("message").and_then(RawObject::new) {
        Some(message) => Some(object.with(&[("message", Some(message.with(&[("content", Some(new))])))])),
        None => Some(object.with(&[("content", Some(new))])),
    }
}

/// Returns the line of a context edit, as pi's `appendContextEdit` writes it (1.6.0). `replacement` is `null` or an object
/// with the content.
pub(crate) fn line(new: &NewEntry<'_>, target: &str, replacement: &str) -> String {
    format!("{},\"targetId\":{},\"replacement\":{replacement}}}", head("context_edit", new), quote(target))
}

/// Returns the `replacement` of an edit with a content; `None` omits the message.
pub(crate) fn replacement(content: Option<&[u8]>) -> String {
    let with = |content: &[u8]| format!("{{\"content\":{}}}", String::from_utf8_lossy(content));
    content.map_or_else(|| "null".into(), with)
}

/// Returns the content of an entry. Strings of answers and results become text blocks, as in pi.
pub(crate) fn original(line: &[u8], kind: EntryKind) -> Vec<u8> {
    let object = RawObject::new(line);
    let content = match kind {
        EntryKind::CustomMessage => object.as_ref().and_then(|object| object.get("content")),
        _ => object
            .as_ref()
            .and_then(|object| RawObject::new(object.get("message")?))
            .and_then(|message| message.get("content")),
    };
    let is_of_blocks = matches!(kind, EntryKind::Assistant | EntryKind::ToolResult);
    match content {
        Some(text) if text.starts_with(b"\"") && is_of_blocks => array([text_block(text)]),
        Some(content) if content.starts_with(b"\"") || content.starts_with(b"[") => content.to_vec(),
        _ if is_of_blocks => b"[]".to_vec(),
        _ => b"\"\"".to_vec(),
    }
}

/// Returns the content of the `replacement` of an edit; `None` if it omits the message.
pub(crate) fn replaced(replacement: &[u8], kind: EntryKind) -> Option<Vec<u8>> {
    RawObject::new(replacement).map(|replacement| {
        let content = replacement.get("content").unwrap_or_default();
        original(&[b"{\"content\":", content, b",\"message\":{\"content\":", content, b"}}"].concat(), kind)
    })
}

/// Returns the IDs of the calls.
pub(crate) fn calls(content: &[u8]) -> Vec<IdHash> {
    items(content).filter_map(call).collect()
}

/// Returns the ID of a block that is a call.
fn call(block: &[u8]) -> Option<IdHash> {
    let fields = Fields::new(block);
    is_a(&fields, "toolCall").then(|| IdHash::of(fields.str("id").unwrap_or_default()))
}

/// Returns the content without some calls; `None` if then nothing is left that says something.
pub(crate) fn without_calls(content: &[u8], is_gone: impl Fn(IdHash) -> bool) -> Option<Vec<u8>> {
    let left: Vec<&[u8]> = items(content).filter(|block| !call(block).is_some_and(&is_gone)).collect();
    let says = |block: &&[u8]| call(block).is_some() || text(block).is_some_and(|text| !text.text().trim().is_empty());
    left.iter().any(says).then(|| array(left))
}

/// Returns the content with its texts cut to the first and last `lines`; `None` if that is not shorter.
pub(crate) fn shortened(content: &[u8], lines: usize) -> Option<Vec<u8>> {
    let words = words(content);
    let short = cut(&words, lines);
    (short.len() < words.len()).then(|| with_text(content, &short))
}

/// Returns the content with another text, and with its other blocks.
pub(crate) fn with_text(content: &[u8], new: &str) -> Vec<u8> {
    if !content.starts_with(b"[") {
        return quote(new).into_bytes();
    }
    let mut new = Some(text_block(quote(new).as_bytes()));
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for block in items(content) {
        match text(block) {
            Some(_) => blocks.extend(new.take()),
            // The text of an answer comes before its calls.
            None if call(block).is_some() => blocks.extend(new.take().into_iter().chain([block.to_vec()])),
            None => blocks.push(block.to_vec()),
        }
    }
    blocks.extend(new);
    array(blocks)
}

/// Returns the content without its images; `None` if it has none.
pub(crate) fn without_images(content: &[u8]) -> Option<Vec<u8>> {
    let is_image = |block: &[u8]| is_a(&Fields::new(block), "image");
    let instead = |block| if is_image(block) { text_block(quote(NO_IMAGE).as_bytes()) } else { block.to_vec() };
    items(content).any(is_image).then(|| array(items(content).map(instead)))
}

/// Returns `true` if the content has thinking with a signature, which the provider checks.
pub(crate) fn has_signed_thinking(content: &[u8]) -> bool {
    items(content).map(Fields::new).any(|block| {
        is_a(&block, "thinking") && block.str("thinkingSignature").is_some_and(|signature| !signature.is_empty())
    })
}

/// Returns the texts of the content.
pub(crate) fn words(content: &[u8]) -> String {
    if content.starts_with(b"\"") {
        return Str::of_raw(&content[1..content.len().saturating_sub(1).max(1)]).owned();
    }
    items(content).filter_map(text).map(Str::owned).collect::<Vec<_>>().join("\n")
}

/// Cuts a text to its first and last `lines`, and says how much is left out.
fn cut(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    // One line is not worth a mark, and an earlier mark stays.
    let kept = if all.len() <= 2 * lines + 1 { all.len().div_ceil(2) } else { lines };
    let short = |line: &&str| match utf16_prefix(line, LINE) {
        start if start.len() < line.len() => format!("{start}…"),
        line => line.to_owned(),
    };
    let end = all.len().saturating_sub(kept).max(kept);
    let (head, between, tail) = (&all[..kept], &all[kept..end], &all[end..]);
    let size = between.iter().map(|line| line.len() + 1).sum::<usize>();
    let left_out = format!("[{} left out, {}]", count(between.len(), "line", "lines"), bytes(size as u64));
    let lines = head.iter().map(short).chain((!between.is_empty()).then_some(left_out)).chain(tail.iter().map(short));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the text of a text block.
fn text(block: &[u8]) -> Option<Str<'_>> {
    let fields = Fields::new(block);
    if is_a(&fields, "text") { fields.str("text") } else { None }
}

fn is_a(block: &Fields<'_>, type_name: &str) -> bool {
    block.str("type").is_some_and(|name| name.is(type_name))
}

/// Returns a text block; `text` is a JSON string.
fn text_block(text: &[u8]) -> Vec<u8> {
    [br#"{"type":"text","text":"#, text, b"}"].concat()
}

fn array<B: AsRef<[u8]>>(blocks: impl IntoIterator<Item = B>) -> Vec<u8> {
    let blocks: Vec<B> = blocks.into_iter().collect();
    let blocks: Vec<&[u8]> = blocks.iter().map(AsRef::as_ref).collect();
    [b"[", &*blocks.join(&b","[..]), b"]"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(content: Option<Vec<u8>>) -> String {
        String::from_utf8(content.unwrap()).unwrap()
    }

    #[test]
    fn calls_go_and_the_rest_stays_byte_for_byte() {
        let content = br#"[{"type":"thinking","thinking":"t","thinkingSignature":"s1"},{"type":"text","text":"I \u00e9dit"}, {"type":"toolCall","id":"a","arguments":{"n":1e400}},{"type":"toolCall","id":"b"}]"#;
        let gone = |names: &'static [&'static str]| {
            move |id: IdHash| names.iter().any(|name| IdHash::new(name.as_bytes()) == id)
        };
        let left = text_of(without_calls(content, gone(&["b"])));
        assert_eq!(
            left,
            r#"[{"type":"thinking","thinking":"t","thinkingSignature":"s1"},{"type":"text","text":"I \u00e9dit"},{"type":"toolCall","id":"a","arguments":{"n":1e400}}]"#
        );
        assert_eq!(calls(left.as_bytes()), [IdHash::new(b"a")]);
        assert!(has_signed_thinking(left.as_bytes()));
        let thinking =
            br#"[{"type":"thinking","thinking":"t"},{"type":"text","text":" "},{"type":"toolCall","id":"a"}]"#;
        assert!(without_calls(thinking, gone(&["a"])).is_none() && !has_signed_thinking(thinking));
    }

    #[test]
    fn texts_are_cut_between_their_first_and_last_lines() {
        let lines = (1..=100).map(|n| n.to_string()).collect::<Vec<_>>().join("\\n");
        let content = format!(r#"[{{"type":"text","text":"{lines}"}},{{"type":"image","data":"x"}}]"#);
        let short = text_of(shortened(content.as_bytes(), 2));
        assert_eq!(
            short,
            r#"[{"type":"text","text":"1\n2\n[96 lines left out, 281 B]\n99\n100"},{"type":"image","data":"x"}]"#
        );
        assert!(shortened(short.as_bytes(), 2).is_none(), "it is short already");
        assert_eq!(
            text_of(shortened(b"\"a\\nlonger line than the mark of what is left out\\nb\"", 0)),
            "\"[3 lines left out, 50 B]\""
        );
        assert_eq!(text_of(without_images(short.as_bytes())).matches("image left out").count(), 1);
        assert!(without_images(b"\"x\"").is_none());
    }

    #[test]
    fn an_edit_with_the_original_content_has_no_effect() {
        let line = br#"{"type":"message","message":{"role":"toolResult","content":"a"}}"#;
        let effect = |replacement: &str| {
            let edit = format!(r#"{{"type":"context_edit","targetId":"t","replacement":{replacement}}}"#);
            let new = with_replacement(line, edit.as_bytes()).map(|new| String::from_utf8(new).unwrap());
            (EditEffect::new(line, edit.as_bytes()), new.is_some())
        };
        assert_eq!(effect("null"), (Some(EditEffect::Omitted), false));
        assert_eq!(effect(r#"{"content":[{"type":"text","text":"a"}]}"#), (None, true));
        let other = r#"{"content":[{"type":"text","text":"b"},{"type":"image","mimeType":"image/png","data":"x"}]}"#;
        assert_eq!(effect(other), (Some(EditEffect::Replaced("b\n[image/png]".into())), true));
        assert_eq!(effect("1").0, Some(EditEffect::Replaced(String::new())));
        let message = with_replacement(
            br#"{"type":"custom_message","content":"a","display":true}"#,
            br#"{"type":"context_edit","replacement":{"content":"b"}}"#,
        );
        assert_eq!(text_of(message), r#"{"type":"custom_message","content":"b","display":true}"#);
    }

    #[test]
    fn contents_have_the_form_that_pi_writes() {
        let message = |content: &str| format!(r#"{{"type":"message","message":{{"content":{content}}}}}"#);
        let original = |content: &str, kind| text_of(Some(original(message(content).as_bytes(), kind)));
        assert_eq!(original(r#""a""#, EntryKind::User), r#""a""#);
        assert_eq!(original(r#""a""#, EntryKind::ToolResult), r#"[{"type":"text","text":"a"}]"#);
        assert_eq!(original("null", EntryKind::Assistant), "[]");
        assert_eq!(replaced(b"null", EntryKind::User), None);
        assert_eq!(text_of(replaced(br#"{"content":[1]}"#, EntryKind::User)), "[1]");
        assert_eq!(
            text_of(Some(with_text(br#"[{"type":"toolCall","id":"a"}]"#, "new"))),
            r#"[{"type":"text","text":"new"},{"type":"toolCall","id":"a"}]"#
        );
        assert_eq!(words(br#""a\nb""#), "a\nb");
    }
}
