//! Reading a library at once, for commands: the browser shows sessions while they are read.

use std::path::{Path, PathBuf};

use crate::disk::files::Files;
use crate::disk::{live, scan};
use crate::library::{Library, SessionKey};
use crate::session::digest::Digest;

impl Library {
    /// All sessions in some directories, and in which of them a pi is likely at work; `now` is in milliseconds since
    /// 1970. In tool calls, paths below `home` start with `~`; `place` says by which path a session is known.
    pub fn read((files, dirs, home): (Files, &[PathBuf], &str), now: i64, place: impl Fn(&Path) -> PathBuf) -> Self {
        let mut library = Self::default();
        let found = scan::find(files, dirs);
        library.unreadable = found.unreadable;
        let mut all = Vec::new();
        scan::read(files, &found.files, home, |batch| {
            library.unreadable.extend(batch.unreadable);
            all.extend(batch.sessions.into_iter().map(|session| Digest { path: place(&session.path), ..session }));
            true
        });
        library.add(all);
        library.progress.finished = true;
        library.set_pis(live::running(), now);
        library
    }

    /// The sessions that are the same file as one by another way to it, links left out.
    pub(crate) fn key_of_file(&self, real_path: &Path) -> Option<SessionKey> {
        self.keys().find(|&key| self[key].real_path() == real_path && !self[key].is_link)
    }
}
