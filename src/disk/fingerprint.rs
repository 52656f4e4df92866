//! Fingerprints that identify a file after it has grown: its start, and the bytes before the new ones.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::disk::file_version;
use crate::disk::files::{Files, Readable};

/// The number of bytes that must be unchanged at the start and before an offset.
const SAMPLE: u64 = 1024;

/// The fingerprint of a file up to an offset.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PrefixFingerprint {
    place: u64,
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

    /// Returns the offset.
    pub(crate) fn place(&self) -> u64 {
        self.place
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
fn checksum(path: &Path, found: &fs::Metadata, place: u64) -> io::Result<u64> {
    if found.is_symlink() {
        return Ok(file_version::hash(fs::read_link(path)?.as_os_str().as_encoded_bytes()));
    }
    let PrefixFingerprint { head, tail, .. } = PrefixFingerprint::new(&mut Files::Disk.open(path)?, place)?;
    Ok(file_version::hash(&[head, tail].concat()))
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
}
