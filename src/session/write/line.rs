//! New lines of a session file, as written by pi 0.87.1: names, labels and leaf moves, with their IDs and times.
//! Functions return a line without a line break; time and randomness are arguments.

use thiserror::Error;

use crate::base::javascript::js_trim;
use crate::base::time;
use crate::session::json::edit::quote;

/// The maximum length of a name or label in characters. pi has no limit.
pub const MAX_CHARACTERS: usize = 10_000;

/// The common fields of new entries.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// The ID: see [`new_id`].
    pub id: &'a str,
    /// The ID of the parent: the last entry of the file, or the entry to resume at; `None` for no parent.
    pub parent: Option<&'a str>,
    /// The current time, in milliseconds since 1970.
    pub time_ms: i64,
}

/// An error: a name or label is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too long: {characters} characters; the maximum is {MAX_CHARACTERS}")]
pub struct TooLong {
    /// The length in characters.
    pub characters: usize,
}

/// Returns a name or label as it is written, trimmed and with control characters replaced by spaces. A run of line
/// breaks becomes one space, as in pi's `appendSessionInfo`. An empty text clears the name or label.
///
/// # Errors
/// The result is longer than [`MAX_CHARACTERS`].
pub fn clean_name(text: &str) -> Result<String, TooLong> {
    let mut clean = String::with_capacity(text.len());
    let mut in_break = false;
    for c in text.chars() {
        let is_break = matches!(c, '\r' | '\n');
        if !(is_break && in_break) {
            clean.push(if c.is_control() { ' ' } else { c });
        }
        in_break = is_break;
    }
    let clean = js_trim(&clean);
    match clean.chars().count() {
        characters if characters > MAX_CHARACTERS => Err(TooLong { characters }),
        _ => Ok(clean.into()),
    }
}

/// Returns the line that names a session; an empty name clears it. `name` comes from [`clean_name`].
pub fn session_info(new: &NewEntry<'_>, name: &str) -> String {
    format!("{},\"name\":{}}}", head("session_info", new), quote(name))
}

/// Returns the line that labels the entry with the ID `target`. `None` or an empty text clears the label; the line has
/// no `label` key then. `label` comes from [`clean_name`].
pub fn label(new: &NewEntry<'_>, target: &str, label: Option<&str>) -> String {
    let head = head("label", new);
    match label.filter(|label| !label.is_empty()) {
        Some(label) => format!("{head},\"targetId\":{},\"label\":{}}}", quote(target), quote(label)),
        None => format!("{head},\"targetId\":{}}}", quote(target)),
    }
}

/// Returns the neutral line that makes pi resume at its parent. It clears a missing label, so it changes neither the
/// context of the model nor any label or its time, and pi's `/tree` hides it. Its target is the parent. If the parent
/// is labeled (`has_label`) or missing, the target is the line itself. Without a parent, pi opens the session with an
/// empty conversation, as its `/tree` does for the first user message. Verified with pi 0.87.1.
pub fn leaf_move(new: &NewEntry<'_>, has_label: bool) -> String {
    let target = new.parent.filter(|_| !has_label).unwrap_or(new.id);
    label(new, target, None)
}

/// Returns the start of an entry's line with the keys in pi's order.
pub(super) fn head(type_name: &str, new: &NewEntry<'_>) -> String {
    let parent = new.parent.map_or("null".into(), quote);
    let (id, time) = (quote(new.id), iso(new.time_ms));
    format!(r#"{{"type":"{type_name}","id":{id},"parentId":{parent},"timestamp":"{time}""#)
}

/// Formats a time as pi does; limited to the years 0 to 9999.
pub(crate) fn iso(time_ms: i64) -> String {
    time::iso(time_ms.clamp(-62_167_219_200_000, 253_402_207_200_000 - 1)).unwrap_or_default()
}

/// Generates an ID for a new entry, as pi does: the first 8 hex digits of a random UUID that is not `taken`, or the
/// whole UUID after 100 attempts.
pub fn new_id(random: &mut dyn FnMut() -> u128, taken: impl Fn(&str) -> bool) -> String {
    for _ in 0..100 {
        let id = format!("{:08x}", random() >> 96);
        if !taken(&id) {
            return id;
        }
    }
    let bytes = random().to_be_bytes();
    uuid(bytes, 4)
}

/// Returns the ID of a new session: a UUID of version 7, which begins with the time in milliseconds since 1970.
pub fn uuid_v7(time_ms: i64, random: [u8; 10]) -> String {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&time_ms.to_be_bytes()[2..]);
    bytes[6..].copy_from_slice(&random);
    uuid(bytes, 7)
}

fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = version << 4 | bytes[6] & 0x0f;
    bytes[8] = 0x80 | bytes[8] & 0x3f;
    let n = u128::from_be_bytes(bytes);
    let group = |from: u32, digits: u32| n >> (128 - 4 * (from + digits)) & ((1 << (4 * digits)) - 1);
    format!("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", group(0, 8), group(8, 4), group(12, 4), group(16, 4), group(20, 12))
}

/// Returns pi's file name of a session: its time and its ID.
pub fn file_name(time_ms: i64, id: &str) -> String {
    format!("{}_{id}.jsonl", iso(time_ms).replace([':', '.'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::parse;
    use proptest::prelude::*;

    const NEW: NewEntry<'_> = NewEntry { id: "0a1b2c3d", parent: Some("p"), time_ms: 1_769_271_746_831 };

    #[test]
    fn writes_lines_as_pi_does() {
        let head = r#""id":"0a1b2c3d","parentId":"p","timestamp":"2026-01-24T16:22:26.831Z""#;
        assert_eq!(session_info(&NEW, "a \"b\" é"), format!(r#"{{"type":"session_info",{head},"name":"a \"b\" é"}}"#));
        assert_eq!(label(&NEW, "t", Some("x")), format!(r#"{{"type":"label",{head},"targetId":"t","label":"x"}}"#));
        assert_eq!(label(&NEW, "t", None), format!(r#"{{"type":"label",{head},"targetId":"t"}}"#));
        assert_eq!(leaf_move(&NEW, false), label(&NEW, "p", None));
        assert_eq!(leaf_move(&NEW, true), label(&NEW, "0a1b2c3d", None));
        let root = leaf_move(&NewEntry { parent: None, ..NEW }, false);
        assert!(root.contains(r#""parentId":null"#) && root.contains(r#""targetId":"0a1b2c3d""#), "{root}");
    }

    #[test]
    fn cleans_names() {
        assert_eq!(clean_name(" a\r\n\n\rb\tc\u{7}\u{9b}d \u{feff}").as_deref(), Ok("a b c  d"));
        assert_eq!(clean_name("\n").as_deref(), Ok(""));
        assert_eq!(clean_name(&format!(" {} ", "é".repeat(10_000))).map(|name| name.len()), Ok(20_000));
        let error = clean_name(&"é".repeat(10_001)).unwrap_err();
        assert_eq!(error.to_string(), "too long: 10001 characters; the maximum is 10000");
    }

    #[test]
    fn generates_ids_as_pi_does() {
        let mut n = 0;
        let mut random = || {
            n += 1;
            (n << 96) | 0x1234_5678_9abc_def0_1122_3344
        };
        assert_eq!(new_id(&mut random, |id| id <= "00000002"), "00000003");
        assert_eq!(new_id(&mut random, |_| true), "00000068-1234-4678-9abc-def011223344");
        assert_eq!(uuid_v7(0x0195_a001_0203, [0xff; 10]), "0195a001-0203-7fff-bfff-ffffffffffff");
        assert_eq!(file_name(1_769_271_746_831, "x"), "2026-01-24T16-22-26-831Z_x.jsonl");
        assert_eq!((iso(i64::MIN).len(), iso(i64::MAX).len()), (24, 24));
    }

    proptest! {
        #[test]
        fn any_text_survives(text in any::<String>()) {
            let clean = clean_name(&text).unwrap();
            prop_assert!(!clean.chars().any(char::is_control));
            prop_assert_eq!(clean_name(&clean), Ok(clean));
            let line = session_info(&NEW, &text);
            prop_assert_eq!(parse::line(line.as_bytes()).unwrap().unwrap().name.unwrap().text(), &*text);
            let line = label(&NewEntry { id: &text, parent: Some(&text), ..NEW }, &text, Some(&text));
            let entry = parse::line(line.as_bytes()).unwrap().unwrap();
            prop_assert_eq!(entry.target_id.unwrap().text(), &*text);
            prop_assert_eq!(entry.id.unwrap().text(), &*text);
            prop_assert_eq!(entry.parent_id.unwrap().text(), &*text);
            prop_assert_eq!(entry.label.map(|label| label.owned()).unwrap_or_default(), text);
        }
    }
}
