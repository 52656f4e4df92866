//! Data about sessions that is not in their files: lasting marks, shown messages, the worktrees of their directories, and
//! machines with copies.

use std::path::MAIN_SEPARATOR;
use std::sync::Arc;

use crate::base::machine_paths::LOCAL_MACHINE;
use crate::catalog::copies::SessionCopy;
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::search::candidate::MachineName;
use crate::session::digest::listed::SharedLazySession;
use crate::session::last_seen::LastSeen;
use crate::session::marks::Marks;
use crate::session::worktrees::Worktrees;

impl Catalog {
    /// Returns the lasting marks of sessions.
    pub fn marks(&self) -> &Arc<Marks> {
        &self.marks
    }

    /// Sets the lasting marks. Returns `true` if they changed.
    pub(crate) fn set_marks(&mut self, marks: Arc<Marks>) -> bool {
        let is_new = *self.marks != *marks;
        if is_new {
            self.marks = marks;
            self.version += 1;
        }
        is_new
    }

    /// Returns the newest shown messages of sessions.
    pub(crate) fn last_seen(&self) -> &Arc<LastSeen> {
        &self.last_seen
    }

    /// Sets the newest shown messages of sessions.
    pub(crate) fn set_last_seen(&mut self, seen: LastSeen) {
        self.last_seen = Arc::new(seen);
    }

    /// Notes the newest shown message of a session.
    pub(crate) fn note_seen(&mut self, id: &str, modified: i64) {
        Arc::make_mut(&mut self.last_seen).note(id, modified);
    }

    /// Returns `true` if a session has messages that were not shown.
    pub fn is_unread(&self, key: SessionKey) -> bool {
        let facts = self[key].facts();
        self.last_seen.is_unread(|| facts.marks_key(), facts.modified())
    }

    /// Iterates over the working directories of sessions on this machine, each once.
    pub(crate) fn cwds(&self) -> impl Iterator<Item = &str> {
        let mut is_known = vec![false; self.dirs.len()];
        let is_new = move |key: &SessionKey| {
            let is_known = &mut is_known[self.project(*key).index()];
            let is_new = !*is_known && !self[*key].facts().is_mirrored();
            *is_known |= is_new;
            is_new
        };
        self.keys().filter(is_new).map(|key| self[key].facts().cwd())
    }

    /// Returns the worktrees of working directories.
    pub fn worktrees(&self) -> &Arc<Worktrees> {
        &self.worktrees
    }

    /// Sets the worktrees of working directories, and moves sessions to the projects that follow. Returns `true` if
    /// they changed.
    pub(crate) fn set_worktrees(&mut self, worktrees: Arc<Worktrees>) -> bool {
        if *self.worktrees == *worktrees {
            return false;
        }
        self.worktrees = worktrees;
        for place in 0..self.slots.len() {
            let session = self.slots[place].session.clone();
            self.slots[place].project = self.project_in(session.facts().cwd());
        }
        self.version += 1;
        true
    }

    /// Returns the project of a session by its directory: the working directory, or that in the main working tree.
    pub(crate) fn project_dir(&self, key: SessionKey) -> &Arc<str> {
        self.dir(self.project(key))
    }

    /// Returns the project of a working directory.
    pub(super) fn project_in(&mut self, cwd: &str) -> ProjectKey {
        let dir = self.worktrees.project(cwd);
        // Most sessions are read next to others of their project.
        let last = self.slots.last().map(|slot| slot.project).filter(|last| *self.dirs[last.index()] == *dir);
        if let Some(last) = last {
            return last;
        }
        // Windows ignores case.
        let name = if MAIN_SEPARATOR == '\\' { dir.to_lowercase().into() } else { dir.clone() };
        if let Some(known) = self.by_dir.get(&*name) {
            return *known;
        }
        let key = ProjectKey::new(self.dirs.len());
        self.by_dir.insert(name.into(), key);
        self.dirs.push(dir.into());
        key
    }
}

impl Catalog {
    /// Returns the copies of a listed session on other machines, which are not listed.
    pub fn copies(&self, key: SessionKey) -> &[SessionCopy] {
        self.copies.of(key)
    }

    /// Returns the older copy of the same session that lacks some of its entries and has others.
    pub fn differing_copy(&self, key: SessionKey) -> Option<SessionKey> {
        self.copies.base(key)
    }

    /// Returns the other machines with a session, that of the listed file first.
    pub fn machines_of(&self, key: SessionKey) -> impl Iterator<Item = &str> {
        self.copies.machines(key, |key| &self[key])
    }

    /// Returns the listed session of a copy; other sessions are returned themselves.
    pub(crate) fn listed_copy(&self, key: SessionKey) -> SessionKey {
        self.copies.shown(key)
    }

    /// Returns the machines of the copies of a listed session; `None` without copies.
    pub(super) fn copy_machines(&self, key: SessionKey) -> Option<Arc<[MachineName]>> {
        let copies = Some(self.copies(key)).filter(|copies| !copies.is_empty())?;
        Some(copies.iter().map(|copy| self[copy.key].facts().machine().map(Box::from)).collect())
    }

    /// Returns the names of all machines in queries, this one first; empty without mirrored sessions.
    pub(crate) fn machine_names(&self) -> Vec<String> {
        let mut machines = self.copies.all_machines().map(String::from).peekable();
        let here = machines.peek().map(|_| LOCAL_MACHINE.to_owned());
        here.into_iter().chain(machines).collect()
    }

    /// Returns `true` if the working directory of a session is missing. That of a mirrored session is on its machine.
    pub fn has_gone_dir(&self, key: SessionKey) -> bool {
        let facts = self[key].facts();
        self.gone_dirs.contains(facts.cwd()) && !facts.is_mirrored()
    }
}

/// Iterates over the working directories of sessions of this machine.
pub(crate) fn local_cwds<'a>(sessions: impl Iterator<Item = &'a SharedLazySession>) -> impl Iterator<Item = &'a str> {
    let cwds = sessions.map(|session| session.facts()).filter(|facts| !facts.is_mirrored()).map(|facts| facts.cwd());
    // Sessions of a project follow one another.
    let mut previous = None;
    cwds.filter(move |&cwd| previous.replace(cwd) != Some(cwd))
}
