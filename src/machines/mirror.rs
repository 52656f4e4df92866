//! The mirror of a session directory of a machine: read-only files at the same places. A file appears whole, or grows by
//! complete lines. Nothing is removed here: the caller moves files to the trash.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::base::machine_paths;
use crate::base::sort;
use crate::disk::fingerprint::{ContentHash, HashingReader};
use crate::disk::new_file::{self, Draft};
use crate::disk::{create, files, state};
use crate::machines::listing::{self, RemoteFile};
use crate::system;

/// The mode of mirrored files: only their owner can read them, and no one writes to them.
const MODE: u32 = 0o400;

/// The mode while pitree writes.
const WRITABLE: u32 = 0o600;

/// The share of the files that can be gone at once without a question.
const MOST_GONE: f64 = 0.2;

/// A mirror.
#[derive(Debug)]
pub(super) struct Mirror {
    /// The directory.
    pub(super) dir: PathBuf,
    /// The directory for incomplete files, on the same file system.
    incoming: PathBuf,
}

/// The differences between a mirror and a machine.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SyncPlan {
    /// The files to fetch, newest first, with the number of bytes that the mirror has.
    pub(super) fetched: Vec<(RemoteFile, u64)>,
    /// The files whose time differs only because it was known in seconds.
    pub(super) retimed: Vec<RemoteFile>,
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
        gone > 0 && (listed == 0 || gone as f64 > held as f64 * MOST_GONE)
    }
}

/// A mirrored file that is growing, to undo a write that was interrupted.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Growth {
    path: PathBuf,
    bytes: u64,
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
        listing::list(&self.dir).files
    }

    /// Returns the path of a mirrored file.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        listing::below(&self.dir, path)
    }

    /// Returns the directory for files of another program, which are then passed to [`take`](Self::take).
    pub(super) fn staging(&self) -> PathBuf {
        self.incoming.join("staging")
    }

    /// Returns the content of a mirrored file of some length, if the file there may start with it.
    pub(super) fn known(&self, file: &RemoteFile, bytes: u64) -> ContentHash {
        if bytes == 0 || bytes > file.bytes {
            return ContentHash::default();
        }
        // A file that cannot be read is fetched again.
        File::open(self.path(&file.path)).and_then(whole).unwrap_or_default()
    }

    /// Takes the content of a file from an offset, which is 0 or the length of the mirrored file. Only complete lines
    /// are kept. Another file at its place first goes to the trash by `remove`. Returns the path if the file changed.
    ///
    /// # Errors
    /// The content cannot be read or written; the mirrored file is unchanged or complete.
    pub(super) fn take(
        &self,
        file: &RemoteFile,
        (from, content): (u64, &mut dyn Read),
        remove: &mut dyn FnMut(&Path) -> io::Result<()>,
    ) -> io::Result<Option<PathBuf>> {
        let target = self.path(&file.path);
        let mut draft = Draft::of(&self.incoming.join("file"))?;
        io::copy(content, &mut draft)?;
        let kept = complete(&mut draft.file)?;
        if kept == 0 {
            if from > 0 {
                set_time(&File::open(&target)?, file.mtime)?;
            }
            return Ok(None);
        }
        draft.file.set_len(kept)?;
        if from > 0 {
            self.grow(&target, file, (from, &mut draft.file))?;
            return Ok(Some(target));
        }
        let has_grown = match fs::symlink_metadata(&target) {
            // A file that cannot be compared may only look replaced.
            Ok(_) => whole(File::open(&target)?)?.starts(draft.path())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if let Some(folder) = target.parent() {
            create::folders(folder)?;
        }
        set_time(&draft.file, file.mtime)?;
        system::files::set_permissions(&draft.file, MODE)?;
        if has_grown {
            draft.replace(&target)?;
        } else {
            if fs::symlink_metadata(&target).is_ok() {
                remove(&target)?;
            }
            draft.place(&target)?;
        }
        Ok(Some(target))
    }

    /// Appends complete lines to a file.
    fn grow(&self, target: &Path, file: &RemoteFile, (from, lines): (u64, &mut File)) -> io::Result<()> {
        let growth = Growth { path: target.to_path_buf(), bytes: from };
        let known = File::open(target)?;
        if known.metadata()?.len() != from {
            return Err(io::Error::other("the mirror was changed by another program"));
        }
        new_file::replace(&growth_file(&self.incoming), &state::bytes(&growth)?)?;
        system::files::set_permissions(&known, WRITABLE)?;
        let written = (|| {
            let mut to = files::open_regular(target, File::options().append(true))?;
            lines.seek(SeekFrom::Start(0))?;
            io::copy(lines, &mut to)?;
            set_time(&to, file.mtime)?;
            system::files::set_permissions(&to, MODE)
        })();
        if written.is_err() {
            // The disk can be full.
            growth.undo()?;
        }
        fs::remove_file(growth_file(&self.incoming))?;
        written
    }

    /// Sets the time of a file that is the same there.
    ///
    /// # Errors
    /// It cannot be set.
    pub(super) fn set_time(&self, file: &RemoteFile) -> io::Result<()> {
        set_time(&File::open(self.path(&file.path))?, file.mtime)
    }
}

impl Growth {
    /// Removes what was written.
    fn undo(&self) -> io::Result<()> {
        let Ok(known) = File::open(&self.path) else { return Ok(()) };
        system::files::set_permissions(&known, WRITABLE)?;
        let to = files::open_regular(&self.path, File::options().write(true))?;
        if to.metadata()?.len() > self.bytes {
            to.set_len(self.bytes)?;
        }
        system::files::set_permissions(&to, MODE)
    }
}

/// Removes incomplete lines of a growth that was interrupted.
///
/// # Errors
/// The file cannot be written.
pub(super) fn repair(data: &Path, machine: &str) -> io::Result<()> {
    let path = growth_file(&incoming(data, machine));
    match state::read::<Growth>(&path) {
        Ok(growth) if machine_paths::machine(&growth.path) == Some(machine) => growth.undo()?,
        Ok(growth) if growth.path.as_os_str().is_empty() => return Ok(()),
        _ => {} // written before the file grew
    }
    fs::remove_file(path)
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

/// Returns the path of the file that describes a growth.
fn growth_file(incoming: &Path) -> PathBuf {
    incoming.join("growing.json")
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
        .collect();
    let left = count - fetched.len();
    let gone = held.iter().filter(|file| !there.contains(&*file.path) && !is_kept(&file.path));
    let gone: Vec<String> = gone.map(|file| file.path.clone()).collect();
    let is_exact = |file: &&RemoteFile| known.get(&*file.path).is_some_and(|known| known.mtime == file.mtime);
    let is_retimed = |file: &&RemoteFile| {
        file.mtime % 1000 != 0 && known.get(&*file.path).is_some_and(|known| known.is_like(file)) && !is_exact(file)
    };
    let retimed = listed.iter().filter(is_retimed).cloned().collect();
    (SyncPlan { fetched, retimed, gone, counts: [held.len(), listed.len()] }, left)
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

/// Returns the whole content of a file.
fn whole(file: File) -> io::Result<ContentHash> {
    let mut hashed = HashingReader::new(file, true);
    hashed.read_to(u64::MAX)?;
    Ok(hashed.content())
}

fn set_time(file: &File, mtime: i64) -> io::Result<()> {
    let since = Duration::from_millis(mtime.unsigned_abs());
    let time =
        if mtime < 0 { SystemTime::UNIX_EPOCH.checked_sub(since) } else { SystemTime::UNIX_EPOCH.checked_add(since) };
    time.map_or(Ok(()), |time| file.set_modified(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: u64, mtime: i64) -> RemoteFile {
        RemoteFile { path: path.into(), bytes, mtime }
    }

    struct World {
        dir: tempfile::TempDir,
        mirror: Mirror,
        removed: Vec<PathBuf>,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let mirror = Mirror::open(dir.path(), "box", "/s").unwrap().unwrap();
            Self { dir, mirror, removed: Vec::new() }
        }

        fn take(&mut self, from: u64, content: &str, mtime: i64) -> io::Result<Option<PathBuf>> {
            let removed = &mut self.removed;
            let mut remove = |path: &Path| {
                removed.push(path.into());
                fs::remove_file(path)
            };
            let all = file("--a--/x.jsonl", from + content.len() as u64, mtime);
            self.mirror.take(&all, (from, &mut content.as_bytes()), &mut remove)
        }

        fn text(&self) -> String {
            fs::read_to_string(self.mirror.path("--a--/x.jsonl")).unwrap_or_default()
        }
    }

    #[test]
    fn files_appear_whole_and_grow_by_lines() {
        let mut world = World::new();
        world.take(0, "{\"a\":1}\n{\"b\"", 1_500).unwrap();
        assert_eq!(world.text(), "{\"a\":1}\n");
        world.take(8, "{\"b\":2}\n{\"c\":3}", 2_500).unwrap();
        assert_eq!(world.text(), "{\"a\":1}\n{\"b\":2}\n{\"c\":3}");
        let held = world.mirror.files();
        assert_eq!(held, [file("--a--/x.jsonl", 23, 2_500)]);
        assert!(fs::metadata(world.mirror.path("--a--/x.jsonl")).unwrap().permissions().readonly());
        assert!(world.take(0, "{\"half", 3_000).unwrap().is_none());
        assert_eq!(world.text().len(), 23);
        assert!(world.take(4, "{}\n", 3_000).is_err(), "the mirror has another length");
        assert!(world.removed.is_empty());
    }

    #[test]
    fn a_replaced_file_is_removed_first() {
        let mut world = World::new();
        world.take(0, "{\"a\":1}\n", 1_000).unwrap();
        world.take(0, "{\"a\":1}\n{\"b\":2}\n", 2_000).unwrap();
        assert!(world.removed.is_empty(), "it has grown");
        world.take(0, "{\"other\":1}\n", 3_000).unwrap();
        assert_eq!((world.removed.len(), world.text().as_str()), (1, "{\"other\":1}\n"));
    }

    #[test]
    fn an_interrupted_growth_is_undone() {
        let mut world = World::new();
        world.take(0, "{\"a\":1}\n", 1_000).unwrap();
        let path = world.mirror.path("--a--/x.jsonl");
        let growth = Growth { path: path.clone(), bytes: 8 };
        let noted = growth_file(&world.mirror.incoming);
        fs::write(&noted, state::bytes(&growth).unwrap()).unwrap();
        system::files::set_permissions(&File::open(&path).unwrap(), WRITABLE).unwrap();
        fs::write(&path, "{\"a\":1}\n{\"b").unwrap();
        repair(world.dir.path(), "box").unwrap();
        assert_eq!(world.text(), "{\"a\":1}\n");
        assert!(!noted.exists());
        repair(world.dir.path(), "box").unwrap();
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
        let fetched: Vec<_> = of(&listed).fetched.into_iter().map(|(file, known)| (file.path, known)).collect();
        assert_eq!(fetched, [("new.jsonl".into(), 0), ("3.jsonl".into(), 10)]);
        let (limited, left) = plan(&held, &listed, |_| false, 107);
        assert_eq!((limited.fetched.len(), limited.fetched[0].0.path.as_str(), left), (1, "new.jsonl", 1));
        let doubts = |listed: &[RemoteFile], expected: &str| of(listed).is_doubtful(|path| path == expected);
        assert_eq!((of(&held[..8]).gone.len(), doubts(&held[..8], "")), (2, false));
        assert!(doubts(&held[..7], "") && !doubts(&held[..7], "9.jsonl") && doubts(&[], "9.jsonl"));
        let mut exact = held.clone();
        exact[2].mtime += 7;
        assert_eq!((of(&exact).retimed, of(&exact).fetched.len()), (vec![exact[2].clone()], 0));
        assert_eq!(plan(&held, &held[..8], |path| path == "9.jsonl", u64::MAX).0.gone, ["8.jsonl"]);
    }
}
