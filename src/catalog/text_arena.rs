//! An arena for the texts of many sessions in few large blocks. Allocators request such blocks from the system
//! separately and return them at once. Thus no memory of a search is retained by small allocations.

use crate::session::links::Index;
use crate::session::search_text::Passages;

/// The size of a block in bytes; memory that was never written takes no space. Slightly above 32 MB, because glibc can
/// keep smaller blocks (`DEFAULT_MMAP_THRESHOLD_MAX`, 2.41).
const BLOCK_SIZE: usize = 33 * 1024 * 1024;

/// Append-only texts.
#[derive(Debug, Default)]
pub(super) struct TextArena(Vec<ArenaBlock>);

#[derive(Debug)]
struct ArenaBlock {
    folded: String,
    starts: Vec<(u32, Index)>,
    capitals: Vec<u8>,
}

/// The place of texts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArenaRange {
    block: u32,
    /// The start and end in bytes.
    folded: (u32, u32),
    starts: (u32, u32),
    capitals: (u32, u32),
}

impl TextArena {
    /// Appends texts and returns their place.
    pub(super) fn put(&mut self, Passages { folded, starts, capitals }: Passages<'_>) -> ArenaRange {
        let has_room = |block: &ArenaBlock| {
            block.folded.capacity() - block.folded.len() >= folded.len()
                && block.starts.capacity() - block.starts.len() >= starts.len()
                && block.capitals.capacity() - block.capitals.len() >= capitals.len()
        };
        if !self.0.last().is_some_and(has_room) {
            let most_starts = BLOCK_SIZE / size_of::<(u32, Index)>();
            self.0.push(ArenaBlock {
                folded: String::with_capacity(folded.len().max(BLOCK_SIZE)),
                starts: Vec::with_capacity(starts.len().max(most_starts)),
                capitals: Vec::with_capacity(capitals.len().max(BLOCK_SIZE)),
            });
        }
        let at = self.0.len() - 1;
        let block = &mut self.0[at];
        let run = |from: usize, len: usize| (from as u32, (from + len) as u32);
        let place = ArenaRange {
            block: at as u32,
            folded: run(block.folded.len(), folded.len()),
            starts: run(block.starts.len(), starts.len()),
            capitals: run(block.capitals.len(), capitals.len()),
        };
        block.folded.push_str(folded);
        block.starts.extend_from_slice(starts);
        block.capitals.extend_from_slice(capitals);
        place
    }

    /// Returns the stored size in bytes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let bytes = |block: &ArenaBlock| block.folded.len() + size_of_val(&*block.starts) + block.capitals.len();
        self.0.iter().map(bytes).sum()
    }

    /// Returns the texts at a place.
    pub(super) fn get(&self, ArenaRange { block, folded, starts, capitals }: ArenaRange) -> Passages<'_> {
        let run = |(from, to): (u32, u32)| from as usize..to as usize;
        let block = self.0.get(block as usize);
        block.map_or_else(Passages::default, |block| Passages {
            folded: &block.folded[run(folded)],
            starts: &block.starts[run(starts)],
            capitals: &block.capitals[run(capitals)],
        })
    }
}

impl ArenaRange {
    /// Returns their size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let run = |(from, to): (u32, u32)| (to - from) as usize;
        run(self.folded) + run(self.starts) * size_of::<(u32, Index)>() + run(self.capitals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_stored_texts() {
        let mut arena = TextArena::default();
        let long = "x".repeat(BLOCK_SIZE / 2);
        let texts =
            [("", &[][..]), ("a b", &[(0, 1), (2, 7)]), (&long, &[(0, 3)]), (&long, &[(0, 4)]), ("é", &[(0, 5)])];
        let texts = texts.map(|(folded, starts)| Passages {
            folded,
            starts,
            capitals: folded.get(..1).unwrap_or("").as_bytes(),
        });
        let places = texts.map(|passages| arena.put(passages));
        assert_eq!(arena.0.len(), 2);
        for (place, put) in places.into_iter().zip(texts) {
            let found = arena.get(place);
            assert!(found.folded == put.folded && found.starts == put.starts && found.capitals == put.capitals);
            assert_eq!(place.bytes(), put.bytes());
        }
        assert_eq!(TextArena::default().get(places[0]).folded, "");
    }
}
