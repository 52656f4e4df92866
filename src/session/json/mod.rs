//! Reads JSON as JavaScript's `JSON.parse` does, because pi parses its session files with it: lone surrogates,
//! invalid UTF-8 (as U+FFFD), deep nesting and `1e999` are accepted, everything else that is not JSON is refused.
//! One pass, no copies, no recursion. What the values mean for a session is said in `entry`.
//!
//! serde_json can't serve here: it refuses lone surrogates in strings and nesting over 128, and a session would lose
//! the entry.

pub mod data;
mod ending;
pub(crate) mod raw;

use std::borrow::Cow;

/// The text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotJson;

/// The result of reading a piece of JSON.
pub type Result<T> = std::result::Result<T, NotJson>;

/// What the next value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    Str,
    /// A number.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// A JSON string as it stands in the file, known to be valid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Str<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Str<'a> {
    /// A string without escapes.
    pub fn plain(raw: &'a str) -> Self {
        Self { raw: raw.as_bytes(), escaped: false }
    }

    /// A string as it is written in a file, without its quotes; known to be valid.
    pub(crate) fn of_raw(raw: &'a [u8]) -> Self {
        Self { raw, escaped: true }
    }

    /// The text; what is not Unicode (lone surrogates, invalid UTF-8) is U+FFFD.
    pub fn text(self) -> Cow<'a, str> {
        if self.escaped {
            return Cow::Owned(self.chars().collect());
        }
        // Much faster than the lossy reading, which nearly no text needs.
        std::str::from_utf8(self.raw).map_or_else(|_| String::from_utf8_lossy(self.raw), Cow::Borrowed)
    }

    /// The characters of the text, decoded one by one.
    pub fn chars(self) -> Chars<'a> {
        Chars { raw: self.raw }
    }

    /// The first `units` UTF-16 code units of the text, as JavaScript's `slice(0, units)` (a character is not split).
    pub fn start(self, units: usize) -> String {
        let mut left = units;
        let fits = |c: &char| {
            let fits = c.len_utf16() <= left;
            left = left.saturating_sub(c.len_utf16());
            fits
        };
        self.chars().take_while(fits).collect()
    }

    /// Whether the text is `text`.
    pub fn is(self, text: &str) -> bool {
        if self.escaped { self.text() == text } else { self.raw == text.as_bytes() }
    }

    /// The text's bytes, for matching keys.
    pub fn bytes(self) -> Cow<'a, [u8]> {
        if self.escaped { Cow::Owned(self.text().into_owned().into_bytes()) } else { Cow::Borrowed(self.raw) }
    }

    /// The string as it is written in the file, without its quotes.
    pub fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// The bytes that the string takes in the file.
    pub(crate) fn raw_len(self) -> usize {
        self.raw.len()
    }

    /// Whether the text has no characters.
    pub fn is_empty(self) -> bool {
        self.raw.is_empty()
    }
}

/// The characters of a [`Str`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    raw: &'a [u8],
}

impl<'a> Chars<'a> {
    /// Takes printable ASCII characters that stand as they are, at most `most` of them: nearly all text is made of
    /// such runs.
    pub(crate) fn ascii_run(&mut self, most: usize) -> &'a str {
        const STEP: usize = 16; // a block is tested at once, as vectors
        let is_in = |b: &u8| matches!(b, b' '..=b'[' | b']'..=b'~');
        let head = &self.raw[..self.raw.len().min(most)];
        let is_whole = |block: &&[u8]| block.iter().fold(true, |whole, b| whole & is_in(b));
        let blocks = head.chunks_exact(STEP).take_while(is_whole).count() * STEP;
        let rest = &head[blocks..];
        let len = blocks + rest.iter().position(|b| !is_in(b)).unwrap_or(rest.len());
        self.raw = &self.raw[len..];
        std::str::from_utf8(&head[..len]).unwrap_or_default()
    }
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let (c, used) = match *self.raw.first()? {
            b'\\' => unescape(self.raw),
            ascii @ 0..0x80 => (char::from(ascii), 1),
            _ => first_char(self.raw),
        };
        self.raw = &self.raw[used..];
        Some(c)
    }
}

/// The first character of `raw` and its length in bytes; U+FFFD for as many bytes as the Encoding Standard says.
fn first_char(raw: &[u8]) -> (char, usize) {
    let head = &raw[..raw.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
        Err(error) => return (char::REPLACEMENT_CHARACTER, error.error_len().unwrap_or(head.len())),
    };
    let c = valid.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    (c, c.len_utf8())
}

/// One escape sequence at the start of `raw` (valid by construction): its character and its length in bytes.
fn unescape(raw: &[u8]) -> (char, usize) {
    let c = match raw.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unescape_unicode(raw),
        Some(&other) => char::from(other),
        None => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (c, 2)
}

fn unescape_unicode(raw: &[u8]) -> (char, usize) {
    let unit = |at: usize| {
        let digits = raw.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match unit(0) {
        Some(high @ 0xd800..=0xdbff) => match unit(6) {
            Some(low @ 0xdc00..=0xdfff) => {
                let c = char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                (c.unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            _ => (char::REPLACEMENT_CHARACTER, 6),
        },
        unit => (unit.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
    }
}

/// Reads values one after the other.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The open brackets while [`Reader::skip`] passes over a value; kept to be used again.
    open: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// Reads from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, open: Vec::new() }
    }

    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let b = *self.bytes.get(self.at)?;
            if b > b' ' || !matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(b);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(NotJson)
    }

    /// The place of the next value.
    pub fn here(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// The place behind what was read.
    pub fn place(&self) -> usize {
        self.at
    }

    /// What was read since `start`, a place that [`Reader::here`] gave.
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// What the next value is, without reading it.
    #[inline]
    pub fn kind(&mut self) -> Result<Kind> {
        Ok(match self.peek().ok_or(NotJson)? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::Str,
            b'-' | b'0'..=b'9' => Kind::Number,
            b't' => Kind::True,
            b'f' => Kind::False,
            b'n' => Kind::Null,
            _ => return Err(NotJson),
        })
    }

    /// Steps into an object; [`Reader::next_key`] goes through it.
    pub(crate) fn enter_object(&mut self) -> Result<()> {
        self.expect(b'{')
    }

    /// The next key of the object (`first` says whether it is the first one), or `None` and steps out at its end.
    /// The value must be read before the next call.
    #[inline(always)]
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<Str<'a>>> {
        if self.peek() == Some(b'}') && first {
            self.at += 1;
            return Ok(None);
        }
        if !first {
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(None);
                }
                Some(b',') => self.at += 1,
                _ => return Err(NotJson),
            }
        }
        self.expect(b'"')?;
        let key = self.text(ending::soon(self.bytes, self.at))?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Steps into an array; [`Reader::next_item`] goes through it.
    pub(crate) fn enter_array(&mut self) -> Result<()> {
        self.expect(b'[')
    }

    /// Whether the array has another item, which must be read before the next call; steps out at its end.
    pub(crate) fn next_item(&mut self, first: bool) -> Result<bool> {
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                self.at += 1;
                if self.peek() == Some(b']') { Err(NotJson) } else { Ok(true) }
            }
            Some(_) if first => Ok(true),
            _ => Err(NotJson),
        }
    }

    /// Reads a string.
    #[inline(always)]
    pub fn string(&mut self) -> Result<Str<'a>> {
        self.expect(b'"')?;
        self.text(ending::of(self.bytes, self.at))
    }

    /// The text from here to the quote that ends it.
    #[inline(always)]
    fn text(&mut self, ending: Option<(usize, bool)>) -> Result<Str<'a>> {
        let (end, escaped) = ending.ok_or(NotJson)?;
        let raw = &self.bytes[self.at..end];
        self.at = end + 1;
        Ok(Str { raw, escaped })
    }

    /// Reads a number; beyond the range of a double it is infinite, as in JavaScript.
    pub fn number(&mut self) -> Result<f64> {
        let raw = self.number_text()?;
        // Most are whole and small, and a double holds them as they are.
        if raw.len() <= 15 && raw.iter().all(u8::is_ascii_digit) {
            return Ok(raw.iter().fold(0u64, |number, digit| number * 10 + u64::from(digit - b'0')) as f64);
        }
        std::str::from_utf8(raw).ok().and_then(|raw| raw.parse().ok()).ok_or(NotJson)
    }

    fn number_text(&mut self) -> Result<&'a [u8]> {
        self.peek();
        let rest = &self.bytes[self.at..];
        let byte = |at: usize| rest.get(at).copied().unwrap_or_default();
        let digits = |mut at: usize| {
            let start = at;
            while byte(at).is_ascii_digit() {
                at += 1;
            }
            if at > start { Ok(at) } else { Err(NotJson) }
        };
        let mut at = usize::from(byte(0) == b'-');
        at = if byte(at) == b'0' { at + 1 } else { digits(at)? };
        if byte(at) == b'.' {
            at = digits(at + 1)?;
        }
        if matches!(byte(at), b'e' | b'E') {
            let has_sign = matches!(byte(at + 1), b'+' | b'-');
            at = digits(at + 1 + usize::from(has_sign))?;
        }
        self.at += at;
        Ok(&rest[..at])
    }

    fn word(&mut self, word: &[u8]) -> Result<()> {
        if self.bytes[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(NotJson)
    }

    /// Passes over the next value, checking all of it, and returns it as it stands in the file.
    pub fn skip(&mut self) -> Result<&'a [u8]> {
        self.peek();
        let start = self.at;
        self.open.clear();
        loop {
            match self.kind()? {
                Kind::Object => {
                    self.at += 1;
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        self.open.push(b'}');
                        self.string()?;
                        self.expect(b':')?;
                        continue;
                    }
                }
                Kind::Array => {
                    self.at += 1;
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        self.open.push(b']');
                        continue;
                    }
                }
                Kind::Str => drop(self.string()?),
                Kind::Number => drop(self.number_text()?),
                Kind::True => self.word(b"true")?,
                Kind::False => self.word(b"false")?,
                Kind::Null => self.word(b"null")?,
            }
            // A value ended: close what ends with it, up to the next value.
            loop {
                let Some(&close) = self.open.last() else { return Ok(&self.bytes[start..self.at]) };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if close == b'}' {
                            self.string()?;
                            self.expect(b':')?;
                        }
                        break;
                    }
                    Some(b) if b == close => {
                        self.at += 1;
                        self.open.pop();
                    }
                    _ => return Err(NotJson),
                }
            }
        }
    }

    /// The next value if it is a string; any other value is passed over.
    #[inline(always)]
    pub(crate) fn opt_string(&mut self) -> Result<Option<Str<'a>>> {
        if self.kind()? == Kind::Str { self.string().map(Some) } else { self.skip().map(|_| None) }
    }

    /// The next value if it is a number; any other value is passed over.
    pub(crate) fn opt_number(&mut self) -> Result<Option<f64>> {
        if self.kind()? == Kind::Number { self.number().map(Some) } else { self.skip().map(|_| None) }
    }

    /// The next value if it is `true` or `false`; any other value is passed over.
    pub(crate) fn opt_bool(&mut self) -> Result<Option<bool>> {
        let kind = self.kind()?;
        self.skip()?;
        Ok(match kind {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        })
    }

    /// Checks that nothing but white space is left.
    pub fn end(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(NotJson) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn valid(text: &[u8]) -> bool {
        let mut reader = Reader::new(text);
        reader.skip().and_then(|_| reader.end()).is_ok()
    }

    fn string(text: &str) -> String {
        Reader::new(text.as_bytes()).string().unwrap().text().into_owned()
    }

    #[test]
    fn accepts_what_javascript_accepts() {
        for text in ["1e999", "-0.5E+3", " [1, {\"a\": [true,false,null]}]\r", r#""\ud83d""#, "{}", "[]", "\"\x7f\""] {
            assert!(valid(text.as_bytes()), "{text}");
        }
        assert!(valid(b"\"\xff\xfe\""));
        assert!(valid(&[vec![b'['; 100_000], vec![b']'; 100_000]].concat()));
    }

    #[test]
    fn refuses_what_javascript_refuses() {
        for text in [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\"}",
            "[1 2]",
            "tru",
            "nul",
            "\"a\nb\"",
            r#""\x""#,
            r#""\u12g4""#,
            "\"a",
            "{} {}",
            "\u{feff}{}",
            "[}",
            "{\"a\":1]",
            "'a'",
            "NaN",
            ",",
        ] {
            assert!(!valid(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn decodes_escapes_and_lone_surrogates() {
        assert_eq!(string(r#""a\n\t\"\\\/\u00e9\ud83d\ude00""#), "a\n\t\"\\/é😀");
        assert_eq!(string(r#""\ud83d!\ude00\ud83d\u0041""#), "\u{fffd}!\u{fffd}\u{fffd}A");
        assert_eq!(Reader::new(b"\"a\xffb\"").string().unwrap().text(), "a\u{fffd}b");
    }

    #[test]
    fn start_counts_utf16_units_and_keeps_characters_whole() {
        let start = |text: &str, units| Reader::new(text.as_bytes()).string().unwrap().start(units);
        assert_eq!(start(r#""ab😀c""#, 3), "ab");
        assert_eq!(start(r#""ab\ud83d\ude00c""#, 4), "ab😀");
        assert_eq!(start(r#""é漢😀""#, 2), "é漢");
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"[\[\]{},:"\\a-c0-2.eEtruflsn u\n -]{0,24}"#) {
            // serde_json refuses lone surrogates and out-of-range numbers; the alphabet can spell neither to the end.
            prop_assert_eq!(valid(text.as_bytes()), serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
        }

        #[test]
        fn reads_back_any_string(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(string(&json), text);
        }

        #[test]
        fn decodes_invalid_utf8_as_the_standard_library_does(bytes in proptest::collection::vec(0x80u8.., 0..12)) {
            let json = [&b"\"\\n"[..], &bytes, b"\""].concat();
            let expected = format!("\n{}", String::from_utf8_lossy(&bytes));
            prop_assert_eq!(Reader::new(&json).string().unwrap().text(), expected);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = valid(&bytes);
        }
    }
}
