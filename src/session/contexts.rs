//! The entries in the model context of at least one branch end, for all branch ends at once. The result is that of
//! [`context`](crate::session::tree::context::context) at each end, but the time grows with the number of entries, not
//! with the lengths of all paths.

use std::collections::HashMap;

use crate::base::sort;
use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::lines::LineCollector;
use crate::session::links::{Index, ParentLinks};
use crate::session::tree::model_role::{ContextEdit, ContextRole, FirstKept, ModelRole};

/// Collects the data of entries on which contexts depend.
#[derive(Debug, Default)]
pub(crate) struct ContextCollector {
    pub(super) roles: Vec<ContextRole>,
    kept: Vec<(Index, FirstKept)>,
    pub(super) edits: Vec<(Index, ContextEdit)>,
}

impl ContextCollector {
    /// Adds the next entry of the file.
    pub(crate) fn entry(&mut self, entry: &Entry<'_>) {
        let at = self.roles.len() as Index;
        self.roles.push(ContextRole::new(entry.kind, ModelRole::new(entry).messages));
        match entry.kind {
            EntryKind::Compaction => self.kept.push((at, FirstKept::new(entry))),
            EntryKind::ContextEdit => self.edits.extend(ContextEdit::new(entry).map(|edit| (at, edit))),
            _ => {}
        }
    }

    /// Returns the entries to which compactions and context edits refer.
    pub(crate) fn referenced(&self, lines: &LineCollector, links: &ParentLinks) -> Vec<Index> {
        let targets = self.edits.iter().filter_map(|(_, edit)| links.find(edit.target));
        self.first_kept(lines, links).into_values().chain(targets).collect()
    }

    /// Returns the first entry that each compaction keeps.
    pub(super) fn first_kept(&self, lines: &LineCollector, links: &ParentLinks) -> HashMap<Index, Index> {
        let version = lines.header().map_or(1.0, |header| header.version);
        let resolve = |&(at, kept): &(Index, FirstKept)| Some((at, kept.resolve(links, version, &lines.headers)?));
        self.kept.iter().filter_map(resolve).collect()
    }

    /// Returns `true` for each entry that is in the context of a branch end or of one of these entries.
    pub(crate) fn in_context(&self, lines: &LineCollector, links: &ParentLinks, others: &[Index]) -> Vec<bool> {
        let mut edits: HashMap<Index, Vec<(Index, bool)>> = HashMap::new();
        for (at, edit) in &self.edits {
            if let Some(target) = links.find(edit.target) {
                edits.entry(target).or_default().push((*at, edit.words.is_none()));
            }
        }
        let (stubs, first_kept) = (lines.stubs(links), self.first_kept(lines, links));
        let mut is_end = vec![false; self.roles.len()];
        others.iter().for_each(|&at| is_end[at as usize] = true);
        for ((is_end, children), is_stub) in is_end.iter_mut().zip(links.child_counts(&stubs)).zip(&stubs) {
            *is_end |= children == 0 && !is_stub;
        }
        ContextEntries { links, is_end, roles: &self.roles, first_kept: &first_kept, edits: &edits }.in_context()
    }
}

/// The entries of a file as far as contexts depend on them.
struct ContextEntries<'a> {
    links: &'a ParentLinks,
    /// `true` for each entry whose context counts.
    is_end: Vec<bool>,
    roles: &'a [ContextRole],
    /// The first entry that each compaction keeps.
    first_kept: &'a HashMap<Index, Index>,
    /// The context edits of each target: the edit, and `true` if it omits the target.
    edits: &'a HashMap<Index, Vec<(Index, bool)>>,
}

/// The entries in depth-first order.
struct DepthFirst {
    /// The entries, parents before children.
    order: Vec<Index>,
    /// The place of each entry in the order.
    place: Vec<u32>,
    /// The place after the subtree of each entry.
    end: Vec<u32>,
    depth: Vec<u32>,
}

impl DepthFirst {
    fn new(parents: &[Option<Index>]) -> Self {
        let len = parents.len();
        // The children of each entry are consecutive in `children`.
        let mut start = vec![0_u32; len + 1];
        parents.iter().flatten().for_each(|&parent| start[parent as usize + 1] += 1);
        (0..len).for_each(|at| start[at + 1] += start[at]);
        let (mut free, mut children) = (start.clone(), vec![0; start[len] as usize]);
        for (at, parent) in (0..).zip(parents) {
            let Some(parent) = *parent else { continue };
            let free = &mut free[parent as usize];
            children[*free as usize] = at;
            *free += 1;
        }
        let mut tree =
            Self { order: Vec::with_capacity(len), place: vec![0; len], end: vec![0; len], depth: vec![0; len] };
        let mut stack: Vec<Index> =
            (0..).zip(parents).filter(|(_, parent)| parent.is_none()).map(|(at, _)| at).collect();
        while let Some(at) = stack.pop() {
            let here = at as usize;
            tree.place[here] = tree.order.len() as u32;
            tree.depth[here] = parents[here].map_or(0, |parent| tree.depth[parent as usize] + 1);
            tree.order.push(at);
            stack.extend(&children[start[here] as usize..start[here + 1] as usize]);
        }
        for &at in tree.order.iter().rev() {
            let end = tree.end[at as usize].max(tree.place[at as usize] + 1);
            tree.end[at as usize] = end;
            if let Some(parent) = parents[at as usize] {
                tree.end[parent as usize] = tree.end[parent as usize].max(end);
            }
        }
        tree
    }

    /// Returns `true` if `below` is in the subtree of `above`, but is not `above`.
    fn is_below(&self, below: Index, above: Index) -> bool {
        let place = self.place[below as usize];
        self.place[above as usize] < place && place < self.end[above as usize]
    }
}

/// A branch end.
struct BranchEnd {
    at: Index,
    /// The last compaction on its path.
    compaction: Option<Index>,
    /// The depth of the first entry in its context.
    reach: u32,
}

impl ContextEntries<'_> {
    /// Returns `true` for each entry that is in the context of a branch end.
    fn in_context(&self) -> Vec<bool> {
        let (parents, len) = (&self.links.parents, self.roles.len());
        let tree = DepthFirst::new(parents);
        let ends = self.ends(&tree);
        // For each entry, the smallest reach of the ends below it, and whether an end follows without a compaction.
        let (mut reach, mut is_tail) = (vec![u32::MAX; len], vec![false; len]);
        for end in &ends {
            (reach[end.at as usize], is_tail[end.at as usize]) = (end.reach, true);
        }
        for &at in tree.order.iter().rev() {
            let Some(parent) = parents[at as usize] else { continue };
            reach[parent as usize] = reach[parent as usize].min(reach[at as usize]);
            is_tail[parent as usize] |= is_tail[at as usize] && self.roles[at as usize] != ContextRole::Compaction;
        }
        let is_in = |at: usize| match self.roles[at] {
            ContextRole::Nothing => false,
            ContextRole::Message => reach[at] <= tree.depth[at],
            ContextRole::SystemMessage | ContextRole::Compaction => is_tail[at],
        };
        let mut in_context: Vec<bool> = (0..len).map(is_in).collect();
        for (&target, edits) in self.edits {
            if in_context[target as usize] {
                in_context[target as usize] = self.is_kept(target, edits, &tree, &ends);
            }
        }
        in_context
    }

    /// Returns the branch ends in depth-first order.
    fn ends(&self, tree: &DepthFirst) -> Vec<BranchEnd> {
        let parents = &self.links.parents;
        let mut compaction: Vec<Option<Index>> = vec![None; parents.len()];
        let mut ends = Vec::new();
        for &at in &tree.order {
            let here = at as usize;
            let is_compaction = self.roles[here] == ContextRole::Compaction;
            let before = parents[here].and_then(|parent| compaction[parent as usize]);
            compaction[here] = if is_compaction { Some(at) } else { before };
            if self.is_end[here] {
                let first = compaction[here].map(|compaction| {
                    let kept = self.first_kept.get(&compaction).copied();
                    kept.filter(|&kept| tree.is_below(compaction, kept)).unwrap_or(compaction)
                });
                let reach = first.map_or(0, |first| tree.depth[first as usize]);
                ends.push(BranchEnd { at, compaction: compaction[here], reach });
            }
        }
        ends
    }

    /// Returns `true` if an edited entry is in the context of an end at which its last edit does not omit it.
    fn is_kept(&self, target: Index, edits: &[(Index, bool)], tree: &DepthFirst, ends: &[BranchEnd]) -> bool {
        let place = |at: Index| tree.place[at as usize];
        let depth = tree.depth[target as usize];
        let sees = |end: &BranchEnd| match self.roles[target as usize] {
            ContextRole::Nothing => false,
            ContextRole::Message => end.reach <= depth,
            ContextRole::Compaction => end.compaction == Some(target),
            ContextRole::SystemMessage => end.compaction.is_none_or(|at| tree.depth[at as usize] < depth),
        };
        let mut edits: Vec<(Index, bool)> =
            edits.iter().filter(|(edit, _)| tree.is_below(*edit, target)).copied().collect();
        sort::by_key(&mut edits, |(edit, _)| place(*edit));
        let mut edits = edits.into_iter().peekable();
        // The ends of the subtrees of the edits around a place, the innermost last.
        let mut open = vec![(tree.end[target as usize], false)];
        let mut from = place(target);
        while let Some(&(end, omits)) = open.last() {
            let next = edits.next_if(|(edit, _)| place(*edit) < end);
            let to = next.map_or(end, |(edit, _)| place(edit));
            let first = ends.partition_point(|end| place(end.at) < from);
            let mut between = ends[first..].iter().take_while(|end| place(end.at) < to);
            if !omits && between.any(sees) {
                return true;
            }
            from = to;
            match next {
                Some((edit, omits)) => open.push((tree.end[edit as usize], omits)),
                None => drop(open.pop()),
            }
        }
        false
    }
}
