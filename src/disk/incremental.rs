//! Incremental updates: detects changed session files and reads their digests. Of a file that grew, only the new bytes
//! are read. An incomplete last line is given time to be completed.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::{archive_paths, catch_panic, sort};
use crate::disk::digest::ResumeState;
use crate::disk::files::{self, Readable};
use crate::disk::find::{self, Listings};
use crate::disk::fingerprint::PrefixFingerprint;
use crate::disk::known_files::{KnownFiles, KnownVersion, TrackedFile};
use crate::disk::session_file::{RealPaths, SessionFile, Unreadable, complete};
use crate::disk::watch::WatchEvents;
use crate::disk::{lines, load, scan};
use crate::session::digest::Digest;
use crate::session::digest::builder::DigestBuilder;
use crate::session::digest::listed::SharedLazySession;
use crate::session::lines::{NotASession, PartialLine};

/// The time in milliseconds to wait for the rest of a line before it counts as damaged.
const LINE_TIMEOUT: i64 = 5000;

/// The maximum number of files whose state is kept to read only new bytes.
const KEPT: usize = 64;

/// The maximum number of directories that are checked without a file watcher.
const RECENT: usize = 16;

/// Returns `true` if a file was written so recently that an incomplete last line may still be completed.
pub fn is_fresh(mtime: i64, now: i64) -> bool {
    (now - mtime).abs() < LINE_TIMEOUT
}

/// Changes of session files.
#[derive(Clone, Debug, Default)]
pub struct FileChanges {
    /// New and changed sessions.
    pub read: Vec<Digest>,
    /// Files that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Missing files.
    pub gone: Vec<PathBuf>,
}

impl FileChanges {
    /// Returns `true` if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.unreadable.is_empty() && self.gone.is_empty()
    }
}

/// Files that pitree itself read or removed since the last check; they count as unchanged.
#[derive(Debug, Default)]
pub struct OwnChanges(Mutex<Vec<(PathBuf, Option<KnownVersion>)>>);

impl OwnChanges {
    /// Records files that were just read or removed.
    pub fn note(&self, read: &[Digest], gone: &[PathBuf]) {
        let read = read.iter().map(|digest| (digest.path.clone(), Some((digest.bytes, digest.mtime))));
        let mut noted = self.0.lock();
        noted.extend(read.chain(gone.iter().map(|path| (path.clone(), None))));
    }

    fn take(&self) -> Vec<(PathBuf, Option<KnownVersion>)> {
        std::mem::take(&mut self.0.lock())
    }
}

/// The last known state of all session files.
#[derive(Debug, Default)]
pub struct IncrementalReader {
    home: String,
    dirs: Vec<PathBuf>,
    known: KnownFiles,
    /// The names of files reached through symbolic links, by link target. Watchers report only one of the names.
    names: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// The states of recently read files, most recent last.
    growing: Vec<(PathBuf, ResumeState)>,
    /// The files with an incomplete last line, and the time until which it can be completed.
    waiting: BTreeMap<PathBuf, i64>,
    /// The modification times of directories at their last check. They change when files are added or removed.
    checked: HashMap<PathBuf, Option<SystemTime>>,
}

impl IncrementalReader {
    /// Creates a reader of directories with known sessions. In tool calls, paths below `home` start with `~`.
    pub fn new(home: &str, dirs: &[PathBuf], sessions: &[SharedLazySession]) -> Self {
        let known = KnownFiles::new(sessions);
        let mut reader = Self { home: home.into(), dirs: dirs.into(), known, ..Self::default() };
        for session in sessions {
            let facts = session.facts();
            if let Some(real) = facts.real_path() {
                reader.names.entry(real.join()).or_default().insert(facts.path().join());
            }
        }
        reader
    }

    fn know(&mut self, path: &Path, known: TrackedFile) {
        if let Some(real) = &known.real_path {
            self.names.entry(real.clone()).or_default().insert(path.into());
        }
        self.known.insert(path, known);
    }

    /// Iterates over a path and the other names of the same file.
    fn same_as<'a>(&'a self, path: &'a PathBuf) -> impl Iterator<Item = PathBuf> + 'a {
        let real = self.known.get(path).and_then(|known| known.real_path);
        let names = self.names.get(real.as_ref().unwrap_or(path)).into_iter().flatten().cloned();
        let real = real.filter(|real| self.known.get(real).is_some());
        std::iter::once(path.clone()).chain(names.chain(real).filter(move |other| other != path))
    }

    /// Returns the next time to check a file without an event, in milliseconds since 1970, to report an incomplete line
    /// as damaged.
    pub fn due(&self) -> Option<i64> {
        self.waiting.values().min().copied()
    }

    /// Checks paths that may have changed, and reports changes to `on_changes` until it returns `false`. `now` is in
    /// milliseconds since 1970.
    pub fn check_paths(
        &mut self,
        seen: &WatchEvents,
        own_changes: &OwnChanges,
        now: i64,
        on_changes: &mut dyn FnMut(FileChanges) -> bool,
    ) {
        for (path, version) in own_changes.take() {
            match (version, self.known.get(&path)) {
                (Some(_), Some(known)) => self.known.insert(&path, TrackedFile { version, ..known }),
                (Some(_), None) => {} // a directory walk determines the owner of a subagent session
                (None, _) => self.forget(&path),
            }
        }
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        let mut is_all = seen.is_all;
        let mut paths = seen.paths.clone();
        if seen.is_recent || is_all {
            let recent = self.recent_dirs();
            // Before a check of everything, this notes the times.
            is_all |= self.have_changed(&recent);
            paths.extend(recent.iter().flat_map(|dir| self.known.files_in(dir)));
        }
        for path in paths.iter().flat_map(|path| self.same_as(path)) {
            match self.known.get(&path) {
                Some(known) => match scan::one(&path, known.owner) {
                    Some(found) if known.version == Some(found.version()) => {}
                    Some(found) => changed.push(found),
                    None => gone.push(path),
                },
                None => is_all |= self.may_hold_sessions(&path),
            }
        }
        if is_all {
            (changed, gone) = self.walk();
        }
        for (path, _) in self.waiting.iter().filter(|(_, due)| **due <= now) {
            let owner = self.known.get(path).and_then(|known| known.owner);
            let is_new = !changed.iter().any(|found| found.path == *path);
            changed.extend(scan::one(path, owner).filter(|_| is_new));
        }
        gone.iter().for_each(|path| self.forget(path));
        for found in &changed {
            let (owner, real_path) = (found.owner.clone(), found.real_path.clone());
            self.know(&found.path, TrackedFile { version: Some(found.version()), owner, real_path });
        }
        self.read(&changed, gone, now, on_changes);
    }

    /// Returns the directories whose files changed last.
    fn recent_dirs(&self) -> Vec<PathBuf> {
        let mut dirs = HashMap::<PathBuf, i64>::new();
        self.known.each(|path, version| {
            let mtime = version.map_or(i64::MAX, |(_, mtime)| mtime);
            let Some(dir) = path.parent() else { return };
            match dirs.get_mut(dir) {
                Some(last) => *last = mtime.max(*last),
                None => drop(dirs.insert(dir.into(), mtime)),
            }
        });
        let mut dirs: Vec<(i64, PathBuf)> = dirs.into_iter().map(|(dir, mtime)| (mtime, dir)).collect();
        sort::by(&mut dirs, |one, other| other.cmp(one));
        dirs.into_iter().take(RECENT).map(|(_, dir)| dir).collect()
    }

    /// Returns `true` if the files in one of these directories, or in a root, are others than at the last check. A
    /// directory that was not checked before counts as changed.
    fn have_changed(&mut self, recent: &[PathBuf]) -> bool {
        let now = self.dirs.iter().chain(recent).map(|dir| {
            let time = fs::metadata(dir).and_then(|metadata| metadata.modified()).ok();
            (dir.clone(), time)
        });
        let now: HashMap<PathBuf, Option<SystemTime>> = now.collect();
        let before = std::mem::replace(&mut self.checked, now);
        self.checked.iter().any(|(dir, time)| before.get(dir).is_none_or(|before| before != time))
    }

    /// Returns `true` if an unknown path may be a session or a directory of sessions.
    fn may_hold_sessions(&self, path: &Path) -> bool {
        let is_name = find::is_named_as_session(path) || archive_paths::is_archived(path);
        match fs::metadata(path) {
            Ok(metadata) => is_name || metadata.is_dir(),
            Err(_) => self.known.has_below(path),
        }
    }

    /// Walks all directories and returns the changed files and the missing files.
    fn walk(&self) -> (Vec<SessionFile>, Vec<PathBuf>) {
        let found = Listings::pending(&self.dirs).find(&self.known);
        let is_there: HashSet<&OsStr> = found.files.iter().map(|file| file.path.as_os_str()).collect();
        // Files in directories that cannot be listed now are not considered missing.
        let unread: Vec<&PathBuf> =
            found.unreadable.iter().filter(|one| !one.is_missing).map(|one| &one.path).collect();
        let places = found.unchanged.iter().map(|file| file.place as usize);
        let mut gone = self.known.others(places, |path| is_there.contains(path));
        gone.retain(|path| !unread.iter().any(|dir| path.starts_with(dir)));
        let is_other = |found: &SessionFile| {
            let known = self.known.get(&found.path);
            known.is_none_or(|known| known.version != Some(found.version()) || known.owner != found.owner)
        };
        (found.files.into_iter().filter(is_other).collect(), gone)
    }

    fn forget(&mut self, path: &Path) {
        if let Some(real) = self.known.remove(path).and_then(|known| known.real_path)
            && let Some(names) = self.names.get_mut(&real)
        {
            names.remove(path);
        }
        self.waiting.remove(path);
        self.growing.retain(|(of, _)| of != path);
    }

    /// Reads files and reports their changes.
    fn read(
        &mut self,
        changed: &[SessionFile],
        gone: Vec<PathBuf>,
        now: i64,
        on_changes: &mut dyn FnMut(FileChanges) -> bool,
    ) {
        let mut all = FileChanges { gone, ..FileChanges::default() };
        let is_growing = |found: &&SessionFile| self.growing.iter().any(|(path, _)| *path == found.path);
        let (mut single, many): (Vec<&SessionFile>, Vec<&SessionFile>) = changed.iter().partition(is_growing);
        if many.len() <= KEPT {
            single.extend(many);
        } else {
            // A directory of sessions appeared: read it in parallel.
            let many: Vec<SessionFile> = many.into_iter().cloned().collect();
            scan::read(&many, &self.home, |batch| {
                let read = batch.sessions.into_iter().map(|session| (**session).clone()).collect();
                on_changes(FileChanges { read, unreadable: batch.unreadable, ..std::mem::take(&mut all) })
            });
        }
        for found in single {
            let read = catch_panic::catch(|| self.grown(found, now));
            match read.unwrap_or_else(|why| Err(Unreadable::new(&found.path, &why))) {
                Ok(Some(digest)) => all.read.push(digest),
                Ok(None) => all.gone.push(found.path.clone()),
                Err(one) => all.unreadable.push(one),
            }
        }
        if !all.is_empty() {
            on_changes(all);
        }
    }

    /// Returns the digest of a changed file, or `None` if it is not a session.
    fn grown(&mut self, found: &SessionFile, now: i64) -> Result<Option<Digest>, Unreadable> {
        let unreadable = |error: &io::Error| Unreadable::file(&found.path, error);
        self.waiting.remove(&found.path);
        let place = self.growing.iter().position(|(path, _)| *path == found.path);
        let growing = place.map(|place| self.growing.remove(place).1);
        let session = files::session(&found.path).map_err(|error| unreadable(&error))?;
        let Some(mut file) = session else { return Ok(None) };
        let mut growing =
            growing.filter(|growing| growing.mark.holds(&mut file)).unwrap_or_else(|| ResumeState::new(&self.home));
        let (_, mtime) = found.version();
        let (read, waits) = growing.read(&mut file, mtime, is_fresh(mtime, now)).map_err(|error| unreadable(&error))?;
        if waits {
            self.waiting.insert(found.path.clone(), mtime + LINE_TIMEOUT);
        }
        match read {
            Ok(digest) => {
                self.growing.push((found.path.clone(), growing));
                self.growing.drain(..self.growing.len().saturating_sub(KEPT));
                Ok(Some(complete(found.clone(), digest, &RealPaths::default())))
            }
            Err(NotASession::NoHeader) => Ok(None),
            Err(why) => Err(unreadable(&io::Error::other(why))),
        }
    }
}

impl ResumeState {
    fn new(home: &str) -> Self {
        Self { builder: DigestBuilder::new(home), mark: PrefixFingerprint::default() }
    }

    /// Reads the new bytes. Returns the digest, and `true` if the last line may still be completed.
    fn read(
        &mut self,
        file: &mut Box<dyn Readable>,
        mtime: i64,
        is_fresh: bool,
    ) -> io::Result<(Result<Digest, NotASession>, bool)> {
        let start = self.builder.lines.place();
        file.seek(SeekFrom::Start(start))?;
        let mut last = None;
        lines::each(file, start, u64::MAX, &mut Vec::new(), |line| {
            if line.ended {
                self.builder.line(line);
            } else {
                last = Some(PartialLine::new(&line));
            }
            !self.builder.lines.is_refused()
        })?;
        self.mark = PrefixFingerprint::new(file, self.builder.lines.place())?;
        let mut whole = self.builder.clone();
        let waits = is_fresh && last.as_ref().is_some_and(PartialLine::is_torn);
        if let Some(last) = last.filter(|_| !waits) {
            whole.line(last.line());
        }
        let mut again = |offset| load::line_at(file, offset).ok();
        Ok((whole.finish(mtime, &mut again), waits))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::disk::load::{LoadRequest, OpenFile};
    use crate::session::problem::Problem;
    use crate::session::tree::Tree;

    const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}"#;

    /// A time long after all writes.
    const LATE: i64 = i64::MAX / 2;

    /// Generates a line of a given kind with the number of its entry.
    fn line(kind: u8, at: usize) -> String {
        let head = |kind: &str| format!(r#""type":"{kind}","id":"{at}","parentId":"{}""#, at / 2);
        match kind {
            0 => "no JSON".into(),
            1 => String::new(),
            2 => format!(r#"{{{},"targetId":"{}","label":"label {at}"}}"#, head("label"), at / 3),
            3 => format!(
                r#"{{{},"message":{{"role":"assistant","content":[{{"type":"toolCall","id":"c{at}","name":"read","arguments":{{"path":"/f{at}"}}}}],"model":"m","usage":{{"cost":{{"total":1}}}}}}}}"#,
                head("message")
            ),
            4 => format!(
                r#"{{{},"message":{{"role":"toolResult","toolCallId":"c{}","content":"ok"}}}}"#,
                head("message"),
                at - 1
            ),
            5 => format!(r#"{{{},"name":"name {at}"}}"#, head("session_info")),
            _ => format!(r#"{{{},"message":{{"role":"user","content":"prompt {at}"}}}}"#, head("message")),
        }
    }

    /// Returns the result of checking some paths.
    fn check(reader: &mut IncrementalReader, paths: &[&Path], now: i64) -> FileChanges {
        let seen =
            WatchEvents { paths: paths.iter().map(|path| path.to_path_buf()).collect(), ..WatchEvents::default() };
        let mut all = FileChanges::default();
        reader.check_paths(&seen, &OwnChanges::default(), now, &mut |changes| {
            all.read.extend(changes.read);
            all.gone.extend(changes.gone);
            all.unreadable.extend(changes.unreadable);
            true
        });
        all
    }

    /// Describes everything that must be equal in two trees.
    fn facts(tree: &Tree) -> String {
        let mut labels: Vec<_> = tree.labels.iter().collect();
        labels.sort_by_key(|(at, _)| **at);
        let below: Vec<_> = (0..tree.nodes.len() as u32).map(|at| (tree.below(at), tree.children(at))).collect();
        let (order, problems) = (&tree.order, &tree.problems);
        format!("{:?} {order:?} {labels:?} {problems:?} {below:?} {} {}", tree.nodes, tree.end, tree.ended)
    }

    proptest! {
        #[test]
        fn what_grew_is_as_if_it_were_read_whole(
            kinds in proptest::collection::vec(0u8..9, 0..30),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
            ends in any::<bool>(),
        ) {
            let lines: Vec<String> = kinds.iter().enumerate().map(|(at, kind)| line(*kind, at + 1)).collect();
            let text = format!("{HEADER}\n{}{}", lines.join("\n"), if ends { "\n" } else { "" });
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len())).chain([text.len()]).collect();
            cuts.sort_unstable();
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            fs::write(&path, "").unwrap();
            let mut reader = IncrementalReader::new("", &[dir.path().into()], &[]);
            let mut opened = OpenFile::default();
            reader.know(&path, TrackedFile { version: None, owner: None, real_path: None });
            for cut in cuts {
                fs::write(&path, &text[..cut]).unwrap();
                reader.known.insert(&path, TrackedFile::default());
                let changes = check(&mut reader, &[&path], LATE);
                let whole = scan::reread(&path, None, "").ok().flatten();
                prop_assert_eq!(format!("{:?}", changes.read.first()), format!("{:?}", whole));
                let (grown, whole) = (opened.tree(LoadRequest::new(&path, ""), false), load::tree(&path, ""));
                prop_assert_eq!(grown.ok().as_deref().map(facts), whole.ok().as_ref().map(facts));
            }
        }
    }

    /// Creates a directory with one session, and a reader that has read it once.
    fn known(text: &str) -> (tempfile::TempDir, PathBuf, IncrementalReader) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, text).unwrap();
        let mut reader = IncrementalReader::new("", &[dir.path().into()], &[]);
        assert_eq!(check(&mut reader, &[&path], LATE).read.len(), 1);
        (dir, path, reader)
    }

    fn lines(numbers: std::ops::Range<usize>) -> String {
        numbers.map(|at| line(9, at) + "\n").collect()
    }

    #[test]
    fn another_file_in_the_place_is_read_anew() {
        let first = format!("{HEADER}\n{}", lines(1..5));
        let same_length = first.replace("prompt 2", "prompt X");
        let other_head = first.replace(r#""id":"s""#, r#""id":"t""#) + &lines(5..6);
        let shorter = format!("{HEADER}\n{}", lines(1..2));
        for text in [same_length, other_head, shorter, format!("{first}{}", lines(5..9))] {
            let (_dir, path, mut reader) = known(&first);
            let mut opened = OpenFile::default();
            opened.tree(LoadRequest::new(&path, ""), false).unwrap();
            fs::write(&path, &text).unwrap();
            reader.known.insert(&path, TrackedFile::default());
            let read = check(&mut reader, &[&path], LATE).read;
            assert_eq!(format!("{:?}", read.first()), format!("{:?}", scan::reread(&path, None, "").unwrap()));
            let tree = opened.tree(LoadRequest::new(&path, ""), false).unwrap();
            assert_eq!(facts(&tree), facts(&load::tree(&path, "").unwrap()));
        }
    }

    #[test]
    fn a_line_that_is_being_written_is_waited_for_and_then_shown_as_damage() {
        let (_dir, path, mut reader) = known(&format!("{HEADER}\n{}", lines(1..2)));
        let (half, rest) = (&line(9, 2)[..20], &line(9, 2)[20..]);
        let text = fs::read_to_string(&path).unwrap() + half;
        fs::write(&path, &text).unwrap();
        let now = scan::one(&path, None).unwrap().version().1;
        let read = check(&mut reader, &[&path], now).read;
        let is_cut = |problems: &[Problem]| problems.contains(&Problem::CutOff);
        assert!(!is_cut(&read[0].problems) && read[0].entry_count == 1 && read[0].bytes == text.len() as u64);
        let tree = |may_go_on| OpenFile::default().tree(LoadRequest::new(&path, ""), may_go_on).unwrap();
        assert!(!is_cut(&tree(true).problems) && is_cut(&tree(false).problems));
        let due = reader.due().unwrap();
        assert!(due > now && check(&mut reader, &[], due - 1).is_empty());
        assert!(is_cut(&check(&mut reader, &[], due).read[0].problems));
        assert_eq!(reader.due(), None);
        fs::write(&path, text + rest).unwrap();
        let read = check(&mut reader, &[&path], now).read;
        assert!(!is_cut(&read[0].problems) && read[0].entry_count == 2 && reader.due().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_told_by_one_name_is_read_by_all() {
        let (dir, path, _) = known(&format!("{HEADER}\n"));
        let link = dir.path().join("link.jsonl");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut digests = [&path, &link].map(|path| scan::reread(path, None, "").unwrap().unwrap());
        for path in [&path, &link] {
            let mut reader =
                IncrementalReader::new("", &[dir.path().into()], &digests.clone().map(SharedLazySession::from));
            let text = fs::read_to_string(path).unwrap() + &lines(1..2);
            fs::write(path, text).unwrap();
            assert_eq!(check(&mut reader, &[path], LATE).read.len(), 2);
            digests = digests.map(|digest| scan::reread(&digest.path, None, "").unwrap().unwrap());
        }
    }

    #[test]
    fn folders_come_and_go_and_what_is_known_is_not_read_again() {
        let (dir, path, mut reader) = known(&format!("{HEADER}\n"));
        let all = WatchEvents { is_all: true, ..WatchEvents::default() };
        let mut seen = Vec::new();
        let own_changes = OwnChanges::default();
        let mut walk = |reader: &mut IncrementalReader, own_changes: &OwnChanges| {
            seen.clear();
            reader.check_paths(&all, own_changes, LATE, &mut |changes| {
                seen.extend(changes.read.into_iter().map(|digest| digest.path).chain(changes.gone));
                true
            });
            seen.clone()
        };
        assert!(walk(&mut reader, &own_changes).is_empty());
        // More files than are read one by one.
        let folder = dir.path().join("--p--");
        let paths: Vec<PathBuf> = (0..KEPT + 9).map(|at| folder.join(format!("{at}.jsonl"))).collect();
        fs::create_dir(&folder).unwrap();
        paths.iter().for_each(|path| fs::write(path, format!("{HEADER}\n")).unwrap());
        fs::write(folder.join("notes.txt"), "").unwrap();
        assert_eq!(check(&mut reader, &[&folder.join("notes.txt")], LATE).read.len(), 0);
        assert_eq!(check(&mut reader, &[&folder], LATE).read.len(), paths.len());
        assert!(check(&mut reader, &[&folder, &paths[0]], LATE).is_empty());
        let moved = dir.path().join("--q--");
        fs::rename(&folder, &moved).unwrap();
        let changes = check(&mut reader, &[&folder, &moved], LATE);
        assert_eq!((changes.read.len(), changes.gone.len()), (paths.len(), paths.len()));
        fs::remove_file(&path).unwrap();
        assert_eq!(check(&mut reader, &[&path], LATE).gone, std::slice::from_ref(&path));
        // Changes by pitree itself are not reported.
        fs::write(&path, format!("{HEADER}\n{}", lines(1..2))).unwrap();
        assert_eq!(walk(&mut reader, &own_changes), std::slice::from_ref(&path));
        fs::write(&path, format!("{HEADER}\n{}", lines(1..3))).unwrap();
        own_changes.note(&[scan::reread(&path, None, "").unwrap().unwrap()], &[]);
        assert!(walk(&mut reader, &own_changes).is_empty());
        fs::remove_file(&path).unwrap();
        own_changes.note(&[], &[path]);
        assert!(walk(&mut reader, &own_changes).is_empty());
    }

    #[test]
    fn recent_directories_are_checked_without_a_watcher() {
        let (dir, path, mut reader) = known(&format!("{HEADER}\n"));
        let own_changes = OwnChanges::default();
        let mut look = |is_all| {
            let mut seen = Vec::new();
            reader.check_paths(
                &WatchEvents { is_recent: true, is_all, ..WatchEvents::default() },
                &own_changes,
                LATE,
                &mut |changes| {
                    seen.extend(changes.read.into_iter().map(|digest| digest.path).chain(changes.gone));
                    true
                },
            );
            seen
        };
        let write = |path: &Path, seconds| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{HEADER}\n{}", lines(1..seconds))).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds as u64);
            fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
        };
        let folder = |at: usize| dir.path().join(format!("--{at:02}--/s.jsonl"));
        assert_eq!(look(false), [""; 0].map(PathBuf::from));
        (1..=RECENT).for_each(|at| write(&folder(at), 10 + at));
        assert_eq!(look(false).len(), RECENT, "directories are new");
        write(&path, 2);
        assert_eq!(look(true), std::slice::from_ref(&path));
        assert_eq!(look(false), [""; 0].map(PathBuf::from));
        write(&path, 3);
        assert_eq!(look(false), [""; 0].map(PathBuf::from), "its directory changed before the others");
        write(&folder(1), 40);
        assert_eq!(look(false), [folder(1)], "a file grew");
        let new = folder(1).with_file_name("t.jsonl");
        write(&new, 50);
        let mut found = look(false);
        found.sort();
        assert_eq!(found, [folder(1).with_file_name("t.jsonl"), path], "a new file causes a check of everything");
        fs::remove_file(&new).unwrap();
        assert_eq!(look(false), [new]);
    }
}
