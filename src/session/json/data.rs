//! JSON of any shape that stands inside an entry: a tool call's arguments, the data of extensions.

use std::borrow::Cow;

use crate::session::json::{Kind as Json, Reader, Result, Str, raw};

/// The fields of an object that are looked at: nothing that pitree looks for stands behind so many.
const MOST_FIELDS: usize = 1000;

/// The fields of an object that stands alone, such as a tool call's arguments.
#[derive(Debug)]
pub struct Fields<'a>(Vec<(Cow<'a, [u8]>, Value<'a>)>);

impl<'a> Fields<'a> {
    /// Reads the fields; none, if it is no object.
    pub fn new(raw: &'a [u8]) -> Self {
        let mut fields = Vec::new();
        let mut r = Reader::new(raw);
        if r.kind() == Ok(Json::Object) {
            // What stood in a checked line reads without errors; anything else gives what came before the error.
            let _ = r.enter_object();
            while fields.len() < MOST_FIELDS
                && let Ok(Some(key)) = r.next_key(fields.is_empty())
            {
                let Ok(value) = Value::read(&mut r) else { break };
                fields.push((key.bytes(), value));
            }
        }
        Self(fields)
    }

    /// The names, as they are meant, and their values.
    pub(crate) fn into_iter(self) -> impl Iterator<Item = (Cow<'a, [u8]>, Value<'a>)> {
        self.0.into_iter()
    }

    /// The values that are numbers.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.0.iter().filter_map(|(_, value)| match value {
            Value::Raw(raw) => std::str::from_utf8(raw).ok()?.parse().ok(),
            Value::Text(_) => None,
        })
    }

    /// The value of a name: the last one, if it stands twice.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.0.iter().rev().find(|(key, _)| &**key == name.as_bytes()).map(|(_, value)| *value)
    }
}

/// The items of an array that stands alone, as they are written.
pub(crate) fn items(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut r = Reader::new(raw);
    let (mut is_in, mut is_first) = (r.kind() == Ok(Json::Array) && r.enter_array().is_ok(), true);
    std::iter::from_fn(move || {
        is_in = is_in && r.next_item(std::mem::take(&mut is_first)) == Ok(true);
        if is_in { r.skip().ok() } else { None }
    })
}

/// A value in [`Fields`].
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A string.
    Text(Str<'a>),
    /// Anything else, as it is written.
    Raw(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Reads the value that comes next.
    ///
    /// # Errors
    /// It is not JSON.
    pub fn read(r: &mut Reader<'a>) -> Result<Self> {
        if r.kind()? == Json::Str { r.string().map(Self::Text) } else { r.skip().map(Self::Raw) }
    }

    /// The value as JavaScript's `String()` shows strings and numbers; other values as they are written.
    pub fn text(&self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text.text(),
            Self::Raw(raw) => String::from_utf8_lossy(raw),
        }
    }

    /// The value as it is written, unless it is a string.
    pub fn raw(self) -> Option<&'a [u8]> {
        match self {
            Self::Text(_) => None,
            Self::Raw(raw) => Some(raw),
        }
    }

    /// Whether JavaScript takes it for false: empty, `null`, `false`, `0` however it is written.
    pub fn is_falsy(self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Raw(raw) => raw::is_falsy(Some(raw)),
        }
    }
}

/// JSON without the white space between its parts; no more of it than a row shows.
pub(crate) fn compact(raw: &[u8]) -> String {
    let mut out = Vec::with_capacity(raw.len().min(256));
    let (mut in_string, mut escaped) = (false, false);
    for &b in raw {
        if !in_string && b.is_ascii_whitespace() {
            continue;
        }
        out.push(b);
        in_string ^= b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        if out.len() >= 1024 {
            break; // only the first 40 characters are shown
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Pretty-prints JSON, two columns a level, without recursion: what is shown of data that pitree does not know.
/// Text that is not JSON comes back as it is.
pub(crate) fn pretty(raw: &[u8]) -> String {
    let mut out = String::with_capacity(raw.len() * 2);
    let mut depth = 0usize;
    let mut at = 0;
    // Deeper levels are not indented further, or the output would grow with the square of the depth.
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', 2 * depth.min(32)));
    };
    while at < raw.len() {
        match raw[at] {
            b'"' => {
                let mut reader = Reader::new(&raw[at..]);
                let Ok(string) = reader.string() else { return String::from_utf8_lossy(raw).into_owned() };
                out.push_str(&String::from_utf8_lossy(&raw[at..at + string.raw_len() + 2]));
                at += string.raw_len() + 2;
                continue;
            }
            open @ (b'{' | b'[') => {
                out.push(char::from(open));
                let rest = raw[at + 1..].trim_ascii_start();
                if matches!(rest.first(), Some(b'}' | b']')) {
                    at = raw.len() - rest.len();
                    out.push(char::from(rest[0]));
                } else {
                    depth += 1;
                    newline(&mut out, depth);
                }
            }
            close @ (b'}' | b']') => {
                depth = depth.saturating_sub(1);
                newline(&mut out, depth);
                out.push(char::from(close));
            }
            b',' => {
                out.push(',');
                newline(&mut out, depth);
            }
            b':' => out.push_str(": "),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            other => out.push(char::from(other)),
        }
        at += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_prints_without_recursion() {
        assert_eq!(
            pretty(br#"{"a":[1,{}],"b":"x\"y"}"#),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"x\\\"y\"\n}"
        );
        assert!(pretty(&vec![b'['; 100_000]).len() > 100_000);
    }

    #[test]
    fn knows_what_is_false() {
        let fields =
            Fields::new(br#"{"a":0.0,"b":-0,"c":0e9,"d":null,"e":false,"f":"","g":0.1,"h":"0","i":[],"j":1e999}"#);
        let falsy = |name: &str| fields.get(name).unwrap().is_falsy();
        assert!(["a", "b", "c", "d", "e", "f"].into_iter().all(falsy));
        assert!(!["g", "h", "i", "j"].into_iter().any(falsy));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_shown(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64)) {
            let _ = (pretty(&bytes), compact(&bytes), items(&bytes).count(), Fields::new(&bytes));
        }
    }
}
