//! The table of a segment being built.

use std::collections::HashMap;
use std::io;

use crate::base::string_pool::StringPool;
use crate::disk::index::columns;
use crate::disk::index::filter::{FilterBlock, FilterDraft};
use crate::disk::index::record::{FilePlace, NO_FOLDER, RECORD, RecordRow, SegmentRecord, TextPlace, text_at};
use crate::session::digest::facts::SessionFacts;

/// A table being built. The texts and keys lie in the order in which the records were added.
#[derive(Debug, Default)]
pub(super) struct TableDraft {
    records: Vec<DraftRecord>,
    strings: String,
    roots: Vec<u8>,
    devices: Vec<u64>,
    folders: SharedTexts,
    cwds: SharedTexts,
    pub(super) filter: FilterDraft,
}

#[derive(Debug)]
struct DraftRecord {
    row: RecordRow,
    /// The number of keys of root entries.
    roots: usize,
    /// The ID, if it is not in the name.
    id: Option<TextPlace>,
    /// The parent session and its ID.
    parents: [Option<TextPlace>; 2],
}

/// Texts that many records have, by their numbers.
#[derive(Debug, Default)]
struct SharedTexts {
    texts: StringPool,
    numbers: HashMap<String, u32>,
}

impl SharedTexts {
    /// Returns the number of a text.
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.push(text);
        self.numbers.insert(text.into(), number);
        number
    }
}

impl TableDraft {
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a record with the path of its file, if it is the only path, and the keys of its texts. Returns the sessions of
    /// a block of the filter if there are enough.
    ///
    /// # Errors
    /// See [`TableDraft::add`].
    pub(super) fn push(
        &mut self,
        record: SegmentRecord,
        place: Option<FilePlace<'_>>,
        facts: &SessionFacts<'_>,
        keys: &[u16],
    ) -> io::Result<Option<FilterDraft>> {
        let number = self.filter.next();
        self.add(record, number, place, facts)?;
        Ok(self.filter.push(keys))
    }

    /// Adds a record with its number in the filter.
    ///
    /// # Errors
    /// The strings are too long.
    pub(super) fn add(
        &mut self,
        record: SegmentRecord,
        number: u32,
        place: Option<FilePlace<'_>>,
        facts: &SessionFacts<'_>,
    ) -> io::Result<()> {
        let name = place.map_or("", |place| place.name);
        // pi names a file after the ID of its session.
        let start = if facts.id().is_empty() { None } else { name.rfind(facts.id()) };
        let in_name = start.and_then(|at| Some((u8::try_from(at).ok()?, u8::try_from(facts.id().len()).ok()?)));
        let name = (self.text(name)?.0, u16::try_from(name.len()).map_err(too_long)?);
        let id = if in_name.is_none() { Some(self.text(facts.id())?) } else { None };
        let mut parents = [None; 2];
        for (to, parent) in parents.iter_mut().zip([facts.parent_session(), facts.parent_id()]) {
            *to = parent.map(|parent| self.text(parent)).transpose()?;
        }
        let first = u32::try_from(self.roots.len() / 8).map_err(too_long)?;
        facts.roots().iter().for_each(|key| self.roots.extend(key.value().to_le_bytes()));
        let device = record.stamp.file.0;
        let known = self.devices.iter().position(|known| *known == device);
        let device = known.unwrap_or_else(|| {
            self.devices.push(device);
            self.devices.len() - 1
        });
        let row = RecordRow {
            device: u16::try_from(device).map_err(too_long)?,
            name,
            id: in_name.unwrap_or_default(),
            roots: first,
            cwd: self.cwds.number(facts.cwd()),
            folder: place.map_or(NO_FOLDER, |place| self.folders.number(place.folder)),
            ..RecordRow::new(record, number, facts)
        };
        self.records.push(DraftRecord { row, roots: self.roots.len() / 8 - first as usize, id, parents });
        Ok(())
    }

    fn text(&mut self, text: &str) -> io::Result<TextPlace> {
        append(&mut self.strings, text)
    }

    /// Serializes the table with the blocks of its filter.
    ///
    /// # Errors
    /// The strings are too long.
    pub(super) fn to_bytes(&self, blocks: Option<&[FilterBlock]>) -> io::Result<Vec<u8>> {
        // Directories get numbers in their order. Records without a directory come last.
        let mut folders: Vec<u32> = (0..self.folders.texts.len() as u32).collect();
        folders.sort_unstable_by(|&a, &b| self.folders.texts.get(a).cmp(self.folders.texts.get(b)));
        let mut ranks = vec![0; folders.len()];
        (0..).zip(&folders).for_each(|(rank, &folder)| ranks[folder as usize] = rank);
        let rank = |folder: u32| ranks.get(folder as usize).copied().unwrap_or(NO_FOLDER);
        let name = |at: usize| text_at(&self.strings, self.records[at].row.name());
        let mut order: Vec<(u32, usize)> = self.records.iter().map(|record| rank(record.row.folder)).zip(0..).collect();
        order.sort_by(|&(rank_a, a), &(rank_b, b)| rank_a.cmp(&rank_b).then_with(|| name(a).cmp(name(b))));

        // Strings and keys lie in the order of the records, because most readers read them in this order.
        let mut strings = String::with_capacity(self.strings.len());
        let (mut roots, mut forks, mut other_ids) = (Vec::new(), Vec::new(), Vec::new());
        let mut records = Vec::with_capacity(order.len() * RECORD);
        let mut ranges = vec![(0, 0); folders.len()];
        for (at, &(rank, from)) in (0..).zip(&order) {
            let DraftRecord { mut row, roots: count, id, parents } = self.records[from];
            let mut copy = |place: TextPlace| append(&mut strings, text_at(&self.strings, place));
            row.name.0 = copy(row.name())?.0;
            if let Some(id) = id.map(&mut copy).transpose()? {
                push(&mut other_ids, &[at, id.0, id.1]);
            }
            if parents != [None; 2] {
                let [parent, parent_id] = parents.map(|parent| parent.map_or(Ok((0, 0)), &mut copy));
                let (parent, parent_id) = (parent?, parent_id?);
                push(&mut forks, &[at, parent.0, parent.1, parent_id.0, parent_id.1]);
            }
            let keys = &self.roots[row.roots as usize * 8..][..count * 8];
            row.roots = (roots.len() / 8) as u32;
            roots.extend_from_slice(keys);
            if let Some((first, end)) = ranges.get_mut(rank as usize) {
                *first = if *end == 0 { at } else { *first };
                *end = at + 1;
            }
            row.folder = rank;
            records.extend(row.to_bytes());
        }
        let mut folder_rows = Vec::new();
        for (&folder, (first, end)) in folders.iter().zip(ranges) {
            let text = append(&mut strings, self.folders.texts.get(folder))?;
            push(&mut folder_rows, &[text.0, text.1, first, end]);
        }
        let mut cwds = Vec::new();
        for cwd in self.cwds.texts.iter() {
            let text = append(&mut strings, cwd)?;
            push(&mut cwds, &[text.0, text.1]);
        }
        let devices: Vec<u8> = self.devices.iter().flat_map(|device| device.to_le_bytes()).collect();
        let blocks: Option<Vec<u8>> = blocks.map(|blocks| blocks.iter().flat_map(|block| block.to_bytes()).collect());
        let data = [
            (columns::RECORDS, &*records),
            (columns::STRINGS, strings.as_bytes()),
            (columns::ROOTS, &roots),
            (columns::DEVICES, &devices),
            (columns::FOLDERS, &folder_rows),
            (columns::CWDS, &cwds),
            (columns::FORKS, &forks),
            (columns::OTHER_IDS, &other_ids),
        ];
        let filter = blocks.as_deref().map(|blocks| (columns::FILTER, blocks));
        Ok(columns::table_bytes(&data.into_iter().chain(filter).collect::<Vec<_>>()))
    }
}

/// Appends a text, and returns its place.
///
/// # Errors
/// The strings are too long.
fn append(strings: &mut String, text: &str) -> io::Result<TextPlace> {
    let at = u32::try_from(strings.len()).map_err(too_long)?;
    let len = u32::try_from(text.len()).map_err(too_long)?;
    strings.push_str(text);
    Ok((at, len))
}

/// Appends a row of numbers.
fn push(column: &mut Vec<u8>, row: &[u32]) {
    row.iter().for_each(|number| column.extend(number.to_le_bytes()));
}

fn too_long(_: std::num::TryFromIntError) -> io::Error {
    io::ErrorKind::FileTooLarge.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::fingerprint::{FileVersion, hash};
    use crate::disk::index::pieces::{SegmentHeader, SegmentPieces};
    use crate::disk::index::table::SegmentTable;
    use crate::session::digest::Digest;
    use crate::session::lines::Header;
    use crate::session::links::IdHash;
    use proptest::prelude::*;

    /// Reads a serialized table.
    fn table(bytes: &[u8]) -> SegmentTable {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, bytes).unwrap();
        let (table_len, table_hash) = (bytes.len() as u64, hash(bytes));
        let header = SegmentHeader { table_len, table_hash, ..SegmentHeader::default() };
        SegmentTable::read(&SegmentPieces(file), &header).unwrap()
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

    proptest! {
        #[test]
        fn tables_are_read_as_written(files in files().prop_shuffle(), removed in any::<u16>()) {
            const FOLDERS: [&str; 3] = ["", "p/", "p/q/"];
            let mut draft = TableDraft::default();
            for (at, ((folder, name), id, (parent_session, parent_id), roots)) in (0..).zip(&files) {
                let digest = Digest {
                    header: Header {
                        id: id.clone(),
                        cwd: FOLDERS[roots.len() % 3].into(),
                        parent_session: parent_session.clone(),
                        parent_id: parent_id.clone(),
                        ..Header::default()
                    },
                    roots: roots.iter().map(|&root| IdHash::number(root)).collect(),
                    ..Digest::default()
                };
                let stamp = FileVersion { file: (at % 2 + 7, at), bytes: at * 3, ..FileVersion::default() };
                let record = SegmentRecord { stamp, is_settled: at.is_multiple_of(2), is_session: true, pieces: at };
                let place = folder.map(|folder| FilePlace { folder: FOLDERS[folder], name });
                draft.push(record, place, &digest.facts(), &[]).unwrap();
            }
            let check = |table: &SegmentTable, is_wanted: &dyn Fn(u64) -> bool| {
                let mut seen: Vec<u64> = Vec::new();
                for at in 0..table.len {
                    let record = table.record(at);
                    let from = record.pieces;
                    let ((folder, name), id, parents, roots) = &files[from as usize];
                    prop_assert_eq!((record.stamp.file, record.stamp.bytes), ((from % 2 + 7, from), from * 3));
                    prop_assert_eq!((record.is_settled, record.is_session), (from.is_multiple_of(2), true));
                    prop_assert_eq!(u64::from(table.number(at)), from);
                    let place = folder.map(|folder| FilePlace { folder: FOLDERS[folder], name });
                    prop_assert_eq!((table.place(at), table.has_place(at)), (place, place.is_some()));
                    let facts = table.facts(at);
                    prop_assert_eq!((facts.id(), facts.cwd()), (&**id, FOLDERS[roots.len() % 3]));
                    prop_assert_eq!((facts.parent_session(), facts.parent_id()), (parents.0.as_deref(), parents.1.as_deref()));
                    prop_assert_eq!(facts.roots().iter().map(IdHash::value).collect::<Vec<_>>(), roots.clone());
                    if let Some(place) = place {
                        let records = table.records_in(place.folder);
                        prop_assert_eq!(table.find(&records, place.name.as_bytes()), Some(at));
                        prop_assert_eq!(table.find(&records, b"other"), None);
                    }
                    seen.push(from);
                }
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..files.len() as u64).filter(|&at| is_wanted(at)).collect::<Vec<_>>());
                prop_assert_eq!(table.records_in("r/"), 0..0);
                Ok(())
            };
            let whole = table(&draft.to_bytes(None).unwrap());
            check(&whole, &|_| true)?;
            let is_removed = |at: u64| removed >> at & 1 == 1;
            let rest = whole.without(|at| is_removed(whole.record(at).pieces)).unwrap();
            check(&table(&rest), &|at| !is_removed(at))?;
        }
    }

    #[test]
    fn removed_records_leave_no_text() {
        let mut draft = TableDraft::default();
        for name in ["one", "swordfish"] {
            let header = Header { id: format!("{name}-id"), cwd: format!("/{name}"), ..Header::default() };
            let parent_session = Some(format!("{name}-parent"));
            let digest = Digest { header: Header { parent_session, ..header }, ..Digest::default() };
            let folder = format!("{name}/");
            let place = Some(FilePlace { folder: &folder, name });
            draft.push(SegmentRecord::default(), place, &digest.facts(), &[]).unwrap();
        }
        let whole = table(&draft.to_bytes(None).unwrap());
        let rest = whole.without(|at| whole.place(at).unwrap().name == "swordfish").unwrap();
        let holds = |text: &str| String::from_utf8_lossy(&rest).contains(text);
        assert!(holds("one-parent") && !holds("swordfish"));
    }
}
