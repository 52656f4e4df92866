//! Reading a catalog at once, for commands: the browser shows sessions while they are read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalog::{Catalog, SessionKey};
use crate::disk::locate;
use crate::disk::scan::ScanSources;
use crate::pi::running;
use crate::session::digest::{Digest, SharedDigest};

impl Catalog {
    /// All sessions, and in which of them a pi is likely at work; `now` is in milliseconds since 1970. `place` says by
    /// which path a session is known.
    pub fn read(sources: ScanSources<'_>, now: i64, place: impl Fn(&Path) -> PathBuf) -> Self {
        let mut scan = sources.scan();
        let mut unreadable = std::mem::take(&mut scan.found.unreadable);
        let mut all = Vec::new();
        scan.read(|batch| {
            unreadable.extend(batch.unreadable);
            all.extend(batch.sessions.into_iter().map(|session| match place(&session.path) {
                path if path == session.path => session,
                path => Arc::new(Digest { path, ..(*session).clone() }),
            }));
            true
        });
        let _ = scan.keep(); // that costs time alone
        Self { unreadable, ..Self::of(all, now) }
    }

    /// Sessions that were read, and in which of them a pi is likely at work; `now` is in milliseconds since 1970.
    pub(crate) fn of(sessions: Vec<SharedDigest>, now: i64) -> Self {
        let mut catalog = Self::default();
        catalog.add(sessions);
        catalog.progress.finished = true;
        catalog.set_pis(running::running(locate::state_dir().as_deref()), now);
        catalog
    }

    /// The sessions that are the same file as one by another way to it, links left out.
    pub(crate) fn key_of_file(&self, real_path: &Path) -> Option<SessionKey> {
        self.keys().find(|&key| self[key].real_path() == real_path && !self[key].is_link)
    }
}
