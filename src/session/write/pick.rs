//! Entries of one branch appended to another one: copies with new IDs, each the child of the one before. Other bytes stay
//! the same, except usage: the copies cost nothing, and the usage of an answer is that of another context. pi takes an
//! answer without usage as one of unknown size (0.87.1, 1.5.2, 1.6.0).

use std::collections::{HashMap, HashSet};

use crate::session::json::edit::{RawObject, quote};
use crate::session::write::fork::js_key;

/// The usage of a copied answer.
const NO_USAGE: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;

/// The copies so far.
#[derive(Debug, Default)]
pub(crate) struct PickedLines {
    /// The ID of the last line.
    parent: Option<String>,
    /// The new ID of each copied entry.
    ids: HashMap<Vec<u8>, String>,
    new_ids: HashSet<String>,
}

impl PickedLines {
    /// Starts after the line with an ID.
    pub(crate) fn after(parent: Option<String>) -> Self {
        Self { parent, ..Self::default() }
    }

    /// Returns `true` if a copy has the ID.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.new_ids.contains(id)
    }

    /// Returns the copy of a line with a new ID. A context edit targets the copy of its target. Returns `None` if the line
    /// is not an entry with an ID, or an edit whose target was not copied.
    pub(crate) fn line(&mut self, line: &[u8], id: String) -> Option<Vec<u8>> {
        let object = RawObject::new(line)?;
        let old = js_key(object.get("id")?);
        let mut changes = vec![
            ("id", Some(quote(&id).into_bytes())),
            ("parentId", Some(self.parent.as_deref().map_or("null".into(), quote).into_bytes())),
        ];
        match object.text("type").as_deref() {
            Some("context_edit") => {
                let target = self.ids.get(&js_key(object.get("targetId")?))?;
                changes.push(("targetId", Some(quote(target).into_bytes())));
            }
            Some("message") => {
                let message = RawObject::new(object.get("message")?)?;
                if message.get("usage").is_some() {
                    let is_answer = message.text("role").as_deref() == Some("assistant");
                    let message = message.with(&[("usage", is_answer.then_some(NO_USAGE))]);
                    changes.push(("message", Some(message)));
                }
            }
            _ => changes.push(("usage", None)),
        }
        self.parent = Some(id.clone());
        self.new_ids.insert(id.clone());
        self.ids.insert(old, id);
        Some(object.with(&changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_follow_each_other_and_cost_nothing() {
        let mut lines = PickedLines::after(Some("end".into()));
        let mut copy =
            |line: &str, id: &str| lines.line(line.as_bytes(), id.into()).map(|line| String::from_utf8(line).unwrap());
        let answer = r#"{"type":"message","id":"a","parentId":"x","n":1e999,"message":{"role":"assistant","usage":{"input":7},"content":[]}}"#;
        let copied = copy(answer, "1").unwrap();
        let wanted = format!(
            r#"{{"type":"message","id":"1","parentId":"end","n":1e999,"message":{{"role":"assistant","usage":{NO_USAGE},"content":[]}}}}"#
        );
        assert_eq!(copied, wanted);
        let result =
            r#"{"type":"message","id":"b","parentId":"a","message":{"role":"toolResult","usage":{"input":7}}}"#;
        assert_eq!(
            copy(result, "2").unwrap(),
            r#"{"type":"message","id":"2","parentId":"1","message":{"role":"toolResult"}}"#
        );
        let edit = |target: &str| {
            format!(r#"{{"type":"context_edit","id":"c","parentId":"b","targetId":"{target}","replacement":null}}"#)
        };
        assert_eq!(
            copy(&edit("a"), "3").unwrap(),
            r#"{"type":"context_edit","id":"3","parentId":"2","targetId":"1","replacement":null}"#
        );
        assert_eq!([copy(&edit("gone"), "4"), copy("[]", "4"), copy(r#"{"type":"x"}"#, "4")], [None, None, None]);
        let summary = r#"{"type":"branch_summary","id":"d","parentId":"c","usage":{"input":7},"summary":"s"}"#;
        assert_eq!(copy(summary, "5").unwrap(), r#"{"type":"branch_summary","id":"5","parentId":"3","summary":"s"}"#);
        assert!(lines.has("5") && !lines.has("d"));
    }
}
