//! A segment file of the index: a header, pieces of data, and a table at the end. It is written once as a draft and
//! never changed. Processes that have it open can read on after it was replaced.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::disk::create;
use crate::disk::digest::{self, ScanOptions};
use crate::disk::files::open_regular;
use crate::disk::fingerprint::{ContentHash, FileVersion, hash};
use crate::session::digest::SharedDigest;
use crate::session::digest::details::{Details, DetailsSource};
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::system;

/// The magic bytes at the start.
const MAGIC: [u8; 8] = *b"pitree-i";

/// The modification time of a segment is its time of last use, updated at most this often.
const USED: Duration = Duration::from_secs(24 * 3600);

/// The maximum length in bytes of the path of a directory.
const MOST_PATH: u64 = 1 << 16;

/// The maximum size of a table in bytes.
const MOST_TABLE: u64 = 1 << 32;

/// The place of a piece in a file. A hash precedes its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SegmentPiece {
    at: u64,
    len: u32,
}

/// The size of a hash in bytes.
const HASH: usize = size_of::<u64>();

/// The record of a session.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SegmentRecord {
    /// The version of the file when it was read.
    pub(super) stamp: FileVersion,
    /// `true` if every later change of the file would change its version.
    pub(super) is_settled: bool,
    /// The place of its digest in the table; empty if the file is not a session.
    pub(super) digest: (u32, u32),
    pub(super) details: SegmentPiece,
    pub(super) texts: SegmentPiece,
    /// The bytes of the file that were read.
    pub(super) content: ContentHash,
    /// The state for continuing to read after the file has grown, if worthwhile.
    pub(super) state: Option<SegmentPiece>,
}

/// The table of all records.
#[derive(Debug, Default)]
pub(super) struct SegmentTable {
    pub(super) records: Vec<SegmentRecord>,
    /// The digests; in a file that was read, after the records.
    digests: Vec<u8>,
    /// The offset of the digests.
    from: usize,
}

/// The numbers of the header at the start of the file:
/// 1. The hash of what the index is for: see [`super::Index`].
/// 2. A unique number.
/// 3. The number of the segment to which this one adds; 0 for none.
/// 4. The length of the path of the session directory. The path follows the header.
/// 5. The offset, the length and the hash of the table (three numbers).
type SegmentHeader = [u64; 7];

/// The length of a header in bytes.
const HEAD: usize = 9 * 8;

/// Serializes a header: the magic bytes, the numbers, and a hash.
fn header_bytes(numbers: SegmentHeader) -> Vec<u8> {
    let mut bytes = [MAGIC.to_vec(), numbers.map(u64::to_le_bytes).concat()].concat();
    bytes.extend(hash(&bytes).to_le_bytes());
    bytes
}

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) lies: Arc<LazyPieces>,
    pub(super) number: u64,
    pub(super) table: SegmentTable,
    /// The length of the file in bytes.
    pub(super) bytes: u64,
    /// The use of each record.
    pub(super) uses: Vec<RecordUse>,
    /// The sessions shown before their files were checked, by record.
    pub(super) shown: Vec<Option<SharedDigest>>,
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

impl SegmentTable {
    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = postcard::to_allocvec(&self.records).map_err(io::Error::other)?;
        bytes.extend(&self.digests);
        Ok(bytes)
    }

    fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let (records, digests) = postcard::take_from_bytes(&bytes).ok()?;
        Some(Self { records, from: bytes.len() - digests.len(), digests: bytes })
    }

    /// Returns the serialized digest of a record, or `None` if it is missing.
    pub(super) fn digest(&self, record: &SegmentRecord) -> Option<&[u8]> {
        let (from, len) = record.digest;
        self.digests.get(self.from + from as usize..)?.get(..len as usize)
    }

    /// Appends a digest and returns its place.
    ///
    /// # Errors
    /// There are too many digests.
    pub(super) fn push(&mut self, digest: &[u8]) -> io::Result<(u32, u32)> {
        let too_many = |_| io::ErrorKind::FileTooLarge;
        let place =
            (u32::try_from(self.digests.len()).map_err(too_many)?, u32::try_from(digest.len()).map_err(too_many)?);
        self.digests.extend(digest);
        Ok(place)
    }
}

impl Segment {
    /// Opens a segment with this content that adds to the given segment. Returns `None` if there is no trustworthy one.
    pub(super) fn open(path: &Path, of: u64, adds_to: u64, home: &Arc<str>) -> Option<Self> {
        let (pieces, [is_of, number, is_added_to, _, at, len, table_hash]) = head(path)?;
        if is_of != of || is_added_to != adds_to {
            return None;
        }
        let metadata = pieces.0.metadata().ok()?;
        let bytes = metadata.len();
        if len > MOST_TABLE || at.checked_add(len) != Some(bytes) {
            return None;
        }
        let mut table = vec![0; usize::try_from(len).ok()?];
        pieces.read_at(at, &mut table).ok()?;
        if hash(&table) != table_hash {
            return None;
        }
        let table = SegmentTable::from_bytes(table)?;
        if let Ok(written) = metadata.modified()
            && let Ok(age) = written.elapsed()
            && age > USED
        {
            let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(written + age));
        }
        let places: Vec<_> = table.records.iter().map(|record| (record.details, record.texts)).collect();
        let (uses, shown) = (vec![RecordUse::Past; places.len()], vec![None; places.len()]);
        let lies = Arc::new(LazyPieces { pieces: Arc::new(pieces), places, home: home.clone() });
        Some(Self { lies, number, table, bytes, uses, shown })
    }

    /// Returns the serialized digest, details, texts and state of a session, or `None` if they are damaged.
    pub(super) fn read<'a>(&'a self, record: &SegmentRecord, rooms: &'a mut [Vec<u8>; 3]) -> Option<[&'a [u8]; 4]> {
        let [one, two, three] = rooms;
        let (digest, pieces) = (self.table.digest(record)?, &self.lies.pieces);
        let state = record.state.map_or(Some(&[][..]), |state| pieces.read(state, three))?;
        Some([digest, pieces.read(record.details, one)?, pieces.read(record.texts, two)?, state])
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

/// The pieces of a file.
#[derive(Debug)]
pub(super) struct SegmentPieces(File);

impl SegmentPieces {
    /// Reads a piece into a buffer. Returns its bytes unless they cannot be read or are damaged.
    pub(super) fn read<'a>(&self, piece: SegmentPiece, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        room.resize(HASH + piece.len as usize, 0);
        self.read_at(piece.at, room).ok()?;
        let (written, bytes) = room.split_first_chunk()?;
        (hash(bytes) == u64::from_le_bytes(*written)).then_some(bytes)
    }

    /// Deserializes a piece.
    pub(super) fn get<T: DeserializeOwned>(&self, piece: SegmentPiece) -> Option<T> {
        postcard::from_bytes(self.read(piece, &mut Vec::new())?).ok()
    }

    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<()> {
        system::files::read_exact_at(&self.0, to, at)
    }
}

/// The details and texts of sessions in an index file.
#[derive(Debug)]
pub(super) struct LazyPieces {
    pub(super) pieces: Arc<SegmentPieces>,
    /// The places of the details and texts of each session.
    pub(super) places: Vec<(SegmentPiece, SegmentPiece)>,
    pub(super) home: Arc<str>,
}

impl LazyPieces {
    fn place(&self, number: u32) -> Option<(SegmentPiece, SegmentPiece)> {
        self.places.get(number as usize).copied()
    }
}

impl DetailsSource for LazyPieces {
    fn details(&self, number: u32, path: &Path) -> Details {
        let kept = self.place(number).and_then(|(details, _)| self.pieces.get(details));
        kept.unwrap_or_else(|| {
            let options = ScanOptions::default();
            let read = digest::read(&self.home, (path, 0), options, &mut Vec::new(), || false);
            let read = read.ok().flatten().map(|session| (**session.digest.details()).clone());
            read.unwrap_or_default() // treated as missing
        })
    }

    fn texts<'a>(&self, number: u32, room: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        let (_, texts) = self.place(number)?;
        let TextBuffers { bytes, starts } = room;
        SearchTexts::from_bytes(self.pieces.read(texts, bytes)?, starts)
    }
}

/// A segment being written as a draft. It is removed on drop unless it is finished.
#[derive(Debug)]
pub(super) struct SegmentDraft {
    file: File,
    path: PathBuf,
    /// The time at which it was started, as a file version.
    pub(super) begun: FileVersion,
    dir: u64,
    /// The number of bytes written.
    pub(super) end: u64,
    is_whole: bool,
}

impl SegmentDraft {
    /// Starts a segment of a session directory that will replace `path`.
    ///
    /// # Errors
    /// The draft cannot be created.
    pub(super) fn begin(path: &Path, dir: &Path) -> io::Result<Self> {
        create::private_folder(path.parent().unwrap_or(Path::new("")))?;
        let (file, path) = create::locked_draft(path)?;
        let dir = dir.as_os_str().as_encoded_bytes();
        let (begun, length) = (FileVersion::default(), dir.len() as u64);
        let mut draft = Self { file, path, begun, dir: length, end: HEAD as u64 + length, is_whole: false };
        draft.file.write_all(&[&[0; HEAD], dir].concat())?;
        draft.begun = FileVersion::new(&draft.file.metadata()?, &draft.path);
        Ok(draft)
    }

    /// Opens the pieces written so far.
    ///
    /// # Errors
    /// No file handles are left.
    pub(super) fn pieces(&self) -> io::Result<SegmentPieces> {
        self.file.try_clone().map(SegmentPieces)
    }

    /// Appends pieces and returns their places.
    ///
    /// # Errors
    /// The pieces cannot be written.
    pub(super) fn add<const N: usize>(&mut self, pieces: [&[u8]; N]) -> io::Result<[SegmentPiece; N]> {
        let mut bytes = Vec::with_capacity(pieces.iter().map(|piece| HASH + piece.len()).sum());
        let mut places = [SegmentPiece::default(); N];
        for (place, piece) in places.iter_mut().zip(pieces) {
            let len = u32::try_from(piece.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
            *place = SegmentPiece { at: self.end + bytes.len() as u64, len };
            bytes.extend(hash(piece).to_le_bytes());
            bytes.extend(piece);
        }
        self.file.write_all(&bytes)?;
        self.end += bytes.len() as u64;
        Ok(places)
    }

    /// Writes the table and replaces `path` by the draft. `of` and `adds_to` are as for [`Segment::open`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self, table: &SegmentTable, path: &Path, (of, adds_to): (u64, u64)) -> io::Result<()> {
        let table = table.to_bytes()?;
        self.file.write_all(&table)?;
        let number = getrandom::u64().map_err(io::Error::other)?.max(1);
        let header = [of, number, adds_to, self.dir, self.end, table.len() as u64, hash(&table)];
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header_bytes(header))?;
        let _ = self.file.unlock(); // on Windows, a lock prevents reading
        fs::rename(&self.path, path)?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for SegmentDraft {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = fs::remove_file(&self.path);
        }
    }
}
