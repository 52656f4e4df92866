//! The panes.

pub(super) mod reader;
mod row_parts;
pub(super) mod sessions;
pub(super) mod tree;
