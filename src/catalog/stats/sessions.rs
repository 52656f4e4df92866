//! The sessions of a statistic.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::catalog::key::SessionKey;
use crate::session::digest::listed::{ListedSession, SharedSession};
use crate::session::marks::Marks;
use crate::session::worktrees::Worktrees;

/// The sessions of a statistic, as they were in the catalog; another thread can count them.
#[derive(Clone, Debug, Default)]
pub struct StatsSessions {
    /// The listed sessions by the number of their key.
    sessions: Vec<Option<SharedSession>>,
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
            let place = key.place();
            all.sessions.resize(place, None);
            all.oldest.resize(place, key);
            all.is_wanted.resize(place, false);
            all.sessions.push(catalog.get(key).cloned());
            all.oldest.push(catalog.families().line(key).last().unwrap_or(key));
            all.is_wanted.push(is_wanted(key));
        }
        let mut grouped: HashSet<SessionKey> = HashSet::new();
        for key in catalog.keys().filter(|key| all.is_wanted[key.place()]) {
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
    pub(crate) fn project<'a>(&'a self, session: &'a ListedSession) -> Cow<'a, str> {
        self.worktrees.project(session.facts().cwd())
    }

    /// Returns the worktrees.
    pub(crate) fn worktrees(&self) -> &Worktrees {
        &self.worktrees
    }

    /// Returns a session.
    pub fn get(&self, key: SessionKey) -> Option<&SharedSession> {
        self.sessions.get(key.place())?.as_ref()
    }

    /// Returns the groups of sessions that share entries, oldest first.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[SessionKey]> {
        self.groups.iter().map(|group| &self.members[group.clone()])
    }

    /// Returns `true` if a session is counted.
    pub(crate) fn is_wanted(&self, key: SessionKey) -> bool {
        self.is_wanted.get(key.place()).is_some_and(|is_wanted| *is_wanted)
    }

    /// Returns the oldest ancestor of a session.
    pub(crate) fn oldest(&self, key: SessionKey) -> SessionKey {
        self.oldest.get(key.place()).copied().unwrap_or(key)
    }
}
