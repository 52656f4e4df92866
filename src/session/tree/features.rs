//! Entries of a tree with special positions or states, and its abandoned branches.

use std::collections::HashSet;

use crate::session::entry::kind::EntryKind;
use crate::session::tree::active::AbandonedBranch;
use crate::session::tree::{Index, Tree};

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

impl Tree {
    /// Returns the entries with a feature, the oldest first.
    pub fn featured(&self, feature: EntryFeature) -> Vec<Index> {
        let has: &dyn Fn(Index) -> bool = match feature {
            EntryFeature::Label => &|at| self.labels.contains_key(&at),
            EntryFeature::BranchPoint => &|at| self.is_branch_point(at),
            EntryFeature::Problem => &|at| self.flagged.contains(&at),
            EntryFeature::AbandonedEnd => {
                &|at| !self.is_active(at) && !self.is_stub(at) && self.branches(at).next().is_none()
            }
        };
        let mut found: Vec<Index> = (0..self.nodes.len() as Index).filter(|&at| has(at)).collect();
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
    fn abandoned_branch(&self, end: Index, taken: &mut HashSet<Index>) -> AbandonedBranch {
        let latest = self.nodes[end as usize].time;
        let mut branch = AbandonedBranch { end, last: end, entries: 0, cost: 0.0, latest };
        let mut last = None;
        let up = std::iter::successors(Some(end), |&at| self.parent(at));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::lines::Line;
    use crate::session::tree::TreeLines;

    fn tree(entries: &[(&str, &str, &str)]) -> Tree {
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
        let tree = tree(&[
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
        assert!(tree(&[("u1", "", "user"), ("a1", "u1", "assistant")]).abandoned().is_empty());
        assert!(tree(&[]).abandoned().is_empty());
    }
}
