//! JSON as accepted by JavaScript's `JSON.parse`, read byte by byte, and values inside entries.

#![allow(dead_code, reason = "what is read is only written out")]

use std::borrow::Cow;

/// The text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotJson;

/// The result of reading JSON.
pub(crate) type Result<T> = std::result::Result<T, NotJson>;

/// The kind of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
pub(crate) struct Str<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Str<'a> {
    /// Creates a string without escapes.
    pub(crate) fn plain(raw: &'a str) -> Self {
        Self { raw: raw.as_bytes(), escaped: false }
    }

    /// Returns the text. Lone surrogates and invalid UTF-8 become U+FFFD.
    pub(crate) fn text(self) -> Cow<'a, str> {
        if self.escaped {
            return Cow::Owned(self.chars().collect());
        }
        // Much faster than lossy decoding, which is rarely needed.
        std::str::from_utf8(self.raw).map_or_else(|_| String::from_utf8_lossy(self.raw), Cow::Borrowed)
    }

    /// Returns the decoded characters one by one.
    pub(crate) fn chars(self) -> Chars<'a> {
        Chars { raw: self.raw }
    }

    /// Returns `true` if the decoded text equals `text`.
    pub(crate) fn is(self, text: &str) -> bool {
        if self.escaped { self.text() == text } else { self.raw == text.as_bytes() }
    }

    /// Returns the bytes of the decoded text, to compare keys.
    pub(crate) fn bytes(self) -> Cow<'a, [u8]> {
        if self.escaped { Cow::Owned(self.text().into_owned().into_bytes()) } else { Cow::Borrowed(self.raw) }
    }

    /// Returns the length of the raw string in bytes.
    pub(crate) fn raw_len(self) -> usize {
        self.raw.len()
    }

    /// Returns `true` if the text is empty.
    pub(crate) fn is_empty(self) -> bool {
        self.raw.is_empty()
    }
}

/// The characters of a [`Str`].
#[derive(Clone, Debug)]
pub(crate) struct Chars<'a> {
    raw: &'a [u8],
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
    let head = &raw[..raw.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
        Err(error) => return (char::REPLACEMENT_CHARACTER, error.error_len().unwrap_or(head.len())),
    };
    let c = valid.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    (c, c.len_utf8())
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
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The open brackets in [`Reader::skip`]; a reusable buffer.
    open: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
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

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(NotJson)
    }

    /// Returns the position of the next value.
    pub(crate) fn here(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// Returns the position after the last read byte.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// Returns the bytes read since `start`, a position from [`Reader::here`].
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// Returns the kind of the next value without reading it.
    pub(crate) fn kind(&mut self) -> Result<Kind> {
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

    /// Enters an object; [`Reader::next_key`] iterates over it.
    pub(crate) fn enter_object(&mut self) -> Result<()> {
        self.expect(b'{')
    }

    /// Returns the next key of the object, or `None` after its end. `first` is `true` for the first key. The value must
    /// be read before the next call.
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
        let key = self.string()?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Enters an array; [`Reader::next_item`] iterates over it.
    pub(crate) fn enter_array(&mut self) -> Result<()> {
        self.expect(b'[')
    }

    /// Returns `true` if the array has another item, which must be read before the next call. Leaves the array at its
    /// end.
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
    pub(crate) fn string(&mut self) -> Result<Str<'a>> {
        self.expect(b'"')?;
        let (bytes, start) = (self.bytes, self.at);
        let (mut at, mut escaped) = (start, false);
        loop {
            at = next_special(bytes, at);
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(Str { raw: &bytes[start..at], escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    at += match bytes.get(at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') => {
                            let digits = bytes.get(at + 2..at + 6).ok_or(NotJson)?;
                            if !digits.iter().all(u8::is_ascii_hexdigit) {
                                return Err(NotJson);
                            }
                            6
                        }
                        _ => return Err(NotJson),
                    };
                }
                _ => return Err(NotJson),
            }
        }
    }

    /// Reads a number. Numbers beyond the range of a double become infinite, as in JavaScript.
    pub(crate) fn number(&mut self) -> Result<f64> {
        let raw = self.number_text()?;
        // Fast path: most numbers are small integers, which a double represents exactly.
        if raw.len() <= 15 && raw.iter().all(u8::is_ascii_digit) {
            return Ok(raw.iter().fold(0u64, |number, digit| number * 10 + u64::from(digit - b'0')) as f64);
        }
        std::str::from_utf8(raw).ok().and_then(|raw| raw.parse().ok()).ok_or(NotJson)
    }

    fn number_text(&mut self) -> Result<&'a [u8]> {
        self.peek();
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') && self.digits() == 0 {
            return Err(NotJson);
        }
        if self.eat(b'.') && self.digits() == 0 {
            return Err(NotJson);
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            if self.digits() == 0 {
                return Err(NotJson);
            }
        }
        Ok(&self.bytes[start..self.at])
    }

    fn eat(&mut self, byte: u8) -> bool {
        let here = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(here);
        here
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        self.at - start
    }

    fn word(&mut self, word: &[u8]) -> Result<()> {
        if self.bytes[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(NotJson)
    }

    /// Skips and validates the next value. Returns it raw.
    pub(crate) fn skip(&mut self) -> Result<&'a [u8]> {
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
            // After a value: close the brackets that end here.
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

    /// Reads the next value if it is a string, or skips it.
    pub(crate) fn opt_string(&mut self) -> Result<Option<Str<'a>>> {
        if self.kind()? == Kind::Str { self.string().map(Some) } else { self.skip().map(|_| None) }
    }

    /// Reads the next value if it is a number, or skips it.
    pub(crate) fn opt_number(&mut self) -> Result<Option<f64>> {
        if self.kind()? == Kind::Number { self.number().map(Some) } else { self.skip().map(|_| None) }
    }

    /// Reads the next value if it is `true` or `false`, or skips it.
    pub(crate) fn opt_bool(&mut self) -> Result<Option<bool>> {
        let kind = self.kind()?;
        self.skip()?;
        Ok(match kind {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        })
    }

    /// Checks that only white space remains.
    pub(crate) fn end(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(NotJson) }
    }
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Returns the position of the next quote, backslash or control character from `at`, or the end, in steps of eight
/// bytes.
fn next_special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        // With its second bit flipped, a quote follows the control characters.
        let low = word ^ (ONES * 0x02);
        let backslash = word ^ (ONES * 0x5c);
        // The lowest bit set is exact: a borrow can only falsify bytes above a true hit.
        let hits = (low.wrapping_sub(ONES * 0x21) | backslash.wrapping_sub(ONES)) & !word & HIGH;
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&b| b != b'"' && b != b'\\' && b >= 0x20) {
        at += 1;
    }
    at
}

/// The maximum number of parsed fields.
const MAX_FIELDS: usize = 1000;

/// Returns the numeric fields of an object.
pub(crate) fn numbers(raw: &[u8]) -> Vec<f64> {
    let (mut numbers, mut count) = (Vec::new(), 0);
    let mut r = Reader::new(raw);
    if r.kind() == Ok(Kind::Object) {
        let _ = r.enter_object();
        while count < MAX_FIELDS
            && let Ok(Some(_)) = r.next_key(count == 0)
        {
            let Ok(value) = Value::read(&mut r) else { break };
            count += 1;
            if let Value::Raw(raw) = value {
                numbers.extend(std::str::from_utf8(raw).ok().and_then(|raw| raw.parse::<f64>().ok()));
            }
        }
    }
    numbers
}

/// A value of any shape.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
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
    pub(crate) fn read(r: &mut Reader<'a>) -> Result<Self> {
        if r.kind()? == Kind::Str { r.string().map(Self::Text) } else { r.skip().map(Self::Raw) }
    }
}

/// Returns `true` if a value is falsy in JavaScript: absent, `null`, `false`, `""`, or zero in any notation.
pub(crate) fn is_falsy(raw: Option<&[u8]>) -> bool {
    let Some(raw) = raw else { return true };
    match Reader::new(raw).kind() {
        Ok(Kind::Number) => Reader::new(raw).number() == Ok(0.0),
        Ok(Kind::Str) => raw == b"\"\"",
        Ok(Kind::Null | Kind::False) | Err(_) => true,
        Ok(Kind::Object | Kind::Array | Kind::True) => false,
    }
}
