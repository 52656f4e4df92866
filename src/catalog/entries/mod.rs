//! The entries of sessions as a stream of records for databases: of all sessions, or of those that changed since a time.

mod facts;
mod record;
mod session;

use std::path::{Path, PathBuf};

use crate::base::sort;
use crate::catalog::entries::facts::PreparedSession;
use crate::catalog::entries::session::SessionReader;
use crate::catalog::key::SessionKey;
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::stats::shared_paths::SharedPaths;
use crate::disk::fingerprint::FileVersion;
use crate::disk::parallel;
use crate::disk::scan::Unreadable;
use crate::secrets::Rules;
use crate::session::digest::listed::SharedSession;

/// The time in milliseconds by which the clocks of file systems can be behind.
const COARSE: i64 = 3000;

/// A request for entries.
pub(crate) struct EntriesRequest<'a> {
    /// The sessions, with their worktrees.
    pub(crate) sessions: &'a StatsSessions,
    /// The rules of redaction; `None` to keep secrets.
    pub(crate) rules: Option<&'a Rules>,
    /// The home directory, for `~` in paths.
    pub(crate) home: &'a str,
    /// The time in milliseconds since 1970 since which a file must have changed; `None` for all sessions.
    pub(crate) since: Option<i64>,
    /// The time at which the run started, before sessions were read.
    pub(crate) run: &'a str,
}

/// A part of the output.
enum Piece {
    Lines(Vec<u8>),
    Unreadable(Unreadable),
}

impl EntriesRequest<'_> {
    /// Passes the lines of the entries to `write` until it returns `false`. Returns the files that could not be read.
    pub(crate) fn run(&self, mut write: impl FnMut(&[u8]) -> bool) -> Vec<Unreadable> {
        let mut groups: Vec<Vec<(SessionKey, &SharedSession, PathBuf)>> =
            parallel::map(self.sessions.groups().collect::<Vec<_>>(), |group| self.changed(group));
        groups.retain(|group| !group.is_empty());
        // The order in which files were read varies.
        sort::by_cached_key(&mut groups, |group| {
            let facts = group.first()?.1.facts();
            Some((facts.created(), facts.path().join()))
        });
        let reader = |group: &Vec<_>, buffer: &mut Vec<u8>, send: &dyn Fn(Piece) -> bool| {
            self.read(group, buffer, send);
        };
        let lost = |group: &Vec<(SessionKey, &SharedSession, PathBuf)>, reason: String| {
            let path = group.first().map_or(Path::new(""), |(.., path)| path);
            Piece::Unreadable(Unreadable::new(path, &reason))
        };
        let mut unreadable = Vec::new();
        parallel::in_order(&groups, (reader, lost), |piece| match piece {
            Piece::Lines(lines) => write(&lines),
            Piece::Unreadable(file) => {
                unreadable.push(file);
                true
            }
        });
        unreadable
    }

    /// Returns the sessions of a group that share entries, if one of them changed: the others contain facts about it.
    fn changed(&self, group: &[SessionKey]) -> Vec<(SessionKey, &SharedSession, PathBuf)> {
        let members = group.iter().filter_map(|&key| Some((key, self.sessions.get(key)?)));
        let members: Vec<_> = members.map(|(key, session)| (key, session, session.file_path())).collect();
        let has_changed = self.since.is_none_or(|since| members.iter().any(|(.., path)| has_changed(path, since)));
        if has_changed { members } else { Vec::new() }
    }

    /// Reads the sessions of a group, and sends the lines of their entries.
    fn read(
        &self,
        group: &[(SessionKey, &SharedSession, PathBuf)],
        buffer: &mut Vec<u8>,
        send: &dyn Fn(Piece) -> bool,
    ) {
        let mut shared = SharedPaths::new(group.iter().map(|(_, session, _)| *session));
        for (member, (key, session, path)) in group.iter().enumerate() {
            let places = shared.places(member);
            let Some(details) = shared.details(member).filter(|_| self.sessions.is_wanted(*key)) else { continue };
            let facts = session.facts();
            let oldest = self.sessions.get(self.sessions.oldest(*key));
            let prepared = PreparedSession {
                path,
                id: facts.id(),
                cwd: facts.cwd(),
                family: oldest.map_or("", |session| session.facts().id()),
                project: &self.sessions.project(session),
                worktrees: self.sessions.worktrees(),
                home: self.home,
                run: self.run,
                rules: self.rules,
            };
            let mut reader = SessionReader { session: &prepared, ids: &details.entries.ids, places: &places, buffer };
            if let Err(reason) = reader.read(&mut |lines| send(Piece::Lines(lines))) {
                send(Piece::Unreadable(Unreadable::new(path, &reason)));
            }
        }
    }
}

/// Returns `true` if a file was written, or put at its path, since a time. Imports and mirrors keep older times of writing.
/// An inaccessible file counts as changed, so that its error is reported.
fn has_changed(path: &Path, since: i64) -> bool {
    let since = since.saturating_sub(COARSE).saturating_mul(1_000_000);
    FileVersion::of(path).map_or(true, |version| version.written.max(version.changed) >= since)
}
