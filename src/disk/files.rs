//! Opens session files, and checks whether files exist: an inaccessible file is not missing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::base::archive_paths;
use crate::disk::archive::ArchiveReader;
use crate::disk::lines;
use crate::session::lines::NotASession;
use crate::system;

/// The maximum offset of a header in bytes. The header is the first line of valid JSON, some hundred bytes long; pi
/// skips invalid lines before it. A file without a header up to this offset is not a session.
const HEADER_WITHIN: u64 = 16 * 1024 * 1024;

/// A seekable file open for reading.
pub trait Readable: Read + Seek {}
impl<T: Read + Seek> Readable for T {}

/// Opens a file for reading. An archived session is read as its content.
///
/// # Errors
/// The file cannot be opened, is not a regular file, or has the name of an archived session but is none.
pub fn open(path: &Path) -> io::Result<Box<dyn Readable>> {
    with_len(path).map(|(file, _)| file)
}

/// Opens a session file for reading. Returns `None` if its beginning shows that it is not a session. Small files are
/// not checked, because reading them detects it soon enough.
///
/// # Errors
/// The file cannot be opened or read, or is not a regular file.
pub fn session(path: &Path) -> io::Result<Option<Box<dyn Readable>>> {
    if archive_paths::is_archived(path) {
        return Ok(archived(path)?.map(|reader| Box::new(reader) as Box<dyn Readable>));
    }
    let (mut file, len) = with_len(path)?;
    if len > HEADER_WITHIN {
        let head = lines::head(&mut (&mut file).take(HEADER_WITHIN), &mut Vec::new())?;
        // The reader distinguishes files that start with an entry or a title from other files.
        if matches!(head.first, None | Some(Err(NotASession::NoHeader))) {
            return Ok(None);
        }
        file.rewind()?;
    }
    Ok(Some(file))
}

/// Opens an archived session for reading. Returns `None` if the file is not written by pitree.
///
/// # Errors
/// The file cannot be opened or read, is not a regular file, is damaged, or has a newer version.
pub(crate) fn archived(path: &Path) -> io::Result<Option<ArchiveReader>> {
    let (file, len) = regular(path, File::options().read(true))?;
    ArchiveReader::open(file, len)
}

/// Opens a file for reading; an archived session as it is stored.
///
/// # Errors
/// The file cannot be opened, or is not a regular file.
pub(crate) fn as_stored(path: &Path) -> io::Result<Box<dyn Readable>> {
    Ok(Box::new(open_regular(path, File::options().read(true))?))
}

/// The file has the name of an archived session, but is none.
fn foreign() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a session archived by pitree")
}

fn with_len(path: &Path) -> io::Result<(Box<dyn Readable>, u64)> {
    if archive_paths::is_archived(path) {
        let reader = archived(path)?.ok_or_else(foreign)?;
        let bytes = reader.facts.bytes;
        return Ok((Box::new(reader), bytes));
    }
    match regular(path, File::options().read(true))? {
        // Generated system files report length 0 and can be endless.
        (_, 0) => Ok((Box::new(io::empty()), 0)),
        (file, len) => Ok((Box::new(file), len)),
    }
}

/// Returns the length in bytes of a file, or of the content of an archived session.
///
/// # Errors
/// The file is missing or is not a regular file; reading a pipe or a device could block.
pub fn len(path: &Path) -> io::Result<u64> {
    if archive_paths::is_archived(path) {
        return archived(path)?.map(|reader| reader.facts.bytes).ok_or_else(foreign);
    }
    let metadata = fs::metadata(path)?;
    must_be_regular(&metadata)?;
    Ok(metadata.len())
}

/// Iterates over the entries of a directory, except unreadable ones.
pub(crate) fn entries(dir: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(dir).into_iter().flatten().flatten()
}

/// Iterates over the paths of the [entries] of a directory.
pub(crate) fn children(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    entries(dir).map(|entry| entry.path())
}

/// Returns a path with symbolic links resolved, or the path itself if that fails.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    dunce::canonicalize(path).unwrap_or_else(|_| path.into())
}

/// Returns `true` if every user of the system can write to a file; `false` if it is inaccessible.
pub fn is_writable_by_all(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| system::files::is_writable_by_all(&metadata))
}

/// Reads a regular file. A pipe or a device in its place could block.
///
/// # Errors
/// The file cannot be opened or read, or is not a regular file.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, File::options().read(true))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of at most `most` bytes. Returns `None` if it is larger.
///
/// # Errors
/// The file cannot be opened or read, or is not a regular file.
pub(crate) fn read_small(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let (file, len) = regular(path, File::options().read(true))?;
    if len == 0 || len > most {
        return Ok((len == 0).then(Vec::new)); // generated system files report length 0 and can be endless
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Opens a regular file without blocking, even if a pipe or a device takes its place.
///
/// # Errors
/// The file cannot be opened, or is not a regular file.
pub(crate) fn open_regular(path: &Path, options: &OpenOptions) -> io::Result<File> {
    regular(path, options).map(|(file, _)| file)
}

/// Like [`open_regular`], with the length in bytes.
fn regular(path: &Path, options: &OpenOptions) -> io::Result<(File, u64)> {
    let mut options = options.clone();
    system::files::without_waiting(&mut options);
    // Opening a socket or a write-only pipe fails with its own error.
    let reason = |error| fs::metadata(path).ok().and_then(|found| must_be_regular(&found).err()).unwrap_or(error);
    let file = options.open(path).map_err(reason)?;
    let metadata = file.metadata()?;
    must_be_regular(&metadata)?;
    Ok((file, metadata.len()))
}

fn must_be_regular(metadata: &fs::Metadata) -> io::Result<()> {
    match () {
        () if metadata.is_file() => Ok(()),
        () if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        () => Err(io::Error::new(io::ErrorKind::InvalidData, "not a regular file")),
    }
}

/// Returns `true` if a path exists, including dangling symbolic links.
///
/// # Errors
/// The answer is unknown: a directory cannot be entered, the disk fails, or is probably not mounted.
pub(crate) fn is_there(path: &Path) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match left_empty(path) {
            Some(folder) => Err(io::Error::other(format!(
                "{} is empty; mount its disk, or recreate the file's parent directory",
                folder.display()
            ))),
            None => Ok(false),
        },
        Err(error) => Err(error),
    }
}

/// If the directory of a file is missing, returns its nearest existing parent if that is empty, like an unused mount
/// point.
fn left_empty(path: &Path) -> Option<&Path> {
    let is_there = |folder: &&Path| folder.symlink_metadata().is_ok();
    let above = path.ancestors().skip(1).find(is_there)?;
    let is_empty = || fs::read_dir(above).is_ok_and(|mut entries| entries.next().is_none());
    (Some(above) != path.parent() && is_empty()).then_some(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_reached_is_not_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (disk, other) = (dir.path().join("disk"), dir.path().join("other"));
        fs::create_dir_all(&disk).unwrap();
        fs::create_dir_all(other.join("project")).unwrap();
        fs::write(other.join("file"), "").unwrap();
        for gone in [disk.join("a"), other.join("a"), other.join("project/a"), other.join("another/a")] {
            assert_eq!(is_there(&gone).ok(), Some(false), "{}", gone.display());
        }
        assert!(is_there(&disk.join("project/a")).unwrap_err().to_string().contains("mount it"));
        assert!(is_there(&disk.join("sessions/project/a")).is_err());
        assert!(is_there(&other.join("file/a")).is_err(), "no folder");
        assert_eq!(is_there(&other).ok(), Some(true));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", disk.join("link")).unwrap();
            assert_eq!(is_there(&disk.join("link")).ok(), Some(true));
        }
    }
}
