//! The panes.

mod hits;
mod name;
pub(super) mod preview;
mod project;
mod row;
mod session;
pub(super) mod sessions;
pub(super) mod tree;
