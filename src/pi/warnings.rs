//! Warnings before a session is changed, moved or resumed while a pi may be using it.

use std::collections::HashMap;
use std::path::Path;

use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::{UNICODE, clean};
use crate::base::time;
use crate::pi::running::RunningPis;
use crate::pi::status::PiStatus;
use crate::session::digest::Digest;

/// The time in milliseconds after a write during which a session counts as active.
pub(crate) const MOMENT: i64 = 120_000;

/// The warning for moving the file of a running pi to the trash.
pub(crate) const LOSES: &str = "If pi loses its session file, it keeps writing to a new file that cannot be opened. Restoring the session merges both. Quit that pi first.";

/// The width of a title in a sentence, in columns.
const TITLE: usize = 60;

/// Describes the evidence that a pi is active in any of some sessions, one sentence each. Every pi in
/// the directory of a session counts, because its session is a guess.
pub(crate) fn signs(sessions: &[&Digest], pis: &RunningPis, now: i64, home: &str) -> Vec<String> {
    let mut open: HashMap<&Path, Vec<&PiStatus>> = HashMap::new();
    for told in &pis.told {
        open.entry(&told.session).or_default().push(told);
    }
    open.values_mut().for_each(|told| told.sort_by_key(|told| told.urgency()));
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
    let runs = dirs.into_iter().map(|dir| format!("A pi is running in {}", shorten(dir, home)));
    let written = others.into_iter().filter(|session| is_fresh(session, now)).map(|session| {
        let what = called(session, sessions.len(), "The file");
        let seconds = usize::try_from((now - session.mtime) / 1000).unwrap_or_default();
        match seconds {
            0 => format!("{what} was modified just now; a pi may be using it"),
            _ => format!("{what} was modified {} ago; a pi may be using it", count(seconds, "second", "seconds")),
        }
    });
    told.into_iter().chain(runs).chain(written).collect()
}

/// Returns `true` if a pi reports that it has a session open.
pub(crate) fn is_open(session: &Digest, pis: &RunningPis) -> bool {
    pis.told.iter().any(|told| told.session == session.path || told.session == *session.real_path())
}

/// Returns the name of a session in a message about `among` sessions; `it` names the only one.
fn called(session: &Digest, among: usize, it: &str) -> String {
    match among {
        1 => it.into(),
        _ => format!("\"{}\"", UNICODE.cut(&clean(session.title()), TITLE)),
    }
}

/// Describes the status of a pi.
fn told_in_words(session: &Digest, told: &PiStatus, among: usize, now: i64) -> String {
    let (pid, state, lasting) = (told.pid, told.state.name(), time::duration_since(now, told.since));
    format!("pi (pid {pid}) has {} open: {state} {lasting}", called(session, among, "it"))
}

/// Returns the number of pis in the directory of a session.
fn runs_in(pis: &RunningPis, session: &Digest) -> usize {
    let cwd = Path::new(&session.header.cwd);
    pis.by_dir.get(cwd).copied().unwrap_or_default()
}

/// Returns `true` if a session was written a moment ago. Both the file and its last entry must be recent. Labels and
/// names are ignored, so that copies and changes by pitree do not count.
pub(crate) fn is_fresh(session: &Digest, now: i64) -> bool {
    let is_fresh = |time: i64| (now - time).abs() < MOMENT;
    is_fresh(session.mtime) && session.written.is_some_and(is_fresh)
}
