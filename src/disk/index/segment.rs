//! An open segment of the index, and its sessions. A segment is written once as a draft; later, rows are only removed
//! from it. Processes that have it open can read on after other segments replaced it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::archive_paths;
use crate::disk::files::open_regular;
use crate::disk::fingerprint::FileVersion;
use crate::disk::index::filter;
use crate::disk::index::segment_draft::Addition;
use crate::disk::index::segment_file::{KINDS, Piece, PieceKind, SegmentFile, open_own};
use crate::disk::index::table::{FolderPaths, SegmentTable};
use crate::disk::session_file::{self, RealPaths, SessionFile};
use crate::session::digest::Digest;
use crate::session::digest::details::{DetailsSource, LazyDetails};
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::joined_path::JoinedPath;
use crate::session::digest::listed::{SessionFilter, SessionSource};
use crate::session::search_text::SearchTexts;
use crate::session::search_titles::{SearchTitles, TitlesBuf};
use crate::session::trigrams;

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: u64,
    pub(super) stored: Arc<StoredSessions>,
    /// The use of each row.
    pub(super) uses: Vec<RowUse>,
    /// `true` for each session that was shown before its file was checked.
    pub(super) shown: Vec<bool>,
}

/// The use of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowUse {
    /// Its file is unchanged.
    Current,
    /// Its file has changed but still starts with the recorded content.
    Held,
    /// A later row of the same file, current or held, replaces it.
    Past,
    /// Its file is missing or has other content: its text must be removed from the index.
    Stale,
}

impl Segment {
    /// Opens a segment of an index. Returns `None` if there is no trustworthy one.
    pub(super) fn open(path: &Path, number: u64, dirs: &Arc<SessionDirs>) -> Option<Self> {
        let file = Arc::new(SegmentFile::new(open_own(path)?, &dirs.home));
        let mut table = SegmentTable::read(&file)?;
        table.set_paths(|folder| dirs.folder(folder));
        let (uses, shown) = (vec![RowUse::Past; table.len()], vec![false; table.len()]);
        Some(Self { number, stored: Arc::new(StoredSessions { file, table, dirs: dirs.clone() }), uses, shown })
    }

    pub(super) fn table(&self) -> &SegmentTable {
        &self.stored.table
    }

    /// Returns the rows with one of some uses.
    pub(super) fn used(&self, uses: &[RowUse]) -> impl Iterator<Item = usize> {
        (0..self.uses.len()).filter(|&at| uses.contains(&self.uses[at]))
    }

    /// Compares a row with the file at a path with this version.
    pub(super) fn compare(&self, at: usize, stamp: &FileVersion, path: &Path) -> RowUse {
        let (StoredSessions { file, table, .. }, row) = (&*self.stored, self.table().row(at));
        match () {
            () if row.is_settled() && table.stamp(at) == *stamp => RowUse::Current,
            () if file.session(row.pieces).is_some_and(|pieces| pieces.content.is_in(path)) => RowUse::Held,
            () => RowUse::Stale,
        }
    }

    /// Calls a function with the data of a row. Returns `None` if it is damaged.
    pub(super) fn copy<T>(&self, at: usize, put: impl FnOnce(&Addition<'_>) -> T) -> Option<T> {
        let (StoredSessions { file, table, .. }, row) = (&*self.stored, self.table().row(at));
        let pieces = file.session(row.pieces)?;
        let digest = file.read_vec(row.digest())?;
        let mut read = [const { Vec::new() }; KINDS];
        for (read, piece) in read.iter_mut().zip(pieces.pieces) {
            *read = file.read_vec(piece)?;
        }
        let mut starts = Default::default();
        let texts = SearchTexts::from_bytes(&read[PieceKind::Texts as usize], &mut starts).unwrap_or_default();
        Some(put(&Addition {
            stamp: table.stamp(at),
            is_settled: Some(row.is_settled()),
            place: table.place(at),
            content: pieces.content,
            facts: row.is_session().then(|| table.facts(at)),
            keys: &keys(&postcard::from_bytes(&digest).unwrap_or_default(), texts),
            digest: &digest,
            pieces: read.each_ref().map(Vec::as_slice),
        }))
    }
}

/// Returns the keys of the texts and titles of a session, by which words are found.
pub(super) fn keys(digest: &Digest, texts: SearchTexts<'_>) -> Vec<u16> {
    let titles = TitlesBuf::new(digest);
    let SearchTitles { name, id, cwd, first_message, labels } = titles.as_titles();
    trigrams::keys([name, id, cwd, first_message, labels.folded, texts.conversation.folded, texts.summaries.folded])
}

/// The rows of the files in a directory.
pub(in crate::disk) struct DirRecords<'a> {
    pub(super) segments: &'a [Segment],
    /// The rows in each segment.
    pub(super) ranges: Vec<Range<usize>>,
}

impl DirRecords<'_> {
    /// Returns the place of a file that has not changed since it was added.
    pub(in crate::disk) fn unchanged(&self, name: &OsStr, stamp: &FileVersion) -> Option<(u32, u32)> {
        let segments = self.segments.iter().zip(&self.ranges).enumerate().rev();
        let found = |(number, (segment, range)): (usize, (&Segment, &Range<usize>))| {
            let table = segment.table();
            let at = table.find(range, name.as_encoded_bytes())?;
            (table.row(at).is_settled() && table.stamp(at) == *stamp).then_some((number as u32, at as u32))
        };
        segments.filter_map(found).next()
    }
}

/// Erases the pieces of some file versions, and removes their rows from the table, which is overwritten. If this is
/// interrupted, the segment is damaged, and its sessions are read again. The caller holds the lock. Returns the number of
/// rows left.
///
/// # Errors
/// The segment is damaged or cannot be written.
pub(super) fn remove(path: &Path, stale: &HashSet<FileVersion>) -> io::Result<usize> {
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let file = SegmentFile::new(open_regular(path, File::options().read(true).write(true))?, &"".into());
    let (header, table) = file.numbers(0).zip(SegmentTable::read(&file)).ok_or_else(damaged)?;
    for at in (0..table.len()).filter(|&at| stale.contains(&table.stamp(at))) {
        let row = table.row(at);
        file.erase(row.digest().at..row.digest().end())?;
        // The header of the pieces holds no text. It stays, so that this can be repeated until the row is removed.
        file.erase(file.session(row.pieces).ok_or_else(damaged)?.range())?;
    }
    let rest = table.with_rows(|at| !stale.contains(&table.stamp(at)));
    if rest.len() < table.len() {
        rest.write(&file, header[0], Some(header))?;
    }
    Ok(rest.len())
}

/// The session directory of an index.
#[derive(Debug)]
pub(super) struct SessionDirs {
    /// The directory as named, with a trailing separator.
    pub(super) named: PathBuf,
    /// The directory with symbolic links resolved, or the original path of an archive, with a trailing separator, if it
    /// differs.
    pub(super) real: Option<PathBuf>,
    pub(super) home: Arc<str>,
    real_paths: RealPaths,
}

impl SessionDirs {
    pub(super) fn new(named: &Path, real: &Path, home: &str) -> Self {
        let original = archive_paths::original(named);
        let real_dir = original.as_deref().or(Some(real).filter(|real| *real != named)).map(|real| real.join(""));
        Self { named: named.join(""), real: real_dir, home: home.into(), real_paths: RealPaths::default() }
    }

    /// Returns the paths of a directory below the session directory.
    fn folder(&self, folder: &str) -> FolderPaths {
        let join = |dir: &PathBuf| JoinedPath { dir: dir.as_os_str(), rest: folder.as_ref() }.join().into_os_string();
        FolderPaths::new(join(&self.named), self.real.as_ref().map(join))
    }
}

/// The sessions of an open segment.
#[derive(Debug)]
pub(super) struct StoredSessions {
    pub(super) file: Arc<SegmentFile>,
    pub(super) table: SegmentTable,
    dirs: Arc<SessionDirs>,
}

impl StoredSessions {
    /// Calls a function with the digests of some sessions, in their order, without file system metadata; `None` for
    /// those that are damaged. `room` is a reusable buffer.
    pub(super) fn read_digests(
        &self,
        numbers: &[u32],
        room: &mut Vec<u8>,
        mut each: impl FnMut(u32, Option<Digest>),
    ) {
        let digest = |&number: &u32| self.table.row(number as usize).digest();
        let pieces: Vec<Piece> = numbers.iter().map(digest).collect();
        // Cloning an `Arc` that all threads share is slow, because they change the same counter. So each call has its own.
        let source = Arc::new(self.file.clone());
        self.file.get_all(&pieces, room, |at, digest: Option<Digest>| {
            let details = || LazyDetails::stored(source.clone(), self.table.row(numbers[at] as usize).pieces);
            each(numbers[at], digest.map(|digest| Digest { details: details(), ..digest }));
        });
    }

    /// Returns the file of a row, if the row determines its path.
    pub(super) fn session_file(&self, at: usize) -> Option<SessionFile> {
        let stamp = self.table.row(at).has_place().then(|| self.table.stamp(at))?;
        let facts = self.table.facts(at);
        let (path, real_path) = (facts.path().join(), facts.real_path().map(JoinedPath::join));
        Some(SessionFile { path, real_path, stamp, ..SessionFile::default() })
    }

    /// Completes the digest of a session. If it is damaged, reads the session.
    fn complete(&self, number: u32, digest: Option<Digest>) -> Digest {
        let Some(file) = self.session_file(number as usize) else { return Digest::default() };
        let digest = digest.or_else(|| self.file.read_session(&file.path, file.version().1)).unwrap_or_default();
        session_file::complete(file, digest, &self.dirs.real_paths)
    }
}

impl SessionSource for StoredSessions {
    fn facts(&self, number: u32) -> SessionFacts<'_> {
        self.table.facts(number as usize)
    }

    fn details(&self, number: u32) -> (&dyn DetailsSource, u64) {
        (&*self.file, self.table.row(number as usize).pieces)
    }

    fn with_keys(&self, keys: &[u16]) -> SessionFilter<'_> {
        let passed = filter::sessions_with(&self.file, self.table.blocks(), keys);
        Box::new(move |number| passed.get(self.table.row(number as usize).number as usize) == Some(&true))
    }

    fn digests(&self, numbers: &[u32], room: &mut Vec<u8>, each: &mut dyn FnMut(Digest)) {
        self.read_digests(numbers, room, |number, digest| each(self.complete(number, digest)));
    }
}
