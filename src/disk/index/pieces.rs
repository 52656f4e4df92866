//! The file of a segment: a header, pieces of data, and a table at the end.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::disk::create;
use crate::disk::fingerprint::{FileVersion, hash};
use crate::system;

/// The magic bytes at the start.
pub(super) const MAGIC: [u8; 8] = *b"pitree-i";

/// The numbers of the header at the start of the file:
/// 1. The hash of what the index is for: see [`super::Index`].
/// 2. A unique number.
/// 3. The number of the segment to which this one adds; 0 for none.
/// 4. The length of the path of the session directory. The path follows the header.
/// 5. The offset, the length and the hash of the table (three numbers).
pub(super) type SegmentHeader = [u64; 7];

/// The length of a header in bytes.
pub(super) const HEAD: usize = 9 * 8;

/// Serializes a header: the magic bytes, the numbers, and a hash.
pub(super) fn header_bytes(numbers: SegmentHeader) -> Vec<u8> {
    let mut bytes = [MAGIC.to_vec(), numbers.map(u64::to_le_bytes).concat()].concat();
    bytes.extend(hash(&bytes).to_le_bytes());
    bytes
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

/// The pieces of a file in the segment, one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordPieces {
    /// The offset of the first piece.
    pub(super) at: u64,
    /// The lengths of the digest, the details, the texts and the state.
    pub(super) lens: [u32; 4],
}

/// The pieces of a file.
#[derive(Debug)]
pub(super) struct SegmentPieces(pub(super) File);

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

    pub(super) fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<()> {
        system::files::read_exact_at(&self.0, to, at)
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

    /// Appends the pieces of a session and returns their places.
    ///
    /// # Errors
    /// The pieces cannot be written.
    pub(super) fn add(&mut self, pieces: [&[u8]; 4]) -> io::Result<RecordPieces> {
        let mut bytes = Vec::with_capacity(pieces.iter().map(|piece| HASH + piece.len()).sum());
        let mut places = RecordPieces { at: self.end, lens: [0; 4] };
        for (len, piece) in places.lens.iter_mut().zip(pieces) {
            *len = u32::try_from(piece.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
            bytes.extend(hash(piece).to_le_bytes());
            bytes.extend(piece);
        }
        self.file.write_all(&bytes)?;
        self.end += bytes.len() as u64;
        Ok(places)
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

    /// Writes the table and replaces `path` by the draft. `of` and `adds_to` are as for [`super::segment::Segment::open`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self, table: &[u8], path: &Path, (of, adds_to): (u64, u64)) -> io::Result<()> {
        self.file.write_all(table)?;
        let number = getrandom::u64().map_err(io::Error::other)?.max(1);
        let header = [of, number, adds_to, self.dir, self.end, table.len() as u64, hash(table)];
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
