//! The rules for secrets, applied to texts with made-up secrets and to texts that only look like it.
//!
//! `texts.txt` contains the texts. The rules were not adjusted to every third one of the first part, and to no text of the
//! last part.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use pitree::secrets::{CustomRules, Rules, SecretCollector, SecretMatch};
use proptest::prelude::*;
use regex::{Captures, Regex};

/// The number of texts made from each line.
const VARIANTS: u64 = 5;

/// The name of the first part.
const FIRST: &str = "first part";

/// A text with its secrets.
struct Labeled {
    line: usize,
    text: String,
    secrets: Vec<Range<usize>>,
    /// The part of the file, and `true` if the rules were not adjusted to the text.
    part: (&'static str, bool),
}

/// A generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Returns random characters of an alphabet such as `a-f0-9`.
fn characters(alphabet: &str, len: usize, random: &mut Random) -> String {
    let ranges: Vec<char> = alphabet.chars().collect();
    let (mut chars, mut from) = (Vec::new(), 0);
    while from < ranges.len() {
        let last = if ranges.get(from + 1) == Some(&'-') { ranges.get(from + 2) } else { None };
        chars.extend(ranges[from]..=*last.unwrap_or(&ranges[from]));
        from += if last.is_some() { 3 } else { 1 };
    }
    (0..len).map(|_| chars[random.below(chars.len())]).collect()
}

fn labeled() -> Vec<Labeled> {
    let template = Regex::new(r#"\{([^{}"\s]+):([0-9]+)\}"#).unwrap();
    let (mut all, mut part, mut at) = (Vec::new(), FIRST, 0);
    for (line, content) in include_str!("texts.txt").lines().enumerate() {
        if let Some(name) = content.strip_prefix("# ---- ").filter(|name| name.contains("part")) {
            part = name;
        }
        if content.is_empty() || content.starts_with("# ") {
            continue;
        }
        at += 1;
        let is_held_out = if part == FIRST { at % 3 == 0 } else { part.contains("held out") };
        for variant in 0..VARIANTS {
            let mut random = Random(line as u64 * 1000 + variant);
            let mut expanded = content.replace('⏎', "\n").replace('␛', "\u{1b}");
            expanded = template
                .replace_all(&expanded, |found: &Captures<'_>| {
                    characters(&found[1], found[2].parse().unwrap(), &mut random)
                })
                .into_owned();
            let (mut text, mut secrets) = (String::new(), Vec::new());
            for (at, part) in expanded.split(['«', '»']).enumerate() {
                if at % 2 == 1 {
                    secrets.push(text.len()..text.len() + part.len());
                }
                text.push_str(part);
            }
            all.push(Labeled { line: line + 1, text, secrets, part: (part, is_held_out) });
        }
    }
    all
}

/// Returns `true` if a finding covers a secret, with at most a few more bytes.
fn covers(found: &SecretMatch, secret: &Range<usize>) -> bool {
    found.range.start <= secret.start && secret.end <= found.range.end && found.range.len() <= secret.len() + 16
}

#[derive(Default)]
struct Score {
    found: usize,
    missed: usize,
    wrong: usize,
    /// One for each line.
    problems: BTreeMap<usize, String>,
}

impl Score {
    fn add(&mut self, labeled: &Labeled) {
        let Labeled { text, secrets, line, .. } = labeled;
        let findings = Rules::built_in().find(text);
        for secret in secrets {
            let is_found = findings.iter().any(|found| covers(found, secret));
            self.found += usize::from(is_found);
            self.missed += usize::from(!is_found);
            if !is_found {
                self.problems.insert(*line, format!("misses {} in {text:?}", &text[secret.clone()]));
            }
        }
        for found in &findings {
            if !secrets.iter().any(|secret| found.range.start < secret.end && secret.start < found.range.end) {
                self.wrong += 1;
                let value = &text[found.range.clone()];
                self.problems.insert(*line, format!("{} finds {value} in {text:?}", found.rule));
            }
        }
    }

    fn recall(&self) -> f64 {
        self.found as f64 / (self.found + self.missed) as f64
    }

    fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.wrong) as f64
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "--nocapture shows the rates")]
fn most_secrets_are_found_and_few_other_texts() {
    let mut scores: BTreeMap<(&str, bool), Score> = BTreeMap::new();
    let texts = labeled();
    assert!(texts.len() >= 500 * VARIANTS as usize);
    texts.iter().for_each(|text| scores.entry(text.part).or_default().add(text));
    for ((part, is_held_out), score) in &scores {
        println!("{part}, held out: {is_held_out}: recall {:.3}, precision {:.3}", score.recall(), score.precision());
    }
    let adjusted = scores.iter().filter(|((_, is_held_out), _)| !is_held_out);
    let problems: Vec<_> = adjusted
        .flat_map(|(_, score)| &score.problems)
        .map(|(line, problem)| format!("{line:>4}: {problem}"))
        .collect();
    println!("{}", problems.join("\n"));
    for ((part, is_held_out), score) in scores {
        // Texts in new places are harder to find.
        let least = match part {
            FIRST => 0.95,
            _ if is_held_out => 0.9,
            _ if part.contains("at first") => 0.85,
            _ => 0.95,
        };
        assert!(score.recall() >= least && score.precision() >= 0.95, "{part}");
    }
}

#[test]
fn redacted_texts_contain_no_secret() {
    let texts = labeled();
    let mut redaction = SecretCollector::new(Rules::built_in());
    texts.iter().for_each(|labeled| redaction.collect(&labeled.text));
    let redactor = redaction.finish();
    for Labeled { text, secrets, .. } in &texts {
        let redacted = redactor.apply(text);
        let found = Rules::built_in().find(text);
        for secret in secrets.iter().filter(|secret| found.iter().any(|found| covers(found, secret))) {
            assert!(!redacted.contains(&text[secret.clone()]), "{redacted}");
        }
    }
}

#[test]
fn long_repetitive_texts_are_searched() {
    // Each of these would take minutes if every keyword led to a search of a long text.
    for part in [
        "eyJ",
        "password",
        "password\n",
        "openssl ",
        "https://",
        "curl -u ",
        "ghp_a",
        "token: ",
        "-----BEGIN PRIVATE KEY-----\n",
        "UEFTU1dPUkQ9",
        "process.env.KEY",
        "jdbc:a:",
        ":5432:",
        "ConvertTo-SecureString '",
        "\"type\":\"api_key\",",
        "DB_PASSWORD=a\\\"",
        "\u{1b}[1m",
    ] {
        Rules::built_in().find(&part.repeat(200_000 / part.len()));
    }
}

#[test]
fn own_rules_and_exceptions_are_used() {
    let rule = |regex: &str| ("acme".to_string(), regex.to_string(), vec!["acme".to_string()]);
    let custom =
        CustomRules { rules: vec![rule(r"acme-(\p{L}+)")], allow: vec!["^x".into()], values: vec!["blue".into()] };
    let rules = Rules::with(custom.clone()).unwrap();
    let text = "acme-ärger acme-xyz blue";
    let found: Vec<_> =
        rules.find(text).into_iter().map(|found| (found.rule.to_string(), &text[found.range])).collect();
    assert_eq!(found, [("acme".into(), "ärger"), ("configured-value".into(), "blue")]);
    assert!(Rules::with(CustomRules { rules: vec![rule("(")], ..CustomRules::default() }).is_err());
    assert!(!format!("{rules:?} {custom:?}").contains("blue"));
}

proptest! {
    #[test]
    fn any_text_is_searched_without_panic(parts in proptest::collection::vec(piece(), 0..12)) {
        let text = parts.concat();
        let found = Rules::built_in().find(&text);
        let mut end = 0;
        for SecretMatch { range, .. } in &found {
            prop_assert!(range.start >= end && range.end > range.start);
            prop_assert!(text.is_char_boundary(range.start) && text.is_char_boundary(range.end));
            end = range.end;
        }
        let mut redaction = SecretCollector::new(Rules::built_in());
        redaction.collect(&text);
        let redactor = redaction.finish();
        let redacted = redactor.apply(&text);
        for SecretMatch { range, .. } in found.into_iter().filter(|found| found.range.len() >= 16) {
            prop_assert!(!redacted.contains(&text[range]), "{redacted}");
        }
    }
}

/// Generates a part of a text: characters, or something that rules look for.
fn piece() -> impl Strategy<Value = String> {
    let starts = [
        "ghp_",
        "sk-",
        "password",
        "_token",
        "api_key",
        "=",
        ": ",
        "\"",
        "'",
        "://",
        "@",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "eyJ",
        ".",
        "curl -u a:",
        "\n",
        "\\n",
        "\u{1b}[31m",
        "«",
        "ä",
        "😀",
        "Authorization: Bearer ",
        "machine a login b password ",
        "\\\"",
        "export ",
        "https://a:b",
        " is ",
        "name: ",
        "value: ",
    ];
    prop_oneof![proptest::sample::select(starts.to_vec()).prop_map(String::from), "[A-Za-z0-9+/_-]{0,80}", "\\PC{0,12}",]
}

/// The password in a session of the demo.
const DEMO_PASSWORD: &str = "t7Kq-mZ4v9Rw2xPj";

#[test]
fn this_repository_contains_no_secret() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<_> =
        ["assets", "benches", "docs", "examples", "npm", "scripts", "src", "tests"].map(|name| root.join(name)).into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let rules = Rules::built_in().find(&text).into_iter();
                // A session of the demo shows what the rules find.
                let rules = rules.filter(|secret| &text[secret.range.clone()] != DEMO_PASSWORD);
                found
                    .extend(rules.map(|secret| format!("{}: {} {}", path.display(), secret.rule, &text[secret.range])));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
