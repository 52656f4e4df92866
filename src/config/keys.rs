//! Key bindings: the table `[keys]` of the configuration.

use std::collections::HashMap;

use toml::Spanned;
use toml::de::DeValue;

use crate::config::reader::{ConfigProblems, wrong_type};
use crate::keymap::{Action, Key, Keymap, KeymapError};

/// The name of the table.
pub(super) const KEYS: &str = "keys";

/// Returns the keymap with the changes of the table, or `None` if the table has errors.
pub(super) fn read(reader: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> Option<Keymap> {
    let wanted = "a table of actions, such as [keys] and a line quit = [\"q\"]";
    let table = reader.table(KEYS, value, wanted)?;
    let mut overrides = Vec::new();
    let mut lines = HashMap::new();
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let Some(action) = Action::from_name(name) else {
            let hint = match Action::nearest(name) {
                Some(action) => format!("did you mean {:?}?", action.row().name),
                None => "pitree config --default lists all".to_owned(),
            };
            reader.problem(key.span(), format!("unknown action {name:?} in [{KEYS}]; {hint}"));
            continue;
        };
        if let Some(keys) = read_list(reader, name, value) {
            lines.insert(action, reader.line(&key.span()));
            overrides.push((action, keys));
        }
    }
    match Keymap::new(&overrides) {
        Ok(keymap) => Some(keymap),
        Err(errors) => {
            for error in errors {
                // At least one of two actions in conflict was configured, because the defaults have no conflicts.
                let line = match error {
                    KeymapError::Conflict { first, second, .. } => lines.get(&first).max(lines.get(&second)),
                    KeymapError::NoKey(action) => lines.get(&action),
                };
                reader.problem_in_line(line.copied().unwrap_or(1), error.to_string());
            }
            None
        }
    }
}

/// Returns the valid keys of a list, or `None` if the list is not empty and all keys are invalid.
fn read_list(reader: &mut ConfigProblems, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<Key>> {
    let items: Vec<_> = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    let mut keys = Vec::new();
    for &item in &items {
        let parsed = match item.get_ref() {
            DeValue::String(text) => text.parse::<Key>(),
            other => Err(wrong_type("a list of keys, such as [\"q\", \"ctrl+c\"]", other)),
        };
        match parsed {
            Ok(key) if keys.contains(&key) => {}
            Ok(key) => keys.push(key),
            Err(what) => reader.problem(item.span(), format!("{name:?}: {what}")),
        }
    }
    (items.is_empty() || !keys.is_empty()).then_some(keys)
}
