//! The text filter of a segment: for each key (see [`crate::session::trigrams`]), the sessions whose texts have it. A
//! search reads the lists of the keys of its words, and only looks in the sessions that are in all of them.
//!
//! Sessions are numbered in the order in which they were added. The lists of consecutive sessions form a block, which
//! is written once it is large enough, so that writing a filter takes little memory.

use std::io;

use crate::disk::fingerprint::hash;
use crate::disk::index::pieces::{SegmentDraft, SegmentPiece, SegmentPieces, buffer};
use crate::disk::index::record::{half, word};

/// The maximum number of keys of all sessions in a block; a session can have more. Two bytes of memory each.
const BLOCK_KEYS: usize = 4 << 20;

/// The maximum number of sessions in a block.
const BLOCK_SESSIONS: usize = 1 << 16;

/// The size of an item of the lists of a block: the start of a list after the items, and a hash of the list.
const ITEM: usize = 4 + 4;

/// The number of different keys.
const KEYS: usize = 1 << 16;

/// A block of a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterBlock {
    /// The number of the first session.
    first: u32,
    /// The number of sessions.
    pub(super) count: u32,
    /// A bit for each key: 1 if it has a list. An item for each list and one for their end follow, and then the lists.
    directory: SegmentPiece,
}

/// The size of a serialized block in bytes.
pub(super) const BLOCK: usize = 4 + 4 + 8 + 4;

impl FilterBlock {
    pub(super) fn to_bytes(self) -> [u8; BLOCK] {
        let mut bytes = [0; BLOCK];
        bytes[..4].copy_from_slice(&self.first.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.count.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.directory.at.to_le_bytes());
        bytes[16..].copy_from_slice(&self.directory.len.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; BLOCK]) -> Self {
        let directory = SegmentPiece { at: word(bytes, 1), len: half(bytes, 4) };
        Self { first: half(bytes, 0), count: half(bytes, 1), directory }
    }
}

/// The keys of sessions that are not yet in a block.
#[derive(Debug, Default)]
pub(super) struct FilterDraft {
    /// The number of the first session.
    first: u32,
    keys: Vec<u16>,
    /// The end of the keys of each session.
    ends: Vec<u32>,
    pub(super) blocks: Vec<FilterBlock>,
}

/// The lists of a block, ready to be written.
pub(super) struct FullBlock {
    first: u32,
    count: u32,
    directory: Vec<u8>,
    items: Vec<u8>,
    lists: Vec<u8>,
}

impl FilterDraft {
    /// Returns the number of the next session.
    pub(super) fn next(&self) -> u32 {
        self.first + self.ends.len() as u32
    }

    /// Adds the keys of the next session. Returns the sessions of a block if there are enough.
    pub(super) fn push(&mut self, keys: &[u16]) -> Option<Self> {
        self.keys.extend_from_slice(keys);
        self.ends.push(self.keys.len() as u32);
        (self.keys.len() >= BLOCK_KEYS || self.ends.len() >= BLOCK_SESSIONS).then(|| self.take())
    }

    /// Takes all sessions that are not yet in a block.
    pub(super) fn take(&mut self) -> Self {
        let next = Self { first: self.next(), blocks: std::mem::take(&mut self.blocks), ..Self::default() };
        std::mem::replace(self, next)
    }

    /// Writes a block.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&mut self, block: &FullBlock, draft: &mut SegmentDraft) -> io::Result<()> {
        let directory = draft.add_piece(&block.directory)?;
        draft.add_bytes(&block.items)?;
        draft.add_bytes(&block.lists)?;
        self.blocks.push(FilterBlock { first: block.first, count: block.count, directory });
        Ok(())
    }

    /// Writes the last block.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn finish(&mut self, draft: &mut SegmentDraft) -> io::Result<()> {
        let last = self.take().build();
        self.write(&last, draft)
    }

    /// Builds the lists of the sessions.
    pub(super) fn build(self) -> FullBlock {
        let count = self.ends.len();
        let mut starts = vec![0_u32; KEYS + 1];
        self.keys.iter().for_each(|key| starts[usize::from(*key) + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut sessions) = (starts.clone(), vec![0_u16; self.keys.len()]);
        let mut from = 0;
        for (session, &end) in (0..).zip(&self.ends) {
            for key in &self.keys[from..end as usize] {
                let place = &mut next[usize::from(*key)];
                sessions[*place as usize] = session;
                *place += 1;
            }
            from = end as usize;
        }
        let (mut directory, mut items, mut lists) = (vec![0; KEYS / 8], Vec::new(), Vec::new());
        for key in 0..KEYS {
            let list = &sessions[starts[key] as usize..starts[key + 1] as usize];
            if !list.is_empty() {
                let start = lists.len();
                put(list, count, &mut lists);
                directory[key / 8] |= 1 << (key % 8);
                items.extend((start as u32).to_le_bytes());
                items.extend((hash(&lists[start..]) as u32).to_le_bytes());
            }
        }
        items.extend((lists.len() as u64).to_le_bytes());
        FullBlock { first: self.first, count: count as u32, directory, items, lists }
    }
}

/// Serializes a list: the distances of the sessions, or a bit for each session of the block if that is smaller.
fn put(list: &[u16], count: usize, to: &mut Vec<u8>) {
    let start = to.len();
    let bits = count.div_ceil(8);
    to.push(0);
    let mut before = 0;
    for &session in list {
        let distance = session - before;
        before = session;
        match distance {
            0..0x80 => to.push(distance as u8),
            0x80..0x4000 => to.extend([distance as u8 | 0x80, (distance >> 7) as u8]),
            _ => to.extend([distance as u8 | 0x80, (distance >> 7) as u8 | 0x80, (distance >> 14) as u8]),
        }
        if to.len() - start > bits {
            to.truncate(start);
            to.push(1);
            to.resize(start + 1 + bits, 0);
            list.iter().for_each(|&session| to[start + 1 + usize::from(session / 8)] |= 1 << (session % 8));
            return;
        }
    }
}

/// Calls a function with each session of a serialized list.
fn each(list: &[u8], mut session: impl FnMut(usize)) {
    match list.split_first() {
        Some((0, mut distances)) => {
            let mut at = 0;
            while !distances.is_empty() {
                let len = distances.iter().take(2).take_while(|byte| **byte & 0x80 != 0).count() + 1;
                let (bytes, rest) = distances.split_at(len.min(distances.len()));
                let parts = bytes.iter().zip([0, 7, 14]);
                at += parts.map(|(byte, shift)| usize::from(byte & 0x7f) << shift).sum::<usize>();
                session(at);
                distances = rest;
            }
        }
        Some((_, bits)) => {
            for (at, byte) in bits.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                (0..8).filter(|bit| byte >> bit & 1 == 1).for_each(|bit| session(at * 8 + bit));
            }
        }
        None => {}
    }
}

/// The sessions that a filter lets pass.
#[derive(Debug, Default)]
pub(super) struct Passed(Vec<u64>);

impl Passed {
    pub(super) fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// Returns the sessions that have all keys. Damaged lists let all sessions pass.
pub(super) fn pass(pieces: &SegmentPieces, blocks: &[FilterBlock], keys: &[u16]) -> Passed {
    let end = blocks.iter().map(|block| block.first as usize + block.count as usize).max().unwrap_or_default();
    let mut passed = Passed(vec![0; end.div_ceil(64)]);
    for block in blocks {
        let hits = block.sessions_with(pieces, keys);
        for session in (0..block.count as usize).filter(|session| hits[session / 64] >> (session % 64) & 1 == 1) {
            let number = block.first as usize + session;
            passed.0[number / 64] |= 1 << (number % 64);
        }
    }
    passed
}

impl FilterBlock {
    /// Returns a bit for each session of the block: 1 if it has all keys.
    fn sessions_with(self, pieces: &SegmentPieces, keys: &[u16]) -> Vec<u64> {
        let (mut room, mut list) = (Vec::new(), Vec::new());
        let mut hits = vec![u64::MAX; self.count.div_ceil(64) as usize];
        let Some(directory) = pieces.read(self.directory, &mut room) else { return hits };
        let lists = self.directory.end().saturating_add((ones(directory) + 1) * ITEM as u64);
        for &key in keys {
            let mut having = vec![0_u64; hits.len()];
            if has_list(directory, key) {
                let item = self.directory.end().saturating_add(lists_before(directory, key) * ITEM as u64);
                let Some(list) = read_list(pieces, (item, lists), &mut list) else { continue }; // damaged
                each(list, |session| {
                    if let Some(word) = having.get_mut(session / 64) {
                        *word |= 1 << (session % 64);
                    }
                });
            }
            hits.iter_mut().zip(&having).for_each(|(hits, having)| *hits &= having);
            if hits.iter().all(|word| *word == 0) {
                break;
            }
        }
        hits
    }
}

/// Reads the list of the item at an offset; `lists` is the offset of all lists. Returns `None` if it is damaged.
fn read_list<'a>(pieces: &SegmentPieces, (item, lists): (u64, u64), room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    // The start of the next list is the end of this one.
    let mut bytes = [0; ITEM + 4];
    pieces.read_at(item, &mut bytes).ok()?;
    let (start, hash_of, end) = (half(&bytes, 0), half(&bytes, 1), half(&bytes, 2));
    let list = buffer(room, end.checked_sub(start)? as usize);
    pieces.read_at(lists.checked_add(start.into())?, list).ok()?;
    (hash(list) as u32 == hash_of).then_some(list)
}

/// Returns `true` if a key has a list, given the bits of the keys.
fn has_list(directory: &[u8], key: u16) -> bool {
    directory.get(usize::from(key / 8)).is_some_and(|byte| byte >> (key % 8) & 1 == 1)
}

/// Returns the number of keys before a key that have lists.
fn lists_before(directory: &[u8], key: u16) -> u64 {
    let (whole, rest) = directory.split_at(usize::from(key / 8).min(directory.len()));
    let in_byte = rest.first().map_or(0, |byte| byte & ((1 << (key % 8)) - 1));
    ones(whole) + u64::from(in_byte.count_ones())
}

/// Returns the number of bits that are 1.
fn ones(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let in_words = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum::<u32>();
    u64::from(in_words + rest.iter().map(|byte| byte.count_ones()).sum::<u32>())
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
        fn lists_are_read_as_written(sessions in proptest::collection::btree_set(any::<u16>(), 0..300), limit in 1u16..) {
            let sessions: Vec<u16> = sessions.into_iter().filter(|session| *session < limit).collect();
            let mut bytes = Vec::new();
            put(&sessions, usize::from(limit), &mut bytes);
            let mut read = Vec::new();
            each(&bytes, |session| read.push(session as u16));
            prop_assert_eq!(read, sessions);
            prop_assert!(bytes.len() <= 1 + usize::from(limit).div_ceil(8));
        }

        #[test]
        fn sessions_with_all_keys_pass(
            sessions in proptest::collection::vec(proptest::collection::btree_set(key(), 0..6), 1..150),
            keys in proptest::collection::btree_set(key(), 1..3),
            block in 1..200_usize,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut draft = SegmentDraft::begin(&dir.path().join("index")).unwrap();
            let mut filter = FilterDraft::default();
            for (at, of) in sessions.iter().enumerate() {
                filter.push(&of.iter().copied().collect::<Vec<_>>());
                if at % block == block - 1 {
                    let full = filter.take().build();
                    filter.write(&full, &mut draft).unwrap();
                }
            }
            filter.finish(&mut draft).unwrap();
            let keys: Vec<u16> = keys.into_iter().collect();
            let passed = pass(draft.pieces(), &filter.blocks, &keys);
            for (number, of) in (0..).zip(&sessions) {
                prop_assert_eq!(passed.has(number), keys.iter().all(|key| of.contains(key)));
            }
        }

        #[test]
        fn damaged_lists_are_no_danger(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            each(&bytes, |_| {});
        }
    }
}
