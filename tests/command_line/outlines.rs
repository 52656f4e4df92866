//! Commands that gather something of all sessions: labels, files.

use serde_json::{Value, json};

use crate::pitree::{Outcome, Pitree};

fn session(cwd: &str, lines: &[&str]) -> String {
    let header = format!(r#"{{"type":"session","version":3,"id":"of-{}","cwd":"{cwd}"}}"#, cwd.replace('/', "-"));
    [&[&*header], lines].concat().iter().map(|line| format!("{line}\n")).collect()
}

fn call(id: &str, parent: &str, tool: &str, path: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:0{id}.000Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"c{id}","name":"{tool}","arguments":{{"path":"{path}"}}}}]}}}}"#
    )
}

/// Two sessions of one project and one of another.
fn touched() -> Pitree {
    let pitree = Pitree::new();
    let one =
        [call("1", "", "read", "src/a.rs"), call("2", "1", "edit", "./src/a.rs"), call("3", "1", "write", "b.rs")];
    pitree.write("one.jsonl", &session("/w/app", &one.each_ref().map(|line| &**line)));
    pitree.write("two.jsonl", &session("/w/app/sub", &[&call("4", "", "read", "../src/a.rs")]));
    pitree.write("other.jsonl", &session("/w/application", &[&call("5", "", "read", "src/a.rs")]));
    pitree
}

fn paths(files: &[Value]) -> Vec<&str> {
    files.iter().map(|file| file["path"].as_str().unwrap()).collect()
}

#[test]
fn files_are_listed_once_however_they_were_named() {
    let pitree = touched();
    let files = pitree.objects(&["files", "--json"]);
    assert_eq!(paths(&files), ["/w/application/src/a.rs", "/w/app/src/a.rs", "/w/app/b.rs"]);
    let wanted = json!({"path": "/w/app/src/a.rs", "reads": 2, "changes": 1, "sessions": 2, "lastTouched": "2026-01-01T00:00:04.000Z"});
    assert_eq!(files[1], wanted);
    let table = pitree.print(&["files"]);
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().skip(1).collect();
    assert_eq!(row.join(" "), "2 read 1 changed 2 sessions /w/app/src/a.rs");
}

#[test]
fn files_of_a_project_or_a_session() {
    let pitree = touched();
    assert_eq!(paths(&pitree.objects(&["files", "--project", "/w/app", "--json"])), ["/w/app/src/a.rs", "/w/app/b.rs"]);
    assert!(pitree.refuse(&["files", "--project", "/w/nothing"]).contains("/w/nothing"));
    assert!(pitree.refuse(&["files", "nothing"]).contains("nothing"));
    let files = pitree.objects(&["files", "of--w-app", "--json"]);
    assert_eq!(paths(&files), ["/w/app/b.rs", "/w/app/src/a.rs"]);
    let time = |second: u8| format!("2026-01-01T00:00:0{second}.000Z");
    assert_eq!(
        files[1]["entries"],
        json!([
            {"id": "1", "touch": "read", "active": true, "timestamp": time(1)},
            {"id": "2", "touch": "edit", "active": false, "timestamp": time(2)},
        ])
    );
    let Outcome { code, err, .. } = pitree.run(&["files", "of--w-app", "--project", "/w/app"]);
    assert!(code == 2 && err.contains("--project"), "{err}");
    pitree.write("no.jsonl", "{}\n");
    let path = pitree.home().join(crate::pitree::SESSIONS).join("no.jsonl");
    assert!(pitree.refuse(&["files", path.to_str().unwrap()]).contains("not a pi session"));
}

#[test]
fn labels_of_all_sessions_are_listed() {
    let pitree = Pitree::new();
    let message = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"Say {id}"}}}}"#
        )
    };
    let label = |id: &str, target: &str, label: &str, second: u8| {
        format!(
            r#"{{"type":"label","id":"{id}","parentId":"a","timestamp":"2026-01-01T00:00:0{second}.000Z","targetId":"{target}","label":"{label}"}}"#
        )
    };
    let one = [message("a", ""), message("b", "a"), label("l", "a", "works", 1), label("m", "b", "left", 3)];
    let path = pitree.write("one.jsonl", &session("/w/one", &one.each_ref().map(|line| &**line)));
    let two = [message("a", ""), label("l", "a", "gone", 4), label("m", "a", "", 5)];
    pitree.write("two.jsonl", &session("/w/two", &two.each_ref().map(|line| &**line)));
    pitree.write("three.jsonl", &session("/w/three", &[&message("a", ""), &label("l", "a", "\\u001b[31mred", 2)]));
    let labels = pitree.objects(&["labels", "--json"]);
    let names: Vec<&str> = labels.iter().map(|label| label["label"].as_str().unwrap()).collect();
    assert_eq!(names, ["left", "\u{1b}[31mred", "works"]);
    let wanted = json!({
        "label": "left", "path": path, "id": "of--w-one", "title": "Say a", "entryId": "b", "text": "Say b",
        "active": false, "labelled": "2026-01-01T00:00:03.000Z",
    });
    assert_eq!(labels[0], wanted);
    assert_eq!(labels[2]["active"], true);
    let table = pitree.print(&["labels"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split_whitespace().skip(1).collect()).collect();
    assert_eq!(rows[0].join(" "), "left b Say a Say b");
    assert!(!table.contains('\u{1b}'), "{table:?}");
}
