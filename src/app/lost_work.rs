//! The lost work of the selected session.

use crate::app::ticket::Claim;
use crate::catalog::SessionKey;
use crate::search::lost_work::LostWork;
use crate::session::digest::listed::ListedSession;

/// The size and the modification time of a session file.
pub(crate) type SessionVersion = (u64, i64);

/// State of the search for lost work.
#[derive(Debug, Default)]
pub struct LostWorkState {
    /// The selected session and the version of its file, if it is searched.
    pub(crate) session: Option<(SessionKey, SessionVersion)>,
    /// Claim on the search.
    pub(crate) searching: Option<Claim>,
    /// The lost work of the session; empty if it has none, or was not searched yet.
    pub(crate) work: LostWork,
}

/// Returns the version of the file of a session.
pub(crate) fn version(session: &ListedSession) -> SessionVersion {
    let facts = session.facts();
    (facts.bytes(), facts.mtime())
}

impl LostWorkState {
    /// Returns the lost work of a session; `None` if it has none, or is not selected.
    pub(crate) fn of(&self, key: SessionKey) -> Option<&LostWork> {
        let is_selected = self.session.is_some_and(|(selected, _)| selected == key);
        Some(&self.work).filter(|work| is_selected && !work.ends.is_empty())
    }
}
