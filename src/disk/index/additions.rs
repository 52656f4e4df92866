//! Additions to the index: rows with their pieces are written to the draft of a segment.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::disk::create;
use crate::disk::fingerprint::{ContentHash, FileMetadata};
use crate::disk::index::files::IndexFiles;
use crate::disk::index::filter::{FilterBlock, FilterDraft};
use crate::disk::index::segment_file::{KINDS, Piece, PieceKind, SegmentFile, push_piece, session_header};
use crate::disk::index::stored::StoredSessions;
use crate::disk::index::table::{FilePlace, Row, SESSION, SETTLED, Segment, SessionTable};
use crate::disk::new_file::Draft;
use crate::session::digest::Digest;
use crate::session::digest::details::LazyDetails;
use crate::session::digest::facts::SessionFacts;
use crate::session::search_text::SearchTexts;
use crate::session::search_titles::{SearchTitles, TitlesBuf};
use crate::session::trigrams;

/// The number of bytes that are written together.
const BATCH_BYTES: usize = 1 << 16;

/// A file to add.
#[derive(Clone, Copy, Default)]
pub(super) struct Addition<'a> {
    pub(super) stamp: FileMetadata,
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

/// A segment being written. It is removed on drop unless it is finished.
#[derive(Debug)]
pub(super) struct SegmentDraft {
    file: Arc<SegmentFile>,
    draft: Draft,
    /// The time at which it was begun, as a file version.
    begun: FileMetadata,
    /// The number of bytes from which files are omitted. They are earlier than `oldest`, in milliseconds since 1970.
    limit: u64,
    pub(super) oldest: i64,
    /// The number of bytes written.
    pub(super) end: u64,
    /// The digests of the last rows. Digests are written in groups, because lists need nothing else.
    digests: Vec<u8>,
    /// The first of these rows.
    group: usize,
    pub(super) table: SessionTable,
    filter: FilterDraft,
}

impl SegmentDraft {
    /// Begins a segment, which gets little larger than `limit` bytes.
    ///
    /// # Errors
    /// The draft cannot be created.
    pub(super) fn begin(files: &IndexFiles, home: &Arc<str>, limit: u64) -> io::Result<Self> {
        create::private_folder(files.table.parent().unwrap_or(Path::new("")))?;
        let draft = Draft::of(&files.table)?;
        let file = Arc::new(SegmentFile { file: draft.file.try_clone()?, home: home.clone() });
        let begun = FileMetadata::new(&draft.file.metadata()?, draft.path());
        let mut table = SessionTable::default();
        table.shared.segments.push(Segment { number: getrandom::u64().map_err(io::Error::other)?, blocks: Vec::new() });
        let (digests, filter) = (Vec::new(), FilterDraft::default());
        Ok(Self { file, draft, begun, limit, oldest: i64::MIN, end: 0, digests, group: 0, table, filter })
    }

    /// Writes a file, and returns the details as read from there. Returns `None` if the segment is large enough, or if a text
    /// of the table is too long.
    ///
    /// # Errors
    /// The pieces cannot be written.
    pub(super) fn add(&mut self, addition: &Addition<'_>) -> io::Result<Option<LazyDetails>> {
        let &Addition { stamp, is_settled, place, content, facts, digest, pieces, keys } = addition;
        if self.end > self.limit {
            self.oldest = self.oldest.max(stamp.mtime() + 1);
            return Ok(None);
        }
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
        let mut bytes = Vec::new();
        push_piece(&mut bytes, &session_header(content, pieces));
        for piece in pieces {
            if piece.len() > BATCH_BYTES {
                // It is not copied.
                self.append(&std::mem::take(&mut bytes))?;
                self.end = self.file.write(self.end, piece)?;
            } else {
                push_piece(&mut bytes, piece);
            }
        }
        self.append(&bytes)?;
        push_piece(&mut self.digests, digest);
        if self.digests.len() > BATCH_BYTES {
            self.end_group()?;
        }
        if self.filter.push(keys) {
            self.end_block()?;
        }
        Ok(Some(LazyDetails::stored(self.file.clone(), at)))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(self.end, bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Writes the digests of the last group.
    fn end_group(&mut self) -> io::Result<()> {
        self.table.move_digests(self.group, self.end);
        self.group = self.table.len();
        let digests = std::mem::take(&mut self.digests);
        self.append(&digests)
    }

    /// Writes a block of the filter.
    fn end_block(&mut self) -> io::Result<()> {
        let filter = std::mem::take(&mut self.filter);
        let sessions = filter.sessions;
        let (directory, lists) = filter.build();
        let block = FilterBlock { sessions, directory: Piece { at: self.end, len: directory.len() as u64 } };
        self.end = self.file.write(self.end, &directory)?;
        self.append(&lists)?;
        self.table.shared.segments[0].blocks.push(block);
        Ok(())
    }

    /// Writes the rest except for the table, and returns that.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn complete(&mut self) -> io::Result<&SessionTable> {
        self.end_group()?;
        self.end_block()?;
        Ok(&self.table)
    }

    /// Gives the file its name. The caller holds the lock.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub(super) fn finish(self, files: &IndexFiles) -> io::Result<()> {
        self.draft.replace(&files.segment(self.table.shared.segments[0].number))?;
        let _ = self.file.file.unlock(); // readers have no use for it
        Ok(())
    }
}

impl StoredSessions {
    /// Calls a function with the data of a row. Returns `None` if it is damaged.
    pub(super) fn copy<T>(&self, at: usize, put: impl FnOnce(&Addition<'_>) -> T) -> Option<T> {
        let (file, table, row) = (self.segment(at), &self.table, self.table.row(at));
        let (content, pieces) = file.session(row.pieces)?;
        let digest = file.read_vec(row.digest())?;
        let mut read = [const { Vec::new() }; KINDS];
        for (read, piece) in read.iter_mut().zip(pieces) {
            *read = file.read_vec(piece)?;
        }
        let mut starts = Default::default();
        let texts = SearchTexts::from_bytes(&read[PieceKind::Texts as usize], &mut starts).unwrap_or_default();
        Some(put(&Addition {
            stamp: table.stamp(at),
            is_settled: Some(row.has(SETTLED)),
            place: table.place(at),
            content,
            facts: row.has(SESSION).then(|| table.facts(at)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::index::stored::SessionDirs;
    use crate::disk::index::table::SharedData;
    use crate::session::lines::Header;
    use proptest::prelude::*;

    /// The length of a digest: short, longer than the distance up to which others are read together, or than a group.
    fn len() -> impl Strategy<Value = usize> {
        prop_oneof![4 => 0..900_usize, 1 => 1900..5000_usize, 1 => Just(BATCH_BYTES + 7)]
    }

    proptest! {
        #[test]
        fn sessions_are_read_as_written(
            lens in proptest::collection::vec((len(), 0..9000_usize, any::<bool>()), 1..80),
            from in any::<usize>(),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let (files, home) = (IndexFiles::new(dir.path(), dir.path()), Arc::from("/home/me"));
            let mut drafts = [0, 1].map(|_| SegmentDraft::begin(&files, &home, u64::MAX).unwrap());
            let id = |at: usize| format!("{at}-{}", "i".repeat(lens[at].0));
            for (at, (_, len, of)) in lens.iter().enumerate() {
                let header = Header { id: id(at), ..Header::default() };
                let (digest, texts) = (Digest { header, ..Digest::default() }, vec![at as u8; *len]);
                let addition = Addition {
                    stamp: FileMetadata { file: (1, at as u64), ..FileMetadata::default() },
                    facts: Some(digest.facts()),
                    digest: &postcard::to_allocvec(&digest).unwrap(),
                    pieces: [b"details", &texts, b"", b"stats", b"sums"],
                    ..Addition::default()
                };
                let details = drafts[usize::from(*of)].add(&addition).unwrap();
                prop_assert_eq!(details.is_some(), lens[at].0 < 60_000);
            }
            let tables = drafts.each_mut().map(|draft| draft.complete().unwrap());
            let rows = tables.iter().flat_map(|table| (0..table.len()).map(move |at| (*table, at))).collect();
            let table = SessionTable::of_rows(SharedData::default(), rows);
            drafts.into_iter().for_each(|draft| draft.finish(&files).unwrap());
            let dirs = Arc::new(SessionDirs::new(dir.path(), dir.path(), "/home/me"));
            let stored = StoredSessions::open(table, &dirs, &files).unwrap();
            let len = stored.table.len();
            let numbers: Vec<u32> = (0..len as u32).map(|at| (at * 7 + from as u32 % 1000) % len as u32).collect();
            let read = |numbers: &[u32]| {
                let mut read = Vec::new();
                stored.read_digests(numbers, &mut Vec::new(), |number, digest| {
                    read.push((number, digest.map(|digest| digest.header.id)));
                });
                read
            };
            let expected = |at: u32| (at, Some(id(stored.table.stamp(at as usize).file.1 as usize)));
            prop_assert_eq!(read(&numbers), numbers.iter().map(|at| expected(*at)).collect::<Vec<_>>());
            // Erased sessions do not affect others, and can be erased again.
            let removed = numbers.first().map_or(0, |at| *at as usize);
            if len > 0 {
                let path = files.segment(stored.table.segment(removed).number);
                let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
                let (row, file) = (stored.table.row(removed), SegmentFile { file, home });
                (0..2).for_each(|_| file.erase(row.digest(), row.pieces).unwrap());
            }
            for at in 0..len {
                let found = read(&[at as u32]);
                prop_assert_eq!(found, [if at == removed { (at as u32, None) } else { expected(at as u32) }]);
                let texts = stored.segment(at).session(stored.table.row(at).pieces).unwrap();
                let texts = stored.segment(at).read_vec(texts.1[PieceKind::Texts as usize]);
                let file = stored.table.stamp(at).file.1 as usize;
                prop_assert_eq!(texts, Some(vec![file as u8; lens[file].1]).filter(|_| at != removed));
            }
        }
    }
}
