//! Migration of session files of version 1 or 2 to version 3, as pi does when it opens them (0.87.1). Unchanged lines
//! keep their bytes.
//!
//! pi cannot open a version 1 file with a number, a string or `true` on a line, and an array breaks its chain of
//! entries. pitree keeps such lines and excludes them from the chain.

use std::collections::HashSet;

use crate::session::entry::parse;
use crate::session::json::JsonReader;
use crate::session::json::edit::{RawObject, quote};
use crate::session::write::line::new_id;

/// A line that is a value for pi; `true` if it is a header.
type MigrateValue<'a> = (&'a [u8], bool);

/// Migrates the contents of an old file. In version 1, every entry gets an ID and the previous entry as its parent. A
/// compaction's `firstKeptEntryIndex`, an index into the values of the file including the header, becomes
/// `firstKeptEntryId`. In both versions, the role `hookMessage` becomes `custom`. IDs of version 2 stay. pi drops lines
/// that are blank, falsy or not JSON. The n-th entry of the new file is the n-th entry of the old file. Returns `None` if
/// the file is not a session, or has version 3 or newer, which pi does not change.
pub fn migrate(file: &[u8], random: &mut dyn FnMut() -> u128) -> Option<Vec<u8>> {
    let mut values = Vec::new();
    let mut version = None;
    for raw in file.split(|&b| b == b'\n') {
        let Ok(Some(entry)) = parse::line(raw) else { continue };
        if values.is_empty() {
            version = entry.starts_session().then(|| entry.version.unwrap_or(1.0));
        }
        values.push((raw, entry.is_header()));
    }
    let version = version.filter(|version| *version < 3.0)?;
    let mut migrated = Vec::with_capacity(file.len() + if version < 2.0 { 48 * values.len() } else { 16 });
    let mut chain = (version < 2.0).then(|| IdChain::new(values.len()));
    for at in 0..values.len() {
        let (raw, is_header) = values[at];
        match RawObject::new(raw) {
            None => migrated.extend_from_slice(raw),
            Some(object) if is_header => {
                migrated.extend(object.with(&[("version", Some(b"3"))]));
            }
            Some(object) => {
                let message = new_role(&object);
                let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
                changes.extend(message.map(|message| ("message", Some(message))));
                if let Some(chain) = &mut chain {
                    changes.extend(chain.assign(&values, at, &object, random));
                }
                migrated.extend(object.with(&changes));
            }
        }
        migrated.push(b'\n');
    }
    Some(migrated)
}

/// Returns a message with the role `hookMessage` with its new role `custom`.
fn new_role(object: &RawObject<'_>) -> Option<Vec<u8>> {
    if object.text("type")? != "message" {
        return None;
    }
    let message = RawObject::new(object.get("message")?)?;
    (message.text("role")? == "hookMessage").then(|| message.with(&[("role", Some(b"\"custom\""))]))
}

/// The new IDs of version 1 entries.
struct IdChain {
    ids: Vec<Option<String>>,
    taken: HashSet<String>,
    parent: Option<usize>,
}

impl IdChain {
    fn new(len: usize) -> Self {
        Self { ids: vec![None; len], taken: HashSet::new(), parent: None }
    }

    /// Assigns an ID to the entry `at` and returns its changes.
    fn assign(
        &mut self,
        values: &[MigrateValue<'_>],
        at: usize,
        object: &RawObject<'_>,
        random: &mut dyn FnMut() -> u128,
    ) -> Vec<(&'static str, Option<Vec<u8>>)> {
        let id = new_id(random, |id| self.taken.contains(id));
        let parent = self.parent.and_then(|parent| self.ids[parent].as_deref()).map_or("null".into(), quote);
        let mut changes = vec![("id", Some(quote(&id).into_bytes())), ("parentId", Some(parent.into_bytes()))];
        self.taken.insert(id.clone());
        self.ids[at] = Some(id);
        self.parent = Some(at);
        if object.text("type").as_deref() != Some("compaction") {
            return changes;
        }
        let Some(index) = object.get("firstKeptEntryIndex").and_then(|raw| JsonReader::new(raw).opt_number().ok()?)
        else {
            return changes;
        };
        let target = (index >= 0.0 && index.fract() == 0.0 && index < values.len() as f64).then_some(index as usize);
        if let Some(target) = target.filter(|&target| !values[target].1) {
            let id = match &self.ids[target] {
                Some(id) => Some(quote(id).into_bytes()),
                // pi has not reached an entry after the compaction yet, and uses its old ID, if there is one.
                None => RawObject::new(values[target].0).and_then(|later| later.get("id")).map(<[u8]>::to_vec),
            };
            changes.push(("firstKeptEntryId", id));
        }
        changes.push(("firstKeptEntryIndex", None));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::lines::Line;
    use crate::session::links::EntryIndex;
    use crate::session::tree::context::context;
    use crate::session::tree::{Tree, TreeLines};
    use proptest::prelude::*;

    fn migrated(lines: &[&str]) -> Vec<String> {
        let mut count = 0u128;
        let mut random = || {
            count += 1;
            count << 96
        };
        let bytes = migrate(lines.join("\n").as_bytes(), &mut random).unwrap();
        String::from_utf8(bytes).unwrap().lines().map(str::to_string).collect()
    }

    fn tree(lines: &[&str]) -> Tree {
        let mut part = TreeLines::new("");
        lines.iter().for_each(|line| part.line(Line::new(0, line.as_bytes(), true)));
        Tree::build([part]).unwrap()
    }

    #[test]
    fn assigns_ids_in_file_order() {
        let lines = [
            r#"{"type":"session","id":"s"}"#,
            r#"{"type":"x"}"#,
            "5",
            "[1]",
            r#"{"type":"compaction","firstKeptEntryIndex":3,"id":"old"}"#,
            r#"{"type":"message","message":{"role":"x","role":"hookMessage"}}"#,
        ];
        let wanted = [
            r#"{"type":"session","id":"s","version":3}"#,
            r#"{"type":"x","id":"00000001","parentId":null}"#,
            "5",
            "[1]",
            r#"{"type":"compaction","id":"00000002","parentId":"00000001"}"#,
            r#"{"type":"message","message":{"role":"x","role":"custom"},"id":"00000003","parentId":"00000002"}"#,
        ];
        assert_eq!(migrated(&lines), wanted);
    }

    #[test]
    fn rejects_files_that_are_not_old() {
        let mut random = || 0;
        for file in [
            "",
            "5",
            r#"{"type":"session","id":5}"#,
            r#"{"type":"session","id":"s","version":3}"#,
            r#"{"type":"session","id":"s","version":"4"}"#,
        ] {
            assert_eq!(migrate(file.as_bytes(), &mut random), None);
        }
    }

    const KINDS: [&str; 8] = [
        r#"{"type":"message","message":{"role":"user","content":"u"}}"#,
        r#"{"type":"message","message":{"role":"assistant","provider":"p","model":"m"},"id":"old","parentId":"x"}"#,
        r#"{"type":"message","message":{"role":"system"}}"#,
        r#"{"type":"model_change","provider":"p","modelId":"n"}"#,
        r#"{"type":"session","id":"again"}"#,
        "not JSON",
        "",
        r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
    ];

    proptest! {
        #[test]
        fn keeps_the_tree_and_the_context(kinds in proptest::collection::vec(0usize..11, 0..20), index in 0usize..20) {
            let lines: Vec<String> = kinds.iter().map(|&kind| match KINDS.get(kind) {
                Some(line) => (*line).to_string(),
                None => format!(r#"{{"type":"compaction","firstKeptEntryIndex":{}}}"#, index % (kind + 5)),
            }).collect();
            let mut old = vec![r#"{"type":"session","id":"s","cwd":"/"}"#];
            old.extend(lines.iter().map(String::as_str));
            let new = migrated(&old);
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let (old, new) = (tree(&old), tree(&new));
            prop_assert!(new.problems.is_empty());
            prop_assert_eq!(new.header.version, 3.0);
            prop_assert_eq!(new.nodes.len(), old.nodes.len());
            for at in 0..old.nodes.len() as EntryIndex {
                prop_assert_eq!(&new.nodes[at as usize].text, &old.nodes[at as usize].text);
                prop_assert_eq!(new.parent(at), old.parent(at));
                prop_assert_eq!(context(&new, Some(at)), context(&old, Some(at)));
            }
        }
    }
}
