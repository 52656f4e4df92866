//! The selection and scroll position of a list.

use std::ops::Range;

/// The selection and scroll position of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The selected row.
    pub at: usize,
    /// The first visible row.
    pub top: usize,
}

impl Cursor {
    /// Moves the selection down by `by` rows, or up if negative, within a list of `len` rows.
    pub fn go(&mut self, by: isize, len: usize) {
        self.at = self.at.saturating_add_signed(by).min(len.saturating_sub(1));
    }

    /// Scrolls by a number of rows and keeps the selection visible.
    pub(crate) fn scroll(&mut self, by: isize, len: usize, height: usize) {
        self.scroll_tall(by, len, height, |_| 1);
    }

    /// Scrolls a list whose rows have several `lines`.
    pub(crate) fn scroll_tall(&mut self, by: isize, len: usize, height: usize, lines: impl Fn(usize) -> usize) {
        self.top = self.top.saturating_add_signed(by).min(top_of(len, height, &lines));
        let last = self.seen(len, height, &lines).end.saturating_sub(1).max(self.top);
        self.at = self.at.clamp(self.top, last).min(len.saturating_sub(1));
    }

    /// Returns the completely visible rows.
    pub fn seen(&self, len: usize, height: usize, lines: impl Fn(usize) -> usize) -> Range<usize> {
        let mut room = height;
        let fits = |row: &usize| {
            let fits = lines(*row) <= room;
            room = room.saturating_sub(lines(*row));
            fits
        };
        let count = (self.top..len).take_while(fits).count();
        self.top..self.top + count
    }

    /// Moves the selection to another row after the list changed, at the same height on the screen.
    pub(crate) fn follow(&mut self, at: usize) {
        self.top = (self.top + at).saturating_sub(self.at);
        self.at = at;
    }

    /// Scrolls to make the selection visible.
    pub fn fit(&mut self, len: usize, height: usize) {
        self.fit_tall(len, height, |_| 1);
    }

    /// Scrolls to make the selection visible, in a list whose rows have several `lines`.
    pub(crate) fn fit_tall(&mut self, len: usize, height: usize, lines: impl Fn(usize) -> usize) {
        self.at = self.at.min(len.saturating_sub(1));
        self.top = self.top.min(self.at).max(top_of((self.at + 1).min(len), height, &lines));
        self.top = self.top.min(top_of(len, height, &lines));
    }
}

/// Returns the first visible row when the list is scrolled to its end. A row taller than the list is shown alone.
fn top_of(len: usize, height: usize, lines: impl Fn(usize) -> usize) -> usize {
    let mut room = height;
    let fits = |row: &usize| {
        let fits = lines(*row) <= room || *row + 1 == len;
        room = room.saturating_sub(lines(*row));
        fits
    };
    len - (0..len).rev().take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_selection_stays_in_the_list_and_in_sight(
            steps in proptest::collection::vec((0..3, -50isize..50), 0..20),
            tall in proptest::collection::vec(1usize..3, 0..40),
            height in 2usize..20,
        ) {
            let (mut cursor, len) = (Cursor::default(), tall.len());
            let lines = |row: usize| tall[row];
            for (what, by) in steps {
                match what {
                    0 => cursor.go(by, len),
                    1 => cursor.scroll_tall(by, len, height, lines),
                    _ => cursor.follow(by.unsigned_abs() % len.max(1)),
                }
                cursor.fit_tall(len, height, lines);
                proptest::prop_assert!(cursor.at < len.max(1));
                proptest::prop_assert!(len == 0 || cursor.seen(len, height, lines).contains(&cursor.at));
                let below: usize = (cursor.top..len).map(lines).sum();
                let is_room = cursor.top > 0 && below + lines(cursor.top - 1) <= height;
                proptest::prop_assert!(!is_room, "no empty rows while some are hidden");
            }
        }
    }
}
