//! The table of a segment: a row of fixed size for each file, in order of directory and name, and the strings of all
//! rows. Rows and strings stay in memory as they are in the file, so opening an index takes no time per session.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::base::{archive_paths, machine_paths};
use crate::disk::fingerprint::FileVersion;
use crate::disk::index::filter::FilterBlock;
use crate::disk::index::segment_file::{Piece, SegmentFile, bytes};
use crate::session::digest::details::EntryTotals;
use crate::session::digest::facts::{FactFlags, RootKeys, SessionFacts, StoredFacts};
use crate::session::digest::joined_path::JoinedPath;
use crate::session::links::IdHash;

/// Defines a row of fixed size with little-endian numbers.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(super) struct $name { $($(#[$field_doc])* pub(super) $field: $kind,)* }

        impl $name {
            const BYTES: usize = 0 $(+ size_of::<$kind>())*;

            #[inline]
            fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
                let mut rest = bytes.as_slice();
                Self { $($field: <$kind>::from_le_bytes(next(&mut rest)),)* }
            }

            fn to_bytes(self) -> Vec<u8> {
                [$(&self.$field.to_le_bytes()[..],)*].concat()
            }
        }
    };
}

/// Takes the bytes of the next number of a row.
#[inline]
fn next<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let Some((number, more)) = rest.split_first_chunk() else { return [0; N] };
    *rest = more;
    *number
}

row! {
    /// The row of a file. Its texts are one after another: the name, the ID if it is not in the name, the parent
    /// session, and the ID of that.
    Row {
        inode: u64,
        bytes: u64,
        written: i64,
        changed: i64,
        /// The offset of the pieces.
        pieces: u64,
        /// The place of the digest.
        digest: u64,
        created: i64,
        modified: i64,
        cost: f64,
        tokens: f64,
        digest_len: u32,
        entries: u32,
        /// The number of the session in the filter.
        number: u32,
        /// The first key of a root entry. The keys end at the first one of the next row.
        roots: u32,
        /// The offset of the texts.
        text: u32,
        /// The number of the working directory.
        cwd: u32,
        /// The number of the directory of the file, or [`NO_FOLDER`].
        folder: u32,
        flags: u16,
        /// The number of the device.
        device: u16,
        name_len: u16,
        /// The start of the ID after the offset of the texts.
        id_start: u16,
        id_len: u16,
        parent_len: u16,
        parent_id_len: u16,
    }
}

/// The number of a directory in a row whose path is unknown.
const NO_FOLDER: u32 = u32::MAX;

/// Bits of the flags. Files that are not sessions have no digest. A file is settled if every later change would change
/// its version.
const SETTLED: u16 = 1;
const SESSION: u16 = 1 << 1;
const NAMED: u16 = 1 << 2;
const LABELED: u16 = 1 << 3;
const CUT_OFF: u16 = 1 << 4;
const CREATED: u16 = 1 << 5;
const MODIFIED: u16 = 1 << 6;
const PARENT: u16 = 1 << 7;
const PARENT_ID: u16 = 1 << 8;
const COMMITTED: u16 = 1 << 9;

impl Row {
    /// Returns the row of a file with the numbers of its session, without texts. `None` is a file that is not a session.
    pub(super) fn new(stamp: &FileVersion, is_settled: bool, facts: Option<&SessionFacts<'_>>) -> Self {
        let FileVersion { file, bytes, written, changed } = *stamp;
        let settled = if is_settled { SETTLED } else { 0 };
        let row = Self { inode: file.1, bytes, written, changed, flags: settled, ..Self::default() };
        let Some(facts) = facts else { return row };
        let flags = [
            (true, SESSION),
            (facts.is_named(), NAMED),
            (facts.is_labeled(), LABELED),
            (facts.is_committed(), COMMITTED),
            (facts.is_cut_off(), CUT_OFF),
            (facts.created().is_some(), CREATED),
            (facts.modified().is_some(), MODIFIED),
            (facts.parent_session().is_some(), PARENT),
            (facts.parent_id().is_some(), PARENT_ID),
        ];
        let all = facts.all();
        Self {
            flags: flags.iter().filter(|(is_set, _)| *is_set).fold(settled, |flags, (_, flag)| flags | flag),
            created: facts.created().unwrap_or_default(),
            modified: facts.modified().unwrap_or_default(),
            cost: all.cost,
            tokens: all.tokens,
            entries: u32::try_from(all.entries).unwrap_or(u32::MAX),
            ..row
        }
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn is_settled(&self) -> bool {
        self.has(SETTLED)
    }

    pub(super) fn is_session(&self) -> bool {
        self.has(SESSION)
    }

    pub(super) fn has_place(&self) -> bool {
        self.folder != NO_FOLDER
    }

    /// Returns the piece of the digest.
    pub(super) fn digest(&self) -> Piece {
        Piece { at: self.digest, len: self.digest_len.into() }
    }

    /// Returns the offset after the name and the ID.
    fn parent(&self) -> usize {
        self.text as usize + usize::from(self.name_len).max(usize::from(self.id_start) + usize::from(self.id_len))
    }
}

/// The path of a file below the session directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FilePlace<'a> {
    /// The directory with a trailing separator, or an empty string.
    pub(super) folder: &'a str,
    pub(super) name: &'a str,
}

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

/// Texts that many rows have, by their numbers.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SharedTexts {
    texts: Vec<String>,
    /// The numbers of the texts, while the table is built.
    #[serde(skip)]
    numbers: HashMap<String, u32>,
}

impl SharedTexts {
    fn get(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }

    /// Returns the number of a text.
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }
}

/// The part of a table that rows share.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SharedData {
    devices: Vec<u64>,
    /// The directories of the files.
    folders: SharedTexts,
    cwds: SharedTexts,
    blocks: Vec<FilterBlock>,
}

/// The offset of a table, and the lengths of its parts: rows, strings, root keys, and shared data.
pub(super) type TableHeader = [u64; 5];

/// Returns the parts of a table.
fn parts([start, lens @ ..]: TableHeader) -> [Piece; 4] {
    Piece::sequence(start, lens)
}

/// The table of an open segment, or of one being written. In the latter, rows are in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct SegmentTable {
    rows: Vec<u8>,
    strings: String,
    roots: Vec<u8>,
    shared: SharedData,
    /// The paths of the directories, unless only the table is read.
    paths: Vec<FolderPaths>,
}

impl SegmentTable {
    /// Reads the table of a segment. Returns `None` if it cannot be read or is damaged.
    pub(super) fn read(file: &SegmentFile) -> Option<Self> {
        let [rows, strings, roots, shared] = parts(file.numbers(0)?);
        Some(Self {
            rows: file.read_vec(rows)?,
            strings: String::from_utf8(file.read_vec(strings)?).ok()?,
            roots: file.read_vec(roots)?,
            shared: file.get(shared)?,
            paths: Vec::new(),
        })
    }

    /// Writes the table at an offset, and then the header of the file. If the table replaces a longer one, the rest of that
    /// is erased.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, file: &SegmentFile, start: u64, replaced: Option<TableHeader>) -> io::Result<()> {
        let shared = bytes(&self.shared);
        let data = [&self.rows, self.strings.as_bytes(), &self.roots, &shared];
        let mut end = start;
        for data in data {
            end = file.write(end, data)?;
        }
        if let Some(header) = replaced {
            file.erase(end..parts(header)[3].end().max(end))?;
        }
        let header = [start].into_iter().chain(data.map(|data| data.len() as u64));
        file.write(0, &header.flat_map(u64::to_le_bytes).collect::<Vec<_>>()).map(drop)
    }

    /// Returns the table with only some rows and their texts, in order.
    pub(super) fn with_rows(&self, is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut order: Vec<usize> = (0..self.len()).filter(|&at| is_wanted(at)).collect();
        // Rows without a directory come last.
        order.sort_by_cached_key(|&at| self.place(at).map_or((true, "", ""), |place| (false, place.folder, place.name)));
        let mut table = Self::default();
        table.shared.blocks.clone_from(&self.shared.blocks);
        for at in order {
            table.push(self.row(at), self.stamp(at).file.0, self.place(at), &self.facts(at));
        }
        table
    }

    /// Adds the row of a file on a device, with its path if that is the only one. Returns `false` if a text is too long.
    pub(super) fn push(
        &mut self,
        row: Row,
        device: u64,
        place: Option<FilePlace<'_>>,
        facts: &SessionFacts<'_>,
    ) -> bool {
        let FilePlace { folder, name } = place.unwrap_or_default();
        let id = facts.id();
        let parents = [facts.parent_session(), facts.parent_id()].map(Option::unwrap_or_default);
        // pi names a file after the ID of its session.
        let id_in_name = name.rfind(id);
        let lens = [name.len(), id_in_name.unwrap_or(name.len()), id.len(), parents[0].len(), parents[1].len()];
        let text = u32::try_from(self.strings.len());
        if text.is_err() || lens.iter().any(|len| *len > usize::from(u16::MAX)) {
            return false;
        }
        let [name_len, id_start, id_len, parent_len, parent_id_len] = lens.map(|len| len as u16);
        let devices = &mut self.shared.devices;
        let device = devices.iter().position(|known| *known == device).unwrap_or_else(|| {
            devices.push(device);
            devices.len() - 1
        });
        let row = Row {
            roots: (self.roots.len() / 8) as u32,
            text: text.unwrap_or_default(),
            cwd: self.shared.cwds.number(facts.cwd()),
            folder: if place.is_some() { self.shared.folders.number(folder) } else { NO_FOLDER },
            device: device as u16,
            name_len,
            id_start,
            id_len,
            parent_len,
            parent_id_len,
            ..row
        };
        let id = if id_in_name.is_some() { "" } else { id };
        self.strings.extend([name, id, parents[0], parents[1]]);
        self.roots.extend(facts.roots().iter().flat_map(|key| key.value().to_le_bytes()));
        self.rows.extend(row.to_bytes());
        true
    }

    /// Adds an offset to the places of the digests of the last rows.
    pub(super) fn move_digests(&mut self, first: usize, by: u64) {
        for bytes in self.rows.as_chunks_mut::<{ Row::BYTES }>().0.iter_mut().skip(first) {
            let row = Row::from_bytes(bytes);
            bytes.copy_from_slice(&Row { digest: row.digest + by, ..row }.to_bytes());
        }
    }

    /// Adds a block of the filter.
    pub(super) fn push_block(&mut self, block: FilterBlock) {
        self.shared.blocks.push(block);
    }

    /// Returns the blocks of the filter.
    pub(super) fn blocks(&self) -> &[FilterBlock] {
        &self.shared.blocks
    }

    /// Returns the number of rows when the segment was written.
    pub(super) fn written(&self) -> usize {
        self.shared.blocks.iter().map(|block| block.sessions as usize).sum()
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len() / Row::BYTES
    }

    /// Returns a row; empty if there is none.
    #[inline]
    pub(super) fn row(&self, at: usize) -> Row {
        Row::from_bytes(self.rows.as_chunks().0.get(at).unwrap_or(&[0; Row::BYTES]))
    }

    /// Returns the version of the file of a row.
    pub(super) fn stamp(&self, at: usize) -> FileVersion {
        let Row { inode, bytes, written, changed, device, .. } = self.row(at);
        let device = self.shared.devices.get(usize::from(device)).copied().unwrap_or_default();
        FileVersion { file: (device, inode), bytes, written, changed }
    }

    /// Iterates over the versions of the files.
    pub(super) fn stamps(&self) -> impl Iterator<Item = FileVersion> {
        (0..self.len()).map(|at| self.stamp(at))
    }

    /// Returns a text; empty if there is none.
    fn text(&self, start: usize, len: u16) -> &str {
        self.strings.get(start..start + usize::from(len)).unwrap_or_default()
    }

    fn name(&self, row: &Row) -> &str {
        self.text(row.text as usize, row.name_len)
    }

    /// Returns the path below the session directory, or `None` if it is not the only path of the file.
    pub(super) fn place(&self, at: usize) -> Option<FilePlace<'_>> {
        let row = self.row(at);
        row.has_place().then(|| FilePlace { folder: self.shared.folders.get(row.folder), name: self.name(&row) })
    }

    /// Returns the rows of the files in a directory, given its path below the session directory.
    pub(super) fn rows_in(&self, folder: &str) -> Range<usize> {
        let folders = &self.shared.folders.texts;
        let Ok(number) = folders.binary_search_by(|known| known.as_str().cmp(folder)) else { return 0..0 };
        let rows = self.rows.as_chunks().0;
        let start = |number| rows.partition_point(|row| (Row::from_bytes(row).folder as usize) < number);
        start(number)..start(number + 1)
    }

    /// Finds the row of a file among those in its directory.
    pub(super) fn find(&self, rows: &Range<usize>, name: &[u8]) -> Option<usize> {
        let name_of = |row| self.name(&Row::from_bytes(row)).as_bytes();
        let found = self.rows.as_chunks().0.get(rows.clone())?.binary_search_by(|row| name_of(row).cmp(name));
        Some(rows.start + found.ok()?)
    }

    /// Sets the paths of the directories.
    pub(super) fn set_paths(&mut self, paths: impl Fn(&str) -> FolderPaths) {
        self.paths = self.shared.folders.texts.iter().map(|folder| paths(folder)).collect();
    }

    /// Returns the facts about a session. Without [`SegmentTable::set_paths`], its path lacks the directory.
    pub(super) fn facts(&self, at: usize) -> SessionFacts<'_> {
        SessionFacts::Stored(self, at as u32)
    }

    fn paths_of(&self, row: &Row) -> Option<&FolderPaths> {
        self.paths.get(row.folder as usize)
    }

    /// Iterates over the keys of the files: see [`FileVersion::key`].
    pub(super) fn keys(&self) -> impl Iterator<Item = IdHash> {
        self.stamps().map(|stamp| stamp.key())
    }
}

impl StoredFacts for SegmentTable {
    fn path(&self, number: u32) -> JoinedPath<'_> {
        let row = self.row(number as usize);
        let dir = self.paths_of(&row).map_or(OsStr::new(""), |paths| &paths.named);
        JoinedPath { dir, rest: self.name(&row).as_ref() }
    }

    fn real_path(&self, number: u32) -> Option<JoinedPath<'_>> {
        let row = self.row(number as usize);
        let dir = self.paths_of(&row)?.real.as_deref()?;
        Some(JoinedPath { dir, rest: archive_paths::unpacked(self.name(&row)).as_ref() })
    }

    fn machine(&self, number: u32) -> Option<&str> {
        let is_possible = self.paths_of(&self.row(number as usize)).is_some_and(|paths| paths.may_be_mirrored);
        if is_possible { machine_paths::machine_of_parts(self.path(number).bytes()) } else { None }
    }

    fn id(&self, number: u32) -> &str {
        let row = self.row(number as usize);
        self.text(row.text as usize + usize::from(row.id_start), row.id_len)
    }

    fn cwd(&self, number: u32) -> &str {
        self.shared.cwds.get(self.row(number as usize).cwd)
    }

    fn parent_session(&self, number: u32) -> Option<&str> {
        let row = self.row(number as usize);
        row.has(PARENT).then(|| self.text(row.parent(), row.parent_len))
    }

    fn parent_id(&self, number: u32) -> Option<&str> {
        let row = self.row(number as usize);
        row.has(PARENT_ID).then(|| self.text(row.parent() + usize::from(row.parent_len), row.parent_id_len))
    }

    fn flags(&self, number: u32) -> FactFlags {
        let row = self.row(number as usize);
        FactFlags {
            is_fork: row.has(PARENT | PARENT_ID),
            is_named: row.has(NAMED),
            is_labeled: row.has(LABELED),
            is_committed: row.has(COMMITTED),
            is_cut_off: row.has(CUT_OFF),
        }
    }

    fn created(&self, number: u32) -> Option<i64> {
        let row = self.row(number as usize);
        row.has(CREATED).then_some(row.created)
    }

    fn modified(&self, number: u32) -> Option<i64> {
        let row = self.row(number as usize);
        row.has(MODIFIED).then_some(row.modified)
    }

    fn bytes(&self, number: u32) -> u64 {
        self.row(number as usize).bytes
    }

    fn mtime(&self, number: u32) -> i64 {
        FileVersion { written: self.row(number as usize).written, ..FileVersion::default() }.mtime()
    }

    fn all(&self, number: u32) -> EntryTotals {
        let Row { cost, tokens, entries, .. } = self.row(number as usize);
        EntryTotals { cost, tokens, entries: entries as usize }
    }

    fn roots(&self, number: u32) -> RootKeys<'_> {
        let at = number as usize;
        let start = |at| self.row(at).roots as usize * 8;
        let end = if at + 1 < self.len() { start(at + 1) } else { self.roots.len() };
        RootKeys::Bytes(self.roots.get(start(at)..end).unwrap_or_default())
    }
}
