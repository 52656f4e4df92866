//! The parts of a line that is not JSON: complete entries, and bytes between them. Older versions of pi append to an
//! incomplete last line (before 0.87), so that an entry follows other bytes on its line.

use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, parse};
use crate::session::json::{JsonReader, ValueKind};

/// The maximum number of places at which an entry is searched. Each attempt can read the rest of the line.
const TRIES: usize = 1000;

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A complete JSON object, with the white space around it.
    Value(&'a [u8]),
    /// Bytes that are not.
    Torn(&'a [u8]),
}

/// Splits a line that is not JSON. The pieces contain all of its bytes.
pub fn pieces(line: &[u8]) -> Vec<Piece<'_>> {
    let (mut pieces, mut from, mut tries) = (Vec::new(), 0, TRIES);
    while from < line.len() {
        let rest = &line[from..];
        if let Some(value) = object(rest) {
            pieces.push(Piece::Value(value));
            from += value.len();
            continue;
        }
        let next = memchr::memmem::find_iter(&rest[1..], b"{\"type\":")
            .map(|at| at + 1)
            .filter(|at| is_known(&rest[*at..]))
            .take_while(|_| {
                let may_try = tries > 0;
                tries = tries.saturating_sub(1);
                may_try
            })
            .find(|at| starts_entry(&rest[*at..]))
            .unwrap_or(rest.len());
        pieces.push(Piece::Torn(&rest[..next]));
        from += next;
    }
    pieces
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the object at the start of some bytes, with the white space around it.
fn object(bytes: &[u8]) -> Option<&[u8]> {
    let spaces = |from: usize| bytes[from..].iter().take_while(|byte| is_space(**byte)).count();
    let start = spaces(0);
    let mut reader = JsonReader::new(&bytes[start..]);
    let value = (reader.kind() == Ok(ValueKind::Object)).then(|| reader.skip().ok()).flatten()?;
    let end = start + value.len();
    Some(&bytes[..end + spaces(end)])
}

/// Returns `true` if an object starts with the type of an entry or a header. Blocks of messages have other types.
fn is_known(bytes: &[u8]) -> bool {
    let mut reader = JsonReader::new(bytes);
    let type_name = reader.enter_object().and_then(|()| reader.next_key(true)).and_then(|_| reader.string());
    type_name.is_ok_and(|name| name.is("session") || EntryKind::of(name, name) != EntryKind::Unknown)
}

/// Returns `true` if an entry or a header starts here, and it is the last value of the line or another object follows.
/// Data of extensions can contain entries, but they are in a list or an object.
fn starts_entry(bytes: &[u8]) -> bool {
    let Some(value) = object(bytes) else { return false };
    let behind = bytes[value.len()..].trim_ascii_start();
    matches!(behind.first(), None | Some(b'{'))
        && parse::line(value).is_ok_and(|entry| entry.is_some_and(|e| is_of_pi(&e)))
}

/// Returns `true` for an object as pi writes it: an entry with an ID and a time, or a header with an ID.
pub(crate) fn is_of_pi(entry: &Entry<'_>) -> bool {
    entry.id_is_text && (entry.is_header() || (entry.kind != EntryKind::Unknown && entry.timestamp.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"{"type":"label","id":"1","timestamp":"t"}"#;

    fn split(line: &str) -> Vec<(bool, String)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.into()).unwrap();
        let piece = |piece| match piece {
            Piece::Value(bytes) => (true, text(bytes)),
            Piece::Torn(bytes) => (false, text(bytes)),
        };
        pieces(line.as_bytes()).into_iter().map(piece).collect()
    }

    #[test]
    fn glued_objects_are_split() {
        assert_eq!(
            split(&format!("{ENTRY}{{\"a\":1}} {ENTRY}\r")),
            [(true, ENTRY.into()), (true, "{\"a\":1} ".into()), (true, format!("{ENTRY}\r"))]
        );
    }

    #[test]
    fn an_entry_after_a_torn_one_is_found() {
        let torn = r#"{"type":"message","id":"0","message":{"content":[{"type":"text","text":"a"},{"type":"te"#;
        assert_eq!(split(&format!("{torn}{ENTRY}")), [(false, torn.into()), (true, ENTRY.into())]);
        let spaced = format!(" {torn}  ");
        assert_eq!(split(&spaced), [(false, spaced.clone())]);
        let both = format!("{torn}{ENTRY}{torn}");
        assert_eq!(split(&both), [(false, torn.into()), (true, ENTRY.into()), (false, torn.into())]);
    }

    #[test]
    fn entries_in_data_are_not_split_off() {
        let torn = format!(r#"{{"type":"custom","id":"0","timestamp":"t","data":[{ENTRY},{ENTRY}]"#);
        assert_eq!(split(&torn), [(false, torn.clone())]);
    }
}
