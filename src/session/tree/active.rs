//! Which entries are on the path from the root to the leaf, where the rest of the tree is not needed.

use crate::session::entry::read;
use crate::session::tree::shape::{IdHash, Ids, Index, Shape};

/// The entries on the path from the root to the leaf, the last entry of the file.
#[derive(Debug, Default)]
pub struct Active {
    /// A bit for each entry.
    bits: Box<[u64]>,
}

impl Active {
    /// Walks from the leaf up.
    pub fn new(shape: &Shape) -> Self {
        let mut active = Self { bits: vec![0; shape.parents.len().div_ceil(64)].into() };
        let mut at = (shape.parents.len() as Index).checked_sub(1);
        while let Some(here) = at {
            active.bits[here as usize / 64] |= 1 << (here % 64);
            at = shape.parents[here as usize];
        }
        active
    }

    /// Whether an entry is among them.
    pub fn has(&self, at: Index) -> bool {
        self.bits.get(at as usize / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }
}

/// Gathers the places of the entries of a file, for [`Lines::active`].
#[derive(Debug, Default)]
pub struct Lines {
    version: Option<f64>,
    ids: Vec<Ids>,
    offsets: Vec<u64>,
}

impl Lines {
    /// Takes the line that starts at `offset`.
    pub fn line(&mut self, offset: u64, line: &[u8]) {
        let Ok(Some(entry)) = read::line(line) else { return };
        if entry.is_header() {
            self.version.get_or_insert(entry.version.unwrap_or(1.0));
            return;
        }
        self.ids.push(Ids { id: entry.id.map(IdHash::of), parent: entry.parent_id.map(IdHash::of) });
        self.offsets.push(offset);
    }

    /// The offsets of the entries on the path from the root to the leaf, in file order.
    pub fn active(self) -> Vec<u64> {
        let active = Active::new(&Shape::new(&self.ids, self.version.unwrap_or(1.0)));
        (0..self.ids.len() as Index).filter(|&at| active.has(at)).map(|at| self.offsets[at as usize]).collect()
    }
}
