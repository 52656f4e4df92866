//! What is kept of sessions in a file of the index: it stays there until somebody looks at it.

use std::path::Path;
use std::sync::Arc;

use super::segment::{SegmentPiece, SegmentPieces};
use crate::disk::digest::DigestReader;
use crate::disk::files::Files;
use crate::session::digest::details::{Details, DetailsSource};
use crate::session::search_text::{SearchTexts, TextBuffers};

/// What is kept of sessions in a file.
#[derive(Debug)]
pub(super) struct LazyPieces {
    pub(super) pieces: Arc<SegmentPieces>,
    /// Where the details and the texts of each are.
    pub(super) places: Vec<(SegmentPiece, SegmentPiece)>,
    pub(super) home: Arc<str>,
}

impl LazyPieces {
    fn place(&self, number: u32) -> Option<(SegmentPiece, SegmentPiece)> {
        self.places.get(number as usize).copied()
    }
}

impl DetailsSource for LazyPieces {
    fn details(&self, number: u32, path: &Path) -> Details {
        let kept = self.place(number).and_then(|(details, _)| self.pieces.get(details));
        kept.unwrap_or_else(|| {
            let reading = DigestReader { files: Files::Disk, home: &self.home };
            let read = reading.file(path, 0, &mut Vec::new(), || false);
            let read = read.ok().flatten().map(|digest| (**digest.details()).clone());
            read.unwrap_or_default() // gone as well
        })
    }

    fn texts<'a>(&self, number: u32, room: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        let (_, texts) = self.place(number)?;
        let TextBuffers { bytes, starts } = room;
        SearchTexts::from_bytes(self.pieces.read(texts, bytes)?, starts)
    }
}
