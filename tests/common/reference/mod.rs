//! A slow reader of lines, for pitree's to be held against: it looks at every string, and in it at every byte, one after
//! the other. Also for `fuzz/`.

mod entry;
mod json;

use pitree::session::entry::parse;
use pitree::session::json::JsonReader;

/// What there is to say of a line: its entry with all fields, or that it is no JSON; the same of its beginning alone, as if
/// it were too long; and whether it is one value of JSON.
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

/// Panics if pitree says something else of a line.
pub(crate) fn agree(line: &[u8]) {
    assert_eq!(said_by_pitree(line), said(line), "{:?}", String::from_utf8_lossy(line));
}
