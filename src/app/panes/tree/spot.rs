//! Where one is in a tree: what is selected and folded.

use std::collections::HashSet;

use crate::library::{EntryRef, SessionKey};

/// What is selected, whatever its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selected {
    Entry(EntryRef),
    Fork(SessionKey),
}

/// Where one is in the tree that is open.
#[derive(Clone, Debug, Default)]
pub(super) struct Spot {
    pub(super) selected: Option<Selected>,
    pub(super) folds: HashSet<EntryRef>,
    /// The first row that is seen.
    pub(super) top: usize,
}
