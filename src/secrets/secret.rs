//! The place of a secret in a text, and the rule that found it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::escapes;

/// The name of a rule, such as `github-token`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(Cow<'static, str>);

impl RuleId {
    pub(super) fn new(name: &str) -> Self {
        Self(Cow::Owned(name.into()))
    }

    pub(super) const fn of_code(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A likely secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    /// The rule that found it.
    pub rule: RuleId,
    /// The bytes of the secret, without the text around it.
    pub range: Range<usize>,
}

/// The most characters that a sample shows.
const SAMPLE: usize = 4;

/// Returns the first characters of a secret, to recognize it: at most four, and at most an eighth of it.
pub fn sample(secret: &str) -> String {
    let secret = escapes::without(secret);
    let count = (secret.chars().count() / 8).min(SAMPLE);
    secret.chars().take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_shows_little() {
        assert_eq!(sample(""), "");
        assert_eq!(sample("hunter2"), "");
        assert_eq!(sample("äöüß56789"), "ä");
        assert_eq!(sample(&"abcdefgh".repeat(9)), "abcd");
        assert_eq!(sample("\x1b[1ma\x1b[01;31m\x1b[Kbcdefghijklmnopq"), "ab");
    }
}
