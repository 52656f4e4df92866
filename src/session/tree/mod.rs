//! The tree of a session file: its entries in file order with parents and children, the leaf, the labels and subtree
//! statistics. It is built from lines, possibly in several parts, with flat lists and without recursion.
//!
//! Trees match pi's `SessionManager` (0.74.2, 0.87.1). Cycles and duplicate IDs, which pi cannot show, are shown and
//! reported in [`Tree::problems`].

pub mod context;
pub(crate) mod model_role;
pub mod node;
pub mod resume;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::session::entry::EntryId;
use crate::session::entry::kind::EntryKind;
use crate::session::lines::{Header, LabelLine, NotASession};
pub use crate::session::links::EntryIndex;
use crate::session::links::{ActivePath, ById, IdHash, ParentLinks};
use crate::session::problem::Problem;
use crate::session::tree::model_role::{EditCounts, ModelSettings, SendableContent};
pub use crate::session::tree::node::TreeLines;
use crate::session::tree::node::{Node, NodeLink};

/// The tree of one session file.
#[derive(Debug, Default)]
pub struct Tree {
    /// The header.
    pub header: Header,
    /// The entries, in file order.
    pub nodes: Vec<Node>,
    /// The entries without a parent in the file, in file order.
    pub roots: Vec<EntryIndex>,
    /// The last entry of the file, or the one that version 4 names: pi resumes after it.
    pub leaf: Option<EntryIndex>,
    /// The newest message if it is not on the active path, which ends with settings or extension state.
    pub newer_message: Option<EntryIndex>,
    /// The current label of each labeled entry.
    pub labels: HashMap<EntryIndex, LabelLine>,
    /// The problems of the file.
    pub problems: Vec<Problem>,
    /// The end of the last line: the length of the file when it was read, in bytes.
    pub end: u64,
    /// `true` if a line break is at the end.
    pub ended: bool,
    /// `true` if only the end of the file was read so far: see [`Tree::of_end`].
    pub is_partial: bool,
    parent_links: ParentLinks,
    pub(crate) stubs: Vec<bool>,
    children: Vec<EntryIndex>,
    children_start: Vec<u32>,
    /// All entries in display order.
    pub order: Vec<EntryIndex>,
    active: ActivePath,
    /// The entries that are part of a problem.
    pub(crate) flagged: HashSet<EntryIndex>,
    below: Vec<SubtreeStats>,
    abandoned: OnceLock<Vec<AbandonedBranch>>,
    /// See [`context::edit_counts`].
    edit_counts: OnceLock<EditCounts>,
    pub(crate) settings: ModelSettings,
    /// The first entry that each compaction keeps, if it is in the file.
    pub(crate) first_kept: HashMap<EntryIndex, EntryIndex>,
    /// The target of each context edit, if it is in the file, and the new contents; `None` omits the target.
    pub(crate) edits: HashMap<EntryIndex, (EntryIndex, Option<SendableContent>)>,
    /// The tool calls of each assistant message with calls.
    pub(crate) calls: HashMap<EntryIndex, Box<[IdHash]>>,
    /// The call of each tool result.
    pub(crate) answers: HashMap<EntryIndex, IdHash>,
    /// The hash of the contents of each entry, if it was requested: see [`TreeLines::with_contents`].
    pub(crate) contents: Vec<IdHash>,
}

/// A branch that does not lead to the leaf.
#[derive(Clone, Debug)]
pub struct AbandonedBranch {
    /// The last entry.
    pub end: EntryIndex,
    /// The last user or assistant message on it, or else the last entry.
    pub last: EntryIndex,
    /// The number of its entries. Entries shared by several branches belong to the newest one.
    pub entries: usize,
    /// US dollars.
    pub cost: f64,
    /// The time of the newest entry, in milliseconds since 1970.
    pub latest: Option<i64>,
}

/// A feature of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryFeature {
    /// A label.
    Label,
    /// Several branches start at the entry.
    BranchPoint,
    /// The end of a branch that does not lead to the leaf.
    AbandonedEnd,
    /// A problem with the entry.
    Problem,
}

/// Statistics of a subtree, including its top entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubtreeStats {
    /// The number of entries.
    pub entries: u32,
    /// The number of branch ends, without stubs.
    pub leaves: u32,
    /// US dollars.
    pub cost: f64,
    /// The time of the newest entry, in milliseconds since 1970.
    pub latest: Option<i64>,
}

impl Tree {
    /// Builds a tree from the lines of a file in one or more parts, in order.
    ///
    /// # Errors
    /// The first valid line is not a header, or there are too many entries.
    pub fn build(parts: impl IntoIterator<Item = TreeLines>) -> Result<Self, NotASession> {
        let mut all = TreeLines::join(parts);
        if let Some(last) = all.lines.last.take() {
            all.take(last.line());
        }
        let mut tree = Self { header: all.lines.session()?.clone(), ..Self::default() };
        tree.take(all);
        tree.tie();
        Ok(tree)
    }

    /// Returns the answer that made the call of each result, among entries in the order of their path.
    pub(crate) fn callers(&self, entries: impl Iterator<Item = EntryIndex>) -> HashMap<EntryIndex, EntryIndex> {
        let (mut callers, mut caller_of) = (HashMap::new(), ById::<EntryIndex>::default());
        for at in entries {
            caller_of.extend(self.calls.get(&at).into_iter().flat_map(|calls| calls.iter().map(|&id| (id, at))));
            callers.extend(self.answers.get(&at).and_then(|id| Some((at, *caller_of.get(id)?))));
        }
        callers
    }

    /// Links the entries of several files with known parents without cycles. Only the trees of the individual files have
    /// the context of the model.
    #[must_use]
    pub(crate) fn tied(mut self, parents: Vec<Option<EntryIndex>>) -> Self {
        self.parent_links.parents = parents;
        self.ended = true;
        self.tie();
        self
    }

    fn tie(&mut self) {
        self.active = ActivePath::to(&self.parent_links, self.leaf);
        self.tie_children();
        self.order = self.preorder(true);
        self.sum_below();
    }

    /// Builds a partial tree of a large file from its header and its last lines, to show it while the rest is read.
    /// Entries whose parent was not read are roots. Problems are not reported.
    ///
    /// # Errors
    /// The errors of [`Tree::build`].
    pub fn of_end(parts: impl IntoIterator<Item = TreeLines>) -> Result<Self, NotASession> {
        let mut tree = Self::build(parts)?;
        tree.is_partial = true;
        tree.problems.clear();
        tree.flagged.clear();
        Ok(tree)
    }

    fn take(&mut self, all: TreeLines) {
        let TreeLines { lines, nodes, links, calls, settings, contents, .. } = all;
        (self.nodes, self.settings, self.contents) = (nodes, settings, contents.unwrap_or_default());
        (self.end, self.ended) = (lines.end, lines.ended);
        self.parent_links = lines.parent_links();
        self.leaf = self.parent_links.leaf;
        self.newer_message = lines.newer_message(&self.parent_links);
        self.stubs = lines.stubs(&self.parent_links);
        self.problems = lines.problems(&self.parent_links);
        let ParentLinks { duplicates, orphans, cycles, unnamed, .. } = &self.parent_links;
        self.flagged = duplicates.iter().chain(orphans).chain(cycles).chain(unnamed).copied().collect();
        self.labels = lines.labels(&self.parent_links).into_iter().map(|(at, label)| (at, label.clone())).collect();
        if self.header.version < 2.0 {
            self.nodes.iter_mut().for_each(|node| node.id = None); // pi generates new ones
        }
        for (at, link) in links {
            match link {
                NodeLink::Calls(calls) => drop(self.calls.insert(at, calls)),
                NodeLink::Call(id) => {
                    self.answers.insert(at, id);
                    if let Some(call) = calls.get(&id) {
                        let node = &mut self.nodes[at as usize];
                        node.text.clone_from(&call.row);
                        node.called = Some(call.called.clone());
                    }
                }
                NodeLink::Kept(first) => {
                    let first = first.resolve(&self.parent_links, self.header.version, &lines.headers);
                    self.first_kept.extend(first.map(|first| (at, first)));
                }
                NodeLink::Edit(edit) => {
                    let target = self.parent_links.find(edit.target);
                    self.edits.extend(target.map(|target| (at, (target, edit.words))));
                }
            }
        }
    }

    /// Collects the children by time, as in pi's `getTree`. A child without a time follows the one before it in the
    /// file.
    fn tie_children(&mut self) {
        let mut start = vec![0u32; self.nodes.len() + 1];
        // The time of the last child of each entry.
        let mut last = vec![i64::MIN; self.nodes.len()];
        let mut times = last.clone();
        for (at, parent) in (0..).zip(&self.parent_links.parents) {
            let Some(parent) = *parent else {
                self.roots.push(at);
                continue;
            };
            start[parent as usize + 1] += 1;
            let time = &mut last[parent as usize];
            *time = self.nodes[at as usize].time.unwrap_or(*time);
            times[at as usize] = *time;
            self.children.push(at);
        }
        for at in 1..start.len() {
            start[at] += start[at - 1];
        }
        // Nearly sorted: most entries follow their parent.
        let parents = &self.parent_links.parents;
        self.children.sort_by_key(|&at| (parents[at as usize], times[at as usize]));
        self.children_start = start;
    }

    fn sum_below(&mut self) {
        self.below = self
            .nodes
            .iter()
            .enumerate()
            .map(|(at, node)| SubtreeStats {
                entries: 1,
                leaves: u32::from(!self.is_stub(at as EntryIndex) && self.branches(at as EntryIndex).next().is_none()),
                cost: node.cost,
                latest: node.time,
            })
            .collect();
        for &at in self.order.iter().rev() {
            if let Some(parent) = self.parent_links.parents[at as usize] {
                let child = self.below[at as usize];
                let sum = &mut self.below[parent as usize];
                sum.entries += child.entries;
                sum.leaves += child.leaves;
                sum.cost += child.cost;
                sum.latest = sum.latest.max(child.latest);
            }
        }
    }

    /// Returns all entries with parents before children. Siblings are ordered by time, as in pi's `getTree`.
    /// `active_first` moves the active branch to the front, as in pi's `/tree`.
    pub(crate) fn preorder(&self, active_first: bool) -> Vec<EntryIndex> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut stack = Vec::new();
        let push = |stack: &mut Vec<EntryIndex>, siblings: &[EntryIndex]| {
            let is_first = |at: &&EntryIndex| active_first && self.active.has(**at);
            stack.extend(siblings.iter().rev().filter(|at| !is_first(at)));
            stack.extend(siblings.iter().rev().filter(is_first));
        };
        push(&mut stack, &self.roots);
        while let Some(at) = stack.pop() {
            order.push(at);
            push(&mut stack, self.children(at));
        }
        order
    }

    /// Returns `true` if the file of the tree is a longer version of the file of `before`: all entries have the same
    /// indexes.
    pub fn extends(&self, before: &Self) -> bool {
        let last = |tree: &Self, at: usize| tree.nodes.get(at).map(|node| (node.offset, node.id.clone(), node.time));
        let is_there = |at| last(self, at) == last(before, at);
        !before.is_partial && !self.is_partial && before.nodes.len().checked_sub(1).is_none_or(is_there)
    }

    /// Returns an entry.
    pub fn node(&self, at: EntryIndex) -> &Node {
        &self.nodes[at as usize]
    }

    /// Returns the children of an entry by time.
    pub fn children(&self, at: EntryIndex) -> &[EntryIndex] {
        let at = at as usize;
        &self.children[self.children_start[at] as usize..self.children_start[at + 1] as usize]
    }

    /// Returns `true` if the subtree of the entry is only bookkeeping without the leaf, such as a name set while pi
    /// runs. A stub is not a branch.
    pub fn is_stub(&self, at: EntryIndex) -> bool {
        self.stubs[at as usize]
    }

    /// Returns the children of an entry by time, without stubs.
    pub fn branches(&self, at: EntryIndex) -> impl Iterator<Item = EntryIndex> {
        self.children(at).iter().copied().filter(|&child| !self.is_stub(child))
    }

    /// Returns the parent of an entry, if it is in the file.
    pub fn parent(&self, at: EntryIndex) -> Option<EntryIndex> {
        self.parent_links.parents[at as usize]
    }

    /// Returns the last entry on the active path that the model sees.
    pub(crate) fn last_visible(&self) -> Option<EntryIndex> {
        let is_visible = |at: &EntryIndex| !self.nodes[*at as usize].kind.is_invisible_to_the_model();
        self.to_root(self.leaf).find(is_visible)
    }

    /// Iterates over the entries from one to its root. See `ParentLinks::to_root`.
    pub fn to_root(&self, from: impl Into<Option<EntryIndex>>) -> impl Iterator<Item = EntryIndex> {
        self.parent_links.to_root(from)
    }

    /// Returns `true` for a message of the user.
    pub fn is_prompt(&self, at: EntryIndex) -> bool {
        self.node(at).kind == EntryKind::User
    }

    /// Returns `true` if the entry is on the active path.
    pub fn is_active(&self, at: EntryIndex) -> bool {
        self.active.has(at)
    }

    /// Returns the statistics of a subtree.
    pub fn below(&self, at: EntryIndex) -> SubtreeStats {
        self.below[at as usize]
    }

    /// Returns the last entry with an ID, as in pi.
    pub fn find(&self, id: &str) -> Option<EntryIndex> {
        self.parent_links.find(IdHash::new(id.as_bytes()))
    }

    /// Returns `true` if resuming at an entry is equivalent to resuming at the leaf: only entries without meaning for
    /// the model follow, such as labels and names, but no other model or thinking level.
    pub fn is_tip(&self, at: EntryIndex) -> bool {
        std::iter::successors(self.leaf, |&here| {
            self.parent(here).filter(|_| self.nodes[here as usize].kind.is_neutral())
        })
        .any(|here| here == at)
    }

    /// Works like [`Tree::is_tip`]; `None` is an empty conversation.
    pub fn is_current_position(&self, at: Option<EntryIndex>) -> bool {
        let is_nothing = |at: &EntryIndex| self.nodes[*at as usize].kind.is_neutral();
        match at {
            Some(at) => self.is_tip(at),
            None => self.leaf.is_none_or(|leaf| self.path(leaf).iter().all(is_nothing)),
        }
    }

    /// Returns the entries from the root to `at`.
    pub fn path(&self, at: EntryIndex) -> Vec<EntryIndex> {
        let mut path: Vec<EntryIndex> = self.to_root(at).collect();
        path.reverse();
        path
    }

    /// Returns the path to an entry and its continuation: the branch that leads to the leaf, or else the newest branch.
    pub fn branch(&self, at: EntryIndex) -> Vec<EntryIndex> {
        let next = |&at: &EntryIndex| {
            let children = self.children(at);
            children.iter().copied().find(|&child| self.is_active(child)).or(children.iter().copied().max())
        };
        let mut branch = self.path(at);
        branch.extend(std::iter::successors(Some(at), next).skip(1));
        branch
    }

    /// Returns the last entry on the active path that a fork inherited.
    pub fn inherited(&self) -> Option<EntryIndex> {
        self.path(self.leaf?).into_iter().take_while(|&at| self.is_inherited(at)).last()
    }

    /// Returns `true` if a fork inherited the entry. Labels of inherited entries count as inherited, although pi writes
    /// them again.
    pub fn is_inherited(&self, at: EntryIndex) -> bool {
        self.header.inherits(self.nodes[at as usize].time)
    }

    /// Returns the label entries in file order: [`crate::session::write::fork`] copies labels from their lines.
    pub fn label_entries(&self) -> impl Iterator<Item = EntryIndex> {
        (0..self.nodes.len() as EntryIndex).filter(|&at| self.nodes[at as usize].kind == EntryKind::Label)
    }

    /// Returns `true` if several branches start at an entry.
    pub(crate) fn is_branch_point(&self, at: EntryIndex) -> bool {
        self.branches(at).nth(1).is_some()
    }

    /// Returns the number of branch points.
    pub fn branch_points(&self) -> usize {
        (0..self.nodes.len() as EntryIndex).filter(|&at| self.is_branch_point(at)).count()
    }

    /// Returns the cost in US dollars.
    pub fn cost(&self) -> f64 {
        self.nodes.iter().map(|node| node.cost).sum()
    }

    /// Returns the entries with a feature, the oldest first.
    pub fn featured(&self, feature: EntryFeature) -> Vec<EntryIndex> {
        let has: &dyn Fn(EntryIndex) -> bool = match feature {
            EntryFeature::Label => &|at| self.labels.contains_key(&at),
            EntryFeature::BranchPoint => &|at| self.is_branch_point(at),
            EntryFeature::Problem => &|at| self.flagged.contains(&at),
            EntryFeature::AbandonedEnd => {
                &|at| !self.is_active(at) && !self.is_stub(at) && self.branches(at).next().is_none()
            }
        };
        let mut found: Vec<EntryIndex> = (0..self.nodes.len() as EntryIndex).filter(|&at| has(at)).collect();
        found.sort_by_key(|&at| (self.nodes[at as usize].time, at));
        found
    }

    /// Returns the branches that do not lead to the leaf, the newest first.
    pub fn abandoned(&self) -> &[AbandonedBranch] {
        self.abandoned.get_or_init(|| {
            let mut taken = HashSet::new();
            let ends = self.featured(EntryFeature::AbandonedEnd);
            ends.into_iter().rev().map(|end| self.abandoned_branch(end, &mut taken)).collect()
        })
    }

    /// Follows a branch from its end up to the active path, or to an entry that a newer branch has taken.
    fn abandoned_branch(&self, end: EntryIndex, taken: &mut HashSet<EntryIndex>) -> AbandonedBranch {
        let latest = self.nodes[end as usize].time;
        let mut branch = AbandonedBranch { end, last: end, entries: 0, cost: 0.0, latest };
        let mut last = None;
        let up = self.to_root(end);
        for at in up.take_while(|&at| !self.is_active(at) && taken.insert(at)) {
            let node = &self.nodes[at as usize];
            let is_message = matches!(node.kind, EntryKind::User | EntryKind::Assistant) && !node.silent;
            last = last.or(Some(at).filter(|_| is_message));
            branch.entries += 1;
            branch.cost += node.cost;
            branch.latest = branch.latest.max(node.time);
        }
        branch.last = last.unwrap_or(end);
        branch
    }

    /// Returns the ID of an entry, if the file has one.
    pub fn id(&self, at: EntryIndex) -> Option<&str> {
        self[at].id.as_deref()
    }
}

impl std::ops::Index<EntryIndex> for Tree {
    type Output = Node;

    fn index(&self, at: EntryIndex) -> &Node {
        &self.nodes[at as usize]
    }
}

impl EntryId {
    /// Returns an identifier of an entry that is valid in later versions of the file.
    pub fn of(tree: &Tree, at: EntryIndex) -> Self {
        match &tree.node(at).id {
            Some(id) => Self::Id(id.to_string()),
            None => Self::Place(at),
        }
    }

    /// Returns the ID, if the file has one.
    pub fn id(&self) -> Option<&str> {
        if let Self::Id(id) = self { Some(id) } else { None }
    }

    /// Returns the index of the entry in a tree.
    pub fn find(&self, tree: &Tree) -> Option<EntryIndex> {
        match self {
            Self::Id(id) => tree.find(id),
            Self::Place(at) => Some(*at).filter(|&at| (at as usize) < tree.nodes.len()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::session::lines::Line;
    use proptest::prelude::*;

    pub(crate) fn tree(lines: &[String]) -> Tree {
        let mut part = TreeLines::new("");
        part.line(Line::new(
            0,
            br#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}"#,
            true,
        ));
        for (at, line) in lines.iter().enumerate() {
            part.line(Line::new(at as u64 + 1, line.as_bytes(), true));
        }
        Tree::build([part]).unwrap()
    }

    fn user(id: &str, parent: Option<&str>, second: usize) -> String {
        let parent = parent.map_or("null".into(), |parent| format!("{parent:?}"));
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:{second:02}Z","message":{{"role":"user","content":"{id}"}}}}"#
        )
    }

    fn ids(tree: &Tree, order: &[EntryIndex]) -> String {
        order.iter().map(|&at| &*tree.nodes[at as usize].text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn orders_children_by_time_and_draws_the_active_branch_first() {
        let tree = tree(&[
            user("a", None, 0),
            user("late", Some("a"), 9),
            user("early", Some("a"), 3),
            user("leaf", Some("late"), 10),
        ]);
        assert_eq!(ids(&tree, &tree.preorder(false)), "a early late leaf");
        assert_eq!(ids(&tree, &tree.order), "a late leaf early");
        assert_eq!(tree.branch_points(), 1);
        assert_eq!((tree.below(0).entries, tree.below(0).leaves), (4, 2));
    }

    #[test]
    fn shows_cycles_and_flags_them() {
        let tree =
            tree(&[user("root", None, 0), user("b", Some("c"), 1), user("c", Some("b"), 2), user("d", Some("c"), 3)]);
        assert_eq!(ids(&tree, &tree.order), "b c d root");
        assert!(tree.problems[0].to_string().contains("cycle"), "{:?}", tree.problems);
        assert!(tree.flagged.contains(&1));
        assert_eq!(ids(&tree, &tree.path(3)), "b c d");
    }

    #[test]
    fn an_entry_that_is_its_own_parent_is_a_root_and_flagged() {
        let tree = tree(&[user("a", Some("a"), 0), user("b", Some("a"), 1)]);
        assert_eq!((&tree.roots[..], tree.flagged.contains(&0), tree.flagged.contains(&1)), (&[0][..], true, false));
        assert_eq!(tree.problems, [Problem::Cycles(1)]);
        assert_eq!(tree.problems[0].to_string(), "1 parent cycle; pi hangs on it");
    }

    #[test]
    fn entries_with_the_same_id_are_all_shown() {
        let tree =
            tree(&[user("a", None, 0), user("x", Some("a"), 1), user("x", Some("a"), 2), user("y", Some("x"), 3)]);
        assert_eq!(tree.order.len(), 4);
        assert_eq!(tree.parent(3), Some(2));
        assert!(tree.problems[0].to_string().contains("duplicate ID"));
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_needs_no_recursion() {
        let lines: Vec<String> = (0..100_000usize)
            .map(|n| user(&n.to_string(), n.checked_sub(1).map(|n| n.to_string()).as_deref(), n % 60))
            .collect();
        let tree = tree(&lines);
        assert_eq!(tree.path(99_999).len(), 100_000);
        assert_eq!(tree.below(0).entries, 100_000);
        drop(tree);
    }

    proptest! {
        #[test]
        fn the_order_contains_every_entry_once(parents in proptest::collection::vec(0usize..12, 1..12)) {
            // Any parents: cycles, self-parents, unknown ones.
            let lines: Vec<String> = parents.iter().enumerate().map(|(id, parent)| user(&id.to_string(), Some(&parent.to_string()), 0)).collect();
            let tree = tree(&lines);
            let mut order = tree.order.to_vec();
            order.sort_unstable();
            prop_assert_eq!(order, (0..parents.len() as EntryIndex).collect::<Vec<_>>());
        }
    }

    fn tree_of(entries: &[(&str, &str, &str)]) -> Tree {
        let header =
            r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}"#.to_string();
        let entry = |(at, (id, parent, role)): (usize, &(&str, &str, &str))| {
            let parent = if parent.is_empty() { "null".into() } else { format!("{parent:?}") };
            format!(
                r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:{at:02}Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{id}"}}],"usage":{{"cost":{{"total":0.5}}}}}}}}"#
            )
        };
        let mut part = TreeLines::new("");
        for line in std::iter::once(header).chain(entries.iter().enumerate().map(entry)) {
            part.line(Line::new(0, line.as_bytes(), true));
        }
        Tree::build([part]).unwrap()
    }

    #[test]
    fn abandoned_branches_are_disjoint_and_newest_first() {
        let tree = tree_of(&[
            ("u1", "", "user"),
            ("a1", "u1", "assistant"),
            ("u2", "a1", "user"),
            ("a2", "u2", "assistant"),
            ("a3", "u2", "assistant"),
            ("r3", "a3", "toolResult"),
            ("u4", "a1", "user"),
        ]);
        let branches: Vec<_> = tree
            .abandoned()
            .iter()
            .map(|one| (one.end, one.last, one.entries, one.cost, one.latest.is_some()))
            .collect();
        assert_eq!(branches, [(5, 4, 3, 1.0, true), (3, 3, 1, 0.5, true)], "the newer branch has the shared prompt");
        assert_eq!(tree.featured(EntryFeature::AbandonedEnd), [3, 5]);
        assert_eq!(tree.featured(EntryFeature::BranchPoint), [1, 2]);
        assert!(tree.featured(EntryFeature::Label).is_empty() && tree.featured(EntryFeature::Problem).is_empty());
    }

    #[test]
    fn a_session_of_one_branch_has_no_abandoned_branches() {
        assert!(tree_of(&[("u1", "", "user"), ("a1", "u1", "assistant")]).abandoned().is_empty());
        assert!(tree_of(&[]).abandoned().is_empty());
    }
}
