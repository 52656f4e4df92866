//! Shorter versions of messages: large results of tools and images are replaced by notes.

use std::borrow::Cow;
use std::ops::Range;

use crate::base::numbers::bytes as format_bytes;
use crate::session::json::edit::quote;
use crate::session::json::value::{Fields, items};
use crate::session::json::{Str, range_of};

/// The bytes that stay at the start and at the end of a shortened text, about.
const KEPT: usize = 1024;

/// The length of a note in bytes, about.
const NOTE: usize = 64;

/// The rule for shortening large contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortening {
    /// The minimum length of a block in bytes as JSON.
    over: u64,
    /// `true` if the start and the end of texts stay.
    keeps_ends: bool,
}

impl Shortening {
    /// Removes the content of blocks over a number of bytes.
    pub(crate) fn remove(over: u64) -> Self {
        Self { over, keeps_ends: false }
    }

    /// Keeps only the start and the end of texts over a number of bytes, and removes images.
    pub(crate) fn shorten(over: u64) -> Self {
        Self { over: over.max(4 * KEPT as u64), keeps_ends: true }
    }
}

/// A large result or image in a line.
struct LargeBlock<'a> {
    /// The bytes of the block, or of the content if that is a text.
    range: Range<usize>,
    kind: LargeKind<'a>,
}

enum LargeKind<'a> {
    /// The type of the image.
    Image(Cow<'a, str>),
    /// The text of a block.
    Block(Str<'a>),
    /// The content of the message.
    Content(Str<'a>),
}

/// Returns the line of a message with shorter results and images, or `None` if none is large. Other bytes are the same.
pub(crate) fn shorten(line: &[u8], how: Shortening) -> Option<Vec<u8>> {
    let blocks = large_blocks(line, how);
    let mut out = Vec::with_capacity(line.len());
    let mut from = 0;
    for block in &blocks {
        out.extend_from_slice(line.get(from..block.range.start)?);
        out.extend_from_slice(block.shorter(how).as_bytes());
        from = block.range.end;
    }
    out.extend_from_slice(&line[from..]);
    (!blocks.is_empty()).then_some(out)
}

/// Returns the number of bytes that [`shorten`] saves, for the content of messages that is removed; for shortened texts, an
/// estimate.
pub(crate) fn saved(line: &[u8], how: Shortening) -> u64 {
    let saved = large_blocks(line, how).into_iter().map(|block| {
        let new = if how.keeps_ends { 2 * KEPT + NOTE } else { block.shorter(how).len() };
        block.range.len().saturating_sub(new) as u64
    });
    saved.sum()
}

/// Finds the large results and images in a line.
fn large_blocks(line: &[u8], how: Shortening) -> Vec<LargeBlock<'_>> {
    let Some(message) = Fields::new(line).raw("message").map(Fields::new) else { return Vec::new() };
    let is_result = message.str("role").is_some_and(|role| role.is("toolResult"));
    let (content, blocks) = (message.str("content"), items(message.raw("content").unwrap_or_default()));
    let content = content.map(|text| {
        let Range { start, end } = range_of(text.raw(), line);
        LargeBlock { range: start - 1..end + 1, kind: LargeKind::Content(text) }
    });
    let blocks = blocks.filter(|raw| raw.len() as u64 > how.over).filter_map(|raw| {
        let (fields, range) = (Fields::new(raw), range_of(raw, line));
        let kind = match &*fields.str("type")?.bytes() {
            b"image" => LargeKind::Image(fields.str("mimeType").map_or("image".into(), Str::text)),
            b"text" => LargeKind::Block(fields.str("text")?),
            _ => return None,
        };
        Some(LargeBlock { range, kind })
    });
    let large = content.into_iter().chain(blocks).filter(|block| block.range.len() as u64 > how.over);
    // Texts of people and models stay.
    large.filter(|block| is_result || matches!(block.kind, LargeKind::Image(_))).collect()
}

impl LargeBlock<'_> {
    /// Returns the JSON that replaces the block.
    fn shorter(&self, how: Shortening) -> String {
        let removed = format_bytes(self.range.len() as u64);
        match &self.kind {
            LargeKind::Image(mime) => text_block(&format!("[pitree slim: removed an image, {mime}, {removed}]")),
            LargeKind::Block(text) => text_block(&shorter(*text, &removed, how)),
            LargeKind::Content(text) => quote(&shorter(*text, &removed, how)),
        }
    }
}

/// Returns a text block as JSON.
pub(crate) fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(text))
}

/// Returns a note in place of a text, with its start and its end if they stay.
fn shorter(text: Str<'_>, removed: &str, how: Shortening) -> String {
    if !how.keeps_ends {
        return format!("[pitree slim: removed {removed} of output]");
    }
    let text = text.text();
    let start = text.floor_char_boundary(KEPT);
    let end = text.ceil_char_boundary(text.len().saturating_sub(KEPT)).max(start);
    let left_out = format_bytes((end - start) as u64);
    format!("{}\n[pitree slim: removed {left_out} of output]\n{}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, content: &str) -> String {
        format!(r#"{{"type":"message","id":"1","message":{{"role":"{role}","content":{content}, "x":1}} }}"#)
    }

    fn text_of(line: &[u8]) -> String {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        match &value["message"]["content"] {
            serde_json::Value::String(text) => text.clone(),
            blocks => blocks[0]["text"].as_str().unwrap().into(),
        }
    }

    #[test]
    fn only_large_results_and_images_are_replaced() {
        let (large, image) =
            ("x".repeat(9000), format!(r#"{{"type":"image","mimeType":"image/png","data":"{}"}}"#, "A".repeat(9000)));
        let text = format!(r#"{{"type":"text","text":"{large}"}}"#);
        let remove = Shortening::remove(8192);
        for (role, content, is_shorter) in [
            ("toolResult", format!("[{text}]"), true),
            ("toolResult", format!("\"{large}\""), true),
            ("toolResult", r#"[{"type":"text","text":"short"}]"#.into(), false),
            ("toolResult", format!(r#"[{{"type":"text"}},{{"type":"other","data":"{large}"}}]"#), false),
            ("toolResult", format!("[{image}]"), true),
            ("user", format!("[{image}]"), true),
            ("user", format!("[{text}]"), false),
            ("user", format!("\"{large}\""), false),
            ("assistant", format!("[{text}]"), false),
        ] {
            let line = message(role, &content);
            let new = shorten(line.as_bytes(), remove);
            assert_eq!(new.is_some(), is_shorter, "{role} {}", &content[..20]);
            if let Some(new) = new {
                assert!(text_of(&new).starts_with("[pitree slim: removed "), "{}", text_of(&new));
                let end = r#", "x":1} }"#.as_bytes();
                assert!(new.ends_with(end) && new.len() < 300);
            }
        }
    }

    #[test]
    fn a_shortened_text_keeps_its_ends() {
        let text = format!("{}{}{}", "ä".repeat(3000), "x".repeat(9000), "ö".repeat(3000));
        let line = message("toolResult", &format!(r#"[{{"type":"text","text":"{text}"}}]"#));
        let new = text_of(&shorten(line.as_bytes(), Shortening::shorten(0)).unwrap());
        let (start, rest) = new.split_once('\n').unwrap();
        let (note, end) = rest.split_once('\n').unwrap();
        assert!(text.starts_with(start) && text.ends_with(end) && !start.is_empty() && !end.is_empty());
        assert!(note.starts_with("[pitree slim: removed 1"), "{note}");
        let short = message("toolResult", r#"[{"type":"text","text":"short"}]"#);
        assert_eq!(shorten(short.as_bytes(), Shortening::shorten(0)), None);
    }
}
