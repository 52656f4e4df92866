//! The table of an index: a row of fixed size for each file, in order of directory and name, and the strings of all rows.
//! Rows and strings stay in memory as they are in the file, so opening an index takes no time per session.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::{archive_paths, machine_paths};
use crate::disk::fingerprint::FileMetadata;
use crate::disk::index::filter::FilterBlock;
use crate::disk::index::segment_file::{Piece, SegmentFile, bytes};
use crate::session::digest::details::EntryTotals;
use crate::session::digest::facts::{FactNumbers, HeaderTexts, RootKeys, SessionFacts, StoredFacts};
use crate::session::digest::joined_path::JoinedPath;
use crate::system;

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
        prompts: u32,
        /// The number of the session in the filter of its segment.
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
        /// The number of the segment with the pieces and the digest.
        segment: u16,
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

/// A missing time in a row.
const NO_TIME: i64 = i64::MIN;

/// Bits of the flags besides those of [`FactNumbers`]. A file is settled if every later change would change its version.
pub(super) const SETTLED: u16 = 1 << 8;
pub(super) const SESSION: u16 = 1 << 9;
const PARENT: u16 = 1 << 10;
const PARENT_ID: u16 = 1 << 11;

/// Returns a flag if a property is set.
fn flag(is_set: bool, flag: u16) -> u16 {
    if is_set { flag } else { 0 }
}

impl Row {
    /// Returns the row of a file with the numbers of its session, without texts. `None` is a file that is not a session.
    pub(super) fn new(stamp: &FileMetadata, is_settled: bool, facts: Option<&SessionFacts<'_>>) -> Self {
        let FileMetadata { file: (_, inode), bytes, written, changed } = *stamp;
        let numbers = facts.map(SessionFacts::numbers).unwrap_or_default();
        Self {
            inode,
            bytes,
            written,
            changed,
            flags: numbers.flags | flag(is_settled, SETTLED) | flag(facts.is_some(), SESSION),
            created: numbers.created.unwrap_or(NO_TIME),
            modified: numbers.modified.unwrap_or(NO_TIME),
            cost: numbers.all.cost,
            tokens: numbers.all.tokens,
            entries: u32::try_from(numbers.all.entries).unwrap_or(u32::MAX),
            prompts: u32::try_from(numbers.all.prompts).unwrap_or(u32::MAX),
            ..Self::default()
        }
    }

    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn has_place(&self) -> bool {
        self.folder != NO_FOLDER
    }

    /// Returns the piece of the digest.
    pub(super) fn digest(&self) -> Piece {
        Piece { at: self.digest, len: self.digest_len.into() }
    }
}

/// The path of a file below the session directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FilePlace<'a> {
    /// The directory with a trailing separator, or an empty string.
    pub(super) folder: &'a str,
    pub(super) name: &'a str,
}

/// The paths of a directory with session files, with a trailing separator.
#[derive(Debug)]
pub(super) struct FolderPaths {
    pub(super) named: OsString,
    /// The path in which other files refer to its sessions, if it differs: see [`super::stored::SessionDirs`].
    pub(super) canonical: Option<OsString>,
    /// `true` if it may be in the mirror of another machine.
    pub(super) may_be_mirrored: bool,
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

/// A segment of an index.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Segment {
    /// The number in the name of the file.
    pub(super) number: u64,
    /// The blocks of its filter.
    pub(super) blocks: Vec<FilterBlock>,
}

/// The data of an index that rows share.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SharedData {
    /// The hash of what the index is for: see [`super::SessionIndex`].
    pub(super) purpose_hash: u64,
    /// The bytes of the session directory with symbolic links resolved.
    dir: Vec<u8>,
    /// The size limit in bytes with which the table was written.
    pub(super) limit: u64,
    /// With this limit, files with earlier modification times (in milliseconds since 1970) are omitted.
    pub(super) oldest: i64,
    pub(super) segments: Vec<Segment>,
    devices: Vec<u64>,
    /// The directories of the files.
    folders: SharedTexts,
    cwds: SharedTexts,
}

impl SharedData {
    /// Returns the data of a new index.
    pub(super) fn new(of: u64, dir: &Path, (limit, oldest): (u64, i64)) -> Self {
        Self { purpose_hash: of, dir: dir.as_os_str().as_encoded_bytes().into(), limit, oldest, ..Self::default() }
    }

    /// Reads the data of an index. Returns `None` if it is missing, damaged, or not trustworthy.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let file = SegmentFile::open(path, &"".into())?;
        file.get(parts(&file)?[3])
    }

    /// Returns the session directory with symbolic links resolved.
    pub(super) fn dir(&self) -> PathBuf {
        system::files::path_of(self.dir.clone()).unwrap_or_default()
    }
}

/// Returns the parts of a table: rows, strings, root keys, and shared data. Their lengths precede them.
fn parts(file: &SegmentFile) -> Option<[Piece; 4]> {
    Some(Piece::sequence(Piece { at: 0, len: 4 * 8 }.end(), file.numbers(0)?))
}

/// The table of an index, or of new rows, which are in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct SessionTable {
    rows: Vec<u8>,
    strings: String,
    roots: Vec<u8>,
    pub(super) shared: SharedData,
    /// The paths of the directories, unless only the table is read.
    paths: Vec<FolderPaths>,
}

impl SessionTable {
    /// Reads the table of an index. Returns `None` if it is missing, damaged, or not trustworthy.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let file = SegmentFile::open(path, &"".into())?;
        let [rows, strings, roots, shared] = parts(&file)?;
        Some(Self {
            rows: file.read_vec(rows)?,
            strings: String::from_utf8(file.read_vec(strings)?).ok()?,
            roots: file.read_vec(roots)?,
            shared: file.get(shared)?,
            paths: Vec::new(),
        })
    }

    /// Writes the table to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, file: &SegmentFile) -> io::Result<()> {
        let shared = bytes(&self.shared);
        let parts = [&self.rows, self.strings.as_bytes(), &self.roots, &shared];
        let mut end = file.write(0, &parts.map(|part| part.len() as u64).map(u64::to_le_bytes).concat())?;
        for part in parts {
            end = file.write(end, part)?;
        }
        Ok(())
    }

    /// Returns the table of an index with rows of other tables.
    pub(super) fn of_rows(shared: SharedData, mut rows: Vec<(&Self, usize)>) -> Self {
        // Rows without a directory come last.
        rows.sort_by_cached_key(|(table, at)| {
            table.place(*at).map_or((true, "", ""), |place| (false, place.folder, place.name))
        });
        let mut table = Self { shared, ..Self::default() };
        for (from, at) in rows {
            let (row, segment) = (from.row(at), from.segment(at));
            let known = table.shared.segments.iter().position(|known| known.number == segment.number);
            let number = known.unwrap_or_else(|| {
                table.shared.segments.push(segment.clone());
                table.shared.segments.len() - 1
            });
            let row = Row { segment: number as u16, ..row };
            table.push(row, from.stamp(at).file.0, from.place(at), &from.facts(at));
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
        let HeaderTexts { id, cwd, parent_session, parent_id } = facts.header();
        let [parent, parent_of] = [parent_session, parent_id].map(Option::unwrap_or_default);
        // pi names a file after the ID of its session.
        let id_in_name = name.rfind(id);
        let lens = [name.len(), id_in_name.unwrap_or(name.len()), id.len(), parent.len(), parent_of.len()];
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
            cwd: self.shared.cwds.number(cwd),
            folder: if place.is_some() { self.shared.folders.number(folder) } else { NO_FOLDER },
            flags: row.flags | flag(parent_session.is_some(), PARENT) | flag(parent_id.is_some(), PARENT_ID),
            device: device as u16,
            name_len,
            id_start,
            id_len,
            parent_len,
            parent_id_len,
            ..row
        };
        self.strings.extend([name, if id_in_name.is_some() { "" } else { id }, parent, parent_of]);
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

    /// Returns the segment of a row.
    pub(super) fn segment(&self, at: usize) -> &Segment {
        &self.shared.segments[usize::from(self.row(at).segment)]
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
    pub(super) fn stamp(&self, at: usize) -> FileMetadata {
        let Row { inode, bytes, written, changed, device, .. } = self.row(at);
        let device = self.shared.devices.get(usize::from(device)).copied().unwrap_or_default();
        FileMetadata { file: (device, inode), bytes, written, changed }
    }

    /// Iterates over the identities of the files.
    pub(super) fn files(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.len()).map(|at| self.stamp(at).file)
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

    /// Returns the facts about a session. Without [`SessionTable::set_paths`], its path lacks the directory.
    pub(super) fn facts(&self, at: usize) -> SessionFacts<'_> {
        SessionFacts::Stored(self, at as u32)
    }

    fn paths_of(&self, row: &Row) -> Option<&FolderPaths> {
        self.paths.get(row.folder as usize)
    }
}

impl StoredFacts for SessionTable {
    fn path(&self, number: u32) -> JoinedPath<'_> {
        let row = self.row(number as usize);
        let dir = self.paths_of(&row).map_or(OsStr::new(""), |paths| &paths.named);
        JoinedPath { dir, rest: self.name(&row).as_ref() }
    }

    fn real_path(&self, number: u32) -> Option<JoinedPath<'_>> {
        let row = self.row(number as usize);
        let dir = self.paths_of(&row)?.canonical.as_deref()?;
        Some(JoinedPath { dir, rest: archive_paths::unpacked(self.name(&row)).as_ref() })
    }

    fn machine(&self, number: u32) -> Option<&str> {
        let is_possible = self.paths_of(&self.row(number as usize)).is_some_and(|paths| paths.may_be_mirrored);
        if is_possible { machine_paths::machine_of_parts(self.path(number).bytes()) } else { None }
    }

    fn header(&self, number: u32) -> HeaderTexts<'_> {
        let row = self.row(number as usize);
        let text = row.text as usize;
        let [id, name_end] = [text + usize::from(row.id_start), text + usize::from(row.name_len)];
        let parent = name_end.max(id + usize::from(row.id_len));
        let parent_id = parent + usize::from(row.parent_len);
        HeaderTexts {
            id: self.text(id, row.id_len),
            cwd: self.shared.cwds.get(row.cwd),
            parent_session: row.has(PARENT).then(|| self.text(parent, row.parent_len)),
            parent_id: row.has(PARENT_ID).then(|| self.text(parent_id, row.parent_id_len)),
        }
    }

    fn numbers(&self, number: u32) -> FactNumbers {
        let Row { created, modified, bytes, written, cost, tokens, entries, prompts, flags, .. } =
            self.row(number as usize);
        FactNumbers {
            created: (created != NO_TIME).then_some(created),
            modified: (modified != NO_TIME).then_some(modified),
            bytes,
            mtime: FileMetadata { written, ..FileMetadata::default() }.mtime(),
            all: EntryTotals { cost, tokens, entries: entries as usize, prompts: prompts as usize },
            flags,
        }
    }

    fn roots(&self, number: u32) -> RootKeys<'_> {
        let at = number as usize;
        let start = |at| self.row(at).roots as usize * 8;
        let end = if at + 1 < self.len() { start(at + 1) } else { self.roots.len() };
        RootKeys::Bytes(self.roots.get(start(at)..end).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::digest::Digest;
    use crate::session::lines::Header;
    use crate::session::links::IdHash;
    use proptest::prelude::*;

    /// Returns a table as read after it was written.
    fn written(table: &SessionTable) -> SessionTable {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("table");
        let file = std::fs::File::create(&path).unwrap();
        table.write(&SegmentFile { file, home: "".into() }).unwrap();
        SessionTable::read(&path).unwrap()
    }

    /// A file: its directory and name, its ID, its parent session and the ID of that, and its roots.
    type File = ((Option<usize>, String), String, (Option<String>, Option<String>), Vec<u64>);

    fn files() -> impl Strategy<Value = Vec<File>> {
        let place = (proptest::option::of(0..3_usize), "[a-c]{1,3}");
        let id = prop_oneof![Just(String::new()), Just("a".repeat(300)), "[a-c]{1,2}"];
        let parents = (proptest::option::of("[/x]{0,2}"), proptest::option::of("y?"));
        let roots = proptest::collection::vec(1..4_u64, 0..4);
        proptest::collection::btree_map(place, (id, parents, roots), 0..9).prop_map(|files| {
            files.into_iter().map(|(place, (id, parents, roots))| (place, id, parents, roots)).collect()
        })
    }

    fn digest(id: &str, cwd: &str, (parent_session, parent_id): (Option<&str>, Option<&str>)) -> Digest {
        let [parent_session, parent_id] = [parent_session, parent_id].map(|text| text.map(Into::into));
        let header = Header { id: id.into(), cwd: cwd.into(), parent_session, parent_id, ..Header::default() };
        Digest { header, ..Digest::default() }
    }

    proptest! {
        #[test]
        fn tables_are_read_as_written(files in files().prop_shuffle(), removed in any::<u16>()) {
            const FOLDERS: [&str; 3] = ["", "p/", "p/q/"];
            let mut new = SessionTable::default();
            new.shared.segments.push(Segment { number: 5, blocks: Vec::new() });
            for (at, ((folder, name), id, (parent_session, parent_id), roots)) in (0..).zip(&files) {
                let parents = (parent_session.as_deref(), parent_id.as_deref());
                let roots = roots.iter().map(|&root| IdHash::number(root)).collect();
                let digest = Digest { roots, ..digest(id, FOLDERS[at as usize % 3], parents) };
                let stamp = FileMetadata { file: (at % 2 + 7, at), bytes: at * 3, ..FileMetadata::default() };
                let facts = digest.facts();
                let row = Row { pieces: at, ..Row::new(&stamp, at.is_multiple_of(2), Some(&facts)) };
                let place = folder.map(|folder| FilePlace { folder: FOLDERS[folder], name });
                prop_assert!(new.push(row, stamp.file.0, place, &facts));
            }
            let check = |table: &SessionTable, is_wanted: &dyn Fn(u64) -> bool| {
                let mut seen: Vec<u64> = Vec::new();
                for at in 0..table.len() {
                    let (row, stamp) = (table.row(at), table.stamp(at));
                    let from = row.pieces;
                    let ((folder, name), id, parents, roots) = &files[from as usize];
                    prop_assert_eq!((stamp.file, stamp.bytes), ((from % 2 + 7, from), from * 3));
                    prop_assert_eq!((row.has(SETTLED), row.has(SESSION)), (from.is_multiple_of(2), true));
                    prop_assert_eq!(table.segment(at).number, 5);
                    let place = folder.map(|folder| FilePlace { folder: FOLDERS[folder], name });
                    prop_assert_eq!((table.place(at), row.has_place()), (place, place.is_some()));
                    let facts = table.facts(at);
                    prop_assert_eq!((facts.id(), facts.cwd()), (&**id, FOLDERS[from as usize % 3]));
                    prop_assert_eq!((facts.parent_session(), facts.parent_id()), (parents.0.as_deref(), parents.1.as_deref()));
                    prop_assert_eq!(facts.roots().iter().map(IdHash::value).collect::<Vec<_>>(), roots.clone());
                    if let Some(place) = place {
                        let rows = table.rows_in(place.folder);
                        prop_assert_eq!(table.find(&rows, place.name.as_bytes()), Some(at));
                        prop_assert_eq!(table.find(&rows, b"other"), None);
                    }
                    seen.push(from);
                }
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..files.len() as u64).filter(|&at| is_wanted(at)).collect::<Vec<_>>());
                prop_assert_eq!(table.rows_in("r/"), 0..0);
                Ok(())
            };
            let whole = SessionTable::of_rows(SharedData::default(), (0..new.len()).map(|at| (&new, at)).collect());
            let whole = written(&whole);
            check(&whole, &|_| true)?;
            let is_removed = |at: u64| removed >> at & 1 == 1;
            let rest = (0..whole.len()).filter(|&at| !is_removed(whole.row(at).pieces)).map(|at| (&whole, at));
            check(&written(&SessionTable::of_rows(SharedData::default(), rest.collect())), &|at| !is_removed(at))?;
        }
    }

    #[test]
    fn removed_rows_leave_no_text() {
        let mut whole = SessionTable::default();
        whole.shared.segments.push(Segment::default());
        for name in ["one", "swordfish"] {
            let [id, cwd, parent] = ["id", "cwd", "parent"].map(|text| format!("{name}-{text}"));
            let (digest, folder) = (digest(&id, &cwd, (Some(&parent), None)), format!("{name}/"));
            whole.push(Row::default(), 0, Some(FilePlace { folder: &folder, name }), &digest.facts());
        }
        let rest = SessionTable::of_rows(SharedData::default(), vec![(&whole, 0)]);
        let holds = |text: &str| rest.strings.contains(text) || format!("{:?}", rest.shared).contains(text);
        assert!(holds("one-parent") && holds("one-cwd") && !holds("swordfish"));
    }

    #[test]
    fn a_text_of_any_length_does_no_harm() {
        let mut table = SessionTable::default();
        let long = "long".repeat(20_000);
        for (id, is_added) in [("a", true), (&*long, false), ("b", true)] {
            assert_eq!(table.push(Row::default(), 0, None, &digest(id, "/", (None, None)).facts()), is_added);
        }
        assert_eq!([0, 1].map(|at| table.facts(at).id().to_string()), ["a", "b"]);
    }
}
