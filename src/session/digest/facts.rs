//! The facts about a session that lists need of all sessions, from its digest or from the index.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use crate::base::{archive_paths, machine_paths};
use crate::session::digest::Digest;
use crate::session::digest::details::EntryTotals;
use crate::session::digest::joined_path::JoinedPath;
use crate::session::links::IdHash;
use crate::session::marks::session_key;
use crate::session::problem::Problem;

/// The facts about a session that lists need of all sessions. Each fact is looked up when it is used, because most
/// loops over many sessions need only one or two.
#[derive(Clone, Copy, Debug)]
pub enum SessionFacts<'a> {
    /// The facts of a loaded digest.
    Digest(&'a Digest),
    /// The facts of a stored session, by its number.
    Stored(&'a dyn StoredFacts, u32),
}

/// A source of facts about stored sessions, by their numbers.
pub trait StoredFacts: fmt::Debug + Send + Sync {
    /// See [`SessionFacts::path`].
    fn path(&self, number: u32) -> JoinedPath<'_>;

    /// See [`SessionFacts::real_path`].
    fn real_path(&self, number: u32) -> Option<JoinedPath<'_>>;

    /// See [`SessionFacts::machine`].
    fn machine(&self, number: u32) -> Option<&str>;

    /// See [`SessionFacts::id`].
    fn id(&self, number: u32) -> &str;

    /// See [`SessionFacts::cwd`].
    fn cwd(&self, number: u32) -> &str;

    /// See [`SessionFacts::parent_session`].
    fn parent_session(&self, number: u32) -> Option<&str>;

    /// See [`SessionFacts::parent_id`].
    fn parent_id(&self, number: u32) -> Option<&str>;

    /// Returns the properties of a session. Links and subagent sessions are not stored.
    fn flags(&self, number: u32) -> FactFlags;

    /// See [`SessionFacts::created`].
    fn created(&self, number: u32) -> Option<i64>;

    /// See [`SessionFacts::modified`].
    fn modified(&self, number: u32) -> Option<i64>;

    /// See [`SessionFacts::bytes`].
    fn bytes(&self, number: u32) -> u64;

    /// See [`SessionFacts::mtime`].
    fn mtime(&self, number: u32) -> i64;

    /// See [`SessionFacts::all`].
    fn all(&self, number: u32) -> EntryTotals;

    /// See [`SessionFacts::roots`].
    fn roots(&self, number: u32) -> RootKeys<'_>;
}

/// Properties of a stored session.
#[derive(Clone, Copy, Debug)]
pub struct FactFlags {
    /// See [`SessionFacts::is_fork`].
    pub is_fork: bool,
    /// See [`SessionFacts::is_named`].
    pub is_named: bool,
    /// See [`SessionFacts::is_labeled`].
    pub is_labeled: bool,
    /// See [`SessionFacts::is_committed`].
    pub is_committed: bool,
    /// See [`SessionFacts::is_cut_off`].
    pub is_cut_off: bool,
}

impl<'a> SessionFacts<'a> {
    /// Returns the path of the file.
    pub fn path(&self) -> JoinedPath<'a> {
        match *self {
            Self::Digest(digest) => JoinedPath::whole(&digest.path),
            Self::Stored(stored, number) => stored.path(number),
        }
    }

    /// Returns the path by which other files refer to this one, if it differs.
    pub fn real_path(&self) -> Option<JoinedPath<'a>> {
        match *self {
            Self::Digest(digest) => digest.real_path.as_deref().map(JoinedPath::whole),
            Self::Stored(stored, number) => stored.real_path(number),
        }
    }

    /// Returns the ID in the header.
    pub fn id(&self) -> &'a str {
        match *self {
            Self::Digest(digest) => &digest.header.id,
            Self::Stored(stored, number) => stored.id(number),
        }
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> &'a str {
        match *self {
            Self::Digest(digest) => &digest.header.cwd,
            Self::Stored(stored, number) => stored.cwd(number),
        }
    }

    /// Returns the parent session in the header.
    pub fn parent_session(&self) -> Option<&'a str> {
        match *self {
            Self::Digest(digest) => digest.header.parent_session.as_deref(),
            Self::Stored(stored, number) => stored.parent_session(number),
        }
    }

    /// Returns the ID of the parent session in the header.
    pub fn parent_id(&self) -> Option<&'a str> {
        match *self {
            Self::Digest(digest) => digest.header.parent_id.as_deref(),
            Self::Stored(stored, number) => stored.parent_id(number),
        }
    }

    /// Returns `true` if the session is a fork.
    pub fn is_fork(&self) -> bool {
        match *self {
            Self::Digest(digest) => digest.header.is_fork(),
            Self::Stored(stored, number) => stored.flags(number).is_fork,
        }
    }

    /// Returns `true` if the file itself is a symbolic link.
    pub fn is_link(&self) -> bool {
        matches!(self, Self::Digest(digest) if digest.is_link)
    }

    /// Returns `true` if it is a subagent session.
    pub fn is_subagent(&self) -> bool {
        matches!(self, Self::Digest(digest) if digest.owner.is_some())
    }

    /// Returns `true` if it has a name.
    pub fn is_named(&self) -> bool {
        match *self {
            Self::Digest(digest) => digest.name.is_some(),
            Self::Stored(stored, number) => stored.flags(number).is_named,
        }
    }

    /// Returns `true` if it has labels.
    pub fn is_labeled(&self) -> bool {
        match *self {
            Self::Digest(digest) => !digest.labels.is_empty(),
            Self::Stored(stored, number) => stored.flags(number).is_labeled,
        }
    }

    /// Returns `true` if its commands printed commits.
    pub fn is_committed(&self) -> bool {
        match *self {
            Self::Digest(digest) => !digest.commits.is_empty(),
            Self::Stored(stored, number) => stored.flags(number).is_committed,
        }
    }

    /// Returns `true` if its last line may be incomplete.
    pub fn is_cut_off(&self) -> bool {
        match *self {
            Self::Digest(digest) => digest.problems.contains(&Problem::CutOff),
            Self::Stored(stored, number) => stored.flags(number).is_cut_off,
        }
    }

    /// Returns the key of the session for its marks: see [`session_key`].
    pub fn marks_key(&self) -> Cow<'a, str> {
        session_key(self.id(), self.created())
    }

    /// Returns the time in the header, in milliseconds since 1970.
    pub fn created(&self) -> Option<i64> {
        match *self {
            Self::Digest(digest) => digest.header.created,
            Self::Stored(stored, number) => stored.created(number),
        }
    }

    /// See [`Digest::modified`].
    pub fn modified(&self) -> Option<i64> {
        match *self {
            Self::Digest(digest) => digest.modified,
            Self::Stored(stored, number) => stored.modified(number),
        }
    }

    /// Returns the length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        match *self {
            Self::Digest(digest) => digest.bytes,
            Self::Stored(stored, number) => stored.bytes(number),
        }
    }

    /// Returns the modification time of the file, in milliseconds since 1970.
    pub fn mtime(&self) -> i64 {
        match *self {
            Self::Digest(digest) => digest.mtime,
            Self::Stored(stored, number) => stored.mtime(number),
        }
    }

    /// See [`Digest::all`].
    pub fn all(&self) -> EntryTotals {
        match *self {
            Self::Digest(digest) => digest.all,
            Self::Stored(stored, number) => stored.all(number),
        }
    }

    /// See [`Digest::roots`].
    pub fn roots(&self) -> RootKeys<'a> {
        match *self {
            Self::Digest(digest) => RootKeys::Keys(&digest.roots),
            Self::Stored(stored, number) => stored.roots(number),
        }
    }

    /// Returns the name of the machine of a mirrored session; `None` for a session of this machine.
    pub fn machine(&self) -> Option<&'a str> {
        match *self {
            Self::Digest(digest) => machine_paths::machine(&digest.path),
            Self::Stored(stored, number) => stored.machine(number),
        }
    }

    /// Returns `true` if the session is mirrored from another machine, so that only pitree there can change its file.
    pub fn is_mirrored(&self) -> bool {
        self.machine().is_some()
    }

    /// Returns `true` if the session is archived.
    pub fn is_archived(&self) -> bool {
        archive_paths::is_archived(self.path().rest)
    }

    /// Returns the sort key for times: see [`Digest::order_time`].
    pub fn order_time(&self) -> i64 {
        self.modified().unwrap_or(i64::MIN)
    }

    /// Compares two sessions by age, oldest first, then by path. Of copies, the one of this machine counts as the oldest.
    pub fn compare_age(&self, other: &Self) -> Ordering {
        let created = |facts: &Self| facts.created().unwrap_or(i64::MAX);
        let by_time = created(self).cmp(&created(other));
        by_time.then_with(|| self.machine().cmp(&other.machine())).then_with(|| self.path().compare(other.path()))
    }
}

/// The keys of root entries.
#[derive(Clone, Copy, Debug)]
pub enum RootKeys<'a> {
    /// The keys.
    Keys(&'a [IdHash]),
    /// The keys as little-endian numbers.
    Bytes(&'a [u8]),
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

impl Digest {
    /// Returns the facts about the session.
    pub fn facts(&self) -> SessionFacts<'_> {
        SessionFacts::Digest(self)
    }
}
