//! An imported session: the entries of a file from elsewhere under a new header line. Valid lines keep their bytes, except
//! that an old file is migrated. Nothing in the file is followed: links to parent sessions are removed.

use thiserror::Error;

use crate::session::entry::parse;
use crate::session::json::edit::{RawObject, quote};
use crate::session::lines::Header;
use crate::session::write::line::iso;
use crate::session::write::migrate;

/// The maximum length of an ID that is kept, because it becomes part of a file name.
const LONGEST_ID: usize = 64;

/// The header fields of an imported session.
#[derive(Clone, Copy, Debug)]
pub struct ImportedHeader<'a> {
    /// A new ID, used if the session has none that pi accepts, or if `replace_id` is set.
    pub new_id: &'a str,
    /// `true` to replace the ID.
    pub replace_id: bool,
    /// The working directory.
    pub cwd: &'a str,
    /// The current time, in milliseconds since 1970.
    pub time_ms: i64,
}

/// An imported session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSession {
    /// The contents of the new file.
    pub bytes: Vec<u8>,
    /// The ID.
    pub id: String,
    /// The number of entries.
    pub entries: usize,
    /// The numbers of the omitted lines, counted from 1. The lines of an old file are counted after its migration.
    pub omitted: Vec<usize>,
}

/// The reason why a file cannot be imported.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum ImportError {
    /// The first valid line is not a header.
    #[error("not a pi session: the first line is not a session header")]
    NoHeader,
    /// The file has a newer version.
    #[error("the session has a newer format (version {0}); a newer pitree can import it")]
    Newer(f64),
}

/// Returns an imported session. A line is valid if it is a JSON object with a `type`, but no second header.
///
/// # Errors
/// The file is not a session, or has a newer version.
pub fn import(
    file: &[u8],
    new: &ImportedHeader<'_>,
    random: &mut dyn FnMut() -> u128,
) -> Result<ImportedSession, ImportError> {
    let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    let migrated = migrate::migrate(file, random);
    let file = migrated.as_deref().unwrap_or(file);
    let mut header = None;
    let (mut lines, mut omitted) = (Vec::new(), Vec::new());
    for (at, raw) in file.split(|&byte| byte == b'\n').enumerate() {
        let raw = raw.trim_ascii();
        if raw.is_empty() {
            continue;
        }
        let entry = parse::line(raw).ok().flatten();
        match (&header, entry) {
            (None, Some(entry)) if entry.starts_session() => {
                let found = Header::new(&entry);
                if found.is_newer() {
                    return Err(ImportError::Newer(found.version));
                }
                header = Some((RawObject::new(raw).ok_or(ImportError::NoHeader)?, found.id));
            }
            (None, Some(_)) => return Err(ImportError::NoHeader),
            (Some(_), Some(entry)) if !entry.type_name.is_empty() && !entry.is_header() => lines.push(raw),
            _ => omitted.push(at + 1),
        }
    }
    let (header, old_id) = header.ok_or(ImportError::NoHeader)?;
    let id = if new.replace_id || !is_usual_id(&old_id) { new.new_id.to_owned() } else { old_id };
    let mut bytes = header.with(&[
        ("id", Some(quote(&id))),
        ("cwd", Some(quote(new.cwd))),
        ("parentSession", None),
        ("parentSessionId", None),
        ("branchedFrom", None),
        ("legacyParentSessionPath", None),
        ("imported", Some(quote(&iso(new.time_ms)))),
    ]);
    bytes.push(b'\n');
    for line in &lines {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    Ok(ImportedSession { bytes, id, entries: lines.len(), omitted })
}

/// Returns `true` for an ID that pi accepts (1.6.0) and that is safe in a file name.
fn is_usual_id(id: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let ends = [id.bytes().next(), id.bytes().next_back()];
    id.len() <= LONGEST_ID
        && ends.into_iter().all(|end| end.is_some_and(|byte| byte.is_ascii_alphanumeric()))
        && id.bytes().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: ImportedHeader<'_> = ImportedHeader { new_id: "new", replace_id: false, cwd: "/w", time_ms: 0 };
    const HEADER: &str = r#"{"type":"session","version":3,"id":"a1","cwd":"/theirs","parentSession":"/etc/x","legacyParentSessionPath":"/x","more":1}"#;

    fn imported(file: &str, new: &ImportedHeader<'_>) -> Result<(Vec<String>, Vec<usize>), ImportError> {
        let done = import(file.as_bytes(), new, &mut || 7 << 96)?;
        Ok((String::from_utf8(done.bytes).unwrap().lines().map(str::to_string).collect(), done.omitted))
    }

    #[test]
    fn only_the_header_changes() {
        let entry = r#"{ "type":"message","id":"e","n":1e999,"message":{"role":"user","content":"\ud83d"}}"#;
        let (lines, omitted) = imported(&format!("\u{feff}{HEADER}\r\n\n{entry}\n"), &NEW).unwrap();
        let header =
            r#"{"type":"session","version":3,"id":"a1","cwd":"/w","more":1,"imported":"1970-01-01T00:00:00.000Z"}"#;
        assert_eq!((lines, omitted), (vec![header.to_string(), entry.to_string()], vec![]));
    }

    #[test]
    fn ids_are_replaced_on_demand_and_if_they_are_unsafe() {
        for (id, replace_id, expected) in [
            ("a1", false, "a1"),
            ("a1", true, "new"),
            ("../a", false, "new"),
            ("", false, "new"),
            (&*"a".repeat(65), false, "new"),
        ] {
            let header = HEADER.replace("a1", id);
            let done = import(header.as_bytes(), &ImportedHeader { replace_id, ..NEW }, &mut || 0).unwrap();
            assert_eq!(done.id, expected);
            assert!(String::from_utf8(done.bytes).unwrap().contains(&format!(r#""id":"{expected}""#)));
        }
    }

    #[test]
    fn invalid_lines_are_omitted() {
        let file = format!(
            "{HEADER}\n{{\"type\":\"x\",\"id\":\"e\"}}\nno JSON\n[1]\n{{\"id\":\"f\"}}\n{HEADER}\n{{\"type\":\"x\""
        );
        let (lines, omitted) = imported(&file, &NEW).unwrap();
        assert_eq!((&lines[1..], omitted), (&[r#"{"type":"x","id":"e"}"#.to_string()][..], vec![3, 4, 5, 6, 7]));
    }

    #[test]
    fn old_files_are_migrated_and_newer_ones_refused() {
        let old =
            r#"{"type":"session","id":"a1"}"#.to_string() + "\n" + r#"{"type":"message","message":{"role":"user"}}"#;
        let (lines, _) = imported(&old, &NEW).unwrap();
        assert!(lines[0].contains(r#""version":3"#) && lines[1].contains(r#""parentId":null"#), "{lines:?}");
        assert_eq!(imported(r#"{"type":"session","version":4,"id":"a1"}"#, &NEW), Err(ImportError::Newer(4.0)));
        assert_eq!(imported(r#"{"v":4,"kind":"header","id":"a1"}"#, &NEW), Err(ImportError::Newer(4.0)));
    }

    #[test]
    fn other_files_are_refused() {
        for file in ["", "text", "{}", r#"{"type":"message"}"#, "null\n[]"] {
            assert_eq!(imported(file, &NEW), Err(ImportError::NoHeader), "{file}");
        }
    }
}
