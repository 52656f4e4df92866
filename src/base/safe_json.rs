//! Printed JSON: free of terminal control characters, with lossless paths.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use serde::ser::Error as _;
use serde_json::Number;
use serde_json::ser::{Formatter, Serializer};

use crate::base::text::{has_unsafe, is_unsafe};
use crate::base::{machine_paths, paths};

/// The start of all printed objects: the schema version, which increases when the name, type or meaning of a field
/// changes.
const START: &str = r#"{"schema":1"#;

/// Creates an object to print: like `json!`, but with the fields in order, in camel case, and with attributes of serde.
macro_rules! object {
    ($($(#[$attribute:meta])* $field:ident $(: $value:expr)?),* $(,)?) => {{
        #[allow(non_camel_case_types, reason = "the type of a field has the name of the field")]
        let object = {
            #[derive(serde::Serialize)]
            #[serde(rename_all = "camelCase")]
            struct Object<$($field),*> { $($(#[$attribute])* $field: $field),* }
            Object { $($field $(: $value)?),* }
        };
        object
    }};
}

pub(crate) use object;

/// Escapes the characters that are unsafe on a terminal, too.
struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if !has_unsafe(fragment) {
            return writer.write_all(fragment.as_bytes()); // faster
        }
        for c in fragment.chars() {
            if is_unsafe(c) {
                c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(writer, "\\u{unit:04x}"))?;
            } else {
                writer.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Appends an object as one line of JSON, with the field `schema`. Escapes characters that are unsafe on a terminal, which
/// does not change the value.
///
/// # Errors
/// `value` cannot be serialized as an object.
pub(crate) fn push_json_line(lines: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    lines.extend_from_slice(START.as_bytes());
    let fields = lines.len();
    value.serialize(&mut Serializer::with_formatter(&mut *lines, Safe))?;
    match lines[fields..] {
        [b'{', b'}'] => drop(lines.remove(fields)),
        [b'{', ..] => lines[fields] = b',',
        _ => return Err(serde_json::Error::custom("a line holds an object").into()),
    }
    lines.push(b'\n');
    Ok(())
}

/// Converts a number to JSON as JavaScript does: `3` instead of `3.0`, and nothing for numbers that JSON lacks.
pub(crate) fn number(value: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Some((value as i64).into());
    }
    Number::from_f64(value)
}

/// The JSON fields of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PathFields {
    /// The path as text, with U+FFFD for invalid UTF-8.
    pub(crate) path: String,
    /// The bytes of the path in base64 if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path_bytes: Option<String>,
    /// The machine of a mirrored session, and its path there.
    #[serde(flatten)]
    pub(crate) remote: Option<RemoteFields>,
}

/// The JSON fields of the origin of a mirrored session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemoteFields {
    /// The name of the machine.
    pub(crate) machine: String,
    /// The path of the session on the machine.
    pub(crate) remote_path: String,
}

impl RemoteFields {
    /// Returns the origin of a mirrored session; `None` for other files.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let machine = machine_paths::machine(path)?.to_owned();
        let remote_path = machine_paths::remote_path(path)?.to_string_lossy().into_owned();
        Some(Self { machine, remote_path })
    }
}

impl From<&Path> for PathFields {
    fn from(path: &Path) -> Self {
        let (text, path_bytes) = match path.to_str() {
            Some(text) => (text.to_owned(), None), // faster
            None => (path.to_string_lossy().into_owned(), Some(paths::base64(path))),
        };
        Self { path: text, path_bytes, remote: RemoteFields::of(path) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn unsafe_characters_are_escaped_without_changing_the_value() {
        let text = "a\u{1b}[31m\u{9b}31m\u{7f}\u{202e}é\u{e0001}😀";
        let mut out = Vec::new();
        push_json_line(&mut out, &BTreeMap::from([("text", text)])).unwrap();
        let line = String::from_utf8(out).unwrap();
        assert!(!line.trim_end().contains(is_unsafe), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), json!({"schema": 1, "text": text}));
    }

    #[test]
    fn objects_start_with_the_schema() {
        let line = |value: &Value| {
            let mut line = b"before\n".to_vec();
            push_json_line(&mut line, value).map(|()| String::from_utf8(line).unwrap())
        };
        assert_eq!(line(&json!({"a": [1]})).unwrap(), "before\n{\"schema\":1,\"a\":[1]}\n");
        assert_eq!(line(&json!({})).unwrap(), "before\n{\"schema\":1}\n");
        assert!(line(&json!([1])).is_err() && line(&json!(1)).is_err());
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        let said = |value| number(value).map(|number| number.to_string());
        assert_eq!([3.0, -1.5, 1_767_603_601_000.0].map(said), ["3", "-1.5", "1767603601000"].map(|s| Some(s.into())));
        assert_eq!(said(f64::INFINITY), None);
    }
}
