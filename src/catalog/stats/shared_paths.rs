//! The entries of sessions that share some: the session that owns each of them, and those that are abandoned.

use std::collections::HashSet;
use std::sync::Arc;

use crate::session::digest::details::Details;
use crate::session::digest::listed::SharedSession;
use crate::session::links::{ById, IdHash, Index};

/// The place of an entry among the sessions that share entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryPlace {
    /// `true` in the first session that contains the entry, where it is counted.
    pub(crate) is_own: bool,
    /// `true` if the entry is on the path to the last entry of no session.
    pub(crate) is_abandoned: bool,
    /// `true` if the entry is on the path to the last entry of this session.
    pub(crate) is_active: bool,
}

/// Places the entries of sessions that share some, one session after the other, oldest first.
pub(crate) struct SharedPaths {
    details: Vec<Arc<Details>>,
    /// The entries on a path to a last entry.
    on_paths: HashSet<IdHash>,
    /// The entries of the sessions so far.
    seen: ById<()>,
}

impl SharedPaths {
    /// Loads the details of the sessions. They are sorted by age, oldest first.
    pub(crate) fn new<'a>(sessions: impl Iterator<Item = &'a SharedSession>) -> Self {
        let details: Vec<Arc<Details>> = sessions.map(|session| session.once().details_once()).collect();
        let on_path = |of: &Arc<Details>| -> Vec<IdHash> {
            (0..).zip(&of.entries.ids).filter(|(at, _)| of.active.has(*at)).map(|(_, id)| *id).collect()
        };
        let on_paths = if details.len() > 1 { details.iter().flat_map(on_path).collect() } else { HashSet::new() };
        Self { details, on_paths, seen: ById::default() }
    }

    /// Returns the places of the entries of a session. Sessions must be passed in order.
    pub(crate) fn places(&mut self, session: usize) -> Vec<EntryPlace> {
        let is_single = self.details.len() == 1;
        let Some(details) = self.details.get(session) else { return Vec::new() };
        let place = |(at, id): (Index, &IdHash)| {
            let is_active = details.active.has(at);
            EntryPlace {
                is_own: self.seen.insert(*id, ()).is_none(),
                is_abandoned: if is_single { !is_active } else { !self.on_paths.contains(id) },
                is_active,
            }
        };
        (0..).zip(&details.entries.ids).map(place).collect()
    }

    /// Returns the details of a session.
    pub(crate) fn details(&self, session: usize) -> Option<&Arc<Details>> {
        self.details.get(session)
    }
}
