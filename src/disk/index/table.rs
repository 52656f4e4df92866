//! The table of a segment: columns with a record of fixed size for each file, in order of their paths, and with the
//! strings of all records. It stays in memory as it is in the file, so that opening an index needs no memory and no time
//! per session.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::hash::Hasher;
use std::io;
use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::disk::fingerprint::{ContentHash, FileVersion};
use crate::disk::index::filter::{FilterBlock, FilterDraft};
use crate::disk::index::pieces::{RecordPieces, SegmentHeader, SegmentPieces};
use crate::session::digest::details::EntryTotals;
use crate::session::digest::listed::{FactTexts, RootKeys, SessionFacts, StoredTexts, text_at};
use crate::session::links::IdHash;

/// The size of a record in bytes.
pub(super) const RECORD: usize = 184;

/// The offset of the number in a record.
const NUMBER: usize = RECORD - 4;

/// The offset of the place of the path in a record.
const BELOW: usize = 13 * 8 + 8 * 4;

/// A column of the table: its ID, and the form of its data. A column whose data can be derived from the pieces has a
/// form of its own: in a segment without it or with another form, it is missing until the segment is rewritten.
type Column = (u32, u32);

const RECORDS: Column = (0, 0);
const STRINGS: Column = (1, 0);
/// The keys of root entries.
const ROOTS: Column = (2, 0);
/// The blocks of the filter. Increase the form with every change of the filter or of its keys.
const FILTER: Column = (3, 1);

/// The size of the description of a column: its ID, form, and length in bytes.
const COLUMN: usize = 4 + 4 + 8;

/// The maximum number of columns.
const MOST_COLUMNS: u64 = 64;

/// Serializes a table: the number of columns, their descriptions, and their data.
fn table_bytes(columns: &[(Column, &[u8])]) -> Vec<u8> {
    let size = columns.iter().map(|(_, data)| COLUMN + data.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(8 + size);
    bytes.extend((columns.len() as u64).to_le_bytes());
    for ((id, form), data) in columns {
        bytes.extend(id.to_le_bytes());
        bytes.extend(form.to_le_bytes());
        bytes.extend((data.len() as u64).to_le_bytes());
    }
    columns.iter().for_each(|(_, data)| bytes.extend_from_slice(data));
    bytes
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
    /// The bytes of the file that were read.
    pub(super) content: ContentHash,
    pub(super) pieces: RecordPieces,
}

/// A record with the facts about its session.
#[derive(Clone, Copy, Debug)]
struct FullRecord {
    record: SegmentRecord,
    /// The number of the session in the filter.
    number: u32,
    flags: u32,
    created: i64,
    modified: i64,
    all: EntryTotals,
    /// The first key of a root entry, and the number of keys.
    roots: (u32, u32),
    /// The places of the strings: path below the session directory, ID, working directory, parent session, parent ID.
    strings: [(u32, u32); 5],
}

/// Bits of the flags.
const SETTLED: u32 = 1;
const SESSION: u32 = 1 << 1;
const NAMED: u32 = 1 << 2;
const LABELED: u32 = 1 << 3;
const CUT_OFF: u32 = 1 << 4;
const CREATED: u32 = 1 << 5;
const MODIFIED: u32 = 1 << 6;
const PARENT: u32 = 1 << 7;
const PARENT_ID: u32 = 1 << 8;
const COMMITTED: u32 = 1 << 9;

/// The kind of string that several records can share: the working directory.
const CWD: usize = 2;

/// A place that holds no string.
const NOTHING: (u32, u32) = (0, 0);

impl FullRecord {
    fn to_bytes(self) -> Vec<u8> {
        let Self { record, number, flags, created, modified, all, roots, strings } = self;
        let FileVersion { file, bytes, written, changed } = record.stamp;
        let mut out = Vec::with_capacity(RECORD);
        let (read, hash) = record.content.parts();
        let words = [
            file.0,
            file.1,
            bytes,
            written.cast_unsigned(),
            changed.cast_unsigned(),
            read,
            hash,
            record.pieces.at,
            created.cast_unsigned(),
            modified.cast_unsigned(),
            all.cost.to_bits(),
            all.tokens.to_bits(),
            all.entries as u64,
        ];
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        let pairs = [roots].into_iter().chain(strings).flat_map(|(at, len)| [at, len]);
        let halves = record.pieces.lens.into_iter().chain(pairs).chain([flags, number]);
        halves.for_each(|half| out.extend(half.to_le_bytes()));
        out
    }

    fn from_bytes(bytes: &[u8; RECORD]) -> Self {
        let (word, half) = (|at| word(bytes, at), |at| half(bytes, at));
        let flags = half(18);
        let record = SegmentRecord {
            stamp: FileVersion {
                file: (word(0), word(1)),
                bytes: word(2),
                written: word(3).cast_signed(),
                changed: word(4).cast_signed(),
            },
            is_settled: flags & SETTLED != 0,
            is_session: flags & SESSION != 0,
            content: ContentHash::of_parts(word(5), word(6)),
            pieces: RecordPieces { at: word(7), lens: std::array::from_fn(half) },
        };
        Self {
            record,
            number: half(19),
            flags,
            created: word(8).cast_signed(),
            modified: word(9).cast_signed(),
            all: totals(bytes),
            roots: (half(6), half(7)),
            strings: std::array::from_fn(|at| (half(8 + 2 * at), half(9 + 2 * at))),
        }
    }
}

/// Returns a number of eight bytes in a record.
#[inline]
fn word(record: &[u8; RECORD], at: usize) -> u64 {
    record.as_chunks().0.get(at).map_or(0, |word| u64::from_le_bytes(*word))
}

/// Returns a number of four bytes in a record, counted from the first one after those of eight bytes.
#[inline]
fn half(record: &[u8; RECORD], at: usize) -> u32 {
    record.as_chunks().0.get(26 + at).map_or(0, |half| u32::from_le_bytes(*half))
}

fn totals(record: &[u8; RECORD]) -> EntryTotals {
    EntryTotals {
        cost: f64::from_bits(word(record, 10)),
        tokens: f64::from_bits(word(record, 11)),
        entries: word(record, 12) as usize,
    }
}

/// The table of an open segment.
#[derive(Debug, Default)]
pub(super) struct SegmentTable {
    records: Vec<u8>,
    strings: String,
    /// The keys of root entries.
    roots: Vec<u8>,
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
        let count = part(8)?.first_chunk().map_or(0, |count| u64::from_le_bytes(*count));
        let columns = part(count.min(MOST_COLUMNS) * COLUMN as u64)?;
        let mut table = Self::default();
        for column in columns.as_chunks::<COLUMN>().0 {
            let half = |at: usize| column[at..].first_chunk().map_or(0, |half| u32::from_le_bytes(*half));
            let len = column[8..].first_chunk().map_or(0, |len| u64::from_le_bytes(*len));
            // Each column is read into its own memory, because copies of a large table would take long.
            let data = part(len)?;
            match (half(0), half(4)) {
                RECORDS => table.records = data,
                STRINGS => table.strings = String::from_utf8(data).ok()?,
                ROOTS => table.roots = data,
                FILTER => table.blocks = Some(data.as_chunks().0.iter().map(FilterBlock::from_bytes).collect()),
                _ => {}
            }
        }
        table.len = table.records.len() / RECORD;
        (hasher.finish() == header.table_hash).then_some(table)
    }

    /// Serializes the table without some records. Their strings are overwritten.
    pub(super) fn without(&self, is_removed: impl Fn(usize) -> bool) -> Vec<u8> {
        let (removed, left): (Vec<usize>, Vec<usize>) = (0..self.len).partition(|at| is_removed(*at));
        let shared: HashSet<(u32, u32)> = left.iter().map(|&at| self.full(at).strings[CWD]).collect();
        let mut strings = self.strings.clone().into_bytes();
        for at in removed {
            let places = self.full(at).strings.into_iter().enumerate();
            for (_, (start, len)) in places.filter(|(kind, place)| *kind != CWD || !shared.contains(place)) {
                strings
                    .get_mut(start as usize..start as usize + len as usize)
                    .into_iter()
                    .for_each(|part| part.fill(0));
            }
        }
        let records: Vec<u8> = left.iter().flat_map(|&at| self.bytes(at)).copied().collect();
        let blocks = self.blocks.as_deref().map(blocks_to_bytes);
        let filter = blocks.as_deref().map(|blocks| (FILTER, blocks));
        let columns = [(RECORDS, &*records), (STRINGS, &*strings), (ROOTS, &*self.roots)];
        table_bytes(&columns.into_iter().chain(filter).collect::<Vec<_>>())
    }

    /// Returns the number of records when the segment was written, or `None` if a column is missing.
    pub(super) fn written(&self) -> Option<usize> {
        self.blocks.as_ref().map(|blocks| blocks.iter().map(|block| block.count as usize).sum())
    }

    fn bytes(&self, at: usize) -> &[u8; RECORD] {
        const NONE: [u8; RECORD] = [0; RECORD];
        self.records.get(at * RECORD..).and_then(|rest| rest.first_chunk()).unwrap_or(&NONE)
    }

    fn full(&self, at: usize) -> FullRecord {
        FullRecord::from_bytes(self.bytes(at))
    }

    /// Returns the number of a session in the filter.
    pub(super) fn number(&self, at: usize) -> u32 {
        let record = self.bytes(at);
        record[NUMBER..].first_chunk().map_or(u32::MAX, |number| u32::from_le_bytes(*number))
    }

    /// Returns a record; empty if there is none.
    pub(super) fn record(&self, at: usize) -> SegmentRecord {
        self.full(at).record
    }

    /// Iterates over the keys of the files: see [`FileVersion::key`].
    pub(super) fn keys(&self) -> impl Iterator<Item = IdHash> {
        let word =
            |record: &[u8; RECORD], at: usize| record[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        (0..self.len).map(move |at| {
            let record = self.bytes(at);
            FileVersion { file: (word(record, 0), word(record, 8)), ..FileVersion::default() }.key()
        })
    }

    /// Iterates over the records.
    pub(super) fn records(&self) -> impl Iterator<Item = SegmentRecord> {
        (0..self.len).map(|at| self.record(at))
    }

    fn string(&self, place: (u32, u32)) -> &str {
        text_at(&self.strings, place)
    }

    /// Returns the bytes of the path below the session directory.
    fn below_bytes(&self, at: usize) -> &[u8] {
        let record = self.bytes(at);
        let half = |at: usize| record[at..].first_chunk().map_or(0, |half| u32::from_le_bytes(*half));
        self.string((half(BELOW), half(BELOW + 4))).as_bytes()
    }

    /// Returns the path below the session directory, or `None` if it is not the only path of the file.
    pub(super) fn below(&self, at: usize) -> Option<&str> {
        Some(self.string(self.full(at).strings[0])).filter(|below| !below.is_empty())
    }

    /// Returns the records whose paths start with a prefix.
    pub(super) fn starting_with(&self, prefix: &[u8]) -> Range<usize> {
        let start = self.partition(0..self.len, |below| below < prefix);
        start..self.partition(start..self.len, |below| below.starts_with(prefix))
    }

    /// Finds the record of a path that consists of a prefix and a rest, among those that start with the prefix.
    pub(super) fn find(&self, starting: &Range<usize>, prefix: usize, rest: &[u8]) -> Option<usize> {
        let rest_of = |below: &[u8]| below.get(prefix..).unwrap_or_default().cmp(rest);
        let at = self.partition(starting.clone(), |below| rest_of(below) == Ordering::Less);
        (at < starting.end && rest_of(self.below_bytes(at)) == Ordering::Equal).then_some(at)
    }

    /// Returns the first record of a range whose path does not fulfill a condition that holds for the first ones.
    fn partition(&self, range: Range<usize>, holds: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low.midpoint(high);
            if holds(self.below_bytes(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the facts about a session. Its path lacks the session directory.
    pub(super) fn facts(&self, at: usize) -> SessionFacts<'_> {
        self.facts_in(Default::default(), at)
    }

    /// Returns the facts about a session in a directory: see [`StoredTexts`].
    pub(super) fn facts_in<'a>(&'a self, dirs: (&'a OsStr, Option<&'a OsStr>), at: usize) -> SessionFacts<'a> {
        // Commands ask for the facts about all sessions several times, so only what is needed is decoded.
        let record = self.bytes(at);
        let flags = half(record, 18);
        let has = |flag: u32| flags & flag != 0;
        let place = |at: usize| (half(record, 8 + 2 * at), half(record, 9 + 2 * at));
        let [first, count] = [6, 7].map(|at| half(record, at) as usize * 8);
        SessionFacts {
            texts: FactTexts::Stored(StoredTexts {
                dirs,
                all: &self.strings,
                places: [place(0), place(1), place(2)],
                parents: [has(PARENT).then(|| place(3)), has(PARENT_ID).then(|| place(4))],
            }),
            is_named: has(NAMED),
            is_labeled: has(LABELED),
            is_committed: has(COMMITTED),
            is_cut_off: has(CUT_OFF),
            created: has(CREATED).then(|| word(record, 8).cast_signed()),
            modified: has(MODIFIED).then(|| word(record, 9).cast_signed()),
            bytes: word(record, 2),
            mtime: FileVersion { written: word(record, 3).cast_signed(), ..FileVersion::default() }.mtime(),
            all: totals(record),
            roots: RootKeys::Bytes(self.roots.get(first..).and_then(|rest| rest.get(..count)).unwrap_or_default()),
            // Records do not have these; the digests of such files do.
            is_link: false,
            is_subagent: false,
        }
    }
}

/// A table being built.
#[derive(Debug, Default)]
pub(super) struct TableDraft {
    records: Vec<FullRecord>,
    strings: String,
    roots: Vec<u8>,
    /// The places of strings that many records have.
    known: HashMap<String, (u32, u32)>,
    pub(super) filter: FilterDraft,
}

impl TableDraft {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a record with the path of its file below the session directory, if it is the only path, and the keys of its
    /// texts. Returns the sessions of a block of the filter if there are enough.
    ///
    /// # Errors
    /// The strings are too long.
    pub(super) fn push(
        &mut self,
        record: SegmentRecord,
        below: Option<&str>,
        facts: &SessionFacts<'_>,
        keys: &[u16],
    ) -> io::Result<Option<FilterDraft>> {
        let number = self.filter.next();
        let place = self.add(below.unwrap_or_default())?;
        // pi names a file after the ID of its session.
        let id = match below.filter(|_| !facts.id().is_empty()).and_then(|below| below.rfind(facts.id())) {
            Some(at) => (place.0 + at as u32, facts.id().len() as u32),
            None => self.add(facts.id())?,
        };
        let parents = [facts.parent_session(), facts.parent_id()];
        let [parent, parent_id] = parents.map(|parent| parent.map_or(Ok(NOTHING), |parent| self.add(parent)));
        let strings = [place, id, self.shared(facts.cwd())?, parent?, parent_id?];
        let first = u32::try_from(self.roots.len() / 8).map_err(too_long)?;
        facts.roots.iter().for_each(|key| self.roots.extend(key.value().to_le_bytes()));
        let flag = |is: bool, flag: u32| if is { flag } else { 0 };
        let flags = flag(record.is_settled, SETTLED)
            | flag(record.is_session, SESSION)
            | flag(facts.is_named, NAMED)
            | flag(facts.is_labeled, LABELED)
            | flag(facts.is_committed, COMMITTED)
            | flag(facts.is_cut_off, CUT_OFF)
            | flag(facts.created.is_some(), CREATED)
            | flag(facts.modified.is_some(), MODIFIED)
            | flag(facts.parent_session().is_some(), PARENT)
            | flag(facts.parent_id().is_some(), PARENT_ID);
        self.records.push(FullRecord {
            record,
            number,
            flags,
            created: facts.created.unwrap_or_default(),
            modified: facts.modified.unwrap_or_default(),
            all: facts.all,
            roots: (first, (self.roots.len() / 8) as u32 - first),
            strings,
        });
        Ok(self.filter.push(keys))
    }

    fn add(&mut self, string: &str) -> io::Result<(u32, u32)> {
        let at = u32::try_from(self.strings.len()).map_err(too_long)?;
        let len = u32::try_from(string.len()).map_err(too_long)?;
        self.strings.push_str(string);
        Ok((at, len))
    }

    fn shared(&mut self, string: &str) -> io::Result<(u32, u32)> {
        if let Some(known) = self.known.get(string) {
            return Ok(*known);
        }
        let place = self.add(string)?;
        self.known.insert(string.into(), place);
        Ok(place)
    }

    /// Serializes the table.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let below = |at: &usize| {
            let (start, len) = self.records[*at].strings[0];
            &self.strings[start as usize..(start + len) as usize]
        };
        let mut order: Vec<usize> = (0..self.records.len()).collect();
        order.sort_by(|a, b| below(a).cmp(below(b)));
        let mut records = Vec::with_capacity(self.records.len() * RECORD);
        // Strings and keys lie in the order of the records, because most readers read them in this order.
        let (mut strings, mut roots) = (String::with_capacity(self.strings.len()), Vec::new());
        let mut shared: HashMap<(u32, u32), (u32, u32)> = HashMap::new();
        for &at in &order {
            let mut full = self.records[at];
            let copy = |(at, len): (u32, u32), strings: &mut String| {
                let place = (strings.len() as u32, len);
                strings.push_str(&self.strings[at as usize..(at + len) as usize]);
                place
            };
            let [path, id, cwd, parent, parent_id] = full.strings;
            let new_path = copy(path, &mut strings);
            let is_in_path = id.0 >= path.0 && id.0 + id.1 <= path.0 + path.1;
            let id = if is_in_path { (id.0 - path.0 + new_path.0, id.1) } else { copy(id, &mut strings) };
            let cwd = *shared.entry(cwd).or_insert_with(|| copy(cwd, &mut strings));
            full.strings = [new_path, id, cwd, copy(parent, &mut strings), copy(parent_id, &mut strings)];
            let keys = &self.roots[full.roots.0 as usize * 8..][..full.roots.1 as usize * 8];
            full.roots.0 = (roots.len() / 8) as u32;
            roots.extend_from_slice(keys);
            records.extend(full.to_bytes());
        }
        let blocks = blocks_to_bytes(&self.filter.blocks);
        table_bytes(&[(RECORDS, &records), (STRINGS, strings.as_bytes()), (ROOTS, &roots), (FILTER, &blocks)])
    }
}

fn blocks_to_bytes(blocks: &[FilterBlock]) -> Vec<u8> {
    blocks.iter().flat_map(|block| block.to_bytes()).collect()
}

fn too_long(_: std::num::TryFromIntError) -> io::Error {
    io::ErrorKind::FileTooLarge.into()
}
