//! Removal of secrets from session files: the values in some files, and new versions of files without them.

use parking_lot::Mutex;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;

use crate::base::path_context::PathContext;
use crate::catalog::export::redact::{ExportCollector, ExportRedactor, ListedSecret};
use crate::disk::files::{self, Readable};
use crate::disk::kept_files::{KeptFile, TextRemoval};
use crate::disk::rewrite::{NewVersion, Rewriter, Rewritten};
use crate::disk::{marks, new_file};
use crate::secrets::Rules;
use crate::session::entry::parse;

/// The secrets of some files.
pub(crate) struct ScrubValues<'r> {
    redact: ExportRedactor<'r>,
    /// The secrets, without their values.
    pub(crate) secrets: Vec<ListedSecret>,
}

/// The lines of a file with secrets.
#[derive(Default)]
pub(crate) struct ScrubCounts {
    /// The number of lines that change.
    pub(crate) lines: usize,
    /// The number of lines that still contain a value: in the header or data.
    pub(crate) left: usize,
}

impl<'r> ScrubValues<'r> {
    /// Collects the secrets in session files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn of<'p>(files: impl IntoIterator<Item = &'p Path>, rules: &'r Rules) -> Result<Self> {
        let mut collector = ExportCollector::new(&[], Vec::new(), Some(&[]), rules);
        for file in files {
            let mut reader = open(file)?;
            let mut line = Vec::new();
            while next(&mut reader, &mut line, file)? {
                let line = line.strip_suffix(b"\n").unwrap_or(&line);
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

    /// Counts the lines of a file with one of the values.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn count(&self, file: &Path) -> Result<ScrubCounts> {
        self.scrub(file, &mut io::sink())
    }

    /// Writes a file without the values.
    fn scrub(&self, file: &Path, out: &mut dyn Write) -> Result<ScrubCounts> {
        let mut counts = ScrubCounts::default();
        let mut reader = open(file)?;
        let mut line = Vec::new();
        while next(&mut reader, &mut line, file)? {
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let scrubbed = match parse::line(text) {
                // pi finds the project and the parent by the paths in the header.
                Ok(Some(entry)) if entry.is_header() => text.to_vec(),
                Err(_) => text
                    .utf8_chunks()
                    .flat_map(|chunk| [self.redact.text(chunk.valid()).as_bytes(), chunk.invalid()].concat())
                    .collect(),
                _ => self.redact.line(text),
            };
            counts.lines += usize::from(scrubbed != text);
            counts.left += usize::from(self.contains(&scrubbed));
            out.write_all(&scrubbed)?;
            out.write_all(&line[text.len()..])?;
        }
        Ok(counts)
    }

    /// Returns `true` if a file contains a value.
    pub(crate) fn is_in(&self, file: &Path) -> bool {
        let mut line = Vec::new();
        open(file).is_ok_and(|mut reader| {
            while next(&mut reader, &mut line, file).unwrap_or_default() {
                if self.contains(&line) {
                    return true;
                }
            }
            false
        })
    }

    /// Replaces the values in a file besides sessions, if pitree can do that.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn replace_in(&self, file: &KeptFile) -> Result<()> {
        match file.removal {
            TextRemoval::Advice(_) => Ok(()),
            TextRemoval::Marks => marks::update(&file.path, &mut |_| ControlFlow::Continue(()), |marks| {
                let text = marks::to_json(marks)?;
                *marks = marks::of_json(self.redact.text(&String::from_utf8_lossy(&text)).as_bytes())?;
                Ok(true)
            }),
            TextRemoval::Rest => {
                let mut scrubbed = Vec::new();
                self.scrub(&file.path, &mut scrubbed)?;
                new_file::replace(&file.path, &scrubbed).path_context("cannot write", &file.path)
            }
        }
    }

    /// Returns `true` if bytes contain a value as it is written in a text or in JSON.
    pub(crate) fn contains(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        self.redact.text(&text) != text
    }
}

impl Rewriter for Mutex<ScrubValues<'static>> {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        out.needs(files::len(path)?)?;
        let values = self.lock();
        let counts = values.scrub(path, out)?;
        Ok(Rewritten { is_changed: counts.lines > 0, ..Rewritten::default() })
    }
}

fn open(file: &Path) -> Result<BufReader<Box<dyn Readable>>> {
    Ok(BufReader::new(files::open(file).path_context("cannot read", file)?))
}

/// Reads the next line with its line break. Returns `false` at the end.
fn next(reader: &mut impl BufRead, line: &mut Vec<u8>, file: &Path) -> Result<bool> {
    line.clear();
    let read = reader.read_until(b'\n', line);
    Ok(read.path_context("cannot read", file)? > 0)
}
