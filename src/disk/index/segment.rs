//! An open segment of the index, and its sessions. A segment is written once as a draft and never changed. Processes
//! that have it open can read on after it was replaced.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::disk::create;
use crate::disk::digest::{self, ScanOptions};
use crate::disk::files::open_regular;
use crate::disk::index::filter;
use crate::disk::index::pieces::{
    HASH, HEAD, MAGIC, RecordPieces, SegmentHeader, SegmentPiece, SegmentPieces, header_bytes,
};
use crate::disk::index::table::{SegmentRecord, SegmentTable};
use crate::disk::session_file::{self, RealPaths, SessionFile};
use crate::session::digest::Digest;
use crate::session::digest::details::{Details, DetailsSource, LazyDetails};
use crate::session::digest::listed::{JoinedPath, SessionFacts, SessionFilter, SessionSource};
use crate::session::lines::Header;
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::system;

/// The modification time of a segment is its time of last use, updated at most this often.
const USED: Duration = Duration::from_secs(24 * 3600);

/// The maximum length in bytes of the path of a directory.
const MOST_PATH: u64 = 1 << 16;

/// The maximum size of a table in bytes.
const MOST_TABLE: u64 = 1 << 32;

/// The kinds of pieces of a session, in their order in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum PieceKind {
    Digest,
    Details,
    Texts,
    State,
}

impl RecordPieces {
    /// Returns the place of a piece.
    pub(super) fn piece(self, kind: PieceKind) -> SegmentPiece {
        let before = self.lens[..kind as usize].iter().map(|&len| HASH as u64 + u64::from(len)).sum::<u64>();
        SegmentPiece { at: self.at.saturating_add(before), len: self.lens[kind as usize] }
    }
}

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) stored: Arc<StoredSessions>,
    /// The same sessions as a source for lists.
    pub(super) source: Arc<SharedSource>,
    pub(super) number: u64,
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
    /// Opens a segment with this content that adds to the given segment. Returns `None` if there is no trustworthy one.
    pub(super) fn open(path: &Path, of: u64, adds_to: u64, dirs: &Arc<SessionDirs>) -> Option<Self> {
        let (pieces, [is_of, number, is_added_to, _, at, len, table_hash]) = head(path)?;
        if is_of != of || is_added_to != adds_to {
            return None;
        }
        let metadata = pieces.0.metadata().ok()?;
        let bytes = metadata.len();
        if len > MOST_TABLE || at.checked_add(len) != Some(bytes) {
            return None;
        }
        let table = SegmentTable::read(&pieces, at, len, table_hash)?;
        if let Ok(written) = metadata.modified()
            && let Ok(age) = written.elapsed()
            && age > USED
        {
            let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(written + age));
        }
        let (uses, shown) = (vec![RecordUse::Past; table.len], vec![false; table.len]);
        let stored = Arc::new(StoredSessions { pieces: Arc::new(pieces), table, dirs: dirs.clone() });
        let source = Arc::new(SharedSource(stored.clone()));
        Some(Self { stored, source, number, bytes, uses, shown })
    }

    pub(super) fn table(&self) -> &SegmentTable {
        &self.stored.table
    }

    /// Returns the serialized digest, details, texts and state of a session, or `None` if they are damaged.
    pub(super) fn read<'a>(&'a self, record: &SegmentRecord, rooms: &'a mut [Vec<u8>; 4]) -> Option<[&'a [u8]; 4]> {
        const KINDS: [PieceKind; 4] = [PieceKind::Digest, PieceKind::Details, PieceKind::Texts, PieceKind::State];
        let mut read = [&[][..]; 4];
        for ((read, kind), room) in read.iter_mut().zip(KINDS).zip(rooms) {
            *read = self.stored.pieces.read(record.pieces.piece(kind), room)?;
        }
        Some(read)
    }
}

/// Opens a trustworthy segment and reads its header.
fn head(path: &Path) -> Option<(SegmentPieces, SegmentHeader)> {
    let file = open_regular(path, File::options().read(true)).ok()?;
    let pieces = is_own(&file).then_some(SegmentPieces(file))?;
    let mut head = [0; HEAD];
    pieces.read_at(0, &mut head).ok()?;
    let (words, _) = head[MAGIC.len()..].as_chunks();
    let numbers = std::array::from_fn(|at| words.get(at).map_or(0, |word| u64::from_le_bytes(*word)));
    (header_bytes(numbers) == head).then_some((pieces, numbers))
}

/// Returns the session directory of a segment, or `None` if the file is not a segment of this format.
pub(super) fn dir(path: &Path) -> Option<PathBuf> {
    let (pieces, [_, _, _, len, ..]) = head(path)?;
    let mut dir = vec![0; usize::try_from(len.min(MOST_PATH)).ok()?];
    pieces.read_at(HEAD as u64, &mut dir).ok()?;
    system::files::path_of(dir)
}

/// Returns `true` if a file belongs to the user and only they can write to it. Removes read permission for others.
fn is_own(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| system::files::is_own(&metadata)) && create::make_private(file).is_ok()
}

/// The session directory of an index.
#[derive(Debug)]
pub(super) struct SessionDirs {
    /// The directory as named, with a trailing separator.
    pub(super) named: PathBuf,
    /// The directory with symbolic links resolved and a trailing separator, if it differs.
    pub(super) real: Option<PathBuf>,
    pub(super) home: Arc<str>,
    real_paths: RealPaths,
}

impl SessionDirs {
    pub(super) fn new(named: &Path, real: &Path, home: &str) -> Self {
        let real_dir = (real != named).then(|| real.join(""));
        Self { named: named.join(""), real: real_dir, home: home.into(), real_paths: RealPaths::default() }
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
    /// Returns the digest of a session without file system metadata, or `None` if it is missing or damaged.
    pub(super) fn digest_of(self: &Arc<Self>, number: usize) -> Option<Digest> {
        let digest: Digest = self.pieces.get(self.table.record(number).pieces.piece(PieceKind::Digest))?;
        Some(Digest { details: LazyDetails::stored(self.clone(), number as u32), ..digest })
    }

    /// Returns the file of a record, if the record determines its path.
    pub(super) fn file(&self, number: usize) -> Option<SessionFile> {
        let below = self.table.below(number)?;
        let stamp = self.table.record(number).stamp;
        let joined = |dir: &PathBuf| JoinedPath { dir: dir.as_os_str(), rest: below.as_ref() }.join();
        let (path, real_path) = (joined(&self.dirs.named), self.dirs.real.as_ref().map(joined));
        Some(SessionFile { path, real_path, stamp, ..SessionFile::default() })
    }
}

/// A source that can be shared by its sessions.
#[derive(Debug)]
pub(super) struct SharedSource(pub(super) Arc<StoredSessions>);

impl SessionSource for SharedSource {
    fn facts(&self, number: u32) -> SessionFacts<'_> {
        let facts = self.0.table.facts(number as usize);
        let JoinedPath { rest, .. } = facts.path;
        let dirs = &self.0.dirs;
        let real_path = dirs.real.as_ref().map(|dir| JoinedPath { dir: dir.as_os_str(), rest });
        SessionFacts { path: JoinedPath { dir: dirs.named.as_os_str(), rest }, real_path, ..facts }
    }

    fn texts<'a>(&self, number: u32, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        DetailsSource::texts(&*self.0, number, buffers)
    }

    fn with_keys(&self, keys: &[u16]) -> SessionFilter<'_> {
        let passed = filter::pass(&self.0.pieces, &self.0.table.blocks, keys);
        Box::new(move |number| passed.has(self.0.table.number(number as usize)))
    }

    fn digest(&self, number: u32) -> Digest {
        let Some(file) = self.0.file(number as usize) else { return Digest::default() };
        let read = || {
            let options = ScanOptions::default();
            let read =
                digest::read(&self.0.dirs.home, (&file.path, file.version().1), options, &mut Vec::new(), || false);
            read.ok().flatten().map(|session| session.digest)
        };
        let facts = || Digest { header: self.header(number), ..Digest::default() };
        let digest = self.0.digest_of(number as usize).or_else(read).unwrap_or_else(facts);
        session_file::complete(file, digest, &self.0.dirs.real_paths)
    }
}

impl SharedSource {
    /// Returns what is known of the header of a session whose digest is damaged and whose file is unreadable.
    fn header(&self, number: u32) -> Header {
        let facts = self.0.table.facts(number as usize);
        Header {
            id: facts.id.into(),
            cwd: facts.cwd.into(),
            created: facts.created,
            parent_session: facts.parent_session.map(Into::into),
            parent_id: facts.parent_id.map(Into::into),
            ..Header::default()
        }
    }
}

impl DetailsSource for StoredSessions {
    fn details(&self, number: u32, path: &Path) -> Details {
        let kept = self.pieces.get(self.table.record(number as usize).pieces.piece(PieceKind::Details));
        kept.unwrap_or_else(|| details_of(&self.dirs.home, path))
    }

    fn texts<'a>(&self, number: u32, room: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        texts(&self.pieces, self.table.record(number as usize).pieces, room)
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
        let kept = self.pieces.get(self.places.piece(PieceKind::Details));
        kept.unwrap_or_else(|| details_of(&self.home, path))
    }

    fn texts<'a>(&self, _: u32, room: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        texts(&self.pieces, self.places, room)
    }
}

/// Reads the details of a session from its file. Details that cannot be read are treated as missing.
fn details_of(home: &str, path: &Path) -> Details {
    let read = digest::read(home, (path, 0), ScanOptions::default(), &mut Vec::new(), || false);
    let read = read.ok().flatten().map(|session| (**session.digest.details()).clone());
    read.unwrap_or_default()
}

/// Reads the texts of a session into reusable buffers.
fn texts<'a>(pieces: &SegmentPieces, places: RecordPieces, room: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
    let TextBuffers { bytes, starts } = room;
    SearchTexts::from_bytes(pieces.read(places.piece(PieceKind::Texts), bytes)?, starts)
}
