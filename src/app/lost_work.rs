//! The lost work of the listed sessions, as far as a background search has found it.

use std::collections::{HashMap, HashSet};

use crate::app::panes::tree::rows::RowIndex;
use crate::app::ticket::Claim;
use crate::catalog::{Catalog, SessionKey};
use crate::search::lost_work::LostWork;
use crate::session::digest::listed::ListedSession;

/// The size and the modification time of a session file.
pub(crate) type SessionVersion = (u64, i64);

/// The result for a version of a session file.
#[derive(Debug, Default)]
struct SearchedVersion {
    version: SessionVersion,
    /// Empty if it has no lost work, or could not be searched.
    work: LostWork,
}

/// State of the search for lost work.
#[derive(Debug, Default)]
pub struct LostWorkState {
    known: HashMap<SessionKey, SearchedVersion>,
    /// The rows of the tree at which branches with lost work end. Of a hidden end, that of its nearest visible ancestor.
    pub rows: HashSet<RowIndex>,
    /// The sessions to search, the next one last.
    pub(crate) waiting: Vec<SessionKey>,
    /// The version of the catalog for which they were chosen, and the number of times at which pis had ended.
    pub(crate) as_of: Option<(u64, u64)>,
    /// The session that was selected last, and `true` if its files must be compared again.
    pub(crate) selected: Option<(SessionKey, bool)>,
    /// Claim on the search in the given sessions.
    pub(crate) searching: Option<(Claim, Vec<(SessionKey, SessionVersion)>)>,
}

/// Returns the version of the file of a session.
pub(crate) fn version(session: &ListedSession) -> SessionVersion {
    let facts = session.facts();
    (facts.bytes(), facts.mtime())
}

impl LostWorkState {
    fn searched(&self, catalog: &Catalog, key: SessionKey) -> Option<&SearchedVersion> {
        let known = self.known.get(&key)?;
        catalog.get(key).is_some_and(|session| known.version == version(session)).then_some(known)
    }

    /// Returns the lost work of a session; `None` if it has none, or was not searched since its file has changed.
    pub fn of(&self, catalog: &Catalog, key: SessionKey) -> Option<&LostWork> {
        self.searched(catalog, key).map(|known| &known.work).filter(|work| !work.ends.is_empty())
    }

    /// Returns `true` if the version of the file of a session was searched.
    pub(crate) fn is_current(&self, catalog: &Catalog, key: SessionKey) -> bool {
        self.searched(catalog, key).is_some()
    }

    /// Returns `true` if a version of the file of a session was searched.
    pub(crate) fn is_known(&self, key: SessionKey) -> bool {
        self.known.contains_key(&key)
    }

    /// Takes the result for a version of a session.
    pub(crate) fn take(&mut self, key: SessionKey, version: SessionVersion, work: LostWork) {
        self.known.insert(key, SearchedVersion { version, work });
    }

    /// Forgets sessions that no longer exist.
    pub(crate) fn retain(&mut self, catalog: &Catalog) {
        self.known.retain(|&key, _| catalog.has(key));
    }
}
