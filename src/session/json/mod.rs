//! A JSON reader compatible with JavaScript's `JSON.parse`, which pi uses for session files. It accepts lone
//! surrogates, invalid UTF-8 (as U+FFFD), deep nesting and `1e999`, and rejects everything else that is not JSON. It
//! reads in one pass without copies or recursion. The module `entry` interprets the values.
//!
//! serde_json is unsuitable: it rejects lone surrogates in strings and nesting over 128, so entries would be lost.

pub(crate) mod edit;
mod string_end;
pub(crate) mod strings;
pub mod value;

use std::borrow::Cow;
use std::ops::Range;

/// The text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotJson;

/// The result of reading JSON.
pub type Result<T> = std::result::Result<T, NotJson>;

/// The kind of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
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

/// A raw JSON string, known to be valid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Str<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Str<'a> {
    /// Creates a string without escapes.
    pub fn plain(raw: &'a str) -> Self {
        Self { raw: raw.as_bytes(), escaped: false }
    }

    /// Creates a string from its raw text without quotes, which must be valid.
    pub(crate) fn of_raw(raw: &'a [u8]) -> Self {
        Self { raw, escaped: true }
    }

    /// Returns the text. Lone surrogates and invalid UTF-8 become U+FFFD.
    pub fn text(self) -> Cow<'a, str> {
        if self.escaped {
            return Cow::Owned(self.unescaped());
        }
        // Much faster than lossy decoding, which is rarely needed.
        std::str::from_utf8(self.raw).map_or_else(|_| String::from_utf8_lossy(self.raw), Cow::Borrowed)
    }

    /// Returns the owned text.
    pub fn owned(self) -> String {
        self.text().into_owned()
    }

    /// Decodes the text like [`Str::chars`], but faster: copies runs between escapes.
    fn unescaped(self) -> String {
        let (mut raw, mut text) = (self.raw, Vec::with_capacity(self.raw.len()));
        while let Some(at) = memchr::memchr(b'\\', raw) {
            text.extend_from_slice(&raw[..at]);
            let (c, used) = unescape(&raw[at..]);
            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            raw = &raw[at + used..];
        }
        text.extend_from_slice(raw);
        // Validates once, not each run: decoded characters separate the runs, so that invalid bytes stay in their run.
        String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Returns the decoded characters one by one.
    pub fn chars(self) -> Chars<'a> {
        Chars { raw: self.raw }
    }

    /// Returns the first `units` UTF-16 code units, like JavaScript's `slice(0, units)`, without splitting a character.
    pub fn start(self, units: usize) -> String {
        let mut left = units;
        let fits = |c: &char| {
            let fits = c.len_utf16() <= left;
            left = left.saturating_sub(c.len_utf16());
            fits
        };
        self.chars().take_while(fits).collect()
    }

    /// Returns the length in UTF-16 code units, like JavaScript's `length`.
    pub fn units(self) -> u64 {
        let (mut chars, mut units) = (self.chars(), 0);
        loop {
            units += chars.ascii_run(usize::MAX).len();
            match chars.next() {
                Some(c) => units += c.len_utf16(),
                None => return units as u64,
            }
        }
    }

    /// Returns `true` if the decoded text equals `text`.
    pub fn is(self, text: &str) -> bool {
        if self.escaped { self.text() == text } else { self.raw == text.as_bytes() }
    }

    /// Returns the bytes of the decoded text, to compare keys.
    pub fn bytes(self) -> Cow<'a, [u8]> {
        if self.escaped { Cow::Owned(self.unescaped().into_bytes()) } else { Cow::Borrowed(self.raw) }
    }

    /// Returns the raw string without quotes.
    pub fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Returns `true` if the text is empty.
    pub fn is_empty(self) -> bool {
        self.raw.is_empty()
    }
}

/// Returns the range of a part of some bytes.
pub(crate) fn range_of(part: &[u8], whole: &[u8]) -> Range<usize> {
    let start = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
    start..start.wrapping_add(part.len())
}

/// Returns the text of an optional string, or an empty one.
pub fn text_or_empty(text: Option<Str<'_>>) -> String {
    text.unwrap_or_default().owned()
}

/// The characters of a [`Str`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    raw: &'a [u8],
}

impl<'a> Chars<'a> {
    /// Consumes up to `most` unescaped printable ASCII characters: nearly all text consists of such runs.
    pub(crate) fn ascii_run(&mut self, most: usize) -> &'a str {
        const STEP: usize = 16; // compared together, as vectors
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

/// Returns the first character of `raw` and its length in bytes. Invalid bytes become U+FFFD as in the Encoding
/// Standard.
fn first_char(raw: &[u8]) -> (char, usize) {
    let len = match raw.first() {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        Some(0xc0..) => 2,
        _ => 1,
    };
    let head = &raw[..raw.len().min(len)];
    match std::str::from_utf8(head) {
        Ok(text) => (text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER), len),
        Err(error) => (char::REPLACEMENT_CHARACTER, error.error_len().unwrap_or(head.len())),
    }
}

/// Decodes the valid escape at the start of `raw`. Returns the character and the length in bytes.
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

/// Reads JSON values in sequence.
#[derive(Debug)]
pub struct JsonReader<'a> {
    bytes: &'a [u8],
    /// The unread rest.
    rest: &'a [u8],
    /// The open brackets in [`JsonReader::skip`]; a reusable buffer.
    open: Vec<u8>,
}

impl<'a> JsonReader<'a> {
    /// Creates a reader of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, rest: bytes, open: Vec::new() }
    }

    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let (&b, behind) = self.rest.split_first()?;
            if b > b' ' || !matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(b);
            }
            self.rest = behind;
        }
    }

    /// Consumes `byte` if it is next. Returns `true` if it was.
    #[inline]
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.rest = &self.rest[1..];
        }
        is_next
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.takes(byte) { Ok(()) } else { Err(NotJson) }
    }

    /// Returns the position of the next value.
    pub fn here(&mut self) -> usize {
        self.peek();
        self.place()
    }

    /// Returns the position after the last read byte.
    pub fn place(&self) -> usize {
        self.bytes.len() - self.rest.len()
    }

    /// Returns the bytes read since `start`, a position from [`JsonReader::here`].
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.place()]
    }

    /// Returns the kind of the next value without reading it.
    #[inline]
    pub fn kind(&mut self) -> Result<ValueKind> {
        Ok(match self.peek().ok_or(NotJson)? {
            b'{' => ValueKind::Object,
            b'[' => ValueKind::Array,
            b'"' => ValueKind::Str,
            b'-' | b'0'..=b'9' => ValueKind::Number,
            b't' => ValueKind::True,
            b'f' => ValueKind::False,
            b'n' => ValueKind::Null,
            _ => return Err(NotJson),
        })
    }

    /// Returns the next key of an object that was entered, or `None` after its end. `first` is `true` for the first key.
    /// The value must be read before the next call.
    #[inline(always)]
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<Str<'a>>> {
        if !first && let [b',', b'"', rest @ ..] = self.rest {
            self.rest = rest; // mostly without white space
        } else if self.takes(b'}') {
            return Ok(None);
        } else {
            if !first {
                self.expect(b',')?;
            }
            self.expect(b'"')?;
        }
        let key = self.text(string_end::soon(self.rest))?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Calls `field` for each key of the object to read its value.
    #[inline]
    pub(crate) fn each_field(&mut self, mut field: impl FnMut(&mut Self, Str<'a>) -> Result<()>) -> Result<()> {
        self.expect(b'{')?;
        let mut is_first = true;
        while let Some(key) = self.next_key(is_first)? {
            field(self, key)?;
            is_first = false;
        }
        Ok(())
    }

    /// Enters an object; [`JsonReader::next_key`] iterates over it.
    pub(crate) fn enter_object(&mut self) -> Result<()> {
        self.expect(b'{')
    }

    /// Enters an array; [`JsonReader::next_item`] iterates over it.
    pub(crate) fn enter_array(&mut self) -> Result<()> {
        self.expect(b'[')
    }

    /// Returns `true` if the array has another item, which must be read before the next call. Leaves the array at its
    /// end.
    pub(crate) fn next_item(&mut self, first: bool) -> Result<bool> {
        if self.takes(b']') {
            return Ok(false);
        }
        if !first {
            self.expect(b',')?;
        }
        match self.peek() {
            None | Some(b']') => Err(NotJson),
            Some(_) => Ok(true),
        }
    }

    /// Reads a string.
    #[inline(always)]
    pub fn string(&mut self) -> Result<Str<'a>> {
        self.expect(b'"')?;
        self.text(string_end::soon(self.rest))
    }

    /// Reads the text up to its closing quote.
    #[inline(always)]
    fn text(&mut self, ending: Option<(usize, bool)>) -> Result<Str<'a>> {
        let (end, escaped) = ending.ok_or(NotJson)?;
        let raw = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(Str { raw, escaped })
    }

    /// Reads a number. Numbers beyond the range of a double become infinite, as in JavaScript.
    pub fn number(&mut self) -> Result<f64> {
        /// The maximum number of digits that a double represents exactly.
        const EXACT: usize = 15;
        self.peek();
        // Fast path: most numbers are small integers.
        let (mut whole, mut digits) = (0u64, 0);
        while let Some(digit @ b'0'..=b'9') = self.rest.get(digits).filter(|_| digits < EXACT) {
            whole = whole * 10 + u64::from(digit - b'0');
            digits += 1;
        }
        let is_number = digits == 1 || (digits > 1 && self.rest[0] != b'0');
        if is_number && matches!(self.rest.get(digits), None | Some(b',' | b'}')) {
            self.rest = &self.rest[digits..];
            return Ok(whole as f64);
        }
        let raw = self.number_text()?;
        std::str::from_utf8(raw).ok().and_then(|raw| raw.parse().ok()).ok_or(NotJson)
    }

    fn number_text(&mut self) -> Result<&'a [u8]> {
        self.peek();
        let start = self.rest;
        let digits = |rest: &'a [u8]| match rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len()) {
            0 => Err(NotJson),
            count => Ok(&rest[count..]),
        };
        let mut rest = start.strip_prefix(b"-").unwrap_or(start);
        rest = match rest {
            [b'0', rest @ ..] => rest,
            rest => digits(rest)?,
        };
        if let [b'.', fraction @ ..] = rest {
            rest = digits(fraction)?;
        }
        if let [b'e' | b'E', exponent @ ..] = rest {
            rest = digits(exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-")).unwrap_or(exponent))?;
        }
        self.rest = rest;
        Ok(&start[..start.len() - rest.len()])
    }

    fn word(&mut self, word: &[u8]) -> Result<()> {
        self.rest = self.rest.strip_prefix(word).ok_or(NotJson)?;
        Ok(())
    }

    /// Skips and validates the next value. Returns it raw.
    pub fn skip(&mut self) -> Result<&'a [u8]> {
        let start = self.here();
        self.open.clear();
        loop {
            match self.kind()? {
                ValueKind::Object => {
                    self.expect(b'{')?;
                    if !self.takes(b'}') {
                        self.open.push(b'}');
                        self.string()?;
                        self.expect(b':')?;
                        continue;
                    }
                }
                ValueKind::Array => {
                    self.expect(b'[')?;
                    if !self.takes(b']') {
                        self.open.push(b']');
                        continue;
                    }
                }
                ValueKind::Str => drop(self.string()?),
                ValueKind::Number => drop(self.number_text()?),
                ValueKind::True => self.word(b"true")?,
                ValueKind::False => self.word(b"false")?,
                ValueKind::Null => self.word(b"null")?,
            }
            // After a value: close the brackets that end here.
            loop {
                let Some(&close) = self.open.last() else { return Ok(self.since(start)) };
                if self.takes(b',') {
                    if close == b'}' {
                        self.string()?;
                        self.expect(b':')?;
                    }
                    break;
                }
                self.expect(close)?;
                self.open.pop();
            }
        }
    }

    /// Reads the next value if it is a string, or skips it.
    #[inline(always)]
    pub(crate) fn opt_string(&mut self) -> Result<Option<Str<'a>>> {
        if self.kind()? == ValueKind::Str { self.string().map(Some) } else { self.skip().map(|_| None) }
    }

    /// Reads the next value if it is a number, or skips it.
    pub(crate) fn opt_number(&mut self) -> Result<Option<f64>> {
        if self.kind()? == ValueKind::Number { self.number().map(Some) } else { self.skip().map(|_| None) }
    }

    /// Reads the next value if it is `true` or `false`, or skips it.
    pub(crate) fn opt_bool(&mut self) -> Result<Option<bool>> {
        let kind = self.kind()?;
        self.skip()?;
        Ok(match kind {
            ValueKind::True => Some(true),
            ValueKind::False => Some(false),
            _ => None,
        })
    }

    /// Checks that only white space remains.
    pub fn end(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(NotJson) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn valid(text: &[u8]) -> bool {
        let mut reader = JsonReader::new(text);
        reader.skip().and_then(|_| reader.end()).is_ok()
    }

    fn string(text: &str) -> String {
        JsonReader::new(text.as_bytes()).string().unwrap().owned()
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
    fn rejects_what_javascript_rejects() {
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
        assert_eq!(JsonReader::new(b"\"a\xffb\"").string().unwrap().text(), "a\u{fffd}b");
    }

    #[test]
    fn start_counts_utf16_units_and_keeps_characters_whole() {
        let start = |text: &str, units| JsonReader::new(text.as_bytes()).string().unwrap().start(units);
        assert_eq!(start(r#""ab😀c""#, 3), "ab");
        assert_eq!(start(r#""ab\ud83d\ude00c""#, 4), "ab😀");
        assert_eq!(start(r#""é漢😀""#, 2), "é漢");
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"[\[\]{},:"\\a-c0-2.eEtruflsn u\n -]{0,24}"#) {
            // serde_json rejects lone surrogates and out-of-range numbers; the alphabet can produce neither.
            prop_assert_eq!(valid(text.as_bytes()), serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
        }

        #[test]
        fn reads_numbers_of_any_notation(
            text in r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
            behind in "([,}\\] a].{0,2})?",
        ) {
            let json = text.clone() + &behind;
            let mut reader = JsonReader::new(json.as_bytes());
            prop_assert_eq!(reader.number(), Ok(text.parse().unwrap()));
            prop_assert_eq!(reader.place(), text.len());
            prop_assert_eq!(JsonReader::new(format!("0{json}").as_bytes()).number(), Ok(0.0));
        }

        #[test]
        fn reads_back_any_string(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(string(&json), text);
        }

        #[test]
        fn decodes_invalid_utf8_as_the_standard_library_does(
            bytes in proptest::collection::vec(prop_oneof![9 => 0x80u8.., 1 => Just(b'a')], 0..12),
        ) {
            let json = [&b"\"\\n"[..], &bytes, b"\""].concat();
            let expected = format!("\n{}", String::from_utf8_lossy(&bytes));
            prop_assert_eq!(JsonReader::new(&json).string().unwrap().text(), expected);
        }

        #[test]
        fn decodes_text_and_characters_alike(
            pieces in proptest::collection::vec((proptest::collection::vec(0x80u8.., 0..5), r"\\(n|u00e9|ud83d|ude00)|[a😀é]"), 0..8),
        ) {
            let inside: Vec<u8> = pieces.iter().flat_map(|(bytes, text)| [bytes, text.as_bytes()].concat()).collect();
            let text = Str::of_raw(&inside);
            prop_assert_eq!(text.text(), text.chars().collect::<String>());
        }

        #[test]
        fn any_bytes_are_read_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = valid(&bytes);
        }
    }
}
