//! The panes.

mod hits;
mod names;
pub(super) mod preview;
pub(super) mod sessions;
pub(super) mod tree;
