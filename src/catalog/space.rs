//! The space that sessions take: measures session files in parallel, and sums the bytes by kind, project, session, tool
//! and type of extension entries.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::base::named::named;
use crate::base::sort;
use crate::catalog::key::SessionKey;
use crate::catalog::session_results::read_files;
use crate::catalog::stats::request::GroupKey;
use crate::catalog::stats::sessions::StatsSessions;
use crate::disk::files;
use crate::disk::lines::{self, CancelableReader};
use crate::disk::parallel::{self, StopSignal};
use crate::disk::scan::Unreadable;
use crate::session::links::{ById, EntryIndex};
use crate::session::space::{LARGEST, LargeEntry, SessionSpace, SpaceCollector, SpaceKind, SpaceSum};
use crate::session::stats::grouping::Grouping;

named! {
    /// A property by which bytes are summed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SpaceGrouping {
        /// Kind of content.
        Kind = "kind",
        /// Project.
        Project = "project",
        /// Session.
        Session = "session",
        /// Tool, of calls and results.
        Tool = "tool",
        /// Type of extension entries.
        Type = "type",
        /// The largest entries.
        Entry = "entry",
    }
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SpaceKey {
    /// A kind.
    Kind(SpaceKind),
    /// A project, a tool or a type; empty if it is missing.
    Text(String),
    /// A session.
    Session(SessionKey),
    /// An entry of a session.
    Entry(SessionKey, EntryIndex),
}

/// A row: the bytes of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceRow {
    /// The key.
    pub key: SpaceKey,
    /// The name, not yet safe for a terminal.
    pub name: String,
    /// The title of the session of an entry, not yet safe for a terminal.
    pub title: String,
    /// The bytes.
    pub sum: SpaceSum,
    /// The number of sessions.
    pub sessions: usize,
}

/// The bytes of some sessions.
#[derive(Clone, Debug, Default)]
pub struct SpaceReport {
    /// All bytes.
    pub total: SpaceSum,
    /// The bytes of each session, the largest first.
    pub sessions: Vec<(SessionKey, SessionSpace)>,
    /// The largest entries, the largest first. Copies in other sessions are left out.
    pub largest: Vec<(SessionKey, LargeEntry)>,
    /// The files that could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// The maximum number of rows of a grouping in [`SpaceContent`].
const MAX_ROWS: usize = 500;

/// The kinds of a session, for its card.
#[derive(Clone, Debug)]
pub struct SessionKinds {
    /// The length of the file in bytes, as listed when it was measured.
    listed: u64,
    /// The bytes of each kind, the largest first.
    pub(crate) kinds: Box<[(SpaceKind, u64)]>,
}

impl SessionKinds {
    pub(crate) fn new(space: &SessionSpace, listed: u64) -> Self {
        let kinds = space.kinds().into_iter().map(|(kind, sum)| (kind, sum.bytes));
        Self { listed, kinds: kinds.collect() }
    }

    /// Returns `true` if the file has a similar length now, so that the shares are still about right.
    pub(crate) fn is_close_to(&self, listed: u64) -> bool {
        listed.abs_diff(self.listed) <= self.listed / 8
    }
}

/// A report with the rows of all groupings.
#[derive(Clone, Debug)]
pub struct SpaceContent {
    /// The report.
    pub report: SpaceReport,
    /// The kinds of each session.
    pub(crate) kinds: HashMap<SessionKey, SessionKinds>,
    /// The rows of each grouping, in the order of [`SpaceGrouping::ALL`].
    rows: Vec<Vec<SpaceRow>>,
}

impl SpaceContent {
    /// Sums the rows of all groupings.
    pub fn new(report: SpaceReport, sessions: &StatsSessions) -> Self {
        let rows = SpaceGrouping::ALL.iter().map(|&by| report.rows(by, MAX_ROWS, sessions).0).collect();
        let listed = |key: SessionKey| sessions.get(key).map_or(0, |session| session.facts().bytes());
        let kinds = report.sessions.iter().map(|(key, space)| (*key, SessionKinds::new(space, listed(*key))));
        Self { kinds: kinds.collect(), report, rows }
    }

    /// Returns the rows of a grouping.
    pub fn rows(&self, by: SpaceGrouping) -> &[SpaceRow] {
        self.rows.get(by as usize).map_or(&[], |rows| rows)
    }
}

/// A file to measure: `true` for each entry that an older session contains.
type MeasuredFile = (SessionKey, PathBuf, Vec<bool>);

/// Measures the wanted sessions. `report` gets the numbers of measured and of all sessions, and returns `false` to cancel.
/// Returns `None` if it was canceled.
pub fn measure(sessions: &StatsSessions, mut report: impl FnMut(usize, usize) -> bool) -> Option<SpaceReport> {
    if !report(0, 0) {
        return None;
    }
    let groups: Vec<&[SessionKey]> = sessions.groups().collect();
    let all: Vec<MeasuredFile> = parallel::map(groups, |group| files_of(sessions, group)).concat();
    let measure = |(key, path, is_duplicate): &MeasuredFile, buffer: &mut Vec<u8>, stop: StopSignal<'_>| {
        Ok((*key, file(path, is_duplicate, buffer, stop)?))
    };
    let mut is_wanted = true;
    let (spaces, unreadable) = read_files(
        &all,
        |(_, path, _)| path,
        measure,
        |done| {
            is_wanted = report(done, all.len());
            is_wanted
        },
    );
    let measured = SpaceReport { sessions: spaces, unreadable, ..SpaceReport::default() };
    is_wanted.then(|| measured.finished(sessions))
}

/// Returns the wanted sessions of a group that shares entries, with the entries that an older session contains.
fn files_of(sessions: &StatsSessions, group: &[SessionKey]) -> Vec<MeasuredFile> {
    let members = group.iter().filter_map(|&key| Some((key, sessions.get(key)?)));
    let mut seen = ById::<()>::default();
    let mut all = Vec::new();
    for (key, session) in members {
        let mut is_duplicate = Vec::new();
        if group.len() > 1 {
            let details = session.uncached_digest().details_once();
            let ids = &details.entries.ids;
            is_duplicate.extend(ids.iter().map(|id| seen.contains_key(id)));
            seen.extend(ids.iter().map(|id| (*id, ())));
        }
        if sessions.is_wanted(key) {
            all.push((key, session.file_path(), is_duplicate));
        }
    }
    all
}

/// Measures a session file. `is_duplicate` is `true` for each entry that an older session contains.
///
/// # Errors
/// The file cannot be read, or is not a session.
pub fn file(
    path: &Path,
    is_duplicate: &[bool],
    buffer: &mut Vec<u8>,
    stop: StopSignal<'_>,
) -> io::Result<SessionSpace> {
    let mut collector = SpaceCollector::default();
    let mut reader = CancelableReader(files::open(path)?, || !stop());
    lines::each(&mut reader, 0, u64::MAX, buffer, |line| collector.line(&line))?;
    collector.finish(is_duplicate).map_err(io::Error::other)
}

impl SpaceReport {
    /// Sums and sorts the sessions.
    fn finished(mut self, sessions: &StatsSessions) -> Self {
        // Keys are numbers in the order in which threads read the files, which is another at each start.
        let path = |key: &SessionKey| sessions.get(*key).map(|session| session.file_path());
        sort::by(&mut self.sessions, |(one, a), (other, b)| {
            b.total.bytes.cmp(&a.total.bytes).then_with(|| path(one).cmp(&path(other)))
        });
        self.sessions.iter().for_each(|(_, space)| self.total += space.total);
        let mut largest: Vec<(SessionKey, &LargeEntry)> =
            self.sessions.iter().flat_map(|(key, space)| space.largest.iter().map(|entry| (*key, entry))).collect();
        // Of copies, that of the oldest session comes first.
        let created = |key: SessionKey| sessions.get(key).and_then(|session| session.facts().created());
        // Their sessions are in order already.
        sort::by_cached_key(&mut largest, |(key, entry)| (Reverse(entry.bytes), created(*key), entry.at));
        let mut seen = HashSet::new();
        let own = largest.into_iter().filter(|(_, entry)| seen.insert(entry.key)).take(LARGEST);
        self.largest = own.map(|(key, entry)| (key, entry.clone())).collect();
        self
    }

    /// Returns the rows of a grouping, the largest first, at most `limit`, and the number of all rows.
    pub fn rows(&self, by: SpaceGrouping, limit: usize, sessions: &StatsSessions) -> (Vec<SpaceRow>, usize) {
        let mut sums: HashMap<SpaceKey, (SpaceSum, usize)> = HashMap::new();
        for (session, space) in &self.sessions {
            let mut own: HashMap<SpaceKey, SpaceSum> = HashMap::new();
            let project =
                || sessions.get(*session).map_or_else(String::new, |session| sessions.project(session).into());
            match by {
                SpaceGrouping::Kind => {
                    own.extend(space.kinds().into_iter().map(|(kind, sum)| (SpaceKey::Kind(kind), sum)));
                }
                SpaceGrouping::Project => own.extend([(SpaceKey::Text(project()), space.total)]),
                SpaceGrouping::Session => own.extend([(SpaceKey::Session(*session), space.total)]),
                SpaceGrouping::Tool | SpaceGrouping::Type => {
                    let is_in = |kind: SpaceKind| match by {
                        SpaceGrouping::Tool => kind.is_of_tool(),
                        _ => kind == SpaceKind::Custom,
                    };
                    for group in space.groups.iter().filter(|group| is_in(group.kind)) {
                        *own.entry(SpaceKey::Text(group.name.to_string())).or_default() += group.sum;
                    }
                }
                SpaceGrouping::Entry => {}
            }
            for (key, sum) in own {
                let all = sums.entry(key).or_default();
                all.0 += sum;
                all.1 += 1;
            }
        }
        let mut rows: Vec<(SpaceKey, SpaceSum, usize)> =
            sums.into_iter().map(|(key, (sum, sessions))| (key, sum, sessions)).collect();
        if by == SpaceGrouping::Entry {
            rows.extend(self.largest.iter().map(|(session, entry)| {
                let sum = SpaceSum { bytes: entry.bytes, count: 1, ..SpaceSum::default() };
                (SpaceKey::Entry(*session, entry.at), sum, 1)
            }));
        }
        let names = |key: &SpaceKey| match key {
            SpaceKey::Kind(kind) => (*kind as usize, String::new()),
            SpaceKey::Text(text) => (0, text.clone()),
            SpaceKey::Session(key) | SpaceKey::Entry(key, _) => (key.index(), String::new()),
        };
        sort::by(&mut rows, |(one, a, _), (other, b, _)| {
            b.bytes.cmp(&a.bytes).then_with(|| names(one).cmp(&names(other)))
        });
        let all = rows.len();
        let row = |(key, sum, count): (SpaceKey, SpaceSum, usize)| {
            let (name, title) = self.names(&key, sessions);
            SpaceRow { key, name, title, sum, sessions: count }
        };
        (rows.into_iter().take(limit).map(row).collect(), all)
    }

    /// Returns the name of a row, and the title of the session of an entry.
    fn names(&self, key: &SpaceKey, sessions: &StatsSessions) -> (String, String) {
        let title =
            |key: SessionKey| GroupKey::Session(key).name(Grouping::Session, sessions).title.unwrap_or_default();
        let name = match key {
            SpaceKey::Kind(kind) => kind.words().into(),
            SpaceKey::Text(text) if text.is_empty() => "none".into(),
            SpaceKey::Text(text) => text.clone(),
            SpaceKey::Session(key) => title(*key),
            SpaceKey::Entry(key, at) => {
                return (self.large_entry(*key, *at).map_or(String::new(), LargeEntry::words), title(*key));
            }
        };
        (name, String::new())
    }

    /// Returns one of the largest entries.
    pub(crate) fn large_entry(&self, session: SessionKey, at: EntryIndex) -> Option<&LargeEntry> {
        let is_same_entry = |(key, entry): &&(SessionKey, LargeEntry)| *key == session && entry.at == at;
        self.largest.iter().find(is_same_entry).map(|(_, entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::disk::scan::ScanSources;

    #[test]
    fn copies_of_forks_are_duplicates() {
        let dir = tempfile::tempdir().unwrap();
        let entry = |id: &str, second: u32, text: &str| {
            format!(
                "{{\"type\":\"message\",\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:0{second}Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
            )
        };
        let header = |id: &str, parent: &str, second: u32| {
            format!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"/{id}\",\"timestamp\":\"2026-01-01T00:00:0{second}Z\"{parent}}}\n"
            )
        };
        let shared = entry("a", 1, "the same text");
        let old = header("old", "", 0) + &shared;
        let parent = format!(",\"parentSession\":{:?}", dir.path().join("old.jsonl"));
        let fork = header("fork", &parent, 5) + &shared + &entry("b", 6, "x");
        std::fs::write(dir.path().join("old.jsonl"), &old).unwrap();
        std::fs::write(dir.path().join("fork.jsonl"), &fork).unwrap();
        let dirs = [dir.path().to_path_buf()];
        let catalog = Catalog::read(ScanSources { dirs: &dirs, home: "", cache: None }, 0);
        let of = |is_wanted: &dyn Fn(SessionKey) -> bool| {
            let sessions = StatsSessions::new(&catalog, is_wanted);
            (measure(&sessions, |_, _| true).unwrap(), sessions)
        };
        let (all, sessions) = of(&|_| true);
        assert_eq!(all.total.bytes, (old.len() + fork.len()) as u64);
        assert_eq!(all.total.duplicate, shared.len() as u64);
        let names = |by| all.rows(by, 9, &sessions).0.into_iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(SpaceGrouping::Project), ["/fork", "/old"]);
        assert_eq!(names(SpaceGrouping::Kind), ["prompts", "settings and other"]);
        assert_eq!(all.largest.len(), 2, "the copy is left out");
        let is_fork = |key: SessionKey| catalog[key].header.id == "fork";
        let (of_fork, _) = of(&is_fork);
        assert_eq!((of_fork.total.bytes, of_fork.total.duplicate), (fork.len() as u64, shared.len() as u64));
        assert!(measure(&sessions, |_, _| false).is_none());
    }
}
