//! The writer of session files that pi opens and resumes at the exported entry. Entries keep their IDs and bytes; the
//! session gets a new ID and no parent. Labels of a path are written at its end, as in a fork. [`super::reduced`] leaves
//! content out.

use std::borrow::Cow;
use std::ops::Range;

use crate::session::json::edit::{RawObject, quote, same};
use crate::session::json::value::items;
use crate::session::json::{JsonReader, range_of, strings};
use crate::session::write::fork::{ForkError, ForkedLines};
use crate::session::write::line::iso;

/// The header of a new session file.
#[derive(Clone, Copy, Debug)]
pub struct NewHeader<'a> {
    /// The ID.
    pub id: &'a str,
    /// The current time, in milliseconds since 1970.
    pub time_ms: i64,
    /// The working directory.
    pub cwd: &'a str,
    /// The format version of the entries.
    pub version: f64,
}

impl NewHeader<'_> {
    /// Returns the line of the header with a line break.
    pub fn line(&self) -> String {
        let version = if self.version < 2.0 { String::new() } else { format!(r#","version":{}"#, self.version) };
        let (id, time, cwd) = (quote(self.id), iso(self.time_ms), quote(self.cwd));
        format!(r#"{{"type":"session"{version},"id":{id},"timestamp":"{time}","cwd":{cwd}}}"#) + "\n"
    }
}

/// Writes the lines of a path, from its first entry to its last.
#[derive(Debug, Default)]
pub struct PathLines {
    /// The lines so far; `None` if the entries have no IDs.
    lines: Option<ForkedLines>,
}

impl PathLines {
    /// Creates the writer for entries of a format version.
    pub fn new(version: f64) -> Self {
        Self { lines: (version >= 2.0).then(ForkedLines::default) }
    }

    /// Appends the line of an entry.
    ///
    /// # Errors
    /// The line is not an entry with an ID.
    pub fn entry(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), ForkError> {
        if let Some(lines) = &mut self.lines {
            return lines.line(line, out);
        }
        out.extend_from_slice(line);
        out.push(b'\n');
        Ok(())
    }

    /// Omits the line of an entry.
    pub fn omit(&mut self, line: &[u8]) {
        self.lines.iter_mut().for_each(|lines| lines.omit(line));
    }

    /// Appends the labels of the entries. `labels` are the lines of all labels of the source.
    pub fn labels(self, labels: &[Vec<u8>], random: &mut dyn FnMut() -> u128, out: &mut Vec<u8>) {
        if let Some(lines) = self.lines {
            lines.labels(labels, random, out);
        }
    }
}

/// Appends the line of an entry with the ID of its parent in the new file, with a line break.
pub fn relinked(line: &[u8], parent: Option<&str>, version: f64, out: &mut Vec<u8>) {
    let parent = parent.map_or("null".into(), quote).into_bytes();
    match RawObject::new(line) {
        Some(object) if version >= 2.0 && !object.get("parentId").is_some_and(|old| same(old, &parent)) => {
            out.extend(object.with(&[("parentId", Some(&parent))]));
        }
        _ => out.extend_from_slice(line),
    }
    out.push(b'\n');
}

/// Keys of signatures, which are valid only for unchanged text.
pub(crate) const SIGNATURES: [&str; 3] = ["thinkingSignature", "textSignature", "thoughtSignature"];

/// Returns `true` for a signature or the data of an image.
fn is_data(key: &str, raw: &[u8]) -> bool {
    SIGNATURES.contains(&key) || strings::is_image(raw)
}

/// Calls `each` with every text in a line: the decoded string, and its key. A key outside of objects, and that of a
/// key, is empty. Skips structure and data, and the keys of pi. IDs of entries are texts: all links to an entry have the
/// same one.
pub fn each_text(line: &[u8], each: &mut dyn FnMut(&str, &str)) {
    walk(line, &mut |key, text, _| each(key, text));
}

/// Replaces texts of a line by those that `replace` returns for a key and a text. Signatures are removed from the blocks
/// that changed.
pub fn replace_texts(line: &[u8], replace: &mut dyn FnMut(&str, &str) -> Option<String>) -> Vec<u8> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    walk(line, &mut |key, text, range| edits.extend(replace(key, text).map(|text| (range, text))));
    if edits.is_empty() {
        return line.to_vec();
    }
    let mut out = Vec::with_capacity(line.len());
    let mut from = 0;
    for (range, text) in edits {
        out.extend_from_slice(&line[from..range.start]);
        out.extend_from_slice(quote(&text).as_bytes());
        from = range.end;
    }
    out.extend_from_slice(&line[from..]);
    without_signatures(line, out)
}

/// Removes the signatures of the message blocks that differ from the original line.
fn without_signatures(before: &[u8], after: Vec<u8>) -> Vec<u8> {
    let content = |line| RawObject::new(RawObject::new(line)?.get("message")?)?.get("content");
    let (Some(old), Some(new)) = (content(before), content(&after)) else { return after };
    if !new.starts_with(b"[") {
        return after;
    }
    let mut old = items(old);
    let blocks: Vec<Cow<'_, [u8]>> = items(new)
        .map(|block| match (old.next(), RawObject::new(block)) {
            (old, Some(object)) if old != Some(block) => object.without(&SIGNATURES).into(),
            _ => block.into(),
        })
        .collect();
    let Range { start, end } = range_of(new, &after);
    [&after[..start], b"[", &blocks.join(&b','), b"]", &after[end..]].concat()
}

/// Calls `each` with the key, the text and the position (with quotes) of every text in a line.
fn walk(line: &[u8], each: &mut dyn FnMut(&str, &str, Range<usize>)) {
    let (mut at, mut depth) = (0, 0usize);
    let (mut key, mut top_key) = (String::new(), String::new());
    while let Some(&byte) = line.get(at) {
        match byte {
            b'"' => {
                let mut r = JsonReader::new(&line[at..]);
                let Ok(text) = r.string() else { return };
                let end = at + r.place();
                if line[end..].trim_ascii_start().first() == Some(&b':') {
                    key = text.owned();
                    if is_chosen(depth, &top_key) {
                        each("", &key, at..end);
                    }
                    if depth == 1 {
                        top_key.clone_from(&key);
                    }
                } else if !is_structure(depth, &top_key, &key) && !is_data(&key, text.raw()) {
                    each(&key, &text.text(), at..end);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                key.clear();
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns `true` if a value classifies an entry, or identifies or classifies a block or a call.
fn is_structure(depth: usize, top_key: &str, key: &str) -> bool {
    match depth {
        1 => matches!(key, "type" | "timestamp"),
        2 => top_key == "message" && key == "toolCallId",
        4 => top_key == "message" && matches!(key, "id" | "type"),
        _ => false,
    }
}

/// Returns `true` for keys that users of a tool or an extension choose. The others are pi's.
fn is_chosen(depth: usize, top_key: &str) -> bool {
    depth >= 5 || (depth >= 2 && matches!(top_key, "data" | "details"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(line: &str) -> String {
        let line =
            replace_texts(line.as_bytes(), &mut |_, text| text.contains("key").then(|| text.replace("key", "[x]")));
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn texts_are_replaced_across_escapes_and_keys_of_pi_are_kept() {
        let line = r#"{"type":"key","id":"key","data":{"key":"a\u006bey \"q\"","id":"key","n":1e999}}"#;
        assert_eq!(replaced(line), r#"{"type":"key","id":"[x]","data":{"[x]":"a[x] \"q\"","id":"[x]","n":1e999}}"#);
        let unchanged = r#"{ "type" : "x","a":"\ud83d" , "b":[ ] }"#;
        assert_eq!(replaced(unchanged), unchanged);
    }

    #[test]
    fn long_texts_and_chosen_keys_are_replaced() {
        let long = "akey\\n".repeat(100);
        let line = format!(r#"{{"type":"custom","id":"i","data":{{"akey":["{long}"]}}}}"#);
        let expected = line.replace("akey", "a[x]");
        assert_eq!(replaced(&line), expected);
        let image = format!(r#"{{"type":"x","data":"iVBORw0KGgo{}"}}"#, "key".repeat(100));
        assert_eq!(replaced(&image), image);
        let call = r#"{"type":"message","message":{"content":[{"type":"toolCall","arguments":{"key":{"akey":1}}}]}}"#;
        assert_eq!(replaced(call), call.replace("\"key\"", "\"[x]\"").replace("akey", "a[x]"));
    }

    #[test]
    fn signatures_of_changed_blocks_are_dropped() {
        let line = r#"{"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"key","thinkingSignature":"s"},{"type":"text","text":"b","textSignature":"t"}]}}"#;
        let wanted = line.replace("\"key\"", "\"[x]\"").replace(r#","thinkingSignature":"s""#, "");
        assert_eq!(replaced(line), wanted);
    }

    #[test]
    fn texts_have_their_keys() {
        let mut found = Vec::new();
        let line = br#"{"type":"message","id":"i","message":{"role":"user","content":[{"type":"toolCall","id":"c","arguments":{"password":"p","list":["q",{"r":"s"},"t"]}}]}}"#;
        each_text(line, &mut |key, text| found.push(format!("{key}={text}")));
        assert_eq!(found, ["id=i", "role=user", "=password", "password=p", "=list", "list=q", "=r", "r=s", "=t"]);
    }
}
