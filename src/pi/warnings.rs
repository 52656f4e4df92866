//! Warnings before a session is changed, moved or resumed while a pi may be using it.

use std::path::Path;

use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::{UNICODE, clean};
use crate::base::time;
use crate::pi::running::{self, RunningPis};
use crate::pi::status::ClosedSession;
use crate::session::digest::Digest;

/// The time in milliseconds after a write during which a session counts as active.
pub(crate) const MOMENT: i64 = 120_000;

/// The warning for moving the file of a running pi to the trash.
pub(crate) const LOSES: &str = "If pi loses its session file, it keeps writing to a new file that cannot be opened. Restoring the session merges both. Quit that pi first.";

/// The width of a title in a sentence, in columns.
const TITLE: usize = 60;

/// Describes the evidence that a pi is active in any of some sessions, one sentence each. Every pi in
/// the directory of a session counts, because its session is a guess.
pub(crate) fn running_pi_evidence(sessions: &[&Digest], pis: &RunningPis, now: i64, home: &str) -> Vec<String> {
    // `it` names the only session.
    let called = |session: &Digest, it: &str| match sessions {
        [_] => it.into(),
        _ => format!("\"{}\"", UNICODE.cut(&clean(session.title()), TITLE)),
    };
    let open = running::by_session(&pis.reported);
    let open_at = |session: &Digest| open.get(&*session.path).or_else(|| open.get(&**session.real_path()));
    let (mut reported, mut running, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for &session in sessions {
        match open_at(session) {
            Some(pis) => reported.extend(pis.iter().map(|pi| {
                let (state, lasting) = (pi.state.name(), time::duration_since(now, pi.since));
                format!("pi (pid {}) has {} open: {state} {lasting}", pi.pid, called(session, "it"))
            })),
            None if pis.by_dir.contains_key(Path::new(&session.header.cwd)) => running.push(session),
            None => others.push(session),
        }
    }
    let mut dirs: Vec<&str> = running.iter().map(|session| session.header.cwd.as_str()).collect();
    dirs.sort_unstable();
    dirs.dedup();
    let runs = dirs.into_iter().map(|dir| format!("A pi is running in {}", shorten(dir, home)));
    let written = others.into_iter().filter(|session| is_fresh(session, pis, now)).map(|session| {
        let what = called(session, "The file");
        let seconds = usize::try_from((now - session.mtime) / 1000).unwrap_or_default();
        match seconds {
            0 => format!("{what} was modified just now; a pi may be using it"),
            _ => format!("{what} was modified {} ago; a pi may be using it", count(seconds, "second", "seconds")),
        }
    });
    reported.into_iter().chain(runs).chain(written).collect()
}

/// Returns `true` if a pi reports that it has a session open.
pub(crate) fn is_open(session: &Digest, pis: &RunningPis) -> bool {
    pis.reported.iter().any(|pi| pi.session == session.path || pi.session == *session.real_path())
}

/// Returns `true` if a session was written a moment ago, and not closed since. Both the file and its last entry must be
/// recent. Labels, names and context edits are ignored, so that copies and changes by pitree do not count.
pub(crate) fn is_fresh(session: &Digest, pis: &RunningPis, now: i64) -> bool {
    let is_closed = |closed: &ClosedSession| {
        closed.at >= session.mtime && (closed.session == session.path || closed.session == *session.real_path())
    };
    is_moment(session.mtime, now)
        && session.written.is_some_and(|written| is_moment(written, now))
        && !pis.closed.iter().any(is_closed)
}

/// Returns `true` if a time is about now; both are in milliseconds since 1970.
pub(crate) fn is_moment(time: i64, now: i64) -> bool {
    (now - time).abs() < MOMENT
}
