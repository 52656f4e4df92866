//! The files of an index. They consist of pieces of bytes, each followed by its hash. Those of segments are pieces of
//! sessions, digests, and parts of filters.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::disk::create;
use crate::disk::digest::{self, ScanOptions};
use crate::disk::files::open_regular;
use crate::disk::fingerprint::{ContentHash, hash};
use crate::session::digest::Digest;
use crate::session::digest::details::{Details, DetailsSource};
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::session::stats::entry_stats::SessionStats;
use crate::session::stats::intervals::SessionSums;
use crate::system;

/// The size of a hash in bytes.
const HASH: usize = size_of::<u64>();

/// The place of a piece in a file. A hash follows its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) at: u64,
    pub(super) len: u64,
}

impl Piece {
    /// Returns the offset after the piece.
    pub(super) fn end(self) -> u64 {
        self.at.saturating_add(self.len).saturating_add(HASH as u64)
    }

    /// Returns the pieces with some lengths, one after another.
    pub(super) fn sequence<const N: usize>(start: u64, lens: [u64; N]) -> [Self; N] {
        let mut at = start;
        lens.map(|len| {
            let piece = Self { at, len };
            at = piece.end();
            piece
        })
    }
}

/// Appends a piece to bytes.
pub(super) fn push_piece(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(bytes);
    to.extend(hash(bytes).to_le_bytes());
}

/// Returns the bytes of a piece before its hash, unless they are damaged.
pub(super) fn verified(piece: &[u8]) -> Option<&[u8]> {
    let (bytes, written) = piece.split_last_chunk()?;
    (hash(bytes) == u64::from_le_bytes(*written)).then_some(bytes)
}

/// Serializes a value. Serialization of the stored types cannot fail.
pub(super) fn bytes(what: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(what).unwrap_or_default()
}

/// The kinds of pieces of a session besides its digest.
#[derive(Clone, Copy, Debug)]
pub(super) enum PieceKind {
    Details,
    Texts,
    State,
    Stats,
    Sums,
}

/// The number of kinds.
pub(super) const KINDS: usize = 5;

/// Serializes the header of the pieces of a session: the content that was read, and the lengths of the pieces.
pub(super) fn session_header(content: ContentHash, pieces: [&[u8]; KINDS]) -> Vec<u8> {
    let (read, hash_of) = content.parts();
    let lens = pieces.map(|piece| piece.len() as u64);
    [read, hash_of].into_iter().chain(lens).flat_map(u64::to_le_bytes).collect()
}

/// An open file of an index, or the draft of one.
#[derive(Debug)]
pub(super) struct SegmentFile {
    pub(super) file: File,
    /// The home directory for reading sessions whose pieces are damaged.
    pub(super) home: Arc<str>,
}

impl SegmentFile {
    /// Opens a file of the index, if it belongs to the user and only they can write to it. Removes read permission for
    /// others.
    pub(super) fn open(path: &Path, home: &Arc<str>) -> Option<Self> {
        let file = open_regular(path, File::options().read(true)).ok()?;
        let is_own = file.metadata().is_ok_and(|metadata| system::files::is_own(&metadata));
        (is_own && create::make_private(&file).is_ok()).then(|| Self { file, home: home.clone() })
    }

    /// Reads bytes at an offset.
    ///
    /// # Errors
    /// They cannot be read.
    pub(super) fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<()> {
        system::files::read_exact_at(&self.file, to, at)
    }

    /// Reads a piece into a buffer. Returns its bytes unless they cannot be read or are damaged.
    pub(super) fn read<'a>(&self, piece: Piece, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let bytes = buffer(room, usize::try_from(piece.len).ok()?.checked_add(HASH)?);
        self.read_at(piece.at, bytes).ok()?;
        verified(bytes)
    }

    /// Reads a piece.
    pub(super) fn read_vec(&self, piece: Piece) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let len = self.read(piece, &mut bytes)?.len();
        bytes.truncate(len);
        Some(bytes)
    }

    /// Reads a piece of numbers.
    pub(super) fn numbers<const N: usize>(&self, at: u64) -> Option<[u64; N]> {
        let bytes = self.read_vec(Piece { at, len: 8 * N as u64 })?;
        let mut numbers = bytes.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number));
        Some(std::array::from_fn(|_| numbers.next().unwrap_or_default()))
    }

    /// Deserializes a piece.
    pub(super) fn get<T: DeserializeOwned>(&self, piece: Piece) -> Option<T> {
        postcard::from_bytes(&self.read_vec(piece)?).ok()
    }

    /// Returns the content that was read of a session, and its pieces besides the digest, given the offset of their header:
    /// see [`PieceKind`]. Returns `None` if the header is damaged.
    pub(super) fn session(&self, at: u64) -> Option<(ContentHash, [Piece; KINDS])> {
        let [read, hash_of, lens @ ..]: [u64; 2 + KINDS] = self.numbers(at)?;
        let header = Piece { at, len: 8 * (2 + KINDS) as u64 };
        Some((ContentHash::of_parts(read, hash_of), Piece::sequence(header.end(), lens)))
    }

    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        system::files::write_all_at(&self.file, bytes, at)
    }

    /// Writes a piece at an offset, and returns the offset after it.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self, at: u64, bytes: &[u8]) -> io::Result<u64> {
        self.write_at(at, bytes)?;
        self.write_at(at + bytes.len() as u64, &hash(bytes).to_le_bytes())?;
        Ok(at + (bytes.len() + HASH) as u64)
    }

    /// Overwrites the digest and the pieces of a session with zeros. The header of the pieces holds no text. It stays, so that
    /// this can be repeated.
    ///
    /// # Errors
    /// The header is damaged, or the file cannot be written.
    pub(super) fn erase(&self, digest: Piece, pieces: u64) -> io::Result<()> {
        let (_, pieces) = self.session(pieces).ok_or(io::ErrorKind::InvalidData)?;
        let zeros = [0; 1 << 12];
        for range in [digest.at..digest.end(), pieces[0].at..pieces[KINDS - 1].end()] {
            for at in range.clone().step_by(zeros.len()) {
                let len = (range.end - at).min(zeros.len() as u64);
                self.write_at(at, &zeros[..len as usize])?;
            }
        }
        Ok(())
    }

    fn get_of_session<T: DeserializeOwned>(&self, at: u64, kind: PieceKind) -> Option<T> {
        self.get(self.session(at)?.1[kind as usize])
    }

    /// Reads a session from its file, modified at `mtime`. A session that cannot be read counts as missing.
    pub(super) fn read_session(&self, path: &Path, mtime: i64) -> Option<Digest> {
        let read = digest::read(&self.home, path, mtime, ScanOptions::default(), &mut Vec::new(), &|| false);
        Some(read.ok()??.digest)
    }
}

/// Reads damaged pieces from the session file.
impl DetailsSource for SegmentFile {
    fn details(&self, at: u64, path: &Path) -> Details {
        let read = || Some((**self.read_session(path, 0)?.details()).clone());
        self.get_of_session(at, PieceKind::Details).or_else(read).unwrap_or_default()
    }

    fn stats(&self, at: u64, path: &Path) -> SessionStats {
        let read = || Some((*self.read_session(path, 0)?.stats()).clone());
        self.get_of_session(at, PieceKind::Stats).or_else(read).unwrap_or_default()
    }

    fn sums(&self, at: u64, path: &Path) -> SessionSums {
        self.get_of_session(at, PieceKind::Sums).unwrap_or_else(|| SessionSums::new(&self.stats(at, path)))
    }

    fn texts<'a>(&self, at: u64, TextBuffers { bytes, starts }: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        SearchTexts::from_bytes(self.read(self.session(at)?.1[PieceKind::Texts as usize], bytes)?, starts)
    }
}

/// Returns a buffer of a length in reusable memory, which is not shortened, because growing again would clear bytes.
pub(super) fn buffer(room: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if room.len() < len {
        room.resize(len, 0);
    }
    &mut room[..len]
}
