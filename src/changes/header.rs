//! The writer of versions of session files with another header, for moves and relinks.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Result, anyhow, ensure};

use crate::base::path_context::PathContext;
use crate::disk::files::{self, Readable};
use crate::disk::rewrite::{NewVersion, Rewriter, Rewritten};
use crate::session::lines::Header;
use crate::session::write::header::{self, HeaderEdit, HeaderError};

/// The size in bytes of the buffers for reading.
const BUFFER: usize = 256 * 1024;

/// Writes a file with other values in its header.
#[derive(Debug)]
pub(crate) struct HeaderWriter {
    /// The values.
    pub(crate) edit: HeaderEdit,
    /// `true` if the file moves, so that it is written even with the same values.
    pub(crate) moves: bool,
}

impl Rewriter for HeaderWriter {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        out.needs(files::len(path)?)?;
        let mut file = open(path)?;
        let mut line = Vec::new();
        loop {
            next_line(&mut file, &mut line, path)?;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let Some(new) = self.edit.line(text).map_err(|why| cannot_use(path, why))? else {
                out.write_all(&line)?;
                continue;
            };
            let is_changed = self.moves || new != text;
            out.write_all(&new)?;
            out.write_all(&line[text.len()..])?;
            io::copy(&mut file, out).path_context("cannot copy", path)?;
            return Ok(Rewritten { is_changed, ..Rewritten::default() });
        }
    }

    /// Compares all lines after the header, and the values in it.
    fn check(&self, path: &Path, new: &Path) -> Result<()> {
        let ((old_header, mut old), (new_header, mut new)) = (after_header(path)?, after_header(new)?);
        let has_values = old_header.id == new_header.id && self.edit.is_in(&new_header);
        ensure!(has_values && is_same(&mut old, &mut new)?, "it differs from the original");
        Ok(())
    }
}

fn open(path: &Path) -> Result<BufReader<Box<dyn Readable>>> {
    let file = files::open(path).path_context("cannot read", path)?;
    Ok(BufReader::with_capacity(BUFFER, file))
}

/// Reads the next line with its line break.
fn next_line(file: &mut impl BufRead, line: &mut Vec<u8>, path: &Path) -> Result<()> {
    line.clear();
    let count = file.read_until(b'\n', line).path_context("cannot read", path)?;
    if count == 0 { Err(cannot_use(path, HeaderError::NoHeader)) } else { Ok(()) }
}

fn cannot_use(path: &Path, why: HeaderError) -> anyhow::Error {
    anyhow!("cannot use {}: {why}", path.display())
}

/// Returns the header of a file, and the lines after it.
fn after_header(path: &Path) -> Result<(Header, BufReader<Box<dyn Readable>>)> {
    let (mut file, mut line) = (open(path)?, Vec::new());
    loop {
        next_line(&mut file, &mut line, path)?;
        if let Some(header) = header::header(&line).map_err(|why| cannot_use(path, why))? {
            return Ok((header, file));
        }
    }
}

fn is_same(one: &mut impl BufRead, other: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if length == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        if left[..length] != right[..length] {
            return Ok(false);
        }
        one.consume(length);
        other.consume(length);
    }
}
