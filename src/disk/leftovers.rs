//! Files that interrupted operations of pitree left behind. The next change removes those that it recorded in the journal.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk::create;
use crate::disk::files::entries;
use crate::disk::find::name;
use crate::disk::new_file::DRAFT;
use crate::disk::vacated::VACATED_SUFFIX;

/// The endings of files next to a session while it is written, replaced, archived or restored.
const OF_SESSIONS: [&str; 5] = [DRAFT, VACATED_SUFFIX, create::LATE, create::ORIGINAL, create::REWRITTEN];

/// The endings of files in the state directory.
const OF_STATE: [&str; 2] = [DRAFT, ".invalid"];

/// The number of levels of directories with sessions.
const LEVELS: usize = 2;

/// The age from which a file is not that of a running operation.
const OLD: Duration = Duration::from_secs(3600);

/// The time after which another program no longer writes a draft.
const DRAFTED: Duration = Duration::from_secs(60);

/// Returns the leftovers of pitree in session directories and in the state directory, in order.
pub fn leftovers(dirs: &[PathBuf], state: Option<&Path>) -> Vec<PathBuf> {
    let versions = ["1", "2", "3"].map(|version| create::VERSION.to_owned() + version);
    let is_of_session = |entry: &fs::DirEntry| {
        has(name(&entry.path()), b".jsonl.") && (is_left(entry, &OF_SESSIONS, OLD) || is_left(entry, &versions, OLD))
    };
    let of_state = state.into_iter().flat_map(entries).filter(|entry| is_left(entry, &OF_STATE, OLD));
    let found = files(dirs).into_iter().filter(is_of_session).chain(of_state);
    sorted(found.map(|entry| entry.path()).collect())
}

/// Returns the drafts `.NAME.jsonl.RANDOM.tmp` that other programs left in session directories, in order, with `true` if the
/// session file is missing: its content is only in the draft.
pub fn drafts_of_others(dirs: &[PathBuf]) -> Vec<(PathBuf, bool)> {
    let drafts = files(dirs).into_iter().filter(|entry| is_left(entry, &[".tmp"], DRAFTED));
    let session_file = |path: &Path| {
        let draft = path.file_name()?.to_str()?.strip_prefix('.')?;
        Some(path.with_file_name(&draft[..draft.find(".jsonl.")? + ".jsonl".len()]))
    };
    let is_orphan = |path: &PathBuf| Some(!session_file(path)?.exists());
    let drafts = sorted(drafts.map(|entry| entry.path()).collect());
    drafts.into_iter().filter_map(|path| is_orphan(&path).map(|is_orphan| (path, is_orphan))).collect()
}

/// Returns the files in session directories.
pub(super) fn files(dirs: &[PathBuf]) -> Vec<fs::DirEntry> {
    let (mut found, mut level) = (Vec::new(), dirs.to_vec());
    for _ in 0..LEVELS {
        let all = level.iter().flat_map(|dir| entries(dir));
        let (below, files): (Vec<_>, Vec<_>) = all.partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        level = below.iter().map(fs::DirEntry::path).collect();
        found.extend(files);
    }
    found
}

fn sorted(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    paths
}

fn has(name: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(name, part).is_some()
}

fn is_left(entry: &fs::DirEntry, endings: &[impl AsRef<[u8]>], old: Duration) -> bool {
    let file_name = entry.file_name();
    let is_named = endings.iter().any(|ending| file_name.as_encoded_bytes().ends_with(ending.as_ref()));
    let age = || entry.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?.elapsed().ok();
    is_named && age().is_some_and(|age| age > old)
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
        assert_eq!(leftovers(std::slice::from_ref(&sessions), Some(&state)), [old, archived, converted, invalid]);
        let draft = write(sessions.join("--app--/.a.jsonl.14cf2e87b5dc9d49.tmp"), 7200);
        let orphan = write(sessions.join("--app--/.z.jsonl.14cf2e87b5dc9d49.tmp"), 7200);
        write(sessions.join("--app--/.new.jsonl.14cf2e87b5dc9d49.tmp"), 6);
        write(sessions.join("--app--/.notes.tmp"), 7200);
        assert_eq!(drafts_of_others(&[sessions]), [(draft, false), (orphan, true)]);
    }
}
