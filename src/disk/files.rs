//! Where bytes come from: the disk, or the sample sessions inside the program (`--demo`). Everything else in `disk`
//! reads through here, so that both are the same to it.

use std::fs;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use crate::disk::demo;

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
    /// It can't be opened.
    pub fn open(self, path: &Path) -> io::Result<Box<dyn Readable>> {
        match self {
            Self::Disk => Ok(Box::new(fs::File::open(path)?)),
            Self::Demo => demo::file(path).map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Readable>),
        }
    }

    /// The length of a file in bytes.
    ///
    /// # Errors
    /// There is no such file, or it is no regular file: reading a pipe or a device could wait for ever.
    pub fn len(self, path: &Path) -> io::Result<u64> {
        match self {
            Self::Disk => {
                let metadata = fs::metadata(path)?;
                if metadata.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                if !metadata.is_file() {
                    return Err(io::Error::other("not a regular file"));
                }
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
