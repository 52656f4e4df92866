//! Sessions in which a pi is active. A pi with pitree's extension reports its session. Other pis keep no file open, so
//! their sessions are guesses: for each pi in a directory, one of the most recently written sessions of that directory.
//! Any session written a moment ago also counts, because its pi can be invisible or started in another directory.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::sort;
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::pi::running::RunningPis;
use crate::pi::status::{PiState, PiStatus};
use crate::pi::warnings::{self, is_fresh, is_moment};
use crate::session::digest::Digest;

/// The activity of pi in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionActivity {
    /// A pi is probably active.
    Guessed,
    /// Pis that report their status, the most urgent first. Never empty.
    Reported(Vec<PiStatus>),
}

impl SessionActivity {
    /// Returns the most urgent pi that reports its status.
    pub fn reported(&self) -> Option<&PiStatus> {
        self.all().first()
    }

    /// Returns the pis that report their status, the most urgent first.
    pub fn all(&self) -> &[PiStatus] {
        match self {
            Self::Guessed => &[],
            Self::Reported(reported) => reported,
        }
    }
}

impl Catalog {
    /// Sets the running pis; `now` is in milliseconds since 1970.
    pub fn set_pis(&mut self, pis: RunningPis, now: i64) {
        self.pis = pis;
        self.note_live(now);
    }

    /// Sets the running pis of other machines. Returns `true` if they differ.
    pub(crate) fn set_remote_pis(&mut self, pis: Vec<PiStatus>, now: i64) -> bool {
        let is_new = self.remote_pis != pis;
        if is_new {
            self.remote_pis = pis;
            self.note_live(now);
        }
        is_new
    }

    /// Finds the sessions in which a pi is active.
    pub(crate) fn note_live(&mut self, now: i64) {
        let mut live: HashMap<SessionKey, SessionActivity> = HashMap::new();
        // Sessions of this machine that are known by another path are found by id.
        let mut by_id: HashMap<&str, Vec<&PiStatus>> = HashMap::new();
        let mut reported_in: HashMap<SessionKey, Vec<PiStatus>> = HashMap::new();
        let here = self.pis.reported.iter().map(|pi| (pi, true));
        for (pi, is_here) in here.chain(self.remote_pis.iter().map(|pi| (pi, false))) {
            match self.key_of(&pi.session).filter(|&key| self.has(key)).map(|key| self.listed_copy(key)) {
                Some(key) => reported_in.entry(key).or_default().push(pi.clone()),
                None if is_here => by_id.entry(&pi.id).or_default().push(pi),
                None => {}
            }
        }
        // The pis of other machines are not among those that run here.
        let is_here = |key: &SessionKey| !self[*key].facts().is_mirrored();
        for key in self.keys().filter(|_| !by_id.is_empty()).filter(is_here) {
            for &reported in by_id.get(self[key].facts().id()).into_iter().flatten() {
                if self[key].path.file_name() == reported.session.file_name() {
                    reported_in.entry(key).or_default().push(reported.clone());
                }
            }
        }
        for (key, mut reported) in reported_in {
            sort::by_key(&mut reported, PiStatus::urgency);
            live.insert(key, SessionActivity::Reported(reported));
        }
        let mut in_dirs: HashMap<ProjectKey, Vec<SessionKey>> = HashMap::new();
        // The session of a subagent is written by the pi of its parent session.
        let runs_in = |dir: &Arc<str>| self.pis.by_dir.get(Path::new(&**dir)).copied().unwrap_or_default();
        let runs: Vec<usize> = self.dirs.iter().map(runs_in).collect();
        let running = |key: SessionKey| runs[self.project(key).index()];
        let is_guessed = |key: &SessionKey| running(*key) > 0 && !self[*key].facts().is_subagent();
        for key in self.keys().filter(is_guessed).filter(is_here).filter(|key| !live.contains_key(key)) {
            in_dirs.entry(self.project(key)).or_default().push(key);
        }
        for mut keys in in_dirs.into_values() {
            sort::by(&mut keys, |&a, &b| {
                let [a, b] = [a, b].map(|key| self[key].facts());
                b.mtime().cmp(&a.mtime()).then_with(|| b.path().compare(a.path()))
            });
            let pis = keys.first().map_or(0, |&key| running(key));
            live.extend(keys.into_iter().take(pis).map(|key| (key, SessionActivity::Guessed)));
        }
        let is_new = |key: &SessionKey| is_moment(self[*key].facts().mtime(), now);
        for key in self.keys().filter(is_new).filter(is_here).filter(|&key| is_fresh(&self[key], &self.pis, now)) {
            live.entry(key).or_insert(SessionActivity::Guessed);
        }
        self.live = live;
    }

    /// Returns the activity of pi in a session.
    pub fn live(&self, key: SessionKey) -> Option<&SessionActivity> {
        self.live.get(&key)
    }

    /// Returns the most urgent pi of this machine that reports to have a session open.
    pub(crate) fn pi_here(&self, key: SessionKey) -> Option<&PiStatus> {
        self.live(key).and_then(SessionActivity::reported).filter(|_| !self[key].facts().is_mirrored())
    }

    /// Returns `true` if a pi that does not report its session runs in the directory of a session.
    pub fn is_pi_in_dir_of(&self, key: SessionKey) -> bool {
        self.pis.by_dir.contains_key(Path::new(self[key].facts().cwd()))
    }

    /// Returns `true` if a pi is probably active in a session.
    pub fn is_live(&self, key: SessionKey) -> bool {
        self.live.contains_key(&key)
    }

    /// Returns the sort key of a session: sessions with a waiting pi come first, the longest wait at the top, followed
    /// by other active sessions.
    pub(crate) fn live_rank(&self, key: SessionKey) -> (usize, i64) {
        match self.live(key).map(SessionActivity::reported) {
            Some(Some(reported)) => (reported.state as usize, reported.since),
            Some(None) => (PiState::ALL.len(), 0),
            None => (PiState::ALL.len() + 1, 0),
        }
    }

    /// Counts the pis by state, the most urgent state first. A guess has no state. Skips sessions for which
    /// `is_counted` returns `false`.
    pub(crate) fn live_counts(&self, is_counted: impl Fn(SessionKey) -> bool) -> Vec<(Option<PiState>, usize)> {
        let counted: Vec<&SessionActivity> =
            self.live.iter().filter(|&(&key, _)| is_counted(key)).map(|(_, live)| live).collect();
        let reported = |state| counted.iter().flat_map(|live| live.all()).filter(|pi| pi.state == state).count();
        let guessed = counted.iter().filter(|live| live.reported().is_none()).count();
        let counts = PiState::ALL.iter().map(|&state| (Some(state), reported(state))).chain([(None, guessed)]);
        counts.filter(|&(_, count)| count > 0).collect()
    }

    /// Describes the evidence that a pi is active in any of some sessions, one sentence each. Every pi in the directory
    /// of a session counts, because its session is a guess. Those of other machines are unknown.
    pub fn running_pi_evidence(&self, sessions: &[SessionKey], now: i64, home: &str) -> Vec<String> {
        let here = sessions.iter().map(|&key| &self[key]).filter(|session| !session.facts().is_mirrored());
        let sessions: Vec<&Digest> = here.map(|session| &***session).collect();
        warnings::running_pi_evidence(&sessions, &self.pis, now, home)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pi::status::ClosedSession;
    use crate::pi::warnings::MOMENT;

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
        let by_dir = dirs.iter().map(|&(dir, count)| (dir.into(), count)).collect();
        RunningPis { by_dir, ..RunningPis::default() }
    }

    fn reported(session: &str, id: &str) -> PiStatus {
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
        let one = RunningPis { reported: vec![reported("b", "")], ..pis(&[("/a", 1)]) };
        catalog.set_pis(one, long_ago);
        assert_eq!(live(&catalog), ["b", "c"], "one tells, and one does not");
        let key = catalog.key_of(Path::new("b")).unwrap();
        assert_eq!(catalog.live(key).unwrap().reported().unwrap().state, PiState::Blocked);
        assert_eq!(catalog.running_pi_evidence(&[key], 60_000, ""), ["pi (pid 7) has it open: blocked for 1m"]);
        catalog.set_pis(RunningPis { reported: vec![reported("/link/b", "")], ..RunningPis::default() }, long_ago);
        assert_eq!(live(&catalog), ["b"], "by another path");
        catalog.set_pis(RunningPis { reported: vec![reported("/link/b", "other")], ..RunningPis::default() }, long_ago);
        assert_eq!(live(&catalog), [""; 0]);
    }

    #[test]
    fn of_several_pis_in_a_session_the_most_urgent_one_comes_first() {
        let mut catalog = catalog(&[("a", "/a", 1, 1)]);
        let pi = |pid, state, since| PiStatus { pid, state, since, ..reported("a", "") };
        let pis = vec![
            pi(5, PiState::Waiting, 2),
            pi(6, PiState::Blocked, 3),
            pi(7, PiState::Waiting, 1),
            pi(8, PiState::Idle, 0),
        ];
        catalog.set_pis(RunningPis { reported: pis, ..RunningPis::default() }, 60_000);
        let key = catalog.key_of(Path::new("a")).unwrap();
        let pids: Vec<u32> = catalog.live(key).unwrap().all().iter().map(|pi| pi.pid).collect();
        assert_eq!(pids, [6, 7, 5, 8]);
        assert_eq!(catalog.live(key).unwrap().reported().unwrap().state, PiState::Blocked);
        let signs = catalog.running_pi_evidence(&[key], 90_000, "");
        assert_eq!(signs.len(), 4);
        assert_eq!(signs[0], "pi (pid 6) has it open: blocked for 1m");
        let counts = [(Some(PiState::Blocked), 1), (Some(PiState::Waiting), 2), (Some(PiState::Idle), 1)];
        assert_eq!(catalog.live_counts(|_| true), counts);
    }

    #[test]
    fn pis_run_in_sessions_of_this_machine() {
        let mirrored = "/data/machine-mirrors/box/%2Fs/--a--/s.jsonl";
        let mut catalog = catalog(&[("/s/s.jsonl", "/a", 1, 1), (mirrored, "/a", 9_000, 9_000)]);
        catalog.set_pis(pis(&[("/a", 2)]), 9_000);
        assert_eq!(live(&catalog), ["/s/s.jsonl"]);
        let status = reported("/elsewhere/s.jsonl", "");
        catalog.set_pis(RunningPis { reported: vec![status], ..RunningPis::default() }, 99_000_000);
        assert_eq!(live(&catalog), ["/s/s.jsonl"]);
        catalog.set_pis(RunningPis::default(), 99_000_000);
        let unknown = mirrored.replace("--a--", "--b--");
        catalog.set_remote_pis(vec![reported(&unknown, "")], 99_000_000);
        assert_eq!(live(&catalog), [""; 0], "a session of this name on this machine is another one");
        catalog.set_remote_pis(vec![reported(mirrored, "")], 99_000_000);
        assert_eq!(live(&catalog), [mirrored]);
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
        let closed = |at| RunningPis { closed: vec![ClosedSession::new("pi", at)], ..RunningPis::default() };
        catalog.set_pis(closed(now - 2), now);
        assert_eq!(live(&catalog), ["pi"], "written after it was closed");
        catalog.set_pis(closed(now - 1), now);
        assert_eq!(live(&catalog), [""; 0]);
        catalog.set_pis(RunningPis::default(), now);
        catalog.note_live(now + MOMENT);
        assert_eq!(live(&catalog), [""; 0]);
    }

    #[test]
    fn signs_name_the_evidence_for_a_running_pi() {
        let now = 100 * MOMENT;
        let sessions =
            [("a", "/home/me/app", 1, 1), ("b", "/home/me/app", 2, 2), ("c", "/c", now - 40_999, now - 41_000)];
        let mut catalog = catalog(&sessions);
        catalog.set_pis(pis(&[("/home/me/app", 1)]), now);
        let keys: Vec<SessionKey> = catalog.keys().collect();
        let signs = |keys: &[SessionKey]| catalog.running_pi_evidence(keys, now, "/home/me");
        assert_eq!(
            signs(&keys),
            ["A pi is running in ~/app", "\"c\" was modified 40 seconds ago; a pi may be using it"]
        );
        assert_eq!(signs(&keys[..1]), ["A pi is running in ~/app"], "whichever session it uses");
        assert_eq!(signs(&keys[2..]), ["The file was modified 40 seconds ago; a pi may be using it"]);
        assert_eq!(signs(&[]), [""; 0]);
    }
}
