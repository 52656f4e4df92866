//! `pitree slim`: what it saves, shared entries, refusals, exit codes and undo.

use std::fs;

use serde_json::json;

use crate::command_line::pitree::Pitree;
use crate::common::home::json_lines;
use crate::common::session::Session;

/// Returns a session with 25 snapshots, and a long result before a compaction.
fn session(id: &str) -> Session {
    let session = Session::new(id).user(&format!("{id}-u"), "start");
    let session = session.tool(&format!("{id}-t"), "bash", &json!({"command": "ls"}), &"long ".repeat(4000));
    let session = (0..25).fold(session, |session, at| session.custom(&format!("{id}-s{at}"), "state"));
    session.user(&format!("{id}-k"), "kept").compaction(&format!("{id}-c"), "summary", &format!("{id}-k"))
}

#[test]
fn snapshots_and_results_without_a_reader_are_removed() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&session("first-session"));
    let before = fs::read_to_string(&path).unwrap();
    let planned = pitree.run(&["slim", "first-session", "--dry-run", "--json"]);
    let line = &json_lines(&planned.out)[0];
    assert_eq!(planned.code, 0, "{}", planned.err);
    assert_eq!((&line["id"], &line["outsideContext"]["count"]), (&json!("first-session"), &json!(1)));
    assert_eq!(line["snapshots"][0]["count"], 24);
    assert_eq!(fs::read_to_string(&path).unwrap(), before, "a dry run changes nothing");
    let done = pitree.run(&["slim", "first-session", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("snapshots of state: ") && done.out.contains("slim; original moved to trash"));
    let after = fs::read_to_string(&path).unwrap();
    let saved = before.len() - after.len();
    let planned = line["savedBytes"].as_u64().unwrap() as usize;
    assert!(saved.abs_diff(planned) < 64, "{saved} of {planned} bytes");
    assert!(
        after.contains("[pitree slim: removed 20.0 KB of output]") && after.contains("s24") && !after.contains("s23")
    );
    assert_eq!(pitree.run(&["slim", "first-session", "--yes"]).code, 1, "nothing is left");
    assert_eq!(pitree.run(&["undo"]).code, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn options_keep_parts() {
    let pitree = Pitree::new();
    pitree.write_session(&session("first-session"));
    let saved = |options: &[&str]| {
        let planned = pitree.run(&[&["slim", "first-session", "--dry-run", "--json"], options].concat());
        json_lines(&planned.out)[0]["savedBytes"].as_u64().unwrap()
    };
    let all = saved(&[]);
    let (snapshots, outside) = (saved(&["--no-outside"]), saved(&["--no-snapshots"]));
    assert_eq!(snapshots + outside, all);
    assert_eq!(saved(&["--keep-type", "state"]), outside);
    assert_eq!(saved(&["--outside", "64"]), snapshots);
    assert_eq!(saved(&["--no-outside", "--no-snapshots"]), 0);
    let nothing = pitree.run(&["slim", "first-session", "--yes", "--no-outside", "--no-snapshots"]);
    assert!(nothing.code == 1 && nothing.err.contains("nothing to save"), "{}", nothing.err);
}

#[test]
fn entries_of_a_family_stay() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&session("first-session"));
    let fork = Session::new("second-session")
        .parent(&path)
        .raw(session("first-session").lines())
        .under("first-session-c")
        .user("own", "own");
    pitree.write_session(&fork);
    let tree = |pitree: &Pitree| pitree.run(&["tree", "second-session", "--family"]).out;
    let before = tree(&pitree);
    let done = pitree.run(&["slim", "first-session", "second-session", "--yes"]);
    assert!(done.code == 1 && done.err.contains("other sessions contain too"), "{} {}", done.code, done.err);
    assert_eq!(tree(&pitree), before);
}

#[test]
fn damaged_sessions_are_refused_and_others_slimmed() {
    let pitree = Pitree::new();
    pitree.write_session(&session("first-session"));
    let path = pitree.write("second.jsonl", &(session("second-session").text() + "not json\n"));
    let before = fs::read_to_string(&path).unwrap();
    let done = pitree.run(&["slim", "first-session", "second-session", "--yes"]);
    assert_eq!(done.code, 2, "{} {}", done.out, done.err);
    assert!(done.err.contains("pitree doctor --repair") && done.out.contains("slim; original"), "{}", done.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn forks_moves_and_slim_files_keep_unknown_fields_of_the_header() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&session("more"));
    let fields = r#""metadata":{"team":"web","cwd":5},"odd key":1e999"#;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen('{', &format!("{{{fields},"), 1)).unwrap();
    let is_kept = |path: &str| {
        let text = fs::read_to_string(path).unwrap();
        let header = text.lines().next().unwrap();
        assert!(fields.split(",\"odd").next().is_some_and(|first| header.contains(first)), "{header}");
        assert!(header.contains(r#""odd key":1e999"#), "{header}");
    };
    let slimmed = pitree.run(&["slim", path.to_str().unwrap(), "--yes"]);
    assert_eq!(slimmed.code, 0, "{}", slimmed.err);
    is_kept(path.to_str().unwrap());
    is_kept(pitree.run(&["fork", path.to_str().unwrap(), "more-k"]).out.trim());
    let to = pitree.home().join("elsewhere");
    fs::create_dir(&to).unwrap();
    let moved = pitree.run(&["move", path.to_str().unwrap(), "--to", to.to_str().unwrap(), "--yes", "--json"]);
    assert_eq!(moved.code, 0, "{}", moved.err);
    let listed = pitree.run(&["ls", "--json"]);
    let lines = json_lines(&listed.out);
    let moved = lines.iter().find(|line| line["cwd"] == to.to_str().unwrap()).unwrap();
    is_kept(moved["path"].as_str().unwrap());
}
