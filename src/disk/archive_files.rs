//! Archived session files on disk: writing one from a session, and restoring the session.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use crate::disk::archive::{self, ArchiveFacts, FileFacts, damaged};
use crate::disk::fingerprint::{ContentHash, HashingReader};
use crate::disk::new_file::Draft;
use crate::disk::{create, files};
use crate::system;

/// The size in bytes of the buffer for writing.
const BUFFER: usize = 1 << 20;

/// Returns the content of an archived session, if it is valid.
pub(crate) fn content(facts: &ArchiveFacts) -> Option<ContentHash> {
    ContentHash::of_hex(facts.bytes, &facts.hash)
}

/// Writes the archive of the file at `path` to a draft of `place`, syncs it, and compares its content with the file. It
/// is private, and has the time of the file.
///
/// # Errors
/// A file cannot be read or written, or the archive is wrong.
pub(crate) fn write(path: &Path, place: &Path) -> io::Result<Draft> {
    let mut from = files::open_regular(path, File::options().read(true))?;
    let metadata = from.metadata()?;
    let (modified, mode) = (metadata.modified()?, system::files::permissions(&metadata));
    create::synced_folders(place)?;
    let draft = Draft::of(place)?;
    let mut out = BufWriter::with_capacity(BUFFER, &draft.file);
    let (bytes, hash) = archive::pack(&mut from, FileFacts { path: path.into(), modified, mode }, &mut out)?;
    out.into_inner()?.set_modified(modified)?;
    draft.file.sync_all()?;
    let mut packed = HashingReader::new(files::archived(draft.path())?.ok_or_else(damaged)?, true);
    packed.read_to(u64::MAX)?;
    let is_same = packed.content() == ContentHash::of_parts(bytes, hash);
    if is_same { Ok(draft) } else { Err(io::Error::other("the archived session differs")) }
}

/// Writes the session in the archive at `place` to a draft of `path`, with its time and mode, and syncs it. Compares its
/// content with the hash in the archive.
///
/// # Errors
/// A file cannot be read or written, or the archive is damaged.
pub(crate) fn restore(place: &Path, path: &Path) -> io::Result<Draft> {
    let reader = files::archived(place)?.ok_or_else(damaged)?;
    let facts = reader.facts.clone();
    create::synced_folders(path)?;
    let mut draft = Draft::of(path)?;
    let mut reader = HashingReader::new(reader, true);
    io::copy(&mut reader, &mut draft)?;
    if Some(reader.content()) != content(&facts) {
        return Err(damaged());
    }
    facts.mode.map_or(Ok(()), |mode| system::files::set_permissions(&draft.file, mode))?;
    draft.file.set_modified(facts.modified())?;
    draft.file.sync_all()?;
    Ok(draft)
}
