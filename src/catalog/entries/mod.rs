//! The entries of sessions as a stream of records for databases. After the first run, only new entries are printed, and
//! all entries of sessions that changed in another way. Each such version of a session has a new generation. The entries of
//! the newest generation are valid, so that a table only ever grows.

mod facts;
mod record;
mod session;
pub(crate) mod state;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::machine_paths;
use crate::base::safe_json::{object, push_json_line};
use crate::base::sort;
use crate::catalog::entries::facts::{PreparedSession, masked};
use crate::catalog::entries::session::SessionReader;
use crate::catalog::entries::state::{PathKey, PrintedEntries, PrintedSession};
use crate::catalog::key::SessionKey;
use crate::catalog::session_results::version_hash;
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::stats::shared_paths::{EntryPlace, SharedPaths};
use crate::disk::files;
use crate::disk::fingerprint::{FileVersion, hash};
use crate::disk::parallel;
use crate::disk::scan::Unreadable;
use crate::secrets::Rules;
use crate::session::digest::listed::SharedSession;
use crate::session::links::IdHash;

/// A request for entries.
pub(crate) struct EntriesRequest<'a> {
    /// The sessions, with their worktrees.
    pub(crate) sessions: &'a StatsSessions,
    /// The rules of redaction; `None` to keep secrets.
    pub(crate) rules: Option<&'a Rules>,
    /// The home directory, for `~` in paths.
    pub(crate) home: &'a str,
    /// The entries printed by earlier runs.
    pub(crate) before: PrintedEntries,
    /// The time at which the run started, before sessions were read, in milliseconds since 1970.
    pub(crate) started: i64,
}

/// The totals of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntriesTotals {
    /// The number of printed entries.
    pub(crate) entries: usize,
    /// The number of sessions with printed entries.
    pub(crate) sessions: usize,
    /// The number of sessions that were removed since the run before.
    pub(crate) removed: usize,
}

/// The result of a run.
pub(crate) struct EntriesRun {
    pub(crate) totals: EntriesTotals,
    /// The entries printed so far, for the next run.
    pub(crate) printed: PrintedEntries,
    /// The files that could not be read.
    pub(crate) unreadable: Vec<Unreadable>,
}

/// A part of the output.
enum Piece {
    /// Lines, and the number of entries in them.
    Lines(Vec<u8>, usize),
    /// The end of a session.
    End(PathKey, PrintedSession),
    Unreadable(Unreadable),
}

/// Sessions that share entries.
struct SessionGroup<'a> {
    members: &'a [SessionKey],
    /// The places, while sessions of the group are read.
    places: Mutex<Option<Arc<GroupPlaces>>>,
    /// The number of sessions to read.
    left: AtomicUsize,
}

/// The keys and the places of the entries of each session of a group.
type GroupPlaces = Vec<(Vec<IdHash>, Vec<EntryPlace>)>;

/// A session to compare with the run before.
struct SessionJob<'a> {
    group: &'a SessionGroup<'a>,
    /// The index in the group.
    member: usize,
    session: &'a SharedSession,
    key: SessionKey,
    path: PathBuf,
    before: Option<PrintedSession>,
    /// A hash of the facts in all records.
    context: u64,
    /// A hash of all that determines the records; 0 if a file may still change without a new version.
    inputs: u64,
}

impl<'a> SessionGroup<'a> {
    fn new(members: &'a [SessionKey]) -> Self {
        Self { members, places: Mutex::default(), left: AtomicUsize::new(0) }
    }

    /// Returns the places for the next session. The first thread computes them for all, and the last one removes them.
    fn places(&self, sessions: &StatsSessions) -> Arc<GroupPlaces> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let computed = places.take().unwrap_or_else(|| {
            let members: Vec<&SharedSession> = self.members.iter().filter_map(|&key| sessions.get(key)).collect();
            let mut shared = SharedPaths::new(members.iter().copied());
            let of = |member: usize| {
                let places = shared.places(member);
                (shared.details(member).map(|details| details.entries.ids.clone()).unwrap_or_default(), places)
            };
            Arc::new((0..members.len()).map(of).collect())
        });
        if self.left.fetch_sub(1, Ordering::Relaxed) > 1 {
            *places = Some(computed.clone());
        }
        computed
    }
}

impl EntriesRequest<'_> {
    /// Passes the lines of the entries to `write` until it returns `false`.
    pub(crate) fn run(mut self, unreadable: &[Unreadable], mut write: impl FnMut(&[u8]) -> bool) -> Option<EntriesRun> {
        let generation = self.started.max(self.before.generation.saturating_add(1));
        let mut before = std::mem::take(&mut self.before.sessions);
        let mut run = EntriesRun {
            totals: EntriesTotals::default(),
            printed: PrintedEntries { generation, ..PrintedEntries::default() },
            unreadable: Vec::new(),
        };
        let mut groups: Vec<SessionGroup<'_>> = self.sessions.groups().map(SessionGroup::new).collect();
        // The order in which files were read varies.
        sort::by_cached_key(&mut groups, |group| {
            let facts = self.sessions.get(*group.members.first()?)?.facts();
            Some((facts.created(), facts.path().join()))
        });
        let mut jobs = Vec::new();
        for job in parallel::map(&groups, |group| self.jobs(group)).into_iter().flatten() {
            let printed_key = state::key(&job.path);
            let known = before.remove(&printed_key);
            match known {
                Some(known) if job.inputs != 0 && known.inputs == job.inputs => {
                    run.printed.sessions.insert(printed_key, known);
                    continue;
                }
                // Unless it is read, it is compared again in the next run.
                Some(known) => {
                    run.printed.sessions.insert(printed_key, PrintedSession { inputs: 0, state: 0, ..known });
                }
                None => {}
            }
            job.group.left.fetch_add(1, Ordering::Relaxed);
            jobs.push(SessionJob { before: known, ..job });
        }
        for (printed_key, known) in before {
            let path = Path::new(&printed_key.0);
            let is_unreadable = || unreadable.iter().any(|one| path.starts_with(&one.path) && !one.is_missing);
            if is_unreadable() || files::is_there(path).is_err() {
                run.printed.sessions.insert(printed_key, PrintedSession { inputs: 0, ..known });
                continue;
            }
            run.totals.removed += 1;
            if !write(&removal(printed_key, self.rules, generation)) {
                return None;
            }
        }
        let reader = |job: &SessionJob<'_>, buffer: &mut Vec<u8>, send: &dyn Fn(Piece) -> bool| {
            send(match self.read(job, generation, buffer, send) {
                Ok(printed) => Piece::End(state::key(&job.path), printed),
                Err(reason) => Piece::Unreadable(Unreadable::new(&job.path, &reason)),
            });
        };
        let lost = |job: &SessionJob<'_>, reason: String| Piece::Unreadable(Unreadable::new(&job.path, &reason));
        let (mut has_entries, mut is_open) = (false, true);
        let take = |piece: Piece| {
            match piece {
                Piece::Lines(lines, entries) => {
                    (run.totals.entries, has_entries) = (run.totals.entries + entries, true);
                    is_open = write(&lines);
                }
                Piece::End(printed_key, printed) => {
                    run.totals.sessions += usize::from(std::mem::take(&mut has_entries));
                    run.printed.sessions.insert(printed_key, printed);
                }
                Piece::Unreadable(file) => {
                    has_entries = false;
                    run.unreadable.push(file);
                }
            }
            is_open
        };
        parallel::in_order(&jobs, (reader, lost), take);
        is_open.then_some(run)
    }

    /// Returns the requested sessions of a group.
    fn jobs<'g>(&'g self, group: &'g SessionGroup<'g>) -> Vec<SessionJob<'g>> {
        let members = group.members.iter().filter_map(|&key| Some((key, self.sessions.get(key)?)));
        let members: Vec<_> = members.map(|(key, session)| (key, session, session.file_path())).collect();
        let versions: Option<Vec<u64>> = members.iter().map(|(.., path)| settled_version(path, self.started)).collect();
        let paths = members.iter().flat_map(|(.., path)| [path.as_os_str().as_encoded_bytes(), b"\0"]);
        let mut shared: Vec<u8> = paths.flatten().copied().collect();
        shared.extend(versions.iter().flatten().flat_map(|version| version.to_le_bytes()));
        let shared = hash(&shared);
        let mut jobs = Vec::new();
        for (member, (key, session, path)) in members.into_iter().enumerate() {
            if self.sessions.is_wanted(key) {
                let context = self.context(key, session);
                let inputs = hash(&[shared.to_le_bytes(), context.to_le_bytes()].concat());
                let inputs = if versions.is_some() { inputs.max(1) } else { 0 };
                jobs.push(SessionJob { group, member, session, key, path, before: None, context, inputs });
            }
        }
        jobs
    }

    /// Returns a hash of the facts in all records of a session.
    fn context(&self, key: SessionKey, session: &SharedSession) -> u64 {
        let rules = self.rules.map(|rules| rules.fingerprint().unwrap_or_default());
        let texts = [state::FORM, self.family(key), &self.sessions.project(session), self.home];
        hash(format!("{texts:?} {rules:?}").as_bytes())
    }

    fn family(&self, key: SessionKey) -> &str {
        self.sessions.get(self.sessions.oldest(key)).map_or("", |session| session.facts().id())
    }

    /// Reads a session, and sends the lines of its new entries.
    fn read(
        &self,
        job: &SessionJob<'_>,
        generation: i64,
        buffer: &mut Vec<u8>,
        send: &dyn Fn(Piece) -> bool,
    ) -> std::io::Result<PrintedSession> {
        let facts = job.session.facts();
        let prepared = PreparedSession {
            path: &job.path,
            id: facts.id(),
            cwd: facts.cwd(),
            family: self.family(job.key),
            project: &self.sessions.project(job.session),
            worktrees: self.sessions.worktrees(),
            home: self.home,
            context: job.context,
            rules: self.rules,
        };
        let places = job.group.places(self.sessions);
        let Some((ids, places)) = places.get(job.member) else { return Err(std::io::Error::other("not loaded")) };
        let mut reader = SessionReader { session: &prepared, ids, places, buffer };
        let printed =
            reader.read(job.before.as_ref(), generation, &mut |lines, entries| send(Piece::Lines(lines, entries)))?;
        Ok(PrintedSession { inputs: job.inputs, ..printed })
    }
}

/// The time in milliseconds within which a second write can leave the version of a file unchanged.
const COARSE: i64 = 3000;

/// Returns a hash of the version of a file. `None` if the file was written since shortly before a time, because its session
/// can be older.
fn settled_version(path: &Path, started: i64) -> Option<u64> {
    let version = FileVersion::of(path).ok()?;
    let limit = started.saturating_sub(COARSE).saturating_mul(1_000_000);
    (version.written.max(version.changed) < limit).then(|| version_hash(&version))
}

/// Returns the line of a removed session.
fn removal(path: PathKey, rules: Option<&Rules>, generation: i64) -> Vec<u8> {
    let mut line = Vec::new();
    let machine = machine_paths::machine(Path::new(&path.0)).map(str::to_owned);
    let path = masked(path, rules);
    let none = None::<&str>;
    let removed = object! {
        #[serde(rename = "type")] record: "session",
        machine,
        #[serde(flatten)] path,
        session: none, family: none, project: none,
        generation,
        removed: true,
    };
    let _ = push_json_line(&mut line, &removed); // an object always has a form in JSON
    line
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::catalog::Catalog;
    use crate::disk::scan::ScanSources;

    #[test]
    fn unchanged_files_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let line =
            r#"{"type":"custom","id":"1","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","customType":"t"}"#;
        fs::write(dir.path().join("a.jsonl"), format!("{{\"type\":\"session\",\"id\":\"a\"}}\n{line}\n")).unwrap();
        let dirs = [dir.path().to_path_buf()];
        let started = i64::MAX / 2_000_000; // long after the file was written
        let run = |before: PrintedEntries| {
            let catalog = Catalog::read(ScanSources { dirs: &dirs, home: "", cache: None }, 0);
            let sessions = StatsSessions::new(&catalog, |_| true);
            let request = EntriesRequest { sessions: &sessions, rules: None, home: "", before, started };
            request.run(&[], |_| true).unwrap()
        };
        let first = run(PrintedEntries::default());
        assert_eq!(first.totals, EntriesTotals { entries: 1, sessions: 1, removed: 0 });
        assert_eq!(PrintedEntries::from_bytes(&first.printed.to_bytes()).as_ref(), Some(&first.printed));
        // Reading the file would detect another content.
        let mut before = first.printed;
        before.sessions.values_mut().for_each(|session| session.content = (1, 1));
        assert_eq!(run(before.clone()).totals, EntriesTotals::default());
        before.sessions.values_mut().for_each(|session| session.inputs = 0);
        assert_eq!(run(before).totals.entries, 1);
    }
}
