//! Finds session files in nested and flat directories, in the layout of pi. Deeper files are subagent sessions.
//! Directories and file metadata are read in parallel.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::text::without_os_error_codes;
use crate::disk::fingerprint::FileVersion;
use crate::disk::parallel;
use crate::session::digest::SubagentOwner;
use crate::session::lines::NotASession;
use crate::system;

/// The maximum depth below a session's own directory, which covers `<session>/<hash>/run-0` and more.
const DEEPEST: usize = 8;

/// A file that may be a session.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// The path.
    pub path: PathBuf,
    /// The path with symbolic links resolved, if it differs.
    pub real_path: Option<PathBuf>,
    /// `true` if the file itself is a symbolic link.
    pub is_link: bool,
    /// The owner if it is a subagent session.
    pub owner: Option<SubagentOwner>,
    /// The file version.
    pub(crate) stamp: FileVersion,
    /// The index of the session directory in which it was found.
    pub(super) dir: usize,
    /// The state of the file in the index.
    pub(super) known: IndexedFile,
}

/// The state of a file in the index; values are a segment and a record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum IndexedFile {
    /// The file is unchanged.
    Same((usize, usize)),
    /// The file is unchanged but was moved.
    Moved((usize, usize)),
    /// The file may have grown.
    Before((usize, usize)),
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

/// All files that may be sessions, newest first.
#[derive(Clone, Debug, Default)]
pub struct FoundFiles {
    /// The files.
    pub files: Vec<SessionFile>,
    /// Unreadable directories, including missing ones.
    pub unreadable: Vec<Unreadable>,
}

impl FoundFiles {
    /// Unwraps a result and records an error.
    fn note<T>(&mut self, path: &Path, result: io::Result<T>) -> Option<T> {
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let unreadable = |error| Unreadable { is_missing: is_missing(&error), ..Unreadable::new(path, &why(&error)) };
        result.map_err(|error| self.unreadable.push(unreadable(error))).ok()
    }
}

/// Explains why a directory cannot be read, and what to do.
fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such directory".into(),
        io::ErrorKind::NotADirectory => "not a directory; specify the directory that holds the session files".into(),
        io::ErrorKind::PermissionDenied => "permission denied; check its owner and mode with ls -ld".into(),
        _ => error.to_string(),
    }
}

/// Finds session files in directories.
pub fn find(dirs: &[PathBuf]) -> FoundFiles {
    let mut found = FoundFiles::default();
    let mut seen = HashSet::new();
    for (at, dir) in dirs.iter().enumerate() {
        let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.clone());
        if seen.insert(real) {
            find_in(dir, at, &mut found);
        }
    }
    if dirs.len() > 1 {
        // One directory can contain another one.
        let mut seen = HashSet::with_capacity(found.files.len());
        let is_new: Vec<bool> = found.files.iter().map(|file| seen.insert(file.path.as_os_str())).collect();
        let mut is_new = is_new.into_iter();
        found.files.retain(|_| is_new.next() == Some(true));
    }
    newest_first(&mut found.files);
    found
}

/// Sorts indexes and moves each file once, because the files are large and scattered in memory.
fn newest_first(files: &mut [SessionFile]) {
    let mut order: Vec<(i64, usize)> = files.iter().map(|file| file.stamp.mtime()).zip(0..).collect();
    let name_of = |at: usize| name(&files[at].path);
    order.sort_unstable_by(|(a, one), (b, other)| {
        b.cmp(a).then_with(|| name_of(*other).cmp(name_of(*one))).then_with(|| one.cmp(other))
    });
    for at in 0..order.len() {
        let mut from = order[at].1;
        while from < at {
            from = order[from].1; // that file has been moved already
        }
        files.swap(at, from);
    }
}

/// Returns the current state of the file at a path, with the known `owner`. Returns `None` if there is no file.
pub fn one(path: &Path, owner: Option<SubagentOwner>) -> Option<SessionFile> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(SessionFile {
        path: path.into(),
        real_path: fs::canonicalize(path).ok().filter(|real| real != path),
        is_link: fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()),
        owner,
        stamp: FileVersion::new(&metadata, path),
        ..SessionFile::default()
    })
}

/// Returns the file name as bytes. Finding the end of a path by its components is slow.
pub(super) fn name(path: &Path) -> &[u8] {
    let path = path.as_os_str().as_encoded_bytes();
    let start = memchr::memrchr(std::path::MAIN_SEPARATOR as u8, path).map_or(0, |at| at + 1);
    &path[start..]
}

/// Returns `true` if pi accepts the file name as a session, including `.jsonl` alone (1.5.2).
pub(super) fn is_named_as_session(path: &Path) -> bool {
    name(path).ends_with(b".jsonl")
}

/// The session files and directories in a directory, and `true` for each symbolic link.
struct DirListing {
    /// The path with symbolic links resolved, if it differs.
    real: Option<PathBuf>,
    sessions: Vec<(PathBuf, bool)>,
    folders: Vec<(PathBuf, bool)>,
}

impl DirListing {
    /// Returns the resolved path of a child, if it differs.
    fn real_path(&self, path: &Path, is_link: bool) -> Option<PathBuf> {
        let resolved = || fs::canonicalize(path).ok();
        let beside = || Some(self.real.as_ref()?.join(path.file_name()?));
        if is_link { resolved() } else { beside() }.filter(|real| real != path)
    }

    /// Returns the sessions that own directories, by directory name: the session of the same name, or the session with
    /// that id. Symbolic links are resolved, because families use resolved paths.
    fn owners(&self) -> HashMap<&[u8], PathBuf> {
        let names: HashSet<&[u8]> = self.folders.iter().map(|(folder, _)| name(folder)).collect();
        let mut owners = HashMap::new();
        for (path, is_link) in self.sessions.iter().filter(|_| !names.is_empty()) {
            let stem = path.file_stem().unwrap_or_default().as_encoded_bytes();
            let ids = memchr::memchr_iter(b'_', stem).map(|at| &stem[at + 1..]);
            for name in ids.chain([stem]).filter(|name| names.contains(name)) {
                let real = || self.real_path(path, *is_link).unwrap_or_else(|| path.clone());
                owners.entry(name).or_insert_with(real);
            }
        }
        owners
    }
}

/// Lists a directory; `real` is its path with symbolic links resolved.
fn list(dir: &Path, real: &Path) -> io::Result<DirListing> {
    let real = (real != dir).then(|| real.into());
    let mut listing = DirListing { real, sessions: Vec::new(), folders: Vec::new() };
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if is_named_as_session(&path) && !kind.is_dir() {
            listing.sessions.push((path, kind.is_symlink()));
        } else if kind.is_dir() || (kind.is_symlink() && path.is_dir()) {
            listing.folders.push((path, kind.is_symlink()));
        }
    }
    Ok(listing)
}

/// The number of files of a directory processed per task.
const AT_ONCE: usize = 64;

/// A directory to search.
struct PendingDir {
    path: PathBuf,
    /// The path with symbolic links resolved.
    real: PathBuf,
    level: DirLevel,
    /// The session whose subagents wrote the files in it.
    owner: Option<SubagentOwner>,
}

/// The level of a directory.
#[derive(Clone, Copy)]
enum DirLevel {
    /// A session directory from the command line or the settings: sessions and project directories.
    Root,
    /// The directory of a project.
    Project,
    /// The directory of a session for its subagents, with the depth below it.
    Session(usize),
}

impl PendingDir {
    /// Returns the subdirectories to search.
    fn below<'a>(&'a self, listing: &'a DirListing) -> impl Iterator<Item = PendingDir> + 'a {
        let owners = listing.owners();
        listing.folders.iter().filter_map(move |(path, is_link)| {
            let owner = || owners.get(name(path)).cloned();
            let (level, owner) = match self.level {
                // A directory next to a session of the same name holds its subagent sessions; any other directory is a
                // project.
                DirLevel::Root => match owner() {
                    Some(owner) => (DirLevel::Session(1), Some(SubagentOwner { path: Some(owner) })),
                    None => (DirLevel::Project, None),
                },
                // Links at this level are not followed, because they could form a cycle.
                _ if *is_link => return None,
                DirLevel::Project => (DirLevel::Session(1), Some(SubagentOwner { path: owner() })),
                // A subagent session has a directory for its own subagents.
                DirLevel::Session(depth) => match owner() {
                    Some(owner) => (DirLevel::Session(1), Some(SubagentOwner { path: Some(owner) })),
                    None if depth < DEEPEST => (DirLevel::Session(depth + 1), self.owner.clone()),
                    None => return None,
                },
            };
            let real = listing.real_path(path, *is_link).unwrap_or_else(|| path.clone());
            Some(PendingDir { real, path: path.clone(), level, owner })
        })
    }
}

/// Adds the files of one directory with the given index.
fn find_in(root: &Path, number: usize, found: &mut FoundFiles) {
    let Some(real) = found.note(root, fs::canonicalize(root)) else { return };
    let mut folders = vec![PendingDir { path: root.into(), real, level: DirLevel::Root, owner: None }];
    let mut listed: Vec<(PendingDir, DirListing)> = Vec::new();
    while !folders.is_empty() {
        let listings = parallel::map(&folders, |folder| list(&folder.path, &folder.real));
        let mut next = Vec::new();
        for (folder, listing) in folders.into_iter().zip(listings) {
            let Some(listing) = found.note(&folder.path, listing) else { continue };
            next.extend(folder.below(&listing));
            listed.push((folder, listing));
        }
        folders = next;
    }
    let mut some = Vec::new();
    for (at, (_, listing)) in listed.iter_mut().enumerate() {
        let mut sessions = std::mem::take(&mut listing.sessions).into_iter().peekable();
        while sessions.peek().is_some() {
            some.push((at, sessions.by_ref().take(AT_ONCE).collect()));
        }
    }
    let looked = parallel::map(some, |(at, some)| {
        let (folder, listing) = &listed[at];
        folder.sessions(number, listing, some).map_err(|error| (at, error))
    });
    found.files.reserve(looked.iter().flatten().map(Vec::len).sum());
    let mut last = None;
    for looked in looked {
        match looked {
            Ok(files) => found.files.extend(files),
            Err((at, error)) if last != Some(at) => {
                last = Some(at);
                found.note::<()>(&listed[at].0.path, Err(error));
            }
            Err(_) => {}
        }
    }
}

impl PendingDir {
    /// Returns the given files of the directory that exist and are regular files.
    ///
    /// # Errors
    /// The directory can be listed but not entered, which affects all its files.
    fn sessions(&self, dir: usize, listing: &DirListing, some: Vec<(PathBuf, bool)>) -> io::Result<Vec<SessionFile>> {
        let inside = system::files::DirHandle::open(&self.path);
        let mut files = Vec::with_capacity(some.len());
        for (path, is_link) in some {
            match inside.file(&path) {
                // A directory can have a session name.
                Ok(None) => {}
                Ok(Some(stamp)) => files.push(SessionFile {
                    real_path: listing.real_path(&path, is_link),
                    path,
                    is_link,
                    owner: self.owner.clone(),
                    stamp,
                    dir,
                    known: IndexedFile::Nothing,
                }),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_link => return Err(error),
                Err(_) => {} // missing, or a dangling link
            }
        }
        Ok(files)
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
mod tests {
    use super::*;

    fn write(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{\"type\":\"session\",\"id\":\"x\"}\n").unwrap();
    }

    proptest::proptest! {
        #[test]
        fn files_are_put_newest_first(times in proptest::collection::vec((0i64..5, "[a-c]{1,2}"), 0..40)) {
            let file = |(mtime, name): &(i64, String)| {
                let stamp = FileVersion { written: mtime * 1_000_000, ..FileVersion::default() };
                SessionFile { path: name.into(), stamp, ..SessionFile::default() }
            };
            let mut files: Vec<SessionFile> = times.iter().map(file).collect();
            newest_first(&mut files);
            let mut sorted = times;
            sorted.sort_by(|a, b| b.cmp(a));
            let found = files.into_iter().map(|file| (file.version().1, file.path.to_string_lossy().into_owned()));
            proptest::prop_assert_eq!(found.collect::<Vec<_>>(), sorted);
        }
    }

    fn names(dir: &Path) -> Vec<(String, Option<String>)> {
        let mut names: Vec<_> = find(&[dir.to_path_buf()])
            .files
            .iter()
            .map(|found| {
                let name = |path: &Path| path.strip_prefix(dir).unwrap().to_str().unwrap().to_string();
                (name(&found.path), found.owner.as_ref().map(|owner| owner.path.as_deref().map_or("?".into(), name)))
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn finds_nested_flat_and_deeper_files() {
        let dir = tempfile::tempdir().unwrap();
        for file in [
            "flat.jsonl",
            "p/a.jsonl",
            "p/b.jsonl.deleted.1",
            "p/notes.txt",
            "p/a/h/run-0/session.jsonl",
            "flat/h/s.jsonl",
            "p/other/s.jsonl",
            "p/.jsonl",
        ] {
            write(&dir.path().join(file));
        }
        let own = |name: &str, owner: Option<&str>| (name.to_string(), owner.map(String::from));
        assert_eq!(
            names(dir.path()),
            [
                own("flat.jsonl", None),
                own("flat/h/s.jsonl", Some("flat.jsonl")),
                own("p/.jsonl", None),
                own("p/a.jsonl", None),
                own("p/a/h/run-0/session.jsonl", Some("p/a.jsonl")),
                own("p/other/s.jsonl", Some("?")),
            ]
        );
    }

    #[test]
    fn subagents_belong_to_the_session_that_started_them_at_any_depth() {
        let dir = tempfile::tempdir().unwrap();
        let mut path = String::from("p/2026_top");
        let mut wanted = vec![(format!("{path}.jsonl"), None)];
        for depth in 0..6 {
            let owner = format!("{path}.jsonl");
            path += if depth % 2 == 0 { "/0a/run-0/session" } else { "/0b/run-1/2026_x_sub" };
            wanted.push((format!("{path}.jsonl"), Some(owner)));
        }
        // The session in between is missing, so the next session above owns the files.
        wanted.push(("p/2026_top/0c/run-0/gone/0d/run-0/session.jsonl".into(), Some("p/2026_top.jsonl".into())));
        for (file, _) in &wanted {
            write(&dir.path().join(file));
        }
        wanted.sort();
        assert_eq!(names(dir.path()), wanted);
    }

    #[test]
    fn a_folder_belongs_to_the_session_of_its_name_or_id() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["p/2026_a_b.jsonl", "p/x.jsonl", "p/b/s.jsonl", "p/a_b/s.jsonl", "p/x/s.jsonl", "p/_b/s.jsonl"] {
            write(&dir.path().join(file));
        }
        let owners: Vec<_> = names(dir.path()).into_iter().filter_map(|(name, owner)| Some((name, owner?))).collect();
        let own = |name: &str, owner: &str| (name.to_string(), owner.to_string());
        assert_eq!(
            owners,
            [
                own("p/_b/s.jsonl", "?"),
                own("p/a_b/s.jsonl", "p/2026_a_b.jsonl"),
                own("p/b/s.jsonl", "p/2026_a_b.jsonl"),
                own("p/x/s.jsonl", "p/x.jsonl"),
            ]
        );
    }

    #[test]
    fn many_sessions_with_folders_take_no_longer_each() {
        let dir = tempfile::tempdir().unwrap();
        const COUNT: usize = 5000;
        for at in 0..COUNT {
            fs::write(dir.path().join(format!("2026_{at:04}.jsonl")), "").unwrap();
            fs::create_dir(dir.path().join(format!("{at:04}"))).unwrap();
        }
        let start = std::time::Instant::now();
        assert_eq!(find(&[dir.path().into()]).files.len(), COUNT);
        // Takes about 0.15 s; comparing each directory with each session takes 10 s.
        assert!(start.elapsed().as_secs() < 4, "{:?}", start.elapsed());
    }

    #[cfg(unix)]
    #[test]
    fn follows_linked_folders_once_and_no_circles() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        write(&elsewhere.path().join("a.jsonl"));
        symlink(elsewhere.path(), dir.path().join("p")).unwrap();
        symlink(dir.path(), elsewhere.path().join("round")).unwrap();
        let found = find(&[dir.path().into(), dir.path().join(".")]);
        assert_eq!(found.files.len(), 1);
        assert_eq!(
            found.files[0].real_path.as_deref(),
            Some(&*fs::canonicalize(elsewhere.path()).unwrap().join("a.jsonl"))
        );
    }
}
