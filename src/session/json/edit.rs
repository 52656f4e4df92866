//! Edits of single top-level values in a raw line. All other bytes stay the same; parsing and serializing would change
//! numbers beyond a double, invalid UTF-8, white space and repeated keys.

use std::borrow::Cow;
use std::ops::Range;

use crate::session::json::{JsonReader, Str};

/// A raw object with the positions of its top-level fields.
#[derive(Debug)]
pub(crate) struct RawObject<'a> {
    raw: &'a [u8],
    /// The keys, and the positions of the values.
    fields: Vec<(Str<'a>, Range<usize>)>,
    /// The offset after the opening bracket.
    start: usize,
}

impl<'a> RawObject<'a> {
    /// Parses the fields of a line. Returns `None` if it is not a JSON object.
    pub(crate) fn new(raw: &'a [u8]) -> Option<Self> {
        let mut r = JsonReader::new(raw);
        let mut object = Self { raw, fields: Vec::new(), start: r.here() + 1 };
        let fields = r.each_field(|r, key| {
            let start = r.here();
            r.skip()?;
            object.fields.push((key, start..r.place()));
            Ok(())
        });
        fields.and_then(|()| r.end()).is_ok().then_some(object)
    }

    /// Returns the raw value of a key: the last one if the key is repeated, as in JavaScript.
    pub(crate) fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.last(key).map(|at| &self.raw[self.fields[at].1.clone()])
    }

    /// Returns the value of a key if it is a string.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        JsonReader::new(self.get(key)?).opt_string().ok()?.map(Str::text)
    }

    /// Returns the line with the edits: new values (JSON) of fields, which are appended if they are missing, or `None` to
    /// remove a field.
    pub(crate) fn with<V: AsRef<[u8]>>(&self, changes: &[(&str, Option<V>)]) -> Vec<u8> {
        let mut out = self.raw[..self.start].to_vec();
        let mut is_first = true;
        let mut from = self.start; // start of the next field, including the comma before it
        for (at, (key, value)) in self.fields.iter().enumerate() {
            let head = &self.raw[from..value.start];
            from = value.end;
            let change = changes.iter().find(|(changed, _)| key.is(changed));
            if let Some((_, None)) = change {
                continue;
            }
            let comma = if is_first { head.iter().position(|&b| b == b',' || b == b'"') } else { None };
            let skipped = comma.filter(|&comma| head[comma] == b',').map_or(0, |comma| comma + 1);
            out.extend_from_slice(&head[skipped..]);
            is_first = false;
            match change {
                Some((changed, Some(new))) if self.last(changed) == Some(at) => out.extend_from_slice(new.as_ref()),
                _ => out.extend_from_slice(&self.raw[value.clone()]),
            }
        }
        for (key, to) in changes {
            if let Some(new) = to
                && self.last(key).is_none()
            {
                out.extend_from_slice(if is_first { b"\"" } else { b",\"" });
                is_first = false;
                out.extend_from_slice(key.as_bytes());
                out.extend_from_slice(b"\":");
                out.extend_from_slice(new.as_ref());
            }
        }
        out.extend_from_slice(&self.raw[from..]);
        out
    }

    /// Returns the line without some fields.
    pub(crate) fn without(&self, keys: &[&str]) -> Vec<u8> {
        self.with(&keys.iter().map(|key| (*key, None::<&[u8]>)).collect::<Vec<_>>())
    }

    fn last(&self, key: &str) -> Option<usize> {
        self.fields.iter().rposition(|(known, _)| known.is(key))
    }
}

/// Returns `true` if two values are the same text or the same bytes. Invalid Unicode is compared as bytes.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    let text = |raw| JsonReader::new(raw).opt_string().ok().flatten().map(Str::text);
    a == b || matches!((text(a), text(b)), (Some(a), Some(b)) if a == b && !a.contains(char::REPLACEMENT_CHARACTER))
}

/// Returns `true` if a value is falsy in JavaScript: absent, `null`, `false`, `""`, or zero in any notation.
pub(crate) fn is_falsy(raw: Option<&[u8]>) -> bool {
    let is_zero = |raw| JsonReader::new(raw).number() == Ok(0.0);
    raw.is_none_or(|raw| matches!(raw, b"" | b"null" | b"false" | b"\"\"") || is_zero(raw))
}

/// Returns a text as JSON, like JavaScript's `JSON.stringify`.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with(line: &str, changes: &[(&str, Option<&[u8]>)]) -> String {
        String::from_utf8(RawObject::new(line.as_bytes()).unwrap().with(changes)).unwrap()
    }

    #[test]
    fn changes_one_value_and_nothing_else() {
        let new = [("b", Some(&b"null"[..]))];
        assert_eq!(
            with(r#" { "a" : 1e999 , "b" : [1, 2] ,"c":"\ud83d"} "#, &new),
            r#" { "a" : 1e999 , "b" : null ,"c":"\ud83d"} "#
        );
        assert_eq!(with(r#"{"a":{"b":1}}"#, &new), r#"{"a":{"b":1},"b":null}"#);
        assert_eq!(with("{ }", &new), r#"{"b":null }"#);
        assert_eq!(with(r#"{"b":1,"\u0062":2,"c":3}"#, &new), r#"{"b":1,"\u0062":null,"c":3}"#);
    }

    #[test]
    fn removes_fields() {
        let gone = [("a", None)];
        for (before, after) in [
            (r#"{"a":1}"#, "{}"),
            (r#"{"a":1 , "b":2}"#, r#"{ "b":2}"#),
            (r#"{"b":2,"a":1}"#, r#"{"b":2}"#),
            (r#"{"a":1,"b":2,"a":3,"c":4}"#, r#"{"b":2,"c":4}"#),
            (r#"{"a":1,"a":3}"#, "{}"),
            (r#"{"b":",a"}"#, r#"{"b":",a"}"#),
        ] {
            assert_eq!(with(before, &gone), after);
        }
        assert_eq!(with(r#"{"a":1}"#, &[("a", None), ("b", Some(b"2"))]), r#"{"b":2}"#);
    }

    #[test]
    fn only_objects_have_fields() {
        for line in ["", "[]", "5", r#"{"a":1"#, r#"{"a":1} x"#] {
            assert!(RawObject::new(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn detects_falsy_values() {
        for raw in ["null", "false", "0", "-0", "0.0e5", "\"\""] {
            assert!(is_falsy(Some(raw.as_bytes())), "{raw}");
        }
        for raw in ["true", "1", "\" \"", "[]", "{}", "\"0\"", "1e999"] {
            assert!(!is_falsy(Some(raw.as_bytes())), "{raw}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(keys in proptest::collection::vec("[abc]", 0..6), changed in "[abcd]", gone: bool) {
            let fields: Vec<String> = keys.iter().enumerate().map(|(n, key)| format!("{key:?} : {n}")).collect();
            let line = format!("{{{}}}", fields.join(" ,"));
            let to = if gone { None } else { Some(&b"[7]"[..]) };
            let mut wanted: serde_json::Map<_, _> = serde_json::from_str(&line).unwrap();
            if gone { wanted.remove(&changed); } else { wanted.insert(changed.clone(), serde_json::json!([7])); }
            let found: serde_json::Map<_, _> = serde_json::from_str(&with(&line, &[(&changed, to)])).unwrap();
            prop_assert_eq!(found, wanted);
        }
    }
}
