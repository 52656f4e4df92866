//! The panes.

pub(super) mod preview;
mod row_parts;
pub(super) mod sessions;
pub(super) mod tree;
