//! The format of `assets/secrets.toml`.

use serde::Deserialize;

/// A file of rules.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RuleFile {
    pub lists: Lists,
    pub assignment: AssignmentNames,
    #[serde(rename = "rule")]
    pub rules: Vec<RuleEntry>,
}

/// Texts that values of secrets do not contain.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Lists {
    /// Words of placeholders that no value contains.
    pub placeholders: Vec<String>,
    /// Words that the value of a generic rule does not contain.
    pub stop_words: Vec<String>,
    /// Whole values that are no secrets of a generic rule.
    pub stop_values: Vec<String>,
    /// Published example values: the start of a value.
    pub examples: Vec<String>,
}

/// The names of the rule for assignments.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct AssignmentNames {
    /// The parts of names at which the search begins.
    pub keywords: Vec<String>,
    /// Ends of names that denote a password.
    pub passwords: Vec<String>,
    /// Ends of names that denote another secret.
    pub secrets: Vec<String>,
    /// Ends of names that denote a secret only if the value looks random.
    pub weak: Vec<String>,
    /// First words of names that denote no secret.
    pub harmless_starts: Vec<String>,
    /// Names that denote no secret.
    pub harmless: Vec<String>,
    /// Words in names of messages, forms and settings, whose values are not secret even if the name ends as one.
    pub messages: Vec<String>,
}

/// One rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RuleEntry {
    pub id: String,
    pub description: String,
    /// Texts of which a match contains one. Without keywords, the regular expression searches the whole text.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// The first group is the secret; without a group, the whole match.
    pub regex: String,
    /// The most bytes of a match before the keyword. With 0, each match starts with a keyword.
    #[serde(default)]
    pub before: usize,
    #[serde(default)]
    pub ignore_case: bool,
    #[serde(default)]
    pub strength: Strength,
    /// The least entropy in bits per character, instead of one that depends on length and alphabet.
    pub entropy: Option<f64>,
    /// Words of which one must be near the match.
    #[serde(default)]
    pub near: Vec<String>,
    /// A regular expression of values that are allowed.
    pub allow: Option<String>,
    pub check: Option<Check>,
    /// `true` if the regular expression can contain Unicode classes, for rules of the user.
    #[serde(skip)]
    pub has_unicode: bool,
    /// Texts that the rule finds, in which `{a-f0-9:40}` stands for 40 random characters.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "documents the format; tests read it"))]
    pub examples: Vec<String>,
}

/// The property that makes a match a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Strength {
    /// The form of the value: only placeholders are excluded.
    #[default]
    Distinct,
    /// The form and the randomness of the value.
    Random,
    /// The place of the value, as in a command; any value except templates.
    Place,
}

/// A check in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// The value is the Base64 form of `user:password`.
    BasicLogin,
    /// The value is a JSON Web Token that is not public.
    Jwt,
    /// The value is the Base64 form of a private key.
    EncodedPrivateKey,
    /// The value is a Discord token, which starts with the Base64 form of digits.
    DiscordToken,
    /// The value contains an upper-case letter, a lower-case letter and a digit.
    MixedCase,
    /// Letters of both cases in a random order, with or without digits.
    Scrambled,
}
