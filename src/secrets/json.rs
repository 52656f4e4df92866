//! Redaction of JSON values: all strings and keys.

use serde_json::{Map, Value};

use super::redaction::{Redaction, Redactor};

impl Redaction<'_> {
    /// Collects the secrets in all strings and keys of a JSON value.
    pub fn collect_json(&mut self, value: &Value) {
        let mut rest = vec![(None, value)];
        while let Some((name, value)) = rest.pop() {
            match (value, name) {
                (Value::String(text), None) => self.collect(text),
                (Value::String(text), Some(name)) => self.collect_field(name, text),
                (Value::Array(items), name) => rest.extend(items.iter().rev().map(|item| (name, item))),
                (Value::Object(fields), _) => {
                    fields.keys().for_each(|name| self.collect(name));
                    rest.extend(fields.iter().rev().map(|(name, value)| (Some(name.as_str()), value)));
                }
                _ => {}
            }
        }
    }
}

/// Replaces the collected secrets in all strings and keys of a JSON value.
pub fn redact_json(redactor: &Redactor<'_>, value: &mut Value) {
    let mut rest: Vec<(Option<String>, &mut Value)> = vec![(None, value)];
    while let Some((name, value)) = rest.pop() {
        match value {
            Value::String(text) => {
                let redacted = match &name {
                    Some(name) => redactor.apply_field(name, text),
                    None => redactor.apply(text),
                };
                *text = redacted.into_owned();
            }
            Value::Array(items) => rest.extend(items.iter_mut().map(|item| (name.clone(), item))),
            Value::Object(fields) => {
                let old: Map<String, Value> = std::mem::take(fields);
                fields.extend(old.into_iter().map(|(name, value)| (redactor.apply(&name).into_owned(), value)));
                rest.extend(fields.iter_mut().map(|(name, value)| (Some(name.clone()), value)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::secrets::Rules;

    #[test]
    fn strings_and_keys_are_redacted() {
        let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
        let mut value = json!({"a": [1, {"b": format!("x {token}")}], token.clone(): null, "c": token});
        let mut redaction = Redaction::new(Rules::built_in());
        redaction.collect_json(&value);
        redact_json(&redaction.finish(), &mut value);
        let mark = "[github-token 1]";
        assert_eq!(value, json!({"a": [1, {"b": format!("x {mark}")}], mark: null, "c": mark}));
    }
}
