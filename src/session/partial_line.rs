//! The last line of a file without a line break, kept until it is complete.

use crate::session::lines::Line;

/// An owned [`Line`].
#[derive(Clone, Debug)]
pub struct PartialLine {
    offset: u64,
    len: u64,
    bytes: Box<[u8]>,
}

impl PartialLine {
    /// Copies a line without a line break.
    pub fn new(line: &Line<'_>) -> Self {
        Self { offset: line.offset, len: line.len, bytes: line.bytes.into() }
    }

    /// Returns the line.
    pub fn line(&self) -> Line<'_> {
        Line { offset: self.offset, len: self.len, bytes: &self.bytes, ended: false, behind: 0 }
    }

    /// Returns `true` if the line is not JSON: it may be incomplete.
    pub fn is_torn(&self) -> bool {
        self.line().read().is_err()
    }
}
