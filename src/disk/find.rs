//! Finds session files in nested and flat directories, in the layout of pi. Deeper files are subagent sessions.
//! Directories and file metadata are read in parallel.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use crate::base::{archive_paths, machine_paths};
use crate::disk::fingerprint::FileMetadata;
use crate::disk::index::SessionIndex;
use crate::disk::session_file::{FoundFiles, IndexedFile, SessionFile, UnchangedFile, Unreadable};
use crate::disk::{files, parallel};
use crate::session::digest::SubagentOwner;
use crate::system;

/// The maximum depth below a session's own directory, which covers `<session>/<hash>/run-0` and more.
const DEEPEST: usize = 8;

impl FoundFiles {
    /// Unwraps a result and records an error.
    fn note<T>(&mut self, path: &Path, result: io::Result<T>) -> Option<T> {
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let unreadable = |error| Unreadable { is_missing: is_missing(&error), ..Unreadable::new(path, &why(&error)) };
        result.map_err(|error| self.unreadable.push(unreadable(error))).ok()
    }

    /// Returns a session directory to search, if it exists. An archive is created with the first session in it, and the
    /// mirrors with the first machine.
    fn root(&mut self, root: &Path) -> Option<PendingDir> {
        let (level, owner) = (DirLevel::Root, None);
        if let Some(real) = archive_paths::original(root) {
            return root.is_dir().then(|| PendingDir {
                path: root.into(),
                canonical: real,
                level,
                owner,
                is_archive: true,
            });
        }
        let is_mirrors = machine_paths::is_mirrors(root);
        if is_mirrors && !root.is_dir() {
            return None;
        }
        let level = if is_mirrors { DirLevel::Mirrors } else { level };
        let real = self.note(root, dunce::canonicalize(root))?;
        Some(PendingDir { path: root.into(), canonical: real, level, owner, is_archive: false })
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
    let none: &[SessionIndex] = &[];
    Listings::pending(dirs).find(&none)
}

/// Returns the place of a file in a directory, given its name, if its version is known.
pub(super) type FindUnchanged<'a> = Box<dyn Fn(&OsStr, &FileMetadata) -> Option<u32> + Sync + 'a>;

/// Known versions of files, to tell which ones are unchanged.
pub(super) trait KnownDirs: Sync {
    /// Returns the known files of a directory below a session directory with a number; `canonical` is its path with symbolic
    /// links resolved.
    fn dir<'a>(&'a self, number: usize, path: &Path, canonical: &Path) -> Option<FindUnchanged<'a>>;
}

impl KnownDirs for &[SessionIndex] {
    fn dir<'a>(&'a self, number: usize, path: &Path, canonical: &Path) -> Option<FindUnchanged<'a>> {
        let records = self.get(number)?.records_in(path, canonical)?;
        Some(Box::new(move |name, stamp| records.unchanged(name, stamp)))
    }
}

/// The maximum number of names that are listed before it is known which files are unchanged. They need much memory.
const MAX_NAMES: usize = 20_000;

/// The lists of the files in some session directories and below.
#[derive(Default)]
pub(super) struct Listings {
    /// The directories that were listed, with the index of the session directory.
    listed: Vec<(usize, PendingDir, DirListing)>,
    /// The directories to list.
    pending: Vec<(usize, PendingDir)>,
    /// The number of session directories.
    count: usize,
    found: FoundFiles,
}

impl Listings {
    /// Lists directories until there are many names. The others are listed by [`Listings::find`].
    pub(super) fn new(dirs: &[PathBuf]) -> Self {
        let mut listings = Self::pending(dirs);
        let names = |listings: &Self| listings.listed.iter().map(|(.., listing)| listing.sessions.len()).sum::<usize>();
        while !listings.pending.is_empty() && names(&listings) < MAX_NAMES {
            listings.list(&|_| true);
        }
        listings
    }

    /// Lists nothing before [`Listings::find`].
    pub(super) fn pending(dirs: &[PathBuf]) -> Self {
        let mut listings = Self { count: dirs.len(), ..Self::default() };
        for (number, dir) in distinct(dirs) {
            let root = listings.found.root(dir);
            listings.pending.extend(root.map(|root| (number, root)));
        }
        listings
    }

    /// Lists only the directories whose lists of files changed since the times for the session directories. Files in
    /// directories of subagents may be missing.
    pub(super) fn changed(dirs: &[PathBuf], since: &[SystemTime]) -> Self {
        let mut listings = Self::pending(dirs);
        let is_changed = |(number, dir): &(usize, PendingDir)| {
            let changed = fs::metadata(&dir.path).and_then(|metadata| metadata.modified());
            changed.map_or(true, |changed| since.get(*number).is_none_or(|since| changed >= *since))
        };
        while !listings.pending.is_empty() {
            listings.list(&is_changed);
        }
        listings
    }

    /// Iterates over the listed directories that hold no subagents: the index of their session directory, their path, and
    /// the path with symbolic links resolved.
    pub(super) fn dirs(&self) -> impl Iterator<Item = (usize, PathBuf, PathBuf)> {
        let listed = self.listed.iter().filter(|(_, folder, _)| folder.owner.is_none());
        listed.map(|(number, folder, _)| (*number, folder.path.clone(), folder.canonical.clone()))
    }

    /// Lists some of the pending directories. Those in them that fulfill a condition are pending then.
    fn list(&mut self, is_wanted: &dyn Fn(&(usize, PendingDir)) -> bool) {
        let some = self.pending.split_off(self.pending.len().saturating_sub(DIRS_AT_ONCE));
        let listings = parallel::map(&some, |(_, folder)| list(folder));
        for ((number, folder), listing) in some.into_iter().zip(listings) {
            let Some(listing) = self.found.note(&folder.path, listing) else { continue };
            self.pending.extend(folder.below(&listing).map(|folder| (number, folder)).filter(is_wanted));
            self.listed.push((number, folder, listing));
        }
    }

    /// Lists the pending directories, looks at all files, and compares them with what is known.
    pub(super) fn find(mut self, known: &dyn KnownDirs) -> FoundFiles {
        self.compare_listed(known);
        while !self.pending.is_empty() {
            self.list(&|_| true);
            self.compare_listed(known);
        }
        self.found.without_repetitions(self.count)
    }

    /// Looks at the listed files, compares them with what is known, and forgets their names.
    fn compare_listed(&mut self, known: &dyn KnownDirs) {
        let listed = std::mem::take(&mut self.listed);
        let names = listed
            .iter()
            .enumerate()
            .flat_map(|(at, (.., listing))| listing.sessions.chunks(BATCH_SIZE).map(move |names| (at, names)));
        let looked = parallel::map(names.collect::<Vec<_>>(), |(at, names)| {
            let (number, folder, listing) = &listed[at];
            let files = if folder.owner.is_none() { known.dir(*number, &folder.path, &folder.canonical) } else { None };
            compare_files(folder, *number, listing, names, files.as_ref()).map_err(|error| (at, error))
        });
        let mut last = None;
        for looked in looked {
            match looked {
                Ok((unchanged, files)) => {
                    self.found.unchanged.extend(unchanged);
                    self.found.files.extend(files);
                }
                Err((at, error)) if last != Some(at) => {
                    last = Some(at);
                    self.found.note::<()>(&listed[at].1.path, Err(error));
                }
                Err(_) => {}
            }
        }
    }
}

/// Returns the directories with their indexes, without those that are the same.
fn distinct(dirs: &[PathBuf]) -> impl Iterator<Item = (usize, &PathBuf)> {
    let mut seen = HashSet::new();
    dirs.iter().enumerate().filter(move |(_, dir)| seen.insert(files::resolved(dir)))
}

impl FoundFiles {
    /// Sorts the files, newest first, and removes those that were found twice.
    fn without_repetitions(mut self, dirs: usize) -> Self {
        // Records lie in this order in memory.
        self.unchanged.sort_unstable_by_key(|file| (file.dir, file.place));
        if dirs > 1 {
            // One directory can contain another one.
            let mut seen = HashSet::with_capacity(self.files.len());
            let is_new: Vec<bool> = self.files.iter().map(|file| seen.insert(file.path.as_os_str())).collect();
            let mut is_new = is_new.into_iter();
            self.files.retain(|_| is_new.next() == Some(true));
        }
        newest_first(&mut self.files);
        self
    }
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

/// Returns the file name as bytes. Finding the end of a path by its components is slow.
pub(super) fn name(path: &Path) -> &[u8] {
    let path = path.as_os_str().as_encoded_bytes();
    let start = memchr::memrchr(std::path::MAIN_SEPARATOR as u8, path).map_or(0, |at| at + 1);
    &path[start..]
}

/// Returns `true` if pi accepts the file name as a session, including `.jsonl` alone (1.6.0).
pub(super) fn is_named_as_session(path: &Path) -> bool {
    name(path).ends_with(b".jsonl")
}

/// The session files and directories in a directory, and `true` for each symbolic link.
struct DirListing {
    /// The path with symbolic links resolved, or the original path of an archive, if it differs.
    canonical: Option<PathBuf>,
    sessions: Vec<(OsString, bool)>,
    folders: Vec<(PathBuf, bool)>,
}

impl DirListing {
    /// Returns the resolved path of a child, if it differs.
    fn real_path(&self, path: &Path, is_link: bool) -> Option<PathBuf> {
        let resolved = || dunce::canonicalize(path).ok();
        let name = || if archive_paths::is_archived(path) { path.file_stem() } else { path.file_name() };
        let beside = || Some(self.canonical.as_ref()?.join(name()?));
        if is_link { resolved() } else { beside() }.filter(|real| real != path)
    }

    /// Returns the names of the directories.
    fn folder_names(&self) -> HashSet<&[u8]> {
        self.folders.iter().map(|(folder, _)| name(folder)).collect()
    }

    /// Returns the sessions that own directories with some names: the session of the same name, or the session with that
    /// ID. Symbolic links are resolved, because families use resolved paths.
    fn owners<'a>(&self, dir: &Path, names: &HashSet<&'a [u8]>) -> HashMap<&'a [u8], PathBuf> {
        let mut owners = HashMap::new();
        if names.is_empty() {
            return owners;
        }
        for (file, is_link) in &self.sessions {
            let file_name =
                if archive_paths::is_archived(file) { Path::new(file).file_stem() } else { Some(file.as_os_str()) };
            let stem = file_name.and_then(|name| Path::new(name).file_stem()).unwrap_or_default().as_encoded_bytes();
            let ids = memchr::memchr_iter(b'_', stem).map(|at| &stem[at + 1..]);
            for name in ids.chain([stem]).filter_map(|name| names.get(name).copied()) {
                let path = dir.join(file);
                owners.entry(name).or_insert_with(|| self.real_path(&path, *is_link).unwrap_or(path));
            }
        }
        owners
    }
}

/// Lists a directory.
fn list(PendingDir { path: dir, canonical: real, is_archive, .. }: &PendingDir) -> io::Result<DirListing> {
    let real = (real != dir).then(|| real.clone());
    let is_named = |file: &OsStr| match is_archive {
        true => archive_paths::is_archived(file),
        false => is_named_as_session(Path::new(file)),
    };
    let mut listing = DirListing { canonical: real, sessions: Vec::new(), folders: Vec::new() };
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let (file, kind) = (entry.file_name(), entry.file_type()?);
        if is_named(&file) && !kind.is_dir() {
            listing.sessions.push((file, kind.is_symlink()));
        } else if kind.is_dir() || (kind.is_symlink() && entry.path().is_dir()) {
            listing.folders.push((entry.path(), kind.is_symlink()));
        }
    }
    listing.sessions.shrink_to_fit();
    Ok(listing)
}

/// The number of directories whose names are in memory at a time.
const DIRS_AT_ONCE: usize = 64;

/// The number of files of a directory processed per task.
const BATCH_SIZE: usize = 64;

/// A directory to search.
struct PendingDir {
    path: PathBuf,
    /// The path with symbolic links resolved, or the original path of an archive.
    canonical: PathBuf,
    level: DirLevel,
    /// The session whose subagents wrote the files in it.
    owner: Option<SubagentOwner>,
    /// `true` in an archive, where all sessions are archived ones.
    is_archive: bool,
}

/// The level of a directory.
#[derive(Clone, Copy)]
enum DirLevel {
    /// The directory with the mirrors of all machines.
    Mirrors,
    /// The directory of a machine, with a session directory for each one there.
    Machine,
    /// A session directory from the command line, the settings or a machine: sessions and project directories.
    Root,
    /// The directory of a project.
    Project,
    /// The directory of a session for its subagents, with the depth below it.
    Session(usize),
}

impl PendingDir {
    /// Returns the subdirectories to search.
    fn below<'a>(&'a self, listing: &'a DirListing) -> impl Iterator<Item = PendingDir> + 'a {
        let owners = self.owners(listing);
        listing.folders.iter().filter_map(move |(path, is_link)| {
            let owner = || owners.get(name(path)).cloned();
            let (level, owner) = match self.level {
                // A directory next to a session of the same name holds its subagent sessions; any other directory is a
                // project.
                DirLevel::Root => match owner() {
                    Some(owner) => (DirLevel::Session(1), Some(SubagentOwner { path: Some(owner) })),
                    None => (DirLevel::Project, None),
                },
                // The mirror of a machine can be on another disk.
                DirLevel::Mirrors => (DirLevel::Machine, None),
                // Links at this level are not followed, because they could form a cycle.
                _ if *is_link => return None,
                DirLevel::Machine => (DirLevel::Root, None),
                DirLevel::Project => (DirLevel::Session(1), Some(SubagentOwner { path: owner() })),
                // A subagent session has a directory for its own subagents.
                DirLevel::Session(depth) => match owner() {
                    Some(owner) => (DirLevel::Session(1), Some(SubagentOwner { path: Some(owner) })),
                    None if depth < DEEPEST => (DirLevel::Session(depth + 1), self.owner.clone()),
                    None => return None,
                },
            };
            let real = listing.real_path(path, *is_link).unwrap_or_else(|| path.clone());
            Some(PendingDir { canonical: real, path: path.clone(), level, owner, is_archive: self.is_archive })
        })
    }

    /// Returns the sessions that own subdirectories. Those of directories in an archive can lie in the original directory.
    fn owners<'a>(&self, listing: &'a DirListing) -> HashMap<&'a [u8], PathBuf> {
        let mut names = listing.folder_names();
        let mut owners = listing.owners(&self.path, &names);
        names.retain(|name| !owners.contains_key(name));
        if self.is_archive && !names.is_empty() {
            let dir = self.canonical.clone();
            let original =
                PendingDir { path: dir.clone(), canonical: dir, level: self.level, owner: None, is_archive: false };
            // The original directory can be missing.
            owners.extend(list(&original).map(|original| original.owners(&self.canonical, &names)).unwrap_or_default());
        }
        owners
    }
}

/// Returns the given files of the directory that exist and are regular files: those that are known to be unchanged,
/// and the others.
///
/// # Errors
/// The directory can be listed but not entered, which affects all its files.
fn compare_files(
    folder: &PendingDir,
    dir: usize,
    listing: &DirListing,
    names: &[(OsString, bool)],
    known: Option<&FindUnchanged<'_>>,
) -> io::Result<(Vec<UnchangedFile>, Vec<SessionFile>)> {
    let inside = system::files::DirHandle::open(&folder.path);
    let (mut unchanged, mut files) = (Vec::new(), Vec::new());
    for (name, is_link) in names {
        let stamp = match inside.file(&folder.path, name) {
            Ok(Some(stamp)) => stamp,
            Ok(None) => continue, // a directory can have a session name
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_link => return Err(error),
            Err(_) => continue, // missing, or a dangling link
        };
        let known = known.filter(|_| !is_link);
        if let Some(place) = known.and_then(|find| find(name, &stamp)) {
            unchanged.push(UnchangedFile { dir: dir as u32, place });
            continue;
        }
        let path = folder.path.join(name);
        files.push(SessionFile {
            real_path: listing.real_path(&path, *is_link),
            path,
            is_link: *is_link,
            owner: folder.owner.clone(),
            stamp,
            dir,
            known: IndexedFile::Nothing,
        });
    }
    Ok((unchanged, files))
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
                let stamp = FileMetadata { written: mtime * 1_000_000, ..FileMetadata::default() };
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
            Some(&*dunce::canonicalize(elsewhere.path()).unwrap().join("a.jsonl"))
        );
    }
}
