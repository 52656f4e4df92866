//! In which sessions a pi is at work, and what tells so. One with pitree's extension says in which it is. Any other leaves no
//! trace at a file, so that it is guessed: of as many of them as run in a directory, each is in one of as many sessions
//! there that were written last; and one in any session that was written a moment ago, by a pi that can't be seen, or that
//! was started in another directory.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::{UNICODE, clean};
use crate::base::time;
use crate::disk::live::Pis;
pub use crate::disk::live::told::{State, Told};
use crate::library::{Library, ProjectKey, SessionKey};
use crate::session::digest::Digest;

/// So long, in milliseconds, a session is taken for one in which a pi is at work after it was written.
const MOMENT: i64 = 120_000;

/// What is said before a sign that a pi is at work.
const AT_WORK: &str = "A pi seems to be at work";

/// What is said of a pi whose file goes to the trash.
pub(crate) const LOSES: &str = "A pi that loses its file goes on writing into a new one, which nothing can open; only when its session comes back from the trash are both joined. End it first, if there is one.";

/// The columns of a title in a sentence.
const TITLE: usize = 60;

/// What is known of the pi in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Live {
    /// One is likely there.
    Guessed,
    /// One says that it is there, and what it is doing.
    Told(Told),
}

impl Live {
    /// What it says.
    pub fn told(&self) -> Option<&Told> {
        match self {
            Self::Guessed => None,
            Self::Told(told) => Some(told),
        }
    }
}

impl Library {
    /// Takes the pis that run; `now` is in milliseconds since 1970.
    pub fn set_pis(&mut self, pis: Pis, now: i64) {
        self.pis = pis;
        self.note_live(now);
    }

    /// Finds the sessions in which a pi is at work.
    pub(crate) fn note_live(&mut self, now: i64) {
        let mut live: HashMap<SessionKey, Live> = HashMap::new();
        // One whose session is known by another path is found by its id.
        let mut by_id: HashMap<&str, &Told> = HashMap::new();
        for told in &self.pis.told {
            match self.key_of(&told.session).filter(|&key| self.has(key)) {
                Some(key) => drop(live.insert(key, Live::Told(told.clone()))),
                None => drop(by_id.insert(&told.id, told)),
            }
        }
        let is_same = |key: SessionKey, told: &Told| self[key].path.file_name() == told.session.file_name();
        for key in self.keys().filter(|_| !by_id.is_empty()) {
            let told = by_id.get(&*self[key].header.id).filter(|told| is_same(key, told));
            live.extend(told.map(|&told| (key, Live::Told(told.clone()))));
        }
        let mut in_dirs: HashMap<ProjectKey, Vec<SessionKey>> = HashMap::new();
        // A sub-agent's is written by the pi of the session that it belongs to.
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
            live.extend(keys.into_iter().take(pis).map(|key| (key, Live::Guessed)));
        }
        for key in self.keys().filter(|&key| is_fresh(&self[key], now)) {
            live.entry(key).or_insert(Live::Guessed);
        }
        self.live = live;
    }

    /// What is known of the pi in a session; nothing, if none seems to be there.
    pub fn live(&self, key: SessionKey) -> Option<&Live> {
        self.live.get(&key)
    }

    /// Whether a pi is likely at work in a session.
    pub fn is_live(&self, key: SessionKey) -> bool {
        self.live.contains_key(&key)
    }

    /// Where a session stands when those in which a pi waits for the person come first, the one that waits longest at the
    /// top, then those with another pi.
    pub(crate) fn live_rank(&self, key: SessionKey) -> (usize, i64) {
        match self.live(key) {
            Some(Live::Told(told)) => (told.state as usize, told.since),
            Some(Live::Guessed) => (State::ALL.len(), 0),
            None => (State::ALL.len() + 1, 0),
        }
    }

    /// In how many sessions a pi is doing what, those first in which it waits for the person; a guess has no state.
    pub(crate) fn live_counts(&self) -> Vec<(Option<State>, usize)> {
        let state = |live: &Live| live.told().map(|told| told.state);
        let states = State::ALL.map(Some).into_iter().chain([None]);
        let count = |of| self.live.values().filter(|&live| state(live) == of).count();
        states.map(|of| (of, count(of))).filter(|&(_, count)| count > 0).collect()
    }

    /// What tells that a pi is, or may be, at work in any of some sessions, a sentence for each sign; none if nothing does.
    /// Any pi in the directory of a session counts: which of them it is in is a guess.
    pub fn signs(&self, sessions: &[SessionKey], now: i64, home: &str) -> Vec<String> {
        let sessions: Vec<&Digest> = sessions.iter().map(|&key| &*self[key]).collect();
        signs(&sessions, &self.pis, now, home)
    }
}

/// What tells that a pi may be at work in any of some sessions: see [`Library::signs`].
pub(crate) fn signs(sessions: &[&Digest], pis: &Pis, now: i64, home: &str) -> Vec<String> {
    let open: HashMap<&Path, &Told> = pis.told.iter().map(|told| (&*told.session, told)).collect();
    let (mut told, mut running, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for &session in sessions {
        match open.get(&*session.path) {
            Some(pi) => told.push(told_in_words(session, pi, sessions.len(), now)),
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

/// What a session is called among so many that it is spoken of.
fn called(session: &Digest, among: usize) -> String {
    match among {
        1 => "it".into(),
        _ => format!("\"{}\"", UNICODE.cut(&clean(session.title()), TITLE)),
    }
}

/// What a pi says of itself, in words.
fn told_in_words(session: &Digest, told: &Told, among: usize, now: i64) -> String {
    let (pid, state, lasting) = (told.pid, told.state.name(), time::lasting(now, told.since));
    format!("A pi (process {pid}) has {} open: {state} {lasting}", called(session, among))
}

/// How many pis run in the directory of a session.
fn runs_in(pis: &Pis, session: &Digest) -> usize {
    let cwd = Path::new(&session.header.cwd);
    pis.by_dir.get(cwd).copied().unwrap_or_default()
}

/// Whether a session was written a moment ago. The file tells, and its last entry that is neither a label nor a name: so
/// copies are not taken for it, nor what pitree writes.
fn is_fresh(session: &Digest, now: i64) -> bool {
    let is_fresh = |time: i64| (now - time).abs() < MOMENT;
    is_fresh(session.mtime) && session.written.is_some_and(is_fresh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::live::processes::ByDir;

    /// A library of sessions of these names, directories, times of the file and of the last entry.
    fn library(sessions: &[(&str, &str, i64, i64)]) -> Library {
        let session = |&(name, cwd, mtime, written): &(&str, &str, i64, i64)| {
            let mut session = Digest { path: name.into(), mtime, written: Some(written), ..Digest::default() };
            session.name = Some(name.into());
            session.header.cwd = cwd.into();
            session
        };
        let mut library = Library::default();
        library.add(sessions.iter().map(session).collect());
        library
    }

    fn live(library: &Library) -> Vec<&str> {
        let live = library.keys().filter(|&key| library.is_live(key));
        live.map(|key| library[key].path.to_str().unwrap()).collect()
    }

    fn pis(dirs: &[(&str, usize)]) -> Pis {
        dirs.iter().map(|&(dir, count)| (dir.into(), count)).collect::<ByDir>().into()
    }

    fn told(session: &str, id: &str) -> Told {
        Told {
            pid: 7,
            session: session.into(),
            id: id.into(),
            name: None,
            entry: None,
            cwd: "/a".into(),
            state: State::Blocked,
            since: 0,
            model: None,
            cost: 0.0,
        }
    }

    #[test]
    fn a_pi_that_tells_is_where_it_says_and_the_others_are_elsewhere() {
        let long_ago = -10 * MOMENT;
        let mut library = library(&[("a", "/a", 1, 1), ("b", "/a", 3, 1), ("c", "/a", 2, 9)]);
        let one = Pis { told: vec![told("b", "")], ..pis(&[("/a", 1)]) };
        library.set_pis(one, long_ago);
        assert_eq!(live(&library), ["b", "c"], "one tells, and one does not");
        let key = library.key_of(Path::new("b")).unwrap();
        assert_eq!(library.live(key).unwrap().told().unwrap().state, State::Blocked);
        assert_eq!(library.signs(&[key], 60_000, ""), ["A pi (process 7) has it open: blocked for 1m"]);
        library.set_pis(Pis { told: vec![told("/link/b", "")], ..Pis::default() }, long_ago);
        assert_eq!(live(&library), ["b"], "by another path");
        library.set_pis(Pis { told: vec![told("/link/b", "other")], ..Pis::default() }, long_ago);
        assert_eq!(live(&library), [""; 0]);
    }

    #[test]
    fn each_pi_of_a_directory_is_in_one_of_the_newest_sessions_there() {
        let long_ago = -10 * MOMENT;
        let mut library = library(&[("a", "/a", 1, 1), ("b", "/a", 3, 1), ("c", "/a", 2, 9), ("d", "/d", 5, 5)]);
        for (dirs, wanted) in [
            (&[][..], &[][..]),
            (&[("/a", 1), ("", 1)], &["b"]),
            (&[("/a", 2)], &["b", "c"]),
            (&[("/a", 9), ("/d", 1)], &["a", "b", "c", "d"]),
        ] {
            library.set_pis(pis(dirs), long_ago);
            assert_eq!(live(&library), wanted);
        }
    }

    #[test]
    fn what_was_written_a_moment_ago_is_live_and_what_was_copied_or_named_is_not() {
        let now = 100 * MOMENT;
        let old = now - MOMENT;
        let mut library =
            library(&[("pi", "/a", now - 1, now - 2), ("copied", "/a", now, old), ("restored", "/a", old, now)]);
        library.set_pis(Pis::default(), now);
        assert_eq!(live(&library), ["pi"]);
        library.note_live(now + MOMENT);
        assert_eq!(live(&library), [""; 0]);
    }

    #[test]
    fn says_what_tells_that_a_pi_is_at_work() {
        let now = 100 * MOMENT;
        let sessions =
            [("a", "/home/me/app", 1, 1), ("b", "/home/me/app", 2, 2), ("c", "/c", now - 40_999, now - 41_000)];
        let mut library = library(&sessions);
        library.set_pis(pis(&[("/home/me/app", 1)]), now);
        let keys: Vec<SessionKey> = library.keys().collect();
        let signs = |keys: &[SessionKey]| library.signs(keys, now, "/home/me");
        let seems = |signs: &[&str]| -> Vec<String> { signs.iter().map(|sign| format!("{AT_WORK}: {sign}")).collect() };
        assert_eq!(signs(&keys), seems(&["a pi runs in ~/app", "\"c\" was written 40 seconds ago"]));
        assert_eq!(signs(&keys[..1]), seems(&["a pi runs in ~/app"]), "whichever it is in");
        assert_eq!(signs(&keys[2..]), seems(&["it was written 40 seconds ago"]));
        assert_eq!(signs(&[]), [""; 0]);
    }
}
