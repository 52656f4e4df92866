//! Comparison of the contents of entries in two files. A fork writes copies of entries from the result of `JSON.parse`.
//! It also changes the parents of entries after labels, because it writes labels last (pi 1.5.2).

use crate::session::entry::Entry;
use crate::session::json::edit::RawObject;
use crate::session::json::value::stringify;
use crate::session::links::IdHash;

/// Fields with the position of an entry instead of its contents.
const PLACE: [(&str, Option<&[u8]>); 4] =
    [("id", None), ("parentId", None), ("firstKeptEntryId", None), ("firstKeptEntryIndex", None)];

/// The maximum length of a compared entry in UTF-16 code units; no line is longer.
const MOST: usize = 256 * 1024 * 1024;

/// Returns a hash of a line without the ID of the parent. Equal hashes mean equal contents. Equal contents may be
/// written differently; see [`is_same`].
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

/// Returns `true` if two lines have the same contents, regardless of their positions and JSON formatting.
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
    fn ignores_the_position_of_an_entry() {
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
