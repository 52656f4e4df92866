//! An open segment of the index, and its sessions. A segment is written once as a draft; later, records are only removed
//! from it. Processes that have it open can read on after other segments replaced it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::base::archive_paths;
use crate::disk::create;
use crate::disk::digest::{self, ScanOptions};
use crate::disk::files::open_regular;
use crate::disk::fingerprint::{ContentHash, FileVersion};
use crate::disk::index::filter;
use crate::disk::index::pieces::{HEAD, KINDS, PieceKind, RecordPieces, SegmentHeader, SegmentPieces};
use crate::disk::index::record::SegmentRecord;
use crate::disk::index::table::{FolderPaths, SegmentTable};
use crate::disk::session_file::{self, RealPaths, SessionFile};
use crate::session::digest::Digest;
use crate::session::digest::details::{Details, DetailsSource, LazyDetails};
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::joined_path::JoinedPath;
use crate::session::digest::listed::{SessionFilter, SessionSource};
use crate::session::lines::Header;
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::session::stats::entry_stats::SessionStats;
use crate::session::stats::intervals::SessionSums;
use crate::system;

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) stored: Arc<StoredSessions>,
    /// The same sessions as a source for lists.
    pub(super) source: Arc<SharedSource>,
    pub(super) header: SegmentHeader,
    /// The length of the file in bytes.
    pub(super) bytes: u64,
    /// The use of each record.
    pub(super) uses: Vec<RecordUse>,
    /// `true` for each session that was shown before its file was checked.
    pub(super) shown: Vec<bool>,
}

/// The use of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordUse {
    /// Its file is unchanged.
    Current,
    /// Its file has changed but still starts with the recorded content.
    Held,
    /// A later record of the same file, current or held, replaces it.
    Past,
    /// Its file is missing or has other content: its text must be removed from the index.
    Stale,
}

impl Segment {
    /// Opens a segment of an index. Returns `None` if there is no trustworthy one.
    pub(super) fn open(path: &Path, of: u64, dirs: &Arc<SessionDirs>) -> Option<Self> {
        let pieces = SegmentPieces(open_own(path)?);
        let header = SegmentHeader::read(&pieces).filter(|header| header.of == of)?;
        let bytes = pieces.0.metadata().ok()?.len();
        header.table.checked_add(header.table_len).filter(|end| *end <= bytes)?;
        let mut table = SegmentTable::read(&pieces, &header)?;
        table.set_paths(table.folders().map(|folder| dirs.folder(folder)).collect());
        let (uses, shown) = (vec![RecordUse::Past; table.len], vec![false; table.len]);
        let stored = Arc::new(StoredSessions { pieces: Arc::new(pieces), table, dirs: dirs.clone() });
        let source = Arc::new(SharedSource(stored.clone()));
        Some(Self { stored, source, header, bytes, uses, shown })
    }

    /// Returns `true` if the segment holds no text that is not in a session file.
    pub(super) fn is_clean(&self) -> bool {
        self.header.is_removing == 0 && !self.uses.contains(&RecordUse::Stale)
    }

    /// Returns the versions of the files of the stale records.
    pub(super) fn stale(&self) -> impl Iterator<Item = FileVersion> {
        let stale = self.uses.iter().enumerate().filter(|(_, is)| **is == RecordUse::Stale);
        stale.map(|(at, _)| self.table().record(at).stamp)
    }

    pub(super) fn table(&self) -> &SegmentTable {
        &self.stored.table
    }

    /// Returns the header of the pieces of a record, or `None` if it is damaged.
    pub(super) fn pieces(&self, record: &SegmentRecord) -> Option<RecordPieces> {
        self.stored.pieces.header(record.pieces)
    }

    /// Returns the content that was read and the serialized pieces of a session, or `None` if they are damaged.
    pub(super) fn read<'a>(
        &'a self,
        record: &SegmentRecord,
        rooms: &'a mut [Vec<u8>; KINDS],
    ) -> Option<(ContentHash, [&'a [u8]; KINDS])> {
        use PieceKind::{Details, Digest, State, Stats, Sums, Texts};
        let pieces = self.pieces(record)?;
        let mut read = [&[][..]; KINDS];
        for ((read, kind), room) in read.iter_mut().zip([Digest, Details, Texts, State, Stats, Sums]).zip(rooms) {
            *read = self.stored.pieces.read(pieces.piece(kind), room)?;
        }
        Some((pieces.content, read))
    }
}

/// The records of the files in a directory.
pub(in crate::disk) struct DirRecords<'a> {
    pub(super) segments: &'a [Segment],
    /// The records in each segment.
    pub(super) ranges: Vec<Range<usize>>,
}

impl DirRecords<'_> {
    /// Returns the record of a file that has not changed since it was added.
    pub(in crate::disk) fn unchanged(&self, name: &OsStr, stamp: &FileVersion) -> Option<(u32, u32)> {
        let segments = self.segments.iter().zip(&self.ranges).enumerate().rev();
        let found = |(number, (kept, range)): (usize, (&Segment, &Range<usize>))| {
            let at = kept.table().find(range, name.as_encoded_bytes())?;
            let record = kept.table().record(at);
            (record.is_settled && record.stamp == *stamp).then_some((number as u32, at as u32))
        };
        segments.filter_map(found).next()
    }
}

/// Overwrites the pieces of the records of some file versions, and removes these records from the table. The segment
/// stays readable at any time: see [`SegmentHeader`]. The caller holds the lock. Returns the number of records left.
///
/// # Errors
/// The segment is damaged or cannot be written.
pub(super) fn remove(path: &Path, stale: &HashSet<FileVersion>) -> io::Result<usize> {
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let pieces = SegmentPieces(open_regular(path, File::options().read(true).write(true))?);
    let mut header = SegmentHeader::read(&pieces).ok_or_else(damaged)?;
    let table = SegmentTable::read(&pieces, &header).ok_or_else(damaged)?;
    let mut removed = vec![false; table.len];
    for (record, is_removed) in table.records().zip(&mut removed).filter(|(record, _)| stale.contains(&record.stamp)) {
        *is_removed = true;
        // Their header holds no text. It stays, so that this can be repeated until the record is removed.
        let places = pieces.header(record.pieces).ok_or_else(damaged)?;
        for range in places.ranges() {
            pieces.overwrite(range.start.max(HEAD as u64), range.end.min(header.pieces_end))?;
        }
    }
    let count = removed.iter().filter(|is_removed| **is_removed).count();
    if count > 0 {
        let bytes = table.without(|at| removed[at])?;
        header = header.with_table(&bytes);
        pieces.write_at(header.table, &bytes)?;
        pieces.write_at(0, &header.to_bytes())?;
    }
    if header.is_removing != 0 {
        let other = header.other_place();
        pieces.overwrite(other, other.saturating_add(header.longest_table))?;
        pieces.write_at(0, &SegmentHeader { is_removing: 0, ..header }.to_bytes())?;
    }
    Ok(table.len - count)
}

/// Opens a file of the index, if it belongs to the user and only they can write to it. Removes read permission for
/// others.
pub(super) fn open_own(path: &Path) -> Option<File> {
    let file = open_regular(path, File::options().read(true)).ok()?;
    let is_own = file.metadata().is_ok_and(|metadata| system::files::is_own(&metadata));
    (is_own && create::make_private(&file).is_ok()).then_some(file)
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
    pub(super) pieces: Arc<SegmentPieces>,
    pub(super) table: SegmentTable,
    pub(super) dirs: Arc<SessionDirs>,
}

impl StoredSessions {
    /// Calls a function with the digests of some sessions, in their order, without file system metadata; `None` for
    /// those that are missing or damaged. `room` is a reusable buffer.
    pub(super) fn digests_of(
        self: &Arc<Self>,
        numbers: &[u32],
        room: &mut Vec<u8>,
        mut each: impl FnMut(u32, Option<Digest>),
    ) {
        let offset = |&number: &u32| self.table.record(number as usize).pieces;
        let offsets: Vec<u64> = numbers.iter().map(offset).collect();
        // Cloning an `Arc` that all threads share is slow, because they change the same counter. So each call has its own.
        let source = Arc::new(self.clone());
        self.pieces.digests(&offsets, room, |at, digest: Option<Digest>| {
            let details = || LazyDetails::stored(source.clone(), numbers[at]);
            each(numbers[at], digest.map(|digest| Digest { details: details(), ..digest }));
        });
    }

    fn pieces_of(&self, number: u32) -> SessionPieces<'_> {
        let places = self.pieces.header(self.table.record(number as usize).pieces);
        SessionPieces { pieces: &self.pieces, places, home: &self.dirs.home }
    }

    /// Returns the file of a record, if the record determines its path.
    pub(super) fn file(&self, number: usize) -> Option<SessionFile> {
        let stamp = self.table.has_place(number).then(|| self.table.record(number).stamp)?;
        let facts = self.table.facts(number);
        let (path, real_path) = (facts.path().join(), facts.real_path().map(JoinedPath::join));
        Some(SessionFile { path, real_path, stamp, ..SessionFile::default() })
    }
}

/// A source that can be shared by its sessions.
#[derive(Debug)]
pub(super) struct SharedSource(pub(super) Arc<StoredSessions>);

impl SessionSource for SharedSource {
    fn facts(&self, number: u32) -> SessionFacts<'_> {
        self.0.table.facts(number as usize)
    }

    fn texts<'a>(&self, number: u32, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        DetailsSource::texts(&*self.0, number, buffers)
    }

    fn with_keys(&self, keys: &[u16]) -> SessionFilter<'_> {
        let Some(blocks) = &self.0.table.blocks else { return Box::new(|_| true) };
        let passed = filter::pass(&self.0.pieces, blocks, keys);
        Box::new(move |number| passed.has(self.0.table.number(number as usize)))
    }

    fn digests(&self, numbers: &[u32], room: &mut Vec<u8>, each: &mut dyn FnMut(Digest)) {
        self.0.digests_of(numbers, room, |number, digest| each(self.complete(digest, number)));
    }

    fn stats(&self, number: u32) -> SessionStats {
        let path = self.0.file(number as usize).map(|file| file.path).unwrap_or_default();
        DetailsSource::stats(&*self.0, number, &path)
    }

    fn sums(&self, number: u32) -> SessionSums {
        self.0
            .pieces_of(number)
            .get(PieceKind::Sums)
            .unwrap_or_else(|| SessionSums::new(&SessionSource::stats(self, number)))
    }
}

impl SharedSource {
    /// Completes the digest of a session. If it is damaged, reads the session.
    fn complete(&self, digest: Option<Digest>, number: u32) -> Digest {
        let Some(file) = self.0.file(number as usize) else { return Digest::default() };
        let read = || {
            let options = ScanOptions::default();
            let read =
                digest::read(&self.0.dirs.home, (&file.path, file.version().1), options, &mut Vec::new(), &|| false);
            read.ok().flatten().map(|session| session.digest)
        };
        let facts = || Digest { header: self.header(number), ..Digest::default() };
        let digest = digest.or_else(read).unwrap_or_else(facts);
        session_file::complete(file, digest, &self.0.dirs.real_paths)
    }

    /// Returns what is known of the header of a session whose digest is damaged and whose file is unreadable.
    fn header(&self, number: u32) -> Header {
        let facts = self.0.table.facts(number as usize);
        Header {
            id: facts.id().into(),
            cwd: facts.cwd().into(),
            created: facts.created(),
            parent_session: facts.parent_session().map(Into::into),
            parent_id: facts.parent_id().map(Into::into),
            ..Header::default()
        }
    }
}

impl DetailsSource for StoredSessions {
    fn details(&self, number: u32, path: &Path) -> Details {
        self.pieces_of(number).details(path)
    }

    fn stats(&self, number: u32, path: &Path) -> SessionStats {
        self.pieces_of(number).stats(path)
    }

    fn sums(&self, number: u32, path: &Path) -> SessionSums {
        self.pieces_of(number).sums(path)
    }

    fn texts<'a>(&self, number: u32, room: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        self.pieces_of(number).texts(room)
    }
}

/// The pieces of a session that was just written.
#[derive(Debug)]
pub(super) struct WrittenSession {
    pub(super) pieces: Arc<SegmentPieces>,
    pub(super) places: RecordPieces,
    pub(super) home: Arc<str>,
}

impl DetailsSource for WrittenSession {
    fn details(&self, _: u32, path: &Path) -> Details {
        self.pieces().details(path)
    }

    fn stats(&self, _: u32, path: &Path) -> SessionStats {
        self.pieces().stats(path)
    }

    fn sums(&self, _: u32, path: &Path) -> SessionSums {
        self.pieces().sums(path)
    }

    fn texts<'a>(&self, _: u32, room: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        self.pieces().texts(room)
    }
}

impl WrittenSession {
    fn pieces(&self) -> SessionPieces<'_> {
        SessionPieces { pieces: &self.pieces, places: Some(self.places), home: &self.home }
    }
}

/// The pieces of a session in a segment.
struct SessionPieces<'a> {
    pieces: &'a SegmentPieces,
    /// `None` if they are damaged.
    places: Option<RecordPieces>,
    home: &'a str,
}

impl SessionPieces<'_> {
    fn get<T: DeserializeOwned>(&self, kind: PieceKind) -> Option<T> {
        self.pieces.get(self.places?.piece(kind))
    }

    /// Returns the details. Damaged ones are read from the session file.
    fn details(&self, path: &Path) -> Details {
        let kept = self.get(PieceKind::Details);
        kept.unwrap_or_else(|| {
            digest_of(self.home, path).map(|digest| (**digest.details()).clone()).unwrap_or_default()
        })
    }

    /// Returns the statistics. Damaged ones are read from the session file.
    fn stats(&self, path: &Path) -> SessionStats {
        let kept = self.get(PieceKind::Stats);
        kept.unwrap_or_else(|| digest_of(self.home, path).map(|digest| (*digest.stats()).clone()).unwrap_or_default())
    }

    /// Returns the sums of the entries. Damaged ones are computed again.
    fn sums(&self, path: &Path) -> SessionSums {
        let kept = self.get(PieceKind::Sums);
        kept.unwrap_or_else(|| SessionSums::new(&self.stats(path)))
    }

    /// Reads the texts into reusable buffers.
    fn texts<'a>(&self, TextBuffers { bytes, starts }: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        let piece = self.places?.piece(PieceKind::Texts);
        SearchTexts::from_bytes(self.pieces.read(piece, bytes)?, starts)
    }
}

/// Reads a session from its file. A session that cannot be read counts as missing.
fn digest_of(home: &str, path: &Path) -> Option<Digest> {
    let read = digest::read(home, (path, 0), ScanOptions::default(), &mut Vec::new(), &|| false);
    Some(read.ok()??.digest)
}
