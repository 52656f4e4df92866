//! One rule with its compiled regular expression.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::rule_file::{Check, RuleEntry, Strength};
use super::secret::RuleId;
use super::value::{self, Classes, ValueLists};

/// The most bytes of a match that starts at its keyword, and the most if a group of it is the secret.
const LONGEST: [usize; 2] = [16 * 1024, 4 * 1024];

/// The most bytes after a keyword in the middle of a match.
const AFTER: usize = 400;

/// The bytes around a match that must contain another word.
const NEAR: usize = 300;

/// A rule. Its regular expression is compiled at the first keyword.
pub(super) struct Rule {
    pub id: RuleId,
    entry: RuleEntry,
    regex: OnceLock<Option<Regex>>,
    allow: OnceLock<Option<Regex>>,
}

impl Rule {
    pub(super) fn new(entry: RuleEntry) -> Self {
        Self { id: RuleId::new(&entry.id), entry, regex: OnceLock::new(), allow: OnceLock::new() }
    }

    pub(super) fn entry(&self) -> &RuleEntry {
        &self.entry
    }

    /// Returns `true` if the form of the value alone makes it a secret.
    pub(super) fn is_distinct(&self) -> bool {
        self.entry.strength == Strength::Distinct
    }

    /// Compiles the regular expressions.
    ///
    /// # Errors
    /// One of them is invalid or too large.
    pub(super) fn compile(&self) -> Result<(), regex::Error> {
        self.build().and_then(|_| self.entry.allow.as_deref().map(Regex::new).transpose()).map(drop)
    }

    fn build(&self) -> Result<Regex, regex::Error> {
        let entry = &self.entry;
        let is_at_keyword = entry.before == 0 && !entry.keywords.is_empty();
        let pattern = if is_at_keyword { format!(r"\A(?:{})", entry.regex) } else { entry.regex.clone() };
        RegexBuilder::new(&pattern).unicode(entry.has_unicode).case_insensitive(entry.ignore_case).build()
    }

    /// Returns the secret at a keyword.
    pub(super) fn at_keyword(&self, text: &str, keyword: Range<usize>, lists: &ValueLists) -> Option<Range<usize>> {
        let regex = self.regex.get_or_init(|| self.build().ok()).as_ref()?;
        if self.entry.before == 0 {
            let has_group = regex.captures_len() > 1;
            let first = text.as_bytes().get(keyword.start)?;
            if !has_group && value::is_token_byte(*first) && !value::starts_token(text.as_bytes(), keyword.start) {
                return None;
            }
            let end = (keyword.start + LONGEST[usize::from(has_group)]).min(text.len());
            let window = &text.as_bytes()[keyword.start..end];
            return self.secret(text, keyword.start, &regex.captures(window)?, lists);
        }
        let from = keyword.start.saturating_sub(self.entry.before);
        let window = &text.as_bytes()[from..(keyword.end + AFTER).min(text.len())];
        let is_around = |found: &regex::bytes::Match<'_>| {
            let found = from + found.start()..from + found.end();
            found.start <= keyword.start && keyword.end <= found.end
        };
        let mut captures = regex
            .captures_iter(window)
            .take_while(|found| found.get(0).is_some_and(|found| from + found.start() <= keyword.start));
        let captures = captures.find(|found| found.get(0).is_some_and(|found| is_around(&found)))?;
        self.secret(text, from, &captures, lists)
    }

    /// Returns the secrets in a whole text, for a rule without keywords.
    pub(super) fn anywhere(&self, text: &str, lists: &ValueLists) -> Vec<Range<usize>> {
        let Some(regex) = self.regex.get_or_init(|| self.build().ok()) else { return Vec::new() };
        regex.captures_iter(text.as_bytes()).filter_map(|found| self.secret(text, 0, &found, lists)).collect()
    }

    /// Returns the secret of a match, or `None` if the checks of the rule reject it.
    fn secret(&self, text: &str, from: usize, found: &Captures<'_>, lists: &ValueLists) -> Option<Range<usize>> {
        let whole = found.get(0)?;
        let group = found.iter().skip(1).flatten().next();
        let value = group.unwrap_or(whole);
        let bytes = text.as_bytes();
        let is_at_start = value.start() == whole.start() && value::is_token_byte(*value.as_bytes().first()?);
        if is_at_start && !value::starts_token(bytes, from + value.start()) {
            return None;
        }
        let (mut start, mut end) = (from + value.start(), from + value.end());
        if let Some(len) = bytes[start..end].iter().position(u8::is_ascii_control) {
            end = start + len; // an escape sequence follows
        }
        while end > start && bytes[end - 1] == b'.' {
            end -= 1;
        }
        if end - start >= 2 && matches!(bytes[start], b'"' | b'\'') && bytes[end - 1] == bytes[start] {
            (start, end) = (start + 1, end - 1);
        }
        if self.entry.strength != Strength::Place && !value::ends_token(bytes, end) {
            return None;
        }
        // A bounded repetition can end in the middle of a character.
        (start, end) = (text.floor_char_boundary(start), text.floor_char_boundary(end));
        let value = text.get(start..end)?;
        (self.is_secret(value, group.is_some(), lists) && self.is_near(text, start..end)).then_some(start..end)
    }

    fn is_near(&self, text: &str, range: Range<usize>) -> bool {
        if self.entry.near.is_empty() {
            return true;
        }
        let from = text.floor_char_boundary(range.start.saturating_sub(NEAR));
        let around = text[from..text.floor_char_boundary(range.end + NEAR)].to_ascii_lowercase();
        self.entry.near.iter().any(|word| around.contains(word.as_str()))
    }

    fn is_secret(&self, value: &str, is_in_context: bool, lists: &ValueLists) -> bool {
        let allow = || self.allow.get_or_init(|| self.entry.allow.as_deref().and_then(|allow| Regex::new(allow).ok()));
        if lists.is_placeholder(value) || allow().as_ref().is_some_and(|allow| allow.is_match(value.as_bytes())) {
            return false;
        }
        let is_of_strength = match self.entry.strength {
            Strength::Distinct => self.entry.entropy.is_none_or(|least| value::entropy(value) >= least),
            Strength::Random => {
                let is_text = || {
                    let is_words = value::is_words(value) && !Classes::of(value).is_hex();
                    is_words || value::is_template(value) || value::is_reference(value)
                };
                let is_random = value::is_random(value, self.entry.entropy);
                is_random && !lists.is_stopped(value) && !(is_in_context && is_text())
            }
            Strength::Place => !lists.is_stop_value(value) && !value::is_template(value) && !value::is_reference(value),
        };
        is_of_strength && self.entry.check.is_none_or(|check| passes(check, value))
    }
}

fn passes(check: Check, value: &str) -> bool {
    let decoded = |value: &str| value::decode(value).and_then(|bytes| String::from_utf8(bytes).ok());
    match check {
        Check::BasicLogin => decoded(value).is_some_and(|login| {
            let is_text = login.chars().all(|c| !c.is_control());
            let password = login.split_once(':').map(|(_, password)| password);
            is_text && password.is_some_and(|password| password.len() >= 3)
        }),
        Check::Jwt => {
            let part = |at: usize| value.split('.').nth(at).and_then(decoded);
            let is_encrypted = value.split('.').count() == 5;
            let has_algorithm = part(0).is_some_and(|header| header.contains("\"alg\""));
            let is_public = part(1).is_some_and(|claims| {
                claims.contains("\"role\":\"anon\"")
                    || claims.contains("\"sub\":\"1234567890\"")
                    || claims.contains("supabase-demo")
            });
            has_algorithm && (is_encrypted || !is_public)
        }
        Check::EncodedPrivateKey => {
            let head = value.get(..(value.len() / 4 * 4).min(80)).unwrap_or_default();
            value::decode(head).is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("PRIVATE KEY"))
        }
        Check::DiscordToken => {
            let user = value.split('.').next().and_then(value::decode).unwrap_or_default();
            user.len() >= 15 && user.iter().all(u8::is_ascii_digit)
        }
        Check::MixedCase => {
            let classes = Classes::of(value);
            classes.digits > 0 && classes.upper > 0 && classes.lower > 0
        }
        Check::Scrambled => {
            let classes = Classes::of(value);
            classes.upper > 2 && classes.lower > 2 && value::entropy(value) >= 3.8
        }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.id)
    }
}
