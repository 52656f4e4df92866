//! Text search in the open session: query input, results and jumps.

use std::sync::Arc;

use crate::app::panes::tree::TreePane;
use crate::app::panes::tree::hits::TreeFind;
use crate::catalog::{EntryRef, SessionKey};
use crate::search::query::Query;
use crate::search::text_match::Words;
use crate::session::tree::{EntryIndex, Tree};

/// A session and the tree of its file.
type FileTree = (SessionKey, Arc<Tree>);

impl TreePane {
    /// Starts a search at the current position. Returns `false` if no tree is loaded.
    pub(crate) fn begin_find(&mut self) -> bool {
        if self.tree.is_some() {
            self.find = Some(TreeFind::new(self.position()));
            self.rebuild();
        }
        self.tree.is_some()
    }

    /// Searches for the typed words.
    pub(crate) fn search_for(&mut self, words: Result<Arc<Words>, String>) {
        self.kept = None;
        let Some(find) = &mut self.find else { return };
        find.is_following = true;
        find.problem = words.as_ref().err().cloned();
        find.words = words.unwrap_or_default();
        self.restart_search();
    }

    /// Adopts the query of a search over sessions, unless this session has its own search. Highlights the hits and
    /// jumps to the first one. Returns `true` if a new search is required.
    pub(crate) fn follow_query(&mut self, query: Option<&Arc<Query>>) -> bool {
        let Some(tree) = self.tree.as_ref().filter(|tree| !tree.is_partial) else { return false };
        self.keeps_selection &= query.is_some();
        let is_own = |find: &TreeFind| find.query.is_none();
        let is_same = |find: &TreeFind| find.query.as_ref() == query && find.is_of(tree) && !find.is_behind();
        if self.find.as_ref().map_or(query.is_none(), |find| is_own(find) || is_same(find)) {
            return false;
        }
        let Some(query) = query else {
            self.end_find();
            return false;
        };
        // Keep the old hits until new ones arrive.
        let was = self.find.take().filter(|was| was.is_of(tree));
        let mut find = was.unwrap_or_else(|| TreeFind::new(self.position()));
        (find.from, find.claim) = (self.position(), None);
        (find.words, find.query) = (Arc::new(Words::of(query)), Some(query.clone()));
        // After the first jump for a query, the user may have moved on; don't jump again.
        let is_new = self.followed.replace(query.clone()).as_ref() != Some(query);
        find.is_following = is_new && !std::mem::take(&mut self.keeps_selection);
        find.turn_to(tree);
        if find.is_behind() {
            find.continue_search();
        }
        find.searching = true;
        self.find = Some(find);
        true
    }

    /// Restarts the search if another tree replaced the searched one. Returns `true` if it did.
    pub(crate) fn search_again(&mut self) -> bool {
        let is_other =
            |find: &TreeFind| find.query.is_none() && self.tree.as_ref().is_some_and(|tree| !find.is_of(tree));
        let is_other = self.find.as_ref().is_some_and(is_other);
        if is_other {
            self.restart_search();
        }
        let is_behind = |find: &&mut TreeFind| find.query.is_none() && !find.words.is_empty() && find.is_behind();
        let behind = self.find.as_mut().filter(is_behind).map(TreeFind::continue_search);
        is_other || behind.is_some()
    }

    fn restart_search(&mut self) {
        let (Some(find), Some(tree)) = (&mut self.find, &self.tree) else { return };
        find.claim = None; // what is still found of the words before is of no use
        (find.searching, find.progress) = (!find.words.is_empty(), None);
        find.turn_to(tree);
        if !find.searching {
            find.forget_hits();
            self.follow_hits();
        }
    }

    /// Returns the trees to search and the first entry to look at, if a search is pending.
    pub(crate) fn to_search(&self) -> Option<(Vec<FileTree>, EntryIndex)> {
        let find = self.find.as_ref().filter(|find| find.searching && find.query.is_none())?;
        let members = self.family.as_ref().map(|family| family.request.members.iter().map(|(key, _)| *key).collect());
        let sessions: Vec<SessionKey> = members.unwrap_or_else(|| self.session.into_iter().collect());
        let files = sessions.into_iter().filter_map(|key| Some((key, self.file(key)?.clone()))).collect();
        Some((files, if self.family.is_some() { 0 } else { find.start }))
    }

    /// Adds hits; the first batch replaces those of the previous words. Progress counts sessions.
    pub(crate) fn take_hits(
        &mut self,
        hits: Vec<EntryRef>,
        is_first: bool,
        is_last: bool,
        progress: Option<(usize, usize)>,
    ) {
        let hits: Vec<EntryIndex> = hits.into_iter().filter_map(|hit| self.shown(hit)).collect();
        let Some(find) = &mut self.find else { return };
        find.progress = progress;
        if hits.is_empty() && !is_first && !is_last {
            return;
        }
        if is_first {
            find.forget_hits();
        }
        find.add(hits.into_iter());
        find.searching = !is_last;
        self.follow_hits();
    }

    /// Rebuilds the rows. While hits are followed, jumps to the one nearest to the start position, or back there if
    /// there is none.
    fn follow_hits(&mut self) {
        let Some(find) = self.find.as_ref().filter(|find| find.is_following) else { return self.rebuild() };
        let from = find.from.clone();
        if let Some(at) = self.search_hit().filter(|&at| find.query.is_some() && find.is_hit(at)) {
            return self.reselect(at);
        }
        let anchor = from.selected.and_then(|selected| self.anchor(selected));
        match anchor.and_then(|at| find.nearest(at)) {
            Some(hit) => self.reselect(hit),
            None => self.go_back(from),
        }
    }

    /// Stops jumping to hits that arrive later, because the user has moved.
    pub(crate) fn stop_following(&mut self) {
        if let Some(find) = &mut self.find {
            find.is_following = false;
        }
    }

    /// Cancels the search and restores the position before it.
    pub(crate) fn cancel_find_in_tree(&mut self) {
        if let Some(find) = self.find.take() {
            self.go_back(find.from);
        }
    }

    /// Toggles between hits only and all entries.
    pub(crate) fn toggle_only_hits(&mut self) {
        let Some(find) = &mut self.find else { return };
        find.only_hits = !find.only_hits;
        self.kept = None;
        self.position.folds.clear();
        self.follow_hits();
    }

    /// Returns `true` if the selected entry is a hit of the search over sessions.
    pub(crate) fn is_at_hit(&self) -> bool {
        let find = self.find.as_ref().filter(|find| find.query.is_some());
        find.zip(self.selected_entry()).is_some_and(|(find, at)| find.is_hit(at))
    }

    /// Returns `true` if this session has its own search, independent of a search over sessions.
    pub(crate) fn has_own_find(&self) -> bool {
        self.find.as_ref().is_some_and(|find| find.query.is_none())
    }

    /// Ends the search.
    pub(crate) fn end_find(&mut self) {
        self.find = None;
        self.rebuild();
    }

    /// Moves to the next or previous hit. Returns `true` if the search wrapped around, and `None` without hits.
    pub(crate) fn next_hit(&mut self, forward: bool) -> Option<bool> {
        let here = self.selected_entry().or_else(|| self.selected_fork().and_then(|fork| fork.start.or(fork.split)));
        let (hit, is_wrapped) = self.find.as_ref()?.next(here, forward)?;
        self.select(hit);
        Some(is_wrapped)
    }

    /// Returns the search words if an entry contains them.
    pub(crate) fn words_of(&self, entry: EntryRef) -> Option<Arc<Words>> {
        let at = self.shown(entry)?;
        self.find.as_ref().filter(|find| find.is_hit(at)).map(|find| find.words.clone())
    }
}
