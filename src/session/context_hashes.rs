//! Hashes of the model contexts at all branch ends and labels of a file, to compare two versions of it. Needs about 100
//! bytes for each entry, much less than a tree.

use std::collections::{BTreeMap, HashMap};

use twox_hash::XxHash3_64;

use crate::session::contexts::ContextCollector;
use crate::session::json::edit::RawObject;
use crate::session::lines::{Line, LineCollector, NotASession};
use crate::session::links::{IdHash, Index};
use crate::session::tree::context::{ContextEntries, ContextSource, context_entries};
use crate::session::tree::model_role::{ContextRole, ModelSettings};

/// Collects the lines of a file in order.
#[derive(Debug)]
pub(crate) struct ContextHasher {
    with_texts: bool,
    lines: LineCollector,
    contexts: ContextCollector,
    settings: ModelSettings,
    /// The hash of the line of each entry without the ID of its parent; 0 without the texts.
    texts: Vec<u64>,
    /// The index of the model or the thinking level of each entry; 0 for none.
    setting: Vec<u16>,
}

impl ContextHasher {
    /// Starts a file. Contexts are compared with the texts of entries, or without them.
    pub(crate) fn new(with_texts: bool) -> Self {
        Self {
            with_texts,
            lines: LineCollector::default(),
            contexts: ContextCollector::default(),
            settings: ModelSettings::default(),
            texts: Vec::new(),
            setting: Vec::new(),
        }
    }

    /// Adds the next line.
    pub(crate) fn line(&mut self, line: &Line<'_>) {
        let read = line.read();
        let Some(entry) = self.lines.note(line, &read) else { return };
        self.contexts.entry(entry);
        let text = || match RawObject::new(line.bytes) {
            Some(object) => XxHash3_64::oneshot(&object.with(&[("parentId", None)])),
            None => XxHash3_64::oneshot(line.bytes),
        };
        self.texts.push(if self.with_texts { text() } else { 0 });
        self.setting.push(self.settings.note(entry));
    }

    /// Returns the hash of the model context at each branch end and each label, by the hash of its ID.
    ///
    /// # Errors
    /// The file is not a session.
    pub(crate) fn finish(self) -> Result<BTreeMap<u64, u64>, NotASession> {
        self.lines.session()?;
        let links = self.lines.parent_links();
        let stubs = self.lines.stubs(&links);
        let children = links.child_counts(&stubs);
        let is_end = |at: &Index| children[*at as usize] == 0 && !stubs[*at as usize];
        let ends = (0..self.texts.len() as Index).filter(is_end);
        let labeled = self.lines.labels(&links).into_keys();
        let edits = self.contexts.edits.iter();
        let edits = edits.filter_map(|(at, edit)| Some((*at, (links.find(edit.target)?, edit.words.is_none()))));
        let source = Source {
            roles: &self.contexts.roles,
            first_kept: self.contexts.first_kept(&self.lines, &links),
            edits: edits.collect(),
        };
        let (mut path, mut bytes) = (Vec::new(), Vec::new());
        let hash = |end: Index| {
            path.clear();
            path.extend(links.to_root(end));
            path.reverse();
            let id = |at: Index| self.lines.ids[at as usize].id.map_or(at.into(), IdHash::value);
            let ContextEntries { compaction, entries, edits } = context_entries(&source, &path);
            let text = |at: Index| self.texts[at as usize];
            let mut edits: Vec<[u64; 2]> = edits.into_iter().map(|(target, edit)| [id(target), text(edit)]).collect();
            edits.sort_unstable();
            bytes.clear();
            let parts = entries.iter().map(|&at| [id(at), text(at)]).chain([[u64::MAX; 2]]).chain(edits);
            parts.flatten().for_each(|part| bytes.extend(part.to_le_bytes()));
            let settings = path.iter().rev().map(|&at| self.setting[at as usize]);
            let others = (compaction.map(id), self.settings.last(settings));
            bytes.extend(format!("{others:?}").as_bytes());
            (id(end), XxHash3_64::oneshot(&bytes))
        };
        Ok(ends.chain(labeled).map(hash).collect())
    }
}

/// The data of the entries on which contexts depend.
struct Source<'a> {
    roles: &'a [ContextRole],
    first_kept: HashMap<Index, Index>,
    edits: HashMap<Index, (Index, bool)>,
}

impl ContextSource for Source<'_> {
    fn role(&self, at: Index) -> ContextRole {
        self.roles[at as usize]
    }

    fn first_kept(&self, compaction: Index) -> Option<Index> {
        self.first_kept.get(&compaction).copied()
    }

    fn edit(&self, at: Index) -> Option<(Index, bool)> {
        self.edits.get(&at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(lines: &[&str], with_texts: bool) -> BTreeMap<u64, u64> {
        let mut hasher = ContextHasher::new(with_texts);
        lines.iter().for_each(|line| hasher.line(&Line::new(0, line.as_bytes(), true)));
        hasher.finish().unwrap()
    }

    const SESSION: [&str; 7] = [
        r#"{"type":"session","version":3,"id":"s"}"#,
        r#"{"type":"model_change","id":"m","parentId":null,"provider":"p","modelId":"one"}"#,
        r#"{"type":"custom","id":"c","parentId":"m","customType":"x"}"#,
        r#"{"type":"message","id":"a","parentId":"c","message":{"role":"user","content":"one"}}"#,
        r#"{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"two"}}"#,
        r#"{"type":"label","id":"l","parentId":"b","targetId":"a","label":"here"}"#,
        r#"{"type":"message","id":"d","parentId":"a","message":{"role":"user","content":"three"}}"#,
    ];

    #[test]
    fn each_branch_end_and_label_has_a_hash() {
        let ids: Vec<u64> = ["a", "b", "d"].map(|id| IdHash::new(id.as_bytes()).value()).into();
        let mut found: Vec<u64> = hashes(&SESSION, true).into_keys().collect();
        found.sort_unstable();
        let mut expected = ids;
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn entries_outside_of_contexts_do_not_count() {
        let mut without = SESSION.to_vec();
        without.remove(2);
        let parent = SESSION[3].replace(r#""parentId":"c""#, r#""parentId":"m""#);
        without[2] = &parent;
        assert_eq!(hashes(&without, true), hashes(&SESSION, true));
    }

    #[test]
    fn texts_models_and_order_count() {
        let before = hashes(&SESSION, true);
        for (at, from, to) in [(3, "one", "ONE"), (1, "one", "two"), (6, "\"a\"", "\"b\"")] {
            let changed = SESSION[at].replace(from, to);
            let mut lines = SESSION.to_vec();
            lines[at] = &changed;
            assert_ne!(hashes(&lines, true), before, "{changed}");
            assert_eq!(hashes(&lines, false) == hashes(&SESSION, false), at == 3, "{changed}");
        }
    }
}
