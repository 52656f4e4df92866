//! Smaller versions of session files: without old snapshots of extensions, and without the content of large tool results
//! and images. A [`SlimPlanner`] reads the lines and decides; a [`SlimWriter`] changes them. All texts of people and
//! models stay, and so do IDs, order and times of the remaining entries.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;

use thiserror::Error;

use crate::base::sort;
use crate::session::contexts::ContextCollector;
use crate::session::digest::details::identity;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, RawTime};
use crate::session::json::edit::RawObject;
use crate::session::lines::{Line, LineCollector, NotASession};
use crate::session::links::{ById, EntryIndex, IdHash, ParentLinks};
use crate::session::problem::Problem;
use crate::session::write::shorten::{Shortening, saved, shorten};

/// The number of entries of a type from which on they count as snapshots.
const SNAPSHOTS: usize = 20;

/// Types whose entries are not snapshots: each has content of its own.
const NO_SNAPSHOTS: [&str; 1] = ["codemode-store"];

/// The prefix of the types of pi itself.
const OF_PI: &str = "pi.";

/// The rules of what to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlimRules {
    /// `true` to remove all but the last snapshot of an extension on each path to a branch end.
    pub snapshots: bool,
    /// Types of extension entries that are not removed.
    pub kept_types: Vec<String>,
    /// Remove the content of tool results and images over this number of bytes outside of the model context of every
    /// branch end and every label; `None` to keep them.
    pub outside: Option<u64>,
    /// Shorten those in a model context too, which changes what the model sees; `None` to keep them.
    pub inside: Option<u64>,
}

impl Default for SlimRules {
    fn default() -> Self {
        Self { snapshots: true, kept_types: Vec::new(), outside: Some(8192), inside: None }
    }
}

/// A number of entries, and the bytes that a rule saves there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlimSaving {
    /// The entries.
    pub count: usize,
    /// The saved bytes.
    pub bytes: u64,
}

impl AddAssign for SlimSaving {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

impl SlimSaving {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

/// The bytes that the rules save in a file, or would save if they were on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlimSavings {
    /// Snapshots by type, the largest saving first, with `true` if they are removed.
    pub snapshots: Vec<(String, SlimSaving, bool)>,
    /// Tool results and images outside of every context.
    pub outside: SlimSaving,
    /// Tool results and images in a context.
    pub inside: SlimSaving,
    /// The bytes saved with the rules.
    pub total: u64,
    /// Removable content that stays because forks or other sessions contain it too.
    pub shared: SlimSaving,
}

/// The reason why a file cannot be slimmed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SlimError {
    /// The file is not a session.
    #[error("{0}")]
    NotASession(#[from] NotASession),
    /// The links between entries are not reliable.
    #[error("damaged: {0}; run `pitree doctor --repair` first")]
    Damaged(Problem),
}

/// The change of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineChange {
    is_removed: bool,
    /// The offset of the line of the new parent; `Some(None)` for a root.
    parent: Option<Option<u64>>,
    shortening: Option<Shortening>,
}

/// The changes of a file by the offset of the line, in bytes.
#[derive(Debug, Default)]
pub struct SlimPlan {
    changes: HashMap<u64, LineChange>,
    /// The lines of entries that get other children.
    new_parents: HashSet<u64>,
    /// The savings.
    pub savings: SlimSavings,
}

impl SlimPlan {
    /// Returns `true` if nothing would change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Snapshots of a type.
#[derive(Debug, Default)]
struct Snapshots {
    name: String,
    /// The entries and their bytes.
    entries: Vec<(EntryIndex, u64)>,
}

/// A large tool result or image.
#[derive(Debug)]
struct LargeContent {
    at: EntryIndex,
    /// The bytes saved by removing and by shortening it.
    saved: [u64; 2],
}

/// Reads the lines of a file in order and decides what to remove.
#[derive(Debug)]
pub struct SlimPlanner<'a> {
    rules: &'a SlimRules,
    /// The keys of entries that other sessions contain too: they stay, so that families stay as they are.
    shared: &'a ById<()>,
    lines: LineCollector,
    contexts: ContextCollector,
    types: Vec<Snapshots>,
    by_type: ById<usize>,
    large: Vec<LargeContent>,
    is_shared: Vec<bool>,
    /// The IDs to which labels and branch summaries refer.
    targets: Vec<IdHash>,
}

impl<'a> SlimPlanner<'a> {
    /// Starts a file.
    pub fn new(rules: &'a SlimRules, shared: &'a ById<()>) -> Self {
        Self {
            rules,
            shared,
            lines: LineCollector::default(),
            contexts: ContextCollector::default(),
            types: Vec::new(),
            by_type: ById::default(),
            large: Vec::new(),
            is_shared: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// Reads the next line. Returns `false` if the file has too many entries to be a session.
    pub fn line(&mut self, line: &Line<'_>) -> bool {
        let read = line.read();
        if let Some(entry) = self.lines.note(line, &read) {
            self.entry(line, entry);
        }
        !self.lines.is_crowded()
    }

    fn entry(&mut self, line: &Line<'_>, entry: &Entry<'_>) {
        let at = self.is_shared.len() as EntryIndex;
        self.contexts.entry(entry);
        let id = self.lines.ids.last().and_then(|ids| ids.id);
        let key = identity(entry, id, at, entry.timestamp.and_then(RawTime::ms), line.bytes);
        self.is_shared.push(self.shared.contains_key(&key));
        self.targets.extend([entry.target_id, entry.from_id].into_iter().flatten().map(IdHash::of));
        // Of a line that is too long, only the beginning is known.
        if entry.is_cut || line.behind > 0 {
            return;
        }
        match entry.kind {
            EntryKind::Custom if id.is_some() => {
                let name = entry.custom_type.unwrap_or_default();
                let types = &mut self.types;
                let number = *self.by_type.entry(IdHash::of(name)).or_insert_with(|| {
                    types.push(Snapshots { name: name.text().into(), entries: Vec::new() });
                    types.len() - 1
                });
                types[number].entries.push((at, line.len + 1));
            }
            _ if entry.message.is_some() => {
                let least = [self.rules.outside, self.rules.inside].into_iter().flatten().min();
                let limit = least.unwrap_or(SlimRules::default().outside.unwrap_or_default());
                if line.len <= limit {
                    return;
                }
                let limits = [self.rules.outside.unwrap_or(limit), self.rules.inside.unwrap_or(limit)];
                let saved =
                    [Shortening::remove(limits[0]), Shortening::shorten(limits[1])].map(|how| saved(line.bytes, how));
                if saved != [0, 0] {
                    self.large.push(LargeContent { at, saved });
                }
            }
            _ => {}
        }
    }

    /// Decides after the last line.
    ///
    /// # Errors
    /// The file is not a session, or is damaged.
    pub fn finish(mut self) -> Result<SlimPlan, SlimError> {
        self.lines.session()?;
        let links = self.lines.parent_links();
        if let Some(problem) = self.lines.problems(&links).into_iter().next() {
            return Err(SlimError::Damaged(problem));
        }
        self.lines.ids = Vec::new(); // the memory is needed for the contexts
        let mut plan = SlimPlan::default();
        let protected = self.protected(&links);
        let mut is_removed = vec![false; protected.len()];
        self.snapshots(&links, &protected, (&mut is_removed, &mut plan.savings));
        let labeled: Vec<EntryIndex> = self.lines.labels(&links).into_keys().collect();
        let in_context = self.contexts.in_context(&self.lines, &links, &labeled);
        let offset = |at: EntryIndex| self.lines.offsets[at as usize];
        for LargeContent { at, saved: [removed, shortened] } in &self.large {
            let (saving, bytes, how) = match in_context[*at as usize] {
                false => (&mut plan.savings.outside, *removed, self.rules.outside.map(Shortening::remove)),
                true => (&mut plan.savings.inside, *shortened, self.rules.inside.map(Shortening::shorten)),
            };
            if bytes == 0 {
                continue;
            }
            if self.is_shared[*at as usize] {
                plan.savings.shared.add(bytes);
                continue;
            }
            saving.add(bytes);
            if let Some(how) = how {
                plan.savings.total += bytes;
                plan.changes.entry(offset(*at)).or_default().shortening = Some(how);
            }
        }
        // The nearest kept ancestor of each removed entry. Parents come first: see `snapshots`.
        let mut kept: Vec<Option<EntryIndex>> = vec![None; is_removed.len()];
        for (at, parent) in (0..).zip(&links.parents) {
            let parent = *parent;
            let removed_parent = parent.filter(|&parent| is_removed[parent as usize]);
            let nearest = removed_parent.map_or(parent, |parent| kept[parent as usize]);
            kept[at as usize] = nearest;
            if is_removed[at as usize] {
                plan.changes.entry(offset(at)).or_default().is_removed = true;
            } else if removed_parent.is_some() {
                let nearest = nearest.map(offset);
                plan.changes.entry(offset(at)).or_default().parent = Some(nearest);
                plan.new_parents.extend(nearest);
            }
        }
        Ok(plan)
    }

    /// Returns `true` for each entry that must stay: the last one, shared ones with their parents, and those to which
    /// others refer.
    fn protected(&self, links: &ParentLinks) -> Vec<bool> {
        let mut protected = self.is_shared.clone();
        for (at, parent) in links.parents.iter().enumerate() {
            if let Some(parent) = parent.filter(|_| self.is_shared[at]) {
                protected[parent as usize] = true;
            }
        }
        let targets = self.targets.iter().filter_map(|&id| links.find(id));
        for at in targets.chain(self.contexts.referenced(&self.lines, links)) {
            protected[at as usize] = true;
        }
        protected.last_mut().into_iter().for_each(|last| *last = true);
        protected
    }

    /// Finds the snapshots to remove: all except those after which a branch end follows without another one of the type.
    fn snapshots(
        &self,
        links: &ParentLinks,
        protected: &[bool],
        (is_removed, savings): (&mut [bool], &mut SlimSavings),
    ) {
        // pi writes parents before their children. In another order, snapshots stay.
        if links.parents.iter().zip(0..).any(|(parent, at)| parent.is_some_and(|parent| parent >= at)) {
            return;
        }
        let mut is_end = vec![true; protected.len()];
        links.parents.iter().flatten().for_each(|&parent| is_end[parent as usize] = false);
        self.targets.iter().filter_map(|&id| links.find(id)).for_each(|at| is_end[at as usize] = true);
        for Snapshots { name, entries } in &self.types {
            if entries.len() < SNAPSHOTS || name.starts_with(OF_PI) || NO_SNAPSHOTS.contains(&&**name) {
                continue;
            }
            let is_on = self.rules.snapshots && !self.rules.kept_types.contains(name);
            let mut saving = SlimSaving::default();
            let mut is_last = is_end.clone(); // an end is at or below the entry, without a snapshot between them
            let mut left = entries.iter().rev().peekable();
            for at in (0..links.parents.len()).rev() {
                let snapshot = left.next_if(|(entry, _)| *entry as usize == at);
                match snapshot {
                    Some(_) if is_last[at] => {}
                    Some(&(_, bytes)) if !protected[at] => {
                        saving.add(bytes);
                        is_removed[at] |= is_on;
                    }
                    Some(&(_, bytes)) if self.is_shared[at] => savings.shared.add(bytes),
                    Some(_) => {}
                    None => links.parents[at].into_iter().for_each(|parent| is_last[parent as usize] |= is_last[at]),
                }
            }
            if saving.count > 0 {
                savings.total += if is_on { saving.bytes } else { 0 };
                savings.snapshots.push((name.clone(), saving, is_on));
            }
        }
        sort::by_key(&mut savings.snapshots, |(_, saving, _)| std::cmp::Reverse(saving.bytes));
    }
}

/// Applies a plan to the lines of a file in order.
#[derive(Debug)]
pub struct SlimWriter<'a> {
    plan: &'a SlimPlan,
    /// The raw IDs of the entries that get other children.
    ids: HashMap<u64, Vec<u8>>,
}

impl<'a> SlimWriter<'a> {
    /// Starts a file.
    pub fn new(plan: &'a SlimPlan) -> Self {
        Self { plan, ids: HashMap::new() }
    }

    /// Returns the new line for the one at an offset, without its line break. Returns `Ok(None)` if it is removed.
    ///
    /// # Errors
    /// The file is not the one for which the plan was made.
    pub fn line<'l>(&mut self, offset: u64, line: &'l [u8]) -> Result<Option<Cow<'l, [u8]>>, Outdated> {
        if self.plan.new_parents.contains(&offset) {
            let id = RawObject::new(line).and_then(|object| object.get("id").map(<[u8]>::to_vec)).ok_or(Outdated)?;
            self.ids.insert(offset, id);
        }
        let Some(change) = self.plan.changes.get(&offset) else { return Ok(Some(line.into())) };
        if change.is_removed {
            return Ok(None);
        }
        let mut new = Cow::Borrowed(line);
        if let Some(parent) = change.parent {
            let id = match parent {
                Some(parent) => self.ids.get(&parent).ok_or(Outdated)?,
                None => &b"null"[..],
            };
            new = RawObject::new(line).ok_or(Outdated)?.with(&[("parentId", Some(id))]).into();
        }
        if let Some(how) = change.shortening {
            new = shorten(&new, how).ok_or(Outdated)?.into();
        }
        Ok(Some(new))
    }
}

/// The file has changed since its plan was made.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the file has changed")]
pub struct Outdated;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::tree::context::context;
    use crate::session::tree::{Tree, TreeLines};

    const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\"}\n";

    fn each_line(text: &str, mut act: impl FnMut(Line<'_>)) {
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let bytes = line.strip_suffix('\n').unwrap_or(line);
            act(Line::new(offset, bytes.as_bytes(), bytes.len() < line.len()));
            offset += line.len() as u64;
        }
    }

    fn plan(text: &str, rules: &SlimRules, shared: &ById<()>) -> Result<SlimPlan, SlimError> {
        let mut planner = SlimPlanner::new(rules, shared);
        each_line(text, |line| assert!(planner.line(&line)));
        planner.finish()
    }

    fn apply(text: &str, plan: &SlimPlan) -> String {
        let (mut writer, mut new) = (SlimWriter::new(plan), String::new());
        each_line(text, |line| {
            if let Some(line) = writer.line(line.offset, line.bytes).unwrap() {
                new += std::str::from_utf8(&line).unwrap();
                new.push('\n');
            }
        });
        new
    }

    fn slim(text: &str, rules: &SlimRules) -> (String, SlimSavings) {
        let plan = plan(text, rules, &ById::default()).unwrap();
        (apply(text, &plan), plan.savings)
    }

    fn tree(text: &str) -> Tree {
        let mut part = TreeLines::new("");
        each_line(text, |line| part.line(line));
        Tree::build([part]).unwrap()
    }

    fn entry(id: usize, parent: Option<usize>, rest: &str) -> String {
        let parent = parent.map_or("null".into(), |parent| format!("\"e{parent}\""));
        format!("{{\"id\":\"e{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00.000Z\",{rest}}}\n")
    }

    fn snapshot(name: &str) -> String {
        format!(r#""type":"custom","customType":"{name}","data":{{"state":1}}"#)
    }

    const USER: &str = r#""type":"message","message":{"role":"user","content":"x"}"#;

    /// A chain of a prompt before each of some snapshots of a type.
    fn chain(count: usize, name: &str) -> String {
        let lines = (0..2 * count).map(|at| {
            let rest = if at % 2 == 0 { USER.into() } else { snapshot(name) };
            entry(at, at.checked_sub(1), &rest)
        });
        HEADER.to_owned() + &lines.collect::<String>()
    }

    fn ids(text: &str) -> Vec<String> {
        tree(text).nodes.iter().map(|node| node.id.as_deref().unwrap_or_default().into()).collect()
    }

    #[test]
    fn only_the_last_snapshot_of_each_path_stays() {
        let text = chain(20, "todo") + &entry(40, Some(39), USER);
        let (new, savings) = slim(&text, &SlimRules::default());
        let kept: Vec<String> = (0..=40).filter(|at| at % 2 == 0 || *at == 39).map(|at| format!("e{at}")).collect();
        assert_eq!(ids(&new), kept);
        assert_eq!(savings.snapshots.len(), 1);
        let (name, saving, is_removed) = &savings.snapshots[0];
        assert_eq!((&**name, saving.count, *is_removed), ("todo", 19, true));
        assert_eq!(savings.total, saving.bytes);
        let tree = tree(&new);
        assert_eq!(tree.parent(1), Some(0), "children hang at the nearest kept ancestor");
        // A branch from before a snapshot keeps the one before it.
        let branched = text.clone() + &entry(50, Some(10), USER);
        let kept = ids(&slim(&branched, &SlimRules::default()).0);
        assert!(kept.contains(&"e9".into()) && !kept.contains(&"e11".into()) && !kept.contains(&"e7".into()));
        // A labeled snapshot and the snapshot before a label stay.
        let label = r#""type":"label","targetId":"e12","label":"here""#;
        let kept = ids(&slim(&(text + &entry(51, Some(40), label)), &SlimRules::default()).0);
        assert!(kept.contains(&"e11".into()) && !kept.contains(&"e9".into()));
    }

    #[test]
    fn some_types_and_few_snapshots_stay() {
        let unchanged = |text: &str, rules: &SlimRules| slim(text, rules).0 == text;
        let default = SlimRules::default();
        for (count, name) in [(19, "todo"), (30, "pi.tools"), (30, "codemode-store")] {
            assert!(unchanged(&chain(count, name), &default), "{count} {name}");
        }
        let text = chain(30, "todo");
        let kept = SlimRules { kept_types: vec!["todo".into()], ..SlimRules::default() };
        let off = SlimRules { snapshots: false, ..SlimRules::default() };
        for rules in [kept, off] {
            assert!(unchanged(&text, &rules));
            let savings = slim(&text, &rules).1;
            assert_eq!((savings.snapshots[0].1.count, savings.total), (29, 0), "the possible saving is known");
        }
    }

    #[test]
    fn shared_entries_stay() {
        let text = chain(30, "todo");
        let mut shared = ById::default();
        each_line(&text, |line| {
            if let Some(entry) = line.read().unwrap().filter(|entry| !entry.is_header()) {
                let time = entry.timestamp.and_then(RawTime::ms);
                let key = identity(&entry, entry.id.map(IdHash::of), 0, time, line.bytes);
                let number: usize = entry.id.unwrap().text()[1..].parse().unwrap();
                if number <= 20 {
                    shared.insert(key, ());
                }
            }
        });
        let plan = plan(&text, &SlimRules::default(), &shared).unwrap();
        let kept = ids(&apply(&text, &plan));
        assert!((0..=20).all(|at| kept.contains(&format!("e{at}"))) && !kept.contains(&"e23".into()));
        assert_eq!(plan.savings.shared.count, 10);
    }

    #[test]
    fn large_results_outside_of_every_context_lose_their_content() {
        let result = |at: usize, parent: usize| {
            let text = "x".repeat(20_000);
            let rest = format!(
                r#""type":"message","message":{{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{{"type":"text","text":"{text}"}}]}}"#
            );
            entry(at, Some(parent), &rest)
        };
        let call = r#""type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{}}]}"#;
        let text = HEADER.to_owned() + &entry(0, None, USER) + &entry(1, Some(0), call) + &result(2, 1);
        let (new, savings) = slim(&text, &SlimRules::default());
        assert_eq!((&new, savings.inside.count, savings.outside.count), (&text, 1, 0), "it is in the context");
        let inside = SlimRules { inside: Some(8192), ..SlimRules::default() };
        let (new, savings) = slim(&text, &inside);
        let estimated = savings.total.abs_diff((text.len() - new.len()) as u64);
        assert!(estimated < 100, "{estimated}");
        assert!(new.len() < 4000 && new.contains("xxx\\n[pitree slim: removed "), "{new}");
        let compacted = text
            + &entry(3, Some(2), USER)
            + &entry(4, Some(3), r#""type":"compaction","summary":"s","firstKeptEntryId":"e3""#);
        let (new, savings) = slim(&compacted, &SlimRules::default());
        assert_eq!((savings.outside.count, savings.total), (1, (compacted.len() - new.len()) as u64));
        assert!(new.contains("[pitree slim: removed 20.0 KB of output]"), "{new}");
        // It is in the context of a label before the compaction.
        let labeled = compacted + &entry(5, Some(4), r#""type":"label","targetId":"e3","label":"before""#);
        assert_eq!(slim(&labeled, &SlimRules::default()).0, labeled);
    }

    #[test]
    fn damaged_files_are_refused() {
        let text = chain(30, "todo");
        for damaged in [text.clone() + "{\"torn", text.clone() + "no json\n", text + &entry(3, Some(2), USER)] {
            assert!(matches!(plan(&damaged, &SlimRules::default(), &ById::default()), Err(SlimError::Damaged(_))));
        }
        assert!(matches!(plan("{}\n", &SlimRules::default(), &ById::default()), Err(SlimError::NotASession(_))));
    }

    /// Writes the lines of random entries: their kinds, parents and references.
    fn file(entries: &[(u8, usize, usize)]) -> String {
        let mut text = HEADER.to_owned();
        for (at, &(kind, parent, other)) in entries.iter().enumerate() {
            let parent = match parent % 12 {
                _ if at == 0 => None,
                0 => Some(parent / 12 % at),
                1 if parent > 950 => None,
                _ => Some(at - 1),
            };
            let target = format!("e{}", other % (at + 1).max(1));
            let rest = match kind {
                0 | 1 => USER.into(),
                2 => format!(
                    r#""type":"message","message":{{"role":"toolResult","toolCallId":"c","content":"{}"}}"#,
                    "x".repeat(200)
                ),
                3 if other % 4 == 0 => format!(r#""type":"compaction","summary":"x","firstKeptEntryId":"{target}""#),
                4 if other % 4 == 0 => format!(r#""type":"label","targetId":"{target}","label":"l""#),
                5 if other % 4 == 0 => format!(r#""type":"branch_summary","summary":"x","fromId":"{target}""#),
                6 if other % 4 == 0 => format!(r#""type":"context_edit","targetId":"{target}","replacement":null"#),
                _ => snapshot(if kind % 2 == 0 { "a" } else { "b" }),
            };
            text += &entry(at, parent, &rest);
        }
        text
    }

    proptest! {
        #[test]
        fn contexts_and_last_snapshots_stay(entries in proptest::collection::vec((0..12_u8, 0..1000_usize, 0..1000_usize), 1..120)) {
            let text = file(&entries);
            let rules = SlimRules { outside: Some(100), ..SlimRules::default() };
            let (new, savings) = slim(&text, &rules);
            prop_assert!(new.len() <= text.len() + 16 * entries.len());
            let (before, after) = (tree(&text), tree(&new));
            let id = |tree: &Tree, at: EntryIndex| tree.nodes[at as usize].id.clone().unwrap();
            let line = |text: &str, tree: &Tree, at: EntryIndex| {
                let node = &tree.nodes[at as usize];
                let line = &text.as_bytes()[node.offset as usize..(node.offset + node.len) as usize];
                RawObject::new(line).unwrap().without(&["parentId"])
            };
            let names = |tree: &Tree| tree.nodes.iter().map(|node| node.id.clone().unwrap()).collect::<Vec<_>>();
            let (all, kept) = (names(&before), names(&after));
            prop_assert!(all.iter().filter(|id| kept.contains(id)).eq(&kept), "the order stays");
            let removed: usize = savings.snapshots.iter().map(|(_, saving, _)| saving.count).sum();
            prop_assert_eq!(all.len() - kept.len(), removed);
            let is_leaf = |at: &EntryIndex| !(0..before.nodes.len() as EntryIndex).any(|other| before.parent(other) == Some(*at));
            let ends = (0..before.nodes.len() as EntryIndex).filter(is_leaf).chain(before.labels.keys().copied());
            for end in ends {
                let same = after.find(&id(&before, end)).unwrap();
                let seen = |text: &str, tree: &Tree, end: EntryIndex| {
                    let context = context(tree, Some(end));
                    let mut edits: Vec<_> = context.edits.iter().map(|(&target, &edit)| (id(tree, target), id(tree, edit))).collect();
                    edits.sort();
                    let lines: Vec<_> = context.entries.iter().map(|&at| line(text, tree, at)).collect();
                    (lines, edits, context.compaction.map(|at| id(tree, at)))
                };
                // A label or a state that pi wrote beside a branch is no branch end.
                if !before.is_stub(end) || before.labels.contains_key(&end) {
                    prop_assert_eq!(seen(&text, &before, end), seen(&new, &after, same));
                }
                for name in ["a", "b"] {
                    let last = |text: &str, tree: &Tree, end: EntryIndex| {
                        let wanted = format!("\"customType\":\"{name}\"");
                        let contains_wanted = |at: &EntryIndex| String::from_utf8(line(text, tree, *at)).unwrap().contains(&wanted);
                        tree.to_root(end).find(contains_wanted).map(|at| id(tree, at))
                    };
                    prop_assert_eq!(last(&text, &before, end), last(&new, &after, same));
                }
            }
            let again = plan(&new, &rules, &ById::default()).unwrap();
            let left: usize = again.savings.snapshots.iter().map(|(_, saving, _)| saving.count).sum();
            prop_assert_eq!(left + again.savings.outside.count, 0, "nothing is left");
        }
    }
}
