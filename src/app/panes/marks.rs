//! The marks on entries, in the trees of any sessions: what is compared.

use crate::catalog::EntryRef;

/// The most that can be marked.
const MOST: usize = 2;

/// The marked entries, in the order in which they were marked.
#[derive(Clone, Debug, Default)]
pub struct EntryMarks(Vec<EntryRef>);

impl EntryMarks {
    /// Marks an entry, or takes its mark away. When two are marked already, the first one of them is not any more.
    pub(crate) fn toggle(&mut self, entry: EntryRef) {
        let before = self.0.len();
        self.0.retain(|&marked| marked != entry);
        if self.0.len() == before {
            self.0.drain(..before.saturating_sub(MOST - 1));
            self.0.push(entry);
        }
    }

    /// Takes all marks away.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether an entry is marked.
    pub fn has(&self, entry: EntryRef) -> bool {
        self.0.contains(&entry)
    }

    /// The marked entries.
    pub fn all(&self) -> &[EntryRef] {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
        assert_eq!(marks.all(), [entry(1), entry(2)], "the first one gave way");
        marks.toggle(entry(1));
        assert_eq!(marks.all(), [entry(2)]);
        assert!(marks.has(entry(2)) && !marks.has(entry(1)));
    }
}
