//! The file of a segment: a header, pieces of data, and a table at the end.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::disk::create;
use crate::disk::fingerprint::{ContentHash, FileVersion, hash};
use crate::disk::index::record::{half, word};
use crate::system;

/// The magic bytes at the start.
pub(super) const MAGIC: [u8; 8] = *b"pitree-i";

/// The header at the start of the file.
///
/// The table follows the pieces. If records are removed, a smaller table is written, and its predecessor is overwritten.
/// The two places for tables are used alternately: after the pieces, and after the longest table there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    /// The hash of what the index is for: see [`super::Index`].
    pub(super) of: u64,
    /// The number of the segment.
    pub(super) number: u64,
    /// The offset after the pieces: the first place for a table.
    pub(super) pieces_end: u64,
    /// The length of the first table, which is the longest.
    pub(super) longest_table: u64,
    /// The offset of the table.
    pub(super) table: u64,
    pub(super) table_len: u64,
    pub(super) table_hash: u64,
    /// 1 until the table at the other place is overwritten.
    pub(super) is_removing: u64,
}

/// The length of a header in bytes.
pub(super) const HEAD: usize = 10 * 8;

impl SegmentHeader {
    /// Serializes the header: the magic bytes, the numbers, and a hash.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Self { of, number, pieces_end, longest_table, table, table_len, table_hash, is_removing } = self;
        let numbers = [of, number, pieces_end, longest_table, table, table_len, table_hash, is_removing];
        let mut bytes = [MAGIC.to_vec(), numbers.map(u64::to_le_bytes).concat()].concat();
        bytes.extend(hash(&bytes).to_le_bytes());
        bytes
    }

    /// Reads the header of a file, or returns `None` if it is damaged or no header.
    pub(super) fn read(pieces: &SegmentPieces) -> Option<Self> {
        let mut bytes = [0; HEAD];
        pieces.read_at(0, &mut bytes).ok()?;
        let number = |at: usize| word(&bytes, 1 + at);
        let header = Self {
            of: number(0),
            number: number(1),
            pieces_end: number(2),
            longest_table: number(3),
            table: number(4),
            table_len: number(5),
            table_hash: number(6),
            is_removing: number(7),
        };
        (header.to_bytes() == bytes && header.table_places().contains(&header.table)).then_some(header)
    }

    /// Returns the two offsets at which a table can be.
    fn table_places(self) -> [u64; 2] {
        [self.pieces_end, self.pieces_end.saturating_add(self.longest_table)]
    }

    /// Returns the place that the table does not use.
    pub(super) fn other_place(self) -> u64 {
        let [first, second] = self.table_places();
        if self.table == first { second } else { first }
    }

    /// Returns the header with a table at the other place.
    pub(super) fn with_table(self, table: &[u8]) -> Self {
        let (table_len, table_hash) = (table.len() as u64, hash(table));
        Self { table: self.other_place(), table_len, table_hash, is_removing: 1, ..self }
    }
}

/// The place of a piece in a file. A hash precedes its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentPiece {
    pub(super) at: u64,
    pub(super) len: u32,
}

/// The size of a hash in bytes.
pub(super) const HASH: usize = size_of::<u64>();

impl SegmentPiece {
    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the offset after the piece.
    pub(super) fn end(self) -> u64 {
        self.at.saturating_add(HASH as u64 + u64::from(self.len))
    }
}

/// The number of pieces of a session.
pub(super) const KINDS: usize = 6;

/// The pieces of a file in the segment: a header with a hash, and the pieces one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordPieces {
    /// The offset of the header.
    at: u64,
    /// The bytes of the session file that were read.
    pub(super) content: ContentHash,
    /// The lengths of the pieces: see [`PieceKind`].
    lens: [u32; KINDS],
}

/// The kinds of pieces of a session, in their order in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum PieceKind {
    Digest,
    Details,
    Texts,
    State,
    Stats,
    Sums,
}

/// The length of the header of the pieces in bytes.
const PIECES_HEAD: usize = HASH + 2 * 8 + KINDS * 4;

impl RecordPieces {
    /// Serializes the header: a hash, the content, and the lengths.
    fn to_bytes(self) -> Vec<u8> {
        let (read, hash_of) = self.content.parts();
        let bytes = [&[read, hash_of].map(u64::to_le_bytes).concat()[..], &self.lens.map(u32::to_le_bytes).concat()];
        let bytes = bytes.concat();
        [&hash(&bytes).to_le_bytes()[..], &bytes].concat()
    }

    /// Reads the header at an offset, or returns `None` if it is damaged.
    fn from_bytes(at: u64, bytes: &[u8; PIECES_HEAD]) -> Option<Self> {
        let content = ContentHash::of_parts(word(bytes, 1), word(bytes, 2));
        (hash(&bytes[HASH..]) == word(bytes, 0)).then(|| Self {
            at,
            content,
            lens: std::array::from_fn(|kind| half(bytes, 6 + kind)),
        })
    }

    /// Returns the place of a piece.
    pub(super) fn piece(self, kind: PieceKind) -> SegmentPiece {
        let before = self.lens[..kind as usize].iter().map(|&len| HASH as u64 + u64::from(len)).sum::<u64>();
        SegmentPiece { at: self.start().saturating_add(before), len: self.lens[kind as usize] }
    }

    /// Returns the offset of the first piece.
    pub(super) fn start(self) -> u64 {
        self.at.saturating_add(PIECES_HEAD as u64)
    }

    /// Returns the offset after the last piece.
    pub(super) fn end(self) -> u64 {
        self.piece(PieceKind::Sums).end()
    }

    /// Returns the size in bytes.
    pub(super) fn bytes(self) -> u64 {
        self.end() - self.at
    }
}

/// The number of bytes that are read at first for the header and the digest, which is shorter in most sessions.
const FIRST_READ: usize = 2048;

/// The pieces of a file.
#[derive(Debug)]
pub(super) struct SegmentPieces(pub(super) File);

impl SegmentPieces {
    /// Reads a piece into a buffer. Returns its bytes unless they cannot be read or are damaged.
    pub(super) fn read<'a>(&self, piece: SegmentPiece, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let bytes = buffer(room, HASH + piece.len as usize);
        self.read_at(piece.at, bytes).ok()?;
        verified(bytes)
    }

    /// Reads the header of the pieces at an offset. Returns `None` if it cannot be read or is damaged.
    pub(super) fn header(&self, at: u64) -> Option<RecordPieces> {
        let mut bytes = [0; PIECES_HEAD];
        self.read_at(at, &mut bytes).ok()?;
        RecordPieces::from_bytes(at, &bytes)
    }

    /// Reads the digest in the pieces at an offset, with one system call for most sessions.
    pub(super) fn digest<T: DeserializeOwned>(&self, at: u64) -> Option<T> {
        let mut first = [0; FIRST_READ];
        if self.read_at(at, &mut first).is_ok() {
            let header = RecordPieces::from_bytes(at, first.first_chunk()?)?;
            let len = header.lens[PieceKind::Digest as usize] as usize;
            if let Some(piece) = first[PIECES_HEAD..].get(..HASH + len) {
                return postcard::from_bytes(verified(piece)?).ok();
            }
        }
        self.get(self.header(at)?.piece(PieceKind::Digest))
    }

    /// Deserializes a piece.
    pub(super) fn get<T: DeserializeOwned>(&self, piece: SegmentPiece) -> Option<T> {
        postcard::from_bytes(self.read(piece, &mut Vec::new())?).ok()
    }

    pub(super) fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<()> {
        system::files::read_exact_at(&self.0, to, at)
    }

    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = &self.0;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    /// Overwrites all bytes from one offset to another with zeros.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn overwrite(&self, from: u64, to: u64) -> io::Result<()> {
        let zeros = vec![0; to.saturating_sub(from).min(1 << 16) as usize];
        let mut at = from;
        while at < to {
            let len = (to - at).min(zeros.len() as u64);
            self.write_at(at, &zeros[..len as usize])?;
            at += len;
        }
        Ok(())
    }
}

/// Returns a buffer of a length in reusable memory, which is not shortened, because growing again would clear bytes.
pub(super) fn buffer(room: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if room.len() < len {
        room.resize(len, 0);
    }
    &mut room[..len]
}

/// Returns the bytes of a piece after its hash, unless they are damaged.
fn verified(piece: &[u8]) -> Option<&[u8]> {
    let (written, bytes) = piece.split_first_chunk()?;
    (hash(bytes) == u64::from_le_bytes(*written)).then_some(bytes)
}

/// The length in bytes from which a piece is not copied to write it together with others.
const LONG_PIECE: usize = 1 << 20;

/// A segment being written as a draft. It is removed on drop unless it is finished.
#[derive(Debug)]
pub(super) struct SegmentDraft {
    file: File,
    path: PathBuf,
    /// The time at which it was started, as a file version.
    pub(super) begun: FileVersion,
    /// The number of bytes written.
    pub(super) end: u64,
    is_whole: bool,
}

impl SegmentDraft {
    /// Starts a segment in the directory of a list of segments.
    ///
    /// # Errors
    /// The draft cannot be created.
    pub(super) fn begin(list: &Path) -> io::Result<Self> {
        create::private_folder(list.parent().unwrap_or(Path::new("")))?;
        let (file, path) = create::locked_draft(list)?;
        let mut draft = Self { file, path, begun: FileVersion::default(), end: HEAD as u64, is_whole: false };
        draft.file.write_all(&[0; HEAD])?;
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

    /// Appends the pieces of a session whose content was read. Returns their offset.
    ///
    /// # Errors
    /// The pieces cannot be written.
    pub(super) fn add(&mut self, content: ContentHash, pieces: [&[u8]; KINDS]) -> io::Result<u64> {
        let mut header = RecordPieces { at: self.end, content, lens: [0; KINDS] };
        for (len, piece) in header.lens.iter_mut().zip(pieces) {
            *len = u32::try_from(piece.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(header.bytes()).unwrap_or(usize::MAX).min(LONG_PIECE));
        bytes.extend(header.to_bytes());
        for piece in pieces {
            bytes.extend(hash(piece).to_le_bytes());
            if piece.len() < LONG_PIECE {
                bytes.extend(piece);
            } else {
                self.file.write_all(&bytes)?;
                self.file.write_all(piece)?;
                bytes.clear();
            }
        }
        self.file.write_all(&bytes)?;
        self.end = header.end();
        Ok(header.at)
    }

    /// Appends a single piece and returns its place.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn add_piece(&mut self, bytes: &[u8]) -> io::Result<SegmentPiece> {
        let len = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let piece = SegmentPiece { at: self.end, len };
        self.add_bytes(&hash(bytes).to_le_bytes())?;
        self.add_bytes(bytes)?;
        Ok(piece)
    }

    /// Appends bytes that are verified otherwise.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn add_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Writes the table, and renames the draft to `path`, the path of segment `number`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self, table: &[u8], path: &Path, (of, number): (u64, u64)) -> io::Result<()> {
        self.file.write_all(table)?;
        let (table_len, table_hash) = (table.len() as u64, hash(table));
        let (pieces_end, longest_table, table) = (self.end, table_len, self.end);
        let is_removing = 0;
        let header = SegmentHeader { of, number, pieces_end, longest_table, table, table_len, table_hash, is_removing };
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header.to_bytes())?;
        // Until it has its name, the lock protects it from cleanups.
        fs::rename(&self.path, path)?;
        self.is_whole = true;
        let _ = self.file.unlock(); // on Windows, a lock prevents reading
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
