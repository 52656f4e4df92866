//! Completion of an incomplete entry: the longest beginning that can be closed, with the missing quotes and brackets.

use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Content, parse};
use crate::session::json::edit::RawObject;
use crate::session::json::{JsonReader, ValueKind};

/// The fields that pi needs of an answer (1.6.0). pi shows an aborted answer, but does not send it to the model.
const ABORTED: (&str, &[u8]) = ("stopReason", b"\"aborted\"");
const NO_USAGE: (&str, &[u8]) = (
    "usage",
    br#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#,
);

/// The maximum number of incomplete blocks that are left out of an answer, one in another.
const TRIES: usize = 100;

/// Completes the beginning of a message or a header. Returns the complete line, and the number of bytes that it contains;
/// the following ones have no place in it. Returns `None` if pi could not use the result.
pub(super) fn complete(torn: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut torn = torn;
    for _ in 0..TRIES {
        let Closed { mut line, used, in_string } = closed(torn)?;
        let entry = parse::line(&line).ok()??;
        if entry.is_header() {
            if in_string {
                // The beginning of an ID or a directory is another one.
                torn = &torn[..memchr::memrchr(b',', &torn[..used])?];
                continue;
            }
            return entry.starts_session().then_some((line, used));
        }
        let message = entry.message.as_ref().filter(|_| entry.id_is_text)?;
        if matches!(message.content, Content::Missing | Content::Null) {
            return None;
        }
        if message.content.blocks().last().is_some_and(is_incomplete) {
            torn = &torn[..memchr::memrchr(b'{', &torn[..used])?];
            continue;
        }
        match entry.kind {
            EntryKind::User | EntryKind::CustomRole => {}
            EntryKind::ToolResult if message.tool_call_id.is_some() => {}
            EntryKind::Assistant => {
                let is_missing = [(ABORTED, message.stop_reason.is_none()), (NO_USAGE, message.usage.is_none())];
                let missing = is_missing.iter().filter(|(_, is_missing)| *is_missing);
                let fields: Vec<_> = missing.map(|((key, value), _)| (*key, Some(*value))).collect();
                let object = RawObject::new(&line)?;
                let message = RawObject::new(object.get("message")?)?;
                if fields.iter().any(|(key, _)| message.get(key).is_some()) {
                    return None; // pi cannot read its value
                }
                line = object.with(&[("message", Some(&message.with(&fields)))]);
            }
            _ => return None,
        }
        return Some((line, used));
    }
    None
}

/// Returns `true` for a block that lacks what pi needs of it.
fn is_incomplete(block: &Block<'_>) -> bool {
    match block {
        Block::Text(text) | Block::Thinking(text) => text.is_empty(),
        Block::ToolCall(call) => call.id.is_empty() || call.name.is_empty() || call.arguments.is_empty(),
        Block::Image { mime, .. } => mime.is_empty(),
        Block::Other { type_name, .. } => type_name.is_empty() || type_name.is("text"),
        Block::Broken => true,
    }
}

/// A completed object.
struct Closed {
    line: Vec<u8>,
    /// The number of bytes that it contains.
    used: usize,
    /// `true` if it ends in an incomplete string.
    in_string: bool,
}

/// Closes the beginning of an object after its last complete value, or in the string that is incomplete.
fn closed(torn: &[u8]) -> Option<Closed> {
    let mut reader = JsonReader::new(torn);
    if reader.kind() != Ok(ValueKind::Object) {
        return None;
    }
    let mut open = Vec::new();
    let mut at = reader.here();
    // The end of the last place at which the brackets can be closed.
    let mut safe = at;
    let mut in_string = false;
    let mut expected = Expected::Value;
    while let Some(&byte) = torn.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        match (&expected, byte) {
            (Expected::Value, b'{' | b'[') => {
                open.push(byte);
                at += 1;
                safe = at;
                expected = if byte == b'{' { Expected::KeyOrEnd } else { Expected::ValueOrEnd };
                continue;
            }
            (Expected::ValueOrEnd, b']') | (Expected::KeyOrEnd, b'}') | (Expected::CommaOrEnd, b']' | b'}') => {
                if open.len() == 1 || open.last() != Some(if byte == b'}' { &b'{' } else { &b'[' }) {
                    break;
                }
                open.pop();
                at += 1;
                safe = at;
                expected = Expected::CommaOrEnd;
                continue;
            }
            (Expected::ValueOrEnd, _) => expected = Expected::Value,
            (Expected::CommaOrEnd, b',') => {
                at += 1;
                expected = if open.last() == Some(&b'{') { Expected::Key } else { Expected::Value };
            }
            (Expected::Key | Expected::KeyOrEnd, b'"') => {
                let (end, is_closed) = string(torn, at);
                if !is_closed {
                    break;
                }
                at = end;
                expected = Expected::Colon;
            }
            (Expected::Colon, b':') => {
                at += 1;
                expected = Expected::Value;
            }
            (Expected::Value, b'"') => {
                let (end, is_closed) = string(torn, at);
                (safe, in_string) = (end, !is_closed);
                if !is_closed {
                    break;
                }
                at = end;
                expected = Expected::CommaOrEnd;
            }
            (Expected::Value, _) => {
                let mut rest = JsonReader::new(&torn[at..]);
                // A number or a word at the end can be incomplete.
                let len = rest.skip().map_or(0, <[u8]>::len);
                if len == 0 || at + len == torn.len() {
                    break;
                }
                at += len;
                safe = at;
                expected = Expected::CommaOrEnd;
            }
            _ => break,
        }
    }
    let mut line = torn[..safe].to_vec();
    line.extend(in_string.then_some(b'"'));
    line.extend(open.iter().rev().map(|bracket| if *bracket == b'{' { b'}' } else { b']' }));
    Some(Closed { line, used: safe, in_string })
}

/// The next token of a JSON text.
enum Expected {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// Returns the end of the string that starts at a quote, and `true` if it is closed. Otherwise, it ends before an incomplete
/// or invalid escape or character.
fn string(bytes: &[u8], start: usize) -> (usize, bool) {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        let len = match byte {
            b'"' => return (at + 1, true),
            0..0x20 => return (at, false),
            b'\\' => match bytes.get(at + 1) {
                Some(b'u') => {
                    let digits = bytes.get(at + 2..at + 6);
                    match digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                        true => 6,
                        false => return (at, false),
                    }
                }
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                _ => return (at, false),
            },
            _ => 1,
        };
        at += len;
    }
    // The first bytes of a character at the end.
    let tail = &bytes[at.saturating_sub(3).max(start + 1)..at];
    let cut = (1..=tail.len()).find(|len| {
        let end = &tail[tail.len() - len..];
        std::str::from_utf8(end).is_err_and(|error| error.error_len().is_none() && error.valid_up_to() == 0)
    });
    (at - cut.unwrap_or(0), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(torn: &[u8]) -> (String, usize) {
        let Closed { line, used, .. } = closed(torn).unwrap();
        (String::from_utf8(line).unwrap(), used)
    }

    #[test]
    fn closes_after_the_last_complete_value() {
        for (torn, whole, used) in [
            (r#"{"#, "{}", 1),
            (r#"{"a"#, "{}", 1),
            (r#"{"a":"#, "{}", 1),
            (r#"{"a":12"#, "{}", 1),
            (r#"{"a":12,"#, r#"{"a":12}"#, 7),
            (r#"{"a":"b"#, r#"{"a":"b"}"#, 7),
            (r#"{"a":"b\"#, r#"{"a":"b"}"#, 7),
            (r#"{"a":"b\u12"#, r#"{"a":"b"}"#, 7),
            (r#"{"a":[{"b":tru"#, r#"{"a":[{}]}"#, 7),
            (r#"{"a":[true ,"x"],"b":[1,2"#, r#"{"a":[true ,"x"],"b":[1]}"#, 23),
            (r#"{"a":[[]]"#, r#"{"a":[[]]}"#, 9),
            (r#"{"a":1]"#, r#"{"a":1}"#, 6),
            ("{\"a\":\"b\u{1}c\"", r#"{"a":"b"}"#, 7),
        ] {
            assert_eq!(close(torn.as_bytes()), (whole.into(), used), "{torn}");
        }
        assert_eq!(close(b"{\"a\":\"b\xe2\x82"), (r#"{"a":"b"}"#.into(), 7));
        assert!(closed(b"[1").is_none() && closed(b"x").is_none());
    }

    #[test]
    fn completes_only_what_pi_can_use() {
        let torn = |role: &str, rest: &str| {
            format!(r#"{{"type":"message","id":"1","parentId":null,"message":{{"role":"{role}",{rest}"#)
        };
        let line = |torn: &str| complete(torn.as_bytes()).map(|(line, _)| String::from_utf8(line).unwrap());
        assert_eq!(line(&torn("user", r#""content":"Hello w"#)), Some(torn("user", r#""content":"Hello w"}}"#)));
        let answer = line(&torn("assistant", r#""content":[{"type":"text","text":"Hello w"#)).unwrap();
        assert!(answer.contains(r#""text":"Hello w"}]"#) && answer.contains(r#""stopReason":"aborted""#), "{answer}");
        assert_eq!(line(&torn("user", r#""content":"#)), None);
        let first = r#""content":[{"type":"text","text":"a"}"#;
        for last in [r#",{"type":"text","#, r#",{"type":"toolCall","id":"1","name":"read","argu"#, ",{"] {
            let answer = line(&torn("assistant", &format!("{first}{last}"))).unwrap();
            assert!(answer.contains(&format!("{first}],\"stop")), "{answer}");
        }
        assert_eq!(line(r#"{"type":"custom","id":"1","data":["#), None);
        assert_eq!(line(r#"{"type":"session","id":"s","cwd":"/a,b"#), Some(r#"{"type":"session","id":"s"}"#.into()));
    }

    proptest! {
        #[test]
        fn every_beginning_becomes_valid(cut in 1usize..200) {
            let whole = r#"{"type":"message","id":"1","x":[1,-2.5e3,true,null,{"é":"a\n\"\ud83d\u0041€"}],"y":{"z":[[],{}]},"n":0}"#;
            let cut = cut.min(whole.len() - 1);
            let Closed { line, used, .. } = closed(&whole.as_bytes()[..cut]).unwrap();
            prop_assert!(used <= cut);
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok() || line.windows(6).any(|w| w == br"\ud83d"));
            prop_assert!(line.starts_with(&whole.as_bytes()[..used]));
        }
    }
}
