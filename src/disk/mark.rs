//! By what a file that grew is told from another one in its place: how it began, and what stood before what is new.

use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};

use crate::disk::files::Readable;

/// As many bytes must be as they were, at the beginning and before a place.
const SAMPLE: u64 = 1024;

/// What tells that a file is the same up to a place.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mark {
    place: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Mark {
    /// That of a file up to a place.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn new(file: &mut Box<dyn Readable>, place: u64) -> io::Result<Self> {
        let len = place.min(SAMPLE);
        Ok(Self { place, head: sample(file, 0, len)?, tail: sample(file, place - len, len)? })
    }

    /// The place up to which it is.
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// Whether a file is the same up to there, as far as that can be told without reading it whole.
    pub(crate) fn holds(&self, file: &mut Box<dyn Readable>) -> bool {
        let len = self.place.min(SAMPLE);
        sample(file, 0, len).is_ok_and(|head| head == self.head)
            && sample(file, self.place - len, len).is_ok_and(|tail| tail == self.tail)
    }
}

fn sample(file: &mut Box<dyn Readable>, start: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}
