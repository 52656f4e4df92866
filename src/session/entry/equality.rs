//! Whether entries of two files say the same. A fork writes its parent's entries anew, from what `JSON.parse` made of them,
//! and hangs those behind labels elsewhere, as labels come last (pi 1.5.2).

use crate::session::entry::Entry;
use crate::session::json::edit::{FieldEdit, RawObject};
use crate::session::json::value::stringify;
use crate::session::links::IdHash;

/// Fields that say where an entry stands, and not what it says.
const PLACE: [(&str, FieldEdit<'_>); 4] = [
    ("id", FieldEdit::Gone),
    ("parentId", FieldEdit::Gone),
    ("firstKeptEntryId", FieldEdit::Gone),
    ("firstKeptEntryIndex", FieldEdit::Gone),
];

/// As much is compared of an entry, in UTF-16 code units: no line that is read is longer.
const MOST: usize = 256 * 1024 * 1024;

/// The hash of a line but for the id of the parent: where two are alike, entries say the same. Lines that say the same may
/// be written in several ways, which [`is_same`] tells.
pub(crate) fn hash(entry: &Entry<'_>, line: &[u8]) -> IdHash {
    let parent = entry.parent_id.map(|id| id.raw()).and_then(|id| {
        let start = (id.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
        Some((line.get(..start)?, line.get(start + id.len()..)?))
    });
    match parent {
        Some((before, behind)) => IdHash::new(before).with(IdHash::new(behind)),
        None => IdHash::new(line),
    }
}

/// Whether two lines say the same, wherever they stand and however they are written.
pub fn is_same(a: &[u8], b: &[u8]) -> bool {
    let said = |line| Some(stringify(&RawObject::new(line)?.with(&PLACE), MOST));
    a == b || matches!((said(a), said(b)), (Some(a), Some(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::parse;

    fn hash_of(line: &str) -> IdHash {
        hash(&parse::line(line.as_bytes()).unwrap().unwrap(), line.as_bytes())
    }

    #[test]
    fn where_an_entry_stands_is_not_what_it_says() {
        let line = |parent: &str, text: &str| {
            format!(
                r#"{{"type":"message","id":"a","parentId":"{parent}","message":{{"role":"user","content":"{text}"}}}}"#
            )
        };
        assert_eq!(hash_of(&line("b", "one")), hash_of(&line("c", "one")));
        assert_ne!(hash_of(&line("b", "one")), hash_of(&line("b", "two")));
        let written = r#"{"type": "message", "message": {"role": "user", "content": "on\u0065"}, "id": "x"}"#;
        let anew = r#"{"type":"message","message":{"role":"user","content":"one"}}"#;
        assert!(is_same(written.as_bytes(), anew.as_bytes()));
        assert!(!is_same(line("b", "one").as_bytes(), line("b", "two").as_bytes()));
        assert!(!is_same(b"no JSON", b"nothing"));
    }
}
