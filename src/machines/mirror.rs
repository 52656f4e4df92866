//! The mirror of a session directory of a machine: read-only files at the same places. Each has only complete lines.
//! Nothing is removed here: the caller moves files to the trash. Also lists of session files, of this machine and of another
//! one. Names from another machine are untrusted.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::base::text::is_unsafe;
use crate::base::{machine_paths, sort};
use crate::disk::fingerprint::FileMetadata;
use crate::disk::{create, files, scan};
use crate::system;

/// The mode of mirrored files: only their owner can read them, and no one writes to them.
const MODE: u32 = 0o400;

/// The mode while pitree writes.
const WRITABLE: u32 = 0o600;

/// The share of the files that can be gone at once without a question.
const MAX_GONE: f64 = 0.2;

/// A mirror.
#[derive(Debug)]
pub(super) struct Mirror {
    /// The directory.
    pub(super) dir: PathBuf,
    /// The directory for incomplete files, on the same file system.
    pub(super) incoming: PathBuf,
}

/// The differences between a mirror and a machine.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SyncPlan {
    /// The files to fetch, newest first.
    pub(super) fetched: Vec<RemoteFile>,
    /// The mirrored files that are gone on the machine.
    pub(super) gone: Vec<String>,
    /// The numbers of mirrored files, and of files on the machine.
    counts: [usize; 2],
}

impl SyncPlan {
    /// Returns `true` if so many files are gone that the user must decide; `is_expected` tells which ones the user removed.
    pub(super) fn is_doubtful(&self, is_expected: impl Fn(&str) -> bool) -> bool {
        let [held, listed] = self.counts;
        let gone = self.gone.iter().filter(|path| !is_expected(path)).count();
        gone > 0 && (listed == 0 || gone as f64 > held as f64 * MAX_GONE)
    }
}

impl Mirror {
    /// Opens the mirror of a session directory. Returns `None` if the path of the directory is too long or not absolute.
    ///
    /// # Errors
    /// A directory cannot be created.
    pub(super) fn open(data: &Path, machine: &str, dir: &str) -> io::Result<Option<Self>> {
        let Some(dir) = machine_paths::mirror(&machine_paths::mirrors_in(data), machine, dir) else { return Ok(None) };
        create::folders(&dir)?;
        let mirror = Self { dir, incoming: incoming(data, machine) };
        create::private_folder(&mirror.incoming)?;
        Ok(Some(mirror))
    }

    /// Lists the mirrored files.
    pub(super) fn files(&self) -> Vec<RemoteFile> {
        list(&self.dir).files
    }

    /// Returns the path of a mirrored file.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        below(&self.dir, path)
    }

    /// Returns the directory for files that are being received.
    pub(super) fn staging(&self) -> PathBuf {
        self.incoming.join("staging")
    }

    /// Empties the staging directory, and links the mirrored versions of files into it.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub(super) fn stage(&self, files: &[RemoteFile]) -> io::Result<()> {
        let staging = self.staging();
        match fs::remove_dir_all(&staging) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => create::private_folder(&staging)?,
        }
        for file in files {
            let (mirrored, staged) = (self.path(&file.path), below(&staging, &file.path));
            if mirrored.is_file() {
                create::folders(staged.parent().unwrap_or(&staging))?;
                // Without a link, the whole file is sent.
                let _ = fs::hard_link(mirrored, staged);
            }
        }
        Ok(())
    }

    /// Removes the staging directory.
    pub(super) fn clear(&self) {
        let _ = fs::remove_dir_all(self.staging()); // the next run empties it
    }

    /// Returns the path of a file in the staging directory; `None` if it was not received.
    pub(super) fn staged(&self, file: &RemoteFile) -> Option<PathBuf> {
        let staged = below(&self.staging(), &file.path);
        let metadata = fs::symlink_metadata(&staged).ok().filter(fs::Metadata::is_file)?;
        let mirrored = fs::symlink_metadata(self.path(&file.path)).ok();
        let version = |metadata: &fs::Metadata| FileMetadata::new(metadata, &staged);
        let is_link = mirrored.is_some_and(|mirrored| version(&mirrored) == version(&metadata));
        (!is_link).then_some(staged)
    }

    /// Takes a file from the staging directory. Only complete lines are kept. Another file at its place first goes to the
    /// trash by `remove`.
    ///
    /// # Errors
    /// A file cannot be read or written; the mirrored file is unchanged, or complete, or in the trash.
    pub(super) fn take(
        &self,
        file: &RemoteFile,
        staged: &Path,
        remove: &mut dyn FnMut(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let target = self.path(&file.path);
        let mut content = files::open_regular(staged, File::options().read(true))?;
        let (bytes, kept) = (content.metadata()?.len(), complete(&mut content)?);
        if kept < bytes {
            // rsync keeps the mode of the mirrored file.
            system::files::set_permissions(&content, WRITABLE)?;
            files::open_regular(staged, File::options().write(true))?.set_len(kept)?;
        }
        let mirrored = match fs::symlink_metadata(&target) {
            Ok(metadata) => Some(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // A file that cannot be compared may only look replaced.
            Err(error) => return Err(error),
        };
        if kept == 0 {
            return Ok(());
        }
        let has_grown = mirrored.is_some() && create::starts_with(staged, &target)?;
        if has_grown && mirrored == Some(kept) {
            return set_time(&File::open(&target)?, file.mtime);
        }
        if let Some(folder) = target.parent() {
            create::folders(folder)?;
        }
        set_time(&content, file.mtime)?;
        system::files::set_permissions(&content, MODE)?;
        if has_grown {
            fs::rename(staged, &target)?;
        } else {
            if mirrored.is_some() {
                remove(&target)?;
            }
            create::rename(staged, &target)?;
        }
        Ok(())
    }
}

/// Moves the mirror of a session directory that has another path now, unless that has a mirror.
///
/// # Errors
/// It cannot be moved.
pub(super) fn relocate(data: &Path, machine: &str, [before, now]: [&str; 2]) -> io::Result<()> {
    let mirrors = machine_paths::mirrors_in(data);
    let [before, now] = [before, now].map(|dir| machine_paths::mirror(&mirrors, machine, dir));
    match (before, now) {
        (Some(before), Some(now)) if before.is_dir() && !now.exists() => fs::rename(before, now),
        _ => Ok(()),
    }
}

/// Returns the directory for incomplete files of a machine.
fn incoming(data: &Path, machine: &str) -> PathBuf {
    data.join("machine-incoming").join(machine)
}

/// Removes the directory for incomplete files of a machine.
pub(super) fn forget_incoming(data: &Path, machine: &str) {
    let _ = fs::remove_dir_all(incoming(data, machine)); // disposable
}

/// Compares a mirror with the files of a machine. `kept` are files that stay even if they are gone there. Files beyond
/// `limit` bytes are left out, oldest first; their number is the second value.
pub(super) fn plan(
    held: &[RemoteFile],
    listed: &[RemoteFile],
    is_kept: impl Fn(&str) -> bool,
    limit: u64,
) -> (SyncPlan, usize) {
    let known: HashMap<&str, &RemoteFile> = held.iter().map(|file| (&*file.path, file)).collect();
    let there: HashSet<&str> = listed.iter().map(|file| &*file.path).collect();
    let mut changed: Vec<(RemoteFile, u64)> = listed
        .iter()
        .filter(|file| !known.get(&*file.path).is_some_and(|known| known.is_like(file)))
        .map(|file| (file.clone(), known.get(&*file.path).map_or(0, |known| known.bytes)))
        .collect();
    sort::by(&mut changed, |(one, _), (other, _)| other.mtime.cmp(&one.mtime).then_with(|| one.path.cmp(&other.path)));
    let mut total: u64 = held.iter().map(|file| file.bytes).sum();
    let count = changed.len();
    let fetched: Vec<_> = changed
        .into_iter()
        .filter(|(file, known)| {
            let more = file.bytes.saturating_sub(*known);
            let fits = total.saturating_add(more) <= limit;
            total = total.saturating_add(if fits { more } else { 0 });
            fits
        })
        .map(|(file, _)| file)
        .collect();
    let left = count - fetched.len();
    let gone = held.iter().filter(|file| !there.contains(&*file.path) && !is_kept(&file.path));
    let gone: Vec<String> = gone.map(|file| file.path.clone()).collect();
    (SyncPlan { fetched, gone, counts: [held.len(), listed.len()] }, left)
}

/// Returns the length of the complete lines of a file. The last line may lack its line break if it is a whole entry.
fn complete(file: &mut File) -> io::Result<u64> {
    const CHUNK: u64 = 64 * 1024;
    /// The maximum length of a last line without a line break that is checked.
    const LONGEST: u64 = 1024 * 1024;
    let len = file.metadata()?.len();
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let mut chunk = vec![0; (end - start) as usize];
        system::files::read_exact_at(file, &mut chunk, start)?;
        if let Some(at) = memchr::memrchr(b'\n', &chunk) {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if len - end > LONGEST {
        return Ok(end);
    }
    let mut last = vec![0; (len - end) as usize];
    system::files::read_exact_at(file, &mut last, end)?;
    let is_whole = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&last).is_ok();
    Ok(if is_whole { len } else { end })
}

fn set_time(file: &File, mtime: i64) -> io::Result<()> {
    let since = Duration::from_millis(mtime.unsigned_abs());
    let time =
        if mtime < 0 { SystemTime::UNIX_EPOCH.checked_sub(since) } else { SystemTime::UNIX_EPOCH.checked_add(since) };
    time.map_or(Ok(()), |time| file.set_modified(time))
}

/// The maximum number of files of a machine.
pub(super) const MAX_FILES: usize = 2_000_000;

/// The maximum depth of a file below the session directory: projects, sessions with subagents, and these with theirs.
const DEEPEST: usize = 12;

/// The maximum length of a name in bytes.
const LONGEST_NAME: usize = 255;

/// The maximum length of a path below the session directory in bytes.
const LONGEST_PATH: usize = 2000;

/// A session file of a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RemoteFile {
    /// The path below the session directory, with `/`.
    pub(super) path: String,
    /// The length in bytes.
    pub(super) bytes: u64,
    /// The modification time in milliseconds since 1970.
    pub(super) mtime: i64,
}

impl RemoteFile {
    /// Returns `true` if the path can be used below a directory of this machine: it names a session file, leads nowhere
    /// else, and is no option, device or control sequence.
    pub(super) fn is_safe(&self) -> bool {
        is_safe(&self.path)
    }

    /// Returns `true` if two files probably have the same content. Some machines report only seconds.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_whole = |file: &Self| file.mtime % 1000 == 0;
        let is_same_time = if is_whole(self) || is_whole(other) {
            self.mtime.div_euclid(1000) == other.mtime.div_euclid(1000)
        } else {
            self.mtime == other.mtime
        };
        self.bytes == other.bytes && is_same_time
    }
}

/// Returns `true` for a path below a session directory that can be used on this machine; see [`RemoteFile::is_safe`].
pub(super) fn is_safe(path: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name != "." && name != ".." && name.len() <= LONGEST_NAME && !name.contains('\\')
    };
    let last = path.rsplit('/').next().unwrap_or_default();
    path.len() <= LONGEST_PATH
        && path.split('/').count() <= DEEPEST
        && path.split('/').all(is_name)
        && !path.contains(is_unsafe)
        && last.ends_with(".jsonl")
        && !(cfg_windows() && path.contains([':', '<', '>', '"', '|', '?', '*']))
}

/// Returns `true` where some characters have a meaning in file names.
fn cfg_windows() -> bool {
    std::path::MAIN_SEPARATOR == '\\'
}

/// The session files of a directory of this machine.
#[derive(Debug, Default)]
pub(super) struct ListedFiles {
    pub(super) files: Vec<RemoteFile>,
    /// The number of files that are left out, because other machines would refuse their names.
    pub(super) refused: usize,
    /// `false` if a directory cannot be read.
    pub(super) is_complete: bool,
}

/// Lists the session files below a directory of this machine.
pub(super) fn list(dir: &Path) -> ListedFiles {
    let found = scan::find(&[dir.to_path_buf()]);
    let (mut files, mut refused) = (Vec::with_capacity(found.files.len()), 0);
    let is_complete = found.unreadable.is_empty();
    // A shell on another machine does not list links either.
    for file in found.files.into_iter().filter(|file| !file.is_link) {
        let below = file.path.strip_prefix(dir).ok().and_then(Path::to_str);
        let (bytes, mtime) = file.version();
        let path = below.map(|below| below.replace(std::path::MAIN_SEPARATOR, "/")).unwrap_or_default();
        let file = RemoteFile { path, bytes, mtime };
        if file.is_safe() { files.push(file) } else { refused += 1 }
    }
    files.sort();
    ListedFiles { files, refused, is_complete }
}

/// Returns the path of a file below a directory of this machine.
pub(super) fn below(dir: &Path, path: &str) -> PathBuf {
    path.split('/').fold(dir.to_path_buf(), |path, name| path.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: u64, mtime: i64) -> RemoteFile {
        RemoteFile { path: path.into(), bytes, mtime }
    }

    struct World {
        _dir: tempfile::TempDir,
        mirror: Mirror,
        removed: Vec<PathBuf>,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let mirror = Mirror::open(dir.path(), "box", "/s").unwrap().unwrap();
            Self { _dir: dir, mirror, removed: Vec::new() }
        }

        fn take(&mut self, content: &str, mtime: i64) -> io::Result<()> {
            let removed = &mut self.removed;
            let mut remove = |path: &Path| {
                removed.push(path.into());
                fs::remove_file(path)
            };
            let all = file("--a--/x.jsonl", content.len() as u64, mtime);
            self.mirror.stage(std::slice::from_ref(&all)).unwrap();
            // As rsync does.
            let staged = self.mirror.staging().join(&all.path);
            assert_eq!(self.mirror.staged(&all), None, "it is only a link to the mirrored file");
            fs::create_dir_all(staged.parent().unwrap()).unwrap();
            fs::write(self.mirror.staging().join("new"), content).unwrap();
            fs::rename(self.mirror.staging().join("new"), &staged).unwrap();
            let staged = self.mirror.staged(&all).unwrap();
            self.mirror.take(&all, &staged, &mut remove)
        }

        fn text(&self) -> String {
            fs::read_to_string(self.mirror.path("--a--/x.jsonl")).unwrap_or_default()
        }
    }

    #[test]
    fn files_appear_whole_and_grow_by_lines() {
        let mut world = World::new();
        world.take("{\"a\":1}\n{\"b\"", 1_500).unwrap();
        assert_eq!(world.text(), "{\"a\":1}\n");
        world.take("{\"a\":1}\n{\"b\":2", 2_000).unwrap();
        assert_eq!(world.mirror.files(), [file("--a--/x.jsonl", 8, 2_000)]);
        world.take("{\"a\":1}\n{\"b\":2}\n{\"c\":3}", 2_500).unwrap();
        assert_eq!(world.text(), "{\"a\":1}\n{\"b\":2}\n{\"c\":3}");
        let held = world.mirror.files();
        assert_eq!(held, [file("--a--/x.jsonl", 23, 2_500)]);
        assert!(fs::metadata(world.mirror.path("--a--/x.jsonl")).unwrap().permissions().readonly());
        world.take("{\"half", 3_000).unwrap();
        assert_eq!(world.text().len(), 23);
        assert!(world.removed.is_empty());
    }

    #[test]
    fn a_replaced_file_is_removed_first() {
        let mut world = World::new();
        world.take("{\"a\":1}\n", 1_000).unwrap();
        world.take("{\"a\":1}\n{\"b\":2}\n", 2_000).unwrap();
        assert!(world.removed.is_empty(), "it has grown");
        world.take("{\"other\":1}\n", 3_000).unwrap();
        assert_eq!((world.removed.len(), world.text().as_str()), (1, "{\"other\":1}\n"));
        // A truncated file is another version, too.
        world.take("{\"other\":1}\n{\"more\":1}\n", 4_000).unwrap();
        world.take("{\"other\":1}\n", 5_000).unwrap();
        assert_eq!((world.removed.len(), world.text().as_str()), (2, "{\"other\":1}\n"));
    }

    #[test]
    fn plans_fetch_changes_and_doubt_many_missing_files() {
        let name = |at: usize| format!("{at}.jsonl");
        let held: Vec<_> = (0..10).map(|at| file(&name(at), 10, at as i64 * 1000)).collect();
        let of = |listed: &[RemoteFile]| plan(&held, listed, |_| false, u64::MAX).0;
        assert_eq!(of(&held), SyncPlan { counts: [10, 10], ..SyncPlan::default() });
        let mut listed = held.clone();
        listed[3].bytes = 20;
        listed.push(file("new.jsonl", 5, 99_000));
        let fetched: Vec<_> = of(&listed).fetched.into_iter().map(|file| file.path).collect();
        assert_eq!(fetched, ["new.jsonl", "3.jsonl"]);
        let (limited, left) = plan(&held, &listed, |_| false, 107);
        assert_eq!((limited.fetched.len(), limited.fetched[0].path.as_str(), left), (1, "new.jsonl", 1));
        let doubts = |listed: &[RemoteFile], expected: &str| of(listed).is_doubtful(|path| path == expected);
        assert_eq!((of(&held[..8]).gone.len(), doubts(&held[..8], "")), (2, false));
        assert!(doubts(&held[..7], "") && !doubts(&held[..7], "9.jsonl") && doubts(&[], "9.jsonl"));
        assert_eq!(plan(&held, &held[..8], |path| path == "9.jsonl", u64::MAX).0.gone, ["8.jsonl"]);
    }
}

#[cfg(test)]
mod listing_tests {
    use super::*;

    #[test]
    fn unsafe_names_are_refused() {
        for path in ["a.jsonl", "--a--/2026-01-01_x.jsonl", "--a--/x/y/run-0/z.jsonl", "-rf.jsonl", "é/ b.jsonl"] {
            assert!(is_safe(path), "{path}");
        }
        let (long, deep) = (format!("{}.jsonl", "x".repeat(250)), format!("{}a.jsonl", "a/".repeat(12)));
        for path in [
            "",
            "/etc/a.jsonl",
            "../a.jsonl",
            "a/../../b.jsonl",
            "a//b.jsonl",
            "./a.jsonl",
            "a/",
            "a.txt",
            "a\n.jsonl",
            "a\u{1b}[2J.jsonl",
            "a\u{202e}.jsonl",
            "a\\b.jsonl",
            "a\0.jsonl",
            &long,
            &deep,
        ] {
            assert!(!is_safe(path), "{path:?}");
        }
    }

    #[test]
    fn files_are_alike_with_times_in_seconds() {
        let file = |path: &str, bytes, mtime| RemoteFile { path: path.into(), bytes, mtime };
        assert!(
            file("a", 1, 5_000).is_like(&file("a", 1, 5_999)) && !file("a", 1, 5_001).is_like(&file("a", 1, 5_999))
        );
    }
}
