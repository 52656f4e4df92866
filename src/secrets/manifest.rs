//! Secrets of Kubernetes: the Base64 values of a manifest, whatever their names.

use std::ops::Range;

use super::value::{self, ValueLists};

/// The texts at which a secret is declared.
pub(super) const KEYWORDS: [&str; 3] = ["kind: Secret", "\"kind\": \"Secret\"", "\"kind\":\"Secret\""];

/// The bytes before and after the keyword that are searched.
const AROUND: [usize; 2] = [4 * 1024, 8 * 1024];

/// Parts of the names of values that are not secret.
const HARMLESS: [&str; 13] = [
    "user",
    "email",
    "host",
    "port",
    "endpoint",
    "region",
    "database",
    "dbname",
    "namespace",
    "bucket",
    ".crt",
    "cert",
    "server",
];

/// Returns the secret values of the manifest at a keyword.
pub(super) fn values(text: &str, keyword: &Range<usize>, lists: &ValueLists) -> Vec<Range<usize>> {
    if !value::ends_token(text.as_bytes(), keyword.end) {
        return Vec::new();
    }
    let mut start = text.floor_char_boundary(keyword.start.saturating_sub(AROUND[0]));
    let mut end = text.floor_char_boundary(keyword.end + AROUND[1]);
    start = text[start..keyword.start].rfind("\n---").map_or(start, |at| start + at);
    end = text[keyword.end..end].find("\n---").map_or(end, |at| keyword.end + at);
    let (mut found, mut depth, mut at) = (Vec::new(), None, start);
    for line in text[start..end].split_inclusive('\n') {
        let (begin, content) = (at, line.trim());
        at += line.len();
        let indent = line.len() - line.trim_start().len();
        if matches!(content, "data:" | "\"data\": {") {
            depth = Some(indent);
        } else if depth.is_some_and(|depth| indent <= depth) && !content.is_empty() {
            depth = None;
        } else if depth.is_some() {
            let Some((name, value)) = content.split_once(':') else { continue };
            let (name, value) = (name.trim_matches('"').to_ascii_lowercase(), value.trim().trim_end_matches(','));
            let value = value.trim_matches(['"', '\'']);
            let is_harmless = HARMLESS.iter().any(|part| name.contains(part));
            if !is_harmless && is_secret(value, lists) {
                let place = begin + line.rfind(value).unwrap_or_default();
                found.push(place..place + value.len());
            }
        }
    }
    found
}

/// Returns `true` if an encoded value is a secret, and not for example an address or a word.
fn is_secret(value: &str, lists: &ValueLists) -> bool {
    if value.len() < 8 || !value::is_base64(value) || lists.is_placeholder(value) {
        return false;
    }
    let Some(bytes) = value::decode(value.trim_end_matches('=')) else { return false };
    match String::from_utf8(bytes) {
        Err(_) => value.len() >= 20,
        Ok(plain) => {
            let is_address = plain.contains("://") && !plain.contains('@') || value::is_address(&plain);
            let is_word = plain.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_.".contains(&byte));
            let is_listed = lists.is_placeholder(&plain) || lists.is_stop_value(&plain);
            plain.len() >= 6 && !is_address && !is_word && !is_listed && !value::is_number(&plain)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_values_are_found() {
        let found = |text: &str| -> Vec<String> {
            let at = text.find(KEYWORDS[0]).unwrap();
            let found = values(text, &(at..at + KEYWORDS[0].len()), &ValueLists::default());
            found.into_iter().map(|range| text[range].to_owned()).collect()
        };
        let data = "data:\n  a: cTdYdzJtUHE5WnQ0\n  user: cTdYdzJtUHE5WnQ0\n  b: \"aHR0cHM6Ly9hLmlv\"\ntype: Opaque\nc: cTdYdzJtUHE5WnQ0\n";
        assert_eq!(found(&format!("kind: Secret\n{data}")), ["cTdYdzJtUHE5WnQ0"]);
        assert_eq!(found(&format!("{data}kind: Secret")), ["cTdYdzJtUHE5WnQ0"]);
        assert!(found(&format!("kind: SecretStore\n{data}")).is_empty());
        assert!(found(&format!("{data}---\nkind: Secret\n")).is_empty());
    }
}
