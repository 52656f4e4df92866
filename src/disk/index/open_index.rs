//! An open index: the sessions in it, and their comparison with the files found.

use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::base::archive_paths;
use crate::disk::digest::ResumeState;
use crate::disk::fingerprint::hash;
use crate::disk::index::additions::SegmentDraft;
use crate::disk::index::files::{IndexFiles, IndexPlace};
use crate::disk::index::segment_file::PieceKind;
use crate::disk::index::stored::{DirRecords, SessionDirs, StoredSessions};
use crate::disk::index::table::{FilePlace, SESSION, SETTLED, SessionTable, SharedData};
use crate::disk::parallel;
use crate::disk::session_file::{FoundFiles, IndexedFile, RealPaths, SessionFile, complete};
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::{LazySession, SharedLazySession};
use crate::session::search_text::{SearchTexts, SearchTextsBuf, TextBuffers};

/// The format version. Increase it with every change of the data read from a session or of its serialization.
pub(super) const FORM: u32 = 25;

/// The precision of times of directories on all file systems.
const PRECISION: Duration = Duration::from_secs(2);

/// The maximum number of attempts to open the segments of an index that other processes change.
const TRIES: usize = 5;

/// The index of a session directory.
#[derive(Debug)]
pub(in crate::disk) struct SessionIndex {
    pub(super) files: IndexFiles,
    /// The maximum size in bytes.
    pub(super) limit: u64,
    /// The hash of what the index is for: version, home directory, session directory and format.
    pub(super) purpose_hash: u64,
    /// The directory with symbolic links resolved.
    pub(super) canonical: PathBuf,
    pub(super) dirs: Arc<SessionDirs>,
    pub(super) stored: Arc<StoredSessions>,
    /// The use of each row.
    pub(super) uses: Vec<RowUse>,
    /// `true` if the sessions were shown before their files were checked.
    is_shown: bool,
    /// The time at which it was opened, before the files were listed.
    pub(super) opened: SystemTime,
    /// `true` if it replaces existing files that are unusable or were not opened.
    pub(super) replaces: bool,
    /// The new rows, or the reason why they cannot be written.
    pub(super) draft: Mutex<Option<io::Result<SegmentDraft>>>,
}

/// The use of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowUse {
    /// Its file is unchanged.
    Current,
    /// Its file has changed but still starts with the recorded content.
    Held,
    /// Its file is missing or has other content: its text must be removed from the index.
    Stale,
}

impl SessionIndex {
    /// Opens the index of a directory; empty if there is no usable one.
    pub(in crate::disk) fn open(place: IndexPlace<'_>, dir: &Path, home: &str) -> Self {
        let mut index = Self::empty(place, dir, home);
        for _ in 0..TRIES {
            let Some(table) = index.read_table() else { break };
            // If segments are missing, another process may have replaced them meanwhile.
            if let Some(stored) = StoredSessions::open(table, &index.dirs, &index.files) {
                index.uses = vec![RowUse::Current; stored.table.len()];
                (index.stored, index.replaces) = (Arc::new(stored), false);
                break;
            }
        }
        index
    }

    /// Creates an index that replaces the existing one.
    pub(in crate::disk) fn empty(place: IndexPlace<'_>, dir: &Path, home: &str) -> Self {
        let real = canonical(dir);
        let about = [env!("CARGO_PKG_VERSION"), "\0", home, "\0"].concat().into_bytes();
        let of = hash(&[&about, real.as_os_str().as_encoded_bytes(), &FORM.to_le_bytes()].concat());
        let dirs = Arc::new(SessionDirs::new(dir, &real, home));
        let table = SessionTable::default();
        Self {
            files: IndexFiles::new(place.dir, &real),
            limit: place.limit,
            purpose_hash: of,
            canonical: real,
            stored: Arc::new(StoredSessions { files: Vec::new(), table, dirs: dirs.clone() }),
            dirs,
            uses: Vec::new(),
            is_shown: false,
            opened: SystemTime::UNIX_EPOCH + SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
            replaces: true,
            draft: Mutex::default(),
        }
    }

    /// Reads the table of the index.
    pub(super) fn read_table(&self) -> Option<SessionTable> {
        SessionTable::read(&self.files.table).filter(|table| table.shared.purpose_hash == self.purpose_hash)
    }

    /// Returns the rows with one of some uses.
    pub(super) fn rows_with(&self, uses: &[RowUse]) -> impl Iterator<Item = usize> {
        (0..self.uses.len()).filter(|&at| uses.contains(&self.uses[at]))
    }

    /// Returns the modification time before which files are omitted because of the size limit, in milliseconds since 1970.
    pub(super) fn oldest(&self) -> i64 {
        let SharedData { limit, oldest, .. } = self.stored.table.shared;
        if limit == self.limit { oldest } else { i64::MIN }
    }

    /// Returns the path of a file below the directory, if it determines the file.
    pub(super) fn place<'a>(&self, file: &'a SessionFile) -> Option<FilePlace<'a>> {
        let below = self.below(&file.path, file.real_path.as_ref().unwrap_or(&file.path))?;
        let (folder, name) = below.split_at(below.rfind(MAIN_SEPARATOR).map_or(0, |at| at + 1));
        (!file.is_link && file.owner.is_none()).then_some(FilePlace { folder, name })
    }

    /// Returns the part of a path below the directory, if the resolved path is at the same place below the resolved one.
    fn below<'a>(&self, path: &'a Path, canonical: &Path) -> Option<&'a str> {
        fn rest<'a>(path: &'a Path, dir: &Path) -> Option<&'a str> {
            let rest = path.as_os_str().as_encoded_bytes().strip_prefix(dir.as_os_str().as_encoded_bytes());
            std::str::from_utf8(rest?).ok()
        }
        let SessionDirs { named, canonical: real_dir, .. } = &*self.dirs;
        let below = rest(path, named)?;
        (rest(canonical, real_dir.as_ref().unwrap_or(named))? == archive_paths::unpacked(below)).then_some(below)
    }

    /// Returns the sessions as last read; some may have changed or be missing.
    pub(in crate::disk) fn show(&mut self) -> Vec<SharedLazySession> {
        self.is_shown = true;
        (0..self.uses.len()).filter(|&at| self.is_shown(at)).map(|at| self.listed(at)).collect()
    }

    /// Returns `true` if a session was shown.
    pub(in crate::disk) fn is_shown(&self, at: usize) -> bool {
        let row = self.stored.table.row(at);
        self.is_shown && row.has(SESSION) && row.has_place()
    }

    /// Iterates over the files of the shown sessions that have changed or are missing.
    pub(in crate::disk) fn outdated(&self) -> impl Iterator<Item = PathBuf> {
        let changed = self.rows_with(&[RowUse::Held, RowUse::Stale]).filter(|&at| self.is_shown(at));
        changed.filter_map(|at| Some(self.stored.session_file(at)?.path))
    }

    /// Returns the sessions as last read whose facts fulfill a condition. Returns `None` if such a file is not found under
    /// exactly one path, or if sessions were omitted.
    pub(in crate::disk) fn sessions_with(
        &self,
        is_wanted: &dyn Fn(&SessionFacts<'_>) -> bool,
    ) -> Option<Vec<SharedLazySession>> {
        let table = &self.stored.table;
        let wanted = (0..table.len()).filter(|&at| table.row(at).has(SESSION) && is_wanted(&table.facts(at)));
        if self.oldest() > i64::MIN {
            return None;
        }
        wanted.map(|at| table.row(at).has_place().then(|| self.listed(at))).collect()
    }

    fn listed(&self, at: usize) -> SharedLazySession {
        Arc::new(LazySession::stored(self.stored.clone(), at as u32))
    }

    /// Returns `true` if some directories, given with symbolic links resolved too, have all files as in the index.
    /// `unchanged` are the rows of the unchanged ones.
    pub(in crate::disk) fn has_all<'a>(
        &self,
        mut dirs: impl Iterator<Item = (&'a Path, &'a Path)>,
        unchanged: impl Iterator<Item = usize>,
    ) -> bool {
        let unchanged: HashSet<usize> = unchanged.collect();
        dirs.all(|(dir, real)| {
            self.records_in(dir, real).is_some_and(|mut records| records.rows.all(|at| unchanged.contains(&at)))
        })
    }

    /// Returns the time until which the list of files in each directory is known; `None` without an index.
    pub(in crate::disk) fn known_until(&self) -> Option<SystemTime> {
        self.files.used().ok().filter(|_| !self.uses.is_empty()).and_then(|used| used.checked_sub(PRECISION))
    }

    /// Returns the rows of the files in a directory, if its rows have paths.
    pub(in crate::disk) fn records_in(&self, dir: &Path, canonical: &Path) -> Option<DirRecords<'_>> {
        let (dir, real) = (dir.join(""), canonical.join(""));
        let table = &self.stored.table;
        Some(DirRecords { table, rows: table.rows_in(self.below(&dir, &real)?) })
    }

    /// Compares the rows with all files found in these directories (`canonical`, symbolic links resolved). Sets the state of
    /// the files of this directory, if it has an index among them.
    pub(in crate::disk) fn compare_rows(&mut self, dir: Option<usize>, canonical: &[PathBuf], found: &mut FoundFiles) {
        let table = &self.stored.table;
        self.uses = self.uses_without_files(canonical);
        let wanted: HashSet<(u64, u64)> = found.files.iter().map(|file| file.stamp.file).collect();
        let rows = if wanted.is_empty() { 0..0 } else { 0..table.len() };
        let by_file: HashMap<(u64, u64), usize> =
            rows.map(|at| (table.stamp(at).file, at)).filter(|(file, _)| wanted.contains(file)).collect();
        let known = parallel::map(found.files.iter_mut(), |file| {
            let &at = by_file.get(&file.stamp.file)?;
            let (known, is) = match self.compare(at, file) {
                RowUse::Current if table.place(at) == self.place(file) => (IndexedFile::Same(at), RowUse::Current),
                RowUse::Current => (IndexedFile::Moved(at), RowUse::Held),
                RowUse::Held if file.stamp.has_grown_from(&table.stamp(at)) => (IndexedFile::Before(at), RowUse::Held),
                is => (IndexedFile::Nothing, is),
            };
            if dir == Some(file.dir) {
                file.known = known;
            }
            Some((at, is))
        });
        // A file can have several paths; the row is current if it is at that of the row.
        let unchanged = found.unchanged.iter().map(|file| file.record()).filter(|(of, _)| dir == Some(*of));
        let unchanged = unchanged.map(|(_, at)| (at, RowUse::Current));
        let (current, others): (Vec<_>, Vec<_>) =
            known.into_iter().flatten().partition(|(_, is)| *is == RowUse::Current);
        for (at, is) in others.into_iter().chain(current).chain(unchanged) {
            self.uses[at] = is;
        }
    }

    /// Compares a row with a file.
    fn compare(&self, at: usize, file: &SessionFile) -> RowUse {
        let (stored, row) = (&self.stored, self.stored.table.row(at));
        match () {
            () if row.has(SETTLED) && stored.table.stamp(at) == file.stamp => RowUse::Current,
            () if stored.segment(at).session(row.pieces).is_some_and(|(content, _)| content.is_in(&file.path)) => {
                RowUse::Held
            }
            () => RowUse::Stale,
        }
    }

    /// Returns the uses of rows whose files were not found in these directories.
    fn uses_without_files(&self, canonical: &[PathBuf]) -> Vec<RowUse> {
        let covers = |path: &Path| canonical.iter().any(|dir| path.starts_with(dir));
        let is_covered = covers(&self.canonical);
        let is_below = |FilePlace { folder, name }| covers(&self.canonical.join(folder).join(name));
        let is_stale = |at| is_covered || self.stored.table.place(at).is_some_and(is_below);
        (0..self.uses.len()).map(|at| if is_stale(at) { RowUse::Stale } else { RowUse::Current }).collect()
    }

    /// Returns the session of an unchanged file, or of one that was moved. Returns `Some(None)` if the file is not a
    /// session, and `None` if it is damaged here.
    #[allow(clippy::option_option, reason = "files that are not sessions are recorded too")]
    pub(in crate::disk) fn session(
        &self,
        at: usize,
        file: &SessionFile,
        canonical: &RealPaths,
    ) -> Option<Option<SharedLazySession>> {
        let row = self.stored.table.row(at);
        if !row.has(SESSION) {
            return Some(None);
        }
        if row.has_place() && self.stored.table.place(at) == self.place(file) {
            return Some(Some(self.listed(at)));
        }
        let mut digest = None;
        self.stored.read_digests(&[at as u32], &mut Vec::new(), |_, read| digest = read);
        Some(Some(complete(file.clone(), digest?, canonical).into()))
    }

    /// Returns the session of a file that is unchanged at the path of its row, if it is a session and was not shown.
    pub(in crate::disk) fn unshown(&self, at: usize) -> Option<SharedLazySession> {
        (self.stored.table.row(at).has(SESSION) && !self.is_shown(at)).then(|| self.listed(at))
    }

    /// Returns the state for continuing to read a file that has grown, and its texts so far.
    pub(in crate::disk) fn before(&self, at: usize) -> Option<(ResumeState, SearchTextsBuf)> {
        let file = self.stored.segment(at);
        let (_, pieces) = file.session(self.stored.table.row(at).pieces)?;
        let TextBuffers { mut bytes, mut starts } = TextBuffers::default();
        let texts = SearchTexts::from_bytes(file.read(pieces[PieceKind::Texts as usize], &mut bytes)?, &mut starts)?;
        Some((file.get(pieces[PieceKind::State as usize])?, texts.into()))
    }
}

/// Returns the absolute path of a directory, with symbolic links resolved if it exists.
pub(in crate::disk) fn canonical(dir: &Path) -> PathBuf {
    dunce::canonicalize(dir).or_else(|_| std::path::absolute(dir)).unwrap_or_else(|_| dir.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::demo;
    use crate::disk::index::segment_file::bytes;
    use crate::disk::scan::{self, ScanSources};
    use crate::session::stats::intervals::SessionSums;

    #[test]
    fn the_form_has_a_number_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        demo::write(dir.path(), std::path::Path::new(demo::ROOT), None).unwrap();
        let dirs = [dir.path().to_path_buf()];
        let sources = ScanSources { dirs: &dirs, home: demo::HOME, cache: None };
        let mut written: Vec<Vec<u8>> = Vec::new();
        sources.scan().read(|scan::ScanBatch { sessions, .. }| {
            let one = |session: &SharedLazySession| {
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
            (25, 9055176249029209852),
            "what is read of sessions, or how it is written, is another: raise FORM, and say so here"
        );
    }
}
