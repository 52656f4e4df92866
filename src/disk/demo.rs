//! The demo sessions: made with the real pi (see `scripts/pi/demo.mjs`) and embedded in the program. `--demo` copies
//! them to a private temporary directory, which also holds pitree's state, index and trash. Everything works there, and
//! files outside are unchanged.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, UNIX_EPOCH};
use std::{env, io, thread};

use aho_corasick::AhoCorasick;

use crate::base::time;
use crate::disk::create;
use crate::disk::files::{self, open_regular};
use crate::disk::lock::is_at;
use crate::system;

/// The samples in `assets/demo`, packed by `tests/docs/samples.rs`.
const SAMPLES: &[u8] = include_bytes!("../../assets/demo.bin");

/// The home directory in the samples.
pub const HOME: &str = "/home/demo";

/// The session directory of the samples, as in their `parentSession` fields.
pub const ROOT: &str = "/home/demo/.pi/agent/sessions";

/// The time from the last entry of the samples to the start of the demo.
const SINCE_LAST_ENTRY: Duration = Duration::from_mins(4);

/// The start of the names of demo directories.
const PREFIX: &str = "pitree-demo-";

/// The time after which a demo directory without a lock file is abandoned: its program was killed at the start.
const ABANDONED_AFTER: Duration = Duration::from_mins(1);

/// The number of attempts to remove a directory in which files are still written.
const REMOVALS: usize = 20;

/// The demo directory that this process uses instead of the user's directories.
static ENTERED: OnceLock<PathBuf> = OnceLock::new();

/// Returns the demo directory if this process shows a demo.
pub(crate) fn entered() -> Option<&'static Path> {
    ENTERED.get().map(PathBuf::as_path)
}

/// A private directory with a copy of the demo sessions, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct DemoDir {
    root: PathBuf,
    /// Locked while the directory is in use.
    _lock: File,
}

impl DemoDir {
    /// Creates the directory, and removes those of killed programs. The last entry is some minutes before `now_ms`, in
    /// milliseconds since 1970.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub(crate) fn new(now_ms: i64) -> io::Result<Self> {
        remove_abandoned();
        let (root, lock) = locked()?;
        let dir = Self { root, _lock: lock };
        let last = now_ms - i64::try_from(SINCE_LAST_ENTRY.as_millis()).unwrap_or(0);
        let sessions = dir.sessions();
        write(&sessions, &sessions, Some(last))?;
        Ok(dir)
    }

    /// Makes this process use the directory instead of the user's directories: see [`crate::disk::locate`].
    pub(crate) fn enter(&self) {
        ENTERED.get_or_init(|| self.root.clone());
    }

    /// Returns the session directory.
    pub(crate) fn sessions(&self) -> PathBuf {
        agent(&self.root).join("sessions")
    }
}

impl Drop for DemoDir {
    fn drop(&mut self) {
        // While the browser ends, its threads can still write files. What remains is removed at the next start.
        for _ in 0..REMOVALS {
            if fs::remove_dir_all(&self.root).is_ok() || !self.root.exists() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Returns pi's agent directory in a demo directory.
pub(crate) fn agent(root: &Path) -> PathBuf {
    root.join("agent")
}

/// Creates and locks a new demo directory.
fn locked() -> io::Result<(PathBuf, File)> {
    loop {
        // Links in the path would make paths of sessions differ from those in their forks.
        let root = dunce::canonicalize(create::temp_folder(PREFIX)?)?;
        let lock = create::private().write(true).create_new(true).open(lock_of(&root))?;
        // Another program may have removed it before it was locked.
        if lock.try_lock().is_ok() && is_at(&lock, &lock_of(&root)).unwrap_or(false) {
            return Ok((root, lock));
        }
    }
}

fn lock_of(root: &Path) -> PathBuf {
    root.join("lock")
}

/// Removes the demo directories of killed programs.
fn remove_abandoned() {
    for entry in files::entries(&env::temp_dir()) {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path()); // of no use to anyone
        }
    }
}

/// Returns `true` if a directory belongs to this user and no program uses it.
fn is_abandoned(root: &Path) -> bool {
    let Ok(metadata) = root.symlink_metadata() else { return false };
    if !metadata.is_dir() || !system::files::is_own(&metadata) {
        return false;
    }
    match open_regular(&lock_of(root), File::options().write(true)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(_) => metadata.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age > ABANDONED_AFTER)),
    }
}

/// Writes the samples to `dir`. Forks name their parents by a path in `named`. All times are shifted so that the last
/// entry is at `last`, in milliseconds since 1970; otherwise they are unchanged.
///
/// # Errors
/// A file cannot be written.
pub fn write(dir: &Path, named: &Path, last: Option<i64>) -> io::Result<()> {
    let samples = samples()?;
    let times: Vec<Option<i64>> = samples.iter().map(|(_, text)| last_time(text)).collect();
    let newest = times.iter().copied().flatten().max().unwrap_or_default();
    let shift = last.map_or(0, |last| last - newest);
    // A session and the directory of its subagents have the same name.
    let names = samples.iter().filter_map(|(path, _)| Path::new(path).file_stem()?.to_str());
    let moved: Vec<(&str, String)> = names.filter_map(|name| Some((name, shifted_name(name, shift)?))).collect();
    let named = serde_json::to_string(&named.to_string_lossy())?;
    let (from, to): (Vec<&str>, Vec<&str>) = moved.iter().map(|(from, to)| (*from, &**to)).unzip();
    let paths = AhoCorasick::new([&[ROOT][..], &from].concat()).map_err(io::Error::other)?;
    let places = [&[named.trim_matches('"')][..], &to].concat();
    for ((path, text), time) in samples.iter().zip(times) {
        let path = dir.join(paths.replace_all(path, &places));
        create::folders(path.parent().unwrap_or(dir))?;
        let bytes = paths.replace_all_bytes(&shifted(text, shift), &places);
        fs::write(&path, bytes)?;
        let time = UNIX_EPOCH + Duration::from_millis((time.unwrap_or(newest) + shift).unsigned_abs());
        File::options().write(true).open(path)?.set_times(FileTimes::new().set_modified(time))?;
    }
    Ok(())
}

/// Returns the paths and the contents of all samples, including sessions of subagents in deeper directories.
fn samples() -> io::Result<Vec<(String, Vec<u8>)>> {
    postcard::from_bytes(&zstd::decode_all(SAMPLES)?).map_err(io::Error::other)
}

/// The key before each time in a session: text in pi's format, or a number of milliseconds since 1970. In texts, quotes
/// are escaped.
const TIMESTAMP: &[u8] = b"\"timestamp\":";

/// The length of a time in pi's format.
const LEN: usize = "2026-01-05T09:00:00.000Z".len();

/// Returns the last time in a sample, in milliseconds since 1970.
fn last_time(sample: &[u8]) -> Option<i64> {
    let times = memchr::memmem::find_iter(sample, TIMESTAMP).map(|at| at + TIMESTAMP.len() + 1);
    times.filter_map(|at| time::parse(str::from_utf8(sample.get(at..at + LEN)?).ok()?)).max()
}

/// Returns a sample with all times shifted by milliseconds.
fn shifted(sample: &[u8], shift: i64) -> Vec<u8> {
    let mut shifted = Vec::with_capacity(sample.len());
    let mut done = 0;
    for at in memchr::memmem::find_iter(sample, TIMESTAMP).map(|at| at + TIMESTAMP.len()) {
        let is_text = sample.get(at) == Some(&b'"');
        let start = at + usize::from(is_text);
        let digits = sample[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let len = if is_text { LEN } else { digits };
        let Some(old) = sample.get(start..start + len).and_then(|old| str::from_utf8(old).ok()) else { continue };
        let new = match is_text {
            true => time::parse(old).and_then(|ms| time::iso(ms + shift)),
            false => old.parse::<i64>().ok().map(|ms| (ms + shift).to_string()),
        };
        let Some(new) = new else { continue };
        shifted.extend_from_slice(&sample[done..start]);
        shifted.extend_from_slice(new.as_bytes());
        done = start + len;
    }
    shifted.extend_from_slice(&sample[done..]);
    shifted
}

/// Returns a file name in pi's format with its time shifted by milliseconds.
fn shifted_name(name: &str, shift: i64) -> Option<String> {
    let (time, rest) = name.split_at_checked(LEN)?;
    let (day, hours) = time.split_once('T')?;
    let mut parts = hours.splitn(4, '-');
    let mut part = || parts.next();
    let time = format!("{day}T{}:{}:{}.{}", part()?, part()?, part()?, part()?);
    let shifted = time::iso(time::parse(&time)? + shift)?;
    Some(shifted.replace([':', '.'], "-") + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::scan::ScanSources;
    use crate::session::digest::listed::SharedLazySession;

    /// Reads the headers and digests of all samples in a directory.
    fn digests(dir: &Path) -> Vec<SharedLazySession> {
        let mut digests = Vec::new();
        let dirs = [dir.to_path_buf()];
        ScanSources { dirs: &dirs, home: HOME, cache: None }.scan().read(|batch| {
            digests.extend(batch.sessions);
            true
        });
        digests.sort_by(|a, b| a.header.id.cmp(&b.header.id));
        digests
    }

    #[test]
    fn a_directory_is_removed_while_files_are_written() {
        let dir = DemoDir::new(0).unwrap();
        let root = dir.root.clone();
        let (writing, stop) = (root.join("agent"), std::sync::atomic::AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0.. {
                    if stop.load(std::sync::atomic::Ordering::Relaxed) || number == 20_000 {
                        break;
                    }
                    let _ = fs::write(writing.join(number.to_string()), "");
                }
            });
            drop(dir);
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert!(!root.exists());
    }

    #[test]
    fn a_shifted_copy_differs_only_in_its_times() {
        let dir = tempfile::tempdir().unwrap();
        let (fixed, late) = (dir.path().join("fixed"), dir.path().join("late"));
        write(&fixed, &fixed, None).unwrap();
        const NOW: i64 = 1_800_000_000_000;
        write(&late, &late, Some(NOW)).unwrap();
        let (fixed, late) = (digests(&fixed), digests(&late));
        assert_eq!(fixed.len(), samples().unwrap().len());
        assert_eq!(late.iter().map(|digest| digest.mtime).max(), Some(NOW));
        let shift = NOW - fixed.iter().map(|digest| digest.mtime).max().unwrap();
        for (old, new) in fixed.iter().zip(&late) {
            assert_eq!((&old.header.id, old.mtime + shift), (&new.header.id, new.mtime));
            let exists = |digest: &SharedLazySession| digest.parent_path.as_ref().map(|parent| parent.is_file());
            assert_eq!(exists(old), exists(new), "{}", old.header.id);
        }
    }

    #[test]
    fn all_times_and_names_are_shifted() {
        let line =
            br#"{"timestamp":"2026-10-31T23:59:59.999Z","a":"\"timestamp\":1","message":{"timestamp":1793491199999}}"#;
        let wanted =
            r#"{"timestamp":"2026-11-01T00:00:00.000Z","a":"\"timestamp\":1","message":{"timestamp":1793491200000}}"#;
        assert_eq!(String::from_utf8(shifted(line, 1)).unwrap(), wanted);
        assert_eq!(shifted(b"{\"timestamp\":", 1), b"{\"timestamp\":");
        let name = shifted_name("2026-10-31T23-59-59-999Z_id", 1).unwrap();
        assert_eq!(name, "2026-11-01T00-00-00-000Z_id");
        assert_eq!(shifted_name("session", 1), None);
    }

    #[test]
    fn directories_of_killed_programs_are_removed() {
        let (root, lock) = locked().unwrap();
        assert!(!is_abandoned(&root), "it is in use");
        drop(lock);
        assert!(is_abandoned(&root));
        fs::remove_file(lock_of(&root)).unwrap();
        assert!(!is_abandoned(&root), "it may be new");
        fs::remove_dir_all(&root).unwrap();
        let dir = DemoDir::new(0).unwrap();
        let root = dir.root.clone();
        assert!(root.is_dir());
        drop(dir);
        assert!(!root.exists());
    }
}
