//! What is kept of a session in a file of the index: it stays there until somebody looks at it.

use std::path::Path;
use std::sync::Arc;

use super::volume::{Piece, Pieces};
use crate::disk::digest::Reading;
use crate::disk::files::Files;
use crate::session::digest::details::{Details, Lazy, Stored};
use crate::session::texts::{Room, Texts};

/// What is kept of a session.
#[derive(Debug)]
pub(super) struct Lying {
    pieces: Arc<Pieces>,
    details: Piece,
    texts: Piece,
    home: Arc<str>,
}

impl Lying {
    /// Details that are read when they are asked for.
    pub(super) fn lazy(pieces: Arc<Pieces>, (details, texts): (Piece, Piece), home: Arc<str>) -> Lazy {
        let stored: Arc<dyn Stored> = Arc::new(Self { pieces, details, texts, home });
        stored.into()
    }
}

impl Stored for Lying {
    fn details(&self, path: &Path) -> Details {
        self.pieces.get(self.details).unwrap_or_else(|| {
            let reading = Reading { files: Files::Disk, home: &self.home };
            let read = reading.file(path, 0, &mut Vec::new(), || false);
            let read = read.ok().flatten().map(|digest| (**digest.details()).clone());
            read.unwrap_or_default() // gone as well
        })
    }

    fn texts<'a>(&self, room: &'a mut Room) -> Option<Texts<'a>> {
        let Room { bytes, starts } = room;
        Texts::from_bytes(self.pieces.read(self.texts, bytes)?, starts)
    }
}
