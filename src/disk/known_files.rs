//! The last known state of all session files. Of most files, it is that of a listed session, and needs no memory of its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::base::sort;
use crate::disk::find::{FindUnchanged, KnownDirs};
use crate::session::digest::SubagentOwner;
use crate::session::digest::joined_path::JoinedPath;
use crate::session::digest::listed::SharedLazySession;

/// The known length and modification time of a file, as precise as its digest.
pub(super) type KnownVersion = (u64, i64);

/// The last known state of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct TrackedFile {
    /// The known version; `None` to read the file in any case.
    pub(super) version: Option<KnownVersion>,
    pub(super) owner: Option<SubagentOwner>,
    /// The path with symbolic links resolved, if it differs.
    pub(super) real_path: Option<PathBuf>,
}

impl TrackedFile {
    fn new(session: &SharedLazySession) -> Self {
        let facts = session.facts();
        Self {
            version: version(session),
            owner: if facts.is_subagent() { session.owner.clone() } else { None },
            real_path: facts.real_path().map(JoinedPath::join),
        }
    }
}

/// Returns the version of a session; `None` if its last line may have been incomplete.
fn version(session: &SharedLazySession) -> Option<KnownVersion> {
    let facts = session.facts();
    (!facts.is_cut_off()).then_some((facts.bytes(), facts.mtime()))
}

/// The last known state of all session files.
#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    /// The sessions as first known, in order of the bytes of their paths.
    sessions: Vec<SharedLazySession>,
    /// Later states by the bytes of the paths; `None` for missing files.
    changes: BTreeMap<OsString, Option<TrackedFile>>,
}

impl KnownFiles {
    /// Creates the state of sessions as they are listed.
    pub(super) fn new(sessions: &[SharedLazySession]) -> Self {
        let mut sessions = sessions.to_vec();
        sort::by(&mut sessions, |one, other| one.facts().path().compare(other.facts().path()));
        Self { sessions, changes: BTreeMap::new() }
    }

    /// Returns the place of the first session whose path is not less than a directory and a name.
    fn place(&self, range: Range<usize>, path: JoinedPath<'_>) -> usize {
        let start = range.start;
        start + self.sessions[range].partition_point(|session| session.facts().path().compare(path).is_lt())
    }

    fn find(&self, range: Range<usize>, path: JoinedPath<'_>) -> Option<usize> {
        let at = self.place(range, path);
        self.sessions.get(at).is_some_and(|session| session.facts().path().compare(path).is_eq()).then_some(at)
    }

    /// Returns the state of a file.
    pub(super) fn get(&self, path: &Path) -> Option<TrackedFile> {
        if let Some(change) = self.changes.get(path.as_os_str()) {
            return change.clone();
        }
        let at = self.find(0..self.sessions.len(), JoinedPath::whole(path))?;
        Some(TrackedFile::new(&self.sessions[at]))
    }

    /// Sets the state of a file.
    pub(super) fn insert(&mut self, path: &Path, file: TrackedFile) {
        self.changes.insert(path.into(), Some(file));
    }

    /// Removes a file, and returns its state.
    pub(super) fn remove(&mut self, path: &Path) -> Option<TrackedFile> {
        let known = self.get(path)?;
        self.changes.insert(path.into(), None);
        Some(known)
    }

    /// Returns the unchanged sessions whose paths start with a directory, and the changed files.
    fn below(&self, dir: &Path) -> (Range<usize>, impl Iterator<Item = (&Path, &TrackedFile)>) {
        let first = dir.join("").into_os_string();
        let range = self.range(&first);
        let changes = self.changes.range(first.clone()..);
        let is_below = move |path: &OsStr| path.as_encoded_bytes().starts_with(first.as_encoded_bytes());
        let changes = changes.take_while(move |(path, _)| is_below(path));
        (range, changes.filter_map(|(path, file)| Some((Path::new(path), file.as_ref()?))))
    }

    /// Returns the sessions whose paths start with a prefix.
    fn range(&self, prefix: &OsStr) -> Range<usize> {
        let start = self.place(0..self.sessions.len(), JoinedPath::whole(Path::new(prefix)));
        let prefix = prefix.as_encoded_bytes();
        let starts = |session: &SharedLazySession| {
            let [dir, rest] = session.facts().path().bytes();
            match prefix.strip_prefix(dir) {
                Some(end) => rest.starts_with(end),
                None => dir.starts_with(prefix),
            }
        };
        start..start + self.sessions[start..].partition_point(starts)
    }

    fn is_changed(&self, session: &SharedLazySession) -> bool {
        !self.changes.is_empty() && self.changes.contains_key(session.file_path().as_os_str())
    }

    /// Returns the files directly in a directory.
    pub(super) fn files_in(&self, dir: &Path) -> Vec<PathBuf> {
        let (range, changes) = self.below(dir);
        let sessions = self.sessions[range].iter().filter(|session| !self.is_changed(session));
        let paths = sessions.map(|session| session.file_path()).chain(changes.map(|(path, _)| path.into()));
        paths.filter(|path: &PathBuf| path.parent() == Some(dir)).collect()
    }

    /// Returns `true` if there are files in a directory or below.
    pub(super) fn has_below(&self, dir: &Path) -> bool {
        let (range, mut changes) = self.below(dir);
        changes.next().is_some() || self.sessions[range].iter().any(|session| !self.is_changed(session))
    }

    /// Calls a function with the path and the version of each file.
    pub(super) fn each(&self, mut file: impl FnMut(&Path, Option<KnownVersion>)) {
        for session in self.sessions.iter().filter(|session| !self.is_changed(session)) {
            file(&session.file_path(), version(session));
        }
        for (path, known) in &self.changes {
            known.iter().for_each(|known| file(Path::new(path), known.version));
        }
    }

    /// Returns the paths of the files of which none is among these sessions (by their places) or paths.
    pub(super) fn others(&self, places: impl Iterator<Item = usize>, has: impl Fn(&OsStr) -> bool) -> Vec<PathBuf> {
        let mut is_found = vec![false; self.sessions.len()];
        places.for_each(|at| is_found[at] = true);
        let sessions = self.sessions.iter().zip(is_found).filter(|(_, is_found)| !is_found);
        let sessions = sessions.filter(|(session, _)| !self.is_changed(session));
        let sessions = sessions.map(|(session, _)| session.file_path());
        let changes = self.changes.iter().filter(|(_, file)| file.is_some()).map(|(path, _)| PathBuf::from(path));
        sessions.chain(changes).filter(|path| !has(path.as_os_str())).collect()
    }
}

impl KnownDirs for KnownFiles {
    fn dir<'a>(&'a self, _: usize, path: &Path, _: &Path) -> Option<FindUnchanged<'a>> {
        let prefix = path.join("").into_os_string();
        let range = self.range(&prefix);
        Some(Box::new(move |name, stamp| {
            let at = self.find(range.clone(), JoinedPath { dir: &prefix, rest: name })?;
            let session = &self.sessions[at];
            let is_same = version(session) == Some((stamp.bytes, stamp.mtime())) && !session.facts().is_subagent();
            (is_same && !self.is_changed(session)).then_some(at as u32)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::digest::Digest;
    use proptest::prelude::*;

    fn session(path: &str) -> SharedLazySession {
        Digest { path: path.into(), bytes: path.len() as u64, ..Digest::default() }.into()
    }

    proptest! {
        #[test]
        fn files_are_those_of_a_map(
            first in proptest::collection::btree_set("/[ab]/[ab]{1,2}(/c)?", 0..8),
            changes in proptest::collection::vec(("/[ab]/[ab]{1,2}(/c)?", any::<bool>()), 0..8),
        ) {
            let sessions: Vec<SharedLazySession> = first.iter().map(|path| session(path)).collect();
            let mut known = KnownFiles::new(&sessions);
            let mut map: BTreeMap<PathBuf, KnownVersion> =
                first.iter().map(|path| (path.into(), (path.len() as u64, 0))).collect();
            for (path, is_there) in changes {
                let path = PathBuf::from(path);
                if is_there {
                    known.insert(&path, TrackedFile { version: Some((1, 1)), ..TrackedFile::default() });
                    map.insert(path, (1, 1));
                } else {
                    let before = known.remove(&path).and_then(|file| file.version);
                    prop_assert_eq!(before, map.remove(&path));
                }
            }
            let mut all = BTreeMap::new();
            known.each(|path, version| all.extend(version.map(|version| (path.to_path_buf(), version))));
            prop_assert_eq!(&all, &map);
            for path in ["/a/a", "/a/b", "/b/ab", "/a/a/c", "/x"].map(Path::new) {
                prop_assert_eq!(known.get(path).and_then(|file| file.version), map.get(path).copied());
                prop_assert_eq!(known.get(path).is_some(), map.contains_key(path));
                let mut files = known.files_in(path.parent().unwrap());
                files.sort();
                let wanted: Vec<_> = map.keys().filter(|file| file.parent() == path.parent()).cloned().collect();
                prop_assert_eq!(files, wanted);
                prop_assert_eq!(known.has_below(path), map.keys().any(|file| file != path && file.starts_with(path)));
            }
            let mut others = known.others(std::iter::empty(), |path| path.as_encoded_bytes().ends_with(b"c"));
            others.sort();
            prop_assert_eq!(others, map.keys().filter(|path| !path.ends_with("c")).cloned().collect::<Vec<_>>());
        }
    }
}
