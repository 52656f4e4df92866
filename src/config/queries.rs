//! Saved queries with optional keys: the table `[queries]` of the configuration.

use toml::Spanned;
use toml::de::DeValue;

use crate::base::text::clean;
use crate::config::reader::{ConfigProblems, advice, wrong_type};
use crate::keymap::{Key, Keymap, Place};
use crate::search::query::Query;

/// The name of the table.
pub(super) const QUERIES: &str = "queries";

/// A saved query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedQuery {
    /// The name.
    pub name: String,
    /// The query, which is valid.
    pub query: String,
    /// The key that runs the query.
    pub key: Option<Key>,
}

/// Reads the table in line order. The keys must not be bound to actions.
pub(super) fn read(reader: &mut ConfigProblems, value: &Spanned<DeValue<'_>>, keymap: &Keymap) -> Vec<SavedQuery> {
    let wanted = "a table of queries, such as [queries] and a line expensive = \"cost:>1\"";
    let Some(table) = reader.table(QUERIES, value, wanted) else { return Vec::new() };
    let mut rows: Vec<_> = table.iter().collect();
    rows.sort_by_key(|(name, _)| name.span().start);
    let mut queries = Vec::new();
    for (name, value) in rows {
        queries.extend(one(reader, (name.get_ref(), value), keymap, &queries));
    }
    queries
}

/// Reads one row. Its key must not be bound to an action or to an earlier one of the `queries`.
fn one(
    reader: &mut ConfigProblems,
    (name, value): (&str, &Spanned<DeValue<'_>>),
    keymap: &Keymap,
    queries: &[SavedQuery],
) -> Option<SavedQuery> {
    let (mut query, mut key) = (None, None);
    match value.get_ref() {
        DeValue::String(_) => query = text(reader, name, value, |text| read_query(name, text)),
        DeValue::Table(fields) => {
            for (field, value) in fields {
                match &**field.get_ref() {
                    "query" => query = text(reader, name, value, |text| read_query(name, text)),
                    "key" => key = text(reader, name, value, |key| read_key(name, key, keymap, queries)),
                    other => {
                        let advice = advice(other, "fields", ["query", "key"].into_iter());
                        reader.problem(field.span(), format!("{name:?}: unknown field {other:?}; {advice}"));
                    }
                }
            }
            if !fields.iter().any(|(field, _)| field.get_ref() == "query") {
                reader.problem(value.span(), format!("{name:?} has no query; add query = \"...\""));
            }
        }
        other => {
            let what = wrong_type("a query in quotes, or { query = \"cost:>1\", key = \"f2\" }", other);
            reader.problem(value.span(), format!("{name:?}: {what}"));
        }
    }
    Some(SavedQuery { name: name.into(), query: query?, key })
}

/// Parses a string, and records a problem if it fails.
fn text<T>(
    reader: &mut ConfigProblems,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    let read = match value.get_ref().as_str() {
        Some(text) => read(text),
        None => Err(format!("{name:?}: {}", wrong_type("a text in quotes", value.get_ref()))),
    };
    read.map_err(|what| reader.problem(value.span(), clean(&what).into_owned())).ok()
}

fn read_query(name: &str, text: &str) -> Result<String, String> {
    match Query::parse(text) {
        Ok(query) if query.is_empty() => Err(format!("{name:?}: the query is empty")),
        Ok(_) => Ok(text.to_owned()),
        Err(problem) => Err(format!("{name:?}: {problem}")),
    }
}

/// Parses an unbound key.
fn read_key(name: &str, text: &str, keymap: &Keymap, queries: &[SavedQuery]) -> Result<Key, String> {
    let key: Key = text.parse().map_err(|error| format!("{name:?}: {error}"))?;
    let action = Place::PANES.iter().find_map(|&place| keymap.resolve(place, key));
    let query = queries.iter().find(|other| other.key == Some(key));
    let owner = match (action, query) {
        (Some(action), _) => format!("{:?}", action.row().name),
        (None, Some(other)) => format!("the query {:?}", other.name),
        (None, None) => return Ok(key),
    };
    let key = key.to_string();
    Err(format!("key {key:?} is bound to both {owner} and the query {name:?}; give one of them another key"))
}
