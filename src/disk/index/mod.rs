//! What was read of the sessions of a directory, kept between runs: digests, and the texts that are searched. It saves
//! time and nothing else: what is missing, damaged, somebody else's, or of another version is read from the sessions
//! again, and deleting it loses nothing.
//!
//! Two files: one of all sessions, and one that adds what has changed since, so that little is written when little changed.
//! Both are written beside and renamed. What a file of the index is not sure to have right is never used: a session's file
//! must have the stamp that it had when it was read, each piece its hash, the file its owner and form.

mod lying;
mod volume;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::disk::crew;
use crate::disk::digest::{Session, State};
use crate::disk::find::{Known, SessionFile};
use crate::disk::stamp::hash;
use crate::session::digest::details::Lazy;
use crate::session::digest::{Digest, Shared};
use crate::session::shape::ById;
use crate::session::texts::{Room, Texts, TextsBuf};
use lying::Lying;
use volume::{Draft, Pieces, Record, Table, Volume};

/// The form of the files, to be raised whenever what is read of a session, or how that is written, changes.
const FORM: u32 = 3;

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
    /// With symbolic links resolved, if that differs.
    real: Option<PathBuf>,
    home: Arc<str>,
    volumes: Vec<Kept>,
    draft: Mutex<New>,
}

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
    /// Its file is as it was.
    Current,
    /// Its file has changed, or what was added says more of it.
    Past,
    /// Its file is gone.
    Gone,
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
    /// It can't be written.
    Failed,
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
    /// What there is of the index of a directory, for a home.
    pub(crate) fn new(cache: &Path, dir: &Path, home: &str) -> Self {
        let Index { paths, volumes, .. } = Index::open(cache, dir, home);
        let files: HashSet<(u64, u64)> =
            volumes.iter().flat_map(|kept| &kept.volume.table.records).map(|record| record.stamp.file).collect();
        let bytes = volumes.iter().map(|kept| kept.volume.bytes).sum();
        Self { dir: fs::canonicalize(dir).unwrap_or_else(|_| dir.into()), paths, bytes, sessions: files.len() }
    }

    /// Removes the files.
    ///
    /// # Errors
    /// One can't be removed.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.paths.iter().try_for_each(|path| match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
    }
}

impl Index {
    /// Opens what is kept of the sessions of a directory; empty if there is nothing that can be used.
    pub(super) fn open(cache: &Path, dir: &Path, home: &str) -> Self {
        let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.into());
        let name = format!("{:016x}", hash(real.as_os_str().as_encoded_bytes()));
        let paths = ["all", "added"].map(|part| cache.join(format!("{name}.{part}")));
        let about = [env!("CARGO_PKG_VERSION"), "\0", home, "\0"].concat().into_bytes();
        let of = hash(&[&about, real.as_os_str().as_encoded_bytes(), &FORM.to_le_bytes()].concat());
        let all = Volume::open(&paths[0], of, 0);
        let added = all.as_ref().and_then(|all| Volume::open(&paths[1], of, all.number));
        let home: Arc<str> = home.into();
        let kept = |volume: Volume| {
            let records = &volume.table.records;
            let places = records.iter().map(|record| (record.details, record.texts)).collect();
            let lies = Arc::new(Lying { pieces: volume.pieces.clone(), places, home: home.clone() });
            Kept { uses: vec![Use::Past; records.len()], shown: vec![None; records.len()], lies, volume }
        };
        let volumes = all.into_iter().chain(added).map(kept).collect();
        let real = Some(real).filter(|real| real != dir);
        Self { paths, of, named: dir.join(""), real, home, volumes, draft: Mutex::new(New::Nothing) }
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
        self.real.as_ref().map(|real| real.join(below))
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
        let shown = crew::map(&places, |&(number, at)| {
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

    /// Looks at all files that were found, also by the ways of other directories, and says what is known of those of this
    /// one, which has this number.
    pub(super) fn look(&mut self, dir: usize, files: &mut [SessionFile]) {
        let records = self.volumes.iter().map(|kept| kept.uses.len()).sum();
        let (mut by_file, mut past) = (ById::with_capacity_and_hasher(records, Default::default()), Vec::new());
        for (number, kept) in self.volumes.iter_mut().enumerate() {
            kept.uses.fill(Use::Gone);
            for (at, record) in kept.volume.table.records.iter().enumerate() {
                // What was added stands in place of what was there before.
                past.extend(by_file.insert(record.stamp.key(), (number, at)));
            }
        }
        past.into_iter().for_each(|(number, at): (usize, usize)| self.volumes[number].uses[at] = Use::Past);
        let known = crew::map(files.iter_mut(), |file| {
            let &(number, at) = by_file.get(&file.stamp.key())?;
            let table = &self.volumes[number].volume.table;
            let record = table.records.get(at).filter(|record| record.stamp.file == file.stamp.file)?;
            let is_same = record.is_settled && record.stamp == file.stamp;
            let is_there = || table.digest(record).and_then(placed).and_then(|(place, _)| place) == self.place(file);
            let known = match () {
                () if is_same && is_there() => Known::Same((number, at)),
                () if is_same => Known::Moved((number, at)),
                () if file.stamp.has_grown_from(&record.stamp) => Known::Before((number, at)),
                () => Known::Nothing,
            };
            if file.dir == dir {
                file.known = known;
            }
            Some(((number, at), if matches!(known, Known::Same(_)) { Use::Current } else { Use::Past }))
        });
        for ((number, at), is) in known.into_iter().flatten() {
            self.volumes[number].uses[at] = is;
        }
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
        self.put(file, [&[&bytes(&self.place(file)), digest].concat(), details, texts, state]);
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
        let pieces = read.as_ref().map(|Session { digest, texts, state }| {
            [bytes(&(self.place(file), digest)), bytes(&**digest.details()), texts.as_texts().to_bytes(), state.clone()]
        });
        let [digest, details, texts, state] = pieces.unwrap_or_default();
        let lazy = self.put(file, [&digest, &details, &texts, &state]);
        if let (Some(session), Some(lazy)) = (read, lazy) {
            session.digest.details = lazy;
        }
    }

    /// Puts down what is kept of a file, as far as that can be written: its details then lie there.
    fn put(&self, file: &SessionFile, pieces: [&[u8]; 4]) -> Option<Lazy> {
        let mut new = self.draft.lock().unwrap_or_else(PoisonError::into_inner);
        let lazy = self.add(&mut new, file, pieces).ok();
        if lazy.is_none() {
            *new = New::Failed;
        }
        lazy
    }

    fn add(&self, new: &mut New, file: &SessionFile, pieces: [&[u8]; 4]) -> io::Result<Lazy> {
        if matches!(new, New::Nothing) {
            let draft = Draft::begin(&self.paths[0])?;
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
            state: (!state.is_empty()).then_some(stated),
        };
        table.records.push(record);
        let lies = Lying { pieces: written.clone(), places: vec![(details, texts)], home: self.home.clone() };
        Ok(Lazy::stored(Arc::new(lies), 0))
    }

    /// Writes what was read anew, and the rest again where that is due.
    ///
    /// # Errors
    /// It can't be written.
    pub(super) fn finish(self) -> io::Result<()> {
        let [all, added] = [0, 1].map(|number| self.volumes.get(number));
        // What is gone is kept no longer: somebody may have wanted that nothing of it is left.
        let is_clean = |kept: &Kept| !kept.uses.contains(&Use::Gone);
        let (mut draft, mut table) = match self.draft.into_inner().unwrap_or_else(PoisonError::into_inner) {
            New::Some { draft, table, .. } => (draft, table),
            New::Nothing if !self.volumes.iter().all(is_clean) => (Draft::begin(&self.paths[0])?, Table::default()),
            New::Nothing | New::Failed => return Ok(()),
        };
        let past = |kept: &Kept| kept.uses.iter().filter(|is| **is != Use::Current).count();
        let adds_to = all.filter(|all| {
            let bytes = draft.bytes() + added.map_or(0, |added| added.volume.bytes);
            is_clean(all)
                && bytes <= MOST_ADDED.0.max(all.volume.bytes / MOST_ADDED.1)
                && past(all) <= all.uses.len() / 2
        });
        let replaced = [all.filter(|_| adds_to.is_none()), added];
        for kept in replaced.into_iter().flatten() {
            kept.copy(&mut draft, &mut table)?;
        }
        let path = &self.paths[usize::from(adds_to.is_some())];
        draft.finish(&table, path, (self.of, adds_to.map_or(0, |all| all.volume.number)))?;
        if adds_to.is_none() {
            // It adds to what is no more.
            let _ = fs::remove_file(&self.paths[1]);
        }
        Ok(())
    }
}

impl Kept {
    /// Adds the records that are still right to another file.
    fn copy(&self, draft: &mut Draft, table: &mut Table) -> io::Result<()> {
        let mut rooms = [const { Vec::new() }; 3];
        let records = self.volume.table.records.iter().zip(&self.uses);
        for (record, _) in records.filter(|(_, is)| **is == Use::Current) {
            // What is damaged is read from the session the next time.
            let Some([digest, details, texts, state]) = self.volume.read(record, &mut rooms) else { continue };
            let [details, texts, stated] = draft.add([details, texts, state])?;
            let digest = table.push(digest)?;
            table.records.push(Record { digest, details, texts, state: record.state.map(|_| stated), ..*record });
        }
        Ok(())
    }
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
    use crate::session::texts::TextsBuf;

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
            (3, 10_981_535_692_138_949_816),
            "what is read of sessions, or how it is written, is another: raise FORM, and say so here"
        );
    }
}
