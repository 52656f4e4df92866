//! Additions to the index, and removal of text that no session file contains any more. New rows are written to a draft,
//! which becomes a segment at the end.

use std::collections::HashSet;
use std::io;

use crate::disk::digest::ScannedSession;
use crate::disk::fingerprint::FileVersion;
use crate::disk::index::list::{SegmentList, remove};
use crate::disk::index::merging::MergeScope;
use crate::disk::index::open_index::{Index, RowPlace};
use crate::disk::index::segment::{self, RowUse, Segment, keys};
use crate::disk::index::segment_draft::{Addition, SegmentDraft};
use crate::disk::index::segment_file::bytes;
use crate::disk::session_file::SessionFile;
use crate::session::digest::details::LazyDetails;
use crate::session::stats::intervals::SessionSums;

impl Index {
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
    pub(in crate::disk) fn keep_moved(&self, (segment, at): RowPlace, file: &SessionFile) {
        self.segments[segment].copy(at, |addition| self.put(file, &Addition { is_settled: None, ..*addition }));
    }

    /// Writes the data of a file to the draft.
    fn put(&self, file: &SessionFile, addition: &Addition<'_>) -> Option<LazyDetails> {
        if file.stamp.mtime() < self.oldest() {
            return None;
        }
        let mut slot = self.draft.lock();
        let draft = slot.get_or_insert_with(|| SegmentDraft::begin(&self.files.list, &self.dirs.home));
        // The newest files come first.
        let draft = draft.as_mut().ok().filter(|draft| draft.end <= self.limit)?;
        let added = draft.add(&Addition { stamp: file.stamp, place: self.place(file), ..*addition });
        added.unwrap_or_else(|error| {
            *slot = Some(Err(error));
            None
        })
    }

    /// Writes new rows, removes text that no file contains any more, and merges segments. If text cannot be removed, the
    /// index is deleted.
    ///
    /// # Errors
    /// The index cannot be written.
    pub(in crate::disk) fn finish(mut self, scope: MergeScope) -> io::Result<()> {
        let draft = self.draft.get_mut().take();
        let has_stale = self.segments.iter().any(has_stale);
        let is_usable = match self.replaces {
            true => self.files.existing().is_empty(),
            false => self.segments.len() == self.list.segments.len(),
        };
        let is_changed = draft.is_some() || has_stale || !is_usable;
        if is_changed {
            let written = self.write(draft);
            if written.is_err() && has_stale {
                self.files.remove()?;
            }
            written?;
        }
        self.files.note_use(self.opened, is_changed);
        if is_changed { self.merge(scope) } else { Ok(()) }
    }

    /// Changes the segments, and then the list.
    fn write(&self, draft: Option<io::Result<SegmentDraft>>) -> io::Result<()> {
        let _lock = self.files.lock()?;
        let before = if self.replaces { None } else { self.files.read(self.list.of) };
        let new = || SegmentList { segments: Vec::new(), ..self.list.clone() };
        let mut list = before.clone().unwrap_or_else(new);
        let is_open = |number| self.segments.iter().any(|segment| segment.number == number);
        list.segments.retain(|number| is_open(*number) || !self.list.segments.contains(number));
        self.remove_stale(&mut list)?;
        let added = draft.map_or(Ok(()), |draft| {
            list.segments.push(self.files.add(draft?)?);
            Ok(())
        });
        if self.replaces && added.is_err() {
            return added; // the previous index stays
        }
        if list.segments.is_empty() {
            self.files.remove()?;
        } else if before.as_ref() != Some(&list) {
            self.files.replace_list(&list)?;
        }
        added
    }

    /// Removes stale rows from segments, or segments in which this is impossible.
    fn remove_stale(&self, list: &mut SegmentList) -> io::Result<()> {
        let stale_in = |segment: &Segment| -> Vec<FileVersion> {
            segment.used(&[RowUse::Stale]).map(|at| segment.table().stamp(at)).collect()
        };
        let stale: HashSet<FileVersion> = self.segments.iter().flat_map(stale_in).collect();
        if stale.is_empty() {
            return Ok(());
        }
        // Another process may have merged segments with these rows since they were opened.
        let is_clean = |number| self.segments.iter().any(|segment| segment.number == number && !has_stale(segment));
        for number in list.segments.clone().into_iter().filter(|number| !is_clean(*number)) {
            let path = self.files.segment(number);
            if segment::remove(&path, &stale).unwrap_or_default() == 0 {
                list.segments.retain(|listed| *listed != number);
                remove([&path])?;
            }
        }
        Ok(())
    }
}

fn has_stale(segment: &Segment) -> bool {
    segment.uses.contains(&RowUse::Stale)
}
