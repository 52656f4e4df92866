//! Sessions in lists: the facts by which lists are sorted and grouped, and the digest on demand. A session from the
//! index takes little memory until it is drawn.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::base::{archive_paths, machine_paths};
use crate::session::digest::Digest;
use crate::session::digest::details::EntryTotals;
use crate::session::links::IdHash;
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::session::stats::entry_stats::SessionStats;
use crate::session::stats::intervals::SessionSums;

/// A session whose digest is loaded on first use, by dereferencing it. Loops over many sessions should use
/// [`ListedSession::facts`] or [`ListedSession::once`] instead.
#[derive(Debug)]
pub struct ListedSession {
    digest: OnceLock<Box<Digest>>,
    stored: Option<(Arc<dyn SessionSource>, u32)>,
}

/// A session shared between the list and the interface.
pub type SharedSession = Arc<ListedSession>;

/// A function that tells whether the session with a number passes a filter.
pub type SessionFilter<'a> = Box<dyn Fn(u32) -> bool + Send + Sync + 'a>;

/// A source of stored sessions.
pub trait SessionSource: fmt::Debug + Send + Sync {
    /// Returns the facts about the session with the given number.
    fn facts(&self, number: u32) -> SessionFacts<'_>;

    /// Returns a function that tells whether the texts and titles of the session with a number may have all keys of
    /// `session::trigrams`.
    fn with_keys(&self, keys: &[u16]) -> SessionFilter<'_>;

    /// Reads the search texts into reusable buffers. Returns `None` if they are not available.
    fn texts<'a>(&self, number: u32, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>>;

    /// Loads the digest of the session with the given number.
    fn digest(&self, number: u32) -> Digest;

    /// Loads the statistics of its entries.
    fn stats(&self, number: u32) -> SessionStats;

    /// Loads the sums of its entries.
    fn sums(&self, number: u32) -> SessionSums;
}

/// The facts about a session that lists need of all sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionFacts<'a> {
    /// The source of the texts.
    pub(crate) texts: FactTexts<'a>,
    /// `true` if the file itself is a symbolic link.
    pub is_link: bool,
    /// `true` if it is a subagent session.
    pub is_subagent: bool,
    /// `true` if it has a name.
    pub is_named: bool,
    /// `true` if it has labels.
    pub is_labeled: bool,
    /// `true` if its commands printed commits.
    pub is_committed: bool,
    /// `true` if its last line may be incomplete.
    pub is_cut_off: bool,
    /// The time in the header, in milliseconds since 1970.
    pub created: Option<i64>,
    /// See [`Digest::modified`].
    pub modified: Option<i64>,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The modification time of the file, in milliseconds since 1970.
    pub mtime: i64,
    /// See [`Digest::all`].
    pub all: EntryTotals,
    /// See [`Digest::roots`].
    pub roots: RootKeys<'a>,
}

/// The texts of a session. They are looked up when they are used, because most loops over many sessions need numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FactTexts<'a> {
    /// A loaded digest.
    Digest(&'a Digest),
    /// Stored texts.
    Stored(StoredTexts<'a>),
}

/// The texts of a session in a text that contains those of many sessions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StoredTexts<'a> {
    /// The session directory, and the one in which other files refer to its sessions, if it differs: with symbolic links
    /// resolved, or the original one of an archive. Both have a trailing separator.
    pub(crate) dirs: (&'a OsStr, Option<&'a OsStr>),
    /// The text of many sessions.
    pub(crate) all: &'a str,
    /// The start and the length in bytes of the path below the session directory, the ID and the working directory.
    pub(crate) places: [(u32, u32); 3],
    /// The same of the parent session and its ID, as they are in the header.
    pub(crate) parents: [Option<(u32, u32)>; 2],
}

impl Default for FactTexts<'_> {
    fn default() -> Self {
        Self::Stored(StoredTexts::default())
    }
}

impl<'a> StoredTexts<'a> {
    fn at(&self, place: (u32, u32)) -> &'a str {
        text_at(self.all, place)
    }
}

/// Returns the part of a text with a start and a length in bytes; empty if there is none.
pub(crate) fn text_at(all: &str, (start, length): (u32, u32)) -> &str {
    all.get(start as usize..start as usize + length as usize).unwrap_or_default()
}

impl<'a> SessionFacts<'a> {
    /// Returns the path of the file.
    pub fn path(&self) -> JoinedPath<'a> {
        match &self.texts {
            FactTexts::Digest(digest) => JoinedPath::whole(&digest.path),
            FactTexts::Stored(texts) => JoinedPath { dir: texts.dirs.0, rest: texts.at(texts.places[0]).as_ref() },
        }
    }

    /// Returns the path by which other files refer to this one, if it differs.
    pub fn real_path(&self) -> Option<JoinedPath<'a>> {
        match &self.texts {
            FactTexts::Digest(digest) => digest.real_path.as_deref().map(JoinedPath::whole),
            FactTexts::Stored(texts) => {
                let rest = || archive_paths::unpacked(texts.at(texts.places[0])).as_ref();
                texts.dirs.1.map(|dir| JoinedPath { dir, rest: rest() })
            }
        }
    }

    /// Returns the ID in the header.
    pub fn id(&self) -> &'a str {
        match &self.texts {
            FactTexts::Digest(digest) => &digest.header.id,
            FactTexts::Stored(texts) => texts.at(texts.places[1]),
        }
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> &'a str {
        match &self.texts {
            FactTexts::Digest(digest) => &digest.header.cwd,
            FactTexts::Stored(texts) => texts.at(texts.places[2]),
        }
    }

    /// Returns the parent session in the header.
    pub fn parent_session(&self) -> Option<&'a str> {
        match &self.texts {
            FactTexts::Digest(digest) => digest.header.parent_session.as_deref(),
            FactTexts::Stored(texts) => texts.parents[0].map(|place| texts.at(place)),
        }
    }

    /// Returns the ID of the parent session in the header.
    pub fn parent_id(&self) -> Option<&'a str> {
        match &self.texts {
            FactTexts::Digest(digest) => digest.header.parent_id.as_deref(),
            FactTexts::Stored(texts) => texts.parents[1].map(|place| texts.at(place)),
        }
    }

    /// Returns `true` if the session is a fork.
    pub fn is_fork(&self) -> bool {
        match &self.texts {
            FactTexts::Digest(digest) => digest.header.is_fork(),
            FactTexts::Stored(texts) => texts.parents.iter().any(Option::is_some),
        }
    }

    /// Returns the name of the machine of a mirrored session; `None` for a session of this machine.
    pub fn machine(&self) -> Option<&'a str> {
        machine_paths::machine_of_parts(self.path().bytes())
    }

    /// Returns `true` if the session is mirrored from another machine, so that only pitree there can change its file.
    pub fn is_mirrored(&self) -> bool {
        self.machine().is_some()
    }

    /// Returns `true` if the session is archived.
    pub fn is_archived(&self) -> bool {
        archive_paths::is_archived(self.path().rest)
    }
}

/// A path in two parts, which are stored once for many files.
#[derive(Clone, Copy, Debug, Default)]
pub struct JoinedPath<'a> {
    /// The directory with a trailing separator, or an empty string.
    pub dir: &'a OsStr,
    /// The rest.
    pub rest: &'a OsStr,
}

/// The keys of root entries.
#[derive(Clone, Copy, Debug)]
pub enum RootKeys<'a> {
    /// The keys.
    Keys(&'a [IdHash]),
    /// The keys as little-endian numbers.
    Bytes(&'a [u8]),
}

impl Default for RootKeys<'_> {
    fn default() -> Self {
        Self::Keys(&[])
    }
}

impl<'a> RootKeys<'a> {
    /// Iterates over the keys.
    pub fn iter(self) -> impl Iterator<Item = IdHash> + 'a {
        let (keys, bytes) = match self {
            Self::Keys(keys) => (keys, &[][..]),
            Self::Bytes(bytes) => (&[][..], bytes),
        };
        let (words, _) = bytes.as_chunks();
        keys.iter().copied().chain(words.iter().map(|word| IdHash::number(u64::from_le_bytes(*word))))
    }

    /// Returns `true` if a key is in both.
    pub fn meets(self, other: Self) -> bool {
        self.iter().any(|key| other.iter().any(|other| other == key))
    }
}

impl<'a> JoinedPath<'a> {
    /// Splits nothing: the whole path is one part.
    pub fn whole(path: &'a Path) -> Self {
        Self { dir: OsStr::new(""), rest: path.as_os_str() }
    }

    /// Returns the path.
    pub fn join(self) -> PathBuf {
        let mut path = OsString::with_capacity(self.dir.len() + self.rest.len());
        path.push(self.dir);
        path.push(self.rest);
        path.into()
    }

    /// Returns both parts as bytes.
    pub fn bytes(self) -> [&'a [u8]; 2] {
        [self.dir.as_encoded_bytes(), self.rest.as_encoded_bytes()]
    }

    /// Returns a hash of the path, equal to [`IdHash::new`] of its bytes. `buffer` is reusable.
    pub fn hash(self, buffer: &mut Vec<u8>) -> IdHash {
        buffer.clear();
        self.bytes().iter().for_each(|part| buffer.extend_from_slice(part));
        IdHash::new(buffer)
    }

    /// Returns `true` if this is the given path.
    pub fn is(self, path: &OsStr) -> bool {
        let [dir, rest] = self.bytes();
        path.as_encoded_bytes().strip_prefix(dir) == Some(rest)
    }

    /// Compares the bytes of two paths.
    pub fn compare(self, other: Self) -> Ordering {
        let ([mut one, mut rest], [mut other, mut other_rest]) = (self.bytes(), other.bytes());
        loop {
            if one.is_empty() {
                one = std::mem::take(&mut rest);
            }
            if other.is_empty() {
                other = std::mem::take(&mut other_rest);
            }
            let common = one.len().min(other.len());
            let order = one[..common].cmp(&other[..common]);
            if common == 0 || order.is_ne() {
                return order.then(one.len().cmp(&other.len()));
            }
            (one, other) = (&one[common..], &other[common..]);
        }
    }

    /// Returns `true` if another path has the same parts up to the name of the file.
    pub(crate) fn is_beside(self, other: Self) -> bool {
        let parent = |path: Self| &path.bytes()[1][..last_separator(path.bytes()[1]).unwrap_or(0)];
        self.dir == other.dir && parent(self) == parent(other)
    }

    /// Returns the bytes of the directory of the file.
    pub fn folder(self) -> Vec<u8> {
        let [dir, rest] = self.bytes();
        match last_separator(rest) {
            Some(at) => [dir, &rest[..at]].concat(),
            None => dir[..last_separator(dir).unwrap_or(0)].into(),
        }
    }
}

fn last_separator(bytes: &[u8]) -> Option<usize> {
    memchr::memrchr(std::path::MAIN_SEPARATOR as u8, bytes)
}

impl SessionFacts<'_> {
    /// Returns the sort key for times: see [`Digest::order_time`].
    pub fn order_time(&self) -> i64 {
        self.modified.unwrap_or(i64::MIN)
    }

    /// Compares two sessions by age, oldest first, then by path. Of copies, the one of this machine counts as the oldest.
    pub fn compare_age(&self, other: &Self) -> Ordering {
        let created = |facts: &Self| facts.created.unwrap_or(i64::MAX);
        let by_time = created(self).cmp(&created(other));
        by_time.then_with(|| self.machine().cmp(&other.machine())).then_with(|| self.path().compare(other.path()))
    }
}

impl Digest {
    /// Returns the facts about the session.
    pub fn facts(&self) -> SessionFacts<'_> {
        SessionFacts {
            texts: FactTexts::Digest(self),
            is_link: self.is_link,
            is_subagent: self.owner.is_some(),
            is_named: self.name.is_some(),
            is_labeled: !self.labels.is_empty(),
            is_committed: !self.commits.is_empty(),
            is_cut_off: self.problems.contains(&crate::session::problem::Problem::CutOff),
            created: self.header.created,
            modified: self.modified,
            bytes: self.bytes,
            mtime: self.mtime,
            all: self.all,
            roots: RootKeys::Keys(&self.roots),
        }
    }
}

impl ListedSession {
    /// Creates a session that is loaded on demand, by its number in the source.
    pub fn stored(source: Arc<dyn SessionSource>, number: u32) -> Self {
        Self { digest: OnceLock::new(), stored: Some((source, number)) }
    }

    /// Returns the facts without loading the digest.
    pub fn facts(&self) -> SessionFacts<'_> {
        match (self.digest.get(), &self.stored) {
            (None, Some((source, number))) => source.facts(*number),
            _ => self.deref().facts(),
        }
    }

    /// Returns the path of the file without loading the digest.
    pub fn file_path(&self) -> PathBuf {
        self.facts().path().join()
    }

    /// Returns `true` if the texts are in the index.
    pub(crate) fn has_stored_texts(&self) -> bool {
        self.stored.is_some() || self.is_stored()
    }

    /// Returns the search texts from the index in reusable buffers, or `None` if they are not available.
    pub fn stored_texts<'a>(&self, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        match &self.stored {
            Some((source, number)) => source.texts(*number, buffers),
            None => self.texts(buffers),
        }
    }

    /// Returns the source of the session and its number there, if it is stored.
    pub(crate) fn source(&self) -> Option<(&Arc<dyn SessionSource>, u32)> {
        self.stored.as_ref().map(|(source, number)| (source, *number))
    }

    /// Returns `true` if the digest is loaded.
    pub(crate) fn is_loaded(&self) -> bool {
        self.digest.get().is_some()
    }

    /// Returns the statistics of the entries, without loading the digest.
    pub fn stats(&self) -> Arc<SessionStats> {
        match (self.digest.get(), &self.stored) {
            (None, Some((source, number))) => source.stats(*number).into(),
            _ => self.deref().stats(),
        }
    }

    /// Returns the sums of the entries, without loading the digest.
    pub fn sums(&self) -> SessionSums {
        match (self.digest.get(), &self.stored) {
            (None, Some((source, number))) => source.sums(*number),
            _ => self.deref().sums(),
        }
    }

    /// Returns the digest without keeping it, for callers that read many sessions.
    pub fn once(&self) -> Cow<'_, Digest> {
        match (self.digest.get(), &self.stored) {
            (None, Some((source, number))) => Cow::Owned(source.digest(*number)),
            _ => Cow::Borrowed(self),
        }
    }
}

impl From<Digest> for ListedSession {
    fn from(digest: Digest) -> Self {
        Self { digest: OnceLock::from(Box::new(digest)), stored: None }
    }
}

impl From<Digest> for SharedSession {
    fn from(digest: Digest) -> Self {
        Arc::new(digest.into())
    }
}

impl Deref for ListedSession {
    type Target = Digest;

    fn deref(&self) -> &Digest {
        let load = || {
            let stored = self.stored.as_ref();
            Box::new(stored.map(|(source, number)| source.digest(*number)).unwrap_or_default())
        };
        self.digest.get_or_init(load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_two_parts_equal_whole_paths() {
        let parts = [
            ("", ""),
            ("", "/a/"),
            ("/a/", ""),
            ("/a/", "b"),
            ("", "/a/b.jsonl"),
            ("/a/", "b.jsonl"),
            ("/a/", "c/d.jsonl"),
            ("/", "a/b.jsonl"),
            ("", "x.jsonl"),
        ];
        let paths = parts.map(|(dir, rest)| JoinedPath { dir: OsStr::new(dir), rest: OsStr::new(rest) });
        for one in paths {
            let whole = one.join();
            assert!(one.is(whole.as_os_str()) && !one.is(OsStr::new("/a")));
            for other in paths {
                assert_eq!(one.compare(other), whole.as_os_str().cmp(other.join().as_os_str()));
            }
            if whole.extension().is_none() {
                continue; // not a file
            }
            assert_eq!(one.hash(&mut Vec::new()), IdHash::new(whole.as_os_str().as_encoded_bytes()));
            let folder = whole.parent().unwrap().as_os_str().as_encoded_bytes();
            assert_eq!(one.folder(), folder, "{}", whole.display());
        }
    }
}
