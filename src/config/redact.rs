//! The settings of `[redact]`: own values, rules and exceptions of the search for secrets.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use toml::Spanned;
use toml::de::DeValue;

use crate::secrets::{CustomRules, Rules};

use crate::config::tables::{ConfigProblems, strings, whole, wrong_type};

/// The settings of the search for secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactConfig {
    /// The sources of values that are secrets.
    pub values: Vec<ValueSource>,
    /// The time limit of a command in seconds.
    pub seconds: u64,
    /// Names and regular expressions of rules, with keywords.
    pub rules: Vec<(String, String, Vec<String>)>,
    /// Regular expressions of values that are not secrets.
    pub allow: Vec<String>,
}

/// The source of a value. The value itself is never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    /// The name of an environment variable.
    Variable(String),
    /// A command that prints the value: a program and its arguments.
    Command(Vec<String>),
}

impl Default for RedactConfig {
    fn default() -> Self {
        Self { values: Vec::new(), seconds: 10, rules: Vec::new(), allow: Vec::new() }
    }
}

impl RedactConfig {
    /// Returns the built-in rules with those of the user and for the given values; `None` if there are only the built-in
    /// ones.
    ///
    /// # Errors
    /// A regular expression is invalid.
    pub(crate) fn own_rules(&self, values: Vec<String>) -> Result<Option<Rules>, String> {
        if values.is_empty() && self.rules.is_empty() && self.allow.is_empty() {
            return Ok(None);
        }
        Rules::with(CustomRules { rules: self.rules.clone(), allow: self.allow.clone(), values }).map(Some)
    }
}

/// Hides likely secrets in the cells of lists, with the built-in rules and those of the user. The rules are compiled for
/// the first cell.
#[derive(Clone, Debug, Default)]
pub struct SecretCells(Arc<OnceLock<Option<Rules>>>);

impl SecretCells {
    /// Replaces the likely secrets of a text.
    pub fn hide<'a>(&self, text: &'a str, config: &RedactConfig) -> Cow<'a, str> {
        let own = self.0.get_or_init(|| config.own_rules(Vec::new()).ok().flatten());
        let found = own.as_ref().unwrap_or_else(|| Rules::built_in()).find(text);
        let mut hidden = Cow::Borrowed(text);
        found.into_iter().rev().for_each(|secret| hidden.to_mut().replace_range(secret.range, "[redacted]"));
        hidden
    }
}

/// Reads the table `[redact]`.
pub(super) fn redact(problems: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> RedactConfig {
    let mut redact = RedactConfig::default();
    for (key, value) in problems.table("redact", value, "a table of settings of redaction") {
        match key.get_ref().as_ref() {
            "values" => redact.values = problems.parsed("values", value, sources).unwrap_or_default(),
            "seconds" => {
                let seconds = problems.parsed("seconds", value, |value| whole(value, "a number of seconds, from 0"));
                redact.seconds = seconds.unwrap_or(redact.seconds);
            }
            "allow" => {
                let allow = problems.parsed("allow", value, |value| {
                    let patterns = strings(value)?;
                    patterns.iter().try_for_each(|pattern| checked(pattern))?;
                    Ok(patterns)
                });
                redact.allow = allow.unwrap_or_default();
            }
            "rules" => {
                for (name, value) in problems.table("rules", value, "a table of names and regular expressions") {
                    let rule = problems.parsed(name.get_ref(), value, rule);
                    redact.rules.extend(rule.map(|(regex, keywords)| (name.get_ref().to_string(), regex, keywords)));
                }
            }
            _ => problems.unknown(key, ["values", "seconds", "rules", "allow"].into_iter()),
        }
    }
    redact
}

fn sources(value: &DeValue<'_>) -> Result<Vec<ValueSource>, String> {
    let wanted = "a list of variable names and commands, such as [\"ACME_TOKEN\", [\"pass\", \"show\", \"acme\"]]";
    let items = value.as_array().ok_or_else(|| wrong_type(wanted, value))?;
    items
        .iter()
        .map(|item| match (item.get_ref().as_str(), strings(item.get_ref())) {
            (Some(name), _) if !name.is_empty() => Ok(ValueSource::Variable(name.into())),
            (_, Ok(command)) if command.first().is_some_and(|program| !program.is_empty()) => {
                Ok(ValueSource::Command(command))
            }
            _ => Err(format!("must be {wanted}")),
        })
        .collect()
}

/// Reads a rule: a regular expression, or a table with one and keywords.
fn rule(value: &DeValue<'_>) -> Result<(String, Vec<String>), String> {
    let wanted = "a regular expression, or a table such as { regex = \"acme_[0-9a-f]{32}\", keywords = [\"acme_\"] }";
    if let Some(regex) = value.as_str() {
        return checked(regex).map(|()| (regex.into(), Vec::new()));
    }
    let table = value.as_table().ok_or_else(|| wrong_type(wanted, value))?;
    let (mut regex, mut keywords) = (None, Vec::new());
    for (key, value) in table {
        match (key.get_ref().as_ref(), value.get_ref().as_str()) {
            ("regex", Some(text)) => regex = Some(text.to_owned()),
            ("keywords", _) => keywords = strings(value.get_ref())?,
            _ => return Err(format!("must be {wanted}")),
        }
    }
    let regex = regex.ok_or_else(|| format!("must be {wanted}"))?;
    checked(&regex).map(|()| (regex, keywords))
}

fn checked(pattern: &str) -> Result<(), String> {
    let error = |error: regex::Error| {
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        format!("not a valid regular expression: {reason}")
    };
    regex::bytes::Regex::new(pattern).map(drop).map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn settings_are_read_and_problems_named() {
        let text = "[redact]\nvalues = [\"ACME_TOKEN\", [\"pass\", \"show\", \"acme\"]]\nallow = ['^test']\nseconds = 3\n\
                    [redact.rules]\nacme = 'acme_[0-9]{8}'\nother = { regex = 'o(.)', keywords = [\"o\"] }\n";
        let redact = Config::parse(text, "c").unwrap().redact;
        let command = ["pass", "show", "acme"].map(String::from).to_vec();
        assert_eq!(redact.values, [ValueSource::Variable("ACME_TOKEN".into()), ValueSource::Command(command)]);
        assert_eq!((redact.allow, redact.seconds), (vec!["^test".to_string()], 3));
        assert_eq!(redact.rules[0], ("acme".into(), "acme_[0-9]{8}".into(), vec![]));
        assert_eq!(redact.rules[1], ("other".into(), "o(.)".into(), vec!["o".into()]));
        for (text, problem) in [
            ("redact = 3", "c:1: \"redact\": must be a table of settings of redaction, but is of type integer"),
            ("redact.value = []", "c:1: unknown setting \"value\"; did you mean \"values\"?"),
            ("redact.allow = ['(']", "c:1: \"allow\": not a valid regular expression: unclosed group"),
            ("redact.rules.a = '['", "c:1: \"a\": not a valid regular expression: unclosed character class"),
            (
                "redact.values = [[]]",
                "c:1: \"values\": must be a list of variable names and commands, such as [\"ACME_TOKEN\", [\"pass\", \"show\", \"acme\"]]",
            ),
        ] {
            assert_eq!(Config::parse(text, "c").unwrap_err(), problem);
        }
    }
}
