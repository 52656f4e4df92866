//! An open index: the sessions in it, and their comparison with the files found.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::io;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::base::archive_paths;
use crate::disk::digest::ResumeState;
use crate::disk::fingerprint::hash;
use crate::disk::index::list::{IndexFiles, IndexPlace, SegmentList};
use crate::disk::index::segment::{DirRecords, RowUse, Segment, SessionDirs};
use crate::disk::index::segment_draft::SegmentDraft;
use crate::disk::index::segment_file::PieceKind;
use crate::disk::index::table::{FilePlace, SegmentTable};
use crate::disk::parallel;
use crate::disk::session_file::{FoundFiles, IndexedFile, SessionFile};
use crate::session::digest::Digest;
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::{ListedSession, SharedSession};
use crate::session::links::ById;
use crate::session::search_text::{SearchTexts, SearchTextsBuf, TextBuffers};

/// The format version. Increase it with every change of the data read from a session or of its serialization.
pub(super) const FORM: u32 = 23;

/// The precision of times of directories on all file systems.
const PRECISION: Duration = Duration::from_secs(2);

/// The index of a session directory.
#[derive(Debug)]
pub(in crate::disk) struct Index {
    pub(super) files: IndexFiles,
    /// The maximum size in bytes.
    pub(super) limit: u64,
    /// The list of segments when it was opened; of a new index, an empty list.
    pub(super) list: SegmentList,
    /// The directory with symbolic links resolved.
    real: PathBuf,
    pub(super) dirs: Arc<SessionDirs>,
    pub(super) segments: Vec<Segment>,
    /// The time at which it was opened, before the files were listed.
    pub(super) opened: SystemTime,
    /// `true` if it replaces existing files that are unusable or were not opened.
    pub(super) replaces: bool,
    /// The new rows, or the reason why they cannot be written.
    pub(super) draft: Mutex<Option<io::Result<SegmentDraft>>>,
}

/// The place of a row: the index of its segment, and the index in the segment.
pub(super) type RowPlace = (usize, usize);

impl Index {
    /// Opens the index of a directory; empty if there is no usable one.
    pub(in crate::disk) fn open(place: IndexPlace<'_>, dir: &Path, home: &str) -> Self {
        let mut index = Self::empty(place, dir, home);
        for is_locked in [false, true] {
            // If a segment is damaged or missing, another process may be changing it.
            let _lock = if is_locked { index.files.lock().ok() } else { None };
            let Some(list) = index.files.read(index.list.of) else { break };
            let segment = |&number: &u64| Segment::open(&index.files.segment(number), number, &index.dirs);
            index.segments = list.segments.iter().filter_map(segment).collect();
            (index.replaces, index.list) = (false, list);
            if index.segments.len() == index.list.segments.len() {
                break;
            }
        }
        index
    }

    /// Creates an index that replaces the existing one.
    pub(in crate::disk) fn empty(place: IndexPlace<'_>, dir: &Path, home: &str) -> Self {
        let real = real(dir);
        let path = real.as_os_str().as_encoded_bytes();
        let about = [env!("CARGO_PKG_VERSION"), "\0", home, "\0"].concat().into_bytes();
        let of = hash(&[&about, path, &FORM.to_le_bytes()].concat());
        Self {
            files: IndexFiles::new(place.dir, &real),
            limit: place.limit,
            list: SegmentList { of, dir: path.into(), oldest: i64::MIN, ..SegmentList::default() },
            dirs: Arc::new(SessionDirs::new(dir, &real, home)),
            real,
            segments: Vec::new(),
            opened: SystemTime::UNIX_EPOCH + SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
            replaces: true,
            draft: Mutex::default(),
        }
    }

    /// Returns the modification time before which files are omitted because of the size limit, in milliseconds since 1970.
    pub(super) fn oldest(&self) -> i64 {
        if self.list.limit == self.limit { self.list.oldest } else { i64::MIN }
    }

    /// Returns the path of a file below the directory, if it determines the file.
    pub(super) fn place<'a>(&self, file: &'a SessionFile) -> Option<FilePlace<'a>> {
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
    pub(in crate::disk) fn show(&mut self) -> Vec<SharedSession> {
        let places = self.latest(|table, at| table.row(at).has_place());
        places.iter().for_each(|&(segment, at)| self.segments[segment].shown[at] = true);
        places.into_iter().map(|place| self.listed(place)).collect()
    }

    /// Returns the sessions as last read whose facts fulfill a condition. Returns `None` if such a file is not found under
    /// exactly one path, or if sessions were omitted.
    pub(in crate::disk) fn sessions_with(
        &self,
        is_wanted: &dyn Fn(&SessionFacts<'_>) -> bool,
    ) -> Option<Vec<SharedSession>> {
        let places = self.latest(|table, at| is_wanted(&table.facts(at)));
        let is_known = |&(segment, at): &RowPlace| self.segments[segment].table().row(at).has_place();
        let is_whole = self.oldest() == i64::MIN && places.iter().all(is_known);
        is_whole.then(|| places.into_iter().map(|place| self.listed(place)).collect())
    }

    /// Returns the rows of the sessions that fulfill a condition, of each file the last one.
    fn latest(&self, is_wanted: impl Fn(&SegmentTable, usize) -> bool) -> Vec<RowPlace> {
        let (mut places, mut later) = (Vec::new(), HashSet::<(u64, u64)>::new());
        for (number, segment) in self.segments.iter().enumerate().rev() {
            let table = segment.table();
            for (at, stamp) in table.stamps().enumerate() {
                let is_last = later.is_empty() || !later.contains(&stamp.file);
                if is_last && table.row(at).is_session() && is_wanted(table, at) {
                    places.push((number, at));
                }
            }
            if number > 0 {
                later.extend(table.stamps().map(|stamp| stamp.file));
            }
        }
        places
    }

    fn listed(&self, (segment, at): RowPlace) -> SharedSession {
        Arc::new(ListedSession::stored(self.segments[segment].stored.clone(), at as u32))
    }

    /// Returns `true` if some directories, given with symbolic links resolved too, have all files as in the index.
    /// `unchanged` are the rows of the unchanged ones.
    pub(in crate::disk) fn has_all<'a>(
        &self,
        mut dirs: impl Iterator<Item = (&'a Path, &'a Path)>,
        unchanged: impl Iterator<Item = RowPlace>,
    ) -> bool {
        let place = |(segment, at): RowPlace| self.segments[segment].table().place(at);
        let unchanged: HashSet<FilePlace<'_>> = unchanged.filter_map(place).collect();
        dirs.all(|(dir, real)| {
            let Some(DirRecords { ranges, .. }) = self.records_in(dir, real) else { return false };
            let mut places =
                ranges.into_iter().enumerate().flat_map(|(number, range)| range.map(move |at| (number, at)));
            places.all(|at| place(at).is_some_and(|place| unchanged.contains(&place)))
        })
    }

    /// Returns the time until which the list of files in each directory is known; `None` without an index.
    pub(in crate::disk) fn known_until(&self) -> Option<SystemTime> {
        self.files.used().ok().filter(|_| !self.segments.is_empty()).and_then(|used| used.checked_sub(PRECISION))
    }

    /// Returns `true` if a session was shown and is unchanged.
    pub(in crate::disk) fn is_shown(&self, (segment, at): RowPlace) -> bool {
        self.segments[segment].shown[at]
    }

    /// Iterates over the files of the shown sessions that have changed or are missing.
    pub(in crate::disk) fn outdated(&self) -> impl Iterator<Item = PathBuf> {
        self.segments.iter().flat_map(|segment| {
            let outdated = segment.used(&[RowUse::Held, RowUse::Past, RowUse::Stale]).filter(|&at| segment.shown[at]);
            outdated.filter_map(|at| Some(segment.stored.session_file(at)?.path))
        })
    }

    /// Returns the rows of the files in a directory, if its rows have paths.
    pub(in crate::disk) fn records_in(&self, dir: &Path, real: &Path) -> Option<DirRecords<'_>> {
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
        let ranges = self.segments.iter().map(|segment| segment.table().rows_in(&prefix)).collect();
        Some(DirRecords { segments: &self.segments, ranges })
    }

    /// Compares the rows with all files found in these directories (`real`, symbolic links resolved). Sets the state of
    /// the files of this directory, if it has an index among them.
    pub(in crate::disk) fn look(&mut self, dir: Option<usize>, real: &[PathBuf], found: &mut FoundFiles) {
        let uses = |segment: &Segment| self.uses_without_files(segment.table(), real);
        let uses: Vec<Vec<RowUse>> = self.segments.iter().map(uses).collect();
        self.segments.iter_mut().zip(uses).for_each(|(segment, uses)| segment.uses = uses);
        // Only these rows can belong to one of the other files, or to a file with two rows.
        let later = self.segments.iter().skip(1).flat_map(|segment| segment.table().keys());
        let files = found.files.iter().map(|file| file.stamp.key());
        let wanted: ById<()> = later.chain(files).map(|key| (key, ())).collect();
        let (mut by_file, mut past): (ById<RowPlace>, Vec<_>) = (ById::default(), Vec::new());
        for (number, segment) in self.segments.iter().enumerate().filter(|_| !wanted.is_empty()) {
            for (at, key) in segment.table().keys().enumerate().filter(|(_, key)| wanted.contains_key(key)) {
                past.extend(by_file.insert(key, (number, at)).map(|place| (place, key)));
            }
        }
        let known = parallel::map(found.files.iter_mut(), |file| {
            let &place = by_file.get(&file.stamp.key())?;
            let (segment, at) = (&self.segments[place.0], place.1);
            let stamp = Some(segment.table().stamp(at)).filter(|stamp| stamp.file == file.stamp.file)?;
            let (known, is) = match segment.compare(at, &file.stamp, &file.path) {
                RowUse::Current if segment.table().place(at) == self.place(file) => {
                    (IndexedFile::Same(place), RowUse::Current)
                }
                RowUse::Current => (IndexedFile::Moved(place), RowUse::Held),
                RowUse::Held if file.stamp.has_grown_from(&stamp) => (IndexedFile::Before(place), RowUse::Held),
                is => (IndexedFile::Nothing, is),
            };
            if dir == Some(file.dir) {
                file.known = known;
            }
            Some((place, is))
        });
        // A file can have several paths; the row is current if it is at that of the row.
        let unchanged = found.unchanged.iter().map(|file| file.record()).filter(|(of, _)| dir == Some(*of));
        let unchanged = unchanged.map(|(_, place)| (place, RowUse::Current));
        let (current, others): (Vec<_>, Vec<_>) =
            known.into_iter().flatten().partition(|(_, is)| *is == RowUse::Current);
        for ((segment, at), is) in others.into_iter().chain(current).chain(unchanged) {
            self.segments[segment].uses[at] = is;
        }
        // A later row was written while the file still had the content of the earlier one.
        for ((segment, at), key) in past {
            let is_stale =
                by_file.get(&key).is_none_or(|&(later, at)| self.segments[later].uses[at] == RowUse::Stale);
            self.segments[segment].uses[at] = if is_stale { RowUse::Stale } else { RowUse::Past };
        }
    }

    /// Returns the uses of rows whose files were not found in these directories.
    fn uses_without_files(&self, table: &SegmentTable, real: &[PathBuf]) -> Vec<RowUse> {
        let covers = |path: &Path| real.iter().any(|dir| path.starts_with(dir));
        let is_covered = covers(&self.real);
        let is_below = |FilePlace { folder, name }| covers(&self.real.join(folder).join(name));
        let one = |at| match is_covered || table.place(at).is_some_and(is_below) {
            true => RowUse::Stale,
            false => RowUse::Current,
        };
        (0..table.len()).map(one).collect()
    }

    /// Returns an unchanged session that is loaded on demand. Returns `Some(None)` if the file is not a session, and
    /// `None` if the session must be loaded now.
    #[allow(clippy::option_option, reason = "files that are not sessions are recorded too")]
    pub(in crate::disk) fn session(&self, place: RowPlace) -> Option<Option<SharedSession>> {
        let row = self.segments[place.0].table().row(place.1);
        (!row.is_session() || row.has_place()).then(|| row.is_session().then(|| self.listed(place)))
    }

    /// Returns the digest of an unchanged file. `None` if it is damaged, `Some(None)` if the file is not a session.
    #[allow(clippy::option_option, reason = "files that are not sessions are recorded too")]
    pub(in crate::disk) fn digest(&self, (segment, at): RowPlace) -> Option<Option<Digest>> {
        let stored = &self.segments[segment].stored;
        if !stored.table.row(at).is_session() {
            return Some(None);
        }
        let mut read = None;
        stored.read_digests(&[at as u32], &mut Vec::new(), |_, digest| read = digest);
        read.map(Some)
    }

    /// Returns the file of a row, if the row determines its path.
    pub(in crate::disk) fn file(&self, (segment, at): RowPlace) -> Option<SessionFile> {
        self.segments[segment].stored.session_file(at)
    }

    /// Returns the facts about an unchanged file; `None` if it is not a session.
    pub(in crate::disk) fn facts(&self, (segment, at): RowPlace) -> Option<SessionFacts<'_>> {
        let table = self.segments[segment].table();
        table.row(at).is_session().then(|| table.facts(at))
    }

    /// Returns the state for continuing to read a file that has grown, and its texts so far.
    pub(in crate::disk) fn before(&self, (segment, at): RowPlace) -> Option<(ResumeState, SearchTextsBuf)> {
        let stored = &self.segments[segment].stored;
        let pieces = stored.file.session(stored.table.row(at).pieces)?.pieces;
        let TextBuffers { mut bytes, mut starts } = TextBuffers::default();
        let texts = stored.file.read(pieces[PieceKind::Texts as usize], &mut bytes)?;
        let texts = SearchTexts::from_bytes(texts, &mut starts)?;
        Some((stored.file.get(pieces[PieceKind::State as usize])?, texts.into()))
    }
}

/// Returns the absolute path of a directory, with symbolic links resolved if it exists.
pub(in crate::disk) fn real(dir: &Path) -> PathBuf {
    dunce::canonicalize(dir).or_else(|_| std::path::absolute(dir)).unwrap_or_else(|_| dir.into())
}
