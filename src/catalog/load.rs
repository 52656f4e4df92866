//! Loads a complete catalog for commands. The browser shows sessions while they load.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalog::{Catalog, SessionKey};
use crate::disk::locate;
use crate::disk::scan::ScanSources;
use crate::pi::running;
use crate::session::digest::{Digest, SharedDigest};

impl Catalog {
    /// Reads all sessions, and detects active pis. `now` is in milliseconds since 1970. `place` maps a path to the path
    /// shown for a session.
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
        let _ = scan.keep(); // a failure only costs time
        Self { unreadable, ..Self::of(all, now) }
    }

    /// Creates a catalog of digests, and detects active pis. `now` is in milliseconds since 1970.
    pub(crate) fn of(sessions: Vec<SharedDigest>, now: i64) -> Self {
        let mut catalog = Self::default();
        catalog.add(sessions);
        catalog.progress.finished = true;
        catalog.set_pis(running::running(locate::state_dir().as_deref()), now);
        catalog
    }

    /// Returns the session with the given path after resolving symbolic links.
    pub(crate) fn key_of_file(&self, real_path: &Path) -> Option<SessionKey> {
        self.keys().find(|&key| self[key].real_path() == real_path && !self[key].is_link)
    }
}
