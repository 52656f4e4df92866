//! The table of a segment. Its columns hold a record of fixed size for each file, in order of directory and name, and the
//! strings of all records. The columns stay in memory as they are in the file, so opening an index takes no time per
//! session.

use std::ffi::OsStr;
use std::hash::Hasher;
use std::io;
use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::disk::fingerprint::FileVersion;
use crate::disk::index::columns::{
    COLUMN, CWD, CWDS, DEVICES, FILTER, FOLDER, FOLDERS, FORK, FORKS, MOST_COLUMNS, OTHER_ID, OTHER_IDS, RECORDS,
    ROOTS, STRINGS,
};
use crate::disk::index::filter::FilterBlock;
use crate::disk::index::pieces::{SegmentHeader, SegmentPieces};
use crate::disk::index::record::{self, FilePlace, RECORD, RecordRow, SegmentRecord, TextPlace, half, place, row};
use crate::disk::index::table_draft::TableDraft;
use crate::session::digest::listed::{FactTexts, RootKeys, SessionFacts, StoredTexts, text_at};
use crate::session::links::IdHash;

/// The table of an open segment.
#[derive(Debug, Default)]
pub(super) struct SegmentTable {
    records: Vec<u8>,
    strings: String,
    roots: Vec<u8>,
    devices: Vec<u8>,
    folders: Vec<u8>,
    cwds: Vec<u8>,
    forks: Vec<u8>,
    other_ids: Vec<u8>,
    /// The blocks of the filter, unless it is missing.
    pub(super) blocks: Option<Vec<FilterBlock>>,
    /// The number of records.
    pub(super) len: usize,
}

impl SegmentTable {
    /// Reads the table of a segment. Returns `None` if it cannot be read, has another hash, or is no table.
    pub(super) fn read(pieces: &SegmentPieces, header: &SegmentHeader) -> Option<Self> {
        let mut hasher = XxHash3_64::new();
        let (mut from, end) = (header.table, header.table.checked_add(header.table_len)?);
        let mut part = |len: u64| {
            let next = from.checked_add(len).filter(|next| *next <= end)?;
            let mut bytes = vec![0; usize::try_from(len).ok()?];
            pieces.read_at(from, &mut bytes).ok()?;
            from = next;
            hasher.write(&bytes);
            Some(bytes)
        };
        let count = record::word(&part(8)?, 0);
        let columns = part(count.min(MOST_COLUMNS) * COLUMN as u64)?;
        let mut table = Self::default();
        for column in columns.as_chunks::<COLUMN>().0 {
            // Each column is read into its own memory, because copies of a large table would take long.
            let data = part(record::word(column, 1))?;
            match (half(column, 0), half(column, 1)) {
                RECORDS => table.records = data,
                STRINGS => table.strings = String::from_utf8(data).ok()?,
                ROOTS => table.roots = data,
                FILTER => table.blocks = Some(data.as_chunks().0.iter().map(FilterBlock::from_bytes).collect()),
                DEVICES => table.devices = data,
                FOLDERS => table.folders = data,
                CWDS => table.cwds = data,
                FORKS => table.forks = data,
                OTHER_IDS => table.other_ids = data,
                _ => {}
            }
        }
        table.len = table.records.len() / RECORD;
        (hasher.finish() == header.table_hash).then_some(table)
    }

    /// Serializes the table without some records, and without their strings.
    ///
    /// # Errors
    /// See [`TableDraft::add`].
    pub(super) fn without(&self, is_removed: impl Fn(usize) -> bool) -> io::Result<Vec<u8>> {
        let mut draft = TableDraft::default();
        for at in (0..self.len).filter(|&at| !is_removed(at)) {
            draft.add(self.record(at), self.number(at), self.place(at), &self.facts(at))?;
        }
        draft.to_bytes(self.blocks.as_deref())
    }

    /// Returns the number of records when the segment was written, or `None` if a column is missing.
    pub(super) fn written(&self) -> Option<usize> {
        self.blocks.as_ref().map(|blocks| blocks.iter().map(|block| block.count as usize).sum())
    }

    #[inline]
    fn row(&self, at: usize) -> RecordRow {
        RecordRow::from_bytes(row(&self.records, at))
    }

    /// Returns the number of a session in the filter.
    pub(super) fn number(&self, at: usize) -> u32 {
        self.row(at).number
    }

    /// Returns a record; empty if there is none.
    pub(super) fn record(&self, at: usize) -> SegmentRecord {
        let RecordRow { record, device, .. } = self.row(at);
        let device = record::word(&self.devices, device as usize);
        SegmentRecord { stamp: FileVersion { file: (device, record.stamp.file.1), ..record.stamp }, ..record }
    }

    /// Iterates over the records.
    pub(super) fn records(&self) -> impl Iterator<Item = SegmentRecord> {
        (0..self.len).map(|at| self.record(at))
    }

    fn string(&self, place: TextPlace) -> &str {
        text_at(&self.strings, place)
    }

    /// Returns `true` if the path of a record is known.
    pub(super) fn has_place(&self, at: usize) -> bool {
        self.row(at).folder != record::NO_FOLDER
    }

    /// Returns the path below the session directory, or `None` if it is not the only path of the file.
    pub(super) fn place(&self, at: usize) -> Option<FilePlace<'_>> {
        let row = self.row(at);
        let place = || FilePlace { folder: self.folder(row.folder as usize), name: self.string(row.name()) };
        (row.folder != record::NO_FOLDER).then(place)
    }

    /// Iterates over the directories of the files, by their numbers.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        (0..self.folders.len() / FOLDER).map(|at| self.folder(at))
    }

    /// Returns the number of the directory of a file, or [`record::NO_FOLDER`].
    #[inline]
    pub(super) fn folder_of(&self, at: usize) -> u32 {
        self.row(at).folder
    }

    fn folder(&self, at: usize) -> &str {
        self.string(place(row::<FOLDER>(&self.folders, at), 0))
    }

    /// Returns the records of the files in a directory, given its path below the session directory.
    pub(super) fn records_in(&self, folder: &str) -> Range<usize> {
        let rows = self.folders.as_chunks::<FOLDER>().0;
        let at = rows.partition_point(|row| self.string(place(row, 0)) < folder);
        let found = rows.get(at).filter(|row| self.string(place(*row, 0)) == folder);
        found.map_or(0..0, |row| half(row, 2) as usize..(half(row, 3) as usize).min(self.len))
    }

    /// Finds the record of a file among those in its directory.
    pub(super) fn find(&self, records: &Range<usize>, name: &[u8]) -> Option<usize> {
        let name_of = |at: usize| self.string(self.row(at).name()).as_bytes();
        let (mut low, mut high) = (records.start, records.end);
        while low < high {
            let middle = low.midpoint(high);
            if name_of(middle) < name {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < records.end && name_of(low) == name).then_some(low)
    }

    /// Returns the facts about a session. Its path lacks the directory.
    pub(super) fn facts(&self, at: usize) -> SessionFacts<'_> {
        self.facts_in(Default::default(), at)
    }

    /// Returns the facts about a session in a directory: see [`StoredTexts`].
    pub(super) fn facts_in<'a>(&'a self, dirs: (&'a OsStr, Option<&'a OsStr>), at: usize) -> SessionFacts<'a> {
        // Commands ask for the facts about all sessions several times, so only what is needed is decoded.
        let row = self.row(at);
        let has = |flag: u16| row.flags & flag != 0;
        let id = row.id().or_else(|| found(&self.other_ids, at).map(|row: &[u8; OTHER_ID]| place(row, 1)));
        SessionFacts {
            texts: FactTexts::Stored(StoredTexts {
                dirs,
                all: &self.strings,
                places: [
                    row.name(),
                    id.unwrap_or_default(),
                    place(record::row::<CWD>(&self.cwds, row.cwd as usize), 0),
                ],
                parents: if has(record::PARENT | record::PARENT_ID) { self.parents(at, row.flags) } else { [None; 2] },
            }),
            is_named: has(record::NAMED),
            is_labeled: has(record::LABELED),
            is_committed: has(record::COMMITTED),
            is_cut_off: has(record::CUT_OFF),
            created: has(record::CREATED).then_some(row.created),
            modified: has(record::MODIFIED).then_some(row.modified),
            bytes: row.record.stamp.bytes,
            mtime: row.record.stamp.mtime(),
            all: row.all,
            roots: RootKeys::Bytes(self.roots(at)),
            // Records do not have these; the digests of such files do.
            is_link: false,
            is_subagent: false,
        }
    }

    /// Returns the keys of root entries.
    fn roots(&self, at: usize) -> &[u8] {
        let start = |at| self.row(at).roots as usize * 8;
        let end = if at + 1 < self.len { start(at + 1) } else { self.roots.len() };
        self.roots.get(start(at)..end).unwrap_or_default()
    }

    /// Returns the places of the parent session of a fork, and of its ID.
    fn parents(&self, at: usize, flags: u16) -> [Option<TextPlace>; 2] {
        let row = found::<FORK>(&self.forks, at).unwrap_or(&[0; FORK]);
        let parent = |flag, at| (flags & flag != 0).then(|| place(row, at));
        [parent(record::PARENT, 1), parent(record::PARENT_ID, 3)]
    }

    /// Iterates over the keys of the files: see [`FileVersion::key`].
    pub(super) fn keys(&self) -> impl Iterator<Item = IdHash> {
        self.records().map(|record| record.stamp.key())
    }
}

/// Finds the row of a record in a column whose rows start with their records, in order.
fn found<const N: usize>(column: &[u8], record: usize) -> Option<&[u8; N]> {
    let rows = column.as_chunks::<N>().0;
    rows.get(rows.binary_search_by_key(&record, |row| half(row, 0) as usize).ok()?)
}
