//! Files touched by tools, merged over sessions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::base::sort;
use crate::session::digest::listed::{LazySession, SharedLazySession};
use crate::session::digest::touched_files::{FileOperationCall, FileUses};
use crate::session::links::ById;
use crate::session::replay::session_path;
use crate::session::worktrees::Worktrees;

/// A file touched by tools or shell commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedFile {
    /// The path, absolute if possible.
    pub path: String,
    /// The number of uses.
    pub uses: FileUses,
    /// The number of sessions with their own uses of the file.
    pub sessions: usize,
    /// The time of the last use, in milliseconds since 1970.
    pub latest: Option<i64>,
}

/// The places of files: the home directory, for `~`, and the worktrees of projects.
#[derive(Clone, Copy, Debug)]
pub struct FilePlaces<'a> {
    /// The home directory.
    pub home: &'a str,
    /// The worktrees; a file in a linked one counts as that of the main working tree.
    pub worktrees: &'a Worktrees,
}

impl FilePlaces<'_> {
    /// Returns the path of a file that a session in `cwd` touched.
    pub fn path(self, path: &str, cwd: &str) -> String {
        let path = session_path(path, cwd, self.home);
        match self.worktrees.path_in_project(cwd, &path) {
            Cow::Owned(path) => path,
            Cow::Borrowed(_) => path,
        }
    }

    /// Returns the path of a file in a session, where it can be in another worktree. Returns `None` if the session has not
    /// touched it.
    pub fn own_path(self, file: &str, session: &LazySession) -> Option<String> {
        let session = session.uncached_digest();
        let (details, cwd) = (session.details_once(), &session.header.cwd);
        let path = details.touches.paths.iter().find(|path| self.path(path, cwd) == file)?;
        Some(session_path(path, cwd, self.home))
    }
}

/// Sessions whose files are listed.
#[derive(Clone, Debug)]
pub struct FilesRequest {
    /// The sessions.
    pub sessions: Vec<SharedLazySession>,
    /// The worktrees whose files are those of the main working tree.
    pub worktrees: Arc<Worktrees>,
    /// The directory to which paths are relative when shown; empty for absolute paths.
    pub cwd: String,
}

/// Returns the files of sessions, most recently touched first. Calls that a fork inherited count once, for the oldest
/// session. Returns `None` if the result is no longer wanted. Digests are not kept, because there can be many.
pub fn outline(
    sessions: &[SharedLazySession],
    places: FilePlaces<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Option<Vec<TouchedFile>> {
    let mut sessions: Vec<&SharedLazySession> = sessions.iter().collect();
    sort::by(&mut sessions, |a, b| a.facts().compare_age(&b.facts()));
    let mut by_path: HashMap<String, (usize, usize)> = HashMap::new(); // index in `all`, and the last session that touched the file
    let mut all: Vec<TouchedFile> = Vec::new();
    let mut first: ById<usize> = ById::default();
    for (number, session) in sessions.into_iter().enumerate() {
        if !is_wanted() {
            return None;
        }
        let session = session.uncached_digest();
        let details = session.details_once();
        let touches = &details.touches;
        let mut known: Vec<Option<usize>> = vec![None; touches.paths.len()];
        for &FileOperationCall { path, operation: touch, time, entry, .. } in &touches.all {
            let id = details.entries.ids.get(entry as usize);
            if id.is_some_and(|&id| *first.entry(id).or_insert(number) != number) {
                continue;
            }
            let at = *known[path as usize].get_or_insert_with(|| {
                let path = places.path(touches.paths.get(path), &session.header.cwd);
                let (at, last) = by_path.entry(path).or_insert_with_key(|path| {
                    all.push(TouchedFile { path: path.clone(), uses: FileUses::default(), sessions: 0, latest: None });
                    (all.len() - 1, usize::MAX)
                });
                all[*at].sessions += usize::from(*last != number);
                *last = number;
                *at
            });
            let file = &mut all[at];
            file.uses.add(touch);
            file.latest = file.latest.max(time);
        }
    }
    sort::by(&mut all, |a, b| b.latest.cmp(&a.latest).then_with(|| a.path.cmp(&b.path)));
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::tool_call::FileOperation;

    #[test]
    fn sums_files_over_sessions() {
        let session = |cwd: &str, touches: &[(&str, FileOperation, i64)]| {
            let mut session = crate::session::digest::Digest::default();
            session.header.cwd = cwd.into();
            for (path, (name, touch, time)) in (0..).zip(touches) {
                session.details_mut().touches.paths.push(name);
                let (touch, time) = (*touch, Some(*time));
                session.details_mut().touches.all.push(FileOperationCall {
                    path,
                    message: 0,
                    entry: 0,
                    operation: touch,
                    time,
                });
            }
            SharedLazySession::from(LazySession::from(session))
        };
        let one = session(
            "/one",
            &[("a", FileOperation::Read, 1), ("@./a", FileOperation::Edit, 3), ("b", FileOperation::Write, 2)],
        );
        let two = session("/two", &[("/one/a", FileOperation::Read, 2), ("a", FileOperation::Read, 9)]);
        let places = FilePlaces { home: "", worktrees: &Worktrees::default() };
        let said: Vec<_> = outline(&[one, two], places, &|| true)
            .unwrap()
            .into_iter()
            .map(|file| (file.path, file.uses.reads, file.uses.changes(), file.sessions, file.latest))
            .collect();
        assert_eq!(
            said,
            [
                ("/two/a".into(), 1, 0, 1, Some(9)),
                ("/one/a".into(), 2, 1, 2, Some(3)),
                ("/one/b".into(), 0, 1, 1, Some(2)),
            ]
        );
    }
}
