//! The panes: the list of [`sessions`], the [`tree`] of the selected one, the [`preview`] of the selected row, and where
//! they stand ([`layout`]). A pane is a view: what it shows of sessions is the library's.

pub mod layout;
pub mod preview;
pub mod sessions;
pub mod tree;
