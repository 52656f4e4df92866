//! State of the tree pane: the open session, its visible rows and the selection.

pub mod family;
mod family_loading;
mod find_in_session;
pub mod hits;
mod navigation;
pub mod row_text;
pub mod rows;
pub mod summaries;

use std::collections::HashMap;
use std::sync::Arc;

use family::{FamilySelection, FamilyTree, ForkedFile, MergeRequest, TreePosition, TreeSelection};
use hits::TreeFind;
use rows::{RowIndex, RowItem, TreeRows, passes};
use summaries::Inherited;

use crate::app::ticket::Claim;
use crate::app::widgets::Cursor;
use crate::catalog::cost_sharing::SharedEntries;
use crate::catalog::search::HitPlace;
use crate::catalog::{Catalog, EntryRef, SessionKey};
use crate::config::Filter;
use crate::search::query::Query;
use crate::session::activity::Activity;
use crate::session::digest::commits::{DigestCommit, commits_at};
use crate::session::entry::EntryId;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::{EntryIndex, Tree};

/// The state of the pane.
#[derive(Debug, Default)]
pub struct TreePane {
    /// The session that is shown or being opened.
    pub session: Option<SessionKey>,
    /// The displayed tree: that of the session or of its family.
    pub tree: Option<Arc<Tree>>,
    /// The merged family, if the tree shows one.
    pub family: Option<Arc<FamilyTree>>,
    /// The other sessions that contain the entries of the session's own tree.
    pub others: SharedEntries,
    /// The selection, the folds and the other sessions to show. The scroll position is that of the cursor.
    pub(crate) position: TreePosition,
    /// The last merge request.
    merge_request: Option<MergeRequest>,
    /// The claim on the running merge.
    pub joining: Option<Claim>,
    /// The catalog version and selection for which the last merge request was computed.
    joined_for: Option<(u64, FamilySelection)>,
    /// The forks of the session's own tree.
    own_forks: Vec<ForkedFile>,
    /// The reason why the session cannot be opened.
    pub error: Option<String>,
    /// The filter on entries.
    pub filter: Filter,
    /// Shows the timestamps of labels.
    pub label_times: bool,
    /// The search in the tree.
    pub find: Option<TreeFind>,
    /// The rows.
    pub rows: TreeRows,
    /// The selected row.
    pub cursor: Cursor,
    /// `true` if the tree was just opened and the selection must be scrolled into view.
    pub must_scroll_to_selection: bool,
    /// `true` if the file has grown since the tree was requested.
    pub is_outdated: bool,
    /// The claim on the tree being read.
    pub opening: Option<Claim>,
    /// The claim on the search for the forks' split points.
    pub splitting: Option<Claim>,
    /// The forks whose split points were requested.
    pub requested_forks: Vec<SessionKey>,
    /// The inherited entries, if the session is a fork.
    pub inherited: Option<Inherited>,
    /// The summary of each turn, computed when the filter shows turns or the outline.
    turns: Vec<(EntryIndex, Activity)>,
    /// `true` to collapse runs of tool calls into one row.
    pub collapses_runs: bool,
    /// `true` while the selection follows the leaf.
    pub follows: bool,
    /// `true` after a jump: the selection is then centered.
    pub jumped: bool,
    /// The entry that was selected when the tree was reloaded. It keeps its row until the filter changes.
    kept: Option<EntryRef>,
    /// The entry to select once its session is open.
    awaited_entry: Option<EntryRef>,
    /// The entry to select by ID once its session is open.
    awaited_id: Option<(SessionKey, EntryId)>,
    /// The fork that was selected when the session was left; fork rows arrive later than the others.
    awaited_fork: Option<SessionKey>,
    saved_positions: HashMap<SessionKey, TreePosition>,
    /// `true` to restore the saved position once the whole tree is loaded.
    awaits_saved_position: bool,
    /// The entry in this session that the search over sessions found.
    search_hit: Option<HitPlace>,
    /// `true` if that entry is not selected yet.
    awaits_search_hit: bool,
    /// `true` after a jump to an entry; hits then do not move the selection.
    keeps_selection: bool,
    /// The search over sessions to whose hits in this session the selection has moved.
    followed: Option<Arc<Query>>,
}

impl TreePane {
    /// Returns a pane without a tree, with the given filter.
    pub fn new(filter: Filter, collapses_runs: bool) -> Self {
        Self { filter, collapses_runs, ..Self::default() }
    }

    /// Switches to another session, or to none. The tree is loaded later.
    pub fn turn_to(&mut self, session: Option<SessionKey>) {
        self.remember();
        let remembered = session.and_then(|session| self.saved_positions.get(&session));
        let wanted = remembered.map(|position| position.wanted.clone()).unwrap_or_default();
        let memories = std::mem::take(&mut self.saved_positions);
        // Late replies about the previous session are ignored: their claims are dropped.
        *self = Self {
            session,
            position: TreePosition { wanted, ..TreePosition::default() },
            saved_positions: memories,
            filter: self.filter,
            collapses_runs: self.collapses_runs,
            label_times: self.label_times,
            must_scroll_to_selection: self.must_scroll_to_selection,
            jumped: self.jumped,
            awaited_entry: self.awaited_entry,
            awaited_id: self.awaited_id.take(),
            awaits_saved_position: self.awaits_saved_position,
            awaits_search_hit: self.awaits_search_hit,
            ..Self::default()
        };
    }

    /// Shows the tree of the session with the saved selection and folds, or at its leaf.
    pub fn show(&mut self, tree: Arc<Tree>) {
        self.keep_selected();
        let own = self.own().filter(|_| self.family.is_some());
        match own.map(|own| tree.extends(own)) {
            // The family is merged again with the new tree.
            Some(true) => return,
            Some(false) => self.leave_family(),
            None => {}
        }
        // A reloaded or completed tree keeps its scroll position.
        self.must_scroll_to_selection = self.tree.is_none();
        self.move_from_part(&tree);
        let remembered = self.session.and_then(|session| self.saved_positions.get(&session));
        let memory = match &self.tree {
            Some(_) if !self.awaits_saved_position => self.position(),
            // A saved position refers to the complete tree.
            _ if tree.is_partial => TreePosition::default(),
            _ => remembered.cloned().unwrap_or_default(),
        };
        self.awaits_saved_position = tree.is_partial && self.tree.is_none() && remembered.is_some();
        let is_own = |entry: &EntryRef| Some(entry.session) == self.session;
        // Entries of other sessions are merged later.
        let is_there = |entry: &EntryRef| !is_own(entry) || (entry.at as usize) < tree.nodes.len();
        self.position.folds = memory.folds.into_iter().filter(is_there).collect();
        self.position.open_runs = memory.open_runs.into_iter().filter(is_there).collect();
        self.position.shows_inherited = memory.shows_inherited;
        self.error = None;
        if self.tree.as_ref().is_none_or(|before| !tree.extends(before)) {
            // These are indices into the previous tree.
            self.kept = None;
            self.own_forks.clear();
            self.others = SharedEntries::default();
            self.requested_forks.clear();
            self.splitting = None;
            self.awaited_fork = match memory.selected {
                Some(TreeSelection::Fork(fork, _)) => Some(fork),
                _ => None,
            };
        } else if let Some(find) = &mut self.find {
            find.grow(&tree);
        }
        let leaf = tree.leaf.and_then(|at| self.entry(at)).map(TreeSelection::Entry);
        self.position.selected = match memory.selected {
            Some(TreeSelection::Entry(entry) | TreeSelection::Run(entry)) if !is_own(&entry) => {
                // The user may have moved elsewhere in the meantime.
                let is_free = self.awaited_entry.is_none() && self.awaited_id.is_none();
                self.awaited_entry =
                    self.awaited_entry.or(Some(entry).filter(|_| is_free && self.position.wanted.is_any()));
                leaf
            }
            Some(TreeSelection::Entry(entry) | TreeSelection::Run(entry)) if !is_there(&entry) => leaf,
            Some(TreeSelection::Fork(..)) if self.own_forks.is_empty() => leaf,
            None => leaf,
            selected => selected,
        };
        self.turns.clear();
        self.inherited = Inherited::of(&tree).filter(|_| !tree.is_partial);
        self.tree = Some(tree);
        self.rebuild();
        self.go_to_search_hit();
        self.find_awaited();
    }

    /// Keeps a row for the selected entry in the next tree even if the filter hides it.
    fn keep_selected(&mut self) {
        let item = self.selected_item().filter(|_| !self.follows);
        self.kept = item.and_then(RowItem::entry).and_then(|at| self.entry(at));
    }

    /// Maps indices from the partial to the complete tree, matching entries by the file offset of their lines.
    fn move_from_part(&mut self, whole: &Tree) {
        let Some(part) = self.tree.as_ref().filter(|tree| tree.is_partial && !whole.is_partial) else { return };
        let moved = |entry: EntryRef| {
            if Some(entry.session) != self.session {
                return Some(entry);
            }
            let at = HitPlace::Offset(part.nodes.get(entry.at as usize)?.offset).find(whole)?;
            Some(EntryRef { at, ..entry })
        };
        self.position.folds = self.position.folds.iter().filter_map(|&entry| moved(entry)).collect();
        self.position.open_runs = self.position.open_runs.iter().filter_map(|&entry| moved(entry)).collect();
        self.position.selected = match self.position.selected {
            Some(TreeSelection::Entry(entry)) => moved(entry).map(TreeSelection::Entry),
            Some(TreeSelection::Run(entry)) => moved(entry).map(TreeSelection::Run),
            other => other,
        };
    }

    /// Sets the entry found by a search, or none. It is selected once its tree is loaded.
    pub(crate) fn point_at(&mut self, entry: Option<HitPlace>) {
        if self.search_hit != entry {
            (self.search_hit, self.awaits_search_hit) = (entry, true);
            self.go_to_search_hit();
        }
    }

    /// Returns the entry found by a search, once its tree is loaded.
    pub(crate) fn search_hit(&self) -> Option<EntryIndex> {
        let tree = self.own().filter(|tree| !tree.is_partial)?;
        let at = self.search_hit?.find(tree).map(|at| hits::seen(tree, at))?;
        self.shown(EntryRef { session: self.session?, at })
    }

    fn go_to_search_hit(&mut self) {
        if let Some(at) = self.search_hit().filter(|_| self.awaits_search_hit) {
            self.awaits_search_hit = false;
            self.select(at);
            self.must_scroll_to_selection = true;
        }
    }

    /// Selects an entry once its session is open, and reveals it if it is hidden.
    pub(crate) fn go_to_entry(&mut self, entry: EntryRef) {
        (self.awaited_entry, self.awaited_id) = (Some(entry), None);
        self.find_awaited();
    }

    /// Selects an entry of the session's own tree by ID.
    pub(crate) fn go_to_id(&mut self, session: SessionKey, entry: EntryId) {
        (self.awaited_entry, self.awaited_id) = (None, Some((session, entry)));
        self.find_awaited();
    }

    fn find_awaited(&mut self) {
        if let Some(own) = self.own().filter(|tree| !tree.is_partial).cloned()
            && let Some((_, id)) = self.awaited_id.take_if(|(session, _)| self.session == Some(*session))
        {
            let entry = id.find(&own).and_then(|at| self.entry_of_own(at));
            self.awaited_entry = entry.or(self.awaited_entry);
        }
        let Some((entry, tree)) = self.awaited_entry.and_then(|entry| Some((entry, self.file(entry.session)?))) else {
            return;
        };
        // Indices into a partial tree differ from those of the complete one.
        if !tree.is_partial {
            self.awaited_entry = None;
            self.awaits_search_hit = false;
            self.keeps_selection = true;
            self.stop_following();
            if let Some(at) = self.shown(entry) {
                self.reveal(at);
            }
        }
    }

    /// Selects an entry, and changes the filter if that hides it.
    fn reveal(&mut self, at: EntryIndex) {
        self.find.take_if(|find| find.only_hits && !find.is_hit(at));
        let Some(tree) = &self.tree else { return };
        if !passes(tree, at, self.filter) {
            let shows = |filter: &&Filter| passes(tree, at, **filter);
            self.filter = [Filter::Default, Filter::All].iter().find(shows).copied().unwrap_or(self.filter);
        }
        self.reselect(at);
    }

    /// Reports that the session cannot be opened or read.
    pub fn fail(&mut self, error: String) {
        self.turn_to(self.session);
        self.error = Some(error);
    }

    fn remember(&mut self) {
        let (Some(session), Some(false)) = (self.session, self.tree.as_ref().map(|tree| tree.is_partial)) else {
            return;
        };
        self.saved_positions.insert(session, self.position());
    }

    /// Returns the summary of the turn after a prompt.
    pub fn turn(&self, prompt: EntryIndex) -> Option<&Activity> {
        let place = self.turns.binary_search_by_key(&prompt, |(at, _)| *at).ok()?;
        self.turns.get(place).map(|(_, activity)| activity)
    }

    /// Rebuilds the rows. The selection stays on its entry, or moves to the nearest visible ancestor.
    pub(crate) fn rebuild(&mut self) {
        let Some(tree) = self.tree.clone() else { return };
        if self.follows {
            self.position.selected = tree.leaf.and_then(|leaf| self.entry(leaf)).map(TreeSelection::Entry);
        }
        // A fork row is not a hit.
        let only_hits = self.find.as_ref().is_some_and(|find| find.only_hits);
        let forks = if only_hits { &[][..] } else { self.forks() };
        let folds = self.position.folds.iter().filter_map(|&entry| self.shown(entry));
        let kept = self.kept.and_then(|entry| self.shown(entry));
        let in_open_turn = self.in_open_turns(&tree);
        let is_open = |at: EntryIndex| in_open_turn.get(at as usize).is_some_and(|&is_open| is_open);
        let shows = |at| kept == Some(at) || self.shows(&tree, at) || is_open(at) && passes(&tree, at, Filter::Default);
        let mut rows = TreeRows::new(&tree, shows, folds, forks);
        for row in rows.list.iter_mut().filter(|_| !in_open_turn.is_empty()) {
            row.in_run = row.item.entry().is_some_and(|at| is_open(at) && !tree.is_prompt(at));
        }
        if let Some(inherited) = self.inherited.filter(|_| !only_hits) {
            rows.push_inherited_row(&tree, inherited.last, self.position.shows_inherited);
        }
        if self.collapses_runs && self.filter == Filter::Default && !only_hits {
            let is_hit = |at| self.find.as_ref().is_some_and(|find| find.is_hit(at));
            let is_part = |at: EntryIndex| {
                tree.nodes[at as usize].kind == EntryKind::ToolResult
                    && !(tree.labels.contains_key(&at) || tree.flagged.contains(&at) || is_hit(at))
            };
            let is_open = |first| self.entry(first).is_some_and(|first| self.position.open_runs.contains(&first));
            rows.push_run_rows(&tree, is_part, is_open);
        }
        if self.filter.has_turns() && self.turns.is_empty() {
            self.turns = summaries::turns(&tree);
        }
        if rows.entries > 0 && tree.is_current_position(None) {
            rows.push_start_row();
        }
        let seen = rows.leaf.and_then(|row| rows.last_of(row));
        let steps = |leaf| tree.to_root(leaf).take_while(|at| Some(*at) != seen);
        rows.leaf_below = tree.leaf.map_or(0, |leaf| steps(leaf).count());
        self.rows = rows.layout();
        self.cursor.follow(self.row_of_selected());
    }

    /// Returns the commits that entries printed, in their order.
    pub fn commits<'a>(
        &'a self,
        entries: &'a [EntryIndex],
        catalog: &'a Catalog,
    ) -> impl Iterator<Item = &'a DigestCommit> {
        entries.iter().filter_map(|&at| self.entry(at)).flat_map(|EntryRef { session, at }| {
            let digest = catalog.get(session).filter(|session| session.facts().is_committed());
            digest.map_or(&[][..], |digest| commits_at(&digest.commits, at))
        })
    }

    /// Returns `true` for each entry of an unfolded turn; empty if there is none.
    fn in_open_turns(&self, tree: &Tree) -> Vec<bool> {
        let is_open = |at: EntryIndex| self.entry(at).is_some_and(|at| self.position.open_runs.contains(&at));
        if self.filter != Filter::Turns || self.position.open_runs.is_empty() {
            return Vec::new();
        }
        let mut in_open = vec![false; tree.nodes.len()];
        for &at in &tree.order {
            in_open[at as usize] = match tree.nodes[at as usize].kind {
                EntryKind::User => is_open(at),
                _ => tree.parent(at).is_some_and(|parent| in_open[parent as usize]),
            };
        }
        in_open
    }

    fn row_of_selected(&self) -> RowIndex {
        let Some(tree) = &self.tree else { return 0 };
        let place =
            |wanted: &dyn Fn(RowItem) -> bool| self.rows.list.iter().position(|row| wanted(row.item)).unwrap_or(0);
        match self.position.selected {
            Some(TreeSelection::Entry(entry)) => self.shown(entry).map_or(0, |at| self.rows.nearest(tree, at)),
            Some(TreeSelection::Run(first)) => {
                let row = self.shown(first).map_or(0, |at| self.rows.nearest(tree, at));
                let is_open = self.rows.list.get(row).is_some_and(|row| row.in_run);
                row - usize::from(is_open && row > 0)
            }
            Some(TreeSelection::Fork(key, part)) => {
                // A collapsed fork has only one row.
                let parts = self.forks().iter().filter(|fork| fork.key == key).count();
                let is_same_fork = |fork: &ForkedFile| fork.key == key && (fork.part == part || parts == 1);
                place(&|item| matches!(item, RowItem::Fork(place) if is_same_fork(&self.forks()[place])))
            }
            Some(TreeSelection::Inherited) => place(&|item| item == RowItem::Inherited),
            Some(TreeSelection::Start) | None => 0,
        }
    }

    /// Returns `true` if an entry passes the filters; folds are not considered. Hits always pass.
    fn shows(&self, tree: &Tree, at: EntryIndex) -> bool {
        match &self.find {
            Some(find) if find.only_hits => find.is_hit(at),
            Some(find) if find.is_hit(at) => true,
            _ => passes(tree, at, self.filter),
        }
    }

    /// Returns the current selection, folds and scroll position.
    fn position(&self) -> TreePosition {
        TreePosition { top: self.cursor.top, ..self.position.clone() }
    }

    /// Restores a position.
    fn go_back(&mut self, position: TreePosition) {
        let wanted = std::mem::take(&mut self.position.wanted);
        self.position = TreePosition { wanted, ..position };
        self.rebuild();
        self.cursor.top = self.position.top;
    }

    /// Drops a pending fork or entry that would move the selection, because the user has moved.
    pub(crate) fn await_nothing(&mut self) {
        self.awaited_fork = None;
        (self.awaited_entry, self.awaited_id) = (None, None);
        self.awaits_saved_position = false;
    }

    /// Stores the selected row so that it can be restored after the rows change.
    pub fn note_selection(&mut self) {
        self.cursor.at = self.cursor.at.min(self.rows.list.len().saturating_sub(1));
        let selected = match self.selected_item() {
            Some(RowItem::Entry(at)) => self.entry(at).map(TreeSelection::Entry),
            Some(RowItem::Fork(place)) => self.forks().get(place).map(|fork| TreeSelection::Fork(fork.key, fork.part)),
            Some(RowItem::Run(run)) => self.entry(self.rows.runs[run].first()).map(TreeSelection::Run),
            Some(RowItem::Inherited) => Some(TreeSelection::Inherited),
            Some(RowItem::Start) => Some(TreeSelection::Start),
            None => None,
        };
        self.position.selected = selected.or(self.position.selected);
    }

    /// Returns the item of the selected row.
    pub fn selected_item(&self) -> Option<RowItem> {
        self.rows.list.get(self.cursor.at).map(|row| row.item)
    }

    /// Returns the selected entry, if the row is one; for a run its last entry.
    pub fn selected_entry(&self) -> Option<EntryIndex> {
        self.rows.last_of(self.cursor.at)
    }

    /// Returns the selected fork, if the row is one.
    pub fn selected_fork(&self) -> Option<&ForkedFile> {
        let RowItem::Fork(place) = self.selected_item()? else { return None };
        self.forks().get(place)
    }

    /// Changes the filter.
    pub(crate) fn set_filter(&mut self, filter: Filter) {
        (self.filter, self.kept) = (filter, None);
        // Inherited entries that were visible stay expanded, even if they were shown only for lack of others.
        self.position.shows_inherited |= self.rows.list.iter().any(|row| row.is_inherited);
        self.rebuild();
    }
}
