//! Changes of the index. New rows are written to a draft, which becomes a segment, and then the table is replaced. Text that
//! no session file contains any more is erased before.
//!
//! A new segment takes over smaller ones, and others once it has at least half their size. So each session is rewritten
//! only a few times, and there are few segments. Others can read and add meanwhile, and interruptions change nothing.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::File;
use std::io;

use crate::base::sort;
use crate::disk::digest::ScannedSession;
use crate::disk::files::open_regular;
use crate::disk::fingerprint::FileMetadata;
use crate::disk::index::additions::{Addition, SegmentDraft, keys};
use crate::disk::index::files::remove;
use crate::disk::index::open_index::{RowUse, SessionIndex};
use crate::disk::index::segment_file::{SegmentFile, bytes};
use crate::disk::index::table::{SessionTable, SharedData};
use crate::disk::session_file::SessionFile;
use crate::session::digest::details::LazyDetails;
use crate::session::stats::intervals::SessionSums;

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

impl SessionIndex {
    /// Stores the data of a file and takes its texts, or records that it is not a session. If it can be written, the
    /// details of the digest are then loaded from there.
    pub(in crate::disk) fn keep(&self, file: &SessionFile, read: Option<&mut ScannedSession>) {
        let Some(session) = read else {
            self.put(file, &Addition::default());
            return;
        };
        let keys = keys(&session.digest, session.texts.as_texts());
        let texts = std::mem::take(&mut session.texts).into_bytes();
        let ScannedSession { digest, state, content, .. } = &*session;
        let (details, stats) = (bytes(&**digest.details()), digest.stats());
        let pieces = [&*details, &texts, state, &bytes(&*stats), &bytes(&SessionSums::new(&stats))];
        let (facts, digest) = (Some(digest.facts()), &bytes(digest));
        let addition = Addition { content: *content, facts, digest, pieces, keys: &keys, ..Addition::default() };
        if let Some(lazy) = self.put(file, &addition) {
            session.digest.details = lazy;
        }
    }

    /// Keeps the data of a file that was moved.
    pub(in crate::disk) fn keep_moved(&self, at: usize, file: &SessionFile) {
        self.stored.copy(at, |addition| self.put(file, &Addition { is_settled: None, ..*addition }));
    }

    /// Writes the data of a file to the draft.
    fn put(&self, file: &SessionFile, addition: &Addition<'_>) -> Option<LazyDetails> {
        if file.stamp.mtime() < self.oldest() {
            return None;
        }
        let mut slot = self.draft.lock();
        let draft = slot.get_or_insert_with(|| self.begin_draft()).as_mut().ok()?;
        let added = draft.add(&Addition { stamp: file.stamp, place: self.place(file), ..*addition });
        added.unwrap_or_else(|error| {
            *slot = Some(Err(error));
            None
        })
    }

    fn begin_draft(&self) -> io::Result<SegmentDraft> {
        SegmentDraft::begin(&self.files, &self.dirs.home, self.limit / 5 * 4)
    }

    /// Writes new rows, erases text that no file contains any more, and merges segments. If text cannot be erased, or the
    /// index is damaged, it is deleted.
    ///
    /// # Errors
    /// The index cannot be written.
    pub(in crate::disk) fn finish(mut self, scope: MergeScope) -> io::Result<()> {
        let (draft, failed) = match self.draft.get_mut().take().transpose() {
            Err(error) if self.replaces => return Err(error), // the previous index stays
            Err(error) => (None, Err(error)),
            Ok(draft) => (draft, Ok(())),
        };
        let has_stale = self.uses.contains(&RowUse::Stale);
        let is_usable = !self.replaces || self.files.existing().is_empty();
        let is_changed = draft.is_some() || has_stale || !is_usable;
        if is_changed {
            let written = self.write(draft, scope);
            if written.as_ref().is_err_and(|error| has_stale || error.kind() == io::ErrorKind::InvalidData) {
                remove(&self.files.existing())?;
            }
            written?;
        }
        failed?;
        self.files.note_use(self.opened, is_changed);
        Ok(())
    }

    /// Writes a draft and the table. Erases the rows of stale files, and those that newer ones replace.
    fn write(&self, mut draft: Option<SegmentDraft>, scope: MergeScope) -> io::Result<()> {
        let merged = self.merge(&mut draft, scope)?;
        let oldest = draft.as_ref().map_or(i64::MIN, |draft| draft.oldest).max(self.oldest());
        let none = SessionTable::default();
        let added = draft.as_mut().map_or(Ok(&none), SegmentDraft::complete)?;
        let _lock = self.files.lock()?;
        let current = if self.replaces { None } else { self.read_table() }.unwrap_or_default();
        let stale: HashSet<FileMetadata> =
            self.rows_with(&[RowUse::Stale]).map(|at| self.stored.table.stamp(at)).collect();
        let new: HashSet<(u64, u64)> = added.files().collect();
        let is_kept = |at: &usize| {
            let stamp = current.stamp(*at);
            !stale.contains(&stamp) && !new.contains(&stamp.file) && !merged.contains(&current.segment(*at).number)
        };
        let (kept, others): (Vec<usize>, Vec<usize>) = (0..current.len()).partition(is_kept);
        let rows = kept.into_iter().map(|at| (&current, at)).chain((0..added.len()).map(|at| (added, at)));
        let shared = SharedData::new(self.purpose_hash, &self.canonical, (self.limit, oldest));
        let table = SessionTable::of_rows(shared, rows.collect());
        for at in others {
            let (row, number) = (current.row(at), current.segment(at).number);
            if table.shared.segments.iter().any(|segment| segment.number == number) {
                let file = open_regular(&self.files.segment(number), File::options().read(true).write(true))?;
                SegmentFile { file, home: "".into() }.erase(row.digest(), row.pieces)?;
            }
        }
        if table.len() == 0 {
            return remove(&self.files.existing()).map(drop);
        }
        if let Some(draft) = draft.filter(|_| !new.is_empty()) {
            draft.finish(&self.files)?;
        }
        self.files.replace_table(&table)
    }

    /// Copies the rows of the segments to merge to the draft, and returns the numbers of these segments. If the index is
    /// larger than its limit, they are all segments, and the oldest rows are omitted.
    fn merge(&self, draft: &mut Option<SegmentDraft>, scope: MergeScope) -> io::Result<Vec<u64>> {
        let (stored, table) = (&self.stored, &self.stored.table);
        let mut rows: Vec<usize> = self.rows_with(&[RowUse::Current, RowUse::Held]).collect();
        let segment = |at: usize| usize::from(table.row(at).segment);
        let mut live = vec![0; stored.files.len()];
        rows.iter().for_each(|&at| live[segment(at)] += 1);
        let sizes = stored.files.iter().map(|file| file.file.metadata().map_or(0, |found| found.len()));
        let mut segments: Vec<(u64, usize)> = sizes.zip(0..).collect();
        segments.sort_unstable();
        let mut len = draft.as_ref().map_or(0, |draft| draft.end);
        let is_too_large = segments.iter().map(|(size, _)| size).sum::<u64>() + len > self.limit;
        let mut is_merged = vec![false; segments.len()];
        for (size, at) in segments {
            let written: u32 = table.shared.segments[at].blocks.iter().map(|block| block.sessions).sum();
            let is_small = size <= SMALL.max(2 * len) && (scope == MergeScope::Any || len + size <= QUICK);
            is_merged[at] = is_too_large || is_small || live[at] < written as usize / 2;
            len += if is_merged[at] { size } else { 0 };
        }
        let new: HashSet<(u64, u64)> = draft.iter().flat_map(|draft| draft.table.files()).collect();
        rows.retain(|&at| is_merged[segment(at)] && !new.contains(&table.stamp(at).file));
        sort::by_key(&mut rows, |at| Reverse(table.row(*at).written)); // as lists
        for at in rows {
            let draft = match draft {
                Some(draft) => draft,
                None => draft.insert(self.begin_draft()?),
            };
            // Damaged rows are read from the session next time.
            stored.copy(at, |addition| draft.add(addition)).transpose()?;
        }
        let merged = table.shared.segments.iter().zip(is_merged).filter(|(_, is_merged)| *is_merged);
        Ok(merged.map(|(segment, _)| segment.number).collect())
    }
}
