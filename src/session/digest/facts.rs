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

    /// Returns the texts of the header.
    fn header(&self, number: u32) -> HeaderTexts<'_>;

    /// Returns the numbers and properties. Links and subagent sessions are not stored.
    fn numbers(&self, number: u32) -> FactNumbers;

    /// See [`SessionFacts::roots`].
    fn roots(&self, number: u32) -> RootKeys<'_>;
}

/// Texts of the header of a session.
#[derive(Clone, Copy, Debug)]
pub struct HeaderTexts<'a> {
    /// The ID.
    pub id: &'a str,
    /// The working directory.
    pub cwd: &'a str,
    /// The parent session.
    pub parent_session: Option<&'a str>,
    /// The ID of the parent session.
    pub parent_id: Option<&'a str>,
}

/// Numbers and properties of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct FactNumbers {
    /// See [`SessionFacts::created`].
    pub created: Option<i64>,
    /// See [`SessionFacts::modified`].
    pub modified: Option<i64>,
    /// See [`SessionFacts::bytes`].
    pub bytes: u64,
    /// See [`SessionFacts::mtime`].
    pub mtime: i64,
    /// See [`SessionFacts::all`].
    pub all: EntryTotals,
    /// The properties as bits, of which the upper half is 0.
    pub flags: u16,
}

impl FactNumbers {
    /// The bit of [`SessionFacts::is_named`].
    pub const NAMED: u16 = 1;
    /// The bit of [`SessionFacts::is_labeled`].
    pub const LABELED: u16 = 1 << 1;
    /// The bit of [`SessionFacts::is_committed`].
    pub const COMMITTED: u16 = 1 << 2;
    /// The bit of [`SessionFacts::is_cut_off`].
    pub const CUT_OFF: u16 = 1 << 3;

    fn new(digest: &Digest) -> Self {
        let flags = [
            (digest.name.is_some(), Self::NAMED),
            (!digest.labels.is_empty(), Self::LABELED),
            (!digest.commits.is_empty(), Self::COMMITTED),
            (digest.problems.contains(&Problem::CutOff), Self::CUT_OFF),
        ];
        Self {
            created: digest.header.created,
            modified: digest.modified,
            bytes: digest.bytes,
            mtime: digest.mtime,
            all: digest.all,
            flags: flags.into_iter().map(|(is_set, flag)| if is_set { flag } else { 0 }).sum(),
        }
    }
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

    /// Returns the texts of the header.
    pub fn header(&self) -> HeaderTexts<'a> {
        match *self {
            Self::Digest(Digest { header, .. }) => HeaderTexts {
                id: &header.id,
                cwd: &header.cwd,
                parent_session: header.parent_session.as_deref(),
                parent_id: header.parent_id.as_deref(),
            },
            Self::Stored(stored, number) => stored.header(number),
        }
    }

    /// Returns the numbers and properties.
    pub fn numbers(&self) -> FactNumbers {
        match *self {
            Self::Digest(digest) => FactNumbers::new(digest),
            Self::Stored(stored, number) => stored.numbers(number),
        }
    }

    fn has(&self, flag: u16) -> bool {
        self.numbers().flags & flag != 0
    }

    /// Returns the ID in the header.
    pub fn id(&self) -> &'a str {
        self.header().id
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> &'a str {
        self.header().cwd
    }

    /// Returns the parent session in the header.
    pub fn parent_session(&self) -> Option<&'a str> {
        self.header().parent_session
    }

    /// Returns the ID of the parent session in the header.
    pub fn parent_id(&self) -> Option<&'a str> {
        self.header().parent_id
    }

    /// Returns `true` if the session is a fork.
    pub fn is_fork(&self) -> bool {
        let HeaderTexts { parent_session, parent_id, .. } = self.header();
        parent_session.is_some() || parent_id.is_some()
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
        self.has(FactNumbers::NAMED)
    }

    /// Returns `true` if it has labels.
    pub fn is_labeled(&self) -> bool {
        self.has(FactNumbers::LABELED)
    }

    /// Returns `true` if its commands printed commits.
    pub fn is_committed(&self) -> bool {
        self.has(FactNumbers::COMMITTED)
    }

    /// Returns `true` if its last line may be incomplete.
    pub fn is_cut_off(&self) -> bool {
        self.has(FactNumbers::CUT_OFF)
    }

    /// Returns the key of the session for its marks: see [`session_key`].
    pub fn marks_key(&self) -> Cow<'a, str> {
        session_key(self.id(), self.created())
    }

    /// Returns the time in the header, in milliseconds since 1970.
    pub fn created(&self) -> Option<i64> {
        self.numbers().created
    }

    /// See [`Digest::modified`].
    pub fn modified(&self) -> Option<i64> {
        self.numbers().modified
    }

    /// Returns the length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.numbers().bytes
    }

    /// Returns the modification time of the file, in milliseconds since 1970.
    pub fn mtime(&self) -> i64 {
        self.numbers().mtime
    }

    /// See [`Digest::all`].
    pub fn all(&self) -> EntryTotals {
        self.numbers().all
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
