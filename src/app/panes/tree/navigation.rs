//! Navigation to rows and entries of the tree, hidden ones included; folding of branches, runs of tool calls and
//! inherited entries; the visible part of the tree lines and the place of the fold symbol.

use std::ops::Range;

use crate::app::panes::tree::TreePane;
use crate::app::panes::tree::family::TreeSelection;
use crate::app::panes::tree::rows::{RowIndex, RowItem, TreeRows};
use crate::catalog::EntryRef;
use crate::config::Filter;
use crate::session::tree::EntryIndex;

impl TreePane {
    /// Folds the branch or jumps to its start, like pi.
    pub fn segment_up(&mut self) {
        if !self.rows.list.is_empty() && !self.fold() {
            self.go_to(self.rows.segment_up(self.cursor.at));
        }
    }

    /// Unfolds the branch or jumps to its end, like pi.
    pub(crate) fn segment_down(&mut self) {
        if !self.rows.list.is_empty() && !self.unfold() {
            self.go_to(self.rows.segment_down(self.cursor.at));
        }
    }

    /// Moves to the next or previous branch point.
    pub(crate) fn branch_point(&mut self, forward: bool) -> bool {
        self.rows.branch_point(self.cursor.at, forward).is_some_and(|row| self.go_to(row))
    }

    /// Moves to the next or previous prompt.
    pub(crate) fn prompt(&mut self, forward: bool) -> bool {
        let is_prompt = |row: &usize| match (self.rows.list[*row].item, &self.tree) {
            (RowItem::Entry(entry), Some(tree)) => tree.is_prompt(entry),
            _ => false,
        };
        let at = self.cursor.at.min(self.rows.list.len());
        let row = if forward { (at + 1..self.rows.list.len()).find(is_prompt) } else { (0..at).rev().find(is_prompt) };
        row.is_some_and(|row| self.go_to(row))
    }

    pub(super) fn go_to(&mut self, row: RowIndex) -> bool {
        self.jumped = true;
        self.cursor.at = row;
        true
    }

    /// Selects an entry and unfolds its ancestors. If the filter hides it, selects the nearest visible ancestor.
    pub fn select(&mut self, at: EntryIndex) {
        self.show_at(at);
        // Expand the summary row that contains the entry: first the inherited entries, then a run among them.
        for _ in 0..2 {
            let is_summary = matches!(self.selected_item(), Some(RowItem::Run(_) | RowItem::Inherited));
            if is_summary && self.rows.row_of(at).is_some() && self.unfold() {
                self.show_at(at);
            }
        }
    }

    /// Selects an entry after the rows are rebuilt.
    pub(super) fn reselect(&mut self, at: EntryIndex) {
        self.rebuild();
        self.select(at);
    }

    /// Selects the row of an entry, or the summary row that contains it.
    fn show_at(&mut self, at: EntryIndex) {
        self.jumped = true;
        let (Some(tree), Some(entry)) = (&self.tree, self.entry(at)) else { return };
        self.position.selected = Some(TreeSelection::Entry(entry));
        let before = self.position.folds.len();
        if before > 0 {
            let mut is_above = vec![false; tree.nodes.len()];
            tree.to_root(tree.parent(at)).for_each(|at| is_above[at as usize] = true);
            let folds = std::mem::take(&mut self.position.folds).into_iter();
            let hides = |fold: &EntryRef| self.shown(*fold).is_some_and(|at| is_above[at as usize]);
            self.position.folds = folds.filter(|fold| !hides(fold)).collect();
        }
        if self.position.folds.len() < before { self.rebuild() } else { self.cursor.follow(self.row_of_selected()) }
    }

    /// Selects the row of the entry that the reader shows, or the row that contains it.
    pub(crate) fn follow_reader(&mut self, at: EntryIndex) {
        let Some(entry) = self.entry(at) else { return };
        self.position.selected = Some(TreeSelection::Entry(entry));
        self.cursor.follow(self.row_of_selected());
    }

    /// Returns `true` if the selected row is that of an entry, or contains it.
    pub(crate) fn is_row_of(&self, entry: EntryRef) -> bool {
        let at = self.shown(entry).zip(self.tree.as_ref());
        at.is_some_and(|(at, tree)| self.rows.nearest(tree, at) == self.cursor.at)
    }

    /// Toggles following the leaf. Selects the leaf as soon as the session is open. Returns `true` if the leaf is now
    /// followed.
    pub(crate) fn toggle_follow(&mut self) -> bool {
        self.follows = !self.follows && self.session.is_some();
        if self.follows {
            self.go_to_leaf();
        }
        self.follows
    }

    /// Stops following the leaf if the selection was moved. Returns `true` if it was.
    pub(crate) fn note_leaving(&mut self) -> bool {
        let leaf = self.tree.as_ref().and_then(|tree| Some(self.rows.nearest(tree, tree.leaf?)));
        let is_left = self.follows && self.tree.is_some() && leaf != Some(self.cursor.at);
        self.follows &= !is_left;
        is_left
    }

    /// Moves to the leaf, the entry from which pi continues.
    pub(crate) fn go_to_leaf(&mut self) {
        if let Some(leaf) = self.tree.as_ref().and_then(|tree| tree.leaf) {
            self.show_at(leaf);
        }
    }

    /// Folds the selected row or the run that contains it. Returns `true` if anything changed.
    pub fn fold(&mut self) -> bool {
        let row = self.cursor.at;
        let Some(&one) = self.rows.list.get(row) else { return false };
        let changed = match one.item {
            RowItem::Inherited => std::mem::take(&mut self.position.shows_inherited),
            RowItem::Fork(place) => {
                let fork = self.forks()[place];
                return fork.is_open && self.open_fork(fork.key, false);
            }
            _ if one.in_run => {
                self.cursor.at = (0..row).rev().find(|&row| !self.rows.list[row].in_run).unwrap_or_default();
                self.fold_run()
            }
            RowItem::Run(run) if self.rows.runs[run].is_open => self.fold_run(),
            RowItem::Entry(_) if self.filter == Filter::Turns && self.fold_run() => true,
            _ if !self.rows.is_foldable(row) || one.folded => false,
            _ => self.foldable_entry().is_some_and(|entry| self.position.folds.insert(entry)),
        };
        self.rebuild_if(changed)
    }

    fn fold_run(&mut self) -> bool {
        self.foldable_entry().is_some_and(|first| self.position.open_runs.remove(&first))
    }

    /// Unfolds the selected row. Returns `true` if it was folded.
    pub fn unfold(&mut self) -> bool {
        let changed = match self.selected_item() {
            Some(RowItem::Inherited) => !std::mem::replace(&mut self.position.shows_inherited, true),
            Some(RowItem::Fork(place)) => {
                let fork = self.forks()[place];
                return !fork.is_open && self.open_fork(fork.key, true);
            }
            Some(RowItem::Run(_)) => self.foldable_entry().is_some_and(|first| self.position.open_runs.insert(first)),
            Some(RowItem::Entry(at)) if self.filter == Filter::Turns && !self.rows.list[self.cursor.at].folded => {
                let is_prompt = self.tree.as_ref().is_some_and(|tree| tree.is_prompt(at));
                is_prompt && self.entry(at).is_some_and(|entry| self.position.open_runs.insert(entry))
            }
            _ => self.foldable_entry().is_some_and(|entry| self.position.folds.remove(&entry)),
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
        self.position.open_runs.clear();
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
        self.position.folds.clear();
        if fold {
            // Roots stay open; a folded root would hide the whole tree.
            let all = TreeRows::new(&tree, |at| self.shows(&tree, at), [], &[]);
            let branches = (0..all.list.len()).filter(|&row| all.list[row].parent.is_some() && all.is_foldable(row));
            self.position.folds = branches.filter_map(|row| self.entry(all.list[row].item.entry()?)).collect();
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

    /// Returns the visible columns of the tree lines of a row, and `true` if more of them are cut than in other rows.
    pub fn lines(&self, row: RowIndex, columns: usize) -> (Range<usize>, bool) {
        let lines = self.rows.prefix_width(row);
        let pan = self.pan(columns);
        let start = pan.min(lines).max(lines.saturating_sub(columns / 2));
        (start..lines, start > pan)
    }

    /// Returns the number of columns by which rows are shifted left so that the selected text stays visible, like pi's
    /// `/tree` (0.87.1).
    fn pan(&self, columns: usize) -> usize {
        let lines = self.rows.prefix_width(self.cursor.at);
        let anchor = lines + self.letter() + self.mark(self.cursor.at);
        if anchor > columns / 2 { (anchor - columns / 4).min(lines) } else { 0 }
    }

    /// Returns the width of the file letter.
    fn letter(&self) -> usize {
        2 * usize::from(self.family.is_some())
    }

    /// Returns the width of the active path mark.
    fn mark(&self, row: RowIndex) -> usize {
        let entry = self.tree.as_ref().zip(self.rows.last_of(row));
        2 * usize::from(entry.is_some_and(|(tree, at)| tree.is_active(at)))
    }

    /// Returns `true` if the fold symbol of a row is at a column.
    pub(crate) fn is_fold_symbol(&self, row: RowIndex, column: usize, columns: usize) -> bool {
        let Some(one) = self.rows.list.get(row) else { return false };
        let lines = self.lines(row, columns).0.len();
        match one.item {
            RowItem::Inherited => (1..3).contains(&column),
            RowItem::Run(_) => (lines + self.letter() + self.mark(row)..).take(2).any(|at| at == column),
            RowItem::Entry(_) if one.connector => self.rows.is_foldable(row) && column + 2 == lines,
            RowItem::Fork(_) if one.connector => column + 2 == lines,
            RowItem::Entry(_) | RowItem::Fork(_) => {
                one.folded && (lines + self.letter()..).take(2).any(|at| at == column)
            }
            RowItem::Start => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::session::digest::Digest;

    #[test]
    fn the_leaf_of_a_session_that_is_still_being_opened_is_followed() {
        let mut pane = TreePane::new(Filter::Default, true);
        assert!(!pane.toggle_follow(), "of no session");
        let mut catalog = Catalog::default();
        catalog.add(vec![Digest::default()]);
        pane.turn_to(catalog.keys().next());
        assert!(pane.toggle_follow() && !pane.note_leaving() && pane.follows);
        assert!(!pane.toggle_follow());
    }
}
