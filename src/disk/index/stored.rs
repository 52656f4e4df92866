//! The sessions of an open index. Processes that have it open can read on after other segments replaced its own.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::{archive_paths, machine_paths, sort};
use crate::disk::fingerprint::FileMetadata;
use crate::disk::index::files::IndexFiles;
use crate::disk::index::filter;
use crate::disk::index::segment_file::{SegmentFile, buffer, verified};
use crate::disk::index::table::{FolderPaths, Row, SETTLED, Segment, SessionTable};
use crate::disk::session_file::{self, RealPaths, SessionFile};
use crate::session::digest::Digest;
use crate::session::digest::details::{DetailsSource, LazyDetails};
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::joined_path::JoinedPath;
use crate::session::digest::listed::{SessionFilter, SessionSource};

/// The maximum distance in bytes of digests that are read together.
const MAX_GAP: u64 = 4096;

/// The rows of the files in a directory.
pub(in crate::disk) struct DirRecords<'a> {
    pub(super) table: &'a SessionTable,
    pub(super) rows: Range<usize>,
}

impl DirRecords<'_> {
    /// Returns the row of a file that has not changed since it was added.
    pub(in crate::disk) fn unchanged(&self, name: &OsStr, stamp: &FileMetadata) -> Option<u32> {
        let at = self.table.find(&self.rows, name.as_encoded_bytes())?;
        (self.table.row(at).has(SETTLED) && self.table.stamp(at) == *stamp).then_some(at as u32)
    }
}

/// The session directory of an index.
#[derive(Debug)]
pub(super) struct SessionDirs {
    /// The directory as named, with a trailing separator.
    pub(super) named: PathBuf,
    /// The directory with symbolic links resolved, or the original path of an archive, with a trailing separator, if it
    /// differs.
    pub(super) canonical: Option<PathBuf>,
    pub(super) home: Arc<str>,
    real_paths: RealPaths,
}

impl SessionDirs {
    pub(super) fn new(named: &Path, canonical: &Path, home: &str) -> Self {
        let original = archive_paths::original(named);
        let real_dir = original.as_deref().or(Some(canonical).filter(|real| *real != named)).map(|real| real.join(""));
        Self { named: named.join(""), canonical: real_dir, home: home.into(), real_paths: RealPaths::default() }
    }

    /// Returns the paths of a directory below the session directory.
    fn folder(&self, folder: &str) -> FolderPaths {
        let join = |dir: &PathBuf| JoinedPath { dir: dir.as_os_str(), rest: folder.as_ref() }.join().into_os_string();
        let (named, real) = (join(&self.named), self.canonical.as_ref().map(join));
        FolderPaths {
            may_be_mirrored: machine_paths::may_be_mirrored(named.as_encoded_bytes()),
            named,
            canonical: real,
        }
    }
}

/// The sessions of an open index.
#[derive(Debug)]
pub(super) struct StoredSessions {
    /// The files of the segments.
    pub(super) files: Vec<Arc<SegmentFile>>,
    pub(super) table: SessionTable,
    pub(super) dirs: Arc<SessionDirs>,
}

impl StoredSessions {
    /// Opens the segments of a table. Returns `None` if one is missing or not trustworthy.
    pub(super) fn open(mut table: SessionTable, dirs: &Arc<SessionDirs>, files: &IndexFiles) -> Option<Self> {
        table.set_paths(|folder| dirs.folder(folder));
        let open = |segment: &Segment| Some(Arc::new(SegmentFile::open(&files.segment(segment.number), &dirs.home)?));
        let files = table.shared.segments.iter().map(open).collect::<Option<_>>()?;
        Some(Self { files, table, dirs: dirs.clone() })
    }

    /// Returns the file of the segment of a row.
    pub(super) fn segment(&self, at: usize) -> &Arc<SegmentFile> {
        &self.files[usize::from(self.table.row(at).segment)]
    }

    /// Calls a function with the digests of some sessions, in their order, without file system metadata; `None` for
    /// those that are damaged. Digests near each other are read with one system call into `room`, a reusable buffer.
    pub(super) fn read_digests(&self, numbers: &[u32], room: &mut Vec<u8>, mut each: impl FnMut(u32, Option<Digest>)) {
        let rows: Vec<Row> = numbers.iter().map(|&number| self.table.row(number as usize)).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        sort::by_key(&mut order, |&at| (rows[at].segment, rows[at].digest));
        let is_near =
            |&a: &usize, &b: &usize| rows[a].segment == rows[b].segment && rows[b].digest - rows[a].digest <= MAX_GAP;
        let (mut ranges, mut end) = (vec![0..0; rows.len()], 0);
        for near in order.chunk_by(is_near) {
            let (first, last) = (rows[near[0]], rows[near[near.len() - 1]].digest().end());
            let start = end;
            let bytes = &mut buffer(room, start + (last - first.digest) as usize)[start..];
            if self.files[usize::from(first.segment)].read_at(first.digest, bytes).is_ok() {
                end += bytes.len();
                let place = |at: u64| start + (at - first.digest) as usize;
                near.iter().for_each(|&at| ranges[at] = place(rows[at].digest)..place(rows[at].digest().end()));
            }
        }
        // Cloning an `Arc` that all threads share is slow, because they change the same counter. So each call has its own.
        let sources: Vec<_> = self.files.iter().map(|file| Arc::new(file.clone())).collect();
        for ((number, row), range) in numbers.iter().zip(&rows).zip(ranges) {
            let digest = room.get(range).and_then(verified).and_then(|bytes| postcard::from_bytes(bytes).ok());
            let details = || LazyDetails::stored(sources[usize::from(row.segment)].clone(), row.pieces);
            each(*number, digest.map(|digest| Digest { details: details(), ..digest }));
        }
    }

    /// Returns the file of a row, if the row determines its path.
    pub(super) fn session_file(&self, at: usize) -> Option<SessionFile> {
        let stamp = self.table.row(at).has_place().then(|| self.table.stamp(at))?;
        let facts = self.table.facts(at);
        let (path, real_path) = (facts.path().join(), facts.real_path().map(JoinedPath::join));
        Some(SessionFile { path, real_path, stamp, ..SessionFile::default() })
    }
}

impl SessionSource for StoredSessions {
    fn facts(&self, number: u32) -> SessionFacts<'_> {
        self.table.facts(number as usize)
    }

    fn details(&self, number: u32) -> (&dyn DetailsSource, u64) {
        (&**self.segment(number as usize), self.table.row(number as usize).pieces)
    }

    fn with_keys(&self, keys: &[u16]) -> SessionFilter<'_> {
        let segments = self.files.iter().zip(&self.table.shared.segments);
        let passed: Vec<Vec<bool>> =
            segments.map(|(file, segment)| filter::sessions_with(file, &segment.blocks, keys)).collect();
        Box::new(move |number| {
            let row = self.table.row(number as usize);
            passed[usize::from(row.segment)].get(row.number as usize) == Some(&true)
        })
    }

    fn digests(&self, numbers: &[u32], room: &mut Vec<u8>, each: &mut dyn FnMut(Digest)) {
        self.read_digests(numbers, room, |number, digest| {
            let Some(file) = self.session_file(number as usize) else { return each(Digest::default()) };
            // Damaged ones are read from the session.
            let read = || self.segment(number as usize).read_session(&file.path, file.version().1);
            let digest = digest.or_else(read).unwrap_or_default();
            each(session_file::complete(file, digest, &self.dirs.real_paths));
        });
    }
}
