//! The tree pane: the open session, which of its rows are seen, and moving about in it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::cursor::Cursor;
use crate::app::find;
use crate::app::find::Find;
use crate::app::message::{At, Fork};
use crate::app::rows::{Item, RowIndex, Rows, passes};
use crate::changes::Target;
use crate::config::Filter;
use crate::search::find::inside::Inside;
use crate::session::digest::summary::Shared;
use crate::session::tree::{Index, Tree};

/// What an entry is known by, whatever its place: its id, or its place in a file without ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum EntryKey {
    Id(Box<str>),
    Place(Index),
    /// A fork, by its file.
    Fork(PathBuf),
}

/// Where one was in a session, and what was folded.
#[derive(Clone, Debug, Default)]
struct Memory {
    selected: Option<EntryKey>,
    folds: HashSet<EntryKey>,
}

/// Where one is in the tree that is open.
#[derive(Clone, Debug)]
pub(super) struct Place {
    selected: Option<Item>,
    folds: HashSet<Index>,
    top: RowIndex,
}

impl Place {
    /// The entry that was selected, or at which the selected fork hangs.
    pub(super) fn anchor(&self, forks: &[Fork]) -> Option<Index> {
        match self.selected? {
            Item::Entry(at) => Some(at),
            Item::Fork(place) => forks.get(place).map(|fork| fork.split.at),
        }
    }
}

/// The state of the pane.
#[derive(Debug, Default)]
pub struct Pane {
    /// The file that is shown or being opened.
    pub path: Option<PathBuf>,
    /// What the list knows of it.
    pub session: Option<Shared>,
    /// Its tree, when it is open.
    pub tree: Option<Arc<Tree>>,
    /// Why it is not.
    pub error: Option<String>,
    /// Which entries are shown.
    pub filter: Filter,
    /// Files that were forked off here.
    pub forks: Vec<Fork>,
    /// Whether the time of labels is shown.
    pub label_times: bool,
    /// What is looked for in it.
    pub find: Option<Find>,
    /// The rows.
    pub rows: Rows,
    /// The selected row.
    pub cursor: Cursor,
    /// Whether the tree was just opened, so that the selection is still to be brought into sight.
    pub fresh: bool,
    folds: HashSet<Index>,
    selected: Option<Item>,
    /// The entry of a file that is still to be opened, to be gone to then.
    awaited_entry: Option<(PathBuf, Target)>,
    /// The fork that was selected when the session was left: its row comes later than the others.
    awaited: Option<PathBuf>,
    memories: HashMap<PathBuf, Memory>,
    /// The entry that a search points at in this file,
    pointed: Option<At>,
    /// and whether that is still to be gone to.
    awaits_pointed: bool,
    /// What is to be looked for from there on, as soon as the tree is there.
    pub(super) awaited_words: Option<Inside>,
}

impl Pane {
    /// No tree yet; when there is one it is seen through `filter`.
    pub fn new(filter: Filter) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Turns to another file, or to none; it is still to be opened.
    pub fn turn_to(&mut self, path: Option<PathBuf>) {
        self.remember();
        self.path = path;
        self.tree = None;
        self.error = None;
        self.forks.clear();
        self.find = None;
        self.rows = Rows::default();
        self.folds.clear();
        self.selected = None;
        self.awaited = None;
        self.pointed = None;
        self.awaited_words = None;
        self.cursor = Cursor::default();
    }

    /// Shows the tree of the file: with the selection and folds that it had, or at its leaf.
    pub fn show(&mut self, tree: Arc<Tree>) {
        // A tree that is read again, or to its beginning, stays where it is on the screen.
        self.fresh = self.tree.is_none();
        if self.tree.is_some() {
            self.remember();
        }
        let memory = self.path.as_ref().and_then(|path| self.memories.get(path)).cloned().unwrap_or_default();
        let find = |key: &EntryKey| match key {
            EntryKey::Id(id) => tree.find(id),
            EntryKey::Place(at) => Some(*at).filter(|&at| (at as usize) < tree.nodes.len()),
            EntryKey::Fork(_) => None, // its row is there when the forks are
        };
        self.folds = memory.folds.iter().filter_map(find).collect();
        // They speak of places in the tree that was.
        self.forks.clear();
        self.error = None;
        self.selected = memory.selected.as_ref().and_then(find).or(tree.leaf).map(Item::Entry);
        self.awaited = match memory.selected {
            Some(EntryKey::Fork(path)) => Some(path),
            _ => None,
        };
        self.tree = Some(tree);
        self.rebuild();
        self.find_awaited();
        self.go_to_pointed();
    }

    /// Points at an entry, or at none: it is selected as soon as its tree is there.
    pub fn point_at(&mut self, entry: Option<At>) {
        if self.pointed != entry {
            (self.pointed, self.awaits_pointed) = (entry, true);
            self.go_to_pointed();
        }
    }

    /// The entry that a search points at, when its tree is there.
    pub fn pointed(&self) -> Option<Index> {
        let tree = self.tree.as_ref().filter(|tree| !tree.is_partial)?;
        self.pointed?.find(tree).map(|at| find::seen(tree, at))
    }

    fn go_to_pointed(&mut self) {
        if let Some(at) = self.pointed().filter(|_| self.awaits_pointed) {
            self.awaits_pointed = false;
            self.select(at);
            self.fresh = true;
        }
    }

    /// Changes the filter if it hides the entry that is pointed at.
    pub fn unhide(&mut self) {
        if let Some(at) = self.pointed() {
            self.reveal(at);
        }
    }

    /// Goes to an entry of a file, whatever hides it; as soon as that is open.
    pub fn go_to_entry(&mut self, path: &Path, entry: Target) {
        self.awaited_entry = Some((path.to_path_buf(), entry));
        self.find_awaited();
    }

    fn find_awaited(&mut self) {
        let (Some(tree), Some((path, entry))) = (&self.tree, &self.awaited_entry) else { return };
        // The places of a part are not those of the whole.
        let is_known = !(tree.is_partial && matches!(entry, Target::Place(_)));
        if self.path.as_ref() != Some(path) {
            return;
        }
        let found = entry.find(tree).filter(|_| is_known);
        if found.is_some() || !tree.is_partial {
            self.awaited_entry = None;
        }
        if let Some(at) = found {
            self.reveal(at);
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
        self.select(at);
    }

    /// Shows that the file can't be opened, or not any more.
    pub fn fail(&mut self, error: String) {
        let path = self.path.clone();
        self.turn_to(path);
        self.error = Some(error);
    }

    fn remember(&mut self) {
        let (Some(path), Some(tree)) = (&self.path, &self.tree) else { return };
        let key = |at: Index| match &tree.nodes[at as usize].id {
            Some(id) => EntryKey::Id(id.clone()),
            None => EntryKey::Place(at),
        };
        let selected = match self.selected {
            Some(Item::Entry(at)) => Some(key(at)),
            Some(Item::Fork(place)) => self.forks.get(place).map(|fork| EntryKey::Fork(fork.session.path.clone())),
            None => None,
        };
        let folds = self.folds.iter().map(|&at| key(at)).collect();
        self.memories.insert(path.clone(), Memory { selected, folds });
    }

    /// Makes the rows anew; the selection stays on its entry, or goes to the nearest visible one above it.
    pub fn rebuild(&mut self) {
        let Some(tree) = &self.tree else { return };
        let forks: Vec<(Index, usize)> =
            self.forks.iter().enumerate().map(|(place, fork)| (fork.split.at, place)).collect();
        // Another session is no hit.
        let forks = if self.find.as_ref().is_some_and(|find| find.only_hits) { Vec::new() } else { forks };
        self.rows = Rows::new(tree, |at| self.shows(tree, at), &self.folds, &forks);
        let row = match self.selected {
            Some(Item::Entry(at)) => self.rows.nearest(tree, at),
            Some(fork @ Item::Fork(_)) => self.rows.list.iter().position(|row| row.item == fork).unwrap_or(0),
            None => 0,
        };
        self.cursor.follow(row);
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
    pub(super) fn place(&self) -> Place {
        Place { selected: self.selected, folds: self.folds.clone(), top: self.cursor.top }
    }

    /// Goes back to where one was.
    pub(super) fn go_back(&mut self, place: Place) {
        (self.selected, self.folds) = (place.selected, place.folds);
        self.rebuild();
        self.cursor.top = place.top;
    }

    /// Somebody goes on: a fork or an entry that is awaited would take the selection away.
    pub fn await_nothing(&mut self) {
        self.awaited = None;
        self.awaited_entry = None;
    }

    /// Remembers the selected row, so that it is found again when the rows change.
    pub fn note_selection(&mut self) {
        self.cursor.at = self.cursor.at.min(self.rows.list.len().saturating_sub(1));
        if let Some(row) = self.rows.list.get(self.cursor.at) {
            self.selected = Some(row.item);
        }
    }

    /// What the selected row shows.
    pub fn selected_item(&self) -> Option<Item> {
        self.rows.list.get(self.cursor.at).map(|row| row.item)
    }

    /// The selected entry, if the row is one.
    pub fn selected_entry(&self) -> Option<Index> {
        match self.selected_item()? {
            Item::Entry(at) => Some(at),
            Item::Fork(_) => None,
        }
    }

    /// The selected fork, if the row is one.
    pub fn selected_fork(&self) -> Option<&Fork> {
        match self.selected_item()? {
            Item::Fork(place) => self.forks.get(place),
            Item::Entry(_) => None,
        }
    }

    /// Shows other entries.
    pub fn set_filter(&mut self, filter: Filter) {
        self.filter = filter;
        self.rebuild();
    }

    /// Shows the files that were forked off here.
    pub fn set_forks(&mut self, forks: Vec<Fork>) {
        let chosen = self.selected_fork().map(|fork| fork.session.path.clone()).or_else(|| self.awaited.take());
        let place = forks.iter().position(|fork| Some(&fork.session.path) == chosen.as_ref());
        self.selected = place.map(Item::Fork).or(self.selected);
        self.forks = forks;
        self.rebuild();
    }

    /// Folds the selected row. Returns whether there was anything to fold.
    pub fn fold(&mut self) -> bool {
        let row = self.cursor.at;
        let Some(at) = self.selected_entry().filter(|_| self.rows.is_foldable(row) && !self.rows.list[row].folded)
        else {
            return false;
        };
        self.folds.insert(at);
        self.note_selection();
        self.rebuild();
        true
    }

    /// Unfolds the selected row. Returns whether it was folded.
    pub fn unfold(&mut self) -> bool {
        let Some(at) = self.selected_entry() else { return false };
        let was_folded = self.folds.remove(&at);
        if was_folded {
            self.note_selection();
            self.rebuild();
        }
        was_folded
    }

    /// Folds the selected row, or goes to its parent. Returns whether anything changed.
    pub fn fold_or_up(&mut self) -> bool {
        if self.fold() {
            return true;
        }
        match self.rows.list.get(self.cursor.at).and_then(|row| row.parent) {
            Some(parent) => self.go_to(parent),
            None => false,
        }
    }

    /// Unfolds the selected row, or goes to its first child. Returns whether anything changed.
    pub fn unfold_or_in(&mut self) -> bool {
        self.unfold()
            || self.rows.list.get(self.cursor.at).is_some_and(|row| row.children > 0) && self.go_to(self.cursor.at + 1)
    }

    /// pi's fold or jump up.
    pub fn segment_up(&mut self) {
        if !self.rows.list.is_empty() && !self.fold() {
            self.go_to(self.rows.segment_up(self.cursor.at));
        }
    }

    /// pi's unfold or jump down.
    pub fn segment_down(&mut self) {
        if !self.rows.list.is_empty() && !self.unfold() {
            self.go_to(self.rows.segment_down(self.cursor.at));
        }
    }

    /// Goes to the next or the previous branch point.
    pub fn branch_point(&mut self, forward: bool) -> bool {
        self.rows.branch_point(self.cursor.at, forward).is_some_and(|row| self.go_to(row))
    }

    fn go_to(&mut self, row: RowIndex) -> bool {
        self.cursor.at = row;
        true
    }

    /// Folds all branches, or unfolds all.
    pub fn fold_all(&mut self, fold: bool) {
        let Some(tree) = self.tree.clone() else { return };
        self.folds.clear();
        if fold {
            // A folded root would leave nothing to see.
            let all = Rows::new(&tree, |at| self.shows(&tree, at), &self.folds, &[]);
            let branches = (0..all.list.len()).filter(|&row| all.list[row].parent.is_some() && all.is_foldable(row));
            self.folds = branches
                .filter_map(|row| match all.list[row].item {
                    Item::Entry(at) => Some(at),
                    Item::Fork(_) => None,
                })
                .collect();
        }
        self.rebuild();
    }

    /// Selects an entry: unfolds what hides it. Where the filter hides it, the nearest one above is selected.
    pub fn select(&mut self, at: Index) {
        let Some(tree) = &self.tree else { return };
        for above in tree.path(at) {
            if above != at {
                self.folds.remove(&above);
            }
        }
        self.selected = Some(Item::Entry(at));
        self.rebuild();
    }
}
