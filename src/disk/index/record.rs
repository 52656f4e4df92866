//! The rows of the table of a segment: a record of fixed size for each file, and rows for what several records share or
//! few records have. Numbers are little-endian.

use crate::disk::fingerprint::FileVersion;
use crate::session::digest::details::EntryTotals;
use crate::session::digest::facts::SessionFacts;

/// The size of a record in bytes.
pub(super) const RECORD: usize = 9 * 8 + 8 * 4;

/// The indexes of the numbers of eight bytes in a record.
mod word {
    pub(super) const FILE: usize = 0;
    pub(super) const BYTES: usize = 1;
    pub(super) const WRITTEN: usize = 2;
    pub(super) const CHANGED: usize = 3;
    pub(super) const PIECES: usize = 4;
    pub(super) const CREATED: usize = 5;
    pub(super) const MODIFIED: usize = 6;
    pub(super) const COST: usize = 7;
    pub(super) const TOKENS: usize = 8;
}

/// The indexes of the numbers of four bytes in a record, which follow those of eight bytes.
mod half {
    /// The flags, and the start and the length of the ID in the name.
    pub(super) const FLAGS: usize = 18;
    pub(super) const ENTRIES: usize = 19;
    pub(super) const NUMBER: usize = 20;
    pub(super) const ROOTS: usize = 21;
    pub(super) const NAME: usize = 22;
    /// The length of the name, and the number of the device.
    pub(super) const NAME_AND_DEVICE: usize = 23;
    pub(super) const CWD: usize = 24;
    pub(super) const FOLDER: usize = 25;
}

/// Returns a number of eight bytes in a row; 0 if there is none.
#[inline]
pub(super) fn word(row: &[u8], at: usize) -> u64 {
    row.as_chunks().0.get(at).map_or(0, |word| u64::from_le_bytes(*word))
}

/// Returns a number of four bytes in a row; 0 if there is none.
#[inline]
pub(super) fn half(row: &[u8], at: usize) -> u32 {
    row.as_chunks().0.get(at).map_or(0, |half| u32::from_le_bytes(*half))
}

/// Returns a place in a row, given the index of its first number.
#[inline]
pub(super) fn place(row: &[u8], at: usize) -> TextPlace {
    (half(row, at), half(row, at + 1))
}

/// Returns a row of a column with rows of `N` bytes; zeros if there is none.
#[inline]
pub(super) fn row<const N: usize>(column: &[u8], at: usize) -> &[u8; N] {
    column.as_chunks().0.get(at).unwrap_or(&[0; N])
}

/// The place of a text in the strings of a table: its offset and its length in bytes.
pub(super) type TextPlace = (u32, u32);

/// Returns the part of a text at a place; empty if there is none.
pub(super) fn text_at(all: &str, (start, length): TextPlace) -> &str {
    all.get(start as usize..start as usize + length as usize).unwrap_or_default()
}

/// The number of a directory in a record whose path is unknown.
pub(super) const NO_FOLDER: u32 = u32::MAX;

/// The path of a file below the session directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FilePlace<'a> {
    /// The directory with a trailing separator, or an empty string.
    pub(super) folder: &'a str,
    pub(super) name: &'a str,
}

/// The record of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentRecord {
    /// The version of the file when it was read.
    pub(super) stamp: FileVersion,
    /// `true` if every later change of the file would change its version.
    pub(super) is_settled: bool,
    /// `false` for files that are not sessions. Their pieces are empty.
    pub(super) is_session: bool,
    /// The offset of its pieces.
    pub(super) pieces: u64,
}

/// Bits of the flags.
pub(super) const SETTLED: u16 = 1;
pub(super) const SESSION: u16 = 1 << 1;
pub(super) const NAMED: u16 = 1 << 2;
pub(super) const LABELED: u16 = 1 << 3;
pub(super) const CUT_OFF: u16 = 1 << 4;
pub(super) const CREATED: u16 = 1 << 5;
pub(super) const MODIFIED: u16 = 1 << 6;
pub(super) const PARENT: u16 = 1 << 7;
pub(super) const PARENT_ID: u16 = 1 << 8;
pub(super) const COMMITTED: u16 = 1 << 9;

/// A record with the numbers of its session, and the places of its texts and keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordRow {
    /// The file, without its device.
    pub(super) record: SegmentRecord,
    /// The number of the device of the file.
    pub(super) device: u16,
    pub(super) flags: u16,
    pub(super) created: i64,
    pub(super) modified: i64,
    pub(super) all: EntryTotals,
    /// The number of the session in the filter.
    pub(super) number: u32,
    /// The first key of a root entry. The keys end at the first one of the next record.
    pub(super) roots: u32,
    /// The offset and the length of the name.
    pub(super) name: (u32, u16),
    /// The start and the length of the ID in the name; a length of 0 if it is elsewhere.
    pub(super) id: (u8, u8),
    /// The number of the working directory.
    pub(super) cwd: u32,
    /// The number of the directory of the file, or [`NO_FOLDER`].
    pub(super) folder: u32,
}

impl RecordRow {
    /// Returns the row of a record, without the places of its texts and keys.
    pub(super) fn new(record: SegmentRecord, number: u32, facts: &SessionFacts<'_>) -> Self {
        let flags = [
            (record.is_settled, SETTLED),
            (record.is_session, SESSION),
            (facts.is_named(), NAMED),
            (facts.is_labeled(), LABELED),
            (facts.is_committed(), COMMITTED),
            (facts.is_cut_off(), CUT_OFF),
            (facts.created().is_some(), CREATED),
            (facts.modified().is_some(), MODIFIED),
            (facts.parent_session().is_some(), PARENT),
            (facts.parent_id().is_some(), PARENT_ID),
        ];
        Self {
            record,
            device: 0,
            flags: flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag),
            created: facts.created().unwrap_or_default(),
            modified: facts.modified().unwrap_or_default(),
            all: facts.all(),
            number,
            roots: 0,
            name: (0, 0),
            id: (0, 0),
            cwd: 0,
            folder: NO_FOLDER,
        }
    }

    /// Returns the place of the name.
    pub(super) fn name(&self) -> TextPlace {
        (self.name.0, self.name.1.into())
    }

    /// Returns the place of the ID if it is in the name.
    pub(super) fn id(&self) -> Option<TextPlace> {
        let (start, len) = self.id;
        (len > 0).then(|| (self.name.0.saturating_add(start.into()), len.into()))
    }

    /// Reads a record, without the device of its file.
    #[inline]
    pub(super) fn from_bytes(row: &[u8; RECORD]) -> Self {
        let time = |at| word(row, at).cast_signed();
        let (flags_and_id, name) = (half(row, half::FLAGS), half(row, half::NAME_AND_DEVICE));
        let flags = flags_and_id as u16;
        let stamp = FileVersion {
            file: (0, word(row, word::FILE)),
            bytes: word(row, word::BYTES),
            written: time(word::WRITTEN),
            changed: time(word::CHANGED),
        };
        Self {
            record: SegmentRecord {
                stamp,
                is_settled: flags & SETTLED != 0,
                is_session: flags & SESSION != 0,
                pieces: word(row, word::PIECES),
            },
            device: (name >> 16) as u16,
            flags,
            created: time(word::CREATED),
            modified: time(word::MODIFIED),
            all: EntryTotals {
                cost: f64::from_bits(word(row, word::COST)),
                tokens: f64::from_bits(word(row, word::TOKENS)),
                entries: half(row, half::ENTRIES) as usize,
            },
            number: half(row, half::NUMBER),
            roots: half(row, half::ROOTS),
            name: (half(row, half::NAME), name as u16),
            id: ((flags_and_id >> 16) as u8, (flags_and_id >> 24) as u8),
            cwd: half(row, half::CWD),
            folder: half(row, half::FOLDER),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; RECORD] {
        let Self { record, device, flags, created, modified, all, number, roots, name, id, cwd, folder } = self;
        let FileVersion { file, bytes, written, changed } = record.stamp;
        let mut row = [0; RECORD];
        let words = [
            (word::FILE, file.1),
            (word::BYTES, bytes),
            (word::WRITTEN, written.cast_unsigned()),
            (word::CHANGED, changed.cast_unsigned()),
            (word::PIECES, record.pieces),
            (word::CREATED, created.cast_unsigned()),
            (word::MODIFIED, modified.cast_unsigned()),
            (word::COST, all.cost.to_bits()),
            (word::TOKENS, all.tokens.to_bits()),
        ];
        let halves = [
            (half::FLAGS, u32::from(flags) | u32::from(id.0) << 16 | u32::from(id.1) << 24),
            (half::ENTRIES, u32::try_from(all.entries).unwrap_or(u32::MAX)),
            (half::NUMBER, number),
            (half::ROOTS, roots),
            (half::NAME, name.0),
            (half::NAME_AND_DEVICE, u32::from(name.1) | u32::from(device) << 16),
            (half::CWD, cwd),
            (half::FOLDER, folder),
        ];
        words.iter().for_each(|&(at, number)| row[at * 8..][..8].copy_from_slice(&number.to_le_bytes()));
        halves.iter().for_each(|&(at, number)| row[at * 4..][..4].copy_from_slice(&number.to_le_bytes()));
        row
    }
}
