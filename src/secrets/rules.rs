//! All rules, and the search with them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::Regex;
use twox_hash::XxHash3_64;

use super::assignment::Assignments;
use super::escapes::Plain;
use super::rule::Rule;
use super::rule_file::{RuleEntry, RuleFile, Strength};
use super::secret::{RuleId, SecretMatch};
use super::value::{ValueLists, automaton};
use super::{encoded, manifest, private_key};

/// The built-in rules.
static BUILT_IN: LazyLock<Rules> = LazyLock::new(|| Rules::new(built_in_file(), Vec::new()));

/// Rules that find secrets in texts.
///
/// Values of the user are never part of the debug output.
pub struct Rules {
    rules: Vec<Rule>,
    /// Rules without keywords.
    slow: Vec<usize>,
    /// The keywords, in the order of the automaton.
    keywords: Vec<Keyword>,
    automaton: Option<AhoCorasick>,
    assignments: Assignments,
    lists: ValueLists,
    allow: Vec<Regex>,
    /// A hash of the rules, unless there are values of the user.
    fingerprint: Option<u64>,
}

/// Rules of the user in addition to the built-in ones.
#[derive(Clone, Default)]
pub struct CustomRules {
    /// Names, regular expressions and keywords. The first group is the secret, otherwise the whole match.
    pub rules: Vec<(String, String, Vec<String>)>,
    /// Regular expressions of values that are no secrets.
    pub allow: Vec<String>,
    /// Values that are secrets.
    pub values: Vec<String>,
}

/// A text that a rule starts from.
struct Keyword {
    /// The text, unless its case does not matter.
    exact: Option<String>,
    target: Target,
}

#[derive(Clone, Copy)]
enum Target {
    Rule(usize),
    Assignment,
    PrivateKey,
    Manifest,
    Encoded,
    Value,
}

// The names of the rules in code.
static ASSIGNMENT: RuleId = RuleId::of_code("assigned-secret");
static PRIVATE_KEY: RuleId = RuleId::of_code("private-key");
static MANIFEST: RuleId = RuleId::of_code("kubernetes-secret");
static ENCODED: RuleId = RuleId::of_code("encoded-secrets");
static VALUE: RuleId = RuleId::of_code("configured-value");

/// A candidate: lower ranks win over higher ones.
struct Candidate<'a> {
    rank: u8,
    range: Range<usize>,
    rule: &'a RuleId,
}

fn built_in_file() -> RuleFile {
    // A unit test reads the file.
    toml::from_str(include_str!("../../assets/secrets.toml")).unwrap_or_default()
}

impl Rules {
    /// Returns the built-in rules.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Returns the built-in rules with those of the user, which replace built-in rules of the same name.
    ///
    /// # Errors
    /// A regular expression is invalid.
    pub fn with(custom: CustomRules) -> Result<Self, String> {
        let mut file = built_in_file();
        for (id, regex, keywords) in custom.rules {
            file.rules.retain(|rule| rule.id != id);
            let before = if keywords.is_empty() { 0 } else { 200 };
            file.rules.push(RuleEntry { id, regex, keywords, before, ..RuleEntry::of_user() });
        }
        let allowed = custom.allow.iter();
        let own =
            allowed.chain(file.rules.iter().flat_map(|rule| [&rule.id, &rule.regex].into_iter().chain(&rule.keywords)));
        let own = own.map(|text| format!("{}\0{text}", text.len())).collect::<String>();
        let mut rules = Self::new(file, custom.values);
        rules.fingerprint = rules.fingerprint.map(|built_in| built_in ^ XxHash3_64::oneshot(own.as_bytes()));
        for rule in &rules.rules {
            rule.compile().map_err(|error| format!("rule {}: {error}", rule.id))?;
        }
        rules.allow = custom
            .allow
            .iter()
            .map(|allow| Regex::new(allow))
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        Ok(rules)
    }

    fn new(file: RuleFile, values: Vec<String>) -> Self {
        let (mut texts, mut keywords) = (Vec::new(), Vec::new());
        let mut slow = Vec::new();
        let mut add = |text: String, ignore_case: bool, target: Target| {
            keywords.push(Keyword { exact: (!ignore_case).then(|| text.clone()), target });
            texts.push(text);
        };
        for (at, rule) in file.rules.iter().enumerate() {
            if rule.keywords.is_empty() {
                slow.push(at);
            }
            rule.keywords.iter().for_each(|text| add(text.clone(), rule.ignore_case, Target::Rule(at)));
        }
        file.assignment.keywords.iter().for_each(|text| add(text.clone(), true, Target::Assignment));
        private_key::KEYWORDS.iter().for_each(|text| add((*text).into(), false, Target::PrivateKey));
        manifest::KEYWORDS.iter().for_each(|text| add((*text).into(), false, Target::Manifest));
        encoded::KEYWORDS.iter().for_each(|text| add((*text).into(), false, Target::Encoded));
        let about = concat!(env!("CARGO_PKG_VERSION"), include_str!("../../assets/secrets.toml"));
        let fingerprint = values.is_empty().then(|| XxHash3_64::oneshot(about.as_bytes()));
        values.into_iter().filter(|value| !value.is_empty()).for_each(|value| add(value, false, Target::Value));
        Self {
            rules: file.rules.into_iter().map(Rule::new).collect(),
            slow,
            keywords,
            automaton: automaton(&texts, AhoCorasickKind::DFA),
            assignments: Assignments::new(file.assignment),
            lists: ValueLists::new(file.lists),
            allow: Vec::new(),
            fingerprint,
        }
    }

    /// Returns a hash of the rules, or `None` if they have values of the user, of which no hash may be written.
    pub fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }

    /// Returns the names and descriptions of all rules.
    pub fn all(&self) -> impl Iterator<Item = (&RuleId, &str)> {
        let fixed = [
            (&ASSIGNMENT, "Value with the name of a secret, such as in .env files"),
            (&PRIVATE_KEY, "Private key in PEM or PuTTY format"),
            (&MANIFEST, "Encoded value in a Secret of Kubernetes"),
            (&ENCODED, "File with secret variables in Base64"),
            (&VALUE, "Value from the setting redact.values"),
        ];
        self.rules.iter().map(|rule| (&rule.id, rule.entry().description.as_str())).chain(fixed)
    }

    /// Returns the likely secrets of a text, in order and without overlaps.
    pub fn find(&self, text: &str) -> Vec<SecretMatch> {
        self.resolve(text, self.candidates(text))
    }

    /// Returns the likely secrets in the value of a JSON field. The name of the field can make the value a secret.
    pub fn find_in_field(&self, name: &str, text: &str) -> Vec<SecretMatch> {
        let mut candidates = self.candidates(text);
        if self.assignments.is_secret_field(name, text, &self.lists) {
            candidates.push(Candidate { rank: 2, range: 0..text.len(), rule: &ASSIGNMENT });
        }
        self.resolve(text, candidates)
    }

    /// Returns a text with the names of the rules in place of its likely secrets, such as `[github-token]`.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
        for SecretMatch { rule, range } in found {
            masked.push_str(&text[from..range.start]);
            masked.push_str(&format!("[{rule}]"));
            from = range.end;
        }
        Cow::Owned(masked + &text[from..])
    }

    /// Returns the candidates in a text. Escape sequences can be inside a value, or separate it from other text.
    fn candidates(&self, text: &str) -> Vec<Candidate<'_>> {
        let Some(joined) = Plain::new(text, "") else { return self.candidates_in(text) };
        let separated = Plain::new(text, "\x1b");
        let found = [Some(joined), separated].into_iter().flatten().flat_map(|plain| {
            let mut found = self.candidates_in(&plain.text);
            found.retain(|candidate| !candidate.range.is_empty());
            found.iter_mut().for_each(|candidate| candidate.range = plain.original(&candidate.range));
            found
        });
        found.collect()
    }

    fn candidates_in(&self, text: &str) -> Vec<Candidate<'_>> {
        let mut found: Vec<Candidate<'_>> = Vec::new();
        for &at in &self.slow {
            let rule = &self.rules[at];
            let ranges = rule.anywhere(text, &self.lists);
            found.extend(ranges.into_iter().map(|range| Candidate { rank: 1, range, rule: &rule.id }));
        }
        let bytes = text.as_bytes();
        let mut decoded_to = 0;
        let hits = self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(bytes));
        for hit in hits {
            let keyword = &self.keywords[hit.pattern().as_usize()];
            if keyword.exact.as_ref().is_some_and(|exact| exact.as_bytes() != &bytes[hit.range()]) {
                continue;
            }
            let (rank, rule) = match keyword.target {
                Target::Rule(at) => (if self.rules[at].is_distinct() { 1 } else { 2 }, &self.rules[at].id),
                Target::Assignment => (3, &ASSIGNMENT),
                Target::PrivateKey => (0, &PRIVATE_KEY),
                Target::Manifest => (2, &MANIFEST),
                Target::Encoded => (1, &ENCODED),
                Target::Value => (0, &VALUE),
            };
            if found.iter().rev().take(4).any(|last| last.rule == rule && hit.start() < last.range.end) {
                continue;
            }
            let range = match keyword.target {
                Target::Rule(at) => self.rules[at].at_keyword(text, hit.range(), &self.lists),
                Target::Assignment => self.assignments.at_keyword(text, hit.range(), &self.lists),
                Target::PrivateKey => private_key::at_keyword(text, hit.range()),
                Target::Manifest => {
                    let ranges = manifest::values(text, &hit.range(), &self.lists);
                    found.extend(ranges.into_iter().map(|range| Candidate { rank, range, rule }));
                    None
                }
                Target::Encoded if hit.start() < decoded_to => None,
                Target::Encoded => {
                    let range = encoded::around(text, &hit.range());
                    decoded_to = range.end;
                    // The decoded text is shorter, so that this ends.
                    let decoded = encoded::decoded(&text[range.clone()]);
                    decoded.is_some_and(|decoded| !self.candidates_in(&decoded).is_empty()).then_some(range)
                }
                Target::Value => Some(hit.range()),
            };
            found.extend(range.map(|range| Candidate { rank, range, rule }));
        }
        found
    }

    /// Removes allowed values and overlaps: the better rule wins, then the longer value.
    fn resolve(&self, text: &str, mut candidates: Vec<Candidate<'_>>) -> Vec<SecretMatch> {
        let is_allowed =
            |range: &Range<usize>| self.allow.iter().any(|allow| allow.is_match(&text.as_bytes()[range.clone()]));
        candidates.retain(|candidate| !candidate.range.is_empty() && !is_allowed(&candidate.range));
        candidates
            .sort_by_key(|candidate| (candidate.rank, std::cmp::Reverse(candidate.range.len()), candidate.range.start));
        let mut chosen: BTreeMap<usize, (usize, &RuleId)> = BTreeMap::new();
        for Candidate { range, rule, .. } in candidates {
            let before = chosen.range(..range.end).next_back();
            if before.is_none_or(|(_, (end, _))| *end <= range.start) {
                chosen.insert(range.start, (range.end, rule));
            }
        }
        chosen.into_iter().map(|(start, (end, rule))| SecretMatch { rule: rule.clone(), range: start..end }).collect()
    }
}

impl RuleEntry {
    /// Returns the properties of a rule from the configuration.
    fn of_user() -> Self {
        Self {
            id: String::new(),
            description: "Rule from the configuration".into(),
            keywords: Vec::new(),
            regex: String::new(),
            before: 0,
            ignore_case: false,
            strength: Strength::Distinct,
            entropy: None,
            near: Vec::new(),
            allow: None,
            check: None,
            has_unicode: true,
            examples: Vec::new(),
        }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rules({})", self.rules.len())
    }
}

impl fmt::Debug for CustomRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomRules({} rules, {} values)", self.rules.len(), self.values.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Replaces each `{alphabet:length}` by random characters.
    fn expand(template: &str, seed: &mut u64) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            let (alphabet, after) = rest[at + 1..].split_once('}').unwrap();
            let (ranges, len) = alphabet.rsplit_once(':').unwrap();
            let ranges: Vec<char> = ranges.chars().collect();
            let (mut chars, mut from) = (Vec::new(), 0);
            while from < ranges.len() {
                let last = if ranges.get(from + 1) == Some(&'-') { ranges.get(from + 2) } else { None };
                chars.extend(ranges[from]..=*last.unwrap_or(&ranges[from]));
                from += if last.is_some() { 3 } else { 1 };
            }
            for _ in 0..len.parse().unwrap() {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push(chars[(*seed >> 33) as usize % chars.len()]);
            }
            rest = after;
        }
        text + rest
    }

    #[test]
    fn the_file_of_rules_is_valid() {
        let file: RuleFile = toml::from_str(include_str!("../../assets/secrets.toml")).unwrap();
        let mut ids = HashSet::new();
        for entry in file.rules {
            assert!(ids.insert(entry.id.clone()), "{} is there twice", entry.id);
            assert!(!entry.examples.is_empty() && !entry.description.is_empty(), "{}", entry.id);
            assert!(!entry.keywords.is_empty(), "{} is slow without keywords", entry.id);
            for keyword in &entry.keywords {
                assert!(!entry.ignore_case || *keyword == keyword.to_lowercase(), "{keyword}");
            }
            Rule::new(entry).compile().unwrap();
        }
    }

    #[test]
    fn each_rule_finds_its_examples() {
        let mut wrong = Vec::new();
        let mut seed = 7;
        for rule in &Rules::built_in().rules {
            for template in &rule.entry().examples {
                // Few random values do not look random.
                let mut left = if rule.entry().strength == Strength::Random { 6 } else { 0 };
                for _ in 0..20 {
                    let example = expand(template, &mut seed);
                    for text in [example.clone(), format!("see \"{example}\", or\n"), format!("\\n{example}\\n")] {
                        let found = Rules::built_in().find(&text);
                        if !found.iter().any(|finding| finding.rule == rule.id) {
                            if left == 0 {
                                wrong.push(format!("{}: {text} gives {found:?}", rule.id));
                            }
                            left = left.max(1) - 1;
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} misses\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn the_file_of_rules_contains_no_secret() {
        let text = include_str!("../../assets/secrets.toml");
        let found: Vec<_> =
            Rules::built_in().find(text).into_iter().map(|found| (found.rule, &text[found.range])).collect();
        assert_eq!(found, []);
    }
}
