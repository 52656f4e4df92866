//! The panes: the list of [`sessions`], the [`tree`] of the selected one, the [`preview`] of the selected row, where
//! they stand ([`layout`]), and which entries are marked ([`marks`]). A pane is a view: what it shows of sessions is the catalog's.

pub mod layout;
pub mod marks;
pub mod preview;
pub mod sessions;
pub mod tree;
