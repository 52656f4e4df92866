//! What is kept of sessions in a file of the index: it stays there until somebody looks at it.

use std::path::Path;
use std::sync::Arc;

use super::segment::{Piece, Pieces};
use crate::disk::digest::Reading;
use crate::disk::files::Files;
use crate::session::digest::details::{Details, Stored};
use crate::session::search_text::{Room, Texts};

/// What is kept of sessions in a file.
#[derive(Debug)]
pub(super) struct Lying {
    pub(super) pieces: Arc<Pieces>,
    /// Where the details and the texts of each are.
    pub(super) places: Vec<(Piece, Piece)>,
    pub(super) home: Arc<str>,
}

impl Lying {
    fn place(&self, number: u32) -> Option<(Piece, Piece)> {
        self.places.get(number as usize).copied()
    }
}

impl Stored for Lying {
    fn details(&self, number: u32, path: &Path) -> Details {
        let kept = self.place(number).and_then(|(details, _)| self.pieces.get(details));
        kept.unwrap_or_else(|| {
            let reading = Reading { files: Files::Disk, home: &self.home };
            let read = reading.file(path, 0, &mut Vec::new(), || false);
            let read = read.ok().flatten().map(|digest| (**digest.details()).clone());
            read.unwrap_or_default() // gone as well
        })
    }

    fn texts<'a>(&self, number: u32, room: &'a mut Room) -> Option<Texts<'a>> {
        let (_, texts) = self.place(number)?;
        let Room { bytes, starts } = room;
        Texts::from_bytes(self.pieces.read(texts, bytes)?, starts)
    }
}
