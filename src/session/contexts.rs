//! Model contexts of branch ends, from the lines of a file: the entries in the contexts of all ends, in a time that grows with
//! the number of entries and not with the lengths of all paths, and hashes of single contexts, to compare two versions of a
//! file. Needs about 100 bytes for each entry, much less than a tree.

use std::collections::{BTreeMap, HashMap, HashSet};

use twox_hash::XxHash3_64;

use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::json::edit::RawObject;
use crate::session::lines::{Line, LineCollector, NotASession};
use crate::session::links::{EntryIndex, IdHash, ParentLinks};
use crate::session::tree::context::{ContextEntries, ContextSource, context_entries};
use crate::session::tree::model_role::{ContextEdit, ContextRole, FirstKept, ModelRole, ModelSettings};

/// Collects the data of entries on which contexts depend.
#[derive(Debug, Default)]
pub(crate) struct ContextCollector {
    roles: Vec<ContextRole>,
    kept: Vec<(EntryIndex, FirstKept)>,
    edits: Vec<(EntryIndex, ContextEdit)>,
}

/// The data of the entries on which contexts depend.
struct CollectedContexts<'a> {
    roles: &'a [ContextRole],
    /// The first entry that each compaction keeps.
    first_kept: HashMap<EntryIndex, EntryIndex>,
    /// The target of each context edit, and `true` if it omits the target.
    edits: HashMap<EntryIndex, (EntryIndex, bool)>,
}

impl ContextCollector {
    /// Adds the next entry of the file.
    pub(crate) fn entry(&mut self, entry: &Entry<'_>) {
        let at = self.roles.len() as EntryIndex;
        self.roles.push(ContextRole::new(entry.kind, ModelRole::new(entry).messages));
        match entry.kind {
            EntryKind::Compaction => self.kept.push((at, FirstKept::new(entry))),
            EntryKind::ContextEdit => self.edits.extend(ContextEdit::new(entry).map(|edit| (at, edit))),
            _ => {}
        }
    }

    fn source(&self, lines: &LineCollector, links: &ParentLinks) -> CollectedContexts<'_> {
        let version = lines.header().map_or(1.0, |header| header.version);
        let resolve = |&(at, kept): &(EntryIndex, FirstKept)| Some((at, kept.resolve(links, version, &lines.headers)?));
        let edit =
            |(at, edit): &(EntryIndex, ContextEdit)| Some((*at, (links.find(edit.target)?, edit.words.is_none())));
        CollectedContexts {
            roles: &self.roles,
            first_kept: self.kept.iter().filter_map(resolve).collect(),
            edits: self.edits.iter().filter_map(edit).collect(),
        }
    }

    /// Returns the entries to which compactions and context edits refer.
    pub(crate) fn referenced(&self, lines: &LineCollector, links: &ParentLinks) -> Vec<EntryIndex> {
        let CollectedContexts { first_kept, edits, .. } = self.source(lines, links);
        first_kept.into_values().chain(edits.into_values().map(|(target, _)| target)).collect()
    }

    /// Returns `true` for each entry that is in the context of a branch end or of one of these entries, as in
    /// [`context`](crate::session::tree::context::context) at each of them.
    pub(crate) fn in_context(&self, lines: &LineCollector, links: &ParentLinks, others: &[EntryIndex]) -> Vec<bool> {
        let source = self.source(lines, links);
        let stubs = lines.stubs(links);
        let is_end = |&at: &EntryIndex, children: u32| children == 0 && !stubs[at as usize];
        let ends = (0..).zip(links.child_counts(&stubs)).filter(|(at, children)| is_end(at, *children));
        let ends = ends.map(|(at, _)| at).chain(others.iter().copied());
        // Then, a context edit is below its target on each path.
        let is_ordered = links.parents.iter().zip(0..).all(|(parent, at)| parent.is_none_or(|parent| parent < at))
            && source.edits.iter().all(|(at, (target, _))| target < at);
        let mut in_context = vec![false; self.roles.len()];
        // The entries above which the contexts of all further ends are known, and those above which the entries are known
        // that a compaction keeps from this first one on.
        let mut is_known = vec![false; self.roles.len()];
        let mut kept_from: Vec<Option<EntryIndex>> = vec![None; self.roles.len()];
        for end in ends {
            let (mut path, mut kept) = (Vec::new(), Vec::new());
            let (mut compaction, mut first_kept, mut is_kept) = (None, None, false);
            // The edited entries above the current one.
            let mut edited = HashSet::new();
            for at in links.to_root(end) {
                let here = at as usize;
                if is_ordered && edited.is_empty() {
                    if compaction.is_none() && std::mem::replace(&mut is_known[here], true) {
                        break;
                    }
                    if first_kept.is_some() {
                        is_kept = kept_from[here] == first_kept;
                        if is_kept {
                            break;
                        }
                        kept.push(here);
                    }
                }
                path.push(at);
                edited.extend(source.edits.get(&at).map(|(target, _)| *target));
                edited.remove(&at);
                if compaction.is_none() && self.roles[here] == ContextRole::Compaction {
                    (compaction, first_kept) = (Some(path.len()), source.first_kept(at));
                }
                if compaction.is_some() && first_kept.is_none_or(|first| first == at) {
                    is_kept = first_kept.is_some();
                    break;
                }
            }
            // Without its first kept entry on the path, a compaction keeps none.
            match compaction {
                Some(len) if !is_kept => path.truncate(len),
                _ => kept.iter().for_each(|&here| kept_from[here] = first_kept),
            }
            let mut omitted: HashMap<EntryIndex, bool> = HashMap::new();
            for (target, omits) in path.iter().filter_map(|at| source.edits.get(at)) {
                omitted.entry(*target).or_insert(*omits);
            }
            for (place, &at) in path.iter().enumerate() {
                in_context[at as usize] |= omitted.get(&at) != Some(&true)
                    && match self.roles[at as usize] {
                        ContextRole::Nothing => false,
                        ContextRole::Message => true,
                        ContextRole::SystemMessage => compaction.is_none_or(|len| place < len),
                        ContextRole::Compaction => compaction == Some(place + 1),
                    };
            }
        }
        in_context
    }
}

impl ContextSource for CollectedContexts<'_> {
    fn role(&self, at: EntryIndex) -> ContextRole {
        self.roles[at as usize]
    }

    fn first_kept(&self, compaction: EntryIndex) -> Option<EntryIndex> {
        self.first_kept.get(&compaction).copied()
    }

    fn edit(&self, at: EntryIndex) -> Option<(EntryIndex, bool)> {
        self.edits.get(&at).copied()
    }
}

/// Hashes the model contexts at all branch ends and labels of a file. Collects its lines in order.
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
            Some(object) => XxHash3_64::oneshot(&object.without(&["parentId"])),
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
        let is_end = |at: &EntryIndex| children[*at as usize] == 0 && !stubs[*at as usize];
        let ends = (0..self.texts.len() as EntryIndex).filter(is_end);
        let labeled = self.lines.labels(&links).into_keys();
        let source = self.contexts.source(&self.lines, &links);
        let (mut path, mut bytes) = (Vec::new(), Vec::new());
        let hash = |end: EntryIndex| {
            path.clear();
            path.extend(links.to_root(end));
            path.reverse();
            let id = |at: EntryIndex| self.lines.ids[at as usize].id.map_or(at.into(), IdHash::value);
            let ContextEntries { compaction, entries, edits, .. } = context_entries(&source, &path);
            let text = |at: EntryIndex| self.texts[at as usize];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tree::context::context;
    use crate::session::tree::{Tree, TreeLines};
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn entries_in_contexts_are_those_of_each_branch_end(
            entries in proptest::collection::vec((0u8..7, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..16),
        ) {
            let mut lines = vec![SESSION[0].to_string()];
            for (at, (kind, parent, other)) in entries.iter().enumerate() {
                let parent = if at == 0 { "null".into() } else { format!("\"{}\"", parent.index(at)) };
                let other = other.index(entries.len());
                let fields = match kind {
                    0 => r#""type":"message","message":{"role":"system","content":"x"}"#.into(),
                    1 => format!(r#""type":"compaction","summary":"x","firstKeptEntryId":"{other}""#),
                    2 => format!(r#""type":"context_edit","targetId":"{other}""#),
                    3 => format!(r#""type":"context_edit","targetId":"{other}","replacement":{{"content":"x"}}"#),
                    _ => r#""type":"message","message":{"role":"user","content":"x"}"#.into(),
                };
                lines.push(format!(r#"{{"id":"{at}","parentId":{parent},{fields}}}"#));
            }
            let (mut tree, mut all, mut contexts) = (TreeLines::new(""), LineCollector::default(), ContextCollector::default());
            for line in &lines {
                let line = Line::new(0, line.as_bytes(), true);
                tree.line(line);
                let read = line.read();
                all.note(&line, &read).into_iter().for_each(|entry| contexts.entry(entry));
            }
            let tree = Tree::build([tree]).unwrap();
            let labeled: Vec<EntryIndex> = (0..entries.len() as EntryIndex).filter(|at| at % 3 == 0).collect();
            let mut expected = vec![false; entries.len()];
            for at in 0..entries.len() as EntryIndex {
                if labeled.contains(&at) || tree.branches(at).next().is_none() && !tree.is_stub(at) {
                    context(&tree, Some(at)).entries.iter().for_each(|&at| expected[at as usize] = true);
                }
            }
            let found = contexts.in_context(&all, &all.parent_links(), &labeled);
            prop_assert_eq!(found, expected, "{}", lines.join("\n"));
        }
    }
}
