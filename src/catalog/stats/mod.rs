//! Statistics of sessions. Each entry is counted once, in the oldest session that contains it, and belongs to one group.

mod commits;
pub mod keys;
pub mod overview;
pub mod request;
pub mod sessions;
pub(crate) mod shared_paths;
mod sums;
pub mod table;
