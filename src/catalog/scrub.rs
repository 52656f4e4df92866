//! Removal of secrets from session files: the values in some files, and the content of a file without them.

use std::path::Path;

use anyhow::Result;

use crate::catalog::export::redact::{Collector, ListedSecret, Redact};
use crate::disk::load::Bodies;
use crate::secrets::Rules;
use crate::session::entry::parse;

/// The secrets of some files.
pub(crate) struct ScrubValues<'r> {
    redact: Redact<'r>,
    /// The secrets, without their values.
    pub(crate) secrets: Vec<ListedSecret>,
}

/// A file without secrets.
pub(crate) struct ScrubbedFile {
    /// The new content.
    pub(crate) bytes: Vec<u8>,
    /// The number of lines that changed.
    pub(crate) lines: usize,
    /// The number of lines that still contain a value: in the header, an ID or data.
    pub(crate) left: usize,
}

impl<'r> ScrubValues<'r> {
    /// Collects the secrets in session files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn of<'p>(files: impl IntoIterator<Item = &'p Path>, rules: &'r Rules) -> Result<Self> {
        let mut collector = Collector::new(&[], Vec::new(), Some(&[]), rules);
        for file in files {
            for line in read(file)?.split(|&byte| byte == b'\n') {
                match parse::line(line) {
                    Ok(entry) => {
                        let id = entry.and_then(|entry| entry.id).map(|id| id.text().into_owned());
                        collector.line(line, id.as_deref());
                    }
                    Err(_) => collector.text(&String::from_utf8_lossy(line)),
                }
            }
        }
        let redact = collector.finish();
        let secrets = redact.found();
        Ok(Self { redact, secrets })
    }

    /// Returns a file without the values, or `None` if it contains none of them.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn scrub(&self, file: &Path) -> Result<Option<ScrubbedFile>> {
        let bytes = read(file)?;
        let mut new = ScrubbedFile { bytes: Vec::with_capacity(bytes.len()), lines: 0, left: 0 };
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let scrubbed = match (parse::line(text), std::str::from_utf8(text)) {
                // pi finds the project and the parent by the paths in the header.
                (Ok(Some(entry)), _) if entry.is_header() => text.to_vec(),
                (Err(_), Ok(text)) => self.redact.text(text).into_owned().into_bytes(),
                _ => self.redact.line(text),
            };
            new.lines += usize::from(scrubbed != text);
            new.left += usize::from(self.contains(&scrubbed));
            new.bytes.extend_from_slice(&scrubbed);
            new.bytes.extend_from_slice(&line[text.len()..]);
        }
        Ok((new.lines + new.left > 0).then_some(new))
    }

    /// Returns `true` if bytes contain a value as it is written in a text or in JSON.
    pub(crate) fn contains(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        self.redact.text(&text) != text
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    Bodies::open(file)?.whole()
}
