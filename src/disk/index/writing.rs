//! Additions to the index: new records are written to a draft, which becomes a segment at the end.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use serde::Serialize;

use crate::disk::fingerprint::{ContentHash, FileVersion};
use crate::disk::index::filter::FilterDraft;
use crate::disk::index::list::{IndexFiles, SegmentList, remove};
use crate::disk::index::pieces::{KINDS, SegmentDraft};
use crate::disk::index::record::{FilePlace, SegmentRecord};
use crate::disk::index::segment::{self, Segment, WrittenSession};
use crate::disk::index::table_draft::TableDraft;
use crate::session::digest::Digest;
use crate::session::digest::details::LazyDetails;
use crate::session::digest::facts::SessionFacts;
use crate::session::search_text::SearchTexts;
use crate::session::search_titles::{SearchTitles, TitlesBuf};
use crate::session::trigrams;

/// The new records.
#[derive(Debug)]
enum NewRecord {
    Nothing,
    Some {
        draft: SegmentDraft,
        table: Box<TableDraft>,
        /// The latest modification time of a file omitted because of the size limit.
        omitted: Option<i64>,
    },
    /// The reason why they cannot be written.
    Failed(io::Error),
}

/// The additions to an index. They are written to a draft as they come.
#[derive(Debug)]
pub(super) struct Additions {
    files: IndexFiles,
    /// The maximum size of the index in bytes.
    pub(super) limit: u64,
    /// Files with earlier modification times are omitted because of the limit.
    oldest: i64,
    new: Mutex<NewRecord>,
}

/// A file to add.
#[derive(Clone, Copy, Default)]
pub(super) struct Addition<'a> {
    pub(super) stamp: FileVersion,
    /// The path below the session directory, if it is the only path of the file.
    pub(super) place: Option<FilePlace<'a>>,
    pub(super) content: ContentHash,
    /// The facts about the session; `None` for a file that is not a session.
    pub(super) facts: Option<SessionFacts<'a>>,
    /// The serialized pieces.
    pub(super) pieces: [&'a [u8]; KINDS],
    /// The keys of the texts and titles.
    pub(super) keys: &'a [u16],
}

impl Additions {
    pub(super) fn new(files: &IndexFiles, limit: u64) -> Self {
        Self { files: files.clone(), limit, oldest: i64::MIN, new: Mutex::new(NewRecord::Nothing) }
    }

    /// Omits the same files as before.
    pub(super) fn set_oldest(&mut self, list: &SegmentList) {
        self.oldest = if list.limit == self.limit { list.oldest } else { i64::MIN };
    }

    /// Returns `true` if files were omitted because of the size limit.
    pub(super) fn has_omitted(&self) -> bool {
        self.oldest > i64::MIN
    }

    /// Writes the pieces of a file. If it can be written, the details are then loaded from there.
    pub(super) fn put(&self, addition: &Addition<'_>, home: &Arc<str>) -> Option<LazyDetails> {
        let lock = || self.new.lock();
        let add = || -> io::Result<Option<(LazyDetails, Option<FilterDraft>)>> {
            let mtime = addition.stamp.mtime();
            if mtime < self.oldest {
                return Ok(None);
            }
            let mut new = lock();
            if matches!(*new, NewRecord::Nothing) {
                let draft = SegmentDraft::begin(&self.files.list)?;
                *new = NewRecord::Some { draft, table: Box::default(), omitted: None };
            }
            let NewRecord::Some { draft, table, omitted } = &mut *new else { return Ok(None) };
            if draft.end > self.limit {
                *omitted = (*omitted).max(Some(mtime)); // the newest files come first
                return Ok(None);
            }
            let &Addition { stamp, place, content, facts, pieces, keys } = addition;
            let places = draft.add(content, pieces)?;
            let is_settled = stamp.is_settled(&draft.begun);
            let record = SegmentRecord { stamp, is_settled, is_session: facts.is_some(), pieces: places.at };
            let block = match facts {
                Some(facts) => table.push(record, place, &facts, keys)?,
                None => table.push(record, place, &Digest::default().facts(), keys)?,
            };
            let written = WrittenSession { pieces: draft.pieces().clone(), places, home: home.clone() };
            Ok(Some((LazyDetails::stored(Arc::new(written), 0), block)))
        };
        let added = add().and_then(|added| {
            let Some((lazy, block)) = added else { return Ok(None) };
            // Other threads can go on while the block is built.
            if let Some(block) = block.map(FilterDraft::build)
                && let NewRecord::Some { draft, table, .. } = &mut *lock()
            {
                table.filter.write(&block, draft)?;
            }
            Ok(Some(lazy))
        });
        added.unwrap_or_else(|error| {
            *lock() = NewRecord::Failed(error);
            None
        })
    }

    /// Writes the new records, and removes text that no file contains any more: see [`super::Index::finish`]. `opened`
    /// is the list of segments as it was when `volumes` were opened. Returns `true` if anything was to be done.
    pub(super) fn finish(self, opened: &SegmentList, volumes: &[Segment], replaces: bool) -> io::Result<bool> {
        let Self { files, limit, new, .. } = self;
        let new = new.into_inner();
        let is_stale = !volumes.iter().all(Segment::is_clean);
        let is_usable = if replaces { files.existing().is_empty() } else { volumes.len() == opened.segments.len() };
        if matches!(new, NewRecord::Nothing) && !is_stale && is_usable {
            return Ok(false);
        }
        let written = write(&files, (opened, volumes, replaces), new, limit);
        if written.is_err() && is_stale {
            files.remove()?;
        }
        written.map(|()| true)
    }
}

/// Changes the segments, and then the list.
fn write(
    files: &IndexFiles,
    (opened, volumes, replaces): (&SegmentList, &[Segment], bool),
    new: NewRecord,
    limit: u64,
) -> io::Result<()> {
    let _lock = files.lock()?;
    let before = if replaces { None } else { files.read(opened.of) };
    let mut list = before.clone().unwrap_or_else(|| SegmentList { segments: Vec::new(), ..opened.clone() });
    let is_open = |number: &u64| volumes.iter().any(|kept| kept.header.number == *number);
    list.segments.retain(|number| is_open(number) || !opened.segments.contains(number));
    remove_stale(files, volumes, &mut list)?;
    let added = match new {
        NewRecord::Some { mut draft, mut table, omitted, .. } => (|| {
            table.filter.finish(&mut draft)?;
            list.segments.push(finish(files, list.of, draft, &table)?);
            if let Some(omitted) = omitted {
                let oldest = if list.limit == limit { list.oldest } else { i64::MIN };
                (list.limit, list.oldest) = (limit, oldest.max(omitted + 1));
            }
            Ok(())
        })(),
        NewRecord::Nothing => Ok(()),
        NewRecord::Failed(error) => Err(error),
    };
    if replaces && added.is_err() {
        return added; // the previous index stays
    }
    if list.segments.is_empty() {
        files.remove()?;
        return added;
    }
    if before.as_ref() != Some(&list) {
        list.write(&files.list)?;
        files.remove_unlisted(&list)?;
    }
    added
}

/// Writes the table of a draft, and gives it a number and its name. Returns the number.
///
/// # Errors
/// The segment cannot be written.
pub(super) fn finish(files: &IndexFiles, of: u64, draft: SegmentDraft, table: &TableDraft) -> io::Result<u64> {
    let number = getrandom::u64().map_err(io::Error::other)?;
    let bytes = table.to_bytes(Some(&table.filter.blocks))?;
    draft.finish(&bytes, &files.segment(number), (of, number))?;
    Ok(number)
}

/// Overwrites the text of stale records, or removes segments in which this is impossible.
fn remove_stale(files: &IndexFiles, volumes: &[Segment], list: &mut SegmentList) -> io::Result<()> {
    if volumes.iter().all(Segment::is_clean) {
        return Ok(());
    }
    let stale: HashSet<FileVersion> = volumes.iter().flat_map(Segment::stale).collect();
    // Another process may have merged segments with these records since they were opened.
    let is_clean = |number: u64| volumes.iter().any(|kept| kept.header.number == number && kept.is_clean());
    for number in list.segments.clone().into_iter().filter(|number| !is_clean(*number)) {
        let path = files.segment(number);
        if segment::remove(&path, &stale).unwrap_or_default() == 0 {
            list.segments.retain(|listed| *listed != number);
            remove([&path])?;
        }
    }
    Ok(())
}

/// Returns the keys of the texts and titles of a session, by which words are found.
pub(super) fn keys(digest: &Digest, texts: SearchTexts<'_>) -> Vec<u16> {
    let titles = TitlesBuf::new(digest);
    let SearchTitles { name, id, cwd, first_message, labels } = titles.as_titles();
    trigrams::keys([name, id, cwd, first_message, labels.folded, texts.conversation.folded, texts.summaries.folded])
}

/// Returns the keys of a session from its pieces.
pub(super) fn stored_keys([digest, _, texts, ..]: [&[u8]; KINDS]) -> Vec<u16> {
    let mut starts = Default::default();
    let digest = postcard::from_bytes(digest).unwrap_or_default();
    keys(&digest, SearchTexts::from_bytes(texts, &mut starts).unwrap_or_default())
}

/// Serializes a value. Serialization of the stored types cannot fail.
pub(super) fn bytes(what: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(what).unwrap_or_default()
}
