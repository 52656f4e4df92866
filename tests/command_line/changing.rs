//! Names and labels, undo and redo: appended lines, unchanged files, and refusals.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::command_line::pitree::{Pitree, long_ago};
use crate::common::session::Session;

/// Returns the lines appended to a file. Checks that the earlier content and the file time are unchanged.
fn appended(path: &Path, before: &[u8]) -> Vec<Value> {
    let now = fs::read(path).unwrap();
    assert!(now.starts_with(before), "old bytes changed");
    assert_eq!(fs::metadata(path).unwrap().modified().unwrap(), long_ago());
    let new = String::from_utf8(now[before.len()..].to_vec()).unwrap();
    assert!(new.is_empty() || new.ends_with('\n'), "{new:?}");
    new.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_name_is_one_line_after_the_leaf() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    let before = fs::read(&path).unwrap();
    let said = pitree.print(&["rename", "branches", " A \"new\"\n name\u{7} "]);
    assert_eq!(said, "rename to \"A \\\"new\\\"  name\"  ~/.pi/agent/sessions/--p--/branches.jsonl\n");
    let lines = appended(&path, &before);
    assert_eq!(lines.len(), 1);
    assert_eq!((&lines[0]["type"], &lines[0]["parentId"]), (&"session_info".into(), &"a8".into()));
    assert_eq!(pitree.listed(&path)["name"], "A \"new\"  name");

    assert_eq!(pitree.print(&["rename", "branches", "A \"new\"  name"]), "the session already has this name\n");
    assert_eq!(appended(&path, &before).len(), 1);
    pitree.print(&["rename", path.to_str().unwrap(), ""]);
    assert_eq!(appended(&path, &before).len(), 2);
    assert_eq!(pitree.listed(&path)["name"], Value::Null);

    let most = "é".repeat(10_000);
    assert!(pitree.refuse(&["rename", "branches", &format!("{most}é")]).contains("the maximum is 10000"));
    pitree.print(&["rename", "branches", &most]);
}

#[test]
fn names_and_labels_beside_a_running_pi_create_no_branch() {
    let pitree = Pitree::new();
    let session = Session::new("live").user("u1", "Begin").assistant("a1", "Begun");
    let path = pitree.write_session(&session);
    pitree.print(&["rename", "live", "Named"]);
    pitree.print(&["label", "live", "u1", "here"]);
    // pi holds the session in memory: its next entry is a child of pi's own leaf.
    let before = session.text();
    let after = session.user("u2", "Go on").assistant("a2", "Gone").text();
    let ours = fs::read_to_string(&path).unwrap();
    fs::write(&path, ours + after.strip_prefix(&before).unwrap()).unwrap();
    let listed = pitree.listed(&path);
    assert_eq!(
        json!([listed["name"], listed["labels"], listed["branchPoints"], listed["leaves"]]),
        json!(["Named", 1, 0, 1])
    );
    let found = |query: &str| pitree.run(&["search", query, "--json"]).out.matches("\"type\":\"hit\"").count();
    assert_eq!(["is:branched", "is:abandoned", "is:named"].map(found), [0, 0, 1]);
    let rows = |filter: &str| pitree.print(&["tree", "live", "--filter", filter]);
    assert_eq!(rows("outline"), "• [here] user: Begin\n• assistant: Gone  ← leaf\n");
    assert_eq!(rows("default").lines().filter(|row| !row.starts_with("• ")).collect::<Vec<_>>(), [""; 0]);
    // Until pi writes, it would continue at the end of the file, after the new lines.
    pitree.print(&["rename", "live", "Again"]);
    assert_eq!(pitree.listed(&path)["leaves"], 1);
}

#[test]
fn an_incomplete_line_stays_and_the_new_line_is_separate() {
    let pitree = Pitree::new();
    let path = pitree.fixture("torn-last-line");
    let before = fs::read(&path).unwrap();
    pitree.print(&["rename", path.to_str().unwrap(), "Mended"]);
    assert_eq!(appended(&path, &before).len(), 1);
    assert_eq!(pitree.listed(&path)["name"], "Mended");
}

#[test]
fn labels_an_entry_by_id_id_prefix_or_label() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    let before = fs::read(&path).unwrap();
    let label = |id: &str| pitree.entry(&path, |entry| entry["id"] == *id)["label"].clone();
    assert_eq!(
        pitree.print(&["label", "branches", "jwt-works", "JWT"]),
        "set label \"JWT\" on a2 (was \"jwt-works\")  ~/.pi/agent/sessions/--p--/branches.jsonl\n"
    );
    assert_eq!(label("a2"), "JWT");
    pitree.print(&["label", "branches", "JWT"]);
    assert_eq!(label("a2"), Value::Null);
    pitree.print(&["label", "branches", "u3", "here"]);
    pitree.print(&["label", "branches", "u4", "here"]);
    let lines = appended(&path, &before);
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[0]["targetId"], &lines[0]["label"]), (&"a2".into(), &"JWT".into()));
    assert_eq!(lines[1].get("label"), None);
    assert!(lines.windows(2).all(|pair| pair[1]["parentId"] == pair[0]["id"]), "one follows the other");

    let several = pitree.refuse(&["label", "branches", "here", "x"]);
    assert!(several.contains("\n  u3  Add refresh tokens") && several.contains("\n  u4  "), "{several}");
    for none in ["nowhere", "", "a"] {
        assert!(pitree.refuse(&["label", "branches", none, "x"]).contains("no entry matches"), "{none}");
    }
    // The labels' IDs are 8 random hex digits.
    let id = lines[0]["id"].as_str().unwrap();
    assert!(pitree.print(&["label", "branches", &id[..7], "x"]).contains(&format!(" on {id} ")));
    pitree.refuse(&["label", "branches", &id[..3], "x"]);
}

#[test]
fn an_ambiguous_id_prefix_is_refused() {
    let pitree = Pitree::new();
    let several = ["abcd1", "abcd2", "abcd2"];
    let session = several.iter().fold(Session::new("s"), |session, id| session.at_root().custom(id, id));
    pitree.write_session(&session.clone().at_root().custom("abcd", "abcd"));
    let several = pitree.refuse(&["label", "s", "abc", "x"]);
    assert!(several.contains("no entry"), "three characters are too few: {several}");
    assert!(pitree.print(&["label", "s", "abcd", "x"]).contains(" on abcd "), "the whole id wins");
    assert!(pitree.print(&["label", "s", "abcd2", "x"]).contains(" on abcd2 "));
    let pitree = Pitree::new();
    pitree.write_session(&session);
    let several = pitree.refuse(&["label", "s", "abcd", "x"]);
    assert!(several.contains("2 entries") && several.contains("abcd1  ") && several.contains("abcd2  "), "{several}");
}

#[test]
fn changes_are_printed_as_json() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    let objects = pitree.objects(&["label", "branches", "a2", "\u{1b}[31m", "--json"]);
    let entry = objects[0]["entry"].clone();
    assert_eq!(
        objects,
        [json!({
            "step": "make", "kind": "label", "path": path, "entry": entry, "target": "a2",
            "before": "jwt-works", "after": "[31m", "done": true, "group": 1,
        })]
    );
    assert_eq!(pitree.objects(&["label", "branches", "a2", "[31m", "--json"]), [] as [Value; 0]);
    let would = pitree.objects(&["rename", "branches", "x", "--json", "--dry-run"]);
    assert_eq!((&would[0]["kind"], &would[0]["done"]), (&"name".into(), &false.into()));
}

#[test]
fn a_dry_run_changes_nothing() {
    let pitree = Pitree::new().variable("PATH", "/nowhere");
    pitree.fixture("branches");
    pitree.fixture("v2-labels");
    pitree.print(&["rename", "branches", "First"]);
    let before = pitree.files();
    for (args, would) in [
        (&["rename", "branches", "x"][..], "would: rename to \"x\" (was \"First\")  ~/"),
        (&["label", "branches", "a2"], "would: clear label on a2"),
        (&["label", "v2-labels", "u1", "x", "--migrate"], "would: convert from version 2 to version 3"),
        (&["rm", "branches", "--family"], "would: move to trash  ~/"),
        (&["fork", "branches", "a2"], "would: create fork  ~/"),
        (&["resume", "branches", "u3", "--allow-write"], "would: move leaf to "),
        (&["resume", "branches", "--print"], "would run: cd "),
        (&["undo"], "would undo: rename to \"First\"  ~/"),
    ] {
        let said = pitree.print(&[args, &["--dry-run"]].concat());
        assert!(said.starts_with(would), "{args:?}: {said}");
        assert!(before == pitree.files(), "{args:?} changed something");
    }
    assert_eq!(pitree.nothing(&["redo", "--dry-run"]), "nothing to redo\n");
}

#[test]
fn old_files_can_be_named_but_must_be_migrated_for_labels() {
    let pitree = Pitree::new();
    for name in ["v1-linear", "v2-labels"] {
        let path = pitree.fixture(name);
        let before = fs::read(&path).unwrap();
        pitree.print(&["rename", path.to_str().unwrap(), "Old"]);
        assert_eq!(appended(&path, &before).len(), 1);
        assert_eq!(pitree.listed(&path)["name"], "Old");
    }
    let no_ids = pitree.refuse(&["label", "v1-linear", "x", "y", "--migrate"]);
    assert!(no_ids.contains("version 1") && no_ids.contains("browser"), "{no_ids}");
    for args in [&["label", "v2-labels", "u1", "x"][..], &["resume", "v2-labels", "u1", "--print", "--allow-write"]] {
        let refused = pitree.refuse(args);
        assert!(refused.contains("version 2") && refused.contains("--migrate"), "{refused}");
    }
}

/// The original of a migrated file goes to the trash, which only Linux keeps below the home.
#[cfg(target_os = "linux")]
#[test]
fn migrates_an_old_file_if_allowed_and_undo_reverts_it() {
    let pitree = Pitree::new();
    let path = pitree.fixture("v2-labels");
    let before = fs::read(&path).unwrap();
    let said = pitree.print(&["label", "v2-labels", "u1", "first", "--migrate"]);
    assert!(
        said.starts_with("convert from version 2 to version 3") && said.contains("\nset label \"first\" on u1"),
        "{said}"
    );
    assert_eq!(pitree.listed(&path)["version"], 3);
    assert_eq!(pitree.entry(&path, |entry| entry["id"] == "u1")["label"], "first");
    pitree.print(&["undo"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    pitree.print(&["redo"]);
    assert_eq!(pitree.entry(&path, |entry| entry["id"] == "u1")["label"], "first");
}

#[test]
fn undo_and_redo_go_back_and_forth() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    let before = fs::read(&path).unwrap();
    assert_eq!(pitree.nothing(&["undo"]), "nothing to undo\n");
    pitree.print(&["rename", "branches", "One"]);
    pitree.print(&["rename", "branches", "Two"]);
    pitree.print(&["label", "branches", "a2", "two"]);
    let name = || pitree.listed(&path)["name"].clone();
    let label = || pitree.entry(&path, |entry| entry["id"] == "a2")["label"].clone();

    let said = pitree.print(&["undo"]);
    assert_eq!(
        said,
        "undone: set label \"two\" on a2 (was \"jwt-works\")  ~/.pi/agent/sessions/--p--/branches.jsonl\n"
    );
    assert_eq!((name(), label()), ("Two".into(), "jwt-works".into()));
    pitree.print(&["undo"]);
    assert_eq!(name(), "One");
    let again = pitree.objects(&["redo", "--json"]);
    assert_eq!(
        (&again[0]["step"], &again[0]["after"], &again[0]["done"]),
        (&"redo".into(), &"Two".into(), &true.into())
    );
    assert_eq!(name(), "Two");
    pitree.print(&["undo", "2"]);
    assert_eq!(name(), "One");
    assert_eq!(appended(&path, &before).len(), 7, "undo appends as well");

    let list = pitree.print(&["undo", "--list"]);
    assert!(list.starts_with("1  now  done    rename to \"One\"   "), "{list}");
    assert!(list.lines().count() == 3 && list.lines().all(|line| line.ends_with("  One")), "{list}");
    let listed = pitree.objects(&["undo", "--list", "--json"]);
    let states: Vec<&Value> = listed.iter().map(|change| &change["state"]).collect();
    assert_eq!(states, ["done", "undone", "undone"]);
    assert!(listed.iter().all(|change| change["number"].is_u64() && change["time"].is_string()), "{listed:?}");
    assert!(pitree.refuse(&["undo", "7"]).contains("no change 7"));
    assert!(pitree.refuse(&["undo", "3"]).contains("3"));
}

/// The trash is below the home on Linux only.
#[cfg(target_os = "linux")]
#[test]
fn undo_takes_the_numbers_that_the_list_prints() {
    let pitree = Pitree::new();
    let paths = ["one", "two", "three"].map(|id| pitree.session(crate::command_line::pitree::SESSIONS, id));
    pitree.print(&["rename", "one", "First"]);
    pitree.print(&["rm", "--yes", "two", "three"]);
    pitree.print(&["rename", "one", "Last"]);
    let list = pitree.print(&["undo", "--list"]);
    let numbers: Vec<&str> = list.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(numbers, ["1", "2-3", "4"]);
    for wrong in ["2-4", "3-2", "1-2"] {
        assert!(pitree.refuse(&["undo", wrong]).contains("not the changes of one command"), "{wrong}");
    }
    assert_eq!(pitree.run(&["undo", "2-x"]).code, 2);
    pitree.print(&["undo", "2-3"]);
    assert!(paths.iter().all(|path| path.exists()));
    assert_eq!(pitree.listed(&paths[0])["name"], "Last", "the change after it stays");
}

#[test]
fn a_very_long_name_is_printed_in_part() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    pitree.print(&["rename", "branches", &"x".repeat(9_000)]);
    for args in [&["ls"][..], &["ls", "--json"], &["rename", "branches", "y", "--dry-run"], &["undo", "--list"]] {
        assert!(pitree.print(args).len() < 4_000, "{args:?}");
    }
    assert_eq!(pitree.objects(&["show", path.to_str().unwrap(), "--json"])[0]["name"].as_str().unwrap().len(), 9_000);
}

#[test]
fn undo_keeps_later_changes_of_other_programs() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    pitree.print(&["rename", "branches", "Ours"]);
    let theirs = Session::new("branches").under("a8").name("theirs", "Theirs");
    fs::write(&path, fs::read_to_string(&path).unwrap() + theirs.lines()).unwrap();
    let refused = pitree.refuse(&["undo"]);
    assert!(refused.contains("skipped") && refused.contains("Theirs"), "{refused}");
    assert_eq!(pitree.nothing(&["undo"]), "nothing to undo\n", "it is passed over");
    assert_eq!(pitree.listed(&path)["name"], "Theirs");
}

#[test]
fn demo_sessions_are_not_changed() {
    let pitree = Pitree::new();
    for args in [
        &["rename", "01a13a84", "x"][..],
        &["label", "01a13a84", "x"],
        &["rm", "01a13a84", "--yes"],
        &["restore"],
        &["fork", "01a13a84", "x"],
        &["resume", "01a13a84"],
        &["undo"],
        &["undo", "--list"],
        &["redo"],
        &["path", "01a13a84"],
    ] {
        let said = pitree.refuse(&[args, &["--demo"]].concat());
        assert!(said.contains("run `pitree demo`"), "{args:?}: {said}");
    }
}

#[test]
fn a_change_of_a_newer_pitree_is_shown_and_left_alone() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    pitree.print(&["rename", "branches", "One"]);
    let journal = pitree.home().join(".local/state/pitree/journal.jsonl");
    let newer = [
        r#"{"number":2,"time":7,"state":"done","change":{"kind":"merge","path":"/m.jsonl","of":["/a"]}}"#,
        r#"{"number":1,"time":8,"state":"archived"}"#,
    ];
    fs::write(&journal, fs::read_to_string(&journal).unwrap() + &newer.join("\n") + "\n").unwrap();
    let list = pitree.print(&["undo", "--list"]);
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines[0].contains("  changed by a newer pitree  rename to \"One\"  "), "{list}");
    assert!(lines[1].contains("  made by a newer pitree (\"merge\")  ") && lines[1].ends_with("  /m.jsonl"), "{list}");
    let listed = pitree.objects(&["undo", "--list", "--json"]);
    assert_eq!(
        (&listed[0]["kind"], &listed[0]["state"], &listed[1]["kind"], &listed[1]["state"], &listed[1]["of"][0]),
        (&"name".into(), &"unknown".into(), &"merge".into(), &"done".into(), &"/a".into())
    );
    for args in [&["undo"][..], &["undo", "2"], &["undo", "--dry-run"]] {
        let refused = pitree.refuse(args);
        assert!(refused.contains("change 2") && refused.contains("newer pitree (\"merge\")"), "{refused}");
    }
    assert!(pitree.refuse(&["undo", "1"]).contains("change 1"));
    assert_eq!(pitree.listed(&path)["name"], "One");
    fs::write(&journal, "{\"journal\":\"pitree\",\"version\":2}\n").unwrap();
    for args in [&["rename", "branches", "Two"][..], &["undo"], &["rename", "branches", "Two", "--dry-run"]] {
        assert!(pitree.refuse(args).contains("version 2"));
    }
    let nothing = pitree.run(&["undo", "--list"]);
    assert_eq!((nothing.code, &*nothing.out, &*nothing.err), (0, "", "no changes yet\n"));
}
