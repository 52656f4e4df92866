//! `pitree clean`: suggestions and their changes.

use std::collections::BTreeMap;
use std::fs;

use crate::command_line::pitree::Pitree;
use crate::common::home::{long_ago, set_modified};
use crate::common::session::Session;

/// Returns the IDs or file names that each rule suggests.
fn suggested(pitree: &Pitree, args: &[&str]) -> BTreeMap<String, Vec<String>> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_string();
    let lines = pitree.objects(&[&["clean", "--dry-run", "--json"], args].concat());
    let of_line = |line: &serde_json::Value| {
        let sessions = line["sessions"].as_array().unwrap().iter().map(|session| text(&session["id"]));
        let files = line["files"].as_array().unwrap().iter();
        let files = files.map(|file| text(&file["path"]).rsplit('/').next().unwrap().to_string());
        let mut all: Vec<String> = sessions.chain(files).collect();
        assert_eq!(line["count"].as_u64().unwrap() as usize, all.len());
        all.sort();
        (text(&line["rule"]), all)
    };
    lines.iter().map(of_line).collect()
}

/// Creates sessions that were last used long ago.
fn home() -> Pitree {
    let pitree = Pitree::new();
    let parent = Session::new("parent").user("p1", "begin").assistant("p2", "done");
    let path = pitree.write_session(&parent);
    let unused = parent.clone().forked("unused", &path, 100);
    let used = parent.forked("used", &path, 100).user("x1", "more").assistant("x2", "yes");
    for session in [
        &unused,
        &used,
        &Session::new("silent"),
        &Session::new("unanswered").user("u1", "hello"),
        &Session::new("pinned"),
        &Session::new("tagged").user("t1", "hello"),
        &Session::new("noted").user("n1", "hello"),
        &Session::new("named").user("m1", "hello").name("m2", "Keep"),
        &Session::new("labeled").user("l1", "hello").label("l2", "l1", "here"),
        &Session::new("talk").user("k1", "hello").assistant("k2", "hi"),
    ] {
        pitree.write_session(session);
    }
    fs::copy(&path, path.with_file_name("copy.jsonl")).unwrap();
    pitree.write("talk.jsonl.0123456789abcdef.pitree-new", "left");
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        set_modified(&file.unwrap().path(), long_ago());
    }
    pitree.print(&["pin", "pinned"]);
    pitree.print(&["tag", "tagged", "+keep"]);
    pitree.print(&["note", "noted", "keep"]);
    pitree
}

#[test]
fn each_rule_suggests_its_sessions() {
    let pitree = home();
    let expected = [
        ("duplicates", vec!["parent"]),
        ("empty", vec!["silent", "unanswered"]),
        ("forks", vec!["unused"]),
        ("leftovers", vec!["talk.jsonl.0123456789abcdef.pitree-new"]),
    ];
    let expected: BTreeMap<String, Vec<String>> = expected
        .into_iter()
        .map(|(rule, names)| (rule.into(), names.into_iter().map(String::from).collect()))
        .collect();
    assert_eq!(suggested(&pitree, &[]), expected);
    let only = suggested(&pitree, &["--only", "forks"]);
    assert_eq!(only.keys().collect::<Vec<_>>(), ["forks"]);
    let listed = pitree.print(&["clean", "--dry-run"]);
    assert!(listed.contains("empty") && listed.contains("no prompt"), "{listed}");
}

#[test]
fn suggestions_are_cleaned_up_and_undone() {
    let pitree = home();
    let before = pitree.objects(&["ls", "--json"]).len();
    assert!(pitree.refuse(&["clean"]).contains("--yes"));
    assert!(pitree.refuse(&["clean", "--yes"]).contains("--only"));
    pitree.print(&["clean", "--yes", "--only", "empty", "--only", "forks", "--only", "leftovers"]);
    assert_eq!(pitree.objects(&["ls", "--json"]).len(), before - 3);
    let left = suggested(&pitree, &[]);
    assert_eq!(left.keys().collect::<Vec<_>>(), ["duplicates"]);
    for _ in 0..3 {
        pitree.print(&["undo"]);
    }
    assert_eq!(pitree.objects(&["ls", "--json"]).len(), before);
    assert_eq!(suggested(&pitree, &[]).len(), 4);
}

#[test]
fn recent_sessions_and_parents_of_used_forks_stay() {
    let pitree = Pitree::new();
    let recent = pitree.write_session(&Session::new("recent").user("r1", "hello"));
    set_modified(&recent, std::time::SystemTime::now());
    let parent = Session::new("parent").user("p1", "begin");
    let path = pitree.write_session(&parent);
    let fork = pitree.write_session(&parent.forked("fork", &path, 100).user("x1", "more").assistant("x2", "yes"));
    for path in [&path, &fork] {
        set_modified(path, long_ago());
    }
    assert!(suggested(&pitree, &[]).is_empty());
    let said = pitree.run(&["clean", "--dry-run"]);
    assert_eq!((said.code, &*said.err), (0, "no session to clean up\n"));
}

#[test]
fn old_sessions_of_subagents_are_suggested() {
    let pitree = Pitree::new();
    let owner = pitree.write_session(&Session::new("owner").user("o1", "begin").assistant("o2", "done"));
    let agent = owner.with_extension("").join("run-0/session.jsonl");
    fs::create_dir_all(agent.parent().unwrap()).unwrap();
    fs::write(&agent, Session::new("agent").user("a1", "do").assistant("a2", "done").text()).unwrap();
    for path in [&owner, &agent] {
        set_modified(path, long_ago());
    }
    assert_eq!(suggested(&pitree, &[])["subagents"], ["agent"]);
    assert!(suggested(&pitree, &["--weeks", "5000"]).is_empty());
}
