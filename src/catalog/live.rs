//! Sessions in which a pi is active. A pi with pitree's extension reports its session. Other pis keep no file open, so
//! their sessions are guesses: for each pi in a directory, one of the most recently written sessions of that directory.
//! Any session written a moment ago also counts, because its pi can be invisible or started in another directory.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::{UNICODE, clean};
use crate::base::time;
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::pi::running::RunningPis;
pub use crate::pi::status::{PiState, PiStatus};
use crate::session::digest::Digest;

/// The time in milliseconds after a write during which a session counts as active.
const MOMENT: i64 = 120_000;

/// The start of a warning about a possibly active pi.
const AT_WORK: &str = "A pi seems to be at work";

/// The warning for moving the file of a running pi to the trash.
pub(crate) const LOSES: &str = "If pi loses its session file, it keeps writing to a new file that cannot be opened. Restoring the session merges both. Quit that pi first.";

/// The width of a title in a sentence, in columns.
const TITLE: usize = 60;

/// The activity of pi in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionActivity {
    /// A pi is probably active.
    Guessed,
    /// Pis that report their status, the most urgent first. Never empty.
    Told(Vec<PiStatus>),
}

impl SessionActivity {
    /// Returns the most urgent pi that reports its status.
    pub fn told(&self) -> Option<&PiStatus> {
        self.all().first()
    }

    /// Returns the pis that report their status, the most urgent first.
    pub fn all(&self) -> &[PiStatus] {
        match self {
            Self::Guessed => &[],
            Self::Told(told) => told,
        }
    }
}

/// Sorts pis by urgency: question, error, answer, work, idle; the longest wait comes first.
pub(crate) fn urgency(told: &PiStatus) -> (PiState, i64, u32) {
    (told.state, told.since, told.pid)
}

impl Catalog {
    /// Sets the running pis; `now` is in milliseconds since 1970.
    pub fn set_pis(&mut self, pis: RunningPis, now: i64) {
        self.pis = pis;
        self.note_live(now);
    }

    /// Finds the sessions in which a pi is active.
    pub(crate) fn note_live(&mut self, now: i64) {
        let mut live: HashMap<SessionKey, SessionActivity> = HashMap::new();
        // Sessions known by another path are found by id.
        let mut by_id: HashMap<&str, Vec<&PiStatus>> = HashMap::new();
        let mut told_in: HashMap<SessionKey, Vec<PiStatus>> = HashMap::new();
        for told in &self.pis.told {
            match self.key_of(&told.session).filter(|&key| self.has(key)) {
                Some(key) => told_in.entry(key).or_default().push(told.clone()),
                None => by_id.entry(&told.id).or_default().push(told),
            }
        }
        for key in self.keys().filter(|_| !by_id.is_empty()) {
            for &told in by_id.get(&*self[key].header.id).into_iter().flatten() {
                if self[key].path.file_name() == told.session.file_name() {
                    told_in.entry(key).or_default().push(told.clone());
                }
            }
        }
        for (key, mut told) in told_in {
            told.sort_by_key(urgency);
            live.insert(key, SessionActivity::Told(told));
        }
        let mut in_dirs: HashMap<ProjectKey, Vec<SessionKey>> = HashMap::new();
        // The session of a subagent is written by the pi of its parent session.
        let runs_in = |dir: &Arc<str>| self.pis.by_dir.get(Path::new(&**dir)).copied().unwrap_or_default();
        let runs: Vec<usize> = self.project_dirs().map(runs_in).collect();
        let running = |key: SessionKey| runs[self.project(key).place()];
        for key in self.keys().filter(|&key| self[key].owner.is_none() && running(key) > 0 && !live.contains_key(&key))
        {
            in_dirs.entry(self.project(key)).or_default().push(key);
        }
        for mut keys in in_dirs.into_values() {
            keys.sort_by_key(|&key| std::cmp::Reverse((self[key].mtime, &self[key].path)));
            let pis = keys.first().map_or(0, |&key| running(key));
            live.extend(keys.into_iter().take(pis).map(|key| (key, SessionActivity::Guessed)));
        }
        for key in self.keys().filter(|&key| is_fresh(&self[key], now)) {
            live.entry(key).or_insert(SessionActivity::Guessed);
        }
        self.live = live;
    }

    /// Returns the activity of pi in a session.
    pub fn live(&self, key: SessionKey) -> Option<&SessionActivity> {
        self.live.get(&key)
    }

    /// Returns `true` if a pi is probably active in a session.
    pub fn is_live(&self, key: SessionKey) -> bool {
        self.live.contains_key(&key)
    }

    /// Returns the sort key of a session: sessions with a waiting pi come first, the longest wait at the top, followed
    /// by other active sessions.
    pub(crate) fn live_rank(&self, key: SessionKey) -> (usize, i64) {
        match self.live(key).map(SessionActivity::told) {
            Some(Some(told)) => (told.state as usize, told.since),
            Some(None) => (PiState::ALL.len(), 0),
            None => (PiState::ALL.len() + 1, 0),
        }
    }

    /// Counts the pis by state, the most urgent state first. A guess has no state. Skips sessions for which
    /// `is_counted` returns `false`.
    pub(crate) fn live_counts(&self, is_counted: impl Fn(SessionKey) -> bool) -> Vec<(Option<PiState>, usize)> {
        let counted: Vec<&SessionActivity> =
            self.live.iter().filter(|&(&key, _)| is_counted(key)).map(|(_, live)| live).collect();
        let told = |state| counted.iter().flat_map(|live| live.all()).filter(|told| told.state == state).count();
        let guessed = counted.iter().filter(|live| live.told().is_none()).count();
        let counts = PiState::ALL.iter().map(|&state| (Some(state), told(state))).chain([(None, guessed)]);
        counts.filter(|&(_, count)| count > 0).collect()
    }

    /// Describes the evidence that a pi is active in any of some sessions, one sentence each. Every pi in the directory
    /// of a session counts, because its session is a guess.
    pub fn signs(&self, sessions: &[SessionKey], now: i64, home: &str) -> Vec<String> {
        let sessions: Vec<&Digest> = sessions.iter().map(|&key| &*self[key]).collect();
        signs(&sessions, &self.pis, now, home)
    }
}

/// Describes the evidence that a pi is active in any of some sessions: see [`Catalog::signs`].
pub(crate) fn signs(sessions: &[&Digest], pis: &RunningPis, now: i64, home: &str) -> Vec<String> {
    let mut open: HashMap<&Path, Vec<&PiStatus>> = HashMap::new();
    for told in &pis.told {
        open.entry(&told.session).or_default().push(told);
    }
    open.values_mut().for_each(|told| told.sort_by_key(|told| urgency(told)));
    let open_at = |session: &Digest| open.get(&*session.path).or_else(|| open.get(&**session.real_path()));
    let (mut told, mut running, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for &session in sessions {
        match open_at(session) {
            Some(pis) => told.extend(pis.iter().map(|pi| told_in_words(session, pi, sessions.len(), now))),
            None if runs_in(pis, session) > 0 => running.push(session),
            None => others.push(session),
        }
    }
    let mut dirs: Vec<&str> = running.iter().map(|session| session.header.cwd.as_str()).collect();
    dirs.sort_unstable();
    dirs.dedup();
    let runs = dirs.into_iter().map(|dir| format!("{AT_WORK}: a pi runs in {}", shorten(dir, home)));
    let written = others.into_iter().filter(|session| is_fresh(session, now)).map(|session| {
        let what = called(session, sessions.len());
        let seconds = usize::try_from((now - session.mtime) / 1000).unwrap_or_default();
        match seconds {
            0 => format!("{AT_WORK}: {what} was written just now"),
            _ => format!("{AT_WORK}: {what} was written {} ago", count(seconds, "second", "seconds")),
        }
    });
    told.into_iter().chain(runs).chain(written).collect()
}

/// Returns `true` if a pi reports that it has a session open.
pub(crate) fn is_open(session: &Digest, pis: &RunningPis) -> bool {
    pis.told.iter().any(|told| told.session == session.path || told.session == *session.real_path())
}

/// Returns the name of a session in a message about `among` sessions.
fn called(session: &Digest, among: usize) -> String {
    match among {
        1 => "it".into(),
        _ => format!("\"{}\"", UNICODE.cut(&clean(session.title()), TITLE)),
    }
}

/// Describes the status of a pi.
fn told_in_words(session: &Digest, told: &PiStatus, among: usize, now: i64) -> String {
    let (pid, state, lasting) = (told.pid, told.state.name(), time::duration_since(now, told.since));
    format!("A pi (process {pid}) has {} open: {state} {lasting}", called(session, among))
}

/// Returns the number of pis in the directory of a session.
fn runs_in(pis: &RunningPis, session: &Digest) -> usize {
    let cwd = Path::new(&session.header.cwd);
    pis.by_dir.get(cwd).copied().unwrap_or_default()
}

/// Returns `true` if a session was written a moment ago. Both the file and its last entry must be recent. Labels and
/// names are ignored, so that copies and changes by pitree do not count.
fn is_fresh(session: &Digest, now: i64) -> bool {
    let is_fresh = |time: i64| (now - time).abs() < MOMENT;
    is_fresh(session.mtime) && session.written.is_some_and(is_fresh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pi::processes::ByDir;

    /// Creates a catalog of sessions with these names, directories, file times and entry times.
    fn catalog(sessions: &[(&str, &str, i64, i64)]) -> Catalog {
        let session = |&(name, cwd, mtime, written): &(&str, &str, i64, i64)| {
            let mut session = Digest { path: name.into(), mtime, written: Some(written), ..Digest::default() };
            session.name = Some(name.into());
            session.header.cwd = cwd.into();
            session
        };
        let mut catalog = Catalog::default();
        catalog.add(sessions.iter().map(session).collect());
        catalog
    }

    fn live(catalog: &Catalog) -> Vec<&str> {
        let live = catalog.keys().filter(|&key| catalog.is_live(key));
        live.map(|key| catalog[key].path.to_str().unwrap()).collect()
    }

    fn pis(dirs: &[(&str, usize)]) -> RunningPis {
        dirs.iter().map(|&(dir, count)| (dir.into(), count)).collect::<ByDir>().into()
    }

    fn told(session: &str, id: &str) -> PiStatus {
        PiStatus {
            pid: 7,
            session: session.into(),
            id: id.into(),
            name: None,
            entry: None,
            cwd: "/a".into(),
            state: PiState::Blocked,
            since: 0,
            model: None,
            cost: 0.0,
        }
    }

    #[test]
    fn a_pi_that_tells_is_where_it_says_and_the_others_are_elsewhere() {
        let long_ago = -10 * MOMENT;
        let mut catalog = catalog(&[("a", "/a", 1, 1), ("b", "/a", 3, 1), ("c", "/a", 2, 9)]);
        let one = RunningPis { told: vec![told("b", "")], ..pis(&[("/a", 1)]) };
        catalog.set_pis(one, long_ago);
        assert_eq!(live(&catalog), ["b", "c"], "one tells, and one does not");
        let key = catalog.key_of(Path::new("b")).unwrap();
        assert_eq!(catalog.live(key).unwrap().told().unwrap().state, PiState::Blocked);
        assert_eq!(catalog.signs(&[key], 60_000, ""), ["A pi (process 7) has it open: blocked for 1m"]);
        catalog.set_pis(RunningPis { told: vec![told("/link/b", "")], ..RunningPis::default() }, long_ago);
        assert_eq!(live(&catalog), ["b"], "by another path");
        catalog.set_pis(RunningPis { told: vec![told("/link/b", "other")], ..RunningPis::default() }, long_ago);
        assert_eq!(live(&catalog), [""; 0]);
    }

    #[test]
    fn of_several_pis_in_a_session_the_most_urgent_one_comes_first() {
        let mut catalog = catalog(&[("a", "/a", 1, 1)]);
        let pi = |pid, state, since| PiStatus { pid, state, since, ..told("a", "") };
        let pis = vec![
            pi(5, PiState::Waiting, 2),
            pi(6, PiState::Blocked, 3),
            pi(7, PiState::Waiting, 1),
            pi(8, PiState::Idle, 0),
        ];
        catalog.set_pis(RunningPis { told: pis, ..RunningPis::default() }, 60_000);
        let key = catalog.key_of(Path::new("a")).unwrap();
        let pids: Vec<u32> = catalog.live(key).unwrap().all().iter().map(|told| told.pid).collect();
        assert_eq!(pids, [6, 7, 5, 8]);
        assert_eq!(catalog.live(key).unwrap().told().unwrap().state, PiState::Blocked);
        let signs = catalog.signs(&[key], 90_000, "");
        assert_eq!(signs.len(), 4);
        assert_eq!(signs[0], "A pi (process 6) has it open: blocked for 1m");
        let counts = [(Some(PiState::Blocked), 1), (Some(PiState::Waiting), 2), (Some(PiState::Idle), 1)];
        assert_eq!(catalog.live_counts(|_| true), counts);
    }

    #[test]
    fn each_pi_of_a_directory_is_in_one_of_the_newest_sessions_there() {
        let long_ago = -10 * MOMENT;
        let mut catalog = catalog(&[("a", "/a", 1, 1), ("b", "/a", 3, 1), ("c", "/a", 2, 9), ("d", "/d", 5, 5)]);
        for (dirs, wanted) in [
            (&[][..], &[][..]),
            (&[("/a", 1), ("", 1)], &["b"]),
            (&[("/a", 2)], &["b", "c"]),
            (&[("/a", 9), ("/d", 1)], &["a", "b", "c", "d"]),
        ] {
            catalog.set_pis(pis(dirs), long_ago);
            assert_eq!(live(&catalog), wanted);
        }
    }

    #[test]
    fn what_was_written_a_moment_ago_is_live_and_what_was_copied_or_named_is_not() {
        let now = 100 * MOMENT;
        let old = now - MOMENT;
        let mut catalog =
            catalog(&[("pi", "/a", now - 1, now - 2), ("copied", "/a", now, old), ("restored", "/a", old, now)]);
        catalog.set_pis(RunningPis::default(), now);
        assert_eq!(live(&catalog), ["pi"]);
        catalog.note_live(now + MOMENT);
        assert_eq!(live(&catalog), [""; 0]);
    }

    #[test]
    fn says_what_tells_that_a_pi_is_at_work() {
        let now = 100 * MOMENT;
        let sessions =
            [("a", "/home/me/app", 1, 1), ("b", "/home/me/app", 2, 2), ("c", "/c", now - 40_999, now - 41_000)];
        let mut catalog = catalog(&sessions);
        catalog.set_pis(pis(&[("/home/me/app", 1)]), now);
        let keys: Vec<SessionKey> = catalog.keys().collect();
        let signs = |keys: &[SessionKey]| catalog.signs(keys, now, "/home/me");
        let seems = |signs: &[&str]| -> Vec<String> { signs.iter().map(|sign| format!("{AT_WORK}: {sign}")).collect() };
        assert_eq!(signs(&keys), seems(&["a pi runs in ~/app", "\"c\" was written 40 seconds ago"]));
        assert_eq!(signs(&keys[..1]), seems(&["a pi runs in ~/app"]), "whichever it is in");
        assert_eq!(signs(&keys[2..]), seems(&["it was written 40 seconds ago"]));
        assert_eq!(signs(&[]), [""; 0]);
    }
}
