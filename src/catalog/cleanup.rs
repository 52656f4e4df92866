//! Candidates for a clean-up: sessions that rules may suggest to remove or to slim, and the facts on which rules depend.
//! Sessions that the user marked or labeled, archived ones, and those that a pi used recently are never candidates.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::named::named;
use crate::catalog::relations::SharingSessions;
use crate::catalog::{Catalog, SessionKey};
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedLazySession;

named! {
/// A rule that suggests sessions or files. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CleanRule {
    /// Sessions without a prompt, or without an answer to the only one.
    Empty = "empty",
    /// All but one of the files with the same content.
    Duplicates = "duplicates",
    /// Old sessions of subagents.
    Subagents = "subagents",
    /// Forks whose entries are all in other sessions.
    Forks = "forks",
    /// Large sessions that slimming makes much smaller.
    Slim = "slim",
    /// Files of interrupted operations.
    Leftovers = "leftovers",
}
}

impl CleanRule {
    /// Returns the title for a list.
    pub fn title(self) -> &'static str {
        match self {
            Self::Empty => "Empty sessions",
            Self::Duplicates => "Duplicates",
            Self::Subagents => "Old subagents",
            Self::Forks => "Unused forks",
            Self::Slim => "To slim",
            Self::Leftovers => "Leftovers",
        }
    }

    /// Explains why files are suggested.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Empty => "no prompt, or no answer to the only one",
            Self::Duplicates => "another file has the same content",
            Self::Subagents => "sessions of subagents, without recent activity",
            Self::Forks => "other sessions contain all their entries",
            Self::Slim => "slimming saves over 50 MB each",
            Self::Leftovers => "files of interrupted operations",
        }
    }
}

/// The time in milliseconds without activity before a session can be suggested.
const DAY: i64 = 24 * 3600 * 1000;

/// The size in bytes from which slimming can save enough.
pub(crate) const LARGE: u64 = 50_000_000;

/// The maximum number of own entries of a fork that may add nothing: pi writes a few when it opens a session (0.87.1).
const FEW: usize = 8;

/// A session that rules can suggest.
#[derive(Clone, Debug)]
pub(crate) struct CleanCandidate {
    pub(crate) key: SessionKey,
    pub(crate) session: SharedLazySession,
    /// The direct forks and subagents. They would lose their parent.
    pub(crate) children: Vec<SessionKey>,
    /// `true` for a fork of a session that exists.
    pub(crate) is_fork: bool,
    /// Its group; only if it is large, or a fork with few entries of its own.
    pub(crate) sharing: SharingSessions,
    /// The files with the same session ID and length, if there are others, and `true` if sessions refer to them as their
    /// parent.
    pub(crate) same: Arc<[(PathBuf, bool)]>,
}

/// A request for suggestions.
#[derive(Clone, Debug)]
pub struct CleanRequest {
    /// The candidates, newest first.
    pub(crate) candidates: Vec<CleanCandidate>,
    /// The rules.
    pub(crate) rules: Vec<CleanRule>,
    /// The time in milliseconds since 1970 before which subagent sessions are old.
    pub(crate) old: i64,
}

impl CleanRequest {
    /// Creates a request. Sessions of subagents are old after this number of weeks; `now` is in milliseconds since 1970.
    pub(crate) fn new(catalog: &Catalog, rules: Vec<CleanRule>, (weeks, now): (u32, i64)) -> Self {
        let old = now.saturating_sub(i64::from(weeks) * 7 * DAY);
        Self { candidates: catalog.clean_candidates(now), rules, old }
    }
}

/// The default number of weeks after which sessions of subagents are old.
pub(crate) const WEEKS: u32 = 8;

/// The sessions or files that a rule suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanSuggestion {
    /// The rule.
    pub rule: CleanRule,
    /// The sessions, newest first.
    pub sessions: Vec<SessionKey>,
    /// The files that are not sessions.
    pub files: Vec<LeftoverFile>,
    /// The bytes that become free, once the trash is emptied.
    pub bytes: u64,
}

impl CleanSuggestion {
    /// Returns the number of sessions or files.
    pub fn count(&self) -> usize {
        self.sessions.len() + self.files.len()
    }
}

/// A file that an interrupted operation left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftoverFile {
    /// The file.
    pub path: PathBuf,
    /// The length in bytes.
    pub bytes: u64,
    /// The modification time in milliseconds since 1970.
    pub mtime: i64,
}

impl Catalog {
    /// Returns the candidates, newest first. `now` is in milliseconds since 1970. Reads no digests.
    fn clean_candidates(&self, now: i64) -> Vec<CleanCandidate> {
        let mut same: HashMap<(&str, u64), Vec<SessionKey>> = HashMap::new();
        for key in self.keys() {
            let facts = self[key].facts();
            if !facts.is_archived() && !facts.is_link() && !facts.is_mirrored() {
                same.entry((facts.id(), facts.bytes())).or_default().push(key);
            }
        }
        let is_parent = |key: SessionKey| !self.families().forks(key).is_empty();
        let same: HashMap<_, Arc<[_]>> = same
            .into_iter()
            .filter(|(_, files)| files.len() > 1)
            .map(|(known, files)| {
                (known, files.iter().map(|&file| (self[file].file_path(), is_parent(file))).collect())
            })
            .collect();
        let mut groups = HashMap::new();
        let candidate = |key: SessionKey| {
            let session = &self[key];
            let facts = session.facts();
            let is_fork = !facts.is_subagent() && self.families().parent(key).is_some();
            let shares = facts.bytes() > LARGE || (is_fork && self.own(key).entries <= FEW);
            let sharing = if shares { self.sharing_group(key, &mut groups) } else { SharingSessions::default() };
            CleanCandidate {
                key,
                session: session.clone(),
                children: self.families().forks(key).to_vec(),
                is_fork,
                sharing,
                same: same.get(&(facts.id(), facts.bytes())).cloned().unwrap_or_default(),
            }
        };
        let keys = self.newest_first().into_iter().filter(|&key| self.can_be_suggested(key, now));
        keys.map(candidate).collect()
    }

    /// Returns `true` for a session without marks and labels that has not been used for a day.
    fn can_be_suggested(&self, key: SessionKey, now: i64) -> bool {
        let facts: SessionFacts<'_> = self[key].facts();
        let marks = self.marks();
        let is_marked = marks.is_pinned(&facts.marks_key())
            || marks.tags(&facts.marks_key()).next().is_some()
            || marks.note(&facts.marks_key()).is_some()
            || marks.entry_notes(&facts.marks_key()).next().is_some();
        let is_idle = facts.mtime().max(facts.order_time()) < now - DAY;
        let is_ordinary = !facts.is_archived() && !facts.is_link() && !facts.is_mirrored() && !facts.is_labeled();
        is_ordinary && !is_marked && !self.is_live(key) && is_idle
    }
}
