//! Pins, tags and notes: changes, undo, queries, export and import.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::command_line::pitree::Pitree;
use crate::common::home::json_lines;
use crate::common::session::{START, Session};

fn pitree() -> Pitree {
    let pitree = Pitree::new();
    for id in ["aaaaaa", "bbbbbb"] {
        pitree.write_session(&Session::new(id).user("u1", "Begin").assistant("a1", "Begun"));
    }
    pitree
}

#[test]
fn pins_can_be_undone_and_redone() {
    let pitree = pitree();
    let files = pitree.files();
    let said = pitree.print(&["pin", "aaaaaa", "bbbbbb"]);
    assert_eq!(said.lines().map(|line| line.split("  ").next().unwrap()).collect::<Vec<_>>(), ["pin", "pin"]);
    assert_eq!(pitree.print(&["pin", "aaaaaa"]), "the marks are already set like this\n");
    assert!(pitree.print(&["unpin", "aaaaaa", "--dry-run"]).starts_with("would: unpin  "));
    assert!(pitree.print(&["unpin", "aaaaaa"]).starts_with("unpin  "));
    assert!(pitree.print(&["undo"]).starts_with("undone: unpin  "));
    pitree.print(&["undo"]);
    let of_sessions = |files: std::collections::BTreeMap<_, _>| -> Vec<_> {
        files
            .into_iter()
            .filter(|(path, _): &(std::path::PathBuf, _)| path.extension().is_some_and(|is| is == "jsonl"))
            .collect()
    };
    assert_eq!(of_sessions(pitree.files()).len(), of_sessions(files).len() + 1, "only the journal is new");
    let line = &pitree.objects(&["redo", "--json"])[0];
    assert_eq!(
        json!([line["step"], line["kind"], line["session"], line["mark"], line["before"], line["after"], line["done"]]),
        json!(["redo", "mark", "aaaaaa@1767603600000", "pin", null, true, true])
    );
    let listed = pitree.print(&["undo", "--list"]);
    assert!(listed.contains("pin") && listed.contains("2 sessions, such as Begin"), "{listed}");
}

#[test]
fn one_command_sets_and_prints_marks() {
    let pitree = pitree();
    let said =
        pitree.print(&["mark", "aaaaaa", "bbbbbb", "--pin", "--tag", "release", "--tag", "+v1", "--note", "again"]);
    assert_eq!(said.lines().count(), 8, "{said}");
    pitree.print(&["mark", "bbbbbb", "--unpin", "--untag", "v1", "--note", ""]);
    pitree.print(&["mark", "bbbbbb@u1", "--note", "on an entry"]);
    assert_eq!(pitree.print(&["mark", "aaaaaa"]), "+release\n+v1\npinned\nagain\n");
    assert_eq!(pitree.print(&["mark", "bbbbbb"]), "+release\n");
    assert_eq!(pitree.print(&["mark", "bbbbbb@u1"]), "on an entry\n");
    let marks = pitree.objects(&["mark", "aaaaaa", "--json"]);
    assert_eq!(json!([marks[0]["tag"], marks[1]["tag"], marks.len()]), json!(["release", "v1", 2]));
    assert!(pitree.refuse(&["mark", "bbbbbb@u1", "--pin"]).contains("an entry can only have a note"));
    assert!(pitree.refuse(&["mark", "--pin"]).contains("name a session"));
    assert!(pitree.refuse(&["mark", "aaaaaa", "--pin", "--export"]).contains("cannot be used with"));
    let file = pitree.home().join("marks.json");
    pitree.print(&["mark", "--export", file.to_str().unwrap()]);
    assert_eq!(pitree.print(&["mark", "--import", file.to_str().unwrap()]), "the marks are already set like this\n");
}

#[test]
fn sessions_with_messages_that_the_browser_did_not_show_are_unread() {
    let pitree = pitree();
    assert_eq!(pitree.run(&["ls", "is:unread"]).code, 1);
    let file = pitree.home().join(".local/state/pitree/seen.json");
    assert!(!file.exists(), "the browser defines the first use");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let seen = |since: i64| json!({"version": 1, "since": since, "sessions": {"aaaaaa": (START + 60) * 1000}});
    fs::write(&file, seen(1000).to_string()).unwrap();
    let unread = |query: &[&str]| -> Vec<_> {
        let lines = pitree.objects(&[&["ls", "--json"], query].concat());
        lines.into_iter().filter(|line| line["unread"] == true).map(|line| line["id"].clone()).collect()
    };
    assert_eq!((unread(&["is:unread"]), unread(&[])), (vec![json!("bbbbbb")], vec![json!("bbbbbb")]));
    assert_eq!(pitree.objects(&["ls", "--json", "Begin -is:unread"])[0]["id"], "aaaaaa");
    fs::write(&file, seen((START + 60) * 1000).to_string()).unwrap();
    assert!(unread(&[]).is_empty());
    fs::write(&file, seen(1000).to_string()).unwrap();
    pitree.print(&["mark", "bbbbbb", "--read", "--dry-run"]);
    assert_eq!(unread(&[]).len(), 1);
    pitree.print(&["mark", "bbbbbb", "--read"]);
    assert!(unread(&[]).is_empty());
    fs::write(&file, "{").unwrap();
    assert_eq!((unread(&[]).len(), fs::read_to_string(&file).unwrap().as_str()), (0, "{"));
}

#[test]
fn tags_are_added_and_removed() {
    let pitree = pitree();
    pitree.print(&["tag", "aaaaaa", "bbbbbb", "+release", "+draft"]);
    let said = pitree.print(&["tag", "aaaaaa", "-draft", "+v1", "--json"]);
    assert_eq!(said.lines().filter(|line| line.starts_with('{')).count(), 2, "{said}");
    assert_eq!(pitree.print(&["tag", "aaaaaa"]), "+release\n+v1\n");
    assert!(pitree.print(&["tag", "--dry-run", "aaaaaa", "--remove", "v1"]).starts_with("would: remove tag +v1  "));
    assert!(pitree.refuse(&["ls", "-v1"]).contains("unexpected argument"));
    assert_eq!(pitree.objects(&["tag", "bbbbbb", "--json"])[0]["tag"], "draft");
    assert!(pitree.refuse(&["tag", "+x"]).contains("name a session"));
    assert!(pitree.refuse(&["tag", "aaaaaa", "+a b"]).contains("a tag has no spaces"));
    pitree.print(&["undo"]);
    assert_eq!(pitree.print(&["tag", "aaaaaa"]), "+draft\n+release\n");
    // A tag can start like an option.
    pitree.print(&["tag", "aaaaaa", "+hotfix", "+Verified"]);
    pitree.print(&["tag", "aaaaaa", "-hotfix", "-Verified"]);
    assert_eq!(pitree.print(&["tag", "aaaaaa"]), "+draft\n+release\n");
    assert!(pitree.print(&["tag", "-h"]).contains("Usage"));
    for _ in 0..2 {
        pitree.print(&["undo"]);
    }
    assert_eq!(pitree.run(&["undo"]).code, 0);
    assert_eq!(pitree.run(&["tag", "aaaaaa"]).code, 1);
}

#[test]
fn sessions_and_entries_have_notes() {
    let pitree = pitree();
    assert_eq!(pitree.run(&["note", "aaaaaa"]).code, 1);
    pitree.print(&["note", "aaaaaa", "a\nb\u{1b}[31m"]);
    pitree.print(&["note", "aaaaaa@u1", "--", "- on the entry"]);
    assert_eq!(pitree.print(&["note", "aaaaaa"]), "a\nb [31m\n");
    assert_eq!(pitree.print(&["note", "aaaaaa@u1"]), "- on the entry\n");
    let said = pitree.print(&["note", "aaaaaa@u1", ""]);
    assert!(said.starts_with("clear note on u1 (was \"- on the entry\")  "), "{said}");
    assert_eq!(pitree.run(&["note", "aaaaaa@u1"]).code, 1);
    assert!(pitree.refuse(&["note", "aaaaaa@nope", "x"]).contains("nope"));
}

#[test]
fn marks_are_listed_and_searched() {
    let pitree = pitree();
    pitree.print(&["tag", "aaaaaa", "+release"]);
    pitree.print(&["pin", "aaaaaa"]);
    pitree.print(&["note", "aaaaaa", "Flaky on CI"]);
    pitree.print(&["note", "bbbbbb@u1", "ask again"]);
    let ids = |query: &str| -> Vec<String> {
        let listed = pitree.run(&["ls", "--json", query]).out;
        let lines = listed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.map(|line| line["id"].as_str().unwrap().to_owned()).collect()
    };
    for (query, found) in [
        ("is:pinned", &["aaaaaa"][..]),
        ("tag:rel", &["aaaaaa"]),
        ("tag:x", &[]),
        ("note:flaky", &["aaaaaa"]),
        ("note:again", &["bbbbbb"]),
        ("has:note -is:pinned", &["bbbbbb"]),
        ("has:tag", &["aaaaaa"]),
    ] {
        assert_eq!(ids(query), found, "{query}");
    }
    let listed = pitree.objects(&["ls", "--json", "is:pinned"]);
    assert_eq!(
        json!([listed[0]["pinned"], listed[0]["tags"], listed[0]["note"]]),
        json!([true, ["release"], "Flaky on CI"])
    );
    assert!(pitree.refuse(&["search", "has:x"]).contains("known: note, tag"));
    let groups = pitree.objects(&["stats", "--by", "tag", "--json"]);
    let groups: Vec<&serde_json::Value> = groups.iter().map(|group| &group["key"]).collect();
    assert_eq!(json!(groups), json!(["release", null]));
    // A list is complete without marks, and a search is not.
    let file = pitree.files().into_keys().find(|path| path.ends_with("marks.json")).unwrap();
    fs::write(pitree.home().join(file), "{").unwrap();
    let listed = pitree.run(&["ls", "--json"]);
    assert_eq!((listed.code, listed.out.lines().count()), (0, 2));
    assert!(listed.err.contains("fix, rename or delete the file"), "{}", listed.err);
    assert!(pitree.refuse(&["search", "is:pinned"]).contains("cannot read the marks of sessions"));
    assert!(pitree.refuse(&["pin", "bbbbbb"]).contains("cannot read the marks of sessions"));
}

#[test]
fn marks_are_exported_and_imported() {
    let pitree = pitree();
    pitree.print(&["tag", "aaaaaa", "+release"]);
    pitree.print(&["note", "bbbbbb", "theirs"]);
    let file = pitree.home().join("marks.json");
    let name = file.to_str().unwrap();
    pitree.print(&["marks", "export", name]);
    assert!(pitree.refuse(&["marks", "export", name]).contains("cannot create"));
    assert_eq!(pitree.print(&["marks", "export"]), fs::read_to_string(&file).unwrap());
    pitree.print(&["note", "bbbbbb", "ours"]);
    pitree.print(&["tag", "aaaaaa", "-release", "+own"]);
    let said = pitree.print(&["marks", "import", name]);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert_eq!(pitree.print(&["tag", "aaaaaa"]), "+own\n+release\n");
    assert_eq!(pitree.print(&["note", "bbbbbb"]), "theirs\n");
    pitree.print(&["undo"]);
    assert_eq!(pitree.print(&["note", "bbbbbb"]), "ours\n");
    fs::write(&file, r#"{"version":1,"sessions":{"gone":{"pin":true,"later":[1]}}}"#).unwrap();
    assert!(pitree.print(&["marks", "import", name]).contains("pin of session gone"));
    assert!(pitree.print(&["marks", "export", "-"]).contains("\"later\": ["));
    for (text, why) in [
        ("{\"version\":9}", "was written by a newer pitree"),
        ("{", "not valid"),
        (r#"{"sessions":{"x":{"tag:a b":true}}}"#, "invalid tag"),
        (r#"{"sessions":{"x":{"note":1}}}"#, "is not text"),
        (r#"{"sessions":{"x":{"note":" "}}}"#, "is empty"),
        (r#"{"sessions":{"x":{"pin":false}}}"#, "must be true"),
    ] {
        fs::write(&file, text).unwrap();
        let said = pitree.refuse(&["marks", "import", name]);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn sessions_with_the_same_chosen_id_have_their_own_marks() {
    let pitree = Pitree::new();
    let header =
        |day: u32| Session::new("review").text().replace("2026-01-05T09:00:00", &format!("2026-01-0{day}T09:00:00"));
    let [one, other] = [5, 6].map(|day| {
        let entry = Session::new("review").user(&format!("u{day}"), "hello").lines().to_string();
        pitree.write(&format!("{day}.jsonl"), &(header(day) + &entry))
    });
    pitree.print(&["pin", one.to_str().unwrap()]);
    pitree.print(&["note", one.to_str().unwrap(), "mine"]);
    pitree.print(&["tag", other.to_str().unwrap(), "+theirs"]);
    let sessions = json_lines(&pitree.print(&["ls", "--json"]));
    let marks = |path: &Path| {
        let session = sessions.iter().find(|session| session["path"].as_str() == path.to_str()).unwrap();
        (session["pinned"] == true, session["note"].as_str(), session["tags"].as_array().unwrap().len())
    };
    assert_eq!((marks(&one), marks(&other)), ((true, Some("mine"), 0), (false, None, 1)));
    assert_eq!(pitree.run(&["doctor", "--notes"]).err, "no problem in 2 files\n");
    assert_eq!(json_lines(&pitree.print(&["search", "is:pinned", "--json"])).len(), 2);
}
