//! JSON of any shape inside an entry: arguments of tool calls, data of extensions.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::base::{javascript, sort};
use crate::session::json::{JsonReader, NotJson, Result, Str, ValueKind as Json, edit};

/// The maximum number of parsed fields; relevant fields come earlier.
const MAX_FIELDS: usize = 1000;

/// The fields of a separate object, such as the arguments of a tool call.
#[derive(Debug)]
pub struct Fields<'a>(Vec<(Cow<'a, [u8]>, Value<'a>)>);

impl<'a> Fields<'a> {
    /// Parses the fields; none if `raw` is not an object.
    pub fn new(raw: &'a [u8]) -> Self {
        let mut fields = Vec::new();
        // A checked line has no errors. Otherwise the fields before the error are kept.
        let _ = JsonReader::new(raw).each_field(|r, key| {
            if fields.len() == MAX_FIELDS {
                return Err(NotJson);
            }
            fields.push((key.bytes(), Value::read(r)?));
            Ok(())
        });
        Self(fields)
    }

    /// Returns the decoded keys with their values.
    pub(crate) fn into_iter(self) -> impl Iterator<Item = (Cow<'a, [u8]>, Value<'a>)> {
        self.0.into_iter()
    }

    /// Returns keys and values in JavaScript's order: small integers first, then each key at its first position with
    /// its last value.
    fn in_order(self) -> Vec<(Cow<'a, [u8]>, Value<'a>)> {
        let mut places = HashMap::new();
        let mut fields: Vec<(Cow<'a, [u8]>, Value<'a>)> = Vec::new();
        for (key, value) in self.0 {
            let place = *places.entry(key.clone()).or_insert(fields.len());
            match fields.get_mut(place) {
                Some(field) => field.1 = value,
                None => fields.push((key, value)),
            }
        }
        sort::by_key(&mut fields, |(key, _)| index(key).map_or((true, 0), |index| (false, index)));
        fields
    }

    /// Returns the value of a key: the last one if it is repeated.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.0.iter().rev().find(|(key, _)| &**key == name.as_bytes()).map(|(_, value)| *value)
    }

    /// Returns the value of a key if it is a string.
    pub fn str(&self, name: &str) -> Option<Str<'a>> {
        self.get(name)?.str()
    }

    /// Returns the raw value of a key unless it is a string.
    pub fn raw(&self, name: &str) -> Option<&'a [u8]> {
        self.get(name)?.raw()
    }

    /// Returns the value of a key, converted like [`Value::text`]; empty if it is absent.
    pub fn text(&self, name: &str) -> String {
        self.get(name).map(Value::owned).unwrap_or_default()
    }
}

/// Returns the array index that a key is in JavaScript.
fn index(key: &[u8]) -> Option<u32> {
    let is_written_so = key == b"0" || (key.first() != Some(&b'0') && key.iter().all(u8::is_ascii_digit));
    std::str::from_utf8(key).ok()?.parse().ok().filter(|&index| is_written_so && index < u32::MAX)
}

/// Returns the raw items of a separate array.
pub(crate) fn items(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut r = JsonReader::new(raw);
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
    /// Any other value, raw.
    Raw(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Reads the next value.
    ///
    /// # Errors
    /// The value is not JSON.
    pub fn read(r: &mut JsonReader<'a>) -> Result<Self> {
        if r.kind()? == Json::Str { r.string().map(Self::Text) } else { r.skip().map(Self::Raw) }
    }

    /// Converts the value like JavaScript's `String`. Long arrays are cut.
    pub fn text(&self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text.text(),
            Self::Raw(raw) => string(raw).map_or_else(|_| String::from_utf8_lossy(raw), Cow::Owned),
        }
    }

    /// Returns the owned [`Value::text`].
    pub fn owned(self) -> String {
        self.text().into_owned()
    }

    /// Converts the value to a number as pi does for line numbers (1.6.0): a finite number, or a string that is a
    /// number in JavaScript.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Text(text) => javascript::to_number(&text.text()),
            Self::Raw(raw) => JsonReader::new(raw).opt_number().ok()?.filter(|number| number.is_finite()),
        }
    }

    /// Returns the value if it is a string.
    pub(crate) fn str(self) -> Option<Str<'a>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Raw(_) => None,
        }
    }

    /// Returns the raw value unless it is a string.
    pub fn raw(self) -> Option<&'a [u8]> {
        match self {
            Self::Text(_) => None,
            Self::Raw(raw) => Some(raw),
        }
    }

    /// Returns `true` if the value is falsy in JavaScript: empty, `null`, `false`, or zero in any notation.
    pub fn is_falsy(self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Raw(raw) => edit::is_falsy(Some(raw)),
        }
    }
}

/// The maximum length in bytes of an array converted to text.
const MAX_TEXT: usize = 8 * 1024;

/// Converts a value other than a string like JavaScript's `String`, without recursion; `null` becomes empty, as in an
/// array.
fn string(raw: &[u8]) -> Result<String> {
    let (mut r, mut out, mut depth) = (JsonReader::new(raw), String::new(), 0usize);
    loop {
        let kind = r.kind()?;
        let is_array = kind == Json::Array;
        match kind {
            Json::Array => r.enter_array()?,
            Json::Object => {
                r.skip()?;
                out += "[object Object]";
            }
            Json::Str => out += &r.string()?.text(),
            Json::Number => out += &javascript::number(r.number()?),
            Json::Null => drop(r.skip()?),
            Json::True | Json::False => out += &String::from_utf8_lossy(r.skip()?),
        }
        depth += usize::from(is_array);
        let mut is_first = is_array;
        while depth > 0 && !r.next_item(is_first)? {
            depth -= 1;
            is_first = false;
        }
        if depth == 0 || out.len() > MAX_TEXT {
            return Ok(out);
        }
        if !is_first {
            out.push(',');
        }
    }
}

/// Serializes a value like JavaScript's `JSON.stringify`, without recursion. Returns the first `units` UTF-16 code
/// units, and `true` if the result was cut.
pub(crate) fn stringify(raw: &[u8], units: usize) -> (String, bool) {
    let most = 3 * units; // the maximum bytes of a code unit
    let mut out = String::new();
    let mut parts = vec![PendingPart::Value(Value::read(&mut JsonReader::new(raw)).unwrap_or(Value::Raw(b"")))];
    while out.len() <= most
        && let Some(part) = parts.pop()
    {
        let first = parts.len();
        match part {
            PendingPart::Sign(sign) => out.push(sign),
            PendingPart::Key(key) => {
                out += &edit::quote(&String::from_utf8_lossy(&key));
                out.push(':');
            }
            PendingPart::Value(Value::Text(text)) => out += &edit::quote(&text.start(most)),
            PendingPart::Value(Value::Raw(raw)) => match JsonReader::new(raw).kind() {
                Ok(Json::Object) => {
                    parts.push(PendingPart::Sign('{'));
                    for (at, (key, value)) in Fields::new(raw).in_order().into_iter().take(most).enumerate() {
                        parts.extend((at > 0).then_some(PendingPart::Sign(',')));
                        parts.extend([PendingPart::Key(key), PendingPart::Value(value)]);
                    }
                    parts.push(PendingPart::Sign('}'));
                }
                Ok(Json::Array) => {
                    parts.push(PendingPart::Sign('['));
                    for (at, item) in items(raw).take(most).enumerate() {
                        parts.extend((at > 0).then_some(PendingPart::Sign(',')));
                        parts.extend(Value::read(&mut JsonReader::new(item)).ok().map(PendingPart::Value));
                    }
                    parts.push(PendingPart::Sign(']'));
                }
                Ok(Json::Number) => match JsonReader::new(raw).number() {
                    Ok(number) if number.is_finite() => out += &javascript::number(number),
                    _ => out += "null",
                },
                _ => out += &String::from_utf8_lossy(raw),
            },
        }
        parts[first..].reverse();
    }
    let start = javascript::utf16_prefix(&out, units).len();
    let is_cut = start < out.len();
    out.truncate(start);
    (out, is_cut)
}

/// A part to serialize.
enum PendingPart<'a> {
    Sign(char),
    Key(Cow<'a, [u8]>),
    Value(Value<'a>),
}

/// The size in bytes from which JSON is not formatted: it takes a multiple of the space.
const LONG: usize = 16 * 1024;

/// Formats JSON to show unknown data, unless it is long.
pub(crate) fn readable(raw: &[u8]) -> String {
    if raw.len() < LONG { pretty(raw) } else { String::from_utf8_lossy(raw).into_owned() }
}

/// Formats JSON with two spaces per level, without recursion, to show unknown data. Returns invalid JSON unchanged.
fn pretty(raw: &[u8]) -> String {
    let mut out = String::with_capacity(raw.len() * 2);
    let mut depth = 0usize;
    let mut at = 0;
    // The indentation is limited; otherwise, the output would grow with the square of the depth.
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', 2 * depth.min(32)));
    };
    while at < raw.len() {
        match raw[at] {
            b'"' => {
                let mut reader = JsonReader::new(&raw[at..]);
                let Ok(string) = reader.string() else { return String::from_utf8_lossy(raw).into_owned() };
                out.push_str(&String::from_utf8_lossy(&raw[at..at + string.raw().len() + 2]));
                at += string.raw().len() + 2;
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

    /// Observed with node 22.
    #[test]
    fn serializes_values_as_javascript_does() {
        for (value, json, text) in [
            (
                r#" {"b" : 1.0,"10":[ ],"a":{},"2":"\u00e9","b":1e3,"01":null} "#,
                r#"{"2":"é","10":[],"b":1000,"a":{},"01":null}"#,
                "[object Object]",
            ),
            (
                r#"{"4294967295":1,"4294967294":2,"-1":3,"0":4}"#,
                r#"{"0":4,"4294967294":2,"4294967295":1,"-1":3}"#,
                "[object Object]",
            ),
            (
                r#"["a\/\u0007\n\"", [1,[true,null],{}], null, -0, 1e999]"#,
                r#"["a/\u0007\n\"",[1,[true,null],{}],null,0,null]"#,
                "a/\u{7}\n\",1,true,,[object Object],,0,Infinity",
            ),
            ("[]", "[]", ""),
            ("true", "true", "true"),
            ("1E+2", "100", "100"),
            (r#""\ud83d\ude00""#, r#""😀""#, "😀"),
        ] {
            assert_eq!(stringify(value.as_bytes(), 200), (json.into(), false), "{value}");
            assert_eq!(Value::Raw(value.as_bytes()).text(), text, "{value}");
        }
        assert_eq!(stringify(r#"{"a":"😀😀"}"#.as_bytes(), 8), (r#"{"a":"😀"#.into(), true));
        assert_eq!(stringify(r#"{"a":"😀😀"}"#.as_bytes(), 7), (r#"{"a":""#.into(), true));
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        assert_eq!(stringify(&deep, 3), ("[[[".into(), true));
        assert_eq!(Value::Raw(&deep).text(), "");
    }

    #[test]
    fn detects_falsy_values() {
        let fields =
            Fields::new(br#"{"a":0.0,"b":-0,"c":0e9,"d":null,"e":false,"f":"","g":0.1,"h":"0","i":[],"j":1e999}"#);
        let falsy = |name: &str| fields.get(name).unwrap().is_falsy();
        assert!(["a", "b", "c", "d", "e", "f"].into_iter().all(falsy));
        assert!(!["g", "h", "i", "j"].into_iter().any(falsy));
    }

    proptest::proptest! {
        #[test]
        fn formats_any_bytes(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64)) {
            let _ = (pretty(&bytes), stringify(&bytes, 40), items(&bytes).count(), Fields::new(&bytes), Value::Raw(&bytes).text());
        }
    }
}
