//! The columns of the table of a segment, and the sizes of their rows. The rows of records are in `record`.

/// A column of the table: its ID, and the form of its data. A column whose data can be derived from the pieces has a
/// form of its own: in a segment without it or with another form, it is missing until the segment is rewritten.
pub(super) type Column = (u32, u32);

pub(super) const RECORDS: Column = (0, 0);
pub(super) const STRINGS: Column = (1, 0);
/// The keys of root entries.
pub(super) const ROOTS: Column = (2, 0);
/// The blocks of the filter. Increase the form with every change of the filter or of its keys.
pub(super) const FILTER: Column = (3, 2);
/// The devices of the files.
pub(super) const DEVICES: Column = (4, 0);
/// The directories of the files in order: see [`FOLDER`].
pub(super) const FOLDERS: Column = (5, 0);
/// The places of the working directories.
pub(super) const CWDS: Column = (6, 0);
/// The parents of forks, in order of their records: see [`FORK`].
pub(super) const FORKS: Column = (7, 0);
/// The IDs that are not in the names of the files, in order of their records: see [`OTHER_ID`].
pub(super) const OTHER_IDS: Column = (8, 0);

/// The size of the row of a directory: the place of its path, and its first record and the one after its last.
pub(super) const FOLDER: usize = 4 * 4;

/// The size of the place of a working directory.
pub(super) const CWD: usize = 2 * 4;

/// The size of the row of a fork: its record, and the places of its parent session and of the ID of that.
pub(super) const FORK: usize = 5 * 4;

/// The size of the row of an ID: its record and its place.
pub(super) const OTHER_ID: usize = 3 * 4;

/// The size of the description of a column: its ID, form, and length in bytes.
pub(super) const COLUMN: usize = 4 + 4 + 8;

/// The maximum number of columns.
pub(super) const MOST_COLUMNS: u64 = 64;

/// Serializes a table: the number of columns, their descriptions, and their data.
pub(super) fn table_bytes(columns: &[(Column, &[u8])]) -> Vec<u8> {
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
