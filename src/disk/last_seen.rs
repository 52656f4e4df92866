//! The file of the newest shown messages in the state directory. Without it, all messages are read.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::state;
use crate::session::last_seen::LastSeen;

fn file(state: &Path) -> PathBuf {
    state.join("seen.json")
}

/// Reads the file. An unreadable one counts as missing.
pub(crate) fn read(state: &Path) -> LastSeen {
    state::read(&file(state)).unwrap_or_default()
}

/// Reads the file, and creates it at the first use: messages until `now` are read. This also holds if it cannot be
/// written.
pub(crate) fn begin(state: &Path, now: i64) -> LastSeen {
    let mut seen = read(state);
    if seen.begin(now) {
        return update(state, |seen| {
            seen.begin(now);
        })
        .unwrap_or(seen);
    }
    seen
}

/// Adds the newest shown messages of sessions to the file. Returns its content.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn write(state: &Path, shown: &BTreeMap<String, i64>) -> io::Result<LastSeen> {
    update(state, |seen| seen.merge(shown))
}

fn update(state: &Path, change: impl FnOnce(&mut LastSeen)) -> io::Result<LastSeen> {
    let mut written = LastSeen::default();
    state::update(&file(state), |seen: &mut LastSeen| {
        change(seen);
        written = seen.clone();
    })?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;
    use crate::disk::state::tests::patiently;

    fn shown(session: &str, modified: i64) -> BTreeMap<String, i64> {
        BTreeMap::from([(session.into(), modified)])
    }

    #[test]
    fn the_first_use_is_stored_and_concurrent_writers_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        assert!(!read(&state).is_unread(|| "a".into(), Some(6)));
        assert!(begin(&state, 5).is_unread(|| "a".into(), Some(6)));
        assert!(!begin(&state, 9).is_unread(|| "a".into(), Some(5)) && read(&state).is_unread(|| "a".into(), Some(6)));
        thread::scope(|scope| {
            for at in 0..8 {
                let state = &state;
                scope.spawn(move || patiently(|| write(state, &shown(&at.to_string(), 10 + at))));
            }
        });
        write(&state, &shown("7", 1)).unwrap();
        let seen = read(&state);
        assert!((0..8).all(|at| !seen.is_unread(|| at.to_string().into(), Some(10 + at))));
        assert!((0..8).all(|at| seen.is_unread(|| at.to_string().into(), Some(11 + at))));
    }

    #[test]
    fn an_invalid_or_newer_file_marks_everything_as_read() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["{", "{\"version\":1,\"since\":\"x\"}", "{\"version\": 2}"] {
            fs::write(file(dir.path()), text).unwrap();
            let seen = begin(dir.path(), 5);
            assert!(!seen.is_unread(|| "a".into(), Some(5)) && seen.is_unread(|| "a".into(), Some(6)));
        }
        assert_eq!(fs::read_to_string(file(dir.path())).unwrap(), "{\"version\": 2}");
        assert!(write(dir.path(), &shown("a", 6)).is_err());
    }
}
