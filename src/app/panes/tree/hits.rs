//! What is looked for in the open session, and which of its entries have it: jumping from hit to hit. The entries are
//! found elsewhere and come some at a time. They are places in the tree that is searched, and found anew in another one.

use std::sync::Arc;

use crate::app::panes::tree::position::TreePosition;
use crate::app::ticket::Claim;
use crate::search::query::Query;
use crate::search::text_match::Words;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::{Index, Tree};

/// What is looked for in the open session.
#[derive(Debug)]
pub struct TreeFind {
    /// What is looked for.
    pub words: Arc<Words>,
    /// The search over sessions whose hits these are, if they are not of a search in this one.
    pub query: Option<Arc<Query>>,
    /// What is wrong with what is typed.
    pub problem: Option<String>,
    /// Whether all but the hits is hidden.
    pub only_hits: bool,
    /// Whether there may be more hits.
    pub searching: bool,
    /// Progress in sessions (done, total), if several are searched.
    pub progress: Option<(usize, usize)>,
    /// The entries with the words, as the rows are ordered.
    hits: Vec<Index>,
    /// Which entries they are: it is asked of each for each time that rows are made.
    is_hit: Vec<bool>,
    /// Where the search began: it is gone back to.
    pub(super) from: TreePosition,
    /// Whether the selection goes to the hit that is nearest to there.
    pub(super) is_following: bool,
    /// Who waits for hits.
    pub claim: Option<Claim>,
    /// The entry from which on it is searched now,
    pub(super) start: Index,
    /// and how many entries are, or were.
    searched: usize,
    /// The tree that is searched, and where each of its entries stands in the order of the rows.
    tree: Option<Arc<Tree>>,
    order: Vec<u32>,
}

impl TreeFind {
    pub(super) fn new(from: TreePosition) -> Self {
        Self {
            words: Arc::default(),
            query: None,
            problem: None,
            only_hits: false,
            searching: false,
            progress: None,
            hits: Vec::new(),
            is_hit: Vec::new(),
            from,
            is_following: true,
            claim: None,
            start: 0,
            searched: 0,
            tree: None,
            order: Vec::new(),
        }
    }

    /// Whether an entry has what is looked for.
    pub(crate) fn is_hit(&self, at: Index) -> bool {
        self.is_hit.get(at as usize).is_some_and(|is_hit| *is_hit)
    }

    /// Whether it is said how many hits there are: a session that was found as a whole has none.
    pub fn is_shown(&self) -> bool {
        if self.query.is_some() { !self.hits.is_empty() } else { !self.words.is_empty() }
    }

    /// How many hits there are.
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// Which of the hits an entry is.
    pub fn number(&self, at: Index) -> Option<usize> {
        self.hits.binary_search_by_key(&self.place(at), |&hit| self.place(hit)).ok()
    }

    fn place(&self, at: Index) -> u32 {
        self.order.get(at as usize).copied().unwrap_or(u32::MAX)
    }

    /// Whether it was this tree that was searched, or none yet.
    pub(super) fn is_of(&self, tree: &Arc<Tree>) -> bool {
        self.tree.as_ref().is_none_or(|searched| Arc::ptr_eq(searched, tree))
    }

    /// Turns to a tree, if it is another one than before: hits were places in that.
    pub(super) fn turn_to(&mut self, tree: &Arc<Tree>) {
        if self.tree.as_ref().is_some_and(|searched| Arc::ptr_eq(searched, tree)) {
            return;
        }
        self.place_in(tree);
        (self.start, self.searched) = (0, tree.nodes.len());
        self.forget_hits();
    }

    /// Turns to the same tree that has grown: hits stay.
    pub(super) fn grow(&mut self, tree: &Arc<Tree>) {
        if let Some(before) = &self.tree {
            // A label may be on any entry.
            self.searched = if before.labels == tree.labels { self.searched } else { 0 };
            self.place_in(tree);
            let order = &self.order;
            self.hits.sort_by_key(|&hit| order.get(hit as usize));
        }
    }

    fn place_in(&mut self, tree: &Arc<Tree>) {
        self.order = vec![0; tree.nodes.len()];
        self.is_hit.resize(tree.nodes.len(), false);
        tree.order().iter().zip(0..).for_each(|(&at, place)| self.order[at as usize] = place);
        self.tree = Some(tree.clone());
    }

    /// Whether entries came since it was searched, which is done.
    pub(super) fn is_behind(&self) -> bool {
        !self.searching && self.tree.as_ref().is_some_and(|tree| self.searched < tree.nodes.len())
    }

    /// Begins to search the entries that came.
    pub(super) fn go_on(&mut self) {
        let len = self.tree.as_ref().map_or(0, |tree| tree.nodes.len());
        (self.start, self.searched) = (self.searched as Index, len);
        self.searching = true;
    }

    pub(super) fn forget_hits(&mut self) {
        self.hits.clear();
        self.is_hit.fill(false);
    }

    pub(super) fn add(&mut self, hits: impl Iterator<Item = Index>) {
        let is_new =
            |hit: &Index| self.is_hit.get_mut(*hit as usize).is_some_and(|is_hit| !std::mem::replace(is_hit, true));
        self.hits.extend(hits.filter(is_new));
        let order = &self.order;
        self.hits.sort_by_key(|&hit| order.get(hit as usize));
    }

    /// The hit that is nearest to an entry.
    pub(super) fn nearest(&self, at: Index) -> Option<Index> {
        let here = self.place(at);
        self.hits.iter().copied().min_by_key(|&hit| (self.place(hit).abs_diff(here), self.place(hit) < here))
    }

    /// The next hit in a direction, and whether that is from the other end on.
    pub(super) fn next(&self, from: Option<Index>, forward: bool) -> Option<(Index, bool)> {
        let here = from.map_or(0, |at| self.place(at));
        let behind = self.hits.partition_point(|&hit| self.place(hit) <= here);
        let before = self.hits.partition_point(|&hit| self.place(hit) < here);
        let next = if forward { self.hits.get(behind) } else { self.hits[..before].last() };
        let end = if forward { self.hits.first() } else { self.hits.last() };
        next.map(|&hit| (hit, false)).or_else(|| end.map(|&hit| (hit, true)))
    }
}

/// The entry that stands for one in which something was found: what an assistant only called is seen with the answer.
pub fn seen(tree: &Tree, at: Index) -> Index {
    let is_answer = |at: &Index| tree.nodes[*at as usize].kind == EntryKind::ToolResult;
    let answer = tree.children(at).iter().copied().find(is_answer);
    answer.filter(|_| tree.nodes[at as usize].silent).unwrap_or(at)
}
