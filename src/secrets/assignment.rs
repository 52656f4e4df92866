//! The rule for assignments: a value with the name of a secret, as in `.env` files, JSON, YAML, TOML, XML and code.

use std::ops::Range;

use super::rule_file::AssignmentNames;
use super::value::{self, Classes, ValueLists};
use super::{sentence, wrapped};

/// The most bytes of a name on each side of a keyword.
const NAME: usize = 60;

/// The most bytes of a value.
const VALUE: usize = 512;

/// Ends of the names of variables whose values can be words.
const PLAIN: [&str; 4] = ["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET"];

/// The fewest bytes of a password that can be a word.
const SHORTEST_PLAIN: usize = 4;

/// The names of secrets.
pub(super) struct Assignments {
    names: AssignmentNames,
    /// The last two letters of all names: most other names do not end with them.
    ends: Vec<[u8; 2]>,
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    Password,
    Secret,
    /// The value must look random.
    Weak,
}

/// The value after a name.
#[derive(Debug)]
struct Assigned {
    range: Range<usize>,
    is_quoted: bool,
    /// `true` for `NAME=value` without spaces.
    is_tight: bool,
    /// `true` for a sentence: "the token is …".
    is_prose: bool,
    /// `true` for a parameter of a URL.
    is_parameter: bool,
    /// `true` for a whole value directly after `=` or `:`, so that it is no code.
    is_direct: bool,
}

impl Assignments {
    pub(super) fn new(names: AssignmentNames) -> Self {
        let ends = [&names.passwords, &names.secrets, &names.weak].into_iter().flatten();
        let mut ends: Vec<[u8; 2]> = ends.filter_map(|name| name.as_bytes().last_chunk().copied()).collect();
        ends.sort_unstable();
        ends.dedup();
        Self { names, ends }
    }

    /// Returns the value that is assigned to the name at a keyword, if it is a secret.
    pub(super) fn at_keyword(&self, text: &str, keyword: Range<usize>, lists: &ValueLists) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        let has_blank = bytes[keyword.clone()].contains(&b' ') && bytes[keyword.end - 1].is_ascii_alphabetic();
        let name = if has_blank { keyword } else { name_around(bytes, keyword.start) };
        let found = self.assigned_secret(text, &name, lists);
        found.or_else(|| {
            // A word in a sentence: "password", but no variable.
            let kind = text.get(name.clone()).and_then(|name| self.kind(name));
            (kind == Some(NameKind::Password)).then(|| sentence::password(text, &name, lists)).flatten()
        })
    }

    /// Returns the secret that is assigned to a name.
    fn assigned_secret(&self, text: &str, name: &Range<usize>, lists: &ValueLists) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        let Assigned { range, is_quoted, is_tight, is_prose, is_parameter, is_direct } = assigned(bytes, name)?;
        let name = text.get(name.clone())?;
        let value = text.get(range.clone())?;
        let is_tight = is_tight && (is_variable(name.as_bytes()) || is_parameter);
        let kind = self.kind(name)?;
        if is_prose && !is_in_sentence(kind, value) {
            return None;
        }
        if !is_quoted && !is_prose && value.len() > 11 {
            let continued = wrapped::continued(text, range.start).filter(|(_, whole)| whole.end > range.end);
            if let Some((value, whole)) = continued
                && is_secret(kind, &value, (is_quoted, is_tight), lists)
            {
                return Some(whole);
            }
        }
        let is_plain = || is_direct && self.is_plain_password(name, value, lists);
        (is_secret(kind, value, (is_quoted, is_tight), lists) || is_plain()).then_some(range)
    }

    /// Returns `true` if a variable such as `DB_PASSWORD` has a value that can be a word.
    fn is_plain_password(&self, name: &str, value: &str, lists: &ValueLists) -> bool {
        let is_name = is_variable(name.as_bytes()) && PLAIN.iter().any(|end| name.ends_with(end));
        let is_message = |word: &str| self.names.messages.iter().any(|message| message.eq_ignore_ascii_case(word));
        let upper = value.to_ascii_uppercase();
        is_name
            && value.len() >= SHORTEST_PLAIN
            && upper != value // no constant
            && !name.split('_').any(is_message)
            && !PLAIN.iter().any(|word| upper.contains(word))
            && !lists.is_placeholder(value)
            && !lists.is_stopped(value)
            && !value::is_template(value)
            && !value::is_reference(value)
            && !value::is_plain_data(value)
    }

    /// Returns `true` if a JSON field has the name and the value of a secret.
    pub(super) fn is_secret_field(&self, name: &str, value: &str, lists: &ValueLists) -> bool {
        if value.len() > VALUE || name.len() > NAME || value.bytes().any(|byte| byte.is_ascii_whitespace()) {
            return false;
        }
        let is_variable = is_variable(name.as_bytes());
        self.kind(name).is_some_and(|kind| {
            is_secret(kind, value, (true, is_variable), lists) || self.is_plain_password(name, value, lists)
        })
    }

    /// Returns the kind of a name; its last words decide.
    fn kind(&self, name: &str) -> Option<NameKind> {
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit() || "_- ".contains(c)).as_bytes();
        let end: [u8; 2] = letters.last_chunk().copied()?;
        if !self.ends.contains(&end.map(|byte| byte.to_ascii_lowercase())) {
            return None;
        }
        let snake = snake_case(name);
        let snake = snake.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
        let first = snake.split('_').next().unwrap_or_default();
        if self.names.harmless.iter().any(|harmless| harmless == snake)
            || (first.len() < snake.len() && self.names.harmless_starts.iter().any(|start| start == first))
        {
            return None;
        }
        let ends_with = |ends: &[String]| {
            ends.iter()
                .any(|end| snake.strip_suffix(end.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('_')))
        };
        [
            (&self.names.passwords, NameKind::Password),
            (&self.names.secrets, NameKind::Secret),
            (&self.names.weak, NameKind::Weak),
        ]
        .into_iter()
        .find(|(ends, _)| ends_with(ends))
        .map(|(_, kind)| kind)
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Returns `true` for a name such as `API_KEY`.
fn is_variable(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// Returns the name around a position.
fn name_around(bytes: &[u8], at: usize) -> Range<usize> {
    let left = bytes[at.saturating_sub(NAME)..at].iter().rev().take_while(|byte| is_name(**byte)).count();
    let right = bytes[at..(at + NAME).min(bytes.len())].iter().take_while(|byte| is_name(**byte)).count();
    let mut start = at - left;
    // The letter of an escape such as `\n` is not part of the name.
    if start > 0 && bytes[start - 1] == b'\\' && matches!(bytes[start], b'n' | b'r' | b't') {
        start += 1;
    }
    start += bytes[start..at].iter().take_while(|byte| **byte == b'-').count();
    start..at + right
}

/// Converts a name to lower-case words with underscores: `apiKey`, `api key` and `API-KEY` become `api_key`.
fn snake_case(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, byte) in bytes.iter().enumerate() {
        let is_start = byte.is_ascii_uppercase()
            && at > 0
            && (bytes[at - 1].is_ascii_lowercase()
                || bytes[at - 1].is_ascii_digit()
                || (bytes[at - 1].is_ascii_uppercase() && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase)));
        if is_start {
            snake.push('_');
        }
        snake.push(if matches!(byte, b'-' | b' ') { '_' } else { char::from(byte.to_ascii_lowercase()) });
    }
    snake
}

/// A position in a text.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn skip(&mut self, most: usize, is_skipped: impl Fn(u8) -> bool) -> usize {
        let count = self.rest().iter().take(most).take_while(|byte| is_skipped(**byte)).count();
        self.at += count;
        count
    }

    fn skip_text(&mut self, text: &[u8]) -> bool {
        let is_there = self.rest().starts_with(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    fn skip_blanks(&mut self, most: usize) -> usize {
        self.skip(most, |byte| byte == b' ' || byte == b'\t')
    }
}

/// Returns the value that is assigned to a name.
fn assigned(bytes: &[u8], name: &Range<usize>) -> Option<Assigned> {
    let mut cursor = Cursor { bytes, at: name.end };
    let quotes = cursor.skip(4, |byte| b"\\\"'`])".contains(&byte));
    let is_quoted_name = quotes > 0;
    let blanks = cursor.skip_blanks(24);
    let rest = cursor.rest();
    let (mut is_tight, mut is_prose, mut is_cell) = (false, false, false);
    if [&b"=="[..], b"::", b"=~"].iter().any(|other| rest.starts_with(other)) {
        return None;
    }
    let is_single_blank = blanks == 1 && !is_quoted_name && bytes.get(name.end) == Some(&b' ');
    match rest.first()? {
        b'=' => {
            is_tight = blanks == 0 && !is_quoted_name;
            cursor.at += if rest.get(1) == Some(&b'>') { 2 } else { 1 };
        }
        b':' => {
            cursor.at += if rest.get(1) == Some(&b'=') { 2 } else { 1 };
            skip_type(&mut cursor);
            skip_to_value_field(&mut cursor);
        }
        b'i' if blanks > 0 && !is_quoted_name && rest.starts_with(b"is") => {
            is_prose = true;
            cursor.at += 2;
            let separators = cursor.skip(3, |byte| byte == b' ' || byte == b':');
            if separators == 0 {
                return None;
            }
        }
        b'v' if is_quoted_name && blanks > 0 => {
            if !after_name_field(&mut cursor) {
                return None;
            }
        }
        first if is_single_blank && first.is_ascii_alphanumeric() => is_prose = true,
        b'?' | b'|' if rest.iter().take(3).any(|byte| *byte == b'=') => {
            cursor.skip(3, |byte| b"?|=".contains(&byte));
        }
        b'|' if blanks > 0 && is_variable(&bytes[name.clone()]) => {
            is_cell = true;
            cursor.at += 1;
        }
        b',' if is_quoted_name => {
            cursor.at += 1;
            // Two arguments, as in `setenv("API_KEY", "…")`, but not any list of texts.
            let is_argument = is_variable(&bytes[name.clone()]);
            if !after_name_field(&mut cursor)
                && (!is_argument || !matches!(cursor.rest().trim_ascii_start().first(), Some(b'"' | b'\'')))
            {
                return None;
            }
        }
        b'>' if is_quoted_name || (name.start > 0 && bytes[name.start - 1] == b'<') => cursor.at += 1,
        b'\n' | b'\r' => {
            if !after_name_field(&mut cursor) {
                return None;
            }
        }
        _ => return None,
    }
    cursor.skip_blanks(24);
    let prefix = cursor.rest();
    if prefix.len() > 1 && b"brfuB".contains(&prefix[0]) && b"\"'".contains(&prefix[1]) {
        cursor.at += 1;
    }
    let is_property = is_tight && name.start > 0 && bytes[name.start - 1] == b'.';
    let mut assigned = value_at(cursor, (is_tight, is_property))?;
    // The next parameter of a URL.
    let is_parameter = is_tight && name.start > 0 && b"?&".contains(&bytes[name.start - 1]);
    if is_parameter {
        let value = &bytes[assigned.range.clone()];
        let len = value.iter().position(|byte| b"&#".contains(byte)).unwrap_or(value.len());
        assigned.range.end = assigned.range.start + len;
    }
    let after = bytes[assigned.range.end..].iter().find(|byte| !b" \t\r".contains(byte));
    let is_line = *rest.first()? != b'=' && matches!(after, None | Some(b'\n' | b'#'));
    let is_direct = !is_prose && !is_cell && (assigned.is_quoted || is_tight || is_line);
    Some(Assigned { is_prose, is_parameter, is_direct, ..assigned })
}

/// Skips a type between `:` and `=`, as in `token: &str = "…"`.
fn skip_type(cursor: &mut Cursor<'_>) {
    let line = &cursor.rest()[..cursor.rest().len().min(40)];
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b" &'<>[]?|_".contains(&byte);
    let len = line.iter().take_while(|byte| is_type(**byte)).count();
    if len > 0 && line.get(len) == Some(&b'=') && line.get(len + 1) == Some(&b' ') {
        cursor.at += len + 1;
    }
}

/// Skips to the value in an object such as `{"sensitive": true, "value": "…"}`.
fn skip_to_value_field(cursor: &mut Cursor<'_>) {
    let object = cursor.rest().trim_ascii_start();
    if object.first() == Some(&b'{') {
        let len = object.iter().take(120).take_while(|byte| **byte != b'}').count();
        let value = memchr::memmem::find(&object[..len], b"value\"").map(|at| &object[at..]);
        let value = value.and_then(|value| value.iter().take(16).position(|byte| *byte == b':').map(|at| &value[at..]));
        cursor.at += value.map_or(0, |value| cursor.rest().len() - value.len() + 1);
    }
}

/// Skips to the value of a pair such as `"name": "API_KEY", "value": "…"`.
fn after_name_field(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.at;
    cursor.skip(40, |byte| byte.is_ascii_whitespace());
    cursor.skip(2, |byte| b"\\\"'".contains(&byte));
    if cursor.skip_text(b"value") {
        cursor.skip(2, |byte| b"\\\"'".contains(&byte));
        cursor.skip_blanks(8);
        if cursor.skip(1, |byte| byte == b':' || byte == b'=') == 1 {
            return true;
        }
    }
    cursor.at = start;
    false
}

/// Reads a value with or without quotes. A property is the rest of its line.
fn value_at(mut cursor: Cursor<'_>, (is_tight, is_property): (bool, bool)) -> Option<Assigned> {
    let bytes = cursor.bytes;
    let escapes = cursor.skip(3, |byte| byte == b'\\');
    let quote = cursor.rest().first().copied().filter(|byte| b"\"'`".contains(byte));
    if escapes > 0 && quote.is_none() {
        return None;
    }
    cursor.at += usize::from(quote.is_some());
    let start = cursor.at;
    let is_end = |byte: u8| match quote {
        Some(quote) => byte == quote || byte < b' ' || byte == b'\\',
        None if is_property => byte <= b' ' || byte == b'\\',
        None if is_tight => byte <= b' ' || b"\"'`\\;|<>".contains(&byte),
        None => byte <= b' ' || b"\"'`,;<>(){}[]\\|".contains(&byte),
    };
    cursor.skip(VALUE, |byte| !is_end(byte));
    // An escaped quote or backslash inside of the quotes.
    while quote.is_some() && escapes == 0 && matches!(cursor.rest(), [b'\\', b'"' | b'\'' | b'\\', ..]) {
        cursor.at += 2;
        cursor.skip(VALUE, |byte| !is_end(byte));
    }
    let range = start..cursor.at;
    let next = bytes.get(range.end);
    let is_whole = match quote {
        Some(quote) => next == Some(&quote) || (escapes > 0 && next == Some(&b'\\')),
        None => !matches!(next, Some(b'(' | b'[' | b'{')),
    };
    let has_blank = bytes[range.clone()].iter().any(u8::is_ascii_whitespace);
    (is_whole && !has_blank && range.len() < VALUE).then_some(Assigned {
        range,
        is_quoted: quote.is_some(),
        is_tight,
        is_prose: false,
        is_parameter: false,
        is_direct: false,
    })
}

/// Returns `true` if a word of a sentence after a name of this kind can be a secret: "the password is …".
fn is_in_sentence(kind: NameKind, value: &str) -> bool {
    let classes = Classes::of(value);
    let is_mixed = classes.digits > 0 && (classes.lower > 0 && classes.upper > 0 || classes.other > 0);
    let is_strong = if kind == NameKind::Password { is_mixed } else { value.len() >= 24 };
    is_strong && value::is_random(value, None) && !value::is_words(value)
}

/// Returns `true` if a value with a name of this kind is a secret.
fn is_secret(kind: NameKind, value: &str, (is_quoted, is_variable): (bool, bool), lists: &ValueLists) -> bool {
    let classes = Classes::of(value);
    let is_short_password = kind == NameKind::Password && (is_quoted || is_variable) && classes.count() > 2;
    // Quotes around random characters: brackets are no code.
    let is_odd = kind == NameKind::Password && is_quoted && classes.count() == 4 && !value::is_words(value);
    let is_wrong = value.len() < if is_short_password { 6 } else { 8 }
        || lists.is_placeholder(value)
        || lists.is_stopped(value)
        || value::is_template(value)
        || (value::is_reference(value) && !is_odd);
    if is_wrong {
        return false;
    }
    match kind {
        NameKind::Password => {
            let is_identifier = value::is_words(value)
                && (classes.digits == 0
                    || value.contains(['_', '-', '.', '/']) && (classes.digits < 2 || classes.upper == 0));
            let is_scrambled = value::is_scrambled(value);
            classes.count() > 1
                && (classes.digits + classes.other > 0 || is_quoted || is_scrambled)
                && !is_identifier
                && !value::is_plain_data(value)
                && (is_quoted || is_variable || classes.digits > 0 || is_scrambled)
        }
        NameKind::Secret => {
            let is_long = value.len() >= if is_variable { 8 } else { 12 };
            let is_random = value::is_uuid(value) || value::is_random(value, is_variable.then_some(2.5));
            let is_words = value::is_words(value) && !classes.is_hex();
            is_long && is_random && !is_words && !value::is_number(value) && !value::is_address(value)
        }
        NameKind::Weak => {
            let is_mixed = (classes.upper > 0 && classes.lower > 0) || (classes.is_hex() && value.len() >= 32);
            (is_quoted || is_variable)
                && value.len() >= 20
                && is_mixed
                && !value::is_plain_data(value)
                && value::is_random(value, None)
                && !value::is_words(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_name_decide() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect();
        let (passwords, secrets, weak) = (names("password pw"), names("api_key token"), names("key"));
        let harmless_starts = names("max");
        let assignments = Assignments::new(AssignmentNames {
            passwords,
            secrets,
            weak,
            harmless_starts,
            ..AssignmentNames::default()
        });
        for (name, kind) in [
            ("dbPassword", Some(NameKind::Password)),
            ("PW_2", Some(NameKind::Password)),
            ("api key", Some(NameKind::Secret)),
            ("X-API-KEY-", Some(NameKind::Secret)),
            ("accessToken1", Some(NameKind::Secret)),
            ("sortKey", Some(NameKind::Weak)),
            ("monkey", None),
            ("max_token", None),
            ("toolName", None),
            ("öw", None),
            ("w", None),
            ("", None),
        ] {
            assert_eq!(assignments.kind(name), kind, "{name}");
        }
    }
}
