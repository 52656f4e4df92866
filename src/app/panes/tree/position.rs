//! Where one is in a tree: what is selected and folded.

use std::collections::HashSet;

use crate::app::panes::tree::family::FamilySelection;
use crate::catalog::{EntryRef, SessionKey};

/// What is selected, whatever its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeSelection {
    Entry(EntryRef),
    /// The row of a fork, one of several that it may have.
    Fork(SessionKey, usize),
    /// The row of a run, by the first entry of that.
    Run(EntryRef),
    Inherited,
    Start,
}

/// Where one is in the tree that is open.
#[derive(Clone, Debug, Default)]
pub(super) struct TreePosition {
    pub(super) selected: Option<TreeSelection>,
    pub(super) folds: HashSet<EntryRef>,
    pub(super) open_runs: HashSet<EntryRef>,
    pub(super) shows_inherited: bool,
    /// The first row that is seen.
    pub(super) top: usize,
    /// Which other sessions are seen.
    pub(super) wanted: FamilySelection,
}
