//! The tree pane: the open session, which of its rows are seen, and moving about in it.

pub mod activity;
pub mod display_text;
pub mod family;
mod family_loading;
mod find_in_session;
mod folding;
pub mod hits;
mod navigation;
pub mod pi_text;
mod position;
mod row_prefix;
pub mod rows;
mod summary_rows;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::app::ticket::Claim;
use crate::app::widgets::cursor::Cursor;
use crate::catalog::search::HitPlace;
use crate::catalog::shared_entries::SharedEntries;
use crate::catalog::{EntryRef, SessionKey};
use crate::config::Filter;
use crate::search::query::Query;
use crate::session::entry::EntryId;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::{Index, Tree};
use activity::{Activity, Inherited};
use family::{FamilySelection, FamilyTree, ForkedFile, MergeRequest};
use hits::TreeFind;
use position::{TreePosition, TreeSelection};
use rows::{RowIndex, RowItem, TreeRows, passes};

/// The state of the pane.
#[derive(Debug, Default)]
pub struct TreePane {
    /// The session that is shown or being opened.
    pub session: Option<SessionKey>,
    /// The tree that is shown: its own, or that of its family.
    pub tree: Option<Arc<Tree>>,
    /// What is known of that, if it is a family's.
    pub family: Option<Arc<FamilyTree>>,
    /// In which other sessions the entries of the session's own tree stand.
    pub others: SharedEntries,
    /// Which other sessions are wanted in it,
    wanted: FamilySelection,
    /// what was asked for because of that last,
    asked: Option<MergeRequest>,
    /// who waits for it,
    pub joining: Option<Claim>,
    /// and at which catalog it was looked for that, with what wanted.
    looked_at: Option<(u64, FamilySelection)>,
    own_forks: Vec<ForkedFile>,
    /// Why it is not.
    pub error: Option<String>,
    /// Which entries are shown.
    pub filter: Filter,
    /// Files that were forked off here.
    pub forks: Vec<ForkedFile>,
    /// Whether the time of labels is shown.
    pub label_times: bool,
    /// What is looked for in it.
    pub find: Option<TreeFind>,
    /// The rows.
    pub rows: TreeRows,
    /// The selected row.
    pub cursor: Cursor,
    /// Whether the tree was just opened, so that the selection is still to be brought into sight.
    pub fresh: bool,
    /// Whether the file has grown since the tree was asked for.
    pub is_outdated: bool,
    /// Who waits for the tree,
    pub opening: Option<Claim>,
    /// and for where its forks left.
    pub splitting: Option<Claim>,
    /// The forks whose split points were asked for.
    pub asked_forks: Vec<SessionKey>,
    /// What it has of the session that it was forked from, if it was.
    pub inherited: Option<Inherited>,
    /// What was done because of each prompt, once that is to be told.
    turns: Vec<(Index, Activity)>,
    /// Whether a run of tool calls is told in one row.
    pub tells_runs: bool,
    /// Whether the selection stays at the leaf.
    pub follows: bool,
    /// Whether the selection was taken far away, so that it is to be seen in the middle.
    pub jumped: bool,
    folds: HashSet<EntryRef>,
    /// The runs whose rows are seen as well, by their first entries.
    open_runs: HashSet<EntryRef>,
    /// Whether what a fork inherited is seen.
    shows_inherited: bool,
    selected: Option<TreeSelection>,
    /// The entry that was selected when the tree was read again: it has a row until other entries are asked for.
    kept: Option<EntryRef>,
    /// The entry of a session that is still to be opened, to be gone to then.
    awaited_entry: Option<EntryRef>,
    /// The same, by its id.
    awaited_id: Option<(SessionKey, EntryId)>,
    /// The fork that was selected when the session was left: its row comes later than the others.
    awaited_fork: Option<SessionKey>,
    memories: HashMap<SessionKey, TreePosition>,
    /// Whether one is brought back to where one was when the whole tree is there.
    awaits_memory: bool,
    /// The entry that a search points at in this session,
    pointed: Option<HitPlace>,
    /// and whether that is still to be gone to.
    awaits_pointed: bool,
    /// Whether one has gone to an entry: no hit is gone to then.
    is_arrived: bool,
    /// The search over sessions whose hits in this one were gone to.
    followed: Option<Arc<Query>>,
}

impl TreePane {
    /// No tree yet; when there is one it is seen through `filter`.
    pub fn new(filter: Filter, tells_runs: bool) -> Self {
        Self { filter, tells_runs, ..Self::default() }
    }

    /// Turns to another session, or to none; it is still to be opened.
    pub fn turn_to(&mut self, session: Option<SessionKey>) {
        self.remember();
        self.session = session;
        self.tree = None;
        (self.family, self.others) = (None, SharedEntries::default());
        (self.asked, self.joining, self.looked_at) = (None, None, None);
        let remembered = session.and_then(|session| self.memories.get(&session));
        self.wanted = remembered.map_or_else(FamilySelection::default, |spot| spot.wanted.clone());
        self.own_forks.clear();
        self.inherited = None;
        self.turns.clear();
        (self.is_outdated, self.follows) = (false, false);
        self.error = None;
        self.forks.clear();
        self.find = None;
        self.rows = TreeRows::default();
        self.folds.clear();
        self.open_runs.clear();
        self.shows_inherited = false;
        (self.selected, self.kept) = (None, None);
        self.awaited_fork = None;
        self.pointed = None;
        self.followed = None;
        self.is_arrived = false;
        self.cursor = Cursor::default();
        // Late replies about the session before must not be taken for this one's.
        (self.opening, self.splitting) = (None, None);
        self.asked_forks.clear();
    }

    /// Shows the tree of the session: with the selection and folds that it had, or at its leaf.
    pub fn show(&mut self, tree: Arc<Tree>) {
        self.keep_selected();
        let own = self.own().filter(|_| self.family.is_some());
        match own.map(|own| tree.extends(own)) {
            // With that its family is joined anew.
            Some(true) => return,
            Some(false) => self.leave_family(),
            None => {}
        }
        // A tree that is read again, or to its beginning, stays where it is on the screen.
        self.fresh = self.tree.is_none();
        self.move_from_part(&tree);
        let remembered = self.session.and_then(|session| self.memories.get(&session));
        let memory = match &self.tree {
            Some(_) if !self.awaits_memory => self.spot(),
            // What is remembered speaks of places in the whole.
            _ if tree.is_partial => TreePosition::default(),
            _ => remembered.cloned().unwrap_or_default(),
        };
        self.awaits_memory = tree.is_partial && self.tree.is_none() && remembered.is_some();
        let is_own = |entry: &EntryRef| Some(entry.session) == self.session;
        // Those of other sessions are joined later.
        let is_there = |entry: &EntryRef| !is_own(entry) || (entry.at as usize) < tree.nodes.len();
        self.folds = memory.folds.into_iter().filter(is_there).collect();
        self.open_runs = memory.open_runs.into_iter().filter(is_there).collect();
        self.shows_inherited = memory.shows_inherited;
        self.error = None;
        if self.tree.as_ref().is_none_or(|before| !tree.extends(before)) {
            // They speak of places in the tree that was.
            self.kept = None;
            self.forks.clear();
            self.own_forks.clear();
            self.others = SharedEntries::default();
            self.asked_forks.clear();
            self.splitting = None;
            self.awaited_fork = match memory.selected {
                Some(TreeSelection::Fork(fork, _)) => Some(fork),
                _ => None,
            };
        } else if let Some(find) = &mut self.find {
            find.grow(&tree);
        }
        let leaf = tree.leaf.and_then(|at| self.entry(at)).map(TreeSelection::Entry);
        self.selected = match memory.selected {
            Some(TreeSelection::Entry(entry) | TreeSelection::Run(entry)) if !is_own(&entry) => {
                // Somebody goes somewhere else.
                let is_free = self.awaited_entry.is_none() && self.awaited_id.is_none();
                self.awaited_entry = self.awaited_entry.or(Some(entry).filter(|_| is_free && self.wanted.is_any()));
                leaf
            }
            Some(TreeSelection::Entry(entry) | TreeSelection::Run(entry)) if !is_there(&entry) => leaf,
            Some(TreeSelection::Fork(..)) if self.forks.is_empty() => leaf,
            None => leaf,
            selected => selected,
        };
        self.turns.clear();
        self.inherited = Inherited::of(&tree).filter(|_| !tree.is_partial);
        self.tree = Some(tree);
        self.rebuild();
        self.go_to_pointed();
        self.find_awaited();
    }

    /// Keeps the row of the selected entry, even if the filter does not show the entry in the tree that comes.
    fn keep_selected(&mut self) {
        let entry = match self.selected_item().filter(|_| !self.follows) {
            Some(RowItem::Entry(at)) => self.entry(at),
            _ => None,
        };
        self.kept = entry;
    }

    /// The places of a part of a file are not those of the whole: lines are told by where they start.
    fn move_from_part(&mut self, whole: &Tree) {
        let Some(part) = self.tree.as_ref().filter(|tree| tree.is_partial && !whole.is_partial) else { return };
        let moved = |entry: EntryRef| {
            if Some(entry.session) != self.session {
                return Some(entry);
            }
            let at = HitPlace::Offset(part.nodes.get(entry.at as usize)?.offset).find(whole)?;
            Some(EntryRef { at, ..entry })
        };
        self.folds = self.folds.iter().filter_map(|&entry| moved(entry)).collect();
        self.open_runs = self.open_runs.iter().filter_map(|&entry| moved(entry)).collect();
        self.selected = match self.selected {
            Some(TreeSelection::Entry(entry)) => moved(entry).map(TreeSelection::Entry),
            Some(TreeSelection::Run(entry)) => moved(entry).map(TreeSelection::Run),
            other => other,
        };
    }

    /// Points at an entry, or at none: it is selected as soon as its tree is there.
    pub(crate) fn point_at(&mut self, entry: Option<HitPlace>) {
        if self.pointed != entry {
            (self.pointed, self.awaits_pointed) = (entry, true);
            self.go_to_pointed();
        }
    }

    /// The entry that a search points at, when its tree is there.
    pub(crate) fn pointed(&self) -> Option<Index> {
        let tree = self.own().filter(|tree| !tree.is_partial)?;
        let at = self.pointed?.find(tree).map(|at| hits::seen(tree, at))?;
        self.shown(EntryRef { session: self.session?, at })
    }

    fn go_to_pointed(&mut self) {
        if let Some(at) = self.pointed().filter(|_| self.awaits_pointed) {
            self.awaits_pointed = false;
            self.select(at);
            self.fresh = true;
        }
    }

    /// Goes to an entry, whatever hides it; as soon as its session is open.
    pub(crate) fn go_to_entry(&mut self, entry: EntryRef) {
        (self.awaited_entry, self.awaited_id) = (Some(entry), None);
        self.find_awaited();
    }

    /// The same in the session's own tree, by the id of the entry.
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
        // The places of a part are not those of the whole.
        if !tree.is_partial {
            self.awaited_entry = None;
            self.awaits_pointed = false;
            self.is_arrived = true;
            self.stop_following();
            if let Some(at) = self.shown(entry) {
                self.reveal(at);
            }
        }
    }

    /// Selects an entry, and changes the filter if it hides it.
    fn reveal(&mut self, at: Index) {
        self.find.take_if(|find| find.only_hits && !find.is_hit(at));
        let Some(tree) = &self.tree else { return };
        if !passes(tree, at, self.filter) {
            let shows = |filter: &&Filter| passes(tree, at, **filter);
            self.filter = [Filter::Default, Filter::All].iter().find(shows).copied().unwrap_or(self.filter);
        }
        self.reselect(at);
    }

    /// Shows that the session can't be opened, or not any more.
    pub fn fail(&mut self, error: String) {
        self.turn_to(self.session);
        self.error = Some(error);
    }

    fn remember(&mut self) {
        let (Some(session), Some(false)) = (self.session, self.tree.as_ref().map(|tree| tree.is_partial)) else {
            return;
        };
        self.memories.insert(session, self.spot());
    }

    /// What was done because of a prompt.
    pub fn turn(&self, prompt: Index) -> Option<&Activity> {
        let place = self.turns.binary_search_by_key(&prompt, |(at, _)| *at).ok()?;
        self.turns.get(place).map(|(_, deeds)| deeds)
    }

    /// Makes the rows anew; the selection stays on its entry, or goes to the nearest visible one above it.
    pub(crate) fn rebuild(&mut self) {
        let Some(tree) = &self.tree else { return };
        if self.follows {
            self.selected = tree.leaf.and_then(|leaf| self.entry(leaf)).map(TreeSelection::Entry);
        }
        // Another session is no hit.
        let only_hits = self.find.as_ref().is_some_and(|find| find.only_hits);
        let forks = if only_hits { &[][..] } else { &self.forks };
        let folds = self.folds.iter().filter_map(|&entry| self.shown(entry));
        let kept = self.kept.and_then(|entry| self.shown(entry));
        self.rows = TreeRows::new(tree, |at| kept == Some(at) || self.shows(tree, at), folds, forks);
        self.tell();
        self.cursor.follow(self.row_of_selected());
    }

    /// Adds the rows that tell of many entries.
    fn tell(&mut self) {
        let (Some(tree), mut rows) = (self.tree.clone(), std::mem::take(&mut self.rows)) else { return };
        let only_hits = self.find.as_ref().is_some_and(|find| find.only_hits);
        if let Some(inherited) = self.inherited.filter(|_| !only_hits) {
            rows.tell_inherited(&tree, inherited.last, self.shows_inherited);
        }
        if self.tells_runs && self.filter == Filter::Default && !only_hits {
            let is_hit = |at| self.find.as_ref().is_some_and(|find| find.is_hit(at));
            let is_part = |at: Index| {
                tree.nodes[at as usize].kind == EntryKind::ToolResult
                    && !(tree.labels.contains_key(&at) || tree.is_flagged(at) || is_hit(at))
            };
            let is_open = |first| self.entry(first).is_some_and(|first| self.open_runs.contains(&first));
            rows.tell_runs(&tree, is_part, is_open);
        }
        if self.filter == Filter::Turns && self.turns.is_empty() {
            self.turns = activity::turns(&tree);
        }
        if rows.entries > 0 && tree.is_current_position(None) {
            rows.tell_start();
        }
        let seen = rows.leaf.and_then(|row| rows.last_of(row));
        let steps = |leaf| std::iter::successors(Some(leaf), |&at| tree.parent(at)).take_while(|at| Some(*at) != seen);
        rows.leaf_below = tree.leaf.map_or(0, |leaf| steps(leaf).count());
        self.rows = rows.place();
    }

    fn row_of_selected(&self) -> RowIndex {
        let Some(tree) = &self.tree else { return 0 };
        let place =
            |wanted: &dyn Fn(RowItem) -> bool| self.rows.list.iter().position(|row| wanted(row.item)).unwrap_or(0);
        match self.selected {
            Some(TreeSelection::Entry(entry)) => self.shown(entry).map_or(0, |at| self.rows.nearest(tree, at)),
            Some(TreeSelection::Run(first)) => {
                let row = self.shown(first).map_or(0, |at| self.rows.nearest(tree, at));
                let is_open = self.rows.list.get(row).is_some_and(|row| row.in_run);
                row - usize::from(is_open && row > 0)
            }
            Some(TreeSelection::Fork(key, part)) => {
                // One that is closed has one row only.
                let parts = self.forks.iter().filter(|fork| fork.key == key).count();
                let is_it = |fork: &ForkedFile| fork.key == key && (fork.part == part || parts == 1);
                place(&|item| matches!(item, RowItem::Fork(place) if is_it(&self.forks[place])))
            }
            Some(TreeSelection::Inherited) => place(&|item| item == RowItem::Inherited),
            Some(TreeSelection::Start) | None => 0,
        }
    }

    /// Whether an entry has a row, unless a fold hides it: hits always have one.
    fn shows(&self, tree: &Tree, at: Index) -> bool {
        match &self.find {
            Some(find) if find.only_hits => find.is_hit(at),
            Some(find) if find.is_hit(at) => true,
            _ => passes(tree, at, self.filter),
        }
    }

    /// Where one is: what is selected and folded.
    fn spot(&self) -> TreePosition {
        TreePosition {
            selected: self.selected,
            folds: self.folds.clone(),
            open_runs: self.open_runs.clone(),
            shows_inherited: self.shows_inherited,
            top: self.cursor.top,
            wanted: self.wanted.clone(),
        }
    }

    /// Goes back to where one was.
    fn go_back(&mut self, spot: TreePosition) {
        (self.selected, self.folds) = (spot.selected, spot.folds);
        (self.open_runs, self.shows_inherited) = (spot.open_runs, spot.shows_inherited);
        self.rebuild();
        self.cursor.top = spot.top;
    }

    /// Somebody goes on: a fork or an entry that is awaited would take the selection away.
    pub(crate) fn await_nothing(&mut self) {
        self.awaited_fork = None;
        (self.awaited_entry, self.awaited_id) = (None, None);
        self.awaits_memory = false;
    }

    /// Remembers the selected row, so that it is found again when the rows change.
    pub fn note_selection(&mut self) {
        self.cursor.at = self.cursor.at.min(self.rows.list.len().saturating_sub(1));
        let selected = match self.selected_item() {
            Some(RowItem::Entry(at)) => self.entry(at).map(TreeSelection::Entry),
            Some(RowItem::Fork(place)) => self.forks.get(place).map(|fork| TreeSelection::Fork(fork.key, fork.part)),
            Some(RowItem::Run(run)) => self.entry(self.rows.runs[run].first()).map(TreeSelection::Run),
            Some(RowItem::Inherited) => Some(TreeSelection::Inherited),
            Some(RowItem::Start) => Some(TreeSelection::Start),
            None => None,
        };
        self.selected = selected.or(self.selected);
    }

    /// What the selected row shows.
    pub fn selected_item(&self) -> Option<RowItem> {
        self.rows.list.get(self.cursor.at).map(|row| row.item)
    }

    /// The selected entry, if the row is one; of a run its last one.
    pub fn selected_entry(&self) -> Option<Index> {
        self.rows.last_of(self.cursor.at)
    }

    /// The selected fork, if the row is one.
    pub fn selected_fork(&self) -> Option<&ForkedFile> {
        match self.selected_item()? {
            RowItem::Fork(place) => self.forks.get(place),
            RowItem::Entry(_) | RowItem::Run(_) | RowItem::Inherited | RowItem::Start => None,
        }
    }

    /// Shows other entries.
    pub(crate) fn set_filter(&mut self, filter: Filter) {
        (self.filter, self.kept) = (filter, None);
        // What was seen, if only as there was nothing else, does not fold by itself.
        self.shows_inherited |= self.rows.list.iter().any(|row| row.is_inherited);
        self.rebuild();
    }
}
