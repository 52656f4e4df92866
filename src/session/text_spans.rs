//! Detection of the parts of a message line that contain no text, without parsing all of it. Every line contains field
//! names, IDs and numbers, which a text search can skip. The first of repeated `type` fields counts; no program
//! repeats it.

use memchr::memmem;

use crate::session::json::JsonReader;

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
    let mut walk = TextSpans { reader: JsonReader::new(line), at, end: 0 };
    let _ = walk.entry();
    (walk.end > at).then_some(walk.end)
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

/// Scans a line up to the first possible text at or after a position.
struct TextSpans<'a> {
    reader: JsonReader<'a>,
    at: usize,
    /// The end of the part without text after the last possible text.
    end: usize,
}

// The methods return `None` to stop: at such a text, or at an unusual value.
impl TextSpans<'_> {
    fn entry(&mut self) -> Option<()> {
        self.each_field(|walk, key| match key {
            b"message" => walk.message(),
            _ => walk.no_text(),
        })
    }

    fn message(&mut self) -> Option<()> {
        self.each_field(|walk, key| match key {
            b"content" => walk.content(),
            key if has_no_text(key) => walk.no_text(),
            _ => walk.text(),
        })
    }

    fn content(&mut self) -> Option<()> {
        /// The maximum number of scanned blocks.
        const MOST: usize = 1000;
        if self.reader.enter_array().is_err() {
            return self.text();
        }
        for number in 0..MOST {
            if !self.reader.next_item(number == 0).ok()? {
                return self.note();
            }
            let mut is_call = false;
            self.each_field(|walk, key| match key {
                b"type" => {
                    let from = walk.reader.here();
                    walk.no_text()?;
                    is_call = walk.reader.since(from) == br#""toolCall""#;
                    Some(())
                }
                b"id" => walk.no_text(),
                b"name" if is_call => walk.no_text(),
                _ => walk.text(),
            })?;
        }
        None
    }

    fn each_field(&mut self, mut field: impl FnMut(&mut Self, &[u8]) -> Option<()>) -> Option<()> {
        self.reader.enter_object().ok()?;
        let mut is_first = true;
        while let Some(key) = self.reader.next_key(is_first).ok()? {
            is_first = false;
            self.note();
            field(self, key.raw())?;
        }
        self.note()
    }

    /// Skips a value without text.
    fn no_text(&mut self) -> Option<()> {
        self.reader.skip().ok()?;
        self.note()
    }

    /// Skips a value that may contain text.
    fn text(&mut self) -> Option<()> {
        self.end = self.reader.here();
        (self.end <= self.at).then_some(())?;
        self.reader.skip().ok()?;
        (self.reader.place() <= self.at).then_some(())
    }

    fn note(&mut self) -> Option<()> {
        self.end = self.reader.place();
        Some(())
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
