//! Hits of a search in the open session. Worker threads find them in batches. Hits are indices into the searched tree
//! and are discarded when the tree is replaced.

use std::sync::Arc;

use crate::app::panes::tree::family::TreePosition;
use crate::app::ticket::Claim;
use crate::base::sort;
use crate::search::query::Query;
use crate::search::text_match::Words;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::{EntryIndex, Tree};

/// A search in the open session.
#[derive(Debug, Default)]
pub struct TreeFind {
    /// The search words.
    pub words: Arc<Words>,
    /// The search over sessions that provided the words, if any.
    pub query: Option<Arc<Query>>,
    /// The error in the typed words.
    pub problem: Option<String>,
    /// `true` to hide all entries except hits.
    pub only_hits: bool,
    /// `true` while more hits may arrive.
    pub searching: bool,
    /// Progress in sessions (done, total), if several are searched.
    pub progress: Option<(usize, usize)>,
    /// The hits, in row order.
    pub hits: Vec<EntryIndex>,
    /// `true` for each entry that is a hit; allows constant-time lookups when rows are built.
    is_hit: Vec<bool>,
    /// The position before the search, restored when it is canceled.
    pub(super) from: TreePosition,
    /// `true` to move the selection to the hit nearest to the start position.
    pub(super) is_following: bool,
    /// The claim on the running search.
    pub claim: Option<Claim>,
    /// The first entry of the running search.
    pub(super) start: EntryIndex,
    /// The number of entries searched or being searched.
    searched: usize,
    /// The searched tree, and the position of each entry in row order.
    tree: Option<Arc<Tree>>,
    order: Vec<u32>,
}

impl TreeFind {
    pub(super) fn new(from: TreePosition) -> Self {
        Self { from, is_following: true, ..Self::default() }
    }

    /// Returns `true` if an entry is a hit.
    pub(crate) fn is_hit(&self, at: EntryIndex) -> bool {
        self.is_hit.get(at as usize).is_some_and(|is_hit| *is_hit)
    }

    /// Returns `true` if the number of hits is displayed. A session found by its metadata alone has no hits.
    pub fn is_shown(&self) -> bool {
        if self.query.is_some() { !self.hits.is_empty() } else { !self.words.is_empty() }
    }

    /// Returns the index of an entry among the hits.
    pub fn number(&self, at: EntryIndex) -> Option<usize> {
        self.hits.binary_search_by_key(&self.place(at), |&hit| self.place(hit)).ok()
    }

    fn place(&self, at: EntryIndex) -> u32 {
        self.order.get(at as usize).copied().unwrap_or(u32::MAX)
    }

    /// Returns `true` if this tree was searched, or none yet.
    pub(super) fn is_of(&self, tree: &Arc<Tree>) -> bool {
        self.tree.as_ref().is_none_or(|searched| Arc::ptr_eq(searched, tree))
    }

    /// Switches to a tree. Discards the hits if it is a different one, because they are indices into the old tree.
    pub(super) fn turn_to(&mut self, tree: &Arc<Tree>) {
        if self.tree.as_ref().is_some_and(|searched| Arc::ptr_eq(searched, tree)) {
            return;
        }
        self.place_in(tree);
        (self.start, self.searched) = (0, tree.nodes.len());
        self.forget_hits();
    }

    /// Switches to the grown version of the same tree and keeps the hits.
    pub(super) fn grow(&mut self, tree: &Arc<Tree>) {
        if let Some(before) = &self.tree {
            // A new label may match on any entry, so search everything again.
            self.searched = if before.labels == tree.labels { self.searched } else { 0 };
            self.place_in(tree);
            let order = &self.order;
            sort::by_key(&mut self.hits, |&hit| order.get(hit as usize));
        }
    }

    fn place_in(&mut self, tree: &Arc<Tree>) {
        self.order = vec![0; tree.nodes.len()];
        self.is_hit.resize(tree.nodes.len(), false);
        tree.order.iter().zip(0..).for_each(|(&at, place)| self.order[at as usize] = place);
        self.tree = Some(tree.clone());
    }

    /// Returns `true` if entries were added after the search finished.
    pub(super) fn is_behind(&self) -> bool {
        !self.searching && self.tree.as_ref().is_some_and(|tree| self.searched < tree.nodes.len())
    }

    /// Starts a search of the added entries.
    pub(super) fn continue_search(&mut self) {
        let len = self.tree.as_ref().map_or(0, |tree| tree.nodes.len());
        (self.start, self.searched) = (self.searched as EntryIndex, len);
        self.searching = true;
    }

    pub(super) fn forget_hits(&mut self) {
        self.hits.clear();
        self.is_hit.fill(false);
    }

    pub(super) fn add(&mut self, hits: impl Iterator<Item = EntryIndex>) {
        let is_new = |hit: &EntryIndex| {
            self.is_hit.get_mut(*hit as usize).is_some_and(|is_hit| !std::mem::replace(is_hit, true))
        };
        self.hits.extend(hits.filter(is_new));
        let order = &self.order;
        sort::by_key(&mut self.hits, |&hit| order.get(hit as usize));
    }

    /// Returns the hit nearest to an entry.
    pub(super) fn nearest(&self, at: EntryIndex) -> Option<EntryIndex> {
        let here = self.place(at);
        self.hits.iter().copied().min_by_key(|&hit| (self.place(hit).abs_diff(here), self.place(hit) < here))
    }

    /// Returns the next hit in a direction, and `true` if the search wrapped around.
    pub(crate) fn next(&self, from: Option<EntryIndex>, forward: bool) -> Option<(EntryIndex, bool)> {
        let here = from.map_or(0, |at| self.place(at));
        let behind = self.hits.partition_point(|&hit| self.place(hit) <= here);
        let before = self.hits.partition_point(|&hit| self.place(hit) < here);
        let next = if forward { self.hits.get(behind) } else { self.hits[..before].last() };
        let end = if forward { self.hits.first() } else { self.hits.last() };
        next.map(|&hit| (hit, false)).or_else(|| end.map(|&hit| (hit, true)))
    }
}

/// Returns the visible entry for a hit: an assistant message without text is shown by the result of its tool call.
pub fn seen(tree: &Tree, at: EntryIndex) -> EntryIndex {
    let is_answer = |at: &EntryIndex| tree.nodes[*at as usize].kind == EntryKind::ToolResult;
    let answer = tree.children(at).iter().copied().find(is_answer);
    answer.filter(|_| tree.nodes[at as usize].silent).unwrap_or(at)
}
