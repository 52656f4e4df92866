//! State of unread sessions.

use std::collections::BTreeMap;

use crate::app::ticket::Claim;
use crate::catalog::SessionKey;

/// State of unread sessions.
#[derive(Debug, Default)]
pub struct UnreadState {
    /// The session in the tree or the reader, and the time since when, in milliseconds since 1970.
    pub(crate) shown: Option<(SessionKey, i64)>,
    /// The newest shown messages that are not written yet: times by session ID.
    pub(crate) pending: BTreeMap<String, i64>,
    /// The time at which they are written, in milliseconds since 1970.
    pub(crate) due: Option<i64>,
    /// The messages that are being written, and the claim on that.
    pub(crate) writing: Option<(Claim, BTreeMap<String, i64>)>,
}

impl UnreadState {
    /// Returns the newest shown messages that may not be written yet: times by session ID.
    pub(crate) fn unwritten(&self) -> BTreeMap<String, i64> {
        let writing = self.writing.iter().flat_map(|(_, shown)| shown.clone());
        writing.chain(self.pending.clone()).collect()
    }
}
