//! Detection of the parts of a message line that contain no text, without parsing all of it. Every line contains field
//! names, IDs and numbers, which a text search can skip. The first of repeated `type` fields counts; no program
//! repeats it.

use memchr::memmem;

use crate::session::json::{JsonReader, NotJson, Result, ValueKind};

/// The start of a message line by pi (0.74.2 to 0.87.1).
const MESSAGE: &[u8] = br#"{"type":"message","#;

/// The maximum length of the fields before the content of a message.
const HEAD: usize = 512;
/// The maximum length of the fields after it.
const TAIL: usize = 1024;

/// Returns `true` if a field of a message never contains text.
fn has_no_text(field: &[u8]) -> bool {
    matches!(
        field,
        b"role"
            | b"api"
            | b"provider"
            | b"model"
            | b"responseModel"
            | b"responseId"
            | b"usage"
            | b"stopReason"
            | b"rawStopReason"
            | b"timestamp"
            | b"toolCallId"
            | b"toolName"
            | b"isError"
            | b"durationMs"
            | b"thinkingLevel"
    )
}

/// Returns the end of the part without text that starts at `at`, or `None` if text may be at `at`.
pub(crate) fn gap(line: &[u8], at: usize) -> Option<usize> {
    if !line.starts_with(MESSAGE) {
        return None;
    }
    if at > HEAD && line.len() - at <= TAIL && at >= tail(line) {
        return Some(line.len());
    }
    let mut search = TextSearch { at, text: None };
    let end = match (search.entry(&mut JsonReader::new(line)), search.text) {
        (_, Some(text)) => text,
        (Ok(()), None) => line.len(),
        (Err(_), None) => return None,
    };
    (end > at).then_some(end)
}

/// Returns the start of the fields after the content, or the length of the line if they are unusual.
fn tail(line: &[u8]) -> usize {
    let near = line.len().saturating_sub(TAIL);
    let Some(found) = memmem::rfind(&line[near..], b"],\"") else { return line.len() };
    let start = near + found + b"],".len();
    let (mut reader, mut is_first) = (JsonReader::new(&line[start..]), true);
    while let Ok(Some(key)) = reader.next_key(is_first) {
        is_first = false;
        if !has_no_text(key.raw()) || reader.skip().is_err() {
            return line.len();
        }
    }
    // The message and the entry both end here, so these fields belong to the message.
    if line[start + reader.place()..].trim_ascii_end() == b"}" { start } else { line.len() }
}

/// Scans a line for the first possible text at or after a position.
struct TextSearch {
    at: usize,
    /// The start of that text.
    text: Option<usize>,
}

// The methods return an error to stop: at such a text, or at an unusual value.
impl TextSearch {
    fn entry(&mut self, r: &mut JsonReader<'_>) -> Result<()> {
        r.each_field(|r, key| match key.raw() {
            b"message" => self.message(r),
            _ => r.skip().map(drop),
        })
    }

    fn message(&mut self, r: &mut JsonReader<'_>) -> Result<()> {
        r.each_field(|r, key| match key.raw() {
            b"content" => self.content(r),
            key if has_no_text(key) => r.skip().map(drop),
            _ => self.text(r),
        })
    }

    fn content(&mut self, r: &mut JsonReader<'_>) -> Result<()> {
        /// The maximum number of scanned blocks.
        const MAX_BLOCKS: usize = 1000;
        if r.kind()? != ValueKind::Array {
            return self.text(r);
        }
        r.enter_array()?;
        for number in 0..MAX_BLOCKS {
            if !r.next_item(number == 0)? {
                return Ok(());
            }
            let mut is_call = false;
            r.each_field(|r, key| match key.raw() {
                b"type" => {
                    is_call = r.skip()? == br#""toolCall""#;
                    Ok(())
                }
                b"id" => r.skip().map(drop),
                b"name" if is_call => r.skip().map(drop),
                _ => self.text(r),
            })?;
        }
        Err(NotJson)
    }

    /// Skips a value that may contain text, if it ends before the position.
    fn text(&mut self, r: &mut JsonReader<'_>) -> Result<()> {
        let start = r.here();
        if start <= self.at {
            r.skip()?;
        }
        if start > self.at || r.place() > self.at {
            self.text = Some(start);
            return Err(NotJson);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::entry::{parse, text_fields};

    const LINES: [&str; 7] = [
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"message"}],"timestamp":1}}"#,
        r#"{"type":"message","id":"a","message":{"role":"assistant","content":[{"type":"thinking","thinking":"text],\"","thinkingSignature":"type"},{"type":"text","text":"id"},{"type":"toolCall","id":"type","name":"text","arguments":{"type":"text","id":[1]}}],"api":"text","usage":{"input":12,"cost":{"input":1}},"stopReason":"type","timestamp":2}}"#,
        r#"{"type":"message","message":{"role":"toolResult","toolCallId":"id","content":[{"type":"text","text":"a"},{"type":"new","name":"text","x":{"id":"type"}},{"name":"text","type":"toolCall"},"text"],"details":{"diff":"type"},"isError":false}}"#,
        r#"{"type":"message","message":{"role":"text","content":"text type id","errorMessage":"type"},"id":"text"}"#,
        r#"{"type":"message","message":{"role":"user","content":[{"type":"image","data":"text"}],"model":"text"}} "#,
        r#"{"type":"message","content":["text"],"message":"text"}"#,
        r#"{"type":"custom","data":{"type":"text","a":[{"b":[1],"model":"text"}]}}"#,
    ];

    /// Returns the ranges of texts in a line.
    fn texts(line: &[u8]) -> Vec<std::ops::Range<usize>> {
        let mut places = Vec::new();
        if let Ok(Some(entry)) = parse::line(line) {
            text_fields::texts(&entry, line, &mut |_, text| {
                if !text.is_empty() {
                    let start = text.raw().as_ptr() as usize - line.as_ptr() as usize;
                    places.push(start..start + text.raw().len());
                }
            });
        }
        places
    }

    fn check(line: &[u8]) {
        if line.starts_with(MESSAGE)
            && parse::line(line).is_ok_and(|entry| entry.is_some_and(|entry| !entry.type_name.is("message")))
        {
            return; // repeated type
        }
        let texts = texts(line);
        for at in 0..line.len() {
            let Some(gap) = gap(line, at) else { continue };
            let is_in = |text: &std::ops::Range<usize>| at.max(text.start) < gap.min(text.end);
            let lost = texts.iter().find(|text| is_in(text));
            assert!(gap > at && lost.is_none(), "{at}..{gap} of {}: {lost:?}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn gaps_contain_no_text() {
        LINES.iter().for_each(|line| check(line.as_bytes()));
        let long = "x],".repeat(500);
        LINES.iter().for_each(|line| check(line.replace(":\"text", &format!(":\"{long}text")).as_bytes()));
    }

    #[test]
    fn common_fields_are_in_gaps() {
        let line = LINES[1].replace("text],", &"text ".repeat(500));
        let is_in_gap = |what: &str| gap(line.as_bytes(), line.find(what).unwrap()).is_some();
        for what in
            ["type", "message", "id", "role", "assistant", "content", "thinking", "toolCall", "api", "input", "stop"]
        {
            assert!(is_in_gap(what), "{what}");
        }
        assert!(!is_in_gap("text ") && !is_in_gap("[1]"));
        assert_eq!(gap(line.as_bytes(), 2), line.find("\"text "));
    }

    proptest! {
        #[test]
        fn gaps_of_mutated_lines_contain_no_text(line in 0..LINES.len(), cuts in proptest::collection::vec((0usize..400, 0usize..400, 0usize..60), 0..4)) {
            let mut line = LINES[line].as_bytes().to_vec();
            for (to, from, len) in cuts {
                let from = from % line.len();
                let piece = line[from..(from + len).min(line.len())].to_vec();
                let to = to % line.len();
                line.splice(to..to, piece);
            }
            check(&line);
        }
    }
}
