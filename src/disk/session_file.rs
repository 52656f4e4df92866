//! Files that may be sessions: their metadata, and its addition to digests.

use parking_lot::RwLock;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use crate::base::text::without_os_error_codes;
use crate::base::{archive_paths, machine_paths};
use crate::disk::fingerprint::FileMetadata;
use crate::session::digest::{Digest, SubagentOwner};
use crate::session::lines::NotASession;
use crate::session::problem::{ConflictCopy, Problem};

/// A file that may be a session.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// The path.
    pub path: PathBuf,
    /// The path with symbolic links resolved, or the original path of an archived session, if it differs.
    pub real_path: Option<PathBuf>,
    /// `true` if the file itself is a symbolic link.
    pub is_link: bool,
    /// The owner if it is a subagent session.
    pub owner: Option<SubagentOwner>,
    /// The file version.
    pub(crate) stamp: FileMetadata,
    /// The index of the session directory in which it was found.
    pub(super) dir: usize,
    /// The state of the file in the index.
    pub(super) known: IndexedFile,
}

/// The state of a file in the index; values are rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum IndexedFile {
    /// The file is unchanged.
    Same(usize),
    /// The file is unchanged but was moved.
    Moved(usize),
    /// The file may have grown.
    Before(usize),
    /// The file is not in the index.
    #[default]
    Nothing,
}

impl SessionFile {
    /// Returns the length in bytes and the modification time in milliseconds since 1970.
    pub fn version(&self) -> (u64, i64) {
        (self.stamp.bytes, self.stamp.mtime())
    }
}

/// A file or directory that could not be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// The path.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
    /// `true` if the file is readable but contains entries without a header: see [`NotASession::Headless`].
    pub is_headless: bool,
    /// `true` if nothing exists at the path.
    pub is_missing: bool,
}

impl Unreadable {
    /// Creates it from a path and a reason.
    pub fn new(path: &Path, reason: &impl ToString) -> Self {
        let reason = without_os_error_codes(&reason.to_string()).into_owned();
        Self { path: path.into(), reason, is_headless: false, is_missing: false }
    }

    pub(super) fn file(path: &Path, error: &io::Error) -> Self {
        let why = error.get_ref().and_then(|why| why.downcast_ref());
        Self { is_headless: why == Some(&NotASession::Headless), ..Self::new(path, error) }
    }
}

/// All files that may be sessions.
#[derive(Clone, Debug, Default)]
pub struct FoundFiles {
    /// The files that are not known to be unchanged, newest first.
    pub files: Vec<SessionFile>,
    /// The files whose path and version are known.
    pub(super) unchanged: Vec<UnchangedFile>,
    /// Unreadable directories, including missing ones.
    pub unreadable: Vec<Unreadable>,
}

/// A file whose path and version are known, from an index or from an earlier check.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnchangedFile {
    /// The index of the session directory.
    pub(super) dir: u32,
    /// Its place among the known files.
    pub(super) place: u32,
}

impl UnchangedFile {
    /// Returns the index of the session directory, and the place.
    pub(super) fn record(self) -> (usize, usize) {
        (self.dir as usize, self.place as usize)
    }
}

impl FoundFiles {
    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len() + self.unchanged.len()
    }

    /// Returns `true` if there are no files.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the current state of the file at a path, with the known `owner`. Returns `None` if there is no file.
pub fn one(path: &Path, owner: Option<SubagentOwner>) -> Option<SessionFile> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(SessionFile {
        path: path.into(),
        real_path: archive_paths::original(path).or_else(|| dunce::canonicalize(path).ok().filter(|real| real != path)),
        is_link: fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()),
        owner,
        stamp: FileMetadata::new(&metadata, path),
        ..SessionFile::default()
    })
}

/// Adds the metadata of a file to its digest.
pub(super) fn complete(found: SessionFile, mut digest: Digest, real: &RealPaths) -> Digest {
    let parent = digest.header.parent_session.as_ref().map(Path::new);
    let parent = parent.map(|parent| machine_paths::named_by(&found.path, parent).unwrap_or_else(|| parent.into()));
    let parent_path = parent.map(|parent| real.of(&parent).unwrap_or(parent));
    let (bytes, mtime) = found.version();
    let SessionFile { path, real_path, is_link, owner, .. } = found;
    digest.problems.extend(ConflictCopy::of(&path, &digest.header.id).map(Problem::ConflictCopy));
    Digest { path, real_path, is_link, owner, bytes, mtime, parent_path, ..digest }
}

/// Resolves symbolic links. Most parent sessions are in a few directories, so each directory is resolved once.
#[derive(Debug, Default)]
pub(super) struct RealPaths(RwLock<HashMap<PathBuf, Option<PathBuf>>>);

impl RealPaths {
    /// Returns a path with symbolic links resolved, or `None` if it does not exist.
    fn of(&self, path: &Path) -> Option<PathBuf> {
        let is_link = fs::symlink_metadata(path).ok()?.is_symlink();
        let dir = path.parent().filter(|dir| !is_link && !dir.as_os_str().is_empty());
        let (Some(dir), Some(name)) = (dir, path.file_name()) else { return dunce::canonicalize(path).ok() };
        let known = self.0.read().get(dir).map(|real| Some(real.as_ref()?.join(name)));
        known.unwrap_or_else(|| {
            let real = dunce::canonicalize(dir).ok();
            self.0.write().insert(dir.into(), real.clone());
            Some(real?.join(name))
        })
    }
}

/// Converts a time to milliseconds since 1970.
pub fn milliseconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.as_millis() as i64,
        Err(before) => -(before.duration().as_millis() as i64),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn real_paths_are_those_that_the_system_knows() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/one"), "").unwrap();
        symlink(at("a"), at("linked")).unwrap();
        symlink(at("a/b/one"), at("a/link")).unwrap();
        symlink(at("nowhere"), at("a/broken")).unwrap();
        let real = RealPaths::default();
        let below = [
            "a/b/one",
            "linked/b/one",
            "a/link",
            "linked/link",
            "a/b/../link",
            "a/b/..",
            "a/broken",
            "a/gone",
            "gone/x",
        ];
        let paths: Vec<PathBuf> = below.map(at).into_iter().chain(["src".into(), "/".into(), "".into()]).collect();
        for path in paths.iter().chain(&paths) {
            assert_eq!(real.of(path), dunce::canonicalize(path).ok(), "{}", path.display());
        }
    }
}
