//! Parents of forks in `ls --json`: present, moved and missing.

use std::fs;

use serde_json::json;

use crate::command_line::pitree::Pitree;
use crate::common::session::Session;

#[test]
fn the_parent_of_a_fork_is_present_moved_or_missing() {
    let pitree = Pitree::new();
    let session = Session::new("parent").user("u1", "how it began").assistant("a1", "as it went");
    let custom = pitree.write("custom.jsonl", &session.text());
    let fork = session.clone().forked("fork", &custom, 60).user("u2", "the fork's own");
    let fork = pitree.write_session(&fork);
    let listed = |state: &str, path: Option<&std::path::Path>| {
        assert_eq!(pitree.listed(&fork)["parent"], json!({"state": state, "path": path}));
    };
    listed("present", Some(&custom));
    assert_eq!(pitree.listed(&custom)["parent"], json!(null));
    let renamed = custom.with_file_name("renamed.jsonl");
    fs::rename(&custom, &renamed).unwrap();
    listed("moved", Some(&renamed));
    let owner = pitree.write("owner.jsonl", &Session::new("owner").user("o1", "something else").text());
    let subagent = owner.with_extension("").join("run.jsonl");
    fs::create_dir(subagent.parent().unwrap()).unwrap();
    fs::rename(&renamed, &subagent).unwrap();
    listed("moved", Some(&subagent));
    fs::remove_file(&subagent).unwrap();
    listed("missing", None);
    let outside = tempfile::tempdir().unwrap();
    let outside = dunce::canonicalize(outside.path()).unwrap().join("parent.jsonl");
    fs::write(&outside, session.text()).unwrap();
    let fork = pitree.write_session(&session.forked("other", &outside, 60).user("u3", "the other fork"));
    assert_eq!(pitree.listed(&fork)["parent"], json!({"state": "present", "path": outside}));
}
