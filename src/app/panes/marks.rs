//! Marks on entries of any sessions, for comparison.

use crate::catalog::EntryRef;

/// The maximum number of marked entries.
const MOST: usize = 2;

/// The marked entries, in the order in which they were marked.
#[derive(Clone, Debug, Default)]
pub struct EntryMarks(pub Vec<EntryRef>);

impl EntryMarks {
    /// Marks or unmarks an entry. A third mark replaces the oldest one.
    pub(crate) fn toggle(&mut self, entry: EntryRef) {
        let before = self.0.len();
        self.0.retain(|&marked| marked != entry);
        if self.0.len() == before {
            self.0.drain(..before.saturating_sub(MOST - 1));
            self.0.push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::tests::catalog;

    #[test]
    fn two_entries_are_marked_at_most() {
        let catalog = catalog(&[("a", None, 1)]);
        let session = catalog.keys().next().unwrap();
        let entry = |at| EntryRef { session, at };
        let mut marks = EntryMarks::default();
        (0..3).for_each(|at| marks.toggle(entry(at)));
        assert_eq!(marks.0, [entry(1), entry(2)], "the first one gave way");
        marks.toggle(entry(1));
        assert_eq!(marks.0, [entry(2)]);
    }
}
