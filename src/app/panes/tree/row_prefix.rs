//! The prefix of a row: the visible part of its tree lines and the position of its fold symbol.

use std::ops::Range;

use crate::app::panes::tree::TreePane;
use crate::app::panes::tree::rows::{RowIndex, RowItem};

impl TreePane {
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
    pub(crate) fn is_sign(&self, row: RowIndex, column: usize, columns: usize) -> bool {
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
