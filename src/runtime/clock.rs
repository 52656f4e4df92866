//! The current time.

use std::time::SystemTime;

use crate::disk::scan::milliseconds;

/// Returns the current time in milliseconds since 1970.
pub(super) fn now() -> i64 {
    milliseconds(SystemTime::now())
}
