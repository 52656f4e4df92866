//! Sources of session files: the disk, or the embedded samples (`--demo`). The rest of `disk` reads through this module
//! and does not distinguish them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use crate::disk::{demo, lines};
use crate::session::lines::NotASession;
use crate::system;

/// The maximum offset of a header in bytes. The header is the first line of valid JSON, some hundred bytes long; pi
/// skips invalid lines before it. A file without a header up to this offset is not a session.
const HEADER_WITHIN: u64 = 16 * 1024 * 1024;

/// A source of session files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// The file system.
    #[default]
    Disk,
    /// The embedded demo sessions.
    Demo,
}

/// A seekable file open for reading.
pub trait Readable: Read + Seek {}
impl<T: Read + Seek> Readable for T {}

impl Files {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// The file cannot be opened, or is not a regular file.
    pub fn open(self, path: &Path) -> io::Result<Box<dyn Readable>> {
        self.with_len(path).map(|(file, _)| file)
    }

    /// Opens a session file for reading. Returns `None` if its beginning shows that it is not a session. Small files
    /// are not checked, because reading them detects it soon enough.
    ///
    /// # Errors
    /// The file cannot be opened or read, or is not a regular file.
    pub fn session(self, path: &Path) -> io::Result<Option<Box<dyn Readable>>> {
        let (mut file, len) = self.with_len(path)?;
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

    fn with_len(self, path: &Path) -> io::Result<(Box<dyn Readable>, u64)> {
        let bytes: &[u8] = match self {
            Self::Disk => {
                match regular(path, File::options().read(true))? {
                    // Generated system files report length 0 and can be endless.
                    (_, 0) => &[],
                    (file, len) => return Ok((Box::new(file), len)),
                }
            }
            Self::Demo => demo::file(path)?,
        };
        Ok((Box::new(Cursor::new(bytes)), bytes.len() as u64))
    }

    /// Returns the length of a file in bytes.
    ///
    /// # Errors
    /// The file is missing or is not a regular file; reading a pipe or a device could block.
    pub fn len(self, path: &Path) -> io::Result<u64> {
        match self {
            Self::Disk => {
                let metadata = fs::metadata(path)?;
                must_be_regular(&metadata)?;
                Ok(metadata.len())
            }
            Self::Demo => demo::file(path).map(|bytes| bytes.len() as u64),
        }
    }

    /// Returns `true` if the directory exists.
    pub fn is_dir(self, path: &Path) -> bool {
        self == Self::Demo || path.is_dir()
    }
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
