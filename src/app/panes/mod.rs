//! State of the panes: the list of [`sessions`], the [`tree`] of the selected session, the [`reader`] of the selected
//! row, and the [`layout`]. Panes keep view state only; session data belongs to the catalog.

pub mod layout;
pub mod reader;
pub mod sessions;
pub mod tree;
