//! Compares replayed files with later reads, in the demo sessions and the fixtures, and found commits with git.

#[cfg(unix)]
mod commits;
mod oracle;

use std::fs;
use std::path::PathBuf;

use oracle::Counts;
use serde_json::json;

use crate::common::session::Session;

/// Returns the session files below a directory of the repository.
fn sessions(dir: &str) -> Vec<PathBuf> {
    let mut sessions = Vec::new();
    let mut dirs = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(dir)];
    while let Some(dir) = dirs.pop() {
        for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                sessions.push(path);
            }
        }
    }
    sessions
}

#[test]
fn exact_states_equal_later_reads() {
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for path in ["assets/demo", "fixtures"].into_iter().flat_map(sessions) {
        counts.add(&path, &mut |error| wrong.push(error));
    }
    let written = Session::new("s")
        .tool("1", "write", &json!({"path": "/a", "content": "one\n"}), "done")
        .tool("2", "edit", &json!({"path": "/a", "edits": [{"oldText": "one", "newText": "two"}]}), "done")
        .tool("3", "read", &json!({"path": "/a"}), "two\n");
    let path = tempfile::NamedTempFile::new().unwrap();
    fs::write(&path, written.text()).unwrap();
    counts.add(path.path(), &mut |error| wrong.push(error));
    assert_eq!(wrong, Vec::<String>::new());
    assert!(counts.right > 0 && counts.whole_files * 2 > counts.files, "{counts:?}");
}
