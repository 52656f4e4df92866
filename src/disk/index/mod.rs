//! Cache of sessions between runs: digests and searched texts of a directory. The index only saves time. Missing,
//! damaged, foreign or outdated data is read from the sessions again, and deleting the index loses nothing.
//!
//! A filter of each index file narrows the sessions in which a search must look: see [`filter`].
//!
//! An index is a list of segments: see [`list`]. Additions are written to a new segment, and [`merging`] combines
//! segments, so that small changes need small writes. Data is only used if it is verifiably correct: the session file
//! has the recorded version, each piece has the recorded hash, and the index file has the right owner and format.
//!
//! The index must not contain text that its session files no longer contain: such text is overwritten at once. See
//! [`RecordUse::Stale`].

mod cleanup;
mod columns;
mod filter;
mod list;
mod merging;
mod pieces;
mod record;
mod segment;
mod table;
mod table_draft;
mod writing;

use std::collections::HashSet;
use std::io;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::base::archive_paths;
use crate::disk::digest::{ResumeState, ScannedSession};
use crate::disk::fingerprint::{FileVersion, hash};
use crate::disk::parallel;
use crate::disk::session_file::{FoundFiles, IndexedFile, SessionFile};
use crate::session::digest::Digest;
use crate::session::digest::details::LazyDetails;
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::{ListedSession, SharedSession};
use crate::session::links::ById;
use crate::session::search_text::{SearchTexts, SearchTextsBuf, TextBuffers};
use crate::session::stats::intervals::SessionSums;
pub(super) use cleanup::related;
pub(crate) use cleanup::{clean_up, clear};
pub use list::IndexPlace;
use list::{IndexFiles, SegmentList};
pub(super) use merging::MergeScope;
use pieces::PieceKind;
use record::{FilePlace, SegmentRecord};
pub(super) use segment::DirRecords;
use segment::{RecordUse, Segment, SessionDirs};
use table::SegmentTable;
use writing::{Addition, Additions, bytes, keys, stored_keys};

/// The format version. Increase it with every change of the data read from a session or of its serialization.
const FORM: u32 = 22;

/// The precision of times of directories on all file systems.
const PRECISION: Duration = Duration::from_secs(2);

/// The maximum number of attempts to open all segments of an index that other processes change.
const TRIES: usize = 5;

/// The minimum size in bytes of a file for which reading continues at the previous end.
pub(super) const WORTH_GOING_ON: u64 = 1 << 20;

/// The index of a session directory.
#[derive(Debug)]
pub(super) struct Index {
    files: IndexFiles,
    /// The list of segments when it was opened; of a new index, an empty list.
    list: SegmentList,
    /// The directory with symbolic links resolved.
    real: PathBuf,
    dirs: Arc<SessionDirs>,
    volumes: Vec<Segment>,
    /// The time at which it was opened, before the files were listed.
    opened: SystemTime,
    /// `true` if it replaces existing files that are unusable or were not opened.
    replaces: bool,
    additions: Additions,
}

/// The place of a record: the index of its segment, and the index in the segment.
type RecordPlace = (usize, usize);

/// The state of the index of a directory.
#[derive(Clone, Debug)]
pub(crate) struct IndexFacts {
    /// The directory with symbolic links resolved.
    pub(crate) dir: PathBuf,
    /// The paths of its existing files.
    pub(crate) paths: Vec<PathBuf>,
    /// The sizes of the usable files in bytes.
    pub(crate) bytes: u64,
    /// The number of sessions in the index.
    pub(crate) sessions: usize,
}

impl IndexFacts {
    /// Removes the files. Returns their number and their total size in bytes.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(crate) fn remove(&self) -> io::Result<(usize, u64)> {
        list::remove(&self.paths)
    }

    /// Returns the state of the index of a directory for a home directory.
    pub(crate) fn new(cache: &Path, dir: &Path, home: &str) -> Self {
        let Index { files, volumes, .. } = Index::open(IndexPlace::from(cache), dir, home);
        let sessions: HashSet<(u64, u64)> =
            volumes.iter().flat_map(|kept| kept.table().records()).map(|record| record.stamp.file).collect();
        let bytes = volumes.iter().map(|kept| kept.bytes).sum();
        Self { dir: real(dir), paths: files.existing(), bytes, sessions: sessions.len() }
    }
}

impl Index {
    /// Opens the index of a directory; empty if there is no usable one.
    pub(super) fn open(place: IndexPlace<'_>, dir: &Path, home: &str) -> Self {
        let mut index = Self::empty(place, dir, home);
        for _ in 0..TRIES {
            let Some(list) = index.files.read(index.list.of) else { break };
            // If segments are missing, another process may have merged them meanwhile.
            if !index.replaces && list == index.list {
                break;
            }
            let segment = |&number: &u64| Segment::open(&index.files.segment(number), list.of, &index.dirs);
            index.volumes = list.segments.iter().filter_map(segment).collect();
            (index.replaces, index.list) = (false, list);
            if index.volumes.len() == index.list.segments.len() {
                break;
            }
        }
        index.additions.set_oldest(&index.list);
        index
    }

    /// Creates an index that replaces the existing one.
    pub(super) fn empty(place: IndexPlace<'_>, dir: &Path, home: &str) -> Self {
        let real = real(dir);
        let files = IndexFiles::new(place.dir, &real);
        let about = [env!("CARGO_PKG_VERSION"), "\0", home, "\0"].concat().into_bytes();
        let of = hash(&[&about, real.as_os_str().as_encoded_bytes(), &FORM.to_le_bytes()].concat());
        Self {
            additions: Additions::new(&files, place.limit),
            list: SegmentList { of, dir: real.clone(), ..SegmentList::default() },
            dirs: Arc::new(SessionDirs::new(dir, &real, home)),
            replaces: true,
            files,
            real,
            volumes: Vec::new(),
            opened: SystemTime::UNIX_EPOCH + SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
        }
    }

    /// Returns the path of a file below the directory, if it determines the file.
    fn place<'a>(&self, file: &'a SessionFile) -> Option<FilePlace<'a>> {
        let named = self.dirs.named.as_os_str().as_encoded_bytes();
        let below = std::str::from_utf8(file.path.as_os_str().as_encoded_bytes().strip_prefix(named)?).ok()?;
        let is_real = match (&file.real_path, &self.dirs.real) {
            (None, None) => true,
            (Some(path), Some(real)) => {
                let [path, real] = [path, real].map(|path| path.as_os_str().as_encoded_bytes());
                path.strip_prefix(real) == Some(archive_paths::unpacked(below).as_bytes())
            }
            _ => false,
        };
        let (folder, name) = below.split_at(below.rfind(MAIN_SEPARATOR).map_or(0, |at| at + 1));
        (!file.is_link && file.owner.is_none() && is_real).then_some(FilePlace { folder, name })
    }

    /// Returns the sessions as last read; some may have changed or be missing.
    pub(super) fn show(&mut self) -> Vec<SharedSession> {
        let places = self.latest(|table, at| table.has_place(at));
        places.iter().for_each(|&(number, at)| self.volumes[number].shown[at] = true);
        places.into_iter().map(|place| self.listed(place)).collect()
    }

    /// Returns the sessions as last read whose facts fulfill a condition. Returns `None` if such a file is not found under
    /// exactly one path, or if sessions were omitted.
    pub(super) fn sessions_with(&self, is_wanted: &dyn Fn(&SessionFacts<'_>) -> bool) -> Option<Vec<SharedSession>> {
        let places = self.latest(|table, at| is_wanted(&table.facts(at)));
        let is_known = |&(number, at): &RecordPlace| self.volumes[number].table().has_place(at);
        let is_whole = !self.additions.has_omitted() && places.iter().all(is_known);
        is_whole.then(|| places.into_iter().map(|place| self.listed(place)).collect())
    }

    /// Returns the records of the sessions that fulfill a condition, of each file the last one.
    fn latest(&self, is_wanted: impl Fn(&SegmentTable, usize) -> bool) -> Vec<RecordPlace> {
        let (mut places, mut later) = (Vec::new(), HashSet::<(u64, u64)>::new());
        for (number, kept) in self.volumes.iter().enumerate().rev() {
            let table = kept.table();
            for (at, record) in table.records().enumerate() {
                let is_last = later.is_empty() || !later.contains(&record.stamp.file);
                if is_last && record.is_session && is_wanted(table, at) {
                    places.push((number, at));
                }
            }
            if number > 0 {
                later.extend(table.records().map(|record| record.stamp.file));
            }
        }
        places
    }

    fn listed(&self, (number, at): RecordPlace) -> SharedSession {
        Arc::new(ListedSession::stored(self.volumes[number].source.clone(), at as u32))
    }

    /// Returns `true` if some directories, given with symbolic links resolved too, have all files as in the index.
    /// `unchanged` are the records of the unchanged ones.
    pub(super) fn has_all<'a>(
        &self,
        mut dirs: impl Iterator<Item = (&'a Path, &'a Path)>,
        unchanged: impl Iterator<Item = RecordPlace>,
    ) -> bool {
        let place = |(number, at): RecordPlace| self.volumes[number].table().place(at);
        let unchanged: HashSet<FilePlace<'_>> = unchanged.filter_map(place).collect();
        dirs.all(|(dir, real)| {
            let Some(DirRecords { ranges, .. }) = self.records_in(dir, real) else { return false };
            let mut places =
                ranges.into_iter().enumerate().flat_map(|(number, range)| range.map(move |at| (number, at)));
            places.all(|at| place(at).is_some_and(|place| unchanged.contains(&place)))
        })
    }

    /// Returns the time until which the list of files in each directory is known; `None` without an index.
    pub(super) fn known_until(&self) -> Option<SystemTime> {
        self.files.used().filter(|_| !self.volumes.is_empty()).and_then(|used| used.checked_sub(PRECISION))
    }

    /// Returns `true` if a session was shown and is unchanged.
    pub(super) fn is_shown(&self, (number, at): (usize, usize)) -> bool {
        self.volumes[number].shown[at]
    }

    /// Iterates over the files of the shown sessions that have changed or are missing.
    pub(super) fn outdated(&self) -> impl Iterator<Item = PathBuf> {
        self.volumes.iter().flat_map(|kept| {
            let shown = (0..).zip(&kept.shown).zip(&kept.uses);
            let outdated = shown.filter(|((_, is_shown), is)| **is_shown && **is != RecordUse::Current);
            outdated.filter_map(|((at, _), _)| Some(kept.stored.file(at)?.path))
        })
    }

    /// Returns the records of the files in a directory, if its records have paths.
    pub(super) fn records_in(&self, dir: &Path, real: &Path) -> Option<DirRecords<'_>> {
        let mut prefix = dir.join("").into_os_string().into_string().ok()?;
        let named = self.dirs.named.to_str()?;
        let is_real = match &self.dirs.real {
            None => dir == real,
            Some(root) => {
                let real = real.join("").into_os_string().into_string().ok()?;
                real.strip_prefix(root.to_str()?) == prefix.strip_prefix(named)
            }
        };
        prefix = prefix.strip_prefix(named).filter(|_| is_real)?.to_string();
        let ranges = self.volumes.iter().map(|kept| kept.table().records_in(&prefix)).collect();
        Some(DirRecords { segments: &self.volumes, ranges })
    }

    /// Compares the records with all files found in these directories (`real`, symbolic links resolved). Sets the state
    /// of the files of this directory, if it has an index among them.
    pub(super) fn look(&mut self, dir: Option<usize>, real: &[PathBuf], found: &mut FoundFiles) {
        let uses = |number| self.uses_without_files(number, real);
        let uses: Vec<Vec<RecordUse>> = (0..self.volumes.len()).map(uses).collect();
        self.volumes.iter_mut().zip(uses).for_each(|(kept, uses)| kept.uses = uses);
        // Only these records can belong to one of the other files, or to a file with two records.
        let later = self.volumes.iter().skip(1).flat_map(|kept| kept.table().records());
        let mut wanted: ById<()> = later.map(|record| (record.stamp.key(), ())).collect();
        wanted.extend(found.files.iter().map(|file| (file.stamp.key(), ())));
        let (mut by_file, mut past): (ById<RecordPlace>, Vec<_>) = (ById::default(), Vec::new());
        for (number, kept) in self.volumes.iter().enumerate().filter(|_| !wanted.is_empty()) {
            for (at, key) in kept.table().keys().enumerate().filter(|(_, key)| wanted.contains_key(key)) {
                past.extend(by_file.insert(key, (number, at)).map(|place| (place, key)));
            }
        }
        let known = parallel::map(found.files.iter_mut(), |file| {
            let &place = by_file.get(&file.stamp.key())?;
            let (kept, record) = self.record(place).filter(|(_, record)| record.stamp.file == file.stamp.file)?;
            let (known, is) = match kept.compare(&record, &file.stamp, &file.path) {
                RecordUse::Current if kept.table().place(place.1) == self.place(file) => {
                    (IndexedFile::Same(place), RecordUse::Current)
                }
                RecordUse::Current => (IndexedFile::Moved(place), RecordUse::Held),
                RecordUse::Held if file.stamp.has_grown_from(&record.stamp) => {
                    (IndexedFile::Before(place), RecordUse::Held)
                }
                is => (IndexedFile::Nothing, is),
            };
            if dir == Some(file.dir) {
                file.known = known;
            }
            Some((place, is))
        });
        // A file can have several paths; the record is current if it is at that of the record.
        let unchanged = found.unchanged.iter().map(|file| file.record()).filter(|(of, _)| dir == Some(*of));
        let unchanged = unchanged.map(|(_, place)| (place, RecordUse::Current));
        let (current, others): (Vec<_>, Vec<_>) =
            known.into_iter().flatten().partition(|(_, is)| *is == RecordUse::Current);
        for ((number, at), is) in others.into_iter().chain(current).chain(unchanged) {
            self.volumes[number].uses[at] = is;
        }
        // A later record was written while the file still had the content of the earlier one.
        for ((number, at), key) in past {
            let is_stale =
                by_file.get(&key).is_none_or(|&(number, at)| self.volumes[number].uses[at] == RecordUse::Stale);
            self.volumes[number].uses[at] = if is_stale { RecordUse::Stale } else { RecordUse::Past };
        }
    }

    /// Returns the uses of records whose files were not found in these directories.
    fn uses_without_files(&self, number: usize, real: &[PathBuf]) -> Vec<RecordUse> {
        let covers = |path: &Path| real.iter().any(|dir| path.starts_with(dir));
        let is_covered = covers(&self.real);
        let table = self.volumes[number].table();
        let is_below = |FilePlace { folder, name }| covers(&self.real.join(folder).join(name));
        let one = |at| match is_covered || table.place(at).is_some_and(is_below) {
            true => RecordUse::Stale,
            false => RecordUse::Current,
        };
        (0..self.volumes[number].uses.len()).map(one).collect()
    }

    fn record(&self, (volume, at): RecordPlace) -> Option<(&Segment, SegmentRecord)> {
        let kept = self.volumes.get(volume)?;
        Some((kept, kept.table().record(at)))
    }

    /// Returns an unchanged session that is loaded on demand. Returns `Some(None)` if the file is not a session, and
    /// `None` if the session must be loaded now.
    #[allow(clippy::option_option, reason = "files that are not sessions are recorded too")]
    pub(super) fn session(&self, place: RecordPlace) -> Option<Option<SharedSession>> {
        let (kept, record) = self.record(place)?;
        if !record.is_session {
            return Some(None);
        }
        let session = || Some(Arc::new(ListedSession::stored(kept.source.clone(), place.1 as u32)));
        kept.table().has_place(place.1).then(session)
    }

    /// Returns the digest of an unchanged file. `None` if the record is damaged, `Some(None)` if the file is not a
    /// session.
    #[allow(clippy::option_option, reason = "files that are not sessions are recorded too")]
    pub(super) fn digest(&self, place: RecordPlace) -> Option<Option<Digest>> {
        let (kept, record) = self.record(place)?;
        if !record.is_session {
            return Some(None);
        }
        let mut read = None;
        kept.stored.digests_of(&[place.1 as u32], &mut Vec::new(), |_, digest| read = digest);
        read.map(Some)
    }

    /// Returns the file of a record, if the record determines its path.
    pub(super) fn file(&self, (volume, at): RecordPlace) -> Option<SessionFile> {
        self.volumes.get(volume)?.stored.file(at)
    }

    /// Returns the facts about an unchanged file; `None` if it is not a session.
    pub(super) fn facts(&self, (volume, at): RecordPlace) -> Option<SessionFacts<'_>> {
        let kept = self.volumes.get(volume)?;
        kept.table().record(at).is_session.then(|| kept.table().facts(at))
    }

    /// Keeps the record of a file that was moved.
    pub(super) fn keep_moved(&self, (volume, at): (usize, usize), file: &SessionFile) {
        let mut rooms = [const { Vec::new() }; pieces::KINDS];
        let kept = &self.volumes[volume];
        let record = kept.table().record(at);
        let Some((content, pieces)) = kept.read(&record, &mut rooms) else { return };
        let facts = record.is_session.then(|| kept.table().facts(at));
        self.put(file, Addition { content, facts, pieces, keys: &stored_keys(pieces), ..Addition::default() });
    }

    /// Stores the data of a file and takes its texts, or records that it is not a session. If it can be written, the
    /// details of the digest are then loaded from there.
    pub(super) fn keep(&self, file: &SessionFile, read: Option<&mut ScannedSession>) {
        let Some(session) = read else {
            self.put(file, Addition::default());
            return;
        };
        let keys = keys(&session.digest, session.texts.as_texts());
        let texts = std::mem::take(&mut session.texts).into_bytes();
        let ScannedSession { digest, state, content, .. } = &*session;
        let stats = digest.stats();
        let sums = bytes(&SessionSums::new(&stats));
        let pieces = [bytes(digest), bytes(&**digest.details()), texts, bytes(&*stats), sums];
        let facts = Some(digest.facts());
        let [digest, details, texts, stats, sums] = &pieces;
        let pieces = [&**digest, details, texts, state, stats, sums];
        let addition = Addition { content: *content, facts, pieces, keys: &keys, ..Addition::default() };
        if let Some(lazy) = self.put(file, addition) {
            session.digest.details = lazy;
        }
    }

    fn put(&self, file: &SessionFile, addition: Addition<'_>) -> Option<LazyDetails> {
        let addition = Addition { stamp: file.stamp, place: self.place(file), ..addition };
        self.additions.put(&addition, &self.dirs.home)
    }

    /// Writes new records, removes text that no file contains any more, and merges segments. If text cannot be
    /// removed, the index is deleted.
    ///
    /// # Errors
    /// The index cannot be written.
    pub(super) fn finish(self, scope: MergeScope) -> io::Result<()> {
        let Self { files, list, dirs, volumes, replaces, additions, opened, .. } = self;
        let limit = additions.limit;
        let is_changed = additions.finish(&list, &volumes, replaces)?;
        files.note_use(opened, is_changed);
        if is_changed || !volumes.iter().all(|kept| kept.table().written().is_some()) {
            merging::merge(&files, (list.of, &dirs), volumes, (limit, scope))?;
        }
        Ok(())
    }

    /// Returns the state for continuing to read a file that has grown, and its texts so far.
    pub(super) fn before(&self, place: RecordPlace) -> Option<(ResumeState, SearchTextsBuf)> {
        let (kept, record) = self.record(place)?;
        let TextBuffers { mut bytes, mut starts } = TextBuffers::default();
        let (pieces, places) = (&kept.stored.pieces, kept.pieces(&record)?);
        let texts = SearchTexts::from_bytes(pieces.read(places.piece(PieceKind::Texts), &mut bytes)?, &mut starts)?;
        let state = places.piece(PieceKind::State);
        (!state.is_empty()).then_some(())?;
        Some((pieces.get(state)?, texts.into()))
    }
}

impl Segment {
    /// Compares a record with the file at a path with this version.
    fn compare(&self, record: &SegmentRecord, stamp: &FileVersion, path: &Path) -> RecordUse {
        match () {
            () if record.is_settled && record.stamp == *stamp => RecordUse::Current,
            () if self.pieces(record).is_some_and(|pieces| pieces.content.is_in(path)) => RecordUse::Held,
            () => RecordUse::Stale,
        }
    }
}

/// Returns the absolute path of a directory, with symbolic links resolved if it exists.
pub(super) fn real(dir: &Path) -> PathBuf {
    dunce::canonicalize(dir).or_else(|_| std::path::absolute(dir)).unwrap_or_else(|_| dir.into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::disk::demo;
    use crate::disk::index::pieces::SegmentHeader;
    use crate::disk::scan::{self, ScanSources};
    use crate::session::search_text::SearchTextsBuf;

    #[test]
    fn the_form_has_a_number_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        demo::write(dir.path(), std::path::Path::new(demo::ROOT), None).unwrap();
        let dirs = [dir.path().to_path_buf()];
        let sources = ScanSources { dirs: &dirs, home: demo::HOME, cache: None };
        let mut written: Vec<Vec<u8>> = Vec::new();
        sources.scan().read(|scan::ScanBatch { sessions, .. }| {
            let one = |session: &SharedSession| {
                let stats = session.stats();
                let sums = bytes(&SessionSums::new(&stats));
                [bytes(&***session), bytes(&**session.details()), bytes(&*stats), sums].concat()
            };
            written.extend(sessions.iter().map(one));
            true
        });
        written.sort();
        let mut texts = SearchTextsBuf::default();
        texts.conversation.push(3, "As it was Said");
        written.push(texts.into_bytes());
        assert_eq!(
            (FORM, hash(&written.concat())),
            (22, 6_626_508_306_013_040_093),
            "what is read of sessions, or how it is written, is another: raise FORM, and say so here"
        );
    }

    #[test]
    fn segments_are_completed_without_reading_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let (sessions, cache) = (dir.path().join("sessions"), dir.path().join("cache"));
        demo::write(&sessions, std::path::Path::new(demo::ROOT), None).unwrap();
        let dirs = [sessions];
        let sources = ScanSources { dirs: &dirs, home: demo::HOME, cache: Some((&*cache).into()) };
        let read = || {
            let mut scan = sources.scan();
            let read = scan.read(|_| true);
            scan.keep().unwrap();
            read
        };
        let change = |change: &dyn Fn(&mut Vec<u8>, SegmentHeader) -> SegmentHeader| {
            let index = Index::open((&*cache).into(), &dirs[0], demo::HOME);
            let path = index.files.segment(index.list.segments[0]);
            let mut bytes = fs::read(&path).unwrap();
            let header = change(&mut bytes, index.volumes[0].header).to_bytes();
            bytes[..header.len()].copy_from_slice(&header);
            fs::write(&path, bytes).unwrap();
        };
        std::thread::sleep(std::time::Duration::from_millis(50)); // else, files are read again
        assert_eq!((read() > 40, read()), (true, 0));
        let segments = || Index::open((&*cache).into(), &dirs[0], demo::HOME).volumes;
        let written = segments()[0].table().written();
        // Gives the filter, the last column, another form.
        change(&|bytes, header| {
            let table = header.table as usize..(header.table + header.table_len) as usize;
            bytes[table.start + 8 + 8 * 16 + 4] ^= 1;
            SegmentHeader { table_hash: hash(&bytes[table]), ..header }
        });
        assert_eq!(segments()[0].table().written(), None);
        assert_eq!(read(), 0);
        assert!(written.is_some() && segments()[0].table().written() == written);
        // An interrupted process has not overwritten its previous table.
        change(&|bytes, header| {
            bytes.extend(b"swordfish");
            SegmentHeader { is_removing: 1, ..header }
        });
        assert_eq!((read(), segments()[0].header.is_removing), (0, 0));
        let holds = |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap()).contains("swordfish");
        assert!(!IndexFacts::new(&cache, &dirs[0], demo::HOME).paths.into_iter().any(holds));
    }
}
