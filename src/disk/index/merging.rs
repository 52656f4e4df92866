//! Merging of segments. A segment is merged with those after it once they have at least half its size together. So each
//! row is rewritten only a few times, and there are few segments. Others can read and add meanwhile, and interruptions
//! change nothing.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs;
use std::io;

use crate::base::sort;
use crate::disk::index::open_index::Index;
use crate::disk::index::segment::{RowUse, Segment};
use crate::disk::index::segment_draft::SegmentDraft;
use crate::disk::index::segment_file::{SegmentFile, open_own};
use crate::disk::index::table::TableHeader;

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

impl Index {
    /// Merges segments if needed. Removes the oldest rows if the index is larger than its limit.
    ///
    /// # Errors
    /// The merged segment cannot be written.
    pub(super) fn merge(mut self, scope: MergeScope) -> io::Result<()> {
        let Some(list) = self.files.read(self.list.of) else { return Ok(()) };
        let size = |number: &u64| fs::metadata(self.files.segment(*number)).map_or(0, |found| found.len());
        let sizes: Vec<u64> = list.segments.iter().map(size).collect();
        let is_too_large = sizes.iter().sum::<u64>() > self.limit;
        let is_unused = |number: &u64| {
            self.segments.iter().any(|segment| segment.number == *number && segment.is_mostly_unused())
        };
        let first = list.segments.iter().position(is_unused);
        let start = if is_too_large { 0 } else { start(&sizes).min(first.unwrap_or(usize::MAX)) };
        let numbers = &list.segments[start..];
        let is_quick = sizes[start..].iter().sum::<u64>() <= QUICK;
        let is_needed =
            is_too_large || first.is_some() || (numbers.len() > 1 && (is_quick || scope == MergeScope::Any));
        if !is_needed {
            return Ok(());
        }
        let headers = self.headers(numbers);
        let segments: Option<Vec<Segment>> = numbers.iter().map(|number| self.take_segment(*number)).collect();
        let (Some(segments), true) = (segments, headers.is_some()) else { return Ok(()) };
        let oldest = if is_too_large { oldest_within(&segments, self.limit) } else { i64::MIN };
        let mut draft = SegmentDraft::begin(&self.files.list, &self.dirs.home)?;
        let mut later = HashSet::new();
        for segment in segments.iter().rev() {
            segment.copy_live(&later, oldest, &mut draft)?;
            later.extend(segment.live().map(|at| segment.table().stamp(at).file));
        }

        let _lock = self.files.lock()?;
        let Some(mut list) = self.files.read(self.list.of) else { return Ok(()) };
        let at = list.segments.windows(numbers.len()).position(|window| window == numbers);
        // Another process may have merged them, or removed text from them.
        let Some(at) = at.filter(|_| self.headers(numbers) == headers) else { return Ok(()) };
        let merged = if draft.table.len() == 0 { None } else { Some(self.files.add(draft)?) };
        list.segments.splice(at..at + numbers.len(), merged);
        if is_too_large {
            (list.limit, list.oldest) = (self.limit, oldest);
        }
        self.files.replace_list(&list)
    }

    /// Returns the headers of segments, or `None` if one is damaged.
    fn headers(&self, numbers: &[u64]) -> Option<Vec<TableHeader>> {
        let file = |number| Some(SegmentFile::new(open_own(&self.files.segment(number))?, &self.dirs.home));
        numbers.iter().map(|number| file(*number)?.numbers(0)).collect()
    }

    /// Returns a segment as it was opened, or opens one that another process added.
    fn take_segment(&mut self, number: u64) -> Option<Segment> {
        if let Some(at) = self.segments.iter().position(|segment| segment.number == number) {
            return Some(self.segments.swap_remove(at));
        }
        let mut added = Segment::open(&self.files.segment(number), number, &self.dirs)?;
        added.uses.fill(RowUse::Current);
        Some(added)
    }
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

/// Returns the earliest modification time of the latest files whose data take four fifths of the limit in bytes.
fn oldest_within(segments: &[Segment], limit: u64) -> i64 {
    let sizes = segments.iter().flat_map(|segment| {
        segment.live().map(move |at| {
            let (row, file) = (segment.table().row(at), &segment.stored.file);
            let range = file.session(row.pieces).map_or(0..0, |pieces| row.pieces..pieces.range().end);
            (segment.table().stamp(at).mtime(), range.end - range.start + row.digest().len)
        })
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
    /// Iterates over the rows that are or may be used.
    fn live(&self) -> impl Iterator<Item = usize> {
        self.used(&[RowUse::Current, RowUse::Held])
    }

    fn is_mostly_unused(&self) -> bool {
        self.live().count() < self.table().written() / 2
    }

    /// Copies the live rows, without those of `later` files, which have rows in later segments, and of files older than
    /// `oldest`, in milliseconds since 1970.
    fn copy_live(&self, later: &HashSet<(u64, u64)>, oldest: i64, draft: &mut SegmentDraft) -> io::Result<()> {
        let mut live: Vec<usize> = self.live().collect();
        // In the order in which they were written, which is near to that of lists.
        sort::by_key(&mut live, |at| self.table().row(*at).pieces);
        for at in live {
            let stamp = self.table().stamp(at);
            if !later.contains(&stamp.file) && stamp.mtime() >= oldest {
                // Damaged rows are read from the session next time.
                self.copy(at, |addition| draft.add(addition)).transpose()?;
            }
        }
        Ok(())
    }
}
