//! Archived session files on disk: writing one from a session, and restoring the session.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::disk::archive::{self, ArchiveFacts, ArchiveReader, FileFacts, damaged};
use crate::disk::create;
use crate::disk::files;
use crate::disk::fingerprint::{ContentHash, HashingReader};
use crate::system;

/// The size in bytes of the buffer for writing.
const BUFFER: usize = 1 << 20;

/// Returns the content of an archived session, if it is valid.
pub(crate) fn content(facts: &ArchiveFacts) -> Option<ContentHash> {
    Some(ContentHash::of_parts(facts.bytes, facts.hash()?))
}

/// Writes the archive of the file at `path` to the draft of `place`, syncs it, and compares its content with the file.
/// It is private, and has the time of the file. Returns the path of the draft.
///
/// # Errors
/// A file cannot be read or written, or the archive is wrong; the draft is removed.
pub(crate) fn write(path: &Path, place: &Path) -> io::Result<PathBuf> {
    let mut from = files::open_regular(path, File::options().read(true))?;
    let metadata = from.metadata()?;
    let (modified, mode) = (metadata.modified()?, system::files::permissions(&metadata));
    create::synced_folders(place)?;
    let draft = create::draft(place);
    let file = create::private().write(true).create_new(true).open(&draft)?;
    let written = (|| {
        let mut out = BufWriter::with_capacity(BUFFER, file);
        let (bytes, hash) = archive::pack(&mut from, FileFacts { path: path.into(), modified, mode }, &mut out)?;
        let file = out.into_inner()?;
        file.set_modified(modified)?;
        file.sync_all()?;
        let mut packed = HashingReader::new(files::archived(&draft)?.ok_or_else(damaged)?, true);
        packed.read_to(u64::MAX)?;
        let is_same = packed.content() == ContentHash::of_parts(bytes, hash);
        if is_same { Ok(()) } else { Err(io::Error::other("the archived session differs")) }
    })();
    written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    Ok(draft)
}

/// Writes the session in the archive at `place` to the draft of `path`, with its time and mode, and syncs it. Compares its
/// content with the hash in the archive. Returns the path of the draft.
///
/// # Errors
/// A file cannot be read or written, or the archive is damaged; the draft is removed.
pub(crate) fn restore(place: &Path, path: &Path) -> io::Result<PathBuf> {
    let reader = files::archived(place)?.ok_or_else(damaged)?;
    let facts = reader.facts.clone();
    create::synced_folders(path)?;
    let draft = create::draft(path);
    let mut file = create::private().write(true).create_new(true).open(&draft)?;
    let written = (|| {
        let mut reader = HashingReader::new(reader, true);
        io::copy(&mut reader, &mut file)?;
        if Some(reader.content()) != content(&facts) {
            return Err(damaged());
        }
        facts.mode.map_or(Ok(()), |mode| system::files::set_permissions(&file, mode))?;
        file.set_modified(facts.modified())?;
        file.sync_all()
    })();
    written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    Ok(draft)
}

/// Returns the line break that a session lacks at its end.
///
/// # Errors
/// The archive cannot be read.
pub(crate) fn end_of_line(session: &mut ArchiveReader) -> io::Result<&'static [u8]> {
    let mut last = *b"\n";
    if session.facts.bytes > 0 {
        session.seek(SeekFrom::End(-1))?;
        session.read_exact(&mut last)?;
    }
    Ok(if last == *b"\n" { b"" } else { b"\n" })
}
