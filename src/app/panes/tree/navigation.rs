//! Navigation to rows and entries of the tree, hidden ones included.

use crate::app::panes::tree::TreePane;
use crate::app::panes::tree::family::TreeSelection;
use crate::app::panes::tree::rows::{RowIndex, RowItem};
use crate::catalog::EntryRef;
use crate::session::tree::Index;

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

    pub(super) fn go_to(&mut self, row: RowIndex) -> bool {
        self.jumped = true;
        self.cursor.at = row;
        true
    }

    /// Selects an entry and unfolds its ancestors. If the filter hides it, selects the nearest visible ancestor.
    pub fn select(&mut self, at: Index) {
        self.show_at(at);
        // Expand the summary row that contains the entry: first the inherited entries, then a run among them.
        for _ in 0..2 {
            let is_told = matches!(self.selected_item(), Some(RowItem::Run(_) | RowItem::Inherited));
            if is_told && self.rows.row_of(at).is_some() && self.unfold() {
                self.show_at(at);
            }
        }
    }

    /// Selects an entry after the rows are rebuilt.
    pub(super) fn reselect(&mut self, at: Index) {
        self.rebuild();
        self.select(at);
    }

    /// Selects the row of an entry, or the summary row that contains it.
    fn show_at(&mut self, at: Index) {
        self.jumped = true;
        let (Some(tree), Some(entry)) = (&self.tree, self.entry(at)) else { return };
        self.selected = Some(TreeSelection::Entry(entry));
        let before = self.folds.len();
        if before > 0 {
            let mut is_above = vec![false; tree.nodes.len()];
            std::iter::successors(tree.parent(at), |&at| tree.parent(at)).for_each(|at| is_above[at as usize] = true);
            let folds = std::mem::take(&mut self.folds).into_iter();
            let hides = |fold: &EntryRef| self.shown(*fold).is_some_and(|at| is_above[at as usize]);
            self.folds = folds.filter(|fold| !hides(fold)).collect();
        }
        if self.folds.len() < before { self.rebuild() } else { self.cursor.follow(self.row_of_selected()) }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::config::Filter;
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
