//! The tokens of a query, by their places in its text. Words and phrases are cut as pi's picker cuts them (1.5.2); a
//! token that begins with `name:` is a qualifier, with `-` an exclusion.

use std::ops::Range;

use crate::base::javascript::is_js_space;

/// What searches everything, and may stand right before a word.
pub(crate) const ALL: &str = "all:";

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// All of it.
    pub(crate) at: Range<usize>,
    /// Whether `-` stands before it.
    pub(crate) is_excluded: bool,
    /// The name before the colon, if it is a qualifier.
    pub(crate) qualifier: Option<&'a str>,
    /// The word, the phrase, or the value of the qualifier; without quotes.
    pub(crate) text: &'a str,
    /// Where that stands, with its quotes.
    pub(crate) text_at: Range<usize>,
    /// Whether it stands in quotes.
    pub(crate) is_quoted: bool,
}

impl Token<'_> {
    /// Whether it is `all:`.
    pub(crate) fn is_all(&self) -> bool {
        self.qualifier.is_some_and(|name| ALL.strip_suffix(':') == Some(name))
    }
}

/// The tokens of a text. If a quote that begins a phrase is not closed, no quote does, as in pi; a value that begins
/// with a quote goes to the next one, or to the end.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let quoted = TokenScanner { text, at: 0, has_phrases: true }.tokens();
    quoted.or_else(|| TokenScanner { text, at: 0, has_phrases: false }.tokens()).unwrap_or_default()
}

/// What follows `all:`. In `all::x` that is a part of a path in code.
pub(crate) fn after_all(text: &str) -> Option<&str> {
    text.strip_prefix(ALL).filter(|rest| !rest.starts_with(':'))
}

/// The lowercase name before a colon that can be a qualifier's: not the start of an address (`https://`), of a path
/// (`c:\`) or of a name in code (`foo::bar`).
fn qualifier_name(text: &str) -> Option<&str> {
    let (name, value) = text.split_once(':')?;
    let is_name = name.len() > 1 && name.bytes().all(|b| b.is_ascii_lowercase());
    (is_name && !value.starts_with(':') && !value.starts_with("//")).then_some(name)
}

struct TokenScanner<'a> {
    text: &'a str,
    at: usize,
    has_phrases: bool,
}

impl<'a> TokenScanner<'a> {
    /// `None`: a phrase is not closed.
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
        // Options (`--force`), arrows and a dash alone are words.
        let is_excluded = self
            .rest()
            .strip_prefix('-')
            .and_then(|rest| rest.chars().next())
            .is_some_and(|next| !matches!(next, '-' | '>') && !is_js_space(next));
        self.at += usize::from(is_excluded);
        let mut qualifier = None;
        if after_all(self.rest()).is_some() {
            self.at += ALL.len();
            let end = self.at..self.at;
            let qualifier = Some(ALL.trim_end_matches(':'));
            return Some(Token {
                at: start..self.at,
                is_excluded,
                qualifier,
                text: "",
                text_at: end,
                is_quoted: false,
            });
        }
        if let Some(name) = qualifier_name(self.rest()) {
            qualifier = Some(name);
            self.at += name.len() + 1;
        }
        let text_start = self.at;
        let is_quoted = self.rest().starts_with('"') && (qualifier.is_some() || self.has_phrases);
        let text = if is_quoted { self.quoted(qualifier.is_some())? } else { self.word() };
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
