//! Conditions on the statistics of entries.

use crate::search::candidate::{EntryScope, Test};
use crate::session::links::Index;
use crate::session::stats::entry_stats::{EntryStats, SessionStats};

/// Tests an entry of a session.
pub(super) type EntryTest = Box<dyn Fn(&SessionStats, &EntryStats) -> bool + Send + Sync>;

/// Returns a test for sessions with such an entry.
pub(super) fn test(is_such: EntryTest) -> Test {
    Box::new(move |session| {
        let stats = session.digest.stats();
        stats.entries().iter().any(|entry| is_such(&stats, entry)).into()
    })
}

/// Returns the scope of such entries.
pub(super) fn scope(is_such: EntryTest) -> EntryScope {
    EntryScope::Known(Box::new(move |session| {
        let stats = session.digest.stats();
        let entries = stats.entries();
        let found = (0..).zip(&entries).filter(|(_, entry)| is_such(&stats, entry));
        found.map(|(at, _): (Index, _)| at).collect()
    }))
}
