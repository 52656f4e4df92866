//! New versions of session files, written next to them: see `changes::kinds::rewrite`.

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use twox_hash::XxHash3_64;

use crate::base::numbers::bytes as format_bytes;
use crate::base::path_context::PathContext;
use crate::disk::files;
use crate::disk::fingerprint::{ContentHash, FileMetadata};
use crate::disk::new_file::Draft;
use crate::system::files as system_files;

/// The number of attempts to write a new version of a file to which a pi writes meanwhile.
const TRIES: usize = 3;

/// The size in bytes of the buffers for reading and writing.
const BUFFER: usize = 256 * 1024;

/// Writes new versions of session files.
pub trait Rewriter: Send + Sync {
    /// Writes the new version of the file at `path`, and returns what else is to be done. The file can change meanwhile;
    /// then it is written again.
    ///
    /// # Errors
    /// The file cannot be read, or must not be replaced.
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten>;

    /// Compares the new version with the file. Called before the file is replaced.
    ///
    /// # Errors
    /// The new version lacks something that it must have.
    fn check(&self, _path: &Path, _new: &Path) -> Result<()> {
        Ok(())
    }
}

/// Calls a function with each line of a file: its offset, the line, and its line break if it has one.
///
/// # Errors
/// The file cannot be read, or the function failed.
pub(crate) fn each_line(path: &Path, mut each: impl FnMut(u64, &[u8], &[u8]) -> Result<()>) -> Result<()> {
    let mut file = BufReader::with_capacity(BUFFER, files::open(path).path_context("cannot read", path)?);
    let (mut offset, mut line) = (0, Vec::new());
    while file.read_until(b'\n', &mut line).path_context("cannot read", path)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        each(offset, text, &line[text.len()..])?;
        offset += line.len() as u64;
        line.clear();
    }
    Ok(())
}

/// The result of writing a new version.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// `false` if the new version would be the same, so that the file stays as it is.
    pub is_changed: bool,
    /// Bytes that have no place in the new version. They are written to a file of their own, next to the session.
    pub rest: Vec<u8>,
}

/// The new version of a file while it is written: hashed, and written to a file unless it is only measured.
pub struct NewVersion<'a> {
    path: &'a Path,
    folder: &'a Path,
    to: Option<BufWriter<&'a File>>,
    hasher: XxHash3_64,
    bytes: u64,
}

impl NewVersion<'_> {
    /// Checks that the file system has space for this number of bytes.
    ///
    /// # Errors
    /// It has less.
    pub fn needs(&self, bytes: u64) -> Result<()> {
        match system_files::free_bytes(self.folder) {
            Some(free) if free < bytes && self.to.is_some() => bail!(
                "disk full: the new version of {} needs {}, but {} are free; the original stays in the trash until it is emptied",
                self.path.display(),
                format_bytes(bytes),
                format_bytes(free)
            ),
            _ => Ok(()),
        }
    }

    fn finish(self, like: &Path) -> io::Result<ContentHash> {
        let content = ContentHash::of_parts(self.bytes, self.hasher.finish());
        if let Some(to) = self.to {
            let file = to.into_inner()?;
            system_files::open_as(file, like)?;
            // `pi -c` opens the most recently written file.
            file.set_modified(fs::metadata(like)?.modified()?)?;
            file.sync_all()?;
        }
        Ok(content)
    }
}

impl Write for NewVersion<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.write(bytes);
        self.bytes += bytes.len() as u64;
        if let Some(to) = &mut self.to {
            to.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// A complete new version of a file.
pub(crate) struct Written {
    /// The file; `None` if it was only measured.
    pub(crate) draft: Option<Draft>,
    /// Its content.
    pub(crate) content: ContentHash,
    /// The version of the file from which it was made.
    pub(crate) version: FileMetadata,
    /// Bytes that have no place in it.
    pub(crate) rest: Vec<u8>,
}

/// Writes the new version of a file, with its mode and time, next to `place`, where it will be. If `is_dry`, only
/// measures it. Returns `None` if it would be the same.
///
/// # Errors
/// The file cannot be read or is being written, the new version cannot be written, or it fails its check; nothing is left.
pub(crate) fn write(path: &Path, place: &Path, by: &dyn Rewriter, is_dry: bool) -> Result<Option<Written>> {
    for _ in 0..TRIES {
        let before = FileMetadata::of(path).path_context("cannot access", path)?;
        let written = write_once(path, place, by, is_dry, before);
        let is_same = FileMetadata::of(path).is_ok_and(|now| now == before);
        match written {
            Ok(written) if is_same => return Ok(written),
            Err(error) if is_same => return Err(error),
            _ => {} // it is written again
        }
    }
    bail!("{} is being written; try again when pi is idle", path.display());
}

fn write_once(
    path: &Path,
    place: &Path,
    by: &dyn Rewriter,
    is_dry: bool,
    version: FileMetadata,
) -> Result<Option<Written>> {
    let failed = || format!("cannot write {}", place.display());
    let draft = if is_dry { None } else { Some(Draft::of(place).with_context(failed)?) };
    let folder = place.parent().unwrap_or(Path::new("."));
    let to = draft.as_ref().map(|draft| BufWriter::with_capacity(BUFFER, &draft.file));
    let mut out = NewVersion { path, folder, to, hasher: XxHash3_64::new(), bytes: 0 };
    let Rewritten { is_changed, rest } = by.write(path, &mut out)?;
    if !is_changed {
        return Ok(None);
    }
    let content = out.finish(path).with_context(failed)?;
    if let Some(draft) = &draft {
        by.check(path, draft.path()).with_context(|| format!("the new version of {} is not used", path.display()))?;
    }
    Ok(Some(Written { draft, content, version, rest }))
}
