//! Splits a query into tokens with their byte ranges. Words and phrases are split as in pi's picker (1.6.0). A token
//! with a prefix `name:` is a qualifier, and one with `-` is excluded.

use std::ops::Range;

use crate::base::javascript::is_js_space;
use crate::search::qualifier;

/// The prefix that searches everything; it can directly precede a word.
pub(crate) const ALL: &str = "all:";

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// The byte range of the token.
    pub(crate) at: Range<usize>,
    /// `true` if `-` precedes it.
    pub(crate) is_excluded: bool,
    /// The name before the colon of a qualifier.
    pub(crate) qualifier: Option<&'a str>,
    /// The word, the phrase or the value, without quotes.
    pub(crate) text: &'a str,
    /// The byte range of `text` with its quotes.
    pub(crate) text_at: Range<usize>,
    /// `true` if it is quoted.
    pub(crate) is_quoted: bool,
}

impl Token<'_> {
    /// Returns `true` for `all:`.
    pub(crate) fn is_all(&self) -> bool {
        self.qualifier.is_some_and(|name| ALL.strip_suffix(':') == Some(name))
    }
}

/// Splits a text into tokens. If the quote of a phrase is not closed, quotes are literal, as in pi. A quoted value
/// extends to the next quote or to the end.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let quoted = TokenScanner { text, at: 0, has_phrases: true }.tokens();
    quoted.or_else(|| TokenScanner { text, at: 0, has_phrases: false }.tokens()).unwrap_or_default()
}

/// Returns the text after `all:`. In `all::x`, it is part of a path in code.
pub(crate) fn after_all(text: &str) -> Option<&str> {
    text.strip_prefix(ALL).filter(|rest| !rest.starts_with(':'))
}

/// Returns the name before a colon if it is that of a qualifier. Any other word with a colon is text, such as
/// `localhost:3000`, and so are URLs (`file://`) and names in code (`model::User`).
fn qualifier_name(text: &str) -> Option<&str> {
    let (name, value) = text.split_once(':')?;
    let is_value = !value.starts_with(':') && !value.starts_with("//");
    (is_value && qualifier::named(name).is_some()).then_some(name)
}

struct TokenScanner<'a> {
    text: &'a str,
    at: usize,
    has_phrases: bool,
}

impl<'a> TokenScanner<'a> {
    /// Returns `None` if a phrase is not closed.
    fn tokens(mut self) -> Option<Vec<Token<'a>>> {
        let mut tokens = Vec::new();
        while let Some(first) = self.rest().chars().next() {
            if is_js_space(first) {
                self.at += first.len_utf8();
            } else {
                tokens.push(self.token()?);
            }
        }
        Some(tokens)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn token(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        // Options (`--force`), arrows and a single dash are words.
        let is_excluded = self
            .rest()
            .strip_prefix('-')
            .and_then(|rest| rest.chars().next())
            .is_some_and(|next| !matches!(next, '-' | '>') && !is_js_space(next));
        self.at += usize::from(is_excluded);
        let is_all = after_all(self.rest()).is_some();
        let qualifier = if is_all { ALL.strip_suffix(':') } else { qualifier_name(self.rest()) };
        self.at += qualifier.map_or(0, |name| name.len() + 1);
        let text_start = self.at;
        let is_quoted = !is_all && self.rest().starts_with('"') && (qualifier.is_some() || self.has_phrases);
        let text = match () {
            () if is_all => "",
            () if is_quoted => self.quoted(qualifier.is_some())?,
            () => self.word(),
        };
        Some(Token { at: start..self.at, is_excluded, qualifier, text, text_at: text_start..self.at, is_quoted })
    }

    fn quoted(&mut self, may_be_open: bool) -> Option<&'a str> {
        let inner = &self.rest()[1..];
        match inner.find('"') {
            Some(len) => {
                self.at += len + 2;
                Some(&inner[..len])
            }
            None => {
                self.at = self.text.len();
                may_be_open.then_some(inner)
            }
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| is_js_space(c) || (c == '"' && self.has_phrases)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }
}
