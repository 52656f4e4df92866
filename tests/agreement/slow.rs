//! A minimal reader of session files: serde_json for every line, and nested loops.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A session: its header and its entries.
pub(crate) struct Session {
    pub(crate) header: Value,
    pub(crate) entries: Vec<Value>,
}

/// The result of reading a file.
pub(crate) enum Reading {
    /// A session.
    Session(Session),
    /// The first value is not a header.
    NotASession,
    /// serde_json cannot read a line; JavaScript might, or skips it.
    Unreadable,
}

pub(crate) fn read(path: &Path) -> Reading {
    let bytes = fs::read(path).unwrap();
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !is_blank(line));
    let Ok(values) = lines.map(serde_json::from_slice).collect::<Result<Vec<Value>, _>>() else {
        return Reading::Unreadable;
    };
    let mut values = values.into_iter().filter(|value| !is_falsy(value));
    match values.next() {
        Some(header) if header["type"] == "session" && header["id"].is_string() => {
            let entries = values.filter(|value| value["type"] != "session").collect();
            Reading::Session(Session { header, entries })
        }
        _ => Reading::NotASession,
    }
}

/// Returns `true` if JavaScript's `trim` returns an empty string.
fn is_blank(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|line| line.chars().all(|c| c == '\u{feff}' || c.is_whitespace()))
}

/// Returns `true` if the value is falsy in JavaScript.
fn is_falsy(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value == "" || value.as_f64() == Some(0.0)
}

/// Returns an ID: a string, or a number as text.
pub(crate) fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

impl Session {
    fn is_old(&self) -> bool {
        self.header["version"].as_f64().unwrap_or(1.0) < 2.0
    }

    /// Returns the index of the last entry with an ID; entries of version 1 have none.
    fn find(&self, wanted: &str) -> Option<usize> {
        if self.is_old() {
            return None;
        }
        self.entries.iter().rposition(|entry| id(&entry["id"]).as_deref() == Some(wanted))
    }

    /// Returns the parent of each entry. Cycles are cut at their first entry.
    pub(crate) fn parents(&self) -> Vec<Option<usize>> {
        if self.is_old() {
            return (0..self.entries.len()).map(|at| at.checked_sub(1)).collect();
        }
        let named = |entry: &Value| id(&entry["parentId"]).filter(|parent| Some(parent) != id(&entry["id"]).as_ref());
        let mut parents: Vec<Option<usize>> =
            self.entries.iter().map(|entry| named(entry).and_then(|parent| self.find(&parent))).collect();
        for start in 0..parents.len() {
            let mut at = parents[start];
            for _ in 0..parents.len() {
                if at == Some(start) {
                    parents[start] = None;
                }
                at = at.and_then(|at| parents[at]);
            }
        }
        parents
    }

    /// Returns the numbers of branch points and of branch ends. A subtree of bookkeeping only is no branch, unless it
    /// ends with the last entry of the file.
    pub(crate) fn branches(&self) -> (usize, usize) {
        const BOOKKEEPING: [&str; 7] =
            ["label", "session_info", "model_change", "thinking_level_change", "custom", "usage", "context_edit"];
        let parents = self.parents();
        let mut is_kept: Vec<bool> = self
            .entries
            .iter()
            .map(|entry| !entry["type"].as_str().is_some_and(|kind| BOOKKEEPING.contains(&kind)))
            .collect();
        if let Some(last) = is_kept.last_mut() {
            *last = true;
        }
        for _ in 0..parents.len() {
            for at in (0..parents.len()).filter(|&at| is_kept[at]).collect::<Vec<_>>() {
                parents[at].into_iter().for_each(|parent| is_kept[parent] = true);
            }
        }
        let all = || (0..parents.len()).filter(|&at| is_kept[at]);
        let children = |at: usize| all().filter(|&child| parents[child] == Some(at)).count();
        (all().filter(|&at| children(at) > 1).count(), all().filter(|&at| children(at) == 0).count())
    }

    pub(crate) fn message_count(&self) -> usize {
        self.entries.iter().filter(|entry| entry["type"] == "message").count()
    }

    /// Returns the number of entries with a label.
    pub(crate) fn label_count(&self) -> usize {
        let labels: Vec<&Value> = self.entries.iter().filter(|entry| entry["type"] == "label").collect();
        let is_labeled = |at: &usize| {
            let entry = id(&self.entries[*at]["id"]).filter(|id| self.find(id) == Some(*at));
            let last = labels.iter().rfind(|label| entry.is_some() && id(&label["targetId"]) == entry);
            last.is_some_and(|label| label["label"].as_str().is_some_and(|text| !text.is_empty()))
        };
        (0..self.entries.len()).filter(is_labeled).count()
    }

    fn usages(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().filter_map(|entry| match entry["type"].as_str()? {
            "message" => match entry["message"]["role"].as_str()? {
                "assistant" | "toolResult" => Some(&entry["message"]["usage"]),
                _ => None,
            },
            "compaction" | "branch_summary" | "usage" => Some(&entry["usage"]),
            _ => None,
        })
    }

    /// Returns the keys of the entries with their costs, without labels, which a fork writes again. Returns `None` if
    /// an entry has no ID or no time.
    pub(crate) fn known(&self) -> Option<Vec<((String, String), f64)>> {
        let entries = self.entries.iter().filter(|entry| entry["type"] != "label");
        let known = |entry: &Value| {
            let time = Some(&entry["timestamp"]).filter(|time| !time.is_null())?;
            let alone = Self { header: Value::Null, entries: vec![entry.clone()] };
            Some(((id(&entry["id"])?, time.to_string()), alone.cost()))
        };
        entries.map(known).collect()
    }

    pub(crate) fn cost(&self) -> f64 {
        let cost = |usage: &Value| match &usage["cost"] {
            Value::Object(parts) => match parts.get("total").and_then(Value::as_f64) {
                Some(total) => total,
                None => parts.values().map(number).sum(),
            },
            cost => number(cost),
        };
        self.usages().map(cost).sum()
    }

    pub(crate) fn tokens(&self) -> f64 {
        let tokens = |usage: &Value| {
            let parts: f64 =
                ["input", "output", "cacheRead", "cacheWrite"].map(|part| number(&usage[part])).iter().sum();
            if parts > 0.0 { parts } else { number(&usage["totalTokens"]) }
        };
        self.usages().map(tokens).sum()
    }
}
