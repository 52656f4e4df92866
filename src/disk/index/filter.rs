//! The text filter of a segment: for each key (see [`crate::session::trigrams`]), the sessions whose texts have it. A
//! search reads the lists of the keys of its words, and only looks in the sessions that are in all of them.
//!
//! The lists of consecutive sessions form a block, which is written once it is large enough, so that writing a filter
//! takes little memory.

use serde::{Deserialize, Serialize};

use crate::disk::index::segment_file::{Piece, SegmentFile, bytes, push_piece};

/// The maximum number of keys of all sessions in a block; a session can have more. Four bytes of memory each.
const BLOCK_KEYS: usize = 4 << 20;

/// The maximum number of sessions in a block.
const BLOCK_SESSIONS: u32 = 1 << 16;

/// The size of an item of a directory in bytes: a key, and the end of its list among the lists.
const ITEM: usize = 2 + 4;

/// A block of a filter.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct FilterBlock {
    /// The number of sessions.
    pub(super) sessions: u32,
    /// The items of the keys that sessions have, in order. The lists follow.
    pub(super) directory: Piece,
}

/// The keys of the sessions of the next block.
#[derive(Debug, Default)]
pub(super) struct FilterDraft {
    /// Each key in the upper half, and in the lower half the index of a session that has it.
    pairs: Vec<u32>,
    pub(super) sessions: u32,
}

impl FilterDraft {
    /// Adds the keys of the next session. Returns `true` if there are enough sessions for a block.
    pub(super) fn push(&mut self, keys: &[u16]) -> bool {
        self.pairs.extend(keys.iter().map(|key| u32::from(*key) << 16 | self.sessions));
        self.sessions += 1;
        self.pairs.len() >= BLOCK_KEYS || self.sessions >= BLOCK_SESSIONS
    }

    /// Returns the directory and the lists of the block.
    pub(super) fn build(self) -> (Vec<u8>, Vec<u8>) {
        // Sessions were added in order. Therefore, counting the pairs of each key is enough to sort them.
        let mut ends = vec![0; usize::from(u16::MAX) + 1];
        self.pairs.iter().for_each(|pair| ends[(pair >> 16) as usize] += 1);
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        let mut sessions = vec![0; self.pairs.len()];
        for pair in self.pairs {
            let end = &mut ends[(pair >> 16) as usize];
            sessions[*end] = pair as u16;
            *end += 1;
        }
        let (mut directory, mut lists, mut start) = (Vec::new(), Vec::new(), 0);
        for (key, end) in (0..=u16::MAX).zip(ends) {
            let list = &mut sessions[std::mem::replace(&mut start, end)..end];
            if list.is_empty() {
                continue;
            }
            let mut before = 0;
            for session in &mut *list {
                *session -= std::mem::replace(&mut before, *session);
            }
            push_piece(&mut lists, &bytes(&list));
            directory.extend(key.to_le_bytes());
            directory.extend((lists.len() as u32).to_le_bytes());
        }
        (directory, lists)
    }
}

/// Returns `true` for each session that has all keys. Damaged lists let all sessions pass.
pub(super) fn sessions_with(file: &SegmentFile, blocks: &[FilterBlock], keys: &[u16]) -> Vec<bool> {
    let mut passed = Vec::new();
    for block in blocks {
        let mut counts = vec![0; block.sessions as usize];
        let directory = file.read_vec(block.directory);
        for &key in keys {
            let distances = directory.as_deref().and_then(|directory| block.list(file, directory, key));
            let Some(distances) = distances else {
                counts.iter_mut().for_each(|count| *count += 1);
                continue;
            };
            let mut session = 0;
            for distance in distances {
                session += usize::from(distance);
                counts.get_mut(session).into_iter().for_each(|count| *count += 1);
            }
        }
        passed.extend(counts.into_iter().map(|count| count == keys.len()));
    }
    passed
}

impl FilterBlock {
    /// Returns the distances of the sessions that have a key, or `None` if they are damaged.
    fn list(&self, file: &SegmentFile, directory: &[u8], key: u16) -> Option<Vec<u16>> {
        let items = directory.as_chunks::<ITEM>().0;
        let end = |[.., a, b, c, d]: [u8; ITEM]| u64::from(u32::from_le_bytes([a, b, c, d]));
        let Ok(at) = items.binary_search_by_key(&key, |[a, b, ..]| u16::from_le_bytes([*a, *b])) else {
            return Some(Vec::new());
        };
        let start = at.checked_sub(1).map_or(0, |before| end(items[before]));
        let lists = self.directory.end();
        let empty = Piece { at: lists.checked_add(start)?, len: 0 };
        file.get(Piece { len: lists.checked_add(end(items[at]))?.checked_sub(empty.end())?, ..empty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = u16> {
        prop_oneof![Just(0), Just(u16::MAX), 60..70_u16, any::<u16>()]
    }

    proptest! {
        #[test]
        fn sessions_with_all_keys_pass(
            sessions in proptest::collection::vec(proptest::collection::btree_set(key(), 0..6), 1..150),
            keys in proptest::collection::btree_set(key(), 1..3),
            block in 1..200_usize,
            damaged in any::<prop::sample::Index>(),
        ) {
            let file = SegmentFile { file: tempfile::tempfile().unwrap(), home: "".into() };
            let (mut blocks, mut end) = (Vec::new(), 0);
            for sessions in sessions.chunks(block) {
                let mut draft = FilterDraft::default();
                for of in sessions {
                    draft.push(&of.iter().copied().collect::<Vec<_>>());
                }
                let (directory, lists) = draft.build();
                let directory_piece = Piece { at: end, len: directory.len() as u64 };
                let lists_at = file.write(end, &directory).unwrap();
                file.write_at(lists_at, &lists).unwrap();
                end = lists_at + lists.len() as u64;
                blocks.push(FilterBlock { sessions: sessions.len() as u32, directory: directory_piece });
            }
            let keys: Vec<u16> = keys.into_iter().collect();
            let has = |of: &std::collections::BTreeSet<u16>| keys.iter().all(|key| of.contains(key));
            let wanted: Vec<bool> = sessions.iter().map(has).collect();
            prop_assert_eq!(&sessions_with(&file, &blocks, &keys), &wanted);
            // Damage does not hide a session.
            let at = damaged.index(end as usize) as u64;
            let mut byte = [0];
            file.read_at(at, &mut byte).unwrap();
            file.write_at(at, &[!byte[0]]).unwrap();
            let passed = sessions_with(&file, &blocks, &keys);
            prop_assert!(passed.len() == wanted.len() && passed.iter().zip(&wanted).all(|(passed, wanted)| passed >= wanted));
        }
    }
}
