//! Files that interrupted operations of pitree left behind. The next change removes those that it recorded in the journal.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk::create;
use crate::disk::find::name;
use crate::disk::new_file::DRAFT;
use crate::disk::vacated::SPARE;

/// The endings of files next to a session while it is written, replaced, archived or restored.
const OF_SESSIONS: [&str; 5] = [DRAFT, SPARE, create::LATE, create::ORIGINAL, create::REWRITTEN];

/// The endings of files in the state directory.
const OF_STATE: [&str; 2] = [DRAFT, ".invalid"];

/// The number of levels of directories with sessions.
const LEVELS: usize = 2;

/// The age from which a file is not that of a running operation.
const OLD: Duration = Duration::from_secs(3600);

/// Returns the leftovers in session directories and in the state directory, in order.
pub fn leftovers(dirs: &[PathBuf], state: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let versions = ["1", "2", "3"].map(|version| create::VERSION.to_owned() + version);
    let mut level: Vec<PathBuf> = dirs.to_vec();
    for _ in 0..LEVELS {
        let mut next = Vec::new();
        for dir in &level {
            for entry in entries(dir) {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    next.push(entry.path());
                } else if has(name(&entry.path()), b".jsonl.")
                    && (is_left(&entry, &OF_SESSIONS) || is_left(&entry, &versions))
                {
                    found.push(entry.path());
                }
            }
        }
        level = next;
    }
    found.extend(
        state.into_iter().flat_map(entries).filter(|entry| is_left(entry, &OF_STATE)).map(|entry| entry.path()),
    );
    found.sort();
    found.dedup();
    found
}

fn entries(dir: impl AsRef<Path>) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(dir).into_iter().flatten().flatten()
}

fn has(name: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(name, part).is_some()
}

fn is_left(entry: &fs::DirEntry, endings: &[impl AsRef<[u8]>]) -> bool {
    let file_name = entry.file_name();
    let is_named = endings.iter().any(|ending| file_name.as_encoded_bytes().ends_with(ending.as_ref()));
    let age = || entry.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?.elapsed().ok();
    is_named && age().is_some_and(|age| age > OLD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::SystemTime;

    #[test]
    fn old_drafts_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let (sessions, state) = (dir.path().join("sessions"), dir.path().join("state"));
        fs::create_dir_all(sessions.join("--app--")).unwrap();
        fs::create_dir_all(&state).unwrap();
        let write = |path: PathBuf, seconds: u64| {
            let file = File::create(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
            path
        };
        let old = write(sessions.join("--app--/a.jsonl.0123456789abcdef.pitree-new"), 7200);
        let invalid = write(state.join("moved.json.invalid"), 7200);
        let archived = write(sessions.join("--app--/c.jsonl.0123456789abcdef.pitree-old"), 7200);
        let converted = write(sessions.join("--app--/d.jsonl.v2"), 7200);
        write(sessions.join("--app--/b.jsonl.0123456789abcdef.pitree-new"), 60);
        write(sessions.join("--app--/a.jsonl"), 7200);
        write(sessions.join("--app--/a.jsonl.rest"), 7200);
        write(sessions.join("notes.new"), 7200);
        assert_eq!(leftovers(&[sessions], Some(&state)), [old, archived, converted, invalid]);
    }
}
