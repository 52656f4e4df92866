//! A slow reference reader of lines: it checks every byte of every string.

mod entry;
mod json;

use pitree::session::entry::parse;
use pitree::session::json::JsonReader;

/// The results for a line: its entry with all fields or an error; the same for its beginning, read as an overlong line;
/// and the validity as a single JSON value.
type Said = [String; 3];

fn said(line: &[u8]) -> Said {
    let mut reader = json::Reader::new(line);
    let is_json = reader.skip().and_then(|_| reader.end());
    [format!("{:?}", entry::line(line)), format!("{:?}", entry::beginning(line)), format!("{is_json:?}")]
}

fn said_by_pitree(line: &[u8]) -> Said {
    let mut reader = JsonReader::new(line);
    let is_json = reader.skip().and_then(|_| reader.end());
    [format!("{:?}", parse::line(line)), format!("{:?}", parse::beginning(line)), format!("{is_json:?}")]
}

/// Panics if pitree reads a line differently.
pub(crate) fn agree(line: &[u8]) {
    assert_eq!(said_by_pitree(line), said(line), "{:?}", String::from_utf8_lossy(line));
}
