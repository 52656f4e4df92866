//! Compares two branches. A branch is the path from the root to an entry; the branch of a session ends at its leaf.
//! After the last shared entry, each branch has a [`side`]: its messages, tool calls, costs and failures. Changes to
//! the same [`files`] are compared too. This module does no I/O: the caller reads the entries.

pub mod description;
pub mod files;
pub mod side;

use std::collections::HashMap;

use crate::session::entry::kind::EntryKind;
use crate::session::tree::{Index, Tree};
use files::ComparedFiles;
use side::SideSummary;

/// The path from the root to an entry.
#[derive(Clone, Copy, Debug)]
pub struct BranchPath<'a> {
    /// The tree of the file; the same one if both branches are in one file.
    pub tree: &'a Tree,
    /// The last entry.
    pub end: Index,
}

/// The point where two branches diverge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The shared entries from the root, in the tree of the first branch.
    pub shared: Vec<Index>,
    /// The last shared entry, in each tree.
    pub common: [Index; 2],
    /// The entries of each branch after it; empty if a branch ends there.
    pub own: [Vec<Index>; 2],
}

/// The comparison of two branches.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The last shared entry, in each tree.
    pub common: [Index; 2],
    /// The end of each branch in its tree: see [`Divergence::ends`].
    pub ends: [Index; 2],
    /// The number of shared entries.
    pub shared: usize,
    /// The summary of each branch after the last shared entry.
    pub sides: [SideSummary; 2],
    /// The touched files.
    pub files: ComparedFiles,
}

impl<'a> BranchPath<'a> {
    /// Returns the entries without labels, from the root. Labels only refer to other entries. A fork does not have the
    /// labels of its parent: pi attaches the next entry to the one before them and writes new labels (1.5.2).
    fn entries(self) -> Vec<Index> {
        let mut path = self.tree.path(self.end);
        path.retain(|&at| self.tree.nodes[at as usize].kind != EntryKind::Label);
        path
    }

    /// Returns a key that identifies an entry in all files of its family: forks keep IDs and times (pi 1.5.2). An entry
    /// without an ID, as in version 1, has no key.
    fn entry_key(self, at: Index) -> Option<(&'a str, Option<i64>)> {
        let node = &self.tree.nodes[at as usize];
        Some((node.id.as_deref()?, node.time))
    }
}

/// Returns the point where two branches diverge, or `None` if they share no entry.
pub fn diverge(branches: [BranchPath<'_>; 2]) -> Option<Divergence> {
    let [one, other] = branches;
    let paths = branches.map(BranchPath::entries);
    // The number of entries of each up to the last shared one.
    let (a, b) = if std::ptr::eq(one.tree, other.tree) {
        let shared = paths[0].iter().zip(&paths[1]).take_while(|(a, b)| a == b).count();
        (shared, shared)
    } else {
        let known = paths[1].iter().zip(1..).filter_map(|(&at, count)| Some((other.entry_key(at)?, count)));
        let known: HashMap<_, usize> = known.collect();
        let shared = |(at, entry): (usize, &Index)| Some((at + 1, *known.get(&one.entry_key(*entry)?)?));
        paths[0].iter().enumerate().rev().find_map(shared)?
    };
    let common = [*paths[0].get(a.checked_sub(1)?)?, *paths[1].get(b.checked_sub(1)?)?];
    let own = [paths[0][a..].to_vec(), paths[1][b..].to_vec()];
    let [mut shared, _] = paths;
    shared.truncate(a);
    Some(Divergence { shared, common, own })
}

impl Divergence {
    /// Returns the entry where each branch ends for the model. Names, settings and extension state may follow it;
    /// resuming there is equivalent.
    pub fn ends(&self, branches: [BranchPath<'_>; 2]) -> [Index; 2] {
        [0, 1].map(|side| {
            let (own, nodes) = (&self.own[side], &branches[side].tree.nodes);
            let says = |at: &&Index| !nodes[**at as usize].kind.is_invisible_to_the_model();
            own.iter().rfind(says).or(own.last()).copied().unwrap_or(self.common[side])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tree::tests::tree;

    /// Returns an entry with a parent: a message, or a label if its ID begins with `l`.
    fn entry(id: &str, parent: &str, second: u8) -> String {
        let parent = if parent.is_empty() { "null".into() } else { format!("{parent:?}") };
        let rest = match id.strip_prefix('l') {
            Some(target) => format!(r#""type":"label","targetId":"{target}","label":"works""#),
            None => r#""type":"message","message":{"role":"user","content":"Hi"}"#.into(),
        };
        format!(r#"{{"id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:{second:02}Z",{rest}}}"#)
    }

    fn ids(tree: &Tree, entries: &[Index]) -> Vec<String> {
        entries.iter().map(|&at| tree.nodes[at as usize].id.as_deref().unwrap_or("?").into()).collect()
    }

    /// Returns the IDs of the last shared entry and of each branch after it.
    fn parted(a: (&Tree, &str), b: (&Tree, &str)) -> Option<[Vec<String>; 3]> {
        let way = |(tree, end): (_, &str)| BranchPath { tree, end: Tree::find(tree, end).unwrap() };
        let divergence = diverge([way(a), way(b)])?;
        assert_eq!(ids(a.0, &divergence.common[..1]), ids(b.0, &divergence.common[1..]));
        assert_eq!(divergence.shared.last(), Some(&divergence.common[0]));
        let [own_a, own_b] = &divergence.own;
        Some([ids(a.0, &divergence.common[..1]), ids(a.0, own_a), ids(b.0, own_b)])
    }

    fn is(common: &str, a: &[&str], b: &[&str]) -> Option<[Vec<String>; 3]> {
        Some([&[common], a, b].map(|ids| ids.iter().map(|id| id.to_string()).collect()))
    }

    #[test]
    fn branches_diverge_at_the_branch_point() {
        let entries = [entry("a", "", 1), entry("b", "a", 2), entry("c", "b", 3), entry("d", "b", 4)];
        let tree = tree(&entries);
        assert_eq!(parted((&tree, "c"), (&tree, "d")), is("b", &["c"], &["d"]));
        assert_eq!(parted((&tree, "d"), (&tree, "a")), is("a", &["b", "d"], &[]), "one leads on from the other");
        assert_eq!(parted((&tree, "c"), (&tree, "c")), is("c", &[], &[]));
    }

    #[test]
    fn ends_at_the_last_entry_that_the_model_sees() {
        let setting = |id: &str, parent: &str, kind: &str| {
            entry(id, parent, 9).replace(r#""type":"message""#, &format!(r#""type":"{kind}""#))
        };
        let entries = [
            entry("a", "", 1),
            entry("b", "a", 2),
            setting("c", "b", "custom"),
            setting("d", "c", "session_info"),
            setting("e", "a", "custom"),
            setting("f", "b", "context_edit"),
        ];
        let tree = tree(&entries);
        let ends = |a: &str, b: &str| {
            let branches = [a, b].map(|end| BranchPath { tree: &tree, end: tree.find(end).unwrap() });
            ids(&tree, &diverge(branches).unwrap().ends(branches))
        };
        assert_eq!(ends("d", "e"), ["b", "e"]);
        assert_eq!(ends("f", "a"), ["f", "a"], "what the model sees is another thing behind it");
    }

    #[test]
    fn several_roots_share_no_entries() {
        let tree = tree(&[entry("a", "", 1), entry("b", "a", 2), entry("c", "", 3)]);
        assert_eq!(parted((&tree, "b"), (&tree, "c")), None);
    }

    #[test]
    fn ignores_labels_between_entries() {
        let parent =
            [entry("a", "", 1), entry("la", "a", 2), entry("b", "la", 3), entry("c", "b", 4), entry("lb", "c", 5)];
        // As pi writes it: without the label, which is written again after the copied entries.
        let fork = [entry("a", "", 1), entry("b", "a", 3), entry("lx", "b", 8), entry("d", "lx", 9)];
        let (parent, fork) = (tree(&parent), tree(&fork));
        assert_eq!(parted((&parent, "c"), (&fork, "d")), is("b", &["c"], &["d"]));
        assert_eq!(parted((&parent, "lb"), (&fork, "lx")), is("b", &["c"], &[]));
        let branches = tree(&[entry("a", "", 1), entry("la", "a", 2), entry("b", "la", 3), entry("c", "la", 4)]);
        assert_eq!(parted((&branches, "b"), (&branches, "c")), is("a", &["b"], &["c"]));
        assert_eq!(parted((&branches, "b"), (&branches, "la")), is("a", &["b"], &[]));
    }

    #[test]
    fn same_id_at_different_times_is_not_shared() {
        let (one, other) = (tree(&[entry("a", "", 1)]), tree(&[entry("a", "", 2)]));
        assert_eq!(parted((&one, "a"), (&other, "a")), None);
    }

    #[test]
    fn without_ids_only_one_file_can_be_compared() {
        let lines = [1, 2].map(|second| {
            format!(
                r#"{{"type":"message","timestamp":"2026-01-01T00:00:0{second}Z","message":{{"role":"user","content":"Hi"}}}}"#
            )
        });
        let old = || {
            let mut part = crate::session::tree::TreeLines::new("");
            let header = r#"{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}"#;
            for (at, line) in [header].into_iter().chain(lines.iter().map(String::as_str)).enumerate() {
                part.line(crate::session::lines::Line::new(at as u64, line.as_bytes(), true));
            }
            Tree::build([part]).unwrap()
        };
        let (one, copy) = (old(), old());
        let branches = [1, 0].map(|end| BranchPath { tree: &one, end });
        let divergence = diverge(branches).unwrap();
        assert_eq!((divergence.common, divergence.own.clone()), ([0, 0], [vec![1], vec![]]));
        assert_eq!(divergence.ends(branches), [1, 0]);
        assert_eq!(diverge([BranchPath { tree: &one, end: 1 }, BranchPath { tree: &copy, end: 1 }]), None);
    }
}
