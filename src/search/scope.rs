//! The context of a query: the meaning of `~`, `today` and `2w`.

use jiff::tz::TimeZone;

/// The context of a query.
#[derive(Clone, Debug)]
pub struct QueryScope {
    /// The current time in milliseconds since 1970.
    pub now_ms: i64,
    /// The home directory, for `~`.
    pub home: String,
    /// The current directory, for `.`; empty if unknown.
    pub dir: String,
    /// The time zone of dates.
    pub zone: TimeZone,
}
