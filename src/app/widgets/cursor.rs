//! The selected row of a list and the part of the list that is seen.

/// A place in a list that is longer than its pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The selected row.
    pub at: usize,
    /// The first row that is seen.
    pub top: usize,
}

impl Cursor {
    /// Goes `by` rows down, or up if negative, and stops at the ends of a list of `len` rows.
    pub fn go(&mut self, by: isize, len: usize) {
        self.at = self.at.saturating_add_signed(by).min(len.saturating_sub(1));
    }

    /// Scrolls by some rows; the selection stays in sight.
    pub(crate) fn scroll(&mut self, by: isize, len: usize, height: usize) {
        self.top = self.top.saturating_add_signed(by).min(len.saturating_sub(height));
        self.at = self.at.clamp(self.top, (self.top + height).saturating_sub(1).max(self.top));
        self.at = self.at.min(len.saturating_sub(1));
    }

    /// Takes the selection to another row of a list that changed, at the same height on the screen.
    pub(crate) fn follow(&mut self, at: usize) {
        self.top = (self.top + at).saturating_sub(self.at);
        self.at = at;
    }

    /// Brings the selection into sight.
    pub fn fit(&mut self, len: usize, height: usize) {
        self.at = self.at.min(len.saturating_sub(1));
        self.top = self.top.min(self.at).max((self.at + 1).saturating_sub(height)).min(len.saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_selection_stays_in_the_list_and_in_sight(steps in proptest::collection::vec((0..3, -50isize..50), 0..20), len in 0usize..40, height in 1usize..20) {
            let mut cursor = Cursor::default();
            for (what, by) in steps {
                match what {
                    0 => cursor.go(by, len),
                    1 => cursor.scroll(by, len, height),
                    _ => cursor.follow(by.unsigned_abs() % len.max(1)),
                }
                cursor.fit(len, height);
                proptest::prop_assert!(cursor.at < len.max(1));
                proptest::prop_assert!(cursor.top <= cursor.at && cursor.at < cursor.top + height);
                proptest::prop_assert!(cursor.top + height <= len.max(height), "no empty rows while some are hidden");
            }
        }
    }
}
