//! Where bytes come from: the disk, or the sample sessions inside the program (`--demo`). Everything else in `disk`
//! reads through here, so that both are the same to it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use crate::disk::{demo, lines};
use crate::system;

/// How far into a file its header may stand, in bytes. It is the first line that is JSON, of some hundred bytes; pi passes
/// over what is none before it. A file is refused that has none so far, however long it is.
const HEADER_WITHIN: u64 = 16 * 1024 * 1024;

/// A source of session files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// The file system.
    Disk,
    /// The sample sessions that come with pitree.
    Demo,
}

/// A file open for reading at any place.
pub trait Readable: Read + Seek {}
impl<T: Read + Seek> Readable for T {}

impl Files {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// It can't be opened, or is no regular file.
    pub fn open(self, path: &Path) -> io::Result<Box<dyn Readable>> {
        self.with_len(path).map(|(file, _)| file)
    }

    /// Opens a file for reading as a session; `None` if its beginning shows that it is none. (Of a small file that is seen
    /// soon enough when it is read.)
    ///
    /// # Errors
    /// It can't be opened or read, or is no regular file.
    pub fn session(self, path: &Path) -> io::Result<Option<Box<dyn Readable>>> {
        let (mut file, len) = self.with_len(path)?;
        if len > HEADER_WITHIN {
            let head = lines::head(&mut (&mut file).take(HEADER_WITHIN), &mut Vec::new())?;
            // What begins with an entry, or a title, is told from other files, which whoever reads on does.
            if head.header().is_none() && !head.is_headless() && !head.is_titled() {
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
                    // What the system makes up on reading says that it is empty, and may have no end.
                    (_, 0) => &[],
                    (file, len) => return Ok((Box::new(file), len)),
                }
            }
            Self::Demo => demo::file(path)?,
        };
        Ok((Box::new(Cursor::new(bytes)), bytes.len() as u64))
    }

    /// The length of a file in bytes.
    ///
    /// # Errors
    /// There is no such file, or it is no regular file: reading a pipe or a device could wait for ever.
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

    /// Whether a directory exists: a project that a session worked in.
    pub fn is_dir(self, path: &Path) -> bool {
        self == Self::Demo || path.is_dir()
    }
}

/// Reads a regular file: a pipe or a device in its place could block.
///
/// # Errors
/// It cannot be opened or read, or is not a regular file.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, File::options().read(true))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file, and nothing but a file: at a pipe or a device, which may stand in its place at any time, nobody waits.
///
/// # Errors
/// It can't be opened, or is no regular file.
pub(crate) fn open_regular(path: &Path, options: &OpenOptions) -> io::Result<File> {
    regular(path, options).map(|(file, _)| file)
}

/// As [`open_regular`], with the length in bytes.
fn regular(path: &Path, options: &OpenOptions) -> io::Result<(File, u64)> {
    let mut options = options.clone();
    system::files::without_waiting(&mut options);
    // A socket, or a pipe that is only to be written, fails with an error of its own.
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
