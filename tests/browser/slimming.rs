//! The boxes that replace files: slimming with its rules, and repair.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::harness::{Browser, shows};
use crate::common::session::Session;

fn world() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        let id = |id: &str| format!("{name}-{id}");
        let session = Session::new(name).user(&id("u"), &format!("session {name}"));
        let session = session.tool(&id("t"), "bash", &json!({"command": "ls"}), &"long ".repeat(4000));
        let session = (0..25).fold(session, |session, at| session.custom(&id(&format!("s{at}")), "todo-state"));
        let session = session.user(&id("k"), "kept").compaction(&id("c"), "summary", &id("k"));
        fs::write(dir.path().join(format!("{name}.jsonl")), session.text()).unwrap();
    }
    dir
}

fn opened(dir: &TempDir, columns: u16, rows: u16) -> Browser {
    let mut browser = Browser::on(&[dir.path()], columns, rows);
    browser.press("home");
    while browser.session().is_none_or(|session| !session.path.ends_with("one.jsonl")) {
        browser.press("j");
    }
    browser
}

fn text(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(format!("{name}.jsonl"))).unwrap()
}

#[test]
fn rules_are_switched_before_the_file_is_replaced() {
    let dir = world();
    let mut browser = opened(&dir, 100, 30);
    browser.press("m s");
    for line in [
        "session one, 24.1 KB",
        "> s  Shrink   save 22.8 KB; the originals go to the trash",
        "  1  Remove   snapshots of todo-state: 2.8 KB in 24 entries",
        "  o  Remove   results and images that no model receives: 20.0 KB in 1",
        "  i  Keep     results and images that a model receives: none",
    ] {
        shows(&browser, line);
    }
    browser.press("1");
    shows(&browser, "Keep     snapshots of todo-state");
    browser.press("o");
    shows(&browser, "Keep     results and images that no model receives: 20.0");
    shows(&browser, "Nothing to save with these rules");
    browser.press("o").press("s");
    assert_eq!(text(&dir, "one").matches("customType").count(), 25);
    assert!(text(&dir, "one").contains("[pitree slim: removed 20.0 KB of output]"), "{}", browser.screen());
    shows(&browser, "Slimmed 1 session");
    assert_eq!(browser.trashed(), ["one.jsonl.original"]);
}

#[test]
fn marked_sessions_are_slimmed_together() {
    let dir = world();
    let mut browser = opened(&dir, 80, 24);
    browser.press("m A").press("m s");
    shows(&browser, "2 marked sessions");
    shows(&browser, "snapshots of todo-state: 5.7 KB in 48 entries");
    browser.press("s");
    for name in ["one", "two"] {
        assert_eq!(text(&dir, name).matches("customType").count(), 1, "{}", browser.screen());
    }
    browser.press("m s").press("esc");
    assert!(browser.model.slimming.is_none(), "what is not shown is not measured");
}

#[test]
fn damaged_sessions_are_repaired() {
    let dir = world();
    let damaged = text(&dir, "one") + "\0\0\0" + &text(&dir, "one").replace("one-", "again-") + "not json\n";
    fs::write(dir.path().join("one.jsonl"), &damaged).unwrap();
    let mut browser = opened(&dir, 100, 30);
    assert!(!browser.model.catalog[browser.model.tree.session.unwrap()].problems.is_empty());
    browser.press("m R");
    shows(&browser, "The repaired file replaces the original");
    browser.press("r");
    shows(&browser, "Repaired 1 session");
    assert!(browser.session().unwrap().problems.is_empty(), "{}", browser.screen());
    assert!(!text(&dir, "one").contains("not json"));
    assert_eq!(browser.trashed(), ["one.jsonl.original"]);
    while browser.session().is_none_or(|session| !session.path.ends_with("two.jsonl")) {
        browser.press("j");
    }
    browser.press("m R");
    assert!(browser.footer().contains("no problem known"), "{}", browser.footer());
}
