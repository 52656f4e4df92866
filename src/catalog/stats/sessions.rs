//! The sessions of a statistic.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::catalog::key::SessionKey;
use crate::session::digest::details::Details;
use crate::session::digest::listed::{LazySession, SharedLazySession};
use crate::session::links::{ById, EntryIndex, IdHash};
use crate::session::marks::Marks;
use crate::session::worktrees::Worktrees;

/// The sessions of a statistic, as they were in the catalog; another thread can count them.
#[derive(Clone, Debug, Default)]
pub struct StatsSessions {
    /// The listed sessions by the number of their key.
    sessions: Vec<Option<SharedLazySession>>,
    /// The oldest ancestor of each session.
    oldest: Vec<SessionKey>,
    /// `true` for each session that is counted.
    is_wanted: Vec<bool>,
    /// Sessions that share entries stand together, oldest first.
    pub(super) members: Vec<SessionKey>,
    /// The groups among them.
    pub(super) groups: Vec<Range<usize>>,
    /// The lasting marks of sessions.
    marks: Arc<Marks>,
    /// The worktrees of working directories.
    worktrees: Arc<Worktrees>,
}

impl StatsSessions {
    /// Takes the sessions of a catalog; those for which `is_wanted` returns `true` are counted.
    pub fn new(catalog: &Catalog, is_wanted: impl Fn(SessionKey) -> bool) -> Self {
        let (marks, worktrees) = (catalog.marks().clone(), catalog.worktrees().clone());
        let mut all = Self { marks, worktrees, ..Self::default() };
        for key in catalog.keys() {
            let place = key.index();
            all.sessions.resize(place, None);
            all.oldest.resize(place, key);
            all.is_wanted.resize(place, false);
            all.sessions.push(catalog.get(key).cloned());
            all.oldest.push(catalog.families().line(key).last().unwrap_or(key));
            all.is_wanted.push(is_wanted(key));
        }
        for key in migrated(catalog) {
            all.is_wanted[key.index()] = false;
        }
        let mut grouped: HashSet<SessionKey> = HashSet::new();
        for key in catalog.keys().filter(|key| all.is_wanted[key.index()]) {
            if !grouped.contains(&key) {
                let start = all.members.len();
                all.members.extend(catalog.sharing(key));
                let group = &all.members[start..];
                grouped.extend(group.iter().filter(|_| group.len() > 1));
                all.groups.push(start..all.members.len());
            }
        }
        all
    }

    /// Sets the lasting marks of sessions.
    #[must_use]
    pub(crate) fn with_marks(self, marks: Marks) -> Self {
        Self { marks: Arc::new(marks), ..self }
    }

    /// Sets the worktrees of working directories.
    #[must_use]
    pub(crate) fn with_worktrees(self, worktrees: Worktrees) -> Self {
        Self { worktrees: Arc::new(worktrees), ..self }
    }

    /// Returns the tags of a session in one text; empty without tags.
    pub(super) fn tags(&self, id: &str) -> String {
        self.marks.tags(id).collect::<Vec<_>>().join(" ")
    }

    /// Returns the directory of the project of a session.
    pub(crate) fn project<'a>(&'a self, session: &'a LazySession) -> Cow<'a, str> {
        self.worktrees.project(session.facts().cwd())
    }

    /// Returns the worktrees.
    pub(crate) fn worktrees(&self) -> &Worktrees {
        &self.worktrees
    }

    /// Returns a session.
    pub fn get(&self, key: SessionKey) -> Option<&SharedLazySession> {
        self.sessions.get(key.index())?.as_ref()
    }

    /// Returns the groups of sessions that share entries, oldest first.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[SessionKey]> {
        self.groups.iter().map(|group| &self.members[group.clone()])
    }

    /// Returns `true` if a session is counted.
    pub(crate) fn is_wanted(&self, key: SessionKey) -> bool {
        self.is_wanted.get(key.index()).is_some_and(|is_wanted| *is_wanted)
    }

    /// Returns the oldest ancestor of a session.
    pub(crate) fn oldest(&self, key: SessionKey) -> SessionKey {
        self.oldest.get(key.index()).copied().unwrap_or(key)
    }
}

/// Returns the sessions of version 1 of which a migrated copy is listed. Migration adds the IDs of entries, so that the
/// two share none.
fn migrated(catalog: &Catalog) -> Vec<SessionKey> {
    let ids = catalog.keys().map(|key| (IdHash::new(catalog[key].facts().id().as_bytes()).value(), key));
    let mut ids: Vec<(u64, SessionKey)> = ids.collect();
    ids.sort_unstable();
    let mut migrated = Vec::new();
    for same in ids.chunk_by(|(one, _), (other, _)| one == other).filter(|same| same.len() > 1) {
        let is_old = |key: &SessionKey| catalog[*key].uncached_digest().header.version < 2.0;
        let (old, new): (Vec<SessionKey>, Vec<SessionKey>) = same.iter().map(|(_, key)| *key).partition(is_old);
        let entries = |key: &SessionKey| catalog[*key].facts().all().entries;
        let newest = new.iter().map(entries).max();
        migrated.extend(old.into_iter().filter(|key| newest.is_some_and(|newest| newest >= entries(key))));
    }
    migrated
}

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
    pub(crate) fn new<'a>(sessions: impl Iterator<Item = &'a SharedLazySession>) -> Self {
        let details: Vec<Arc<Details>> = sessions.map(|session| session.uncached_digest().details_once()).collect();
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
        let place = |(at, id): (EntryIndex, &IdHash)| {
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
