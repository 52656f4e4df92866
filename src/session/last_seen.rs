//! The newest message of each session that was shown to the user. Newer messages are unread.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::session::marks::id_of;
use serde_json::{Map, Value};

/// The maximum number of stored sessions.
const MAX_SESSIONS: usize = 5000;

/// The times of the newest messages that were shown, in milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastSeen {
    /// The time of the first use; 0 before it. Messages until then are read.
    #[serde(default)]
    since: i64,
    /// The time of the newest shown message by session ID.
    #[serde(default)]
    sessions: BTreeMap<String, i64>,
    /// Fields of a newer pitree, preserved.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl LastSeen {
    /// Sets the time of the first use. Returns `true` if it was unknown.
    pub fn begin(&mut self, now: i64) -> bool {
        let is_first = self.since == 0;
        if is_first {
            self.since = now;
        }
        is_first
    }

    /// Returns `true` if a session has messages newer than those that were shown. `modified` is the time of its newest
    /// message. The key is only needed for recent sessions.
    pub fn is_unread<'a>(&self, key: impl FnOnce() -> Cow<'a, str>, modified: Option<i64>) -> bool {
        let Some(modified) = modified.filter(|&modified| self.since > 0 && modified > self.since) else { return false };
        let session = &*key();
        // Earlier versions recorded the ID alone.
        let seen = self.sessions.get(session).or_else(|| self.sessions.get(id_of(session)?));
        seen.is_none_or(|&seen| modified > seen)
    }

    /// Records the newest shown message of a session.
    pub fn note(&mut self, session: &str, modified: i64) {
        match self.sessions.get_mut(session) {
            Some(seen) => *seen = modified.max(*seen),
            None => drop(self.sessions.insert(session.into(), modified)),
        }
    }

    /// Records the newest shown messages of sessions, and limits their number: the oldest messages are then read in all
    /// sessions.
    pub fn merge(&mut self, shown: &BTreeMap<String, i64>) {
        shown.iter().for_each(|(session, &modified)| self.note(session, modified));
        if self.sessions.len() > MAX_SESSIONS {
            let mut times: Vec<i64> = self.sessions.values().copied().collect();
            let excess = times.len() - MAX_SESSIONS;
            let (_, newest_excess, _) = times.select_nth_unstable(excess - 1);
            self.since = self.since.max(*newest_excess);
        }
        self.sessions.retain(|_, seen| *seen > self.since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_after_the_newest_shown_one_are_unread() {
        let mut seen = LastSeen::default();
        assert!(!seen.is_unread(|| "a".into(), Some(9)), "before the first use");
        assert!(seen.begin(5) && !seen.begin(7));
        let unread =
            |seen: &LastSeen| [None, Some(5), Some(6), Some(8)].map(|time| seen.is_unread(|| "a".into(), time));
        assert_eq!(unread(&seen), [false, false, true, true]);
        seen.note("a", 6);
        seen.note("a", 3);
        assert_eq!(unread(&seen), [false, false, false, true]);
        assert!(seen.is_unread(|| "b".into(), Some(6)));
    }

    #[test]
    fn many_sessions_are_limited_to_the_newest() {
        let mut seen = LastSeen::default();
        seen.begin(1);
        let shown = (0..MAX_SESSIONS as i64 + 10).map(|at| (format!("{at}"), 100 + at)).collect();
        seen.merge(&shown);
        assert_eq!(seen.sessions.len(), MAX_SESSIONS);
        assert!(!seen.is_unread(|| "0".into(), Some(109)) && seen.is_unread(|| "0".into(), Some(110)));
        assert!(!seen.is_unread(|| "10".into(), Some(110)) && seen.is_unread(|| "10".into(), Some(111)));
    }
}
