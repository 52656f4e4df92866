//! Properties of values: placeholders, templates, references to variables, words and randomness.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::rule_file::Lists;

/// The lists of the rule file, prepared for searches.
#[derive(Default)]
pub(super) struct ValueLists {
    placeholders: Option<AhoCorasick>,
    stop_words: Option<AhoCorasick>,
    stop_values: HashSet<String>,
    examples: Vec<String>,
}

impl ValueLists {
    pub(super) fn new(lists: Lists) -> Self {
        // Values are short, and a table of all transitions would take 300 KB.
        let words = |words: &[String]| automaton(words, AhoCorasickKind::ContiguousNFA);
        Self {
            placeholders: words(&lists.placeholders),
            stop_words: words(&lists.stop_words),
            stop_values: lists.stop_values.into_iter().collect(),
            examples: lists.examples,
        }
    }

    /// Returns `true` for a masked value, a placeholder or a published example.
    pub(super) fn is_placeholder(&self, value: &str) -> bool {
        let is_listed = self.placeholders.as_ref().is_some_and(|words| words.is_match(value));
        is_listed || is_masked(value) || self.examples.iter().any(|example| value.starts_with(example.as_str()))
    }

    /// Returns `true` if a value of a generic rule contains a stop word, or is one.
    pub(super) fn is_stopped(&self, value: &str) -> bool {
        self.is_stop_value(value) || self.stop_words.as_ref().is_some_and(|words| words.is_match(value))
    }

    /// Returns `true` if the whole value is a stop word, apart from digits at its end.
    pub(super) fn is_stop_value(&self, value: &str) -> bool {
        let lower = value.to_ascii_lowercase();
        self.stop_values.contains(&lower)
            || self.stop_values.contains(lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '!'))
    }
}

/// Builds an automaton for words in any case.
pub(super) fn automaton(words: &[String], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(kind)).build(words).ok()
}

/// Returns `true` if a value is cut, masked, or a run of equal or consecutive characters.
pub(super) fn is_masked(value: &str) -> bool {
    if ["...", "…", "•", "***", "●"].iter().any(|mark| value.contains(mark)) {
        return true;
    }
    let bytes = value.as_bytes();
    let most = if bytes.len() > 90 { 12 } else { 6 };
    let (mut equal, mut ascending) = (1, 1);
    for pair in bytes.windows(2) {
        equal = if pair[0] == pair[1] { equal + 1 } else { 1 };
        let follows = pair[1] == pair[0].wrapping_add(1) || (pair[0], pair[1]) == (b'9', b'0');
        ascending = if follows { ascending + 1 } else { 1 };
        if equal >= most || ascending >= 8 {
            return true;
        }
    }
    bytes.len() >= 12 && different(bytes) <= 4
}

/// Returns the number of different bytes.
fn different(bytes: &[u8]) -> usize {
    let mut seen = [false; 256];
    bytes.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count()
}

/// Returns the Shannon entropy of a text in bits per byte.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let len = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / len)
        .map(|share| -share * share.log2())
        .sum()
}

/// Classes of the characters of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Classes {
    pub digits: usize,
    pub lower: usize,
    pub upper: usize,
    pub other: usize,
    is_hex: bool,
}

impl Classes {
    pub(super) fn of(value: &str) -> Self {
        let mut classes = Self { is_hex: value.bytes().all(|byte| byte.is_ascii_hexdigit()), ..Self::default() };
        for byte in value.bytes() {
            match byte {
                b'0'..=b'9' => classes.digits += 1,
                b'a'..=b'z' => classes.lower += 1,
                b'A'..=b'Z' => classes.upper += 1,
                _ => classes.other += 1,
            }
        }
        classes
    }

    pub(super) fn is_hex(self) -> bool {
        self.is_hex
    }

    /// Returns the number of classes that occur.
    pub(super) fn count(self) -> usize {
        [self.digits, self.lower, self.upper, self.other].iter().filter(|count| **count > 0).count()
    }
}

/// Returns the entropy that 99 % of the random values of this length and alphabet exceed.
fn threshold(value: &str, classes: Classes) -> f64 {
    let bits = (value.len() as f64).log2();
    match classes {
        Classes { is_hex: true, .. } => (0.50 * bits + 0.65).min(3.6),
        Classes { lower: 1.., upper: 1.., .. } => (0.90 * bits - 0.5).min(4.3),
        _ => (0.65 * bits + 0.5).min(4.3),
    }
}

/// Returns `true` if a value looks random: it contains a digit and a letter, and its entropy is high.
/// Words must be checked as well where the form of the value is not special.
pub(super) fn is_random(value: &str, least: Option<f64>) -> bool {
    let classes = Classes::of(value);
    let has_both = classes.digits > 0 && classes.lower + classes.upper > 0;
    has_both && entropy(value) >= least.unwrap_or_else(|| threshold(value, classes))
}

/// Returns `true` if letters of both cases alternate as in random text.
pub(super) fn is_scrambled(value: &str) -> bool {
    let is_consonant = |byte: &u8| !b"aeiouyAEIOUY".contains(byte);
    let bytes = value.as_bytes();
    let changes = bytes.windows(2).filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()).count();
    let has_cluster = bytes.windows(4).any(|four| four.iter().all(is_consonant));
    let is_of_letters = bytes.len() >= 10 && bytes.iter().all(u8::is_ascii_alphabetic);
    is_of_letters && changes * 5 >= bytes.len() * 2 && has_cluster && !is_words(value)
}

/// Returns `true` if most letters of a value are in words: runs of letters of one case with vowels.
pub(super) fn is_words(value: &str) -> bool {
    let (mut letters, mut in_words) = (0, 0);
    for run in value.split(|c: char| !c.is_ascii_alphabetic()) {
        letters += run.len();
        if is_word(run) || run.len() >= 4 && is_word(&run.to_ascii_lowercase()) && run == run.to_ascii_uppercase() {
            in_words += run.len();
            continue;
        }
        // A word starts at an upper-case letter that follows a lower-case one.
        let mut from = 0;
        let bytes = run.as_bytes();
        for at in 1..=bytes.len() {
            let is_end = at == bytes.len() || (bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase());
            if is_end {
                in_words += if is_word(&run[from..at]) { at - from } else { 0 };
                from = at;
            }
        }
    }
    letters > 0 && in_words * 2 > letters
}

/// Returns `true` if a run of letters could be a word, possibly capitalized.
fn is_word(run: &str) -> bool {
    let is_lower = run.len() >= 4 && run.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    let is_vowel = |byte: &u8| b"aeiouyAEIOUY".contains(byte);
    let bytes = run.as_bytes();
    let vowels = bytes.iter().filter(|byte| is_vowel(byte)).count();
    let has_rare = bytes.windows(2).any(|pair| b"qjxz".contains(&pair[0]) && !is_vowel(&pair[1]));
    let has_cluster = bytes.windows(4).any(|four| !four.iter().any(is_vowel));
    is_lower && vowels * 5 >= run.len() && vowels * 3 <= run.len() * 2 && !has_rare && !has_cluster
}

/// Returns `true` if a value is a template or names the place of a secret: `${NAME}`, `<token>`, `op://vault/item`.
pub(super) fn is_template(value: &str) -> bool {
    const INSIDE: [&str; 10] = ["«", "${", "{{", "<%", "#{", "$(", "%(", "://", "}}", "%s"];
    const STARTS: [&str; 14] =
        ["$", "<", "[", "{", "arn:", "vault:", "env:", "file:", "secret:", "./", "../", "~/", "...", "::"];
    let classes = Classes::of(value);
    let has_all = classes.digits > 0 && classes.lower > 0 && classes.upper > 0;
    let is_variable = value.len() > 2 && value.starts_with('%') && value.ends_with('%');
    is_variable
        || INSIDE.iter().any(|part| value.contains(part))
        || STARTS.iter().any(|start| value.starts_with(start)) && !is_dollar_sign(value)
        || value.starts_with('/') && (is_words(value) || classes.digits == 0)
        || value.starts_with(['@', '!', '&', '*']) && !has_all
        || value.get(1..3) == Some(":\\")
}

/// Returns `true` if a value starts with `$` but has other characters than a variable, as in `$up3r:man`.
fn is_dollar_sign(value: &str) -> bool {
    const SCOPES: [&str; 6] = ["env:", "global:", "script:", "using:", "local:", "private:"];
    value.strip_prefix('$').is_some_and(|rest| {
        let is_scope =
            SCOPES.iter().any(|scope| rest.get(..scope.len()).is_some_and(|head| head.eq_ignore_ascii_case(scope)));
        rest.contains(|c: char| c.is_ascii_digit())
            && rest.contains(['!', '@', '#', '%', '^', '&', '*', '~', ':', ';', ',', '+', '?'])
            && !rest.contains(['$', '{', '('])
            && !is_scope
    })
}

/// Returns `true` if a value refers to code: `config.token`, `process.env.KEY`, `get_key(`, `Some::path`.
pub(super) fn is_reference(value: &str) -> bool {
    const STARTS: [&str; 36] = [
        "process.",
        "os.",
        "env.",
        "config.",
        "settings.",
        "self.",
        "this.",
        "args.",
        "opts.",
        "options.",
        "cfg.",
        "ctx.",
        "req.",
        "request.",
        "import.",
        "secrets.",
        "vars.",
        "var.",
        "local.",
        "data.",
        "params.",
        "state.",
        "props.",
        "std::",
        "string.",
        "system.",
        "context.",
        "response.",
        "res.",
        "user.",
        "input.",
        "event.",
        "module.",
        "app.",
        "field.",
        "getenv",
    ];
    let lower = value.to_ascii_lowercase();
    if STARTS.iter().any(|start| lower.starts_with(start)) {
        return true;
    }
    if ["::", "->", "()", "[", "(", "&&", "||", "=>", "?."].iter().any(|part| value.contains(part)) {
        return true;
    }
    let is_constant = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if value.contains('_') && value.bytes().all(is_constant) {
        return true;
    }
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    value.contains('.') && value.split('.').all(|part| is_name(part) && (part.len() <= 8 || is_words(part)))
}

/// Returns `true` if a value is a hash, a UUID, a number, a date, a version or an e-mail address.
pub(super) fn is_plain_data(value: &str) -> bool {
    let is_hash = Classes::of(value).is_hex && matches!(value.len(), 40 | 64 | 96 | 128);
    is_number(value) || is_uuid(value) || is_address(value) || is_hash
}

/// Returns `true` for a number, a date or a version, also for a number in code such as `0x1f_u32`.
pub(super) fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix("0x").map(|rest| rest.trim_end_matches("_u32").trim_end_matches("_i32"));
    let is_hex =
        |digits: &str| digits.len() <= 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_');
    let suffixes = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "f32", "f64", "L", "UL", "px", "ms"];
    if digits.is_some_and(is_hex) {
        return true;
    }
    let value = suffixes.iter().find_map(|suffix| value.strip_suffix(suffix)).unwrap_or(value);
    value.bytes().all(|byte| byte.is_ascii_digit() || b".,:-_+TZx/".contains(&byte))
}

/// Returns `true` for an e-mail address.
pub(super) fn is_address(value: &str) -> bool {
    let is_host = |host: &str| {
        let is_label =
            |label: &str| label.len() > 1 && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        host.contains('.') && host.split('.').all(is_label)
    };
    value.split_once('@').is_some_and(|(user, host)| !user.is_empty() && is_host(host))
}

/// Returns `true` for a UUID.
pub(super) fn is_uuid(value: &str) -> bool {
    let lens: Vec<usize> = value.split('-').map(str::len).collect();
    lens == [8, 4, 4, 4, 12] && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Returns `true` if a text has only characters of Base64, or is empty.
pub(super) fn is_base64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// Decodes Base64 of either alphabet, with or without padding.
pub(super) fn decode(value: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabet = if value.contains(['-', '_']) { &base64::alphabet::URL_SAFE } else { &base64::alphabet::STANDARD };
    GeneralPurpose::new(alphabet, config).decode(value).ok()
}

/// Returns `true` if a byte can be part of a token's name or value.
pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns `true` if a token can start at this position: no letter, digit or underscore precedes it.
///
/// An escape such as `\n`, `\u0022` or `%3D` also separates it from earlier text.
pub(super) fn starts_token(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    before.last().is_none_or(|byte| !is_token_byte(*byte) || ends_with_escape(before))
}

/// Returns `true` if a token can end at this position.
pub(super) fn ends_token(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| !is_token_byte(*byte) && *byte != b'-')
}

/// Returns `true` if a text ends with an escape sequence that is written out.
fn ends_with_escape(before: &[u8]) -> bool {
    let is_hex = |digits: usize| before[before.len() - digits..].iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0'] => true,
        [.., b'%', _, _] | [.., b'\\', b'x', _, _] => is_hex(2),
        [.., b'\\', b'u', _, _, _, _] => is_hex(4),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_values_differ_from_words() {
        for value in ["q7Xw2mPq9Zt4Lk8R", "9f8a7c6d5e4b3a2f1908", "k3j9dq2mx8vb5nr7ty1w"] {
            assert!(is_random(value, None) && !is_words(value), "{value}");
        }
        for value in ["userAccessToken2", "my-secret-name-1", "PASSWORD_RESET_URL", "passwordResetForm2"] {
            assert!(is_words(value), "{value}");
        }
        assert!(is_scrambled("tPbRFamenrXy") && !is_scrambled("getHttpClient") && !is_scrambled("userAccessToken"));
        assert!(!is_random("abcabcabc1", None) && !is_random("onlyLettersHere", None));
        assert!((entropy("abcd") - 2.0).abs() < 1e-9 && entropy("aaaa").abs() < 1e-9);
    }

    #[test]
    fn masked_values_are_detected() {
        for value in ["sk-abc...xyz", "abc***def", "xxxxxxxx", "abcdefghij", "12345678x", "aabbaabbaabb", "ghp_•••"]
        {
            assert!(is_masked(value), "{value}");
        }
        assert!(!is_masked("q7Xw2mPq9Zt4Lk8R"));
    }

    #[test]
    fn templates_and_references_are_detected() {
        for value in
            ["${A}", "$A", "{{ a }}", "<token>", "%A%", "op://a/b", "/run/secrets/token", "~/x", "«a»", "C:\\x"]
        {
            assert!(is_template(value), "{value}");
        }
        for value in ["process.env.A", "config.api_key", "get_token()", "Token::new", "user.password", "MAX_TOKEN_2"] {
            assert!(is_reference(value), "{value}");
        }
        for value in ["q7Xw2mPq9Zt4Lk8R", "/fgVk6wJUxbzplKG5yug", "@Xw2mPq9Z"] {
            assert!(!is_template(value) && !is_reference(value), "{value}");
        }
    }

    #[test]
    fn plain_data_is_detected() {
        for value in [
            "2026-01-05T09:00:00Z",
            "0x8055000D",
            "16384u32",
            "1.2.3",
            "ann@acme.io",
            "0b7d3c5e-8f3a-4b1e-9c7d-2a6f4e8b1c3d",
        ] {
            assert!(is_plain_data(value), "{value}");
        }
        assert!(is_plain_data(&"0a1b".repeat(10)) && !is_plain_data("p@ssX9.Yz"));
    }
}

#[cfg(test)]
mod boundary_tests {
    use super::*;

    #[test]
    fn escapes_are_boundaries() {
        for before in ["", " ", "\"", "=", "-", "\\n", "\\\\n", "\\t", "\\u0022", "%3D", "\\x22"] {
            assert!(starts_token(before.as_bytes(), before.len()), "{before:?}");
        }
        for before in ["a", "0", "_", "n", "u0022", "[32m", "m", "3D"] {
            assert!(!starts_token(before.as_bytes(), before.len()), "{before:?}");
        }
        assert!(ends_token(b"a b", 1) && ends_token(b"a", 1) && ends_token(b"a\\n", 1) && ends_token(b"a.", 1));
        assert!(!ends_token(b"ab", 1) && !ends_token(b"a-", 1));
    }
}
