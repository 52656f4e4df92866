//! Folding in the tree: branches, runs of tool calls, and inherited entries.

use crate::app::panes::tree::TreePane;
use crate::app::panes::tree::rows::{RowItem, TreeRows};
use crate::catalog::EntryRef;

impl TreePane {
    /// Folds the selected row or the run that contains it. Returns `true` if anything changed.
    pub fn fold(&mut self) -> bool {
        let row = self.cursor.at;
        let Some(one) = self.rows.list.get(row) else { return false };
        let changed = match one.item {
            RowItem::Inherited => std::mem::take(&mut self.shows_inherited),
            RowItem::Fork(place) => {
                let fork = &self.forks[place];
                return fork.is_open && self.open_fork(fork.key, false);
            }
            _ if one.in_run => {
                self.cursor.at = (0..row).rev().find(|&row| !self.rows.list[row].in_run).unwrap_or_default();
                self.fold_run()
            }
            RowItem::Run(run) if self.rows.runs[run].is_open => self.fold_run(),
            _ if !self.rows.is_foldable(row) || one.folded => false,
            _ => self.foldable_entry().is_some_and(|entry| self.folds.insert(entry)),
        };
        self.rebuild_if(changed)
    }

    fn fold_run(&mut self) -> bool {
        self.foldable_entry().is_some_and(|first| self.open_runs.remove(&first))
    }

    /// Unfolds the selected row. Returns `true` if it was folded.
    pub fn unfold(&mut self) -> bool {
        let changed = match self.selected_item() {
            Some(RowItem::Inherited) => !std::mem::replace(&mut self.shows_inherited, true),
            Some(RowItem::Fork(place)) => {
                let fork = &self.forks[place];
                return !fork.is_open && self.open_fork(fork.key, true);
            }
            Some(RowItem::Run(_)) => self.foldable_entry().is_some_and(|first| self.open_runs.insert(first)),
            _ => self.foldable_entry().is_some_and(|entry| self.folds.remove(&entry)),
        };
        self.rebuild_if(changed)
    }

    fn rebuild_if(&mut self, changed: bool) -> bool {
        if changed {
            self.note_selection();
            self.rebuild();
        }
        changed
    }

    /// Toggles the fold of the selected row. Returns `true` if the row can be folded.
    pub(crate) fn toggle(&mut self) -> bool {
        self.unfold() || self.fold()
    }

    /// Toggles between one row per run of tool calls and one row per call.
    pub(crate) fn toggle_runs(&mut self) {
        self.collapses_runs = !self.collapses_runs;
        self.open_runs.clear();
        self.rebuild();
    }

    /// Folds the selected row or moves to its parent. Returns `true` if anything changed.
    pub(crate) fn fold_or_up(&mut self) -> bool {
        if self.fold() {
            return true;
        }
        match self.rows.list.get(self.cursor.at).and_then(|row| row.parent) {
            Some(parent) => self.go_to(parent),
            None => false,
        }
    }

    /// Unfolds the selected row or moves to its first child. Returns `true` if anything changed.
    pub(crate) fn unfold_or_in(&mut self) -> bool {
        self.unfold()
            || self.rows.list.get(self.cursor.at).is_some_and(|row| row.children > 0) && self.go_to(self.cursor.at + 1)
    }

    /// Folds or unfolds all branches.
    pub(crate) fn fold_all(&mut self, fold: bool) {
        let Some(tree) = self.tree.clone() else { return };
        self.folds.clear();
        if fold {
            // Roots stay open; a folded root would hide the whole tree.
            let all = TreeRows::new(&tree, |at| self.shows(&tree, at), [], &[]);
            let branches = (0..all.list.len()).filter(|&row| all.list[row].parent.is_some() && all.is_foldable(row));
            self.folds = branches.filter_map(|row| self.entry(all.list[row].item.entry()?)).collect();
        }
        self.rebuild();
    }

    /// Returns the entry whose fold belongs to the selected row; for a run its first entry.
    fn foldable_entry(&self) -> Option<EntryRef> {
        match self.selected_item()? {
            RowItem::Entry(at) => self.entry(at),
            RowItem::Run(run) => self.entry(self.rows.runs[run].first()),
            RowItem::Fork(_) | RowItem::Inherited | RowItem::Start => None,
        }
    }
}
