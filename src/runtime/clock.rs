//! What time it is.

use std::time::SystemTime;

use crate::disk::scan::milliseconds;

/// What time it is, in milliseconds since 1970.
pub(super) fn now() -> i64 {
    milliseconds(SystemTime::now())
}
