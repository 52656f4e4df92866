//! One line: pitree accepts the same JSON as serde_json, except for input that only JavaScript accepts. The fields are
//! those of the same object.

use pitree::session::entry::parse;
use pitree::session::json::{JsonReader, Str};
use serde_json::Value;

/// Inputs that JavaScript accepts and serde_json rejects.
const TAKEN: &[&str] = &[
    "recursion limit",
    "lone leading surrogate",
    "lone trailing surrogate",
    "unexpected end of hex escape",
    "number out of range",
    "invalid unicode code point",
];

/// Reads each line.
pub(crate) fn run(data: &[u8]) {
    data.split(|&byte| byte == b'\n').for_each(line);
}

fn line(line: &[u8]) {
    let mut reader = JsonReader::new(line);
    let is_json = reader.skip().and_then(|_| reader.end()).is_ok();
    let entry = parse::line(line);
    if !line.trim_ascii().is_empty() {
        assert!(is_json || entry.as_ref().map_or(true, Option::is_none), "an entry of what is no JSON");
    }
    if let Ok(Some(entry)) = &entry {
        let _ = (entry.text(), entry.cost(), entry.used(), entry.role().map(Str::text));
    }
    let Ok(text) = std::str::from_utf8(line) else { return };
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            assert!(is_json, "serde_json reads it");
            let same = |ours: Option<Str<'_>>, key: &str| {
                let theirs = value.get(key).and_then(Value::as_str);
                assert_eq!(ours.map(Str::text).as_deref(), theirs, "{key}");
            };
            if let (Some(entry), Value::Object(_)) = (entry.unwrap_or_else(|_| panic!("no entry of {text}")), &value) {
                same(Some(entry.type_name).filter(|_| value.get("type").is_some_and(Value::is_string)), "type");
                same(entry.name, "name");
                same(entry.label, "label");
                same(entry.summary, "summary");
                same(entry.id.filter(|_| entry.id_is_text), "id");
            }
        }
        Err(error) if is_json => {
            let why = error.to_string();
            assert!(TAKEN.iter().any(|taken| why.contains(taken)), "serde_json does not read it: {why}");
        }
        Err(_) => {}
    }
}
