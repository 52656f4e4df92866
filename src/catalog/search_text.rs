//! Reads the texts of session files.

use std::io;
use std::path::Path;

use crate::disk::files;
use crate::disk::lines::{self, CancelableReader};
use crate::session::search_text::{SearchTextBuilder, SearchTexts, SearchTextsBuf};

/// Reads the texts of one file. Returns `None` if it is not a session.
///
/// # Errors
/// The file cannot be read.
pub fn of(path: &Path) -> io::Result<Option<SearchTextsBuf>> {
    let mut builder = SearchTextBuilder::default();
    let is_session = read(path, (&mut builder, &mut Vec::new()), || false)?.is_some();
    Ok(is_session.then(|| builder.take()))
}

/// Reads the texts of one file with reusable buffers. Returns `None` if it is not a session or reading was canceled.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read<'a>(
    path: &Path,
    (builder, buffer): (&'a mut SearchTextBuilder, &mut Vec<u8>),
    is_stopped: impl Fn() -> bool,
) -> io::Result<Option<SearchTexts<'a>>> {
    builder.clear();
    let Some(file) = files::session(path)? else { return Ok(None) };
    lines::each(&mut CancelableReader(file, || !is_stopped()), 0, u64::MAX, buffer, |line| {
        builder.line(line);
        !builder.lines.is_refused() && !is_stopped()
    })?;
    Ok(if is_stopped() { None } else { builder.texts().ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_texts_of_sessions_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let message = r#"{"type":"message","id":"a","message":{"role":"user","content":"Say it"}}"#;
        let text = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{message}\n");
        std::fs::write(path("session"), text).unwrap();
        std::fs::write(path("other"), "{}\n").unwrap();
        let (mut builder, mut buffer) = (SearchTextBuilder::default(), Vec::new());
        let mut said = |name: &str, is_stopped: bool| {
            let read = read(&path(name), (&mut builder, &mut buffer), || is_stopped);
            read.map(|texts| texts.map(|texts| texts.conversation.folded.to_string()))
        };
        for _ in 0..2 {
            assert_eq!(said("session", false).unwrap().as_deref(), Some("say it"));
            assert_eq!(said("session", true).unwrap(), None);
            assert_eq!(said("other", false).unwrap(), None);
            assert!(said("gone", false).is_err());
        }
    }
}
