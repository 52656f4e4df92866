//! Versions, content hashes and fingerprints of files. A version is file system metadata. Fingerprints identify a file
//! after it has grown: its start, and the bytes before the new ones.

use std::fs::{self, Metadata};
use std::hash::Hasher;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::disk::files::{self, Readable};
use crate::system;
pub(crate) use crate::system::FileMetadata;

/// Twice the longest timestamp granularity of a kernel, in nanoseconds.
const TICK: i64 = 20_000_000;

/// The granularity of file systems that count in milliseconds, seconds or two seconds (FAT), plus a margin.
const COARSE: i64 = 2_100_000_000;

impl FileMetadata {
    /// Returns the version of the file at a path.
    pub(crate) fn new(metadata: &Metadata, path: &Path) -> Self {
        system::files::version(metadata, path)
    }

    /// Returns the version of the file at a path now.
    ///
    /// # Errors
    /// The file is inaccessible.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::new(&fs::metadata(path)?, path))
    }

    /// Returns the modification time in milliseconds since 1970.
    pub(crate) fn mtime(&self) -> i64 {
        self.written.div_euclid(1_000_000)
    }

    /// Returns `true` if every write after `then`, the version of a file created at that time, changes this version.
    /// Uncertain for a file written just before, or with a time in the future.
    pub(crate) fn is_settled(&self, then: &Self) -> bool {
        let is_fine = self.changed % 1_000_000 != 0 && then.changed % 1_000_000 != 0;
        let grain = if is_fine { TICK } else { COARSE };
        self.written.max(self.changed) < then.changed.saturating_sub(grain)
    }

    /// Returns `true` if this can be the version of the same file after an append.
    pub(crate) fn has_grown_from(&self, before: &Self) -> bool {
        self.file == before.file && self.bytes > before.bytes
    }
}

/// Returns a hash that detects damage and distinguishes files. Not collision-resistant against attackers.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The number of bytes per read when hashing.
const CHUNK: usize = 256 * 1024;

/// The length and hash of the bytes read from the start of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContentHash {
    pub(crate) bytes: u64,
    hash: u64,
}

impl ContentHash {
    /// Returns the length in bytes and the hash.
    pub(crate) fn parts(self) -> (u64, u64) {
        (self.bytes, self.hash)
    }

    /// Returns the hash in hexadecimal digits; empty without content.
    pub(crate) fn hex(self) -> String {
        if self.bytes == 0 { String::new() } else { format!("{:016x}", self.hash) }
    }

    /// Creates it from the length in bytes and the hash in hexadecimal digits, if they are valid.
    pub(crate) fn of_hex(bytes: u64, hash: &str) -> Option<Self> {
        Some(Self { bytes, hash: u64::from_str_radix(hash, 16).ok()? })
    }

    /// Creates it from the length in bytes and the hash.
    pub(crate) fn of_parts(bytes: u64, hash: u64) -> Self {
        Self { bytes, hash }
    }

    /// Returns `true` if the file is readable and starts with this content. Every file starts with empty content.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        self.bytes == 0 || self.starts(path).unwrap_or(false)
    }

    /// Returns `true` if the file starts with this content.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn starts(&self, path: &Path) -> io::Result<bool> {
        let mut hashed = HashingReader::new(files::open(path)?, true);
        hashed.read_to(self.bytes)?;
        Ok(hashed.content() == *self)
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

/// The number of bytes that must be unchanged at the start and before an offset.
const SAMPLE: u64 = 1024;

/// The fingerprint of a file up to an offset.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PrefixFingerprint {
    pub(crate) place: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl PrefixFingerprint {
    /// Computes the fingerprint of a file up to an offset.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn new(file: &mut Box<dyn Readable>, place: u64) -> io::Result<Self> {
        let len = place.min(SAMPLE);
        Ok(Self { place, head: sample(file, 0, len)?, tail: sample(file, place - len, len)? })
    }

    /// Returns `true` if the samples of the file are unchanged up to the offset.
    pub(crate) fn holds(&self, file: &mut Box<dyn Readable>) -> bool {
        let len = self.place.min(SAMPLE);
        sample(file, 0, len).is_ok_and(|head| head == self.head)
            && sample(file, self.place - len, len).is_ok_and(|tail| tail == self.tail)
    }
}

/// The length of a file and a checksum of its first and last bytes. Identifies the file after it was moved or appended
/// to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    bytes: u64,
    checksum: u64,
}

impl Fingerprint {
    /// Returns the fingerprint of a file, or of a symbolic link itself.
    ///
    /// # Errors
    /// The file cannot be read, or is not a regular file.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let found = path.symlink_metadata()?;
        Ok(Self { bytes: found.len(), checksum: checksum(path, &found, found.len())? })
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns `true` if the file at a path is this file, also with bytes appended.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn fits(&self, path: &Path) -> io::Result<bool> {
        let found = path.symlink_metadata()?;
        let may_fit = !found.is_dir() && found.len() >= self.bytes;
        Ok(may_fit && checksum(path, &found, self.bytes)? == self.checksum)
    }
}

/// Returns a checksum of the samples of a file up to an offset.
fn checksum(path: &Path, found: &Metadata, place: u64) -> io::Result<u64> {
    if found.is_symlink() {
        return Ok(hash(fs::read_link(path)?.as_os_str().as_encoded_bytes()));
    }
    let PrefixFingerprint { head, tail, .. } = PrefixFingerprint::new(&mut files::as_stored(path)?, place)?;
    Ok(hash(&[head, tail].concat()))
}

fn sample(file: &mut Box<dyn Readable>, start: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_fits_the_file_and_what_is_appended_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let text = "line\n".repeat(1000);
        fs::write(&path, &text).unwrap();
        let print = Fingerprint::of(&path).unwrap();
        for (now, fits) in [
            (text.clone(), true),
            (text.clone() + "more", true),
            (text.replacen("line", "LINE", 1), false),
            (text[1..].to_string() + "!", false),
            (text[1..].to_string(), false),
        ] {
            fs::write(&path, &now).unwrap();
            assert_eq!(print.fits(&path).unwrap(), fits, "{} bytes", now.len());
        }
        assert!(!print.fits(dir.path()).unwrap());
        #[cfg(unix)]
        {
            let link = dir.path().join("link");
            std::os::unix::fs::symlink("a", &link).unwrap();
            let print = Fingerprint::of(&link).unwrap();
            assert!(print.fits(&link).unwrap());
            fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink("b", &link).unwrap();
            assert!(!print.fits(&link).unwrap());
        }
    }

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
