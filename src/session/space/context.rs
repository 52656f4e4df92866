//! The entries in the model context of at least one branch end, for all branch ends at once. The result is that of
//! [`context`](crate::session::tree::context::context) at each end, but the time grows with the number of entries, not
//! with the lengths of all paths.

use std::collections::HashMap;

use crate::session::links::{Index, ParentLinks};

/// The role of an entry in contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ContextRole {
    /// It has no messages.
    #[default]
    Nothing,
    /// It has messages.
    Message,
    /// A system message, which compactions do not keep.
    SystemMessage,
    /// A compaction.
    Compaction,
}

/// The entries of a file as far as contexts depend on them.
pub(super) struct ContextEntries<'a> {
    pub(super) links: &'a ParentLinks,
    /// `true` for each entry that is a stub.
    pub(super) stubs: &'a [bool],
    pub(super) roles: &'a [ContextRole],
    /// The first entry that each compaction keeps.
    pub(super) first_kept: &'a HashMap<Index, Index>,
    /// The context edits of each target: the edit, and `true` if it omits the target.
    pub(super) edits: &'a HashMap<Index, Vec<(Index, bool)>>,
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
    pub(super) fn in_context(&self) -> Vec<bool> {
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
        let children = self.links.child_counts(self.stubs);
        let mut compaction: Vec<Option<Index>> = vec![None; parents.len()];
        let mut ends = Vec::new();
        for &at in &tree.order {
            let here = at as usize;
            let is_compaction = self.roles[here] == ContextRole::Compaction;
            let before = parents[here].and_then(|parent| compaction[parent as usize]);
            compaction[here] = if is_compaction { Some(at) } else { before };
            if children[here] == 0 && !self.stubs[here] {
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
        edits.sort_by_key(|(edit, _)| place(*edit));
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
