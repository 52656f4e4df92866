//! Free text: a label, a model name, a path.

use std::fmt;

use crate::base::javascript::is_js_space;
use crate::base::normalize::fold;

/// A text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text(pub(crate) String);

impl Text {
    /// Returns the folded text for substring comparison.
    pub(crate) fn folded(&self) -> String {
        fold(&self.0)
    }

    /// Returns `true` if every text that contains `piece` also contains this text.
    pub(crate) fn has_piece(&self, piece: &Self) -> bool {
        self.folded().contains(&piece.folded())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_quotes(&self.0))
    }
}

/// Quotes a value for a query if it would otherwise be split or misread.
pub(crate) fn in_quotes(value: &str) -> String {
    let needs_quotes = value.contains(is_js_space) || value.starts_with(':') || value.starts_with("//");
    if needs_quotes { format!("\"{value}\"") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_values_if_necessary() {
        for (text, printed) in [("a", "a"), ("a b", "\"a b\""), (":a", "\":a\""), ("//a", "\"//a\""), ("a:/", "a:/")] {
            assert_eq!(Text(text.into()).to_string(), printed);
        }
    }

    #[test]
    fn substrings_ignore_case() {
        let has = |text: &str, piece: &str| Text(text.into()).has_piece(&Text(piece.into()));
        assert!(has("Works", "ork") && has("É", "e\u{301}") && !has("ork", "works"));
    }
}
