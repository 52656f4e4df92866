//! Families of session files: who was forked from whom, threaded as in pi's session list (0.87.1), and the entry at
//! which a fork left its parent.

use std::collections::HashMap;
use std::path::Path;

use crate::session::digest::summary::Shared;
use crate::session::tree::Tree;
use crate::session::tree::shape::Index;

/// The forests of families among sessions. Positions are those in the list that it was made from.
#[derive(Debug, Default)]
pub struct Families {
    /// Sessions without a parent in the list, the family with the newest member first.
    pub roots: Vec<usize>,
    /// The forks of each session, the ones with the newest member first.
    pub forks: Vec<Vec<usize>>,
    /// The session that each one was forked from.
    pub parents: Vec<Option<usize>>,
    /// The newest time in each session and its forks, in milliseconds since 1970.
    pub latest: Vec<i64>,
    /// How many forks hang at each session, those of its forks included.
    pub below: Vec<usize>,
}

impl Families {
    /// Ties sessions by the paths of their parents. Parents that form a cycle, which pi's list drops, are cut at the
    /// first session in the list.
    pub fn new(sessions: &[Shared]) -> Self {
        let by_path: HashMap<&Path, usize> =
            sessions.iter().enumerate().map(|(at, session)| (session.real_path().as_path(), at)).collect();
        let mut parents: Vec<Option<usize>> = sessions
            .iter()
            .enumerate()
            .map(|(at, session)| {
                let owner = session.owner.as_ref().and_then(|owner| owner.path.as_deref());
                let named = session.parent_path.as_deref();
                let mut known = [named, owner].into_iter().flatten().filter_map(|path| by_path.get(path).copied());
                known.next().filter(|&parent| parent != at)
            })
            .collect();
        cut_cycles(&mut parents);
        let mut families = Self {
            roots: Vec::new(),
            forks: vec![Vec::new(); sessions.len()],
            latest: sessions.iter().map(|session| session.order_time()).collect(),
            below: vec![0; sessions.len()],
            parents,
        };
        for (at, parent) in families.parents.iter().enumerate() {
            match parent {
                Some(parent) => families.forks[*parent].push(at),
                None => families.roots.push(at),
            }
        }
        for at in families.preorder().into_iter().rev() {
            if let Some(parent) = families.parents[at] {
                families.latest[parent] = families.latest[parent].max(families.latest[at]);
                families.below[parent] += 1 + families.below[at];
            }
        }
        let latest = &families.latest;
        let newest_first = |list: &mut Vec<usize>| list.sort_by_key(|&at| std::cmp::Reverse(latest[at]));
        newest_first(&mut families.roots);
        families.forks.iter_mut().for_each(newest_first);
        families
    }

    /// A session and all below it.
    pub fn family(&self, at: usize) -> Vec<usize> {
        let mut family = vec![at];
        let mut next = 0;
        while let Some(&at) = family.get(next) {
            family.extend(self.forks.get(at).into_iter().flatten());
            next += 1;
        }
        family
    }

    /// All sessions, parents before forks.
    pub fn preorder(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.forks.len());
        let mut stack: Vec<usize> = self.roots.iter().rev().copied().collect();
        while let Some(at) = stack.pop() {
            order.push(at);
            stack.extend(self.forks[at].iter().rev());
        }
        order
    }
}

fn cut_cycles(parents: &mut [Option<usize>]) {
    let mut seen = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        loop {
            if seen[at] == start {
                parents[at] = None;
                break;
            }
            if seen[at] != usize::MAX {
                break;
            }
            seen[at] = start;
            let Some(parent) = parents[at] else { break };
            at = parent;
        }
    }
}

/// Where a fork left the session that it was forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The last entry that both have, in the parent.
    pub at: Index,
    /// Entries that only the fork has.
    pub own: usize,
}

/// Finds the split point of a fork: the last entry of its active path that is in the parent as well. A fork keeps its
/// parent's ids, but for labels, which are written anew.
pub fn split(parent: &Tree, fork: &Tree) -> Option<Split> {
    let in_parent = |at: Index| fork.nodes[at as usize].id.as_deref().and_then(|id| parent.find(id));
    let at = fork.path(fork.leaf?).into_iter().filter_map(in_parent).next_back()?;
    let own = (0..fork.nodes.len() as Index).filter(|&at| in_parent(at).is_none()).count();
    Some(Split { at, own })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::digest::summary::Summary;
    use std::sync::Arc;

    fn session(name: &str, parent: Option<&str>, modified: i64) -> Shared {
        let parent_path = parent.map(Into::into);
        Arc::new(Summary { path: name.into(), parent_path, modified: Some(modified), ..Summary::default() })
    }

    fn names(sessions: &[Shared]) -> String {
        let families = Families::new(sessions);
        let order = families.preorder();
        order.iter().map(|&at| sessions[at].path.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn orders_families_by_their_newest_member() {
        let sessions = [
            session("old", None, 1),
            session("new", None, 5),
            session("fork", Some("old"), 3),
            session("newest", Some("fork"), 9),
            session("sister", Some("old"), 4),
            session("lost", Some("gone"), 2),
        ];
        assert_eq!(names(&sessions), "old fork newest sister new lost");
    }

    #[test]
    fn shows_sessions_whose_parents_form_a_cycle() {
        let sessions = [session("a", Some("b"), 1), session("b", Some("a"), 2), session("c", Some("c"), 3)];
        assert_eq!(names(&sessions), "c a b");
    }
}
