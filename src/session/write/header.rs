//! Edits of the header of a session file: another working directory, or another path of the parent session. All other
//! bytes stay the same.

use thiserror::Error;

use crate::session::entry::parse;
use crate::session::json::edit::{RawObject, quote};
use crate::session::lines::Header;

/// New values of header fields; `None` keeps a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderEdit {
    /// The working directory.
    pub cwd: Option<String>,
    /// The path of the parent session.
    pub parent: Option<String>,
}

/// The reason why a header cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum HeaderError {
    /// The first valid line is not a header.
    #[error("not a pi session: the first line is not a session header")]
    NoHeader,
    /// The file has a newer version.
    #[error("the session has a newer format (version {0}); update pitree")]
    Newer(f64),
}

impl HeaderEdit {
    /// Returns the header with the new values. Returns `None` for a line before the header, which pi skips.
    ///
    /// # Errors
    /// The line is valid but not a header, or has a newer version.
    pub fn line(&self, line: &[u8]) -> Result<Option<Vec<u8>>, HeaderError> {
        let Some(header) = header(line)? else { return Ok(None) };
        if header.is_newer() {
            return Err(HeaderError::Newer(header.version));
        }
        let object = RawObject::new(line).ok_or(HeaderError::NoHeader)?;
        let is_old = object.text("parentSession").is_none() && object.text("branchedFrom").is_some();
        let parent_key = if is_old { "branchedFrom" } else { "parentSession" };
        let values = [("cwd", &self.cwd), (parent_key, &self.parent)].into_iter();
        let changes: Vec<_> = values.filter_map(|(key, value)| Some((key, Some(quote(value.as_ref()?))))).collect();
        Ok(Some(object.with(&changes)))
    }

    /// Returns `true` if a header has the new values.
    pub fn is_in(&self, header: &Header) -> bool {
        self.cwd.as_ref().is_none_or(|cwd| *cwd == header.cwd)
            && self.parent.as_ref().is_none_or(|parent| header.parent_session.as_ref() == Some(parent))
    }
}

/// Returns the header in a line. Returns `None` for a line that pi skips.
///
/// # Errors
/// The line is valid but not a header.
pub fn header(line: &[u8]) -> Result<Option<Header>, HeaderError> {
    match parse::line(line) {
        Ok(Some(entry)) if entry.starts_session() => Ok(Some(Header::new(&entry))),
        Ok(Some(_)) => Err(HeaderError::NoHeader),
        Ok(None) | Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_values_change() {
        let edit = |cwd: Option<&str>, parent: Option<&str>, line: &str| {
            let edit = HeaderEdit { cwd: cwd.map(Into::into), parent: parent.map(Into::into) };
            let edited = edit.line(line.as_bytes()).unwrap().map(|line| String::from_utf8(line).unwrap());
            if let Some(edited) = &edited {
                assert!(edit.is_in(&header(edited.as_bytes()).unwrap().unwrap()), "{edited}");
            }
            edited
        };
        let line = r#"{ "type":"session","id":"a","n":1e999,"cwd": "/old","parentSession":"/p"}"#.to_string() + "\r";
        assert_eq!(edit(Some("/n\"w"), None, &line).unwrap(), line.replace("/old", "/n\\\"w"));
        assert_eq!(edit(None, Some("/q"), &line).unwrap(), line.replace("/p", "/q"));
        assert_eq!(edit(None, None, &line).unwrap(), line);
        let old = r#"{"type":"session","id":"a","branchedFrom":"/p"}"#;
        let new = r#"{"type":"session","id":"a","branchedFrom":"/q","cwd":"/n"}"#;
        assert_eq!(edit(Some("/n"), Some("/q"), old).unwrap(), new);
        for skipped in ["", "no JSON", "{\"type\":\"sess"] {
            assert_eq!(edit(Some("/n"), None, skipped), None);
        }
    }

    #[test]
    fn other_and_newer_files_are_refused() {
        let edit = |line: &str| HeaderEdit::default().line(line.as_bytes());
        assert_eq!(edit(r#"{"type":"message","id":"a"}"#), Err(HeaderError::NoHeader));
        assert_eq!(edit(r#"{"type":"session","id":5}"#), Err(HeaderError::NoHeader));
        assert_eq!(edit(r#"{"type":"session","version":4,"id":"a"}"#), Err(HeaderError::Newer(4.0)));
        assert_eq!(edit(r#"{"v":4,"kind":"header","id":"a"}"#), Err(HeaderError::Newer(4.0)));
    }
}
