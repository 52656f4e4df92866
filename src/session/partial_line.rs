//! The last line of a file while no line break follows it, kept until it is known how it goes on.

use crate::session::lines::Line;

/// A [`Line`] that stands for itself.
#[derive(Clone, Debug)]
pub struct PartialLine {
    offset: u64,
    len: u64,
    bytes: Box<[u8]>,
}

impl PartialLine {
    /// Keeps a line that no line break follows.
    pub fn new(line: &Line<'_>) -> Self {
        Self { offset: line.offset, len: line.len, bytes: line.bytes.into() }
    }

    /// The line.
    pub fn line(&self) -> Line<'_> {
        Line { offset: self.offset, len: self.len, bytes: &self.bytes, ended: false, behind: 0 }
    }

    /// Whether it is no JSON: it may be written at the moment.
    pub fn is_torn(&self) -> bool {
        self.line().read().is_err()
    }
}
