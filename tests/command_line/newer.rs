//! Sessions of a newer version than pitree supports: their readable part is shown, and nothing is written to them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::command_line::pitree::Pitree;
use crate::common::session::Session;

/// Version 4 in the format of pi's core (0.87.1): related entries share one line; names, labels and leaves are values.
const FOURTH: &str = r#"{"v":4,"kind":"header","id":"fourth","storageVersion":1,"createdAt":1767603600000,"cwd":"/home/dev/app","parentSessionId":"third"}
{"kind":"value","op":"set","seq":1,"namespace":"pi.branch.tip","key":"main","value":null}
[{"kind":"entry","id":"u1","parentId":null,"type":"message","message":{"role":"user","content":"Fix the login","timestamp":1767603601000},"seq":2,"timestamp":1767603601000},{"kind":"value","op":"set","seq":3,"namespace":"pi.branch.tip","key":"main","value":"u1"}]
[{"kind":"entry","id":"a1","parentId":"u1","type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Fixed."}],"model":"m","stopReason":"stop","usage":{"totalTokens":2,"cost":{"total":0.5}},"timestamp":1767603602000},"seq":4,"timestamp":1767603602000},{"kind":"usage","id":"x","usage":{"cost":{"total":0.5}},"adjustment":false,"seq":5},{"kind":"value","op":"set","seq":6,"namespace":"pi.branch.tip","key":"main","value":"a1"}]
{"kind":"value","op":"set","seq":7,"namespace":"pi.session.name","key":"","value":"A name"}
{"kind":"entry","id":"c1","parentId":"a1","type":"custom","customType":"note","data":{"to":"find"},"seq":8,"timestamp":1767603603000}
"#;

/// Returns a version 4 session in the format of version 3, and [`FOURTH`].
fn newer(pitree: &Pitree) -> [(&'static str, std::path::PathBuf); 2] {
    let third = Session::new("third").user("u1", "Fix the login").assistant("a1", "Fixed.").text();
    let third = pitree.write("third.jsonl", &third.replace("\"version\":3", "\"version\":4"));
    [("third", third), ("fourth", pitree.write("fourth.jsonl", FOURTH))]
}

fn says_why(said: &str, path: &Path) {
    let why = format!("{} has format version 4, which is newer than pitree", path.display());
    assert!(said.contains(&why) && said.contains("update pitree"), "{said}");
}

#[test]
fn the_readable_part_is_shown() {
    let pitree = Pitree::new();
    let [(_, third), (_, fourth)] = newer(&pitree);
    let listed = pitree.listed(&fourth);
    let fields = ["id", "cwd", "created", "firstMessage", "entryCount", "version", "cost", "modified"];
    let wanted = json!([
        "fourth",
        "/home/dev/app",
        "2026-01-05T09:00:00.000Z",
        "Fix the login",
        3,
        4,
        0.5,
        "2026-01-05T09:00:02.000Z"
    ]);
    assert_eq!(json!(fields.map(|field| &listed[field])), wanted);
    let problems = |path| pitree.listed(path)["problems"].to_string();
    assert!([&third, &fourth].into_iter().all(|path| problems(path).contains("unsupported format version 4")));
    let rows = pitree.run(&["tree", "fourth", "--filter", "all"]);
    assert_eq!(rows.out, "• user: Fix the login\n• assistant: Fixed.  ← leaf\n[custom: note]\n");
    assert!(rows.err.contains("unsupported format"), "{}", rows.err);
    let hits = |query: &str| pitree.run(&["search", query, "--json"]).out.matches("\"type\":\"hit\"").count();
    assert_eq!(["is:newer login", "is:damaged login", "is:fork login", "all:find"].map(hits), [2, 0, 1, 1]);
}

#[test]
fn no_command_writes_to_newer_sessions() {
    let pitree = Pitree::new();
    for (session, path) in newer(&pitree) {
        for args in [
            &["rename", session, "new"][..],
            &["rename", session, "new", "--dry-run"],
            &["rename", session, ""],
            &["label", session, "u1", "here"],
            &["label", session, "u1", "here", "--migrate"],
            &["label", session, "u1", "here", "--dry-run"],
            &["fork", session, "u1"],
            &["fork", session, "u1", "--dry-run"],
            &["resume", session, "u1", "--print"],
            &["resume", session, "u1", "--print", "--migrate"],
            &["resume", session, "u1", "--dry-run"],
            &["resume", session, "u1", "--fork", "--print"],
            &["resume", session, "--fork", "--print"],
        ] {
            says_why(&pitree.refuse(args), &path);
        }
        let before = pitree.files();
        let outcome = pitree.run(&["resume", session, "--print"]);
        assert!(outcome.code == 0 && outcome.out.contains(path.to_str().unwrap()), "{}", outcome.err);
        assert!(before == pitree.files());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_entire_file_is_trashed_and_restored() {
    let pitree = Pitree::new();
    for (session, path) in newer(&pitree) {
        let text = fs::read(&path).unwrap();
        pitree.print(&["rm", session, "--yes"]);
        assert!(!path.exists());
        pitree.print(&["undo"]);
        assert_eq!(fs::read(&path).unwrap(), text);
        pitree.print(&["redo"]);
        pitree.print(&["restore", session]);
        assert_eq!(fs::read(&path).unwrap(), text);
    }
}

#[test]
fn undo_skips_files_rewritten_by_a_newer_pi() {
    let pitree = Pitree::new();
    let other = pitree.write_session(&Session::new("other").user("u1", "Hello"));
    let path = pitree.write_session(&Session::new("fourth").user("u1", "Fix the login"));
    let before = fs::read(&other).unwrap();
    pitree.print(&["rename", "other", "first"]);
    pitree.print(&["rename", "fourth", "second"]);
    fs::write(&path, FOURTH).unwrap();
    for args in [&["undo", "--dry-run"][..], &["undo"]] {
        let outcome = pitree.run(args);
        assert_eq!(outcome.code, 2, "{}", outcome.err);
        says_why(&outcome.err, &path);
        assert_eq!(fs::read_to_string(&path).unwrap(), FOURTH);
    }
    pitree.print(&["undo"]);
    assert!(fs::read(&other).unwrap().len() > before.len());
    assert_eq!(pitree.listed(&other)["name"], Value::Null);
}

#[test]
#[cfg(target_os = "linux")]
fn forks_and_migrated_files_rewritten_by_a_newer_pi_stay() {
    let pitree = Pitree::new();
    pitree.write_session(&Session::new("whole").user("u1", "Fix the login").assistant("a1", "Fixed."));
    let fork = pitree.run(&["fork", "whole", "a1"]).out;
    let old = pitree.write_session(&Session::new("old").version(2).user("u1", "Hello"));
    pitree.print(&["label", "old", "u1", "here", "--migrate"]);
    for path in [Path::new(fork.trim_end()), &old] {
        let bytes = fs::read(path).unwrap();
        // Shorter than the content that pitree wrote.
        let header = r#"{"v":4,"kind":"header","id":"w","storageVersion":1,"createdAt":1,"cwd":"/"}"#;
        assert!(header.len() < bytes.len());
        fs::write(path, header).unwrap();
        let number = if path == old { "2" } else { "1" };
        let outcome = pitree.run(&["undo", number]);
        assert_eq!((outcome.code, fs::read_to_string(path).unwrap().as_str()), (2, header), "{}", outcome.err);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn old_files_rewritten_by_a_newer_pi_are_not_replaced() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&Session::new("old").version(2).user("u1", "Hello"));
    let before = fs::read(&path).unwrap();
    pitree.print(&["label", "old", "u1", "here", "--migrate"]);
    pitree.print(&["undo"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::write(&path, FOURTH).unwrap();
    let outcome = pitree.run(&["redo"]);
    assert_eq!((outcome.code, fs::read_to_string(&path).unwrap().as_str()), (2, FOURTH));
    says_why(&outcome.err, &path);
}
