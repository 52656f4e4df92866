//! Replaces secrets by marks: first collects the values in all texts, then replaces each value everywhere.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use aho_corasick::{AhoCorasick, MatchKind};

use super::escapes::{self, Plain};
use super::rules::Rules;
use super::secret::{RuleId, SecretMatch, sample};
use super::value::Classes;
use crate::base::sort;
use crate::base::text::percent_encoded;

/// The fewest bytes of a value that is replaced everywhere; shorter values are replaced where a rule finds them.
const EVERYWHERE: usize = 8;

/// The number of first bytes by which a cut value is recognized at the end of a text.
const HEAD: usize = 12;

/// The most bytes of a cut value.
const TAIL: usize = 512;

/// The first pass over texts: collects the values of secrets.
pub struct SecretCollector<'r> {
    rules: &'r Rules,
    secrets: Vec<Secret>,
    /// The secret of each value.
    known: HashMap<String, usize>,
    /// The number of secrets of each rule so far.
    numbers: HashMap<RuleId, usize>,
}

/// A collected secret, without its value.
#[derive(Debug)]
pub struct Secret {
    rule: RuleId,
    mark: String,
    sample: String,
    is_kept: bool,
    places: AtomicU64,
}

impl Secret {
    /// Returns the rule that found it.
    pub fn rule(&self) -> &RuleId {
        &self.rule
    }

    /// Returns the text that replaces it.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Returns its first characters: see [`sample`].
    pub fn sample(&self) -> &str {
        &self.sample
    }

    /// Returns the number of places replaced so far.
    pub fn places(&self) -> u64 {
        self.places.load(Ordering::Relaxed)
    }
}

impl<'r> SecretCollector<'r> {
    /// Starts a redaction.
    pub fn new(rules: &'r Rules) -> Self {
        Self { rules, secrets: Vec::new(), known: HashMap::new(), numbers: HashMap::new() }
    }

    /// Collects the secrets of a text.
    pub fn collect(&mut self, text: &str) {
        let found = self.rules.find(text);
        self.add(text, found);
    }

    /// Collects the secrets in the value of a JSON field, whose name can make it a secret.
    pub fn collect_field(&mut self, name: &str, text: &str) {
        let found = self.rules.find_in_field(name, text);
        self.add(text, found);
    }

    fn add(&mut self, text: &str, found: Vec<SecretMatch>) {
        for SecretMatch { rule, range } in found {
            let value = escapes::without(&text[range]);
            if !self.known.contains_key(&value) {
                let number = self.numbers.entry(rule.clone()).or_default();
                *number += 1;
                let mark = format!("[{rule} {number}]");
                let sample = sample(&value);
                self.known.insert(value, self.secrets.len());
                self.secrets.push(Secret { rule, mark, sample, is_kept: false, places: AtomicU64::new(0) });
            }
        }
    }

    /// Returns a text without its likely secrets: see [`Rules::mask`].
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.rules.mask(text)
    }

    /// Returns the number of secrets collected so far.
    pub fn count(&self) -> usize {
        self.secrets.len()
    }

    /// Ends the first pass.
    pub fn finish(self) -> SecretReplacer<'r> {
        let mut patterns = Vec::new();
        for (value, &at) in self.known.iter().filter(|(value, _)| is_replaced_everywhere(value)) {
            patterns.extend(spellings(value).into_iter().map(|spelling| (spelling, at)));
        }
        // The order of a hash map must not matter.
        patterns.sort();
        patterns.dedup_by(|one, other| one.0 == other.0);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(patterns.iter().map(|(value, _)| value))
            .ok()
            .filter(|_| !patterns.is_empty());
        let mut values: Vec<_> = self.known.iter().map(|(value, &at)| (value.clone(), at)).collect();
        values.retain(|(value, _)| value.len() >= 2 * HEAD && value.is_char_boundary(HEAD));
        sort::by_key(&mut values, |(_, at)| *at);
        let heads =
            AhoCorasick::new(values.iter().map(|(value, _)| &value[..HEAD])).ok().filter(|_| !values.is_empty());
        let has_short = self.known.keys().any(|value| !is_replaced_everywhere(value));
        let secrets_of = patterns.into_iter().map(|(_, at)| at).collect();
        SecretReplacer {
            rules: self.rules,
            secrets: self.secrets,
            known: self.known,
            automaton,
            heads,
            values,
            secrets_of,
            has_short,
        }
    }
}

/// Returns `true` if every occurrence of a value is a secret: it is long, and not a common word.
fn is_replaced_everywhere(value: &str) -> bool {
    let classes = Classes::of(value);
    value.len() >= EVERYWHERE && (classes.count() > 1 || value.len() >= 2 * EVERYWHERE)
}

/// Returns a value as it is written in texts, JSON and URLs.
fn spellings(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let mut all = vec![value.to_owned(), json, percent_encoded(value, b"-_.~")];
    all.retain(|spelling| !spelling.is_empty());
    all.dedup();
    all
}

/// The second pass: replaces the collected values.
///
/// One value has the same mark everywhere, such as `[github-token 1]`. Its debug output contains no values.
pub struct SecretReplacer<'r> {
    rules: &'r Rules,
    secrets: Vec<Secret>,
    known: HashMap<String, usize>,
    automaton: Option<AhoCorasick>,
    /// Finds the first characters of long values.
    heads: Option<AhoCorasick>,
    /// The long values with their secrets.
    values: Vec<(String, usize)>,
    /// The secret of each pattern of the automaton.
    secrets_of: Vec<usize>,
    /// `true` if there are values that are only replaced where a rule finds them.
    has_short: bool,
}

impl SecretReplacer<'_> {
    /// Replaces the collected values in a text, also where no rule finds them.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = if self.has_short { self.rules.find(text) } else { Vec::new() };
        self.replace(text, &found)
    }

    /// Replaces the collected values in the value of a JSON field.
    pub fn apply_field<'a>(&self, name: &str, text: &'a str) -> Cow<'a, str> {
        let found = if self.has_short { self.rules.find_in_field(name, text) } else { Vec::new() };
        self.replace(text, &found)
    }

    fn replace<'a>(&self, text: &'a str, found: &[SecretMatch]) -> Cow<'a, str> {
        let plain = Plain::new(text, "");
        let searched = plain.as_ref().map_or(text, |plain| &plain.text);
        let mut places: Vec<(Range<usize>, usize)> = self
            .automaton
            .iter()
            .flat_map(|automaton| automaton.find_iter(searched))
            .map(|hit| (hit.range(), self.secrets_of[hit.pattern().as_usize()]))
            .collect();
        places.extend(self.cut_value(searched, places.last().map_or(0, |(range, _)| range.end)));
        if let Some(plain) = plain {
            places.iter_mut().for_each(|(range, _)| *range = plain.original(range));
        }
        let mut short = Vec::new();
        for SecretMatch { range, .. } in found {
            let next = places.partition_point(|(other, _)| other.end <= range.start);
            let is_free = places.get(next).is_none_or(|(other, _)| other.start >= range.end);
            let known = self.known.get(&escapes::without(&text[range.clone()])).filter(|_| is_free);
            short.extend(known.map(|&at| (range.clone(), at)));
        }
        places.append(&mut short);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        sort::by_key(&mut places, |(range, _)| range.start);
        let (mut redacted, mut from) = (String::with_capacity(text.len()), 0);
        for (range, at) in places {
            let secret = &self.secrets[at];
            if secret.is_kept {
                continue;
            }
            secret.places.fetch_add(1, Ordering::Relaxed);
            redacted.push_str(&text[from..range.start]);
            redacted.push_str(&secret.mark);
            from = range.end;
        }
        redacted.push_str(&text[from..]);
        Cow::Owned(redacted)
    }

    /// Returns the place of a value of which a text contains only the first characters, at its end after `from`.
    fn cut_value(&self, text: &str, from: usize) -> Option<(Range<usize>, usize)> {
        let end = text.trim_end_matches(['…', '.', ' ']).len();
        let tail = text.floor_char_boundary(end.saturating_sub(TAIL)).max(from);
        let hit = self.heads.as_ref()?.find(text.get(tail..end)?)?;
        let (value, at) = &self.values[hit.pattern().as_usize()];
        let start = tail + hit.start();
        value.starts_with(&text[start..end]).then_some((start..end, *at))
    }

    /// Returns the rules that found values, each with the number of different values and of replaced places so far.
    pub fn counts(&self) -> impl Iterator<Item = (&RuleId, usize, u64)> {
        let mut counts: BTreeMap<&RuleId, (usize, u64)> = BTreeMap::new();
        for secret in self.secrets() {
            let count = counts.entry(&secret.rule).or_default();
            *count = (count.0 + 1, count.1 + secret.places());
        }
        counts.into_iter().map(|(rule, (values, places))| (rule, values, places))
    }

    /// Returns the secrets in the order in which they were collected, except kept ones.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.iter().filter(|secret| !secret.is_kept)
    }

    /// Keeps the secret with this mark from now on. Returns `true` if there is one.
    pub fn keep(&mut self, mark: &str) -> bool {
        let found = self.secrets.iter_mut().find(|secret| secret.mark == mark);
        found.map(|secret| secret.is_kept = true).is_some()
    }

    /// Returns `true` if no secrets were collected.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }
}

impl fmt::Debug for SecretCollector<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretCollector({} values)", self.secrets.len())
    }
}

impl fmt::Debug for SecretReplacer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretReplacer({} values)", self.secrets.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(seed: char) -> String {
        format!("{}_{}{seed}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3")
    }

    #[test]
    fn secrets_can_be_kept() {
        let (one, other) = (token('a'), token('b'));
        let mut redaction = SecretCollector::new(Rules::built_in());
        redaction.collect(&format!("{one} {other}"));
        let mut redactor = redaction.finish();
        let marks: Vec<_> = redactor.secrets().map(|secret| (secret.mark(), secret.sample())).collect();
        assert_eq!(marks, [("[github-token 1]", "ghp_"), ("[github-token 2]", "ghp_")]);
        assert!(redactor.keep("[github-token 1]") && !redactor.keep("[other 1]"));
        assert_eq!(redactor.apply(&format!("{one} {other}")), format!("{one} [github-token 2]"));
        assert_eq!(redactor.counts().map(|(_, values, places)| (values, places)).collect::<Vec<_>>(), [(1, 1)]);
    }

    #[test]
    fn cut_values_are_replaced_at_the_end_of_a_text() {
        let mut redaction = SecretCollector::new(Rules::built_in());
        redaction.collect(&token('a'));
        let redactor = redaction.finish();
        for end in ["", "…", "..."] {
            let text = format!("use {}{end}", &token('a')[..25]);
            assert_eq!(redactor.apply(&text), format!("use [github-token 1]{end}"));
        }
        let other = format!("use {}x", &token('a')[..25]);
        assert_eq!(redactor.apply(&other), other);
    }

    #[test]
    fn short_values_are_replaced_only_where_a_rule_finds_them() {
        let command = ["mysql -u root -p", "zq7x3 shop"].concat();
        let mut redaction = SecretCollector::new(Rules::built_in());
        redaction.collect(&command);
        let redactor = redaction.finish();
        let text = format!("zq7x3 and {command}");
        assert_eq!(redactor.apply(&text), "zq7x3 and mysql -u root -p[mysql-password 1] shop");
    }

    #[test]
    fn values_in_other_spellings_are_replaced() {
        let mut redaction = SecretCollector::new(Rules::built_in());
        redaction.collect(&["DB_PASSWORD='pK4/", "m7_\"x+Q9'"].concat());
        let redactor = redaction.finish();
        let mark = "[assigned-secret 1]";
        assert_eq!(redactor.apply("pK4/m7_\\\"x+Q9 pK4%2Fm7_%22x%2BQ9"), format!("{mark} {mark}"));
    }

    #[test]
    fn values_with_colors_are_replaced() {
        let token = token('a');
        let colored = format!("a.sh:\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K{}\x1b[1m{}\x1b[0m;", &token[4..20], &token[20..]);
        let mut redaction = SecretCollector::new(Rules::built_in());
        redaction.collect(&colored);
        let short = ["mysql -u root \x1b[1m-p\x1b[31m", "zq\x1b[32m7x3\x1b[0m shop"].concat();
        redaction.collect(&short);
        let redactor = redaction.finish();
        assert_eq!(redactor.apply(&colored), "a.sh:\x1b[01;31m\x1b[K[github-token 1]\x1b[0m;");
        assert_eq!(redactor.apply(&token), "[github-token 1]");
        assert_eq!(redactor.apply(&format!("\x1b[1m{}\x1b[0m…", &token[..25])), "\x1b[1m[github-token 1]\x1b[0m…");
        assert_eq!(redactor.apply(&short), "mysql -u root \x1b[1m-p\x1b[31m[mysql-password 1]\x1b[0m shop");
        let samples: Vec<_> = redactor.secrets().map(Secret::sample).collect();
        assert_eq!(samples, ["ghp_", ""]);
    }

    #[test]
    fn one_value_has_one_mark() {
        let (one, other) = (token('a'), token('b'));
        let mut redaction = SecretCollector::new(Rules::built_in());
        redaction.collect(&format!("{one} and {other} and {one}"));
        let redactor = redaction.finish();
        let text = format!("x{other}y {one} {{\"a\":\"{one}\\n\"}}");
        assert_eq!(redactor.apply(&text), "x[github-token 2]y [github-token 1] {\"a\":\"[github-token 1]\\n\"}");
        assert!(matches!(redactor.apply("nothing"), Cow::Borrowed("nothing")));
        let counts: Vec<_> = redactor.counts().map(|(rule, values, places)| (rule.as_str(), values, places)).collect();
        assert_eq!(counts, [("github-token", 2, 3)]);
        assert!(!format!("{redactor:?}").contains(&one));
    }
}
