//! Showing several sessions in the tree of the open one: selection of members, merge requests, and the files of
//! entries.

use std::sync::Arc;

use crate::app::panes::tree::TreePane;
use crate::app::panes::tree::family::{FamilySelection, FamilyTree, ForkedFile, MergeRequest, TreeSelection};
use crate::app::panes::tree::summaries::Inherited;
use crate::catalog::cost_sharing::SharedEntries;
use crate::catalog::{Catalog, EntryRef, SessionKey};
use crate::session::tree::{EntryIndex, Tree};

impl TreePane {
    /// Returns the entry at an index, in its own file.
    pub fn entry(&self, at: EntryIndex) -> Option<EntryRef> {
        match &self.family {
            Some(family) => family.entry(at),
            None => self.session.map(|session| EntryRef { session, at }),
        }
    }

    /// Returns the index of a file's entry in the tree.
    pub fn shown(&self, entry: EntryRef) -> Option<EntryIndex> {
        match &self.family {
            Some(family) => family.shown(entry),
            None => {
                let is_there = self.session == Some(entry.session)
                    && self.tree.as_ref().is_some_and(|tree| (entry.at as usize) < tree.nodes.len());
                is_there.then_some(entry.at)
            }
        }
    }

    /// Returns the tree of a file whose entries are shown.
    pub fn file(&self, session: SessionKey) -> Option<&Arc<Tree>> {
        match &self.family {
            Some(family) => family.joined.file(*family.places.get(&session)?),
            None => self.tree.as_ref().filter(|_| self.session == Some(session)),
        }
    }

    /// Returns the tree of the open session alone.
    pub fn own(&self) -> Option<&Arc<Tree>> {
        self.file(self.session?)
    }

    /// Returns `true` if the whole family is to be shown.
    pub fn is_whole(&self) -> bool {
        self.position.wanted.whole
    }

    /// Toggles between the whole family and the session alone. Returns `true` for the family.
    pub(crate) fn toggle_family(&mut self) -> bool {
        let whole = !self.position.wanted.whole;
        self.position.wanted = FamilySelection { whole, ..FamilySelection::default() };
        whole
    }

    /// Shows or hides a family member; adds or removes an unlinked session.
    pub(crate) fn toggle_member(&mut self, session: SessionKey, is_of_family: bool) {
        let set = if is_of_family { &mut self.position.wanted.hidden } else { &mut self.position.wanted.added };
        if !set.remove(&session) {
            set.insert(session);
        }
    }

    /// Expands a fork in place, or collapses it together with its expanded forks.
    pub(super) fn open_fork(&mut self, session: SessionKey, open: bool) -> bool {
        if self.session == Some(session) {
            return false; // it is always shown
        }
        let wanted = &mut self.position.wanted;
        match (wanted.whole, open) {
            (true, true) => wanted.hidden.remove(&session) | wanted.added.contains(&session),
            (true, false) if wanted.added.contains(&session) => wanted.added.remove(&session),
            (true, false) => wanted.hidden.insert(session),
            (false, true) => wanted.opened.insert(session),
            (false, false) => wanted.opened.remove(&session),
        }
    }

    /// Returns the sessions to merge, unless they were already requested.
    pub(crate) fn next_to_join(&mut self, catalog: &Catalog) -> Option<MergeRequest> {
        let now = (catalog.version(), self.position.wanted.clone());
        if self.joined_for.as_ref() == Some(&now) {
            return None;
        }
        self.joined_for = Some(now);
        let to_join =
            self.session.filter(|&key| catalog.has(key)).and_then(|key| self.position.wanted.members(key, catalog));
        let Some(to_join) = to_join else {
            (self.merge_request, self.joining) = (None, None);
            self.leave_family();
            return None;
        };
        let asked = self.merge_request.as_ref();
        // Finish a merge even if its files have grown; a file that grows constantly would otherwise restart it forever.
        let is_grown = |asked: &MergeRequest| {
            asked.is_whole == to_join.is_whole
                && asked.members.iter().map(|(key, _)| key).eq(to_join.members.iter().map(|(key, _)| key))
        };
        if asked.is_some_and(|asked| asked.is_same(&to_join) || (self.joining.is_some() && is_grown(asked))) {
            return None;
        }
        self.merge_request = Some(to_join.clone());
        Some(to_join)
    }

    /// Handles a failed merge: the current tree stays.
    pub(crate) fn fail_to_join(&mut self) {
        self.joining = None;
        self.joined_for = None;
        if self.family.is_none() {
            (self.position.wanted, self.merge_request) = (FamilySelection::default(), None);
        }
    }

    /// Shows a merged tree.
    pub(crate) fn show_family(&mut self, family: Arc<FamilyTree>) {
        (self.joining, self.joined_for) = (None, None);
        self.note_selection();
        self.keep_selected();
        self.tree = Some(family.joined.tree.clone());
        self.family = Some(family);
        self.show_other();
    }

    /// Shows the open session alone again.
    pub(super) fn leave_family(&mut self) {
        let Some(own) = self.family.as_ref().and_then(|_| self.own().cloned()) else { return };
        self.note_selection();
        let is_others = |selected: &TreeSelection| match *selected {
            TreeSelection::Fork(key, _) => self.own_forks.iter().all(|fork| fork.key != key),
            TreeSelection::Entry(entry) | TreeSelection::Run(entry) => Some(entry.session) != self.session,
            TreeSelection::Inherited | TreeSelection::Start => false,
        };
        // A selection in another file moves to the entry from which that file diverges.
        let left = self.position.selected.filter(is_others).and_then(|selected| self.anchor(selected));
        let at = left.and_then(|at| self.nearest_own(at));
        self.family = None;
        self.tree = Some(own);
        if let Some(at) = at {
            self.position.selected = self.entry_of_own(at).map(TreeSelection::Entry);
        }
        self.show_other();
    }

    /// Returns the nearest entry at or above one that belongs to the open session, as an index in its tree.
    fn nearest_own(&self, at: EntryIndex) -> Option<EntryIndex> {
        let (family, tree) = (self.family.as_ref()?, self.tree.as_ref()?);
        let own = |at: EntryIndex| family.entry(at).filter(|entry| Some(entry.session) == self.session);
        tree.to_root(at).find_map(own).map(|entry| entry.at)
    }

    /// Stores the forks of the session and the other sessions that contain its entries.
    pub(crate) fn set_forks(&mut self, forks: Vec<ForkedFile>, others: SharedEntries) {
        self.others = others;
        if self.family.is_some() {
            self.own_forks = forks;
            return;
        }
        let chosen = self.selected_fork().map(|fork| fork.key).or_else(|| self.awaited_fork.take());
        let is_there = |key: &SessionKey| forks.iter().any(|fork| fork.key == *key);
        self.position.selected =
            chosen.filter(is_there).map(|key| TreeSelection::Fork(key, 0)).or(self.position.selected);
        self.own_forks = forks;
        self.rebuild();
    }

    /// Returns the forks in the tree.
    pub fn forks(&self) -> &[ForkedFile] {
        self.family.as_ref().map_or(&self.own_forks, |family| &family.forks)
    }

    /// Returns the other sessions that contain an entry.
    pub fn others_of(&self, at: EntryIndex) -> &[SessionKey] {
        self.family.as_ref().map_or(&self.others, |family| &family.others).of(at)
    }

    /// Rebuilds the rows after the tree was replaced by another one of the same session.
    fn show_other(&mut self) {
        let inherited = self.own().and_then(|tree| Inherited::of(tree)).filter(|_| !self.is_whole());
        let last = inherited.and_then(|inherited| self.shown(self.entry_of_own(inherited.last)?));
        self.inherited = inherited.zip(last).map(|(inherited, last)| Inherited { last, ..inherited });
        self.turns.clear();
        self.rebuild();
        self.find_awaited();
    }

    /// Returns the entry by which a selection is located in the current tree.
    pub(super) fn anchor(&self, selected: TreeSelection) -> Option<EntryIndex> {
        match selected {
            TreeSelection::Entry(entry) | TreeSelection::Run(entry) => self.shown(entry),
            TreeSelection::Fork(key, part) => {
                let fork = self.forks().iter().find(|fork| (fork.key, fork.part) == (key, part))?;
                fork.start.or(fork.split)
            }
            TreeSelection::Inherited | TreeSelection::Start => None,
        }
    }

    /// Returns the reference to an entry of the open session's own tree.
    pub(super) fn entry_of_own(&self, at: EntryIndex) -> Option<EntryRef> {
        self.session.map(|session| EntryRef { session, at })
    }
}
