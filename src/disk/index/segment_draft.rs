//! A segment being written as a draft. It is removed on drop unless it is finished.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::disk::create;
use crate::disk::fingerprint::{ContentHash, FileVersion};
use crate::disk::index::filter::{FilterBlock, FilterDraft};
use crate::disk::index::segment_file::{KINDS, Piece, SegmentFile, SessionPieces, push_piece};
use crate::disk::index::table::{FilePlace, Row, SegmentTable};
use crate::disk::new_file::Draft;
use crate::session::digest::Digest;
use crate::session::digest::details::LazyDetails;
use crate::session::digest::facts::SessionFacts;

/// The number of bytes of pieces that are written together.
const BUFFER: usize = 1 << 16;

/// The length of a header in bytes.
const HEADER: usize = 6 * 8;

/// A file to add.
#[derive(Clone, Copy, Default)]
pub(super) struct Addition<'a> {
    pub(super) stamp: FileVersion,
    /// `true` if every later change of the file would change its version. `None` if it was read since the draft was begun.
    pub(super) is_settled: Option<bool>,
    /// The path below the session directory, if it is the only path of the file.
    pub(super) place: Option<FilePlace<'a>>,
    pub(super) content: ContentHash,
    /// The facts about the session; `None` for a file that is not a session.
    pub(super) facts: Option<SessionFacts<'a>>,
    /// The serialized digest.
    pub(super) digest: &'a [u8],
    /// The other serialized pieces: see [`super::segment_file::PieceKind`].
    pub(super) pieces: [&'a [u8]; KINDS],
    /// The keys of the texts and titles.
    pub(super) keys: &'a [u16],
}

/// A segment being written.
#[derive(Debug)]
pub(super) struct SegmentDraft {
    file: Arc<SegmentFile>,
    draft: Draft,
    /// The time at which it was begun, as a file version.
    begun: FileVersion,
    /// The number of bytes written.
    pub(super) end: u64,
    /// Pieces to be written after these bytes.
    buffer: Vec<u8>,
    /// The digests of the last rows. Digests are written in groups, because lists need nothing else.
    digests: Vec<u8>,
    /// The first of these rows.
    group: usize,
    pub(super) table: SegmentTable,
    filter: FilterDraft,
}

impl SegmentDraft {
    /// Begins a segment in the directory of a list of segments.
    ///
    /// # Errors
    /// The draft cannot be created.
    pub(super) fn begin(list: &Path, home: &Arc<str>) -> io::Result<Self> {
        create::private_folder(list.parent().unwrap_or(Path::new("")))?;
        let draft = Draft::of(list)?;
        let file = Arc::new(SegmentFile::new(draft.file.try_clone()?, home));
        file.write_at(0, &[0; HEADER])?;
        let begun = FileVersion::new(&draft.file.metadata()?, draft.path());
        let (table, filter, end) = (SegmentTable::default(), FilterDraft::default(), HEADER as u64);
        Ok(Self { file, draft, begun, end, buffer: Vec::new(), digests: Vec::new(), group: 0, table, filter })
    }

    /// Writes a file, and returns the details as read from there. Returns `None` if a text of the table is too long.
    ///
    /// # Errors
    /// The pieces cannot be written.
    pub(super) fn add(&mut self, addition: &Addition<'_>) -> io::Result<Option<LazyDetails>> {
        let &Addition { stamp, is_settled, place, content, facts, digest, pieces, keys } = addition;
        let is_settled = is_settled.unwrap_or_else(|| stamp.is_settled(&self.begun));
        let at = self.end;
        let row = Row {
            pieces: at,
            digest: self.digests.len() as u64,
            digest_len: u32::try_from(digest.len()).map_err(|_| io::ErrorKind::FileTooLarge)?,
            number: self.table.len() as u32,
            ..Row::new(&stamp, is_settled, facts.as_ref())
        };
        let none = Digest::default();
        if !self.table.push(row, stamp.file.0, place, &facts.unwrap_or_else(|| none.facts())) {
            return Ok(None);
        }
        self.put(&SessionPieces::header(content, pieces))?;
        for piece in pieces {
            self.put(piece)?;
        }
        self.flush()?;
        push_piece(&mut self.digests, digest);
        if self.digests.len() > BUFFER {
            self.end_group()?;
        }
        if self.filter.push(keys) {
            self.end_block()?;
        }
        Ok(Some(LazyDetails::stored(self.file.clone(), at)))
    }

    /// Appends a piece. Those that are long are not copied.
    fn put(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.len() > BUFFER {
            self.flush()?;
            self.end = self.file.write(self.end, piece)?;
            return Ok(());
        }
        push_piece(&mut self.buffer, piece);
        if self.buffer.len() > BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_at(self.end, &self.buffer)?;
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the digests of the last group.
    fn end_group(&mut self) -> io::Result<()> {
        self.file.write_at(self.end, &self.digests)?;
        self.table.move_digests(self.group, self.end);
        self.end += self.digests.len() as u64;
        self.digests.clear();
        self.group = self.table.len();
        Ok(())
    }

    /// Writes a block of the filter.
    fn end_block(&mut self) -> io::Result<()> {
        let filter = std::mem::take(&mut self.filter);
        let sessions = filter.sessions;
        let (directory, lists) = filter.build();
        let directory_piece = Piece { at: self.end, len: directory.len() as u64 };
        let lists_at = self.file.write(self.end, &directory)?;
        self.file.write_at(lists_at, &lists)?;
        self.end = lists_at + lists.len() as u64;
        self.table.push_block(FilterBlock { sessions, directory: directory_piece });
        Ok(())
    }

    /// Writes the rest, and gives the file its name.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self, path: &Path) -> io::Result<()> {
        self.end_group()?;
        self.end_block()?;
        self.table.with_rows(|_| true).write(&self.file, self.end, None)?;
        // Until it has its name, the lock protects it from cleanups.
        let unlocked = self.draft.file.try_clone()?;
        self.draft.replace(path)?;
        let _ = unlocked.unlock(); // readers have no use for it
        Ok(())
    }
}
