//! The table of a segment. Its columns hold a record of fixed size for each file, in order of directory and name, and the
//! strings of all records. The columns stay in memory as they are in the file, so opening an index takes no time per
//! session.

use std::ffi::{OsStr, OsString};
use std::hash::Hasher;
use std::io;
use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::base::{archive_paths, machine_paths};
use crate::disk::fingerprint::FileVersion;
use crate::disk::index::columns::{
    COLUMN, CWD, CWDS, DEVICES, FILTER, FOLDER, FOLDERS, FORK, FORKS, MOST_COLUMNS, OTHER_ID, OTHER_IDS, RECORDS,
    ROOTS, STRINGS,
};
use crate::disk::index::filter::FilterBlock;
use crate::disk::index::pieces::{SegmentHeader, SegmentPieces};
use crate::disk::index::record::{
    self, FilePlace, RECORD, RecordRow, SegmentRecord, TextPlace, half, place, row, text_at,
};
use crate::disk::index::table_draft::TableDraft;
use crate::session::digest::details::EntryTotals;
use crate::session::digest::facts::{FactFlags, RootKeys, SessionFacts, StoredFacts};
use crate::session::digest::joined_path::JoinedPath;
use crate::session::links::IdHash;

/// The paths of a directory with session files, with a trailing separator.
#[derive(Debug)]
pub(super) struct FolderPaths {
    named: OsString,
    /// The path in which other files refer to its sessions, if it differs: see [`super::segment::SessionDirs`].
    real: Option<OsString>,
    /// `true` if it may be in the mirror of another machine.
    may_be_mirrored: bool,
}

impl FolderPaths {
    pub(super) fn new(named: OsString, real: Option<OsString>) -> Self {
        let may_be_mirrored = machine_paths::may_be_mirrored(named.as_encoded_bytes());
        Self { named, real, may_be_mirrored }
    }
}

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
    /// The paths of the directories, unless only the table is read.
    paths: Vec<FolderPaths>,
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

    /// Sets the paths of the directories, in the order of [`SegmentTable::folders`].
    pub(super) fn set_paths(&mut self, paths: Vec<FolderPaths>) {
        self.paths = paths;
    }

    /// Returns the facts about a session. Without [`SegmentTable::set_paths`], its path lacks the directory.
    pub(super) fn facts(&self, at: usize) -> SessionFacts<'_> {
        SessionFacts::Stored(self, at as u32)
    }

    fn paths_of(&self, row: &RecordRow) -> Option<&FolderPaths> {
        self.paths.get(row.folder as usize)
    }

    /// Returns a text of a fork: the one whose place begins at an index of its row.
    fn of_fork(&self, number: u32, flag: u16, at: usize) -> Option<&str> {
        let row = || found::<FORK>(&self.forks, number as usize).unwrap_or(&[0; FORK]);
        (self.row(number as usize).flags & flag != 0).then(|| self.string(place(row(), at)))
    }

    /// Iterates over the keys of the files: see [`FileVersion::key`].
    pub(super) fn keys(&self) -> impl Iterator<Item = IdHash> {
        self.records().map(|record| record.stamp.key())
    }
}

impl StoredFacts for SegmentTable {
    fn path(&self, number: u32) -> JoinedPath<'_> {
        let row = self.row(number as usize);
        let dir = self.paths_of(&row).map_or(OsStr::new(""), |paths| &paths.named);
        JoinedPath { dir, rest: self.string(row.name()).as_ref() }
    }

    fn real_path(&self, number: u32) -> Option<JoinedPath<'_>> {
        let row = self.row(number as usize);
        let dir = self.paths_of(&row)?.real.as_deref()?;
        Some(JoinedPath { dir, rest: archive_paths::unpacked(self.string(row.name())).as_ref() })
    }

    fn machine(&self, number: u32) -> Option<&str> {
        let is_possible = self.paths_of(&self.row(number as usize)).is_some_and(|paths| paths.may_be_mirrored);
        if is_possible { machine_paths::machine_of_parts(self.path(number).bytes()) } else { None }
    }

    fn id(&self, number: u32) -> &str {
        let other = || found::<OTHER_ID>(&self.other_ids, number as usize).map(|row| place(row, 1));
        self.string(self.row(number as usize).id().or_else(other).unwrap_or_default())
    }

    fn cwd(&self, number: u32) -> &str {
        self.string(place(row::<CWD>(&self.cwds, self.row(number as usize).cwd as usize), 0))
    }

    fn parent_session(&self, number: u32) -> Option<&str> {
        self.of_fork(number, record::PARENT, 1)
    }

    fn parent_id(&self, number: u32) -> Option<&str> {
        self.of_fork(number, record::PARENT_ID, 3)
    }

    fn flags(&self, number: u32) -> FactFlags {
        let flags = self.row(number as usize).flags;
        let has = |flag: u16| flags & flag != 0;
        FactFlags {
            is_fork: has(record::PARENT | record::PARENT_ID),
            is_named: has(record::NAMED),
            is_labeled: has(record::LABELED),
            is_committed: has(record::COMMITTED),
            is_cut_off: has(record::CUT_OFF),
        }
    }

    fn created(&self, number: u32) -> Option<i64> {
        let row = self.row(number as usize);
        (row.flags & record::CREATED != 0).then_some(row.created)
    }

    fn modified(&self, number: u32) -> Option<i64> {
        let row = self.row(number as usize);
        (row.flags & record::MODIFIED != 0).then_some(row.modified)
    }

    fn bytes(&self, number: u32) -> u64 {
        self.row(number as usize).record.stamp.bytes
    }

    fn mtime(&self, number: u32) -> i64 {
        self.row(number as usize).record.stamp.mtime()
    }

    fn all(&self, number: u32) -> EntryTotals {
        self.row(number as usize).all
    }

    fn roots(&self, number: u32) -> RootKeys<'_> {
        let at = number as usize;
        let start = |at| self.row(at).roots as usize * 8;
        let end = if at + 1 < self.len { start(at + 1) } else { self.roots.len() };
        RootKeys::Bytes(self.roots.get(start(at)..end).unwrap_or_default())
    }
}

/// Finds the row of a record in a column whose rows start with their records, in order.
fn found<const N: usize>(column: &[u8], record: usize) -> Option<&[u8; N]> {
    let rows = column.as_chunks::<N>().0;
    rows.get(rows.binary_search_by_key(&record, |row| half(row, 0) as usize).ok()?)
}
