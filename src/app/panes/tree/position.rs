//! The position in a tree: selection, folds and scroll offset.

use std::collections::HashSet;

use crate::app::panes::tree::family::FamilySelection;
use crate::catalog::{EntryRef, SessionKey};

/// The selection, independent of its row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeSelection {
    Entry(EntryRef),
    /// A fork row, with its number if the fork has several.
    Fork(SessionKey, usize),
    /// The row of a run, by its first entry.
    Run(EntryRef),
    Inherited,
    Start,
}

/// The position in an open tree.
#[derive(Clone, Debug, Default)]
pub(super) struct TreePosition {
    pub(super) selected: Option<TreeSelection>,
    pub(super) folds: HashSet<EntryRef>,
    pub(super) open_runs: HashSet<EntryRef>,
    pub(super) shows_inherited: bool,
    /// The first visible row.
    pub(super) top: usize,
    /// The other sessions that are shown.
    pub(super) wanted: FamilySelection,
}
