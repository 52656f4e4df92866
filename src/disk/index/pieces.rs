//! The file of a segment: a header, pieces of data, and a table at the end.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::base::sort;
use crate::disk::create;
use crate::disk::fingerprint::{ContentHash, FileVersion, hash};
use crate::disk::index::record::{half, word};
use crate::disk::new_file::Draft;
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

/// The pieces of a file in the segment: a header with a hash, the digest after it, and elsewhere the other pieces one
/// after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordPieces {
    /// The offset of the header.
    pub(super) at: u64,
    /// The bytes of the session file that were read.
    pub(super) content: ContentHash,
    /// The offset of the pieces after the digest.
    others: u64,
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
const PIECES_HEAD: usize = HASH + 3 * 8 + KINDS * 4;

impl RecordPieces {
    /// Serializes the header: a hash, the content, the offset of the other pieces, and the lengths.
    fn to_bytes(self) -> Vec<u8> {
        let (read, hash_of) = self.content.parts();
        let numbers = [read, hash_of, self.others].map(u64::to_le_bytes).concat();
        let bytes = [&numbers[..], &self.lens.map(u32::to_le_bytes).concat()];
        let bytes = bytes.concat();
        [&hash(&bytes).to_le_bytes()[..], &bytes].concat()
    }

    /// Reads the header at an offset, or returns `None` if it is damaged.
    fn from_bytes(at: u64, bytes: &[u8; PIECES_HEAD]) -> Option<Self> {
        let content = ContentHash::of_parts(word(bytes, 1), word(bytes, 2));
        (hash(&bytes[HASH..]) == word(bytes, 0)).then(|| Self {
            at,
            content,
            others: word(bytes, 3),
            lens: std::array::from_fn(|kind| half(bytes, 8 + kind)),
        })
    }

    /// Returns the place of a piece.
    pub(super) fn piece(self, kind: PieceKind) -> SegmentPiece {
        let (digest, others) = (self.lens[0], &self.lens[1..]);
        let Some(before) = (kind as usize).checked_sub(1) else {
            return SegmentPiece { at: self.at.saturating_add(PIECES_HEAD as u64), len: digest };
        };
        let skipped = others[..before].iter().map(|&len| HASH as u64 + u64::from(len)).sum::<u64>();
        SegmentPiece { at: self.others.saturating_add(skipped), len: others[before] }
    }

    /// Returns the ranges of the pieces in the file: the digest, and the others.
    pub(super) fn ranges(self) -> [Range<u64>; 2] {
        let digest = self.piece(PieceKind::Digest);
        [digest.at..digest.end(), self.others..self.piece(PieceKind::Sums).end()]
    }

    /// Returns the size in bytes.
    pub(super) fn bytes(self) -> u64 {
        PIECES_HEAD as u64 + self.ranges().iter().map(|range| range.end - range.start).sum::<u64>()
    }
}

/// The number of bytes that are read at first for the header and the digest, which are shorter in most sessions.
const FIRST_READ: usize = 2048;

/// The maximum distance in bytes of pieces whose digests are read together.
const MAX_GAP: u64 = 4096;

/// The minimum and maximum number of bytes reserved for the headers and digests of a group of sessions.
const GROUP: Range<usize> = 1 << 12..1 << 16;

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

    /// Reads the digests in the pieces at some offsets into a reusable buffer, and calls a function with each, in the
    /// order of the offsets. Digests near each other are read with one system call.
    pub(super) fn digests<T: DeserializeOwned>(
        &self,
        offsets: &[u64],
        room: &mut Vec<u8>,
        mut each: impl FnMut(usize, Option<T>),
    ) {
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        sort::by_key(&mut order, |&at| offsets[at]);
        let (mut places, mut end) = (vec![0..0; offsets.len()], 0);
        for near in order.chunk_by(|&a, &b| offsets[b] - offsets[a] <= MAX_GAP) {
            let (first, last) = (offsets[near[0]], offsets[near[near.len() - 1]]);
            let start = end;
            let bytes = &mut buffer(room, start + (last - first) as usize + FIRST_READ)[start..];
            if self.read_at(first, bytes).is_ok() {
                end += bytes.len();
                near.iter().for_each(|&at| places[at] = start + (offsets[at] - first) as usize..end);
            }
        }
        for (at, (&offset, place)) in offsets.iter().zip(places).enumerate() {
            let digest = digest_in(&room[place], offset);
            // It can be longer, or at the end of the file.
            each(at, digest.or_else(|| self.get(self.header(offset)?.piece(PieceKind::Digest))));
        }
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
        system::files::write_all_at(&self.0, bytes, at)
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

/// Deserializes the digest at the start of some bytes, the pieces at an offset. Returns `None` if it is damaged or not
/// complete there.
fn digest_in<T: DeserializeOwned>(bytes: &[u8], offset: u64) -> Option<T> {
    let header = RecordPieces::from_bytes(offset, bytes.first_chunk()?)?;
    let len = header.lens[PieceKind::Digest as usize] as usize;
    postcard::from_bytes(verified(bytes[PIECES_HEAD..].get(..HASH + len)?)?).ok()
}

/// Returns the bytes of a piece after its hash, unless they are damaged.
fn verified(piece: &[u8]) -> Option<&[u8]> {
    let (written, bytes) = piece.split_first_chunk()?;
    (hash(bytes) == u64::from_le_bytes(*written)).then_some(bytes)
}

/// The length in bytes from which a piece is not copied to write it together with others.
const LONG_PIECE: usize = 1 << 20;

/// A segment being written as a draft. It is removed on drop unless it is finished.
///
/// The headers and digests of a group of sessions precede their other pieces, because lists need nothing else.
#[derive(Debug)]
pub(super) struct SegmentDraft {
    pieces: Arc<SegmentPieces>,
    file: Draft,
    /// The time at which it was started, as a file version.
    pub(super) begun: FileVersion,
    /// The offset after the bytes written and reserved.
    pub(super) end: u64,
    group: DigestGroup,
}

/// The headers and digests of the last group, which are not written yet.
#[derive(Debug, Default)]
struct DigestGroup {
    bytes: Vec<u8>,
    /// Their offset.
    at: u64,
    /// The number of bytes reserved for them.
    reserved: usize,
}

impl SegmentDraft {
    /// Starts a segment in the directory of a list of segments.
    ///
    /// # Errors
    /// The draft cannot be created.
    pub(super) fn begin(list: &Path) -> io::Result<Self> {
        create::private_folder(list.parent().unwrap_or(Path::new("")))?;
        let file = Draft::of(list)?;
        let pieces = Arc::new(SegmentPieces(file.file.try_clone()?));
        let (begun, group) = (FileVersion::default(), DigestGroup::default());
        let mut draft = Self { pieces, file, begun, end: HEAD as u64, group };
        draft.pieces.write_at(0, &[0; HEAD])?;
        draft.begun = FileVersion::new(&draft.pieces.0.metadata()?, draft.file.path());
        Ok(draft)
    }

    /// Returns the pieces written so far, without digests.
    pub(super) fn pieces(&self) -> &Arc<SegmentPieces> {
        &self.pieces
    }

    /// Appends the pieces of a session whose content was read, and returns them.
    ///
    /// # Errors
    /// The pieces cannot be written.
    pub(super) fn add(&mut self, content: ContentHash, pieces: [&[u8]; KINDS]) -> io::Result<RecordPieces> {
        let [digest, others @ ..] = pieces;
        let len = PIECES_HEAD + HASH + digest.len();
        if self.group.bytes.len() + len > self.group.reserved {
            self.begin_group(len)?;
        }
        let mut header = RecordPieces { others: self.end, content, ..RecordPieces::default() };
        for (len, piece) in header.lens.iter_mut().zip(pieces) {
            *len = u32::try_from(piece.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(header.bytes()).unwrap_or(usize::MAX).min(LONG_PIECE));
        for piece in others {
            bytes.extend(hash(piece).to_le_bytes());
            if piece.len() < LONG_PIECE {
                bytes.extend(piece);
            } else {
                self.add_bytes(&bytes)?;
                self.add_bytes(piece)?;
                bytes.clear();
            }
        }
        self.add_bytes(&bytes)?;
        let DigestGroup { bytes, at, .. } = &mut self.group;
        header.at = *at + bytes.len() as u64;
        bytes.extend(header.to_bytes());
        bytes.extend(hash(digest).to_le_bytes());
        bytes.extend(digest);
        Ok(header)
    }

    /// Writes the headers and digests of the last group, and reserves at least `least` bytes for the next one. Groups
    /// grow, so that a segment of one session reserves little.
    fn begin_group(&mut self, least: usize) -> io::Result<()> {
        self.end_group()?;
        self.group.at = self.end;
        self.group.reserved = (2 * self.group.reserved).clamp(GROUP.start, GROUP.end).max(least);
        self.end += self.group.reserved as u64;
        Ok(())
    }

    fn end_group(&mut self) -> io::Result<()> {
        self.pieces.write_at(self.group.at, &self.group.bytes)?;
        self.group.bytes.clear();
        Ok(())
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
        self.pieces.write_at(self.end, bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Writes the table, and renames the draft to `path`, the path of segment `number`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self, table: &[u8], path: &Path, (of, number): (u64, u64)) -> io::Result<()> {
        self.end_group()?;
        self.pieces.write_at(self.end, table)?;
        let (table_len, table_hash) = (table.len() as u64, hash(table));
        let (pieces_end, longest_table, table) = (self.end, table_len, self.end);
        let is_removing = 0;
        let header = SegmentHeader { of, number, pieces_end, longest_table, table, table_len, table_hash, is_removing };
        self.pieces.write_at(0, &header.to_bytes())?;
        // Until it has its name, the lock protects it from cleanups.
        self.file.replace(path)?;
        let _ = self.pieces.0.unlock(); // readers have no use for it
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length of a digest: short, longer than the first read, or longer than a group.
    fn len() -> impl Strategy<Value = usize> {
        prop_oneof![4 => 0..900_usize, 1 => 1900..5000_usize, 1 => Just(GROUP.end + 7)]
    }

    proptest! {
        #[test]
        fn pieces_are_read_as_written(
            lens in proptest::collection::vec((len(), 0..9000_usize), 1..120),
            from in any::<usize>(),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut draft = SegmentDraft::begin(&dir.path().join("index")).unwrap();
            let digest = |at: usize| vec![at as u8; lens[at].0];
            let mut written = Vec::new();
            for (at, (_, len)) in lens.iter().enumerate() {
                let digest = postcard::to_allocvec(&digest(at)).unwrap();
                let texts = vec![at as u8; *len];
                let pieces: [&[u8]; KINDS] = [&digest, b"details", &texts, b"", b"stats", b"sums"];
                let places = draft.add(ContentHash::default(), pieces).unwrap();
                let mut room = Vec::new();
                prop_assert_eq!(draft.pieces().read(places.piece(PieceKind::Texts), &mut room), Some(&*texts));
                written.push(places);
            }
            let path = dir.path().join("segment");
            draft.finish(b"table", &path, (1, 2)).unwrap();
            let pieces = SegmentPieces(File::options().read(true).write(true).open(&path).unwrap());
            let order: Vec<usize> = (0..lens.len()).map(|at| (at * 7 + from % 1000) % lens.len()).collect();
            let offsets: Vec<u64> = order.iter().map(|&at| written[at].at).collect();
            let expected: Vec<Option<Vec<u8>>> = order.iter().map(|&at| Some(digest(at))).collect();
            let mut room = Vec::new();
            let mut read = |offsets: &[u64]| {
                let mut read = Vec::new();
                pieces.digests(offsets, &mut room, |at, digest: Option<Vec<u8>>| read.push((at, digest)));
                assert!(read.iter().enumerate().all(|(place, (at, _))| place == *at));
                read.into_iter().map(|(_, digest)| digest).collect::<Vec<_>>()
            };
            prop_assert_eq!(read(&offsets), expected);
            let removed = from % lens.len();
            for range in written[removed].ranges() {
                pieces.overwrite(range.start, range.end).unwrap();
            }
            for (at, places) in written.iter().enumerate() {
                prop_assert_eq!(pieces.header(places.at), Some(*places));
                prop_assert_eq!(read(&[places.at]), [Some(digest(at)).filter(|_| at != removed)]);
                let sums = pieces.read(places.piece(PieceKind::Sums), &mut Vec::new()).map(<[u8]>::to_vec);
                prop_assert_eq!(sums, Some(b"sums".to_vec()).filter(|_| at != removed));
            }
        }
    }
}
