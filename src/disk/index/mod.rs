//! Cache of sessions between runs: digests and searched texts of a directory. The index only saves time. Missing,
//! damaged, foreign or outdated data is read from the sessions again, and deleting the index loses nothing.
//!
//! A filter of each index file narrows the sessions in which a search must look: see [`filter`].
//!
//! There are two files: one with all sessions, and one with later additions, so that small changes need small writes.
//! Each is written as a draft and renamed. Data is only used if it is verifiably correct: the session file has the
//! recorded version, each piece has the recorded hash, and the index file has the right owner and format.
//!
//! The index must not contain text that its session files no longer contain: see [`RecordUse::Stale`].

mod cleanup;
mod filter;
mod pieces;
mod segment;
mod table;
mod writing;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::digest::{ResumeState, ScannedSession};
use crate::disk::fingerprint::{FileVersion, hash};
use crate::disk::parallel;
use crate::disk::session_file::{FoundFiles, IndexedFile, SessionFile};
use crate::session::digest::Digest;
use crate::session::digest::details::LazyDetails;
use crate::session::digest::listed::{ListedSession, SessionFacts, SharedSession};
use crate::session::links::ById;
use crate::session::search_text::{SearchTexts, SearchTextsBuf, TextBuffers};
pub(super) use cleanup::related;
use cleanup::remove;
pub(crate) use cleanup::{clean_up, clear};
use segment::{PieceKind, RecordUse, Segment, SessionDirs};
use table::SegmentRecord;
use writing::{Addition, Additions, bytes, keys, stored_keys};

/// The format version. Increase it with every change of the data read from a session or of its serialization.
const FORM: u32 = 7;

/// The minimum size in bytes of a file for which reading continues at the previous end.
pub(super) const WORTH_GOING_ON: u64 = 1 << 20;

/// The index of a session directory.
#[derive(Debug)]
pub(super) struct Index {
    /// The paths of the two files: all sessions, and additions.
    paths: [PathBuf; 2],
    /// A hash of the directory, the home directory and this version of pitree.
    of: u64,
    /// The directory with symbolic links resolved.
    real: PathBuf,
    dirs: Arc<SessionDirs>,
    volumes: Vec<Segment>,
    /// `true` if unusable files exist at its paths.
    has_unusable: bool,
    additions: Additions,
}

/// The place of a record: the index of its segment, and the index in the segment.
type RecordPlace = (usize, usize);

/// The records of the files in a directory.
pub(super) struct DirRecords<'a> {
    index: &'a Index,
    /// The length of the path of the directory below the session directory, with a separator.
    prefix: usize,
    /// The records in each segment.
    ranges: Vec<Range<usize>>,
}

impl DirRecords<'_> {
    /// Returns the record of a file that has not changed since it was added.
    pub(super) fn unchanged(&self, name: &OsStr, stamp: &FileVersion) -> Option<(u32, u32)> {
        let segments = self.index.volumes.iter().zip(&self.ranges).enumerate().rev();
        let found = |(number, (kept, range)): (usize, (&Segment, &Range<usize>))| {
            let at = kept.table().find(range, self.prefix, name.as_encoded_bytes())?;
            let record = kept.table().record(at);
            (record.is_settled && record.stamp == *stamp).then_some((number as u32, at as u32))
        };
        segments.filter_map(found).next()
    }
}

/// The state of the index of a directory.
#[derive(Clone, Debug)]
pub(crate) struct IndexFacts {
    /// The directory with symbolic links resolved.
    pub(crate) dir: PathBuf,
    /// The paths of the two files: all sessions, and additions.
    pub(crate) paths: [PathBuf; 2],
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
        remove(&self.paths)
    }

    /// Returns the state of the index of a directory for a home directory.
    pub(crate) fn new(cache: &Path, dir: &Path, home: &str) -> Self {
        let Index { paths, volumes, .. } = Index::open(cache, dir, home);
        let files: HashSet<(u64, u64)> =
            volumes.iter().flat_map(|kept| kept.table().records()).map(|record| record.stamp.file).collect();
        let bytes = volumes.iter().map(|kept| kept.bytes).sum();
        Self { dir: real(dir), paths, bytes, sessions: files.len() }
    }
}

impl Index {
    /// Opens the index of a directory; empty if there is no usable one.
    pub(super) fn open(cache: &Path, dir: &Path, home: &str) -> Self {
        let mut index = Self::empty(cache, dir, home);
        let [all, added] = &index.paths;
        let opened = Segment::open(all, index.of, 0, &index.dirs);
        let added = opened.as_ref().and_then(|all| Segment::open(added, index.of, all.number, &index.dirs));
        index.volumes = opened.into_iter().chain(added).collect();
        index.has_unusable = index.paths[index.volumes.len()..].iter().any(|path| path.symlink_metadata().is_ok());
        index
    }

    /// Creates an index that replaces the existing one.
    pub(super) fn empty(cache: &Path, dir: &Path, home: &str) -> Self {
        let real = real(dir);
        let name = format!("{:016x}", hash(real.as_os_str().as_encoded_bytes()));
        let paths = ["all", "added"].map(|part| cache.join(format!("{name}.{part}")));
        let about = [env!("CARGO_PKG_VERSION"), "\0", home, "\0"].concat().into_bytes();
        let of = hash(&[&about, real.as_os_str().as_encoded_bytes(), &FORM.to_le_bytes()].concat());
        Self {
            additions: Additions::new(&paths[0], &real),
            paths,
            of,
            dirs: Arc::new(SessionDirs::new(dir, &real, home)),
            real,
            volumes: Vec::new(),
            has_unusable: true,
        }
    }

    /// Returns the path of a file below the directory, if it determines the file.
    fn place<'a>(&self, file: &'a SessionFile) -> Option<&'a str> {
        let named = self.dirs.named.as_os_str().as_encoded_bytes();
        let below = std::str::from_utf8(file.path.as_os_str().as_encoded_bytes().strip_prefix(named)?).ok()?;
        let is_real = match (&file.real_path, &self.dirs.real) {
            (None, None) => true,
            (Some(path), Some(real)) => {
                let [path, real] = [path, real].map(|path| path.as_os_str().as_encoded_bytes());
                path.strip_prefix(real) == Some(below.as_bytes())
            }
            _ => false,
        };
        (!file.is_link && file.owner.is_none() && is_real).then_some(below)
    }

    /// Returns the sessions as last read; some may have changed or be missing.
    pub(super) fn show(&mut self) -> Vec<SharedSession> {
        let added: HashSet<(u64, u64)> =
            self.volumes.iter().skip(1).flat_map(|kept| kept.table().records()).map(|one| one.stamp.file).collect();
        let mut sessions = Vec::with_capacity(self.volumes.iter().map(|kept| kept.uses.len()).sum());
        for (number, kept) in self.volumes.iter_mut().enumerate() {
            let source = &kept.source;
            for (at, record) in kept.stored.table.records().enumerate() {
                let is_last = number > 0 || added.is_empty() || !added.contains(&record.stamp.file);
                if is_last && record.is_session && kept.stored.table.below(at).is_some() {
                    kept.shown[at] = true;
                    sessions.push(Arc::new(ListedSession::stored(source.clone(), at as u32)));
                }
            }
        }
        sessions
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
        let ranges = self.volumes.iter().map(|kept| kept.table().starting_with(prefix.as_bytes())).collect();
        Some(DirRecords { index: self, prefix: prefix.len(), ranges })
    }

    /// Compares the records with all files found in these directories (`real`, symbolic links resolved). Sets the state
    /// of the files of this directory, if it has an index among them.
    pub(super) fn look(&mut self, dir: Option<usize>, real: &[PathBuf], found: &mut FoundFiles) {
        let uses = |number| self.uses_without_files(number, real);
        let uses: Vec<Vec<RecordUse>> = (0..self.volumes.len()).map(uses).collect();
        self.volumes.iter_mut().zip(uses).for_each(|(kept, uses)| kept.uses = uses);
        let unchanged = found.unchanged.iter().map(|file| file.record());
        for (_, (number, at)) in unchanged.filter(|(of, _)| dir == Some(*of)) {
            self.volumes[number].uses[at] = RecordUse::Current;
        }
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
            let (_, record) = self.record(place).filter(|(_, record)| record.stamp.file == file.stamp.file)?;
            let (known, is) = match record.compare(&file.stamp, &file.path) {
                RecordUse::Current if self.below(place) == self.place(file) => {
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
        for ((number, at), is) in known.into_iter().flatten() {
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
        let one = |at| match is_covered || self.below((number, at)).is_some_and(|below| covers(&self.real.join(below)))
        {
            true => RecordUse::Stale,
            false => RecordUse::Current,
        };
        (0..self.volumes[number].uses.len()).map(one).collect()
    }

    fn record(&self, (volume, at): RecordPlace) -> Option<(&Segment, SegmentRecord)> {
        let kept = self.volumes.get(volume)?;
        Some((kept, kept.table().record(at)))
    }

    /// Returns the path of the file of a record below the directory.
    fn below(&self, (volume, at): RecordPlace) -> Option<&str> {
        self.volumes.get(volume)?.table().below(at)
    }

    /// Returns an unchanged session that is loaded on demand. Returns `Some(None)` if the file is not a session, and
    /// `None` if the session must be loaded now.
    #[allow(clippy::option_option, reason = "files that are not sessions are recorded too")]
    pub(super) fn session(&self, place: RecordPlace) -> Option<Option<SharedSession>> {
        let (kept, record) = self.record(place)?;
        if !record.is_session {
            return Some(None);
        }
        self.below(place)?;
        Some(Some(Arc::new(ListedSession::stored(kept.source.clone(), place.1 as u32))))
    }

    /// Returns the digest of an unchanged file. `None` if the record is damaged, `Some(None)` if the file is not a
    /// session.
    #[allow(clippy::option_option, reason = "files that are not sessions are recorded too")]
    pub(super) fn digest(&self, place: RecordPlace) -> Option<Option<Digest>> {
        let (kept, record) = self.record(place)?;
        if record.is_session { kept.stored.digest_of(place.1).map(Some) } else { Some(None) }
    }

    /// Returns the file of a record, if the record determines its path.
    pub(super) fn file(&self, (volume, at): RecordPlace) -> Option<SessionFile> {
        self.volumes.get(volume)?.stored.file(at)
    }

    /// Returns the facts about an unchanged file, without its path; `None` if it is not a session.
    pub(super) fn facts(&self, (volume, at): RecordPlace) -> Option<SessionFacts<'_>> {
        let kept = self.volumes.get(volume)?;
        kept.table().record(at).is_session.then(|| kept.table().facts(at))
    }

    /// Keeps the record of a file that was moved.
    pub(super) fn keep_moved(&self, (volume, at): (usize, usize), file: &SessionFile) {
        let mut rooms = [const { Vec::new() }; 4];
        let kept = &self.volumes[volume];
        let record = kept.table().record(at);
        let Some(pieces) = kept.read(&record, &mut rooms) else { return };
        let facts = SessionFacts { bytes: file.stamp.bytes, mtime: file.stamp.mtime(), ..kept.table().facts(at) };
        self.put(
            file,
            Addition {
                is_session: record.is_session,
                content: record.content,
                facts,
                pieces,
                keys: &stored_keys(pieces),
                ..Addition::default()
            },
        );
    }

    /// Stores the data of a file, or records that it is not a session. If it can be written, the details of the digest
    /// are then loaded from there.
    pub(super) fn keep(&self, file: &SessionFile, read: Option<&mut ScannedSession>) {
        let Some(session) = read else {
            self.put(file, Addition::default());
            return;
        };
        let ScannedSession { digest, texts, state, content } = &*session;
        let pieces = [bytes(digest), bytes(&**digest.details()), texts.as_texts().to_bytes()];
        let facts = SessionFacts { bytes: file.stamp.bytes, mtime: file.stamp.mtime(), ..digest.facts() };
        let keys = keys(digest, texts.as_texts());
        let [digest, details, texts] = &pieces;
        let pieces = [&**digest, details, texts, state];
        let addition =
            Addition { is_session: true, content: *content, facts, pieces, keys: &keys, ..Addition::default() };
        if let Some(lazy) = self.put(file, addition) {
            session.digest.details = lazy;
        }
    }

    fn put(&self, file: &SessionFile, addition: Addition<'_>) -> Option<LazyDetails> {
        let addition = Addition { stamp: file.stamp, below: self.place(file), ..addition };
        self.additions.put(&addition, &self.dirs.home)
    }

    /// Writes new records, and removes text that no file contains any more. If the index cannot be rewritten, it is
    /// deleted.
    ///
    /// # Errors
    /// The index cannot be written.
    pub(super) fn finish(self) -> io::Result<()> {
        self.additions.finish(&self.paths, self.of, &self.volumes, self.has_unusable)
    }

    /// Returns the state for continuing to read a file that has grown, and its texts so far.
    pub(super) fn before(&self, place: RecordPlace) -> Option<(ResumeState, SearchTextsBuf)> {
        let (kept, record) = self.record(place)?;
        let TextBuffers { mut bytes, mut starts } = TextBuffers::default();
        let pieces = &kept.stored.pieces;
        let texts =
            SearchTexts::from_bytes(pieces.read(record.pieces.piece(PieceKind::Texts), &mut bytes)?, &mut starts)?;
        let state = record.pieces.piece(PieceKind::State);
        (!state.is_empty()).then_some(())?;
        Some((pieces.get(state)?, texts.into()))
    }
}

impl SegmentRecord {
    /// Compares a record with the file at a path with this version.
    fn compare(&self, stamp: &FileVersion, path: &Path) -> RecordUse {
        match () {
            () if self.is_settled && self.stamp == *stamp => RecordUse::Current,
            () if self.content.is_in(path) => RecordUse::Held,
            () => RecordUse::Stale,
        }
    }
}

/// Returns the absolute path of a directory, with symbolic links resolved if it exists.
pub(super) fn real(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).or_else(|_| std::path::absolute(dir)).unwrap_or_else(|_| dir.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::demo;
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
            let one = |session: &SharedSession| [bytes(&***session), bytes(&**session.details())].concat();
            written.extend(sessions.iter().map(one));
            true
        });
        written.sort();
        let mut texts = SearchTextsBuf::default();
        texts.conversation.push(3, "As it was Said");
        written.push(texts.as_texts().to_bytes());
        assert_eq!(
            (FORM, hash(&written.concat())),
            (7, 11_844_257_576_456_709_151),
            "what is read of sessions, or how it is written, is another: raise FORM, and say so here"
        );
    }
}
