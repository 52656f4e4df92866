//! Where and when a query is asked: what `~`, `today` and `2w` in it mean.

use jiff::tz::TimeZone;

/// Where and when a query is asked.
#[derive(Clone, Debug)]
pub struct QueryScope {
    /// Now, in milliseconds since 1970.
    pub now_ms: i64,
    /// The home directory, for `~`.
    pub home: String,
    /// The directory in which it is asked, for `.`; empty if that is not known.
    pub dir: String,
    /// The zone in which days begin.
    pub zone: TimeZone,
}
