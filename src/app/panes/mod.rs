//! State of the panes: the list of [`sessions`], the [`tree`] of the selected session, the [`preview`] of the selected
//! row, the [`layout`], and the entry [`marks`]. Panes keep view state only; session data belongs to the catalog.

pub mod layout;
pub mod marks;
pub mod preview;
pub mod sessions;
pub mod tree;
