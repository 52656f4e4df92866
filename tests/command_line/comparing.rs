//! `pitree diff`: compares two sessions or entries of one family.

use serde_json::{Value, json};

use crate::command_line::json::check_unversioned;
use crate::command_line::pitree::{FIXTURES, Pitree};
use crate::common::session::Session;

/// Creates a session with two branches and a fork of it, as pi writes them: the fork has copies of the labels.
fn family() -> Pitree {
    let pitree = Pitree::new();
    let write = |text: &str| json!({"path": "src/a.rs", "content": text});
    let edit = |path: &str, old: &str, new: &str| json!({"path": path, "edits": [{"oldText": old, "newText": new}]});
    let begun = Session::new("main").cwd("/w/app").costing(0.02).user("aaaa1", "Write it");
    let begun = begun.call("aaaa2", "write", &write("one\ntwo\nthree\n")).result("aaaa3", "aaaa2", "write", "ok");
    let begun = begun.assistant("aaaa4", "It is written.");
    let main = begun.clone().label("l1", "aaaa4", "written").user("bbbb1", "Go left");
    let main = main.call("bbbb2", "edit", &edit("src/a.rs", "two", "left")).result("bbbb3", "bbbb2", "edit", "ok");
    let main = main.call("bbbb4", "edit", &edit("b.rs", "x", "y")).result("bbbb5", "bbbb4", "edit", "ok");
    let main = main.call("bbbb6", "edit", &edit("/w/app/src/a.rs", "no", "!"));
    let main = main.failure("bbbb7", "bbbb6", "edit", "not found\nmore").assistant("bbbb8", "Left it is.");
    let main = main.label("l2", "bbbb8", "left").under("aaaa4").user("cccc1", "Go right");
    let path = pitree.write_session(&main.assistant("cccc2", "Right it is."));
    let fork = begun.forked("fork", &path, 100).cwd("/w/tree").user("dddd1", "Start anew");
    let fork = fork.call("dddd2", "write", &write("one\ntwo\n")).result("dddd3", "dddd2", "write", "ok");
    let fork = fork.call("dddd4", "edit", &edit("b.rs", "x", "z")).result("dddd5", "dddd4", "edit", "ok");
    let fork = fork.call("dddd6", "read", &json!({"path": "/etc/hosts"})).result("dddd7", "dddd6", "read", "ok");
    pitree.write_session(&fork.label("l3", "aaaa4", "written").assistant("dddd8", "Again \u{1b}[31mit is."));
    pitree
}

fn compared(pitree: &Pitree, a: &str, b: &str) -> Value {
    let mut objects = pitree.objects(&["diff", a, b, "--json"]);
    check_unversioned("diff", &objects);
    assert_eq!((objects.len(), &objects[0]["version"]), (1, &json!(1)));
    objects.remove(0)
}

#[test]
fn a_branch_and_a_fork() {
    let pitree = family();
    let both = compared(&pitree, "main@left", "fork");
    assert_eq!(both["common"], json!({"entryId": "aaaa4", "entries": 4, "text": "It is written."}));
    let a = &both["a"];
    assert_eq!((&a["id"], &a["entryId"], &a["entries"]), (&json!("main"), &json!("bbbb8"), &json!(8)));
    assert_eq!((&a["prompts"], &a["lastAnswer"]), (&json!(["Go left"]), &json!("Left it is.")));
    assert_eq!(a["tools"], json!([{"name": "edit", "calls": 3, "failed": 1}]));
    let errors =
        json!({"tools": 1, "answers": 0, "aborted": 0, "notRun": 0, "texts": ["[edit: /w/app/src/a.rs]: not found"]});
    assert_eq!(a["errors"], errors);
    assert_eq!((&a["cost"], &a["tokens"]["total"], &a["durationMs"]), (&json!(0.08), &json!(24000), &json!(7000)));
    assert_eq!(both["b"]["entryId"], "dddd8");
    let uses = |reads, writes, edits| json!({"reads": reads, "writes": writes, "edits": edits});
    let files = &both["files"];
    assert_eq!(files["onlyA"], json!([]));
    assert_eq!(files["onlyB"], json!([{"path": "/etc/hosts", "reads": 1, "writes": 0, "edits": 0}]));
    // A relative path in the other directory means the same file; failed tools changed nothing.
    let diff = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,2 @@\n one\n-left\n-three\n+two\n";
    assert_eq!(
        files["both"],
        json!([
            {"path": "b.rs", "a": uses(0, 0, 1), "b": uses(0, 0, 1)},
            {"path": "src/a.rs", "a": uses(0, 0, 1), "b": uses(0, 1, 0)},
        ])
    );
    let unknown = json!("unknown");
    assert_eq!(
        files["atEnds"],
        json!([
            {"path": "b.rs", "a": unknown, "b": unknown, "added": null, "removed": null, "diff": null},
            {"path": "src/a.rs", "a": "exact", "b": "exact", "added": 1, "removed": 2, "diff": diff},
        ])
    );
}

/// The replay of both branches also has the changes of shell commands.
#[test]
fn commands_change_files_too() {
    let pitree = Pitree::new();
    let begun = Session::new("main").cwd("/w").user("u1", "go");
    let begun = begun.tool("w1", "write", &json!({"path": "a.txt", "content": "a\n"}), "ok");
    let begun = begun.tool("w2", "write", &json!({"path": "b.txt", "content": "b\n"}), "ok");
    let left = begun.tool("b1", "bash", &json!({"command": "rm a.txt\ncat > new.sh <<'E'\nls\nE"}), "");
    let left = left.tool("b2", "bash", &json!({"command": "sed -i s/b/c/ b.txt"}), "").assistant("a1", "left");
    let both = left.under("w2r").assistant("a2", "right");
    pitree.write_session(&both);
    let files = &compared(&pitree, "main@a1", "main")["files"];
    let removed = "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n";
    assert_eq!(
        files["atEnds"],
        json!([
            {"path": "a.txt", "a": "removed", "b": "exact", "added": 1, "removed": 0, "diff": removed},
            {"path": "b.txt", "a": "possibly changed", "b": "exact", "added": 0, "removed": 0, "diff": null},
            {"path": "new.sh", "a": "exact", "b": null, "added": null, "removed": null, "diff": null},
        ])
    );
    let text = pitree.print(&["diff", "main@a1", "main"]);
    assert!(text.contains("\n  new.sh  A: certain; B: not touched\n--- a/a.txt\n"), "{text}");
}

#[test]
fn edits_are_counted_at_each_end() {
    let pitree = Pitree::new();
    let session = Session::new("main").user("u1", "one").assistant("a1", "two").user("u2", "three");
    let session = session.edit("e1", "u1", "null").assistant("a2", "four");
    let session = session.edit("e2", "a1", r#"{"content":[{"type":"text","text":"2"}]}"#);
    // An edit that restores the content.
    let session = session.edit("e3", "a2", "null").edit("e4", "a2", r#"{"content":[{"type":"text","text":"four"}]}"#);
    pitree.write_session(&session.user("u3", "left").under("u2").edit("e5", "u2", "null").user("u4", "right"));
    let both = compared(&pitree, "main@u3", "main");
    assert_eq!(both["a"]["edits"], json!({"omitted": 1, "replaced": 1}));
    assert_eq!(both["b"]["edits"], json!({"omitted": 1, "replaced": 0}));
    let text = pitree.print(&["diff", "main@u3", "main"]);
    assert!(text.contains("\ncontext edits  1 omitted, 1 replaced  1 omitted\n"), "{text}");
    let text = pitree.print(&["diff", "main@u2", "main@u1"]);
    assert!(!text.contains("edits"), "before the edits: {text}");
}

#[test]
fn the_text_says_the_same() {
    let pitree = family();
    let text = pitree.print(&["diff", "main@left", "fork"]);
    let has = |wanted: &str| assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    has("4 common entries, ending at  • [written] assistant: It is written.\nA  main  [left] assistant: Left it is.\n");
    has("\nerrors    1 tool call");
    has("\nFiles in both\n  b.rs  A: edited 1; B: edited 1\n  src/a.rs  A: edited 1; B: wrote 1\n");
    has(
        "\nFiles at the ends\n  b.rs  A: unknown; B: unknown\n  src/a.rs  A: certain; B: certain  +1 -2\n--- a/src/a.rs\n",
    );
    has("\n+++ b/src/a.rs\n@@ -1,3 +1,2 @@\n one\n-left\n");
    has("\nLast answer of B\n  Again ␛[31mit is.\n");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn two_entries_of_one_session() {
    let pitree = family();
    for (a, b) in [("main@left", "@cccc2"), ("@left", "main@cccc2"), ("main@left", "main")] {
        let both = compared(&pitree, a, b);
        let ends = [&both["common"], &both["a"], &both["b"]].map(|side| side["entryId"].as_str().unwrap());
        assert_eq!(ends, ["aaaa4", "bbbb8", "cccc2"], "{a} {b}");
    }
    let both = compared(&pitree, "main@written", "main");
    assert_eq!((&both["a"]["entries"], &both["a"]["durationMs"]), (&json!(0), &Value::Null));
    let text = pitree.print(&["diff", "main", "@written"]);
    assert!(text.contains("\nB  main  no entries of its own; ends at the common entry\n"), "{text}");
}

#[test]
fn incomparable_arguments_are_refused() {
    let pitree = family();
    let other = pitree.write_session(&Session::new("other").user("e1", "Something else"));
    pitree.write_session(&Session::new("empty"));
    let path = other.to_str().unwrap();
    for (a, b, why) in [
        ("main", "other", "have no common entry"),
        ("main@nothing", "fork", "no entry matches \"nothing\""),
        ("@left", "@written", "give at least one side as SESSION or SESSION@ENTRY"),
        ("main", "nowhere", "no session matches"),
        ("main", "empty", "has no entries to compare"),
        (path, "/w/me@home/gone.jsonl", "cannot read /w/me@home/gone.jsonl"),
    ] {
        let said = pitree.refuse(&["diff", a, b]);
        assert!(said.contains(why), "{a} {b}: {said}");
    }
    assert_eq!(pitree.run(&["diff", "main"]).code, 2);
}

#[test]
fn a_path_may_contain_the_entry_separator() {
    let pitree = family();
    let text =
        std::fs::read_to_string(pitree.home().join(crate::command_line::pitree::SESSIONS).join("main.jsonl")).unwrap();
    let path = pitree.write("me@home.jsonl", &text);
    let both = compared(&pitree, path.to_str().unwrap(), &format!("{}@left", path.display()));
    assert_eq!((&both["a"]["entryId"], &both["b"]["entryId"]), (&json!("cccc2"), &json!("bbbb8")));
}

#[test]
fn a_version_1_file_shares_no_entries() {
    let pitree = Pitree::new();
    let old = Session::new("old").version(1).user("", "Hi").assistant("", "Hello.");
    pitree.write_session(&old);
    pitree.write("copy.jsonl", &old.text().replace("\"old\"", "\"copy\""));
    assert!(pitree.refuse(&["diff", "old", "copy"]).contains("have no common entry"));
    assert!(pitree.refuse(&["diff", "old@x", "@y"]).contains("version 1 session have no ids"));
    assert_eq!(compared(&pitree, "old", "old")["common"]["entries"], 2);
}

/// Uses forks made by the real pi.
#[test]
fn forks_of_pi_part_where_pi_forked() {
    let talk = |name: &str| format!("{FIXTURES}/sessions/--home-dev-talk--/{name}.jsonl");
    let pitree = Pitree::new();
    for (a, b, common, own) in [
        (talk("talk-branches"), talk("talk-fork"), "c0000011", [2, 2]),
        (talk("talk-fork"), talk("talk-clone"), "c0000016", [0, 2]),
        (talk("talk-branches") + "@c000000a", talk("talk-clone"), "c0000004", [6, 6]),
        (talk("talk-branches") + "@c000000a", "@c000000d".into(), "c0000006", [4, 3]),
    ] {
        let both = compared(&pitree, &a, &b);
        assert_eq!(both["common"]["entryId"], common, "{a} {b}");
        assert_eq!([&both["a"]["entries"], &both["b"]["entries"]], own.map(Value::from).each_ref(), "{a} {b}");
    }
    let script = compared(&pitree, &(talk("talk-script") + "@c0000005"), "@c0000009");
    assert_eq!(script["files"]["onlyB"][0]["path"], "colours.txt");
    assert_eq!((&script["files"]["onlyB"][0]["writes"], &script["files"]["onlyB"][0]["edits"]), (&json!(1), &json!(1)));
}
