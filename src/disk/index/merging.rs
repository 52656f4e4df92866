//! Merging of segments. A segment is merged with those after it once they have at least half its size together. So each
//! record is rewritten only a few times, and there are few segments.
//!
//! Only one process merges segments. Others can read and add meanwhile, and interruptions change nothing.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::sync::Arc;

use crate::base::sort;
use crate::disk::index::list::IndexFiles;
use crate::disk::index::pieces::{KINDS, SegmentDraft, SegmentHeader, SegmentPieces};
use crate::disk::index::record::SegmentRecord;
use crate::disk::index::segment::{RecordUse, Segment, SessionDirs, open_own};
use crate::disk::index::table_draft::TableDraft;
use crate::disk::index::writing::{self, stored_keys};

/// Segments up to this size in bytes are always merged.
const SMALL: u64 = 1 << 18;

/// The maximum size in bytes of segments that are merged while a user waits.
const QUICK: u64 = 64 << 20;

/// The segments that may be merged now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disk) enum MergeScope {
    /// Those that take a short time.
    Quick,
    /// All.
    Any,
}

/// Merges segments if needed, given those that this process has open. Removes the oldest records if the index is larger
/// than `limit` bytes.
///
/// # Errors
/// The merged segment cannot be written.
pub(super) fn merge(
    files: &IndexFiles,
    (of, dirs): (u64, &Arc<SessionDirs>),
    mut open: Vec<Segment>,
    (limit, scope): (u64, MergeScope),
) -> io::Result<()> {
    let Some(list) = files.read(of) else { return Ok(()) };
    let size = |number: &u64| fs::metadata(files.segment(*number)).map_or(0, |found| found.len());
    let sizes: Vec<u64> = list.segments.iter().map(size).collect();
    let is_too_large = sizes.iter().sum::<u64>() > limit;
    let must_rewrite = |number: &u64| open.iter().any(|kept| kept.header.number == *number && kept.must_rewrite());
    let first = list.segments.iter().position(must_rewrite);
    let start = if is_too_large { 0 } else { start(&sizes).min(first.unwrap_or(usize::MAX)) };
    let numbers = &list.segments[start..];
    let is_quick = sizes[start..].iter().sum::<u64>() <= QUICK;
    let is_needed = is_too_large || first.is_some() || (numbers.len() > 1 && (is_quick || scope == MergeScope::Any));
    let Some(_lock) = is_needed.then(|| files.lock_merging()).flatten() else { return Ok(()) };
    let headers = |numbers: &[u64]| -> Option<Vec<SegmentHeader>> {
        numbers.iter().map(|number| SegmentHeader::read(&SegmentPieces(open_own(&files.segment(*number))?))).collect()
    };
    let before = headers(numbers);
    let segments = numbers.iter().map(|number| {
        if let Some(at) = open.iter().position(|kept| kept.header.number == *number) {
            return Some(open.swap_remove(at));
        }
        let mut added = Segment::open(&files.segment(*number), of, dirs)?;
        added.uses.fill(RecordUse::Current);
        Some(added)
    });
    let (Some(before), Some(segments)) = (before, segments.collect::<Option<Vec<Segment>>>()) else { return Ok(()) };
    let oldest = if is_too_large { oldest_within(&segments, limit) } else { i64::MIN };
    let (mut draft, mut table) = (SegmentDraft::begin(&files.list)?, TableDraft::default());
    let mut later = HashSet::new();
    for kept in segments.iter().rev() {
        kept.copy(&later, oldest, &mut draft, &mut table)?;
        later.extend(kept.live().map(|(_, record)| record.stamp.file));
    }
    table.filter.finish(&mut draft)?;

    let _lock = files.lock()?;
    let Some(mut list) = files.read(of) else { return Ok(()) };
    let at = list.segments.windows(numbers.len()).position(|window| window == numbers);
    // Another process may have removed text from the segments.
    let Some(at) = at.filter(|_| headers(numbers).as_ref() == Some(&before)) else { return Ok(()) };
    let merged = if table.is_empty() { None } else { Some(writing::finish(files, of, draft, &table)?) };
    list.segments.splice(at..at + numbers.len(), merged);
    if is_too_large {
        (list.limit, list.oldest) = (limit, oldest);
    }
    list.write(&files.list)?;
    files.remove_unlisted(&list)
}

/// Returns the first of the segments to merge, given the sizes of all in bytes.
fn start(sizes: &[u64]) -> usize {
    let mut start = sizes.len();
    let mut later = 0;
    for (at, &size) in sizes.iter().enumerate().rev() {
        if at + 1 < sizes.len() && size > SMALL.max(2 * later) {
            break;
        }
        (start, later) = (at, later + size);
    }
    start
}

/// Returns the earliest modification time of the latest files whose records take four fifths of the limit in bytes.
fn oldest_within(segments: &[Segment], limit: u64) -> i64 {
    let sizes = segments.iter().flat_map(|kept| {
        let size = |record: SegmentRecord| kept.pieces(&record).map_or(0, |pieces| pieces.bytes());
        kept.live().map(move |(_, record)| (record.stamp.mtime(), size(record)))
    });
    let mut files: Vec<(i64, u64)> = sizes.collect();
    files.sort_unstable_by_key(|&(mtime, _)| Reverse(mtime));
    let (mut bytes, mut oldest) = (0, i64::MAX);
    for (mtime, size) in files {
        bytes += size;
        if bytes > limit / 5 * 4 {
            break;
        }
        oldest = mtime;
    }
    oldest
}

impl Segment {
    /// Iterates over the records that are or may be used.
    fn live(&self) -> impl Iterator<Item = (usize, SegmentRecord)> {
        let live = self.uses.iter().enumerate().filter(|(_, is)| matches!(is, RecordUse::Current | RecordUse::Held));
        live.map(|(at, _)| (at, self.table().record(at)))
    }

    /// Returns `true` if a column is missing, or if most of the records are unused.
    fn must_rewrite(&self) -> bool {
        self.table().written().is_none_or(|written| self.live().count() < written / 2)
    }

    /// Copies the records that are or may be used. Leaves out those of `later` files, which have records in later
    /// segments, and of files older than `oldest`, in milliseconds since 1970.
    fn copy(
        &self,
        later: &HashSet<(u64, u64)>,
        oldest: i64,
        draft: &mut SegmentDraft,
        table: &mut TableDraft,
    ) -> io::Result<()> {
        let mut rooms = [const { Vec::new() }; KINDS];
        let mut live: Vec<(usize, SegmentRecord)> = self.live().collect();
        // In the order in which they were written, which is near to that of lists.
        sort::by_key(&mut live, |(_, record)| record.pieces);
        for (at, record) in live {
            if later.contains(&record.stamp.file) || record.stamp.mtime() < oldest {
                continue;
            }
            // Damaged records are read from the session next time.
            let Some((content, pieces)) = self.read(&record, &mut rooms) else { continue };
            let record = SegmentRecord { pieces: draft.add(content, pieces)?.at, ..record };
            let (place, facts) = (self.table().place(at), self.table().facts(at));
            if let Some(block) = table.push(record, place, &facts, &stored_keys(pieces))? {
                table.filter.write(&block.build(), draft)?;
            }
        }
        Ok(())
    }
}
