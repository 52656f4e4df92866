//! Details and texts of sessions that stay in an index file until they are needed.

use std::path::Path;
use std::sync::Arc;

use super::segment::{SegmentPiece, SegmentPieces};
use crate::disk::digest::DigestReader;
use crate::disk::files::Files;
use crate::session::digest::details::{Details, DetailsSource};
use crate::session::search_text::{SearchTexts, TextBuffers};

/// The details and texts of sessions in an index file.
#[derive(Debug)]
pub(super) struct LazyPieces {
    pub(super) pieces: Arc<SegmentPieces>,
    /// The places of the details and texts of each session.
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
            read.unwrap_or_default() // treated as missing
        })
    }

    fn texts<'a>(&self, number: u32, room: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        let (_, texts) = self.place(number)?;
        let TextBuffers { bytes, starts } = room;
        SearchTexts::from_bytes(self.pieces.read(texts, bytes)?, starts)
    }
}
