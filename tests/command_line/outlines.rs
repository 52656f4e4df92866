//! Commands that list items of all sessions: labels, files.

use serde_json::{Value, json};

use crate::command_line::pitree::{Outcome, Pitree};
use crate::common::session::Session;

/// Creates two sessions of one project and one of another.
fn touched() -> Pitree {
    let pitree = Pitree::new();
    let path = |path: &str| json!({ "path": path });
    let app = Session::new("app").cwd("/w/app").call("1", "read", &path("src/a.rs"));
    let app = app.call("2", "edit", &path("./src/a.rs")).under("1").call("3", "write", &path("b.rs"));
    pitree.write_session(&app);
    let sub = Session::new("sub").cwd("/w/app/sub").at(3);
    pitree.write_session(&sub.call("4", "read", &path("../src/a.rs")));
    let other = Session::new("other").cwd("/w/application").at(4);
    pitree.write_session(&other.call("5", "read", &path("src/a.rs")));
    pitree
}

fn paths(files: &[Value]) -> Vec<&str> {
    files.iter().map(|file| file["path"].as_str().unwrap()).collect()
}

#[test]
fn a_tree_with_thousands_of_levels_stays_readable() {
    let pitree = Pitree::new();
    // Each prompt has two children, the first of which continues.
    let branch = |session: Session, at: usize| {
        let (end, next) = (format!("end {at}"), format!("next {at}"));
        let above = at.checked_sub(1).map_or("root".into(), |at| format!("next {at}"));
        session.user(&end, &end).under(&above).user(&next, &next).under(&above)
    };
    let session = (0..2000).fold(Session::new("deep").user("root", "root"), branch);
    let path = pitree.write_session(&session);
    let tree = pitree.print(&["tree", path.to_str().unwrap()]);
    assert!(tree.lines().all(|line| line.chars().count() < 300 && line.contains("user: ")), "{}", tree.len());
    assert!(tree.contains("• user: next 1999  ← leaf") && tree.lines().any(|line| line.starts_with('…')));
}

#[test]
fn files_are_listed_once_however_they_were_named() {
    let pitree = touched();
    let files = pitree.objects(&["files", "--json"]);
    assert_eq!(paths(&files), ["/w/application/src/a.rs", "/w/app/src/a.rs", "/w/app/b.rs"]);
    let wanted = json!({"path": "/w/app/src/a.rs", "reads": 2, "changes": 1, "sessions": 2, "lastTouched": "2026-01-05T09:00:04.000Z"});
    assert_eq!(files[1], wanted);
    let table = pitree.print(&["files"]);
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().skip(1).collect();
    assert_eq!(row.join(" "), "2 read 1 changed 2 sessions /w/app/src/a.rs");
}

#[test]
fn files_of_a_project_or_a_session() {
    let pitree = touched();
    assert_eq!(paths(&pitree.objects(&["files", "--project", "/w/app", "--json"])), ["/w/app/src/a.rs", "/w/app/b.rs"]);
    let nothing = pitree.run(&["files", "--project", "/w/nothing"]);
    assert_eq!((nothing.code, nothing.err.contains("/w/nothing")), (1, true));
    assert!(pitree.refuse(&["files", "nothing"]).contains("nothing"));
    let files = pitree.objects(&["files", "app", "--json"]);
    assert_eq!(paths(&files), ["/w/app/b.rs", "/w/app/src/a.rs"]);
    let time = |second: u8| format!("2026-01-05T09:00:0{second}.000Z");
    assert_eq!(
        files[1]["entries"],
        json!([
            {"id": "1", "touch": "read", "active": true, "timestamp": time(1)},
            {"id": "2", "touch": "edit", "active": false, "timestamp": time(2)},
        ])
    );
    let Outcome { code, err, .. } = pitree.run(&["files", "app", "--project", "/w/app"]);
    assert!(code == 2 && err.contains("--project"), "{err}");
    pitree.write("no.jsonl", "{}\n");
    let path = pitree.home().join(crate::command_line::pitree::SESSIONS).join("no.jsonl");
    assert!(pitree.refuse(&["files", path.to_str().unwrap()]).contains("not a pi session"));
}

#[test]
fn labels_of_all_sessions_are_listed() {
    let pitree = Pitree::new();
    // The entries of a session are a second apart.
    let one = Session::new("one").user("a", "Say a").label("l", "a", "works");
    let path = pitree.write_session(&one.under("a").user("b", "Say b").under("a").label("m", "b", "left"));
    let two = Session::new("two").at(3).user("a", "Say a").label("l", "a", "gone").label("m", "a", "");
    pitree.write_session(&two);
    let three = Session::new("three").at(1).user("a", "Say a").label("l", "a", "\u{1b}[31mred");
    pitree.write_session(&three);
    let labels = pitree.objects(&["labels", "--json"]);
    let names: Vec<&str> = labels.iter().map(|label| label["label"].as_str().unwrap()).collect();
    assert_eq!(names, ["left", "\u{1b}[31mred", "works"]);
    let wanted = json!({
        "label": "left", "path": path, "id": "one", "title": "Say a", "entryId": "b", "text": "Say b",
        "active": false, "labelled": "2026-01-05T09:00:04.000Z", "forks": 0,
    });
    assert_eq!(labels[0], wanted);
    assert_eq!(labels[2]["active"], true);
    let table = pitree.print(&["labels"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split_whitespace().skip(1).collect()).collect();
    assert_eq!(rows[0].join(" "), "left one Say a Say b");
    assert!(!table.contains('\u{1b}'), "{table:?}");
}

/// Creates a session and a fork that continues, as pi writes them: the label in the fork is a new entry.
fn forked() -> Pitree {
    let pitree = Pitree::new();
    let read = json!({"path": "a.rs"});
    let head = |session: Session| session.cwd("/w").user("a", "Say a").call("b", "read", &read);
    pitree.write_session(&head(Session::new("one")).label("l", "a", "works"));
    let fork = head(Session::new("two")).label("m", "a", "works").under("b").call("c", "read", &read);
    pitree.write_session(&fork);
    pitree
}

#[test]
fn entries_shared_with_a_fork_are_listed_once() {
    let pitree = forked();
    let labels = pitree.objects(&["labels", "--json"]);
    assert_eq!(labels.len(), 1);
    assert_eq!((&labels[0]["id"], &labels[0]["forks"]), (&json!("one"), &json!(1)));
    assert!(pitree.print(&["labels"]).contains("Say a  in 1 fork  "));
    let files = pitree.objects(&["files", "--json"]);
    assert_eq!((&files[0]["reads"], &files[0]["sessions"]), (&json!(2), &json!(2)));
    let of_one = pitree.objects(&["files", "two", "--json"]);
    assert_eq!(of_one[0]["entries"].as_array().map(Vec::len), Some(2), "of one session all of them");
}

#[test]
fn project_names_are_consistent() {
    let pitree = touched();
    for args in [&["files"][..], &["ls"], &["search", "re:."]] {
        let lines = |project: &[&str]| pitree.objects(&[args, &["--json"], project].concat());
        let whole = lines(&["--project", "/w/app"]);
        assert!(!whole.is_empty() && whole.len() < lines(&[]).len(), "{args:?}");
        for name in ["app", "APP", "w/app", "/w/app/"] {
            assert_eq!(lines(&["--project", name]), whole, "{args:?} {name}");
        }
    }
}
