//! All strings of a JSON value with their paths, such as `message.content[0].text`.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{JsonReader, Result, Str, ValueKind};

/// The path of a string: the keys and indices from the root. Lines can contain hundreds of thousands of levels, so an
/// array takes only eight bytes.
#[derive(Debug, Default)]
pub(crate) struct JsonPath<'a> {
    levels: Vec<Level>,
    /// The current key of each object; `None` before its first one.
    keys: Vec<Option<Str<'a>>>,
}

/// An object or array that is being read.
#[derive(Debug)]
enum Level {
    Object,
    /// The next index.
    Array {
        next: u32,
    },
}

impl<'a> JsonPath<'a> {
    /// Returns the nearest key: the name of a string or of the array that contains it.
    pub(crate) fn name(&self) -> Option<Cow<'a, str>> {
        self.keys.iter().rev().find_map(|key| *key).map(Str::text)
    }

    /// Returns the key of a string that is directly in an object.
    pub(crate) fn key(&self) -> Option<Str<'a>> {
        match self.levels.last() {
            Some(Level::Object) => self.keys.last().copied().flatten(),
            _ => None,
        }
    }

    /// Returns the path as text.
    pub(crate) fn text(&self) -> String {
        let (mut text, mut keys) = (String::new(), self.keys.iter());
        for level in &self.levels {
            match level {
                Level::Object => {
                    if let Some(Some(key)) = keys.next() {
                        text.push_str(if text.is_empty() { "" } else { "." });
                        text.push_str(&key.text());
                    }
                }
                Level::Array { next } => {
                    let _ = write!(text, "[{}]", next.saturating_sub(1)); // a string accepts everything
                }
            }
        }
        text
    }
}

/// Calls `each` for each string of a JSON value. The third argument is `true` for keys of objects.
///
/// # Errors
/// The text is not JSON; the strings before the error were passed.
pub(crate) fn each<'a>(json: &'a [u8], mut each: impl FnMut(&JsonPath<'a>, Str<'a>, bool)) -> Result<()> {
    let mut reader = JsonReader::new(json);
    let mut path = JsonPath::default();
    loop {
        // Reads one value, or enters it.
        match reader.kind()? {
            ValueKind::Object => {
                reader.enter_object()?;
                path.levels.push(Level::Object);
                path.keys.push(None);
            }
            ValueKind::Array => {
                reader.enter_array()?;
                path.levels.push(Level::Array { next: 0 });
            }
            ValueKind::Str => each(&path, reader.string()?, false),
            _ => drop(reader.skip()?),
        }
        // Proceeds to the next value.
        loop {
            let has_next = match (path.levels.last_mut(), path.keys.last_mut()) {
                (None, _) => return reader.end(),
                (Some(Level::Object), key) => {
                    let next = reader.next_key(key.as_ref().is_none_or(|key| key.is_none()))?;
                    key.into_iter().for_each(|key| *key = next);
                    next.is_some()
                }
                (Some(Level::Array { next }), _) => {
                    *next = next.saturating_add(1);
                    reader.next_item(*next == 1)?
                }
            };
            if has_next {
                break;
            }
            if let Some(Level::Object) = path.levels.pop() {
                path.keys.pop();
            }
        }
        if let Some(key) = path.key() {
            each(&path, key, true);
        }
    }
}

/// Returns `true` for the Base64 data of an image: a long string that starts like one.
pub(crate) fn is_image(raw: &[u8]) -> bool {
    const MIN_LENGTH: usize = 256;
    const IMAGES: [&[u8]; 6] = [b"iVBORw0KGgo", b"/9j/", b"R0lGOD", b"UklGR", b"Qk0", b"data:image/"];
    raw.len() >= MIN_LENGTH && IMAGES.iter().any(|start| raw.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(json: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        each(json.as_bytes(), |path, text, is_key| {
            if !is_key {
                found.push((path.text(), text.text().into_owned()));
            }
        })
        .unwrap();
        found
    }

    #[test]
    fn strings_have_paths() {
        let json = r#"{"a":"1","b":[{"c":"2\n","d":{}},"3",[],["4",5,null]],"e":{"f":true,"g":"6"},"h":{}}"#;
        let expected = [("a", "1"), ("b[0].c", "2\n"), ("b[1]", "3"), ("b[3][0]", "4"), ("e.g", "6")]
            .map(|(a, b)| (a.into(), b.into()));
        assert_eq!(all(json), expected);
        assert_eq!(all("\"x\""), [(String::new(), "x".into())]);
        assert!(all("[]").is_empty());
        let deep = "[".repeat(100_000) + "\"x\"" + &"]".repeat(100_000);
        assert_eq!(all(&deep).len(), 1);
    }

    #[test]
    fn wrong_json_is_an_error() {
        for json in ["", "{", "{\"a\"}", "[1", "{\"a\":1}x", "[\"a\" \"b\"]"] {
            assert!(each(json.as_bytes(), |_, _, _| ()).is_err(), "{json}");
        }
    }

    #[test]
    fn the_nearest_key_names_a_string() {
        let mut names = Vec::new();
        each(br#"{"a":{"b":["x"]}}"#, |path, _, is_key| {
            if !is_key {
                names.push(path.name().unwrap().into_owned());
            }
        })
        .unwrap();
        assert_eq!(names, ["b"]);
    }
}
