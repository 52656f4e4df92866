//! Finds the session files and reads what a list shows of them: newest first, by all processors, in batches.
//! Nested and flat directories, as pi lays them out; what lies deeper is a sub-agent's.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::disk::crew;
use crate::disk::demo;
use crate::disk::files::Files;
use crate::disk::lines;
use crate::session::digest::summary::{Builder, Header, Owner, Summary};

/// Folders below a session's own that are looked into: `<session>/<hash>/run-0` and some more.
const DEEPEST: usize = 8;

/// A file that may be a session.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// With symbolic links resolved, if that differs.
    pub real_path: Option<PathBuf>,
    /// Whether the file itself is a symbolic link.
    pub is_link: bool,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was last written, in milliseconds since 1970.
    pub mtime: i64,
    /// Whose sub-agent wrote it.
    pub owner: Option<Owner>,
}

impl AsRef<Path> for Found {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// Something that could not be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// What it is.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// All files that may be sessions, newest first.
#[derive(Clone, Debug, Default)]
pub struct Finds {
    /// The files.
    pub files: Vec<Found>,
    /// Directories that could not be read, missing ones included.
    pub unreadable: Vec<Unreadable>,
}

/// What was read since the last batch.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Sessions.
    pub sessions: Vec<Summary>,
    /// Files that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Files dealt with so far, those that are no sessions included.
    pub done: usize,
}

/// Looks for session files in directories.
pub fn find(files: Files, dirs: &[PathBuf]) -> Finds {
    let mut finds = Finds::default();
    match files {
        Files::Demo => finds.files = demo::paths().map(demo_found).collect(),
        Files::Disk => {
            let mut seen = HashSet::new();
            for dir in dirs {
                let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.clone());
                if seen.insert(real) {
                    find_in(dir, &mut finds);
                }
            }
        }
    }
    // A directory may be named beside one that holds it.
    let mut seen = HashSet::new();
    finds.files.retain(|found| seen.insert(found.path.clone()));
    finds.files.sort_by(|a, b| b.mtime.cmp(&a.mtime).then_with(|| b.path.file_name().cmp(&a.path.file_name())));
    finds
}

fn demo_found(path: PathBuf) -> Found {
    let bytes = demo::file(&path).map_or(0, |bytes| bytes.len() as u64);
    Found { path, real_path: None, is_link: false, bytes, mtime: 0, owner: None }
}

/// A directory's session files and folders.
struct Listing {
    real: Option<PathBuf>,
    sessions: Vec<(PathBuf, bool)>,
    folders: Vec<(PathBuf, bool)>,
}

fn list(dir: &Path) -> io::Result<Listing> {
    let real = fs::canonicalize(dir)?;
    let mut listing = Listing { real: (real != dir).then_some(real), sessions: Vec::new(), folders: Vec::new() };
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if path.extension() == Some(OsStr::new("jsonl")) && !kind.is_dir() {
            listing.sessions.push((path, kind.is_symlink()));
        } else if kind.is_dir() || (kind.is_symlink() && path.is_dir()) {
            listing.folders.push((path, kind.is_symlink()));
        }
    }
    Ok(listing)
}

fn find_in(root: &Path, finds: &mut Finds) {
    let Some(top) = list_or_note(root, finds) else { return };
    take_sessions(&top, None, finds);
    for (folder, _) in &top.folders {
        // A folder beside a session of the same name holds its sub-agents; any other one is a project.
        if let Some(owner) = owner_of(folder, &top) {
            find_deeper(folder, &Owner { path: Some(owner) }, finds);
            continue;
        }
        let Some(project) = list_or_note(folder, finds) else { continue };
        take_sessions(&project, None, finds);
        for (below, is_link) in &project.folders {
            if !is_link {
                find_deeper(below, &Owner { path: owner_of(below, &project) }, finds);
            }
        }
    }
}

fn list_or_note(dir: &Path, finds: &mut Finds) -> Option<Listing> {
    list(dir).map_err(|error| finds.unreadable.push(Unreadable { path: dir.into(), reason: error.to_string() })).ok()
}

/// The session whose folder this is: of the same name, or the one whose id it is named by. Symbolic links in its path
/// are resolved, as families are tied by real paths.
fn owner_of(folder: &Path, beside: &Listing) -> Option<PathBuf> {
    let name = folder.file_name()?.to_str()?;
    let of_name = |path: &Path| {
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        stem == name || stem.strip_suffix(name).is_some_and(|start| start.ends_with('_'))
    };
    let owner = beside.sessions.iter().map(|(path, _)| path).find(|path| of_name(path))?;
    Some(fs::canonicalize(owner).unwrap_or_else(|_| owner.clone()))
}

fn find_deeper(folder: &Path, owner: &Owner, finds: &mut Finds) {
    let mut folders = vec![(folder.to_path_buf(), 1)];
    while let Some((folder, depth)) = folders.pop() {
        let Some(listing) = list_or_note(&folder, finds) else { continue };
        take_sessions(&listing, Some(owner), finds);
        if depth < DEEPEST {
            // Links are not followed down here: they could lead round in a circle.
            let below = listing.folders.into_iter().filter(|(_, is_link)| !is_link);
            folders.extend(below.map(|(path, _)| (path, depth + 1)));
        }
    }
}

fn take_sessions(listing: &Listing, owner: Option<&Owner>, finds: &mut Finds) {
    for (path, is_link) in &listing.sessions {
        // Not everything of that name is a file: reading a pipe would wait for ever.
        let Ok(metadata) = fs::metadata(path) else { continue };
        if !metadata.is_file() {
            continue;
        }
        let real_path = match (is_link, &listing.real) {
            (true, _) => fs::canonicalize(path).ok(),
            (false, Some(real)) => path.file_name().map(|name| real.join(name)),
            (false, None) => None,
        };
        finds.files.push(Found {
            path: path.clone(),
            real_path: real_path.filter(|real| real != path),
            is_link: *is_link,
            bytes: metadata.len(),
            mtime: metadata.modified().map_or(0, milliseconds),
            owner: owner.cloned(),
        });
    }
}

/// Milliseconds since 1970.
pub fn milliseconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.as_millis() as i64,
        Err(before) => -(before.duration().as_millis() as i64),
    }
}

/// Reads what a list shows of the files and passes it on in batches, until all are done or `batch` returns false.
pub fn read(files: Files, found: &[Found], mut batch: impl FnMut(Batch) -> bool) {
    let work = |found: &Found, worker: &mut crew::Worker<'_>| summary(files, found, &mut worker.buffer).transpose();
    crew::each(found, work, |crew::Batch { results, done }| {
        let mut read = Batch { done, ..Batch::default() };
        for result in results {
            match result {
                Ok(summary) => read.sessions.push(summary),
                Err(unreadable) => read.unreadable.push(unreadable),
            }
        }
        batch(read)
    });
}

/// What a list shows of one file; `None` if it is no session.
///
/// # Errors
/// It can't be read.
pub fn summary(files: Files, found: &Found, buffer: &mut Vec<u8>) -> Result<Option<Summary>, Unreadable> {
    let mut builder = Builder::default();
    let read = files.open(&found.path).and_then(|mut file| {
        lines::each(&mut file, 0, u64::MAX, buffer, |offset, line, ended| {
            builder.line(offset, line, ended);
            !builder.is_refused()
        })
    });
    read.map_err(|error| Unreadable { path: found.path.clone(), reason: error.to_string() })?;
    let Ok(mut summary) = builder.finish(found.mtime) else { return Ok(None) };
    summary.path.clone_from(&found.path);
    summary.real_path.clone_from(&found.real_path);
    summary.is_link = found.is_link;
    summary.owner.clone_from(&found.owner);
    summary.bytes = found.bytes;
    summary.parent_path = summary.header.parent_session.as_ref().map(|parent| match files {
        Files::Disk => fs::canonicalize(parent).unwrap_or_else(|_| parent.into()),
        Files::Demo => parent.into(),
    });
    Ok(Some(summary))
}

/// What a list shows of one file, as it is now; `owner` as it is known. `None` if it is no session, or gone.
///
/// # Errors
/// It can't be read.
pub fn again(path: &Path, owner: Option<Owner>) -> Result<Option<Summary>, Unreadable> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(None) };
    if !metadata.is_file() {
        return Ok(None);
    }
    let real_path = fs::canonicalize(path).ok().filter(|real| real != path);
    let mtime = metadata.modified().map_or(0, milliseconds);
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let found = Found { path: path.to_path_buf(), real_path, is_link, bytes: metadata.len(), mtime, owner };
    summary(Files::Disk, &found, &mut Vec::new())
}

/// The headers of the files that are sessions.
pub fn headers(files: Files, found: &[Found]) -> Vec<(&Found, Header)> {
    let mut buffer = Vec::new();
    let mut header = |found: &Found| {
        let mut builder = Builder::default();
        let mut file = files.open(&found.path).ok()?;
        let read = lines::each(&mut file, 0, u64::MAX, &mut buffer, |offset, line, ended| {
            builder.line(offset, line, ended);
            !builder.is_refused() && !builder.has_header()
        });
        read.ok()?;
        builder.finish(found.mtime).ok().map(|summary| summary.header)
    };
    found.iter().filter_map(|found| header(found).map(|header| (found, header))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{\"type\":\"session\",\"id\":\"x\"}\n").unwrap();
    }

    fn names(dir: &Path) -> Vec<(String, Option<String>)> {
        let mut names: Vec<_> = find(Files::Disk, &[dir.to_path_buf()])
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
        ] {
            write(&dir.path().join(file));
        }
        let own = |name: &str, owner: Option<&str>| (name.to_string(), owner.map(String::from));
        assert_eq!(
            names(dir.path()),
            [
                own("flat.jsonl", None),
                own("flat/h/s.jsonl", Some("flat.jsonl")),
                own("p/a.jsonl", None),
                own("p/a/h/run-0/session.jsonl", Some("p/a.jsonl")),
                own("p/other/s.jsonl", Some("?")),
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
        let finds = find(Files::Disk, &[dir.path().into(), dir.path().join(".")]);
        assert_eq!(finds.files.len(), 1);
        assert_eq!(
            finds.files[0].real_path.as_deref(),
            Some(&*fs::canonicalize(elsewhere.path()).unwrap().join("a.jsonl"))
        );
    }
}
