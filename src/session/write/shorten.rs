//! Shorter versions of messages: large results of tools and images are replaced by notes.

use std::borrow::Cow;
use std::ops::Range;

use crate::base::numbers::bytes as size;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::json::edit::quote;
use crate::session::json::value::{Fields, Value};
use crate::session::json::{JsonReader, Result, ValueKind};

/// The bytes that stay at the start and at the end of a shortened text, about.
const KEPT: usize = 1024;

/// How large contents are shortened.
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

/// Returns the line of a message with shorter results and images, or `None` if none is large. Other bytes are the same.
pub(crate) fn shorten(line: &[u8], how: Shortening) -> Option<Vec<u8>> {
    let is_result = parse::line(line).ok()??.kind == EntryKind::ToolResult;
    let mut new: Vec<(Range<usize>, String)> = Vec::new();
    let mut r = JsonReader::new(line);
    let walked = r.each_field(|r, key| match r.kind()? {
        ValueKind::Object if key.is("message") => r.each_field(|r, key| match r.kind()? {
            ValueKind::Array if key.is("content") => blocks(r, (is_result, how), &mut new),
            ValueKind::Str if key.is("content") && is_result => {
                let start = r.here();
                let text = r.string()?;
                let range = start..r.place();
                if range.len() as u64 > how.over {
                    new.push((range, quote(&shorter(&text.text(), how))));
                }
                Ok(())
            }
            _ => r.skip().map(drop),
        }),
        _ => r.skip().map(drop),
    });
    walked.ok().filter(|()| !new.is_empty())?;
    let mut out = Vec::with_capacity(line.len());
    let mut from = 0;
    for (range, text) in new {
        out.extend_from_slice(line.get(from..range.start)?);
        out.extend_from_slice(text.as_bytes());
        from = range.end;
    }
    out.extend_from_slice(&line[from..]);
    (out.len() < line.len()).then_some(out)
}

fn blocks(
    r: &mut JsonReader<'_>,
    (is_result, how): (bool, Shortening),
    new: &mut Vec<(Range<usize>, String)>,
) -> Result<()> {
    r.enter_array()?;
    let mut is_first = true;
    while r.next_item(std::mem::take(&mut is_first))? {
        let start = r.here();
        let raw = r.skip()?;
        let range = start..r.place();
        if range.len() as u64 <= how.over {
            continue;
        }
        let fields = Fields::new(raw);
        let text = |name: &str| fields.get(name).and_then(Value::str).map(|text| text.text());
        let note: Cow<'_, str> = match text("type").as_deref() {
            Some("image") => {
                let mime = text("mimeType").unwrap_or("image".into());
                format!("[pitree slim: removed an image, {mime}, {}]", size(range.len() as u64)).into()
            }
            Some("text") if is_result => match text("text") {
                Some(text) => shorter(&text, how).into(),
                None => continue,
            },
            _ => continue,
        };
        new.push((range, format!(r#"{{"type":"text","text":{}}}"#, quote(&note))));
    }
    Ok(())
}

/// Returns a note in place of a text, with its start and its end if they stay.
fn shorter(text: &str, how: Shortening) -> String {
    if !how.keeps_ends {
        return format!("[pitree slim: removed {} of output]", size(text.len() as u64));
    }
    let start = text.floor_char_boundary(KEPT);
    let end = text.ceil_char_boundary(text.len().saturating_sub(KEPT)).max(start);
    let left_out = size((end - start) as u64);
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
