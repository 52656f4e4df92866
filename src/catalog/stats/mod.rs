//! Statistics of sessions. Each entry is counted once, in the oldest session that contains it, and belongs to one group.

pub mod overview;
pub mod request;
pub mod sessions;
mod sums;
pub mod table;
