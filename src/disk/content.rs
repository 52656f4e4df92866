//! The content of a file as a length and a hash, to detect whether a changed file still starts with it.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, BufReader, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::disk::files::open_regular;

/// The number of bytes per read when hashing.
const CHUNK: usize = 256 * 1024;

/// The length and hash of the bytes read from the start of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContentHash {
    pub(crate) bytes: u64,
    hash: u64,
}

impl ContentHash {
    /// Returns `true` if the file starts with this content. Every file starts with empty content.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        let read = || {
            let mut hashed = HashingReader::new(open_regular(path, File::options().read(true))?, true);
            hashed.read_to(self.bytes)?;
            Ok::<_, io::Error>(hashed.content() == *self)
        };
        self.bytes == 0 || read().unwrap_or(false)
    }
}

/// A reader that can hash the bytes read through it.
pub(crate) struct HashingReader<R> {
    reader: R,
    hasher: Option<XxHash3_64>,
    bytes: u64,
}

impl<R: Read> HashingReader<R> {
    /// Creates a reader at the start of a file.
    pub(crate) fn new(reader: R, is_wanted: bool) -> Self {
        Self { reader, hasher: is_wanted.then(XxHash3_64::new), bytes: 0 }
    }

    /// Reads and hashes the bytes up to an offset.
    ///
    /// # Errors
    /// Reading failed.
    pub(crate) fn read_to(&mut self, place: u64) -> io::Result<()> {
        let rest = self.take(place.saturating_sub(self.bytes));
        io::copy(&mut BufReader::with_capacity(CHUNK, rest), &mut io::sink()).map(drop)
    }

    /// Returns the content read so far.
    pub(crate) fn content(&self) -> ContentHash {
        self.hasher
            .as_ref()
            .map_or_else(ContentHash::default, |hasher| ContentHash { bytes: self.bytes, hash: hasher.finish() })
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.write(&buffer[..count]);
        }
        self.bytes += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn detects_whether_a_file_has_only_grown() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let content = |text: &str| {
            let mut hashed = HashingReader::new(text.as_bytes(), true);
            hashed.read_to(3).unwrap();
            hashed.read_to_end(&mut Vec::new()).unwrap();
            hashed.content()
        };
        fs::write(&path, "one two three").unwrap();
        for text in ["one two three", "one two", "one", ""] {
            assert!(content(text).is_in(&path), "{text}");
        }
        for text in ["two", "one two three four", "one six"] {
            assert!(!content(text).is_in(&path), "{text}");
        }
        assert!(!content("one").is_in(&dir.path().join("gone")) && ContentHash::default().is_in(&path));
    }
}
