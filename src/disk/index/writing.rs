//! Additions to the index: new records are written to a draft, which replaces or extends the segments at the end.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::disk::fingerprint::{ContentHash, FileVersion};
use crate::disk::index::cleanup::remove;
use crate::disk::index::filter::FilterDraft;
use crate::disk::index::pieces::{SegmentDraft, SegmentPieces};
use crate::disk::index::segment::{RecordUse, Segment, WrittenSession};
use crate::disk::index::table::{SegmentRecord, TableDraft};
use crate::session::digest::Digest;
use crate::session::digest::details::LazyDetails;
use crate::session::digest::listed::SessionFacts;
use crate::session::search_text::SearchTexts;
use crate::session::search_titles::{SearchTitles, TitlesBuf};
use crate::session::trigrams;

/// The maximum size in bytes of the additions, and their maximum share of the whole. Beyond it, both files are merged,
/// because the additions are rewritten with each change.
const MOST_ADDED: (u64, u64) = (4 << 20, 8);

/// The new records.
#[derive(Debug)]
enum NewRecord {
    Nothing,
    Some {
        draft: SegmentDraft,
        pieces: Arc<SegmentPieces>,
        table: Box<TableDraft>,
    },
    /// The reason why they cannot be written.
    Failed(io::Error),
}

/// The additions to an index. They are written to a draft as they come.
#[derive(Debug)]
pub(super) struct Additions {
    /// The path of the segment that the draft may replace.
    path: PathBuf,
    /// The session directory with symbolic links resolved.
    real: PathBuf,
    new: Mutex<NewRecord>,
}

/// A file to add.
#[derive(Clone, Copy, Default)]
pub(super) struct Addition<'a> {
    pub(super) stamp: FileVersion,
    /// The path below the session directory, if it is the only path of the file.
    pub(super) below: Option<&'a str>,
    pub(super) is_session: bool,
    pub(super) content: ContentHash,
    pub(super) facts: SessionFacts<'a>,
    /// The serialized digest, details, texts and state.
    pub(super) pieces: [&'a [u8]; 4],
    /// The keys of the texts and titles.
    pub(super) keys: &'a [u16],
}

impl Additions {
    pub(super) fn new(path: &Path, real: &Path) -> Self {
        Self { path: path.into(), real: real.into(), new: Mutex::new(NewRecord::Nothing) }
    }

    /// Writes the pieces of a file. If it can be written, the details are then loaded from there.
    pub(super) fn put(&self, addition: &Addition<'_>, home: &Arc<str>) -> Option<LazyDetails> {
        let lock = || self.new.lock().unwrap_or_else(PoisonError::into_inner);
        let add = || -> io::Result<Option<(LazyDetails, Option<FilterDraft>)>> {
            let mut new = lock();
            if matches!(*new, NewRecord::Nothing) {
                let draft = SegmentDraft::begin(&self.path, &self.real)?;
                *new = NewRecord::Some { pieces: Arc::new(draft.pieces()?), draft, table: Box::default() };
            }
            let NewRecord::Some { draft, pieces: written, table } = &mut *new else { return Ok(None) };
            let &Addition { stamp, below, is_session, content, ref facts, pieces, keys } = addition;
            let places = draft.add(pieces)?;
            let is_settled = stamp.is_settled(&draft.begun);
            let record = SegmentRecord { stamp, is_settled, is_session, content, pieces: places };
            let block = table.push(record, below, facts, keys)?;
            let written = WrittenSession { pieces: written.clone(), places, home: home.clone() };
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

    /// Writes the new records, and removes text that no file contains any more: see [`super::Index::finish`].
    pub(super) fn finish(
        self,
        paths: &[PathBuf; 2],
        of: u64,
        volumes: &[Segment],
        has_unusable: bool,
    ) -> io::Result<()> {
        let is_stale = !volumes.iter().all(Segment::is_clean);
        let written = match self.new.into_inner().unwrap_or_else(PoisonError::into_inner) {
            NewRecord::Some { draft, table, .. } => write(paths, of, volumes, (draft, *table)),
            NewRecord::Nothing if is_stale => SegmentDraft::begin(&self.path, &self.real)
                .and_then(|draft| write(paths, of, volumes, (draft, TableDraft::default()))),
            NewRecord::Nothing if has_unusable => remove(&paths[volumes.len()..]).map(drop),
            NewRecord::Nothing => Ok(()),
            NewRecord::Failed(error) => Err(error),
        };
        if written.is_err() && is_stale {
            remove(paths)?;
        }
        written
    }
}

/// Writes a draft with the remaining records: of both segments if it replaces the first, otherwise of the second.
fn write(
    paths: &[PathBuf; 2],
    of: u64,
    volumes: &[Segment],
    (mut draft, mut table): (SegmentDraft, TableDraft),
) -> io::Result<()> {
    let [all, added] = [0, 1].map(|number| volumes.get(number));
    let past = |kept: &Segment| kept.uses.iter().filter(|is| **is != RecordUse::Current).count();
    let adds_to = all.filter(|all| {
        let bytes = draft.end + added.map_or(0, |added| added.bytes);
        all.is_clean() && bytes <= MOST_ADDED.0.max(all.bytes / MOST_ADDED.1) && past(all) <= all.uses.len() / 2
    });
    let new: HashSet<(u64, u64)> = table.records().map(|record| record.stamp.file).collect();
    for kept in [all.filter(|_| adds_to.is_none()), added].into_iter().flatten() {
        kept.copy(&new, &mut draft, &mut table)?;
    }
    let replaced = &paths[usize::from(adds_to.is_some())..];
    let [path, rest @ ..] = replaced else { return Ok(()) };
    if table.is_empty() {
        return remove(replaced).map(drop);
    }
    let last = table.filter.take().build();
    table.filter.write(&last, &mut draft)?;
    draft.finish(&table.to_bytes(), path, (of, adds_to.map_or(0, |all| all.number)))?;
    remove(rest).map(drop) // it adds to a segment that was replaced
}

impl Segment {
    /// Returns `true` if the files contain exactly these records.
    fn is_clean(&self) -> bool {
        !self.uses.contains(&RecordUse::Stale)
    }

    /// Copies the valid records to another segment, except those of files with `new` records.
    fn copy(&self, new: &HashSet<(u64, u64)>, draft: &mut SegmentDraft, table: &mut TableDraft) -> io::Result<()> {
        let mut rooms = [const { Vec::new() }; 4];
        for (at, is) in self.uses.iter().enumerate() {
            let record = self.table().record(at);
            if !matches!(is, RecordUse::Current | RecordUse::Held) || new.contains(&record.stamp.file) {
                continue;
            }
            // Damaged records are read from the session next time.
            let Some(pieces) = self.read(&record, &mut rooms) else { continue };
            let places = draft.add(pieces)?;
            let (below, facts) = (self.table().below(at), self.table().facts(at));
            let record = SegmentRecord { pieces: places, ..record };
            if let Some(block) = table.push(record, below, &facts, &stored_keys(pieces))? {
                table.filter.write(&block.build(), draft)?;
            }
        }
        Ok(())
    }
}

/// Returns the keys of the texts and titles of a session, by which words are found.
pub(super) fn keys(digest: &Digest, texts: SearchTexts<'_>) -> Vec<u16> {
    let titles = TitlesBuf::new(digest);
    let SearchTitles { name, id, cwd, first_message, labels } = titles.as_titles();
    trigrams::keys([name, id, cwd, first_message, labels.folded, texts.conversation.folded, texts.summaries.folded])
}

/// Returns the keys of a session from its pieces.
pub(super) fn stored_keys([digest, _, texts, _]: [&[u8]; 4]) -> Vec<u16> {
    let mut starts = Default::default();
    let digest = postcard::from_bytes(digest).unwrap_or_default();
    keys(&digest, SearchTexts::from_bytes(texts, &mut starts).unwrap_or_default())
}

/// Serializes a value. Serialization of the stored types cannot fail.
pub(super) fn bytes(what: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(what).unwrap_or_default()
}
