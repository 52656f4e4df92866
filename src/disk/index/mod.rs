//! What was read of the sessions of a directory, kept between runs: digests, and the texts that are searched. It saves
//! time and nothing else: what is missing, damaged, somebody else's, or of another version is read from the sessions
//! again, and deleting it loses nothing.
//!
//! Two files: one of all sessions, and one that adds what has changed since, so that little is written when little changed.
//! Both are written beside and renamed. What a file of the index is not sure to have right is never used: a session's file
//! must have the stamp that it had when it was read, each piece its hash, the file its owner and form.
//!
//! It keeps no text that a session file no longer holds: see [`Use::Stale`].

mod cleanup;
mod lazy;
mod segment;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::disk::content::Content;
use crate::disk::digest::{Session, State};
use crate::disk::file_version::{Stamp, hash};
use crate::disk::find::{Known, SessionFile};
use crate::disk::parallel;
use crate::session::digest::details::Lazy;
use crate::session::digest::{Digest, Shared};
use crate::session::links::ById;
use crate::session::search_text::{Room, Texts, TextsBuf};
pub(super) use cleanup::related;
use cleanup::remove;
pub(crate) use cleanup::{clean_up, clear};
use lazy::Lying;
use segment::{Draft, Pieces, Record, Table, Volume};

/// The form of the files, to be raised whenever what is read of a session, or how that is written, changes.
const FORM: u32 = 5;

/// What is added is written anew with each change: with more than this many bytes of it, or this share of the whole, all
/// becomes one file again.
const MOST_ADDED: (u64, u64) = (4 << 20, 8);

/// From this length on, in bytes, reading goes on where it stopped when a file has grown.
pub(super) const WORTH_GOING_ON: u64 = 1 << 20;

/// What is kept of the sessions of a directory.
#[derive(Debug)]
pub(super) struct Index {
    /// The files: of all, and what was added.
    paths: [PathBuf; 2],
    /// What it is about: sessions of this directory, read by this pitree for this home.
    of: u64,
    /// The directory as it is named, with a separator at its end.
    named: PathBuf,
    /// With symbolic links resolved.
    real: PathBuf,
    /// `true` if `real` and `named` differ. Cached, because comparing two paths for each file is slow.
    is_linked: bool,
    home: Arc<str>,
    volumes: Vec<Kept>,
    /// Files are at its paths that cannot be used.
    has_unusable: bool,
    draft: Mutex<New>,
}

/// The place of a record: the number of its volume, and its number there.
type Place = (usize, usize);

/// An open file of the index.
#[derive(Debug)]
struct Kept {
    volume: Volume,
    lies: Arc<Lying>,
    /// What its records are good for.
    uses: Vec<Use>,
    /// The sessions that were shown before anybody looked at their files, by their records.
    shown: Vec<Option<Shared>>,
}

/// A digest as it is written, behind the place of its file below the directory, if that says where it is.
type Placed<'a, D> = (Option<&'a str>, D);

/// What a record is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Its file is unchanged.
    Current,
    /// Its file has changed and still begins with the content that was read.
    Held,
    /// A later record of the same file replaces it, which is current or held.
    Past,
    /// Its file is gone or holds another content: nothing of it may stay in the index.
    Stale,
}

/// What was read anew.
#[derive(Debug)]
enum New {
    Nothing,
    Some {
        draft: Draft,
        pieces: Arc<Pieces>,
        table: Table,
    },
    /// The reason why it cannot be written.
    Failed(io::Error),
}

/// What there is of the index of a directory.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The directory, symbolic links resolved.
    pub(crate) dir: PathBuf,
    /// Its files: of all, and what was added since.
    pub(crate) paths: [PathBuf; 2],
    /// Their lengths in bytes, of those that can be used.
    pub(crate) bytes: u64,
    /// Files of sessions that are known.
    pub(crate) sessions: usize,
}

impl Facts {
    /// Removes the files. Returns their number and their bytes.
    ///
    /// # Errors
    /// One cannot be removed.
    pub(crate) fn remove(&self) -> io::Result<(usize, u64)> {
        remove(&self.paths)
    }

    /// What there is of the index of a directory, for a home.
    pub(crate) fn new(cache: &Path, dir: &Path, home: &str) -> Self {
        let Index { paths, volumes, .. } = Index::open(cache, dir, home);
        let files: HashSet<(u64, u64)> =
            volumes.iter().flat_map(|kept| &kept.volume.table.records).map(|record| record.stamp.file).collect();
        let bytes = volumes.iter().map(|kept| kept.volume.bytes).sum();
        Self { dir: real(dir), paths, bytes, sessions: files.len() }
    }
}

impl Index {
    /// Opens the index of a directory; empty if there is none that can be used.
    pub(super) fn open(cache: &Path, dir: &Path, home: &str) -> Self {
        let mut index = Self::empty(cache, dir, home);
        let [all, added] = &index.paths;
        let opened = Volume::open(all, index.of, 0);
        let added = opened.as_ref().and_then(|all| Volume::open(added, index.of, all.number));
        let kept = |volume: Volume| {
            let records = &volume.table.records;
            let places = records.iter().map(|record| (record.details, record.texts)).collect();
            let lies = Arc::new(Lying { pieces: volume.pieces.clone(), places, home: index.home.clone() });
            Kept { uses: vec![Use::Past; records.len()], shown: vec![None; records.len()], lies, volume }
        };
        index.volumes = opened.into_iter().chain(added).map(kept).collect();
        index.has_unusable = index.paths[index.volumes.len()..].iter().any(|path| path.symlink_metadata().is_ok());
        index
    }

    /// An index of a directory that replaces the present one.
    pub(super) fn empty(cache: &Path, dir: &Path, home: &str) -> Self {
        let real = real(dir);
        let name = format!("{:016x}", hash(real.as_os_str().as_encoded_bytes()));
        let paths = ["all", "added"].map(|part| cache.join(format!("{name}.{part}")));
        let about = [env!("CARGO_PKG_VERSION"), "\0", home, "\0"].concat().into_bytes();
        let of = hash(&[&about, real.as_os_str().as_encoded_bytes(), &FORM.to_le_bytes()].concat());
        Self {
            paths,
            of,
            named: dir.join(""),
            is_linked: real != dir,
            real,
            home: home.into(),
            volumes: Vec::new(),
            has_unusable: true,
            draft: Mutex::new(New::Nothing),
        }
    }

    /// Where a file is below the directory, if that says all of it.
    fn place<'a>(&self, file: &'a SessionFile) -> Option<&'a str> {
        let named = self.named.as_os_str().as_encoded_bytes();
        let below = std::str::from_utf8(file.path.as_os_str().as_encoded_bytes().strip_prefix(named)?).ok()?;
        let is_plain = !file.is_link && file.owner.is_none() && file.real_path == self.real_path(below);
        is_plain.then_some(below)
    }

    /// With symbolic links resolved, if that differs, the path of a file that is none and is reached by none from here.
    fn real_path(&self, below: &str) -> Option<PathBuf> {
        self.is_linked.then(|| self.real.join(below))
    }

    /// The sessions as they were when they were read, where their files were then: some may have changed since, or be
    /// gone. `complete` adds what the file system knows of a file.
    pub(super) fn show(&mut self, complete: impl Fn(SessionFile, Digest) -> Digest + Sync) -> Vec<Shared> {
        let added: HashSet<(u64, u64)> =
            self.volumes.iter().skip(1).flat_map(|kept| &kept.volume.table.records).map(|one| one.stamp.file).collect();
        let records = |(number, kept): (usize, &Kept)| {
            let records = kept.volume.table.records.iter().enumerate();
            let is_last = |(_, record): &(usize, &Record)| number > 0 || !added.contains(&record.stamp.file);
            records.filter(is_last).map(|(at, _)| (number, at)).collect::<Vec<_>>()
        };
        let places: Vec<(usize, usize)> = self.volumes.iter().enumerate().flat_map(records).collect();
        let shown = parallel::map(&places, |&(number, at)| {
            let (below, digest) = self.stored((number, at))?;
            let (below, stamp) = (below?, self.volumes[number].volume.table.records[at].stamp);
            let (path, real_path) = (self.named.join(below), self.real_path(below));
            let (bytes, mtime) = (stamp.bytes, stamp.mtime());
            let file = SessionFile { path, real_path, bytes, mtime, ..SessionFile::default() };
            Some(Arc::new(complete(file, digest)))
        });
        for ((number, at), session) in places.into_iter().zip(&shown) {
            self.volumes[number].shown[at].clone_from(session);
        }
        shown.into_iter().flatten().collect()
    }

    /// Whether a session was shown as it is.
    pub(super) fn is_shown(&self, (number, at): (usize, usize)) -> bool {
        self.volumes[number].shown[at].is_some()
    }

    /// The files of the sessions that were shown and are not, or not there, as they were.
    pub(super) fn outdated(&self) -> impl Iterator<Item = &Path> {
        let shown = self.volumes.iter().flat_map(|kept| kept.shown.iter().zip(&kept.uses));
        let outdated = shown.filter(|(_, is)| **is != Use::Current).filter_map(|(session, _)| session.as_ref());
        outdated.map(|session| session.path.as_path())
    }

    /// Compares the records with all files that were found in these directories (`real`, symbolic links resolved). Notes
    /// in the files of this directory, if it has a number among them, what is known of them.
    pub(super) fn look(&mut self, dir: Option<usize>, real: &[PathBuf], files: &mut [SessionFile]) {
        let records = self.volumes.iter().map(|kept| kept.uses.len()).sum();
        let (mut by_file, mut past) = (ById::with_capacity_and_hasher(records, Default::default()), Vec::new());
        for (number, kept) in self.volumes.iter().enumerate() {
            for (at, record) in kept.volume.table.records.iter().enumerate() {
                let key = record.stamp.key();
                past.extend(by_file.insert(key, (number, at)).map(|place| (place, key)));
            }
        }
        let known = parallel::map(files.iter_mut(), |file| {
            let &place = by_file.get(&file.stamp.key())?;
            let record = self.record(place).filter(|record| record.stamp.file == file.stamp.file)?;
            let (known, is) = match record.compare(&file.stamp, &file.path) {
                Use::Current if self.below(place) == self.place(file) => (Known::Same(place), Use::Current),
                Use::Current => (Known::Moved(place), Use::Held),
                Use::Held if file.stamp.has_grown_from(&record.stamp) => (Known::Before(place), Use::Held),
                is => (Known::Nothing, is),
            };
            if dir == Some(file.dir) {
                file.known = known;
            }
            Some((place, is))
        });
        let uses = |number| self.uses_without_files(number, real);
        let uses: Vec<Vec<Use>> = (0..self.volumes.len()).map(uses).collect();
        self.volumes.iter_mut().zip(uses).for_each(|(kept, uses)| kept.uses = uses);
        for ((number, at), is) in known.into_iter().flatten() {
            self.volumes[number].uses[at] = is;
        }
        // A later record was written when the file still held the earlier one.
        for ((number, at), key) in past {
            let is_stale = by_file.get(&key).is_none_or(|&(number, at)| self.volumes[number].uses[at] == Use::Stale);
            self.volumes[number].uses[at] = if is_stale { Use::Stale } else { Use::Past };
        }
    }

    /// The state of records whose files were not found in these directories.
    fn uses_without_files(&self, number: usize, real: &[PathBuf]) -> Vec<Use> {
        let covers = |path: &Path| real.iter().any(|dir| path.starts_with(dir));
        let is_covered = covers(&self.real);
        let one = |at| match is_covered || self.below((number, at)).is_some_and(|below| covers(&self.real.join(below)))
        {
            true => Use::Stale,
            false => Use::Current,
        };
        (0..self.volumes[number].uses.len()).map(one).collect()
    }

    fn record(&self, (volume, at): Place) -> Option<&Record> {
        self.volumes.get(volume)?.volume.table.records.get(at)
    }

    /// The place of the file of a record below the directory.
    fn below(&self, (volume, at): Place) -> Option<&str> {
        let table = &self.volumes.get(volume)?.volume.table;
        placed(table.digest(table.records.get(at)?)?)?.0
    }

    /// What is kept of a file that is as it was: `None` if that is damaged, else its digest, unless it is no session.
    #[allow(clippy::option_option, reason = "what is no session is known as well")]
    pub(super) fn digest(&self, place: (usize, usize)) -> Option<Option<Digest>> {
        let kept = self.volumes.get(place.0)?;
        let is_none = kept.volume.table.digest(kept.volume.table.records.get(place.1)?)?.is_empty();
        if is_none { Some(None) } else { self.stored(place).map(|(_, digest)| Some(digest)) }
    }

    /// A digest that is kept, and the place of its file; `None` if there is none, or it is damaged.
    fn stored(&self, (volume, at): (usize, usize)) -> Option<Placed<'_, Digest>> {
        let kept = self.volumes.get(volume)?;
        let bytes = kept.volume.table.digest(kept.volume.table.records.get(at)?)?;
        let (place, digest): Placed<'_, Digest> = postcard::from_bytes(bytes).ok()?;
        Some((place, Digest { details: Lazy::stored(kept.lies.clone(), at as u32), ..digest }))
    }

    /// Keeps what is known of a file that is as it was, and elsewhere.
    pub(super) fn keep_moved(&self, (volume, at): (usize, usize), file: &SessionFile) {
        let mut rooms = [const { Vec::new() }; 3];
        let kept = &self.volumes[volume].volume;
        let Some([digest, details, texts, state]) = kept.read(&kept.table.records[at], &mut rooms) else { return };
        let Some((_, digest)) = placed(digest) else { return };
        let pieces = [&[&bytes(&self.place(file)), digest].concat(), details, texts, state];
        self.put(file, pieces, kept.table.records[at].content);
    }

    /// With what reading of a file that has grown goes on, and its texts so far.
    pub(super) fn before(&self, (volume, at): (usize, usize)) -> Option<(State, TextsBuf)> {
        let Kept { volume, .. } = self.volumes.get(volume)?;
        let record = volume.table.records.get(at)?;
        let Room { mut bytes, mut starts } = Room::default();
        let texts = Texts::from_bytes(volume.pieces.read(record.texts, &mut bytes)?, &mut starts)?.into();
        Some((volume.pieces.get(record.state?)?, texts))
    }

    /// Keeps what was read of a file, nothing if it is no session, as far as that can be written: the digest then has its
    /// details there.
    pub(super) fn keep(&self, file: &SessionFile, read: Option<&mut Session>) {
        let content = read.as_ref().map_or_else(Content::default, |session| session.content);
        let pieces = read.as_ref().map(|Session { digest, texts, state, .. }| {
            [bytes(&(self.place(file), digest)), bytes(&**digest.details()), texts.as_texts().to_bytes(), state.clone()]
        });
        let [digest, details, texts, state] = pieces.unwrap_or_default();
        let lazy = self.put(file, [&digest, &details, &texts, &state], content);
        if let (Some(session), Some(lazy)) = (read, lazy) {
            session.digest.details = lazy;
        }
    }

    /// Puts down what is kept of a file, as far as that can be written: its details then lie there.
    fn put(&self, file: &SessionFile, pieces: [&[u8]; 4], content: Content) -> Option<Lazy> {
        let mut new = self.draft.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*new, New::Failed(_)) {
            return None;
        }
        self.add(&mut new, file, pieces, content).map_err(|error| *new = New::Failed(error)).ok()
    }

    fn add(&self, new: &mut New, file: &SessionFile, pieces: [&[u8]; 4], content: Content) -> io::Result<Lazy> {
        if matches!(new, New::Nothing) {
            let draft = Draft::begin(&self.paths[0], &self.real)?;
            *new = New::Some { pieces: Arc::new(draft.pieces()?), draft, table: Table::default() };
        }
        let New::Some { draft, pieces: written, table } = new else { return Err(io::ErrorKind::Other.into()) };
        let [digest, details, texts, state] = pieces;
        let [details, texts, stated] = draft.add([details, texts, state])?;
        let record = Record {
            stamp: file.stamp,
            is_settled: file.stamp.is_settled(&draft.begun),
            digest: table.push(digest)?,
            details,
            texts,
            content,
            state: (!state.is_empty()).then_some(stated),
        };
        table.records.push(record);
        let lies = Lying { pieces: written.clone(), places: vec![(details, texts)], home: self.home.clone() };
        Ok(Lazy::stored(Arc::new(lies), 0))
    }

    /// Writes what was read, and removes what no file holds any more. If that cannot be rewritten, the index goes.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn finish(self) -> io::Result<()> {
        let Self { paths, of, real, volumes, has_unusable, draft, .. } = self;
        let is_stale = !volumes.iter().all(Kept::is_clean);
        let written = match draft.into_inner().unwrap_or_else(PoisonError::into_inner) {
            New::Some { draft, table, .. } => write(&paths, of, &volumes, (draft, table)),
            New::Nothing if is_stale => {
                Draft::begin(&paths[0], &real).and_then(|draft| write(&paths, of, &volumes, (draft, Table::default())))
            }
            New::Nothing if has_unusable => remove(&paths[volumes.len()..]).map(drop),
            New::Nothing => Ok(()),
            New::Failed(error) => Err(error),
        };
        if written.is_err() && is_stale {
            remove(&paths)?;
        }
        written
    }
}

/// Writes a draft with what is left of the present volumes: of all if it is to replace the first, else of the second.
fn write(paths: &[PathBuf; 2], of: u64, volumes: &[Kept], (mut draft, mut table): (Draft, Table)) -> io::Result<()> {
    let [all, added] = [0, 1].map(|number| volumes.get(number));
    let past = |kept: &Kept| kept.uses.iter().filter(|is| **is != Use::Current).count();
    let adds_to = all.filter(|all| {
        let bytes = draft.bytes() + added.map_or(0, |added| added.volume.bytes);
        all.is_clean() && bytes <= MOST_ADDED.0.max(all.volume.bytes / MOST_ADDED.1) && past(all) <= all.uses.len() / 2
    });
    let new: HashSet<(u64, u64)> = table.records.iter().map(|record| record.stamp.file).collect();
    for kept in [all.filter(|_| adds_to.is_none()), added].into_iter().flatten() {
        kept.copy(&new, &mut draft, &mut table)?;
    }
    let replaced = &paths[usize::from(adds_to.is_some())..];
    let [path, rest @ ..] = replaced else { return Ok(()) };
    if table.records.is_empty() {
        return remove(replaced).map(drop);
    }
    draft.finish(&table, path, (of, adds_to.map_or(0, |all| all.volume.number)))?;
    remove(rest).map(drop) // it adds to a volume that was replaced
}

impl Kept {
    /// Returns `true` if its files hold all that it has of them.
    fn is_clean(&self) -> bool {
        !self.uses.contains(&Use::Stale)
    }

    /// Adds the records that are still right to another volume, unless that has `new` ones of their files.
    fn copy(&self, new: &HashSet<(u64, u64)>, draft: &mut Draft, table: &mut Table) -> io::Result<()> {
        let mut rooms = [const { Vec::new() }; 3];
        let is_right = |(record, is): &(&Record, &Use)| {
            matches!(is, Use::Current | Use::Held) && !new.contains(&record.stamp.file)
        };
        for (record, _) in self.volume.table.records.iter().zip(&self.uses).filter(is_right) {
            // What is damaged is read from the session the next time.
            let Some([digest, details, texts, state]) = self.volume.read(record, &mut rooms) else { continue };
            let [details, texts, stated] = draft.add([details, texts, state])?;
            let digest = table.push(digest)?;
            table.records.push(Record { digest, details, texts, state: record.state.map(|_| stated), ..*record });
        }
        Ok(())
    }
}

impl Record {
    /// Compares it with the file at a path, which has this stamp.
    fn compare(&self, stamp: &Stamp, path: &Path) -> Use {
        match () {
            () if self.is_settled && self.stamp == *stamp => Use::Current,
            () if self.content.is_in(path) => Use::Held,
            () => Use::Stale,
        }
    }
}

/// The absolute path of a directory, with symbolic links resolved if it is there.
pub(super) fn real(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).or_else(|_| std::path::absolute(dir)).unwrap_or_else(|_| dir.into())
}

/// The place of a file, and its digest, as they are written.
fn placed(bytes: &[u8]) -> Option<Placed<'_, &[u8]>> {
    postcard::take_from_bytes(bytes).ok()
}

/// Something as it is written. There is nothing in what is kept that could not be.
fn bytes(what: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(what).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::demo;
    use crate::disk::files::Files;
    use crate::disk::scan::{self, Sources};
    use crate::session::search_text::TextsBuf;

    #[test]
    fn the_form_has_a_number_of_its_own() {
        let sources = Sources { files: Files::Demo, dirs: &[], home: demo::HOME, cache: None };
        let mut written: Vec<Vec<u8>> = Vec::new();
        sources.scan().read(|scan::Batch { sessions, .. }| {
            let one =
                |session: &Shared| [bytes(&(Some("p/s.jsonl"), &**session)), bytes(&**session.details())].concat();
            written.extend(sessions.iter().map(one));
            true
        });
        written.sort();
        let mut texts = TextsBuf::default();
        texts.conversation.push(3, "As it was Said");
        written.push(texts.as_texts().to_bytes());
        assert_eq!(
            (FORM, hash(&written.concat())),
            (5, 10_518_070_844_105_169_291),
            "what is read of sessions, or how it is written, is another: raise FORM, and say so here"
        );
    }
}
