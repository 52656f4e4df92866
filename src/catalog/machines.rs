//! The machines of sessions, and the copies of a session on several machines.

use std::sync::Arc;

use crate::base::machine_paths::HERE;
use crate::catalog::copies::SessionCopy;
use crate::catalog::{Catalog, SessionKey};
use crate::search::candidate::MachineName;
use crate::session::digest::listed::SharedSession;

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
        let here = machines.peek().map(|_| HERE.to_owned());
        here.into_iter().chain(machines).collect()
    }

    /// Returns `true` if the working directory of a session is missing. That of a mirrored session is on its machine.
    pub fn has_gone_dir(&self, key: SessionKey) -> bool {
        let facts = self[key].facts();
        self.gone_dirs.contains(facts.cwd()) && !facts.is_mirrored()
    }
}

/// Iterates over the working directories of sessions of this machine.
pub(crate) fn local_cwds<'a>(sessions: impl Iterator<Item = &'a SharedSession>) -> impl Iterator<Item = &'a str> {
    let cwds = sessions.map(|session| session.facts()).filter(|facts| !facts.is_mirrored()).map(|facts| facts.cwd());
    // Sessions of a project follow one another.
    let mut previous = None;
    cwds.filter(move |&cwd| previous.replace(cwd) != Some(cwd))
}
