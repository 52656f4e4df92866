//! Live updates: new sessions, appended entries, deleted and renamed files.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::common::effort::skipped;
use crate::end_to_end::home::{Home, session};
use crate::end_to_end::terminal::{Launch, Terminal, row};

fn append(path: &Path, text: &str) {
    fs::File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn user(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-05T11:00:00Z","message":{{"role":"user","content":"prompt {id}"}}}}"#
    )
}

/// Waits until the top line contains the text.
fn wait_header(pitree: &Terminal, text: &str) {
    pitree.wait_until(&format!("{text:?} on top"), |screen| row(screen, 0).contains(text));
}

#[test]
fn sessions_come_grow_and_go() {
    let home = Home::new();
    let project = home.dir("project");
    let mut pitree = home.open(&[]);
    pitree.wait_for("No sessions yet");
    let one = home.session(&session("one", &project, "the first prompt"));
    pitree.wait_selected("the first prompt");
    home.session(&session("two", &project, "another prompt").at(60));
    pitree.wait_for("another prompt");
    pitree.wait_selected("the first prompt");
    pitree.wait_without("prompt late");
    append(&one, &format!("{}\n", user("late", "a2")));
    pitree.wait_for("prompt late");
    fs::remove_file(&one).unwrap();
    wait_header(&pitree, "1 session ");
    pitree.wait_selected("another prompt");
    let (from, to) = (home.sessions().join("--project--"), home.sessions().join("--renamed--"));
    pitree.send("z\x10"); // paths
    pitree.wait_for("--project--");
    fs::rename(from, to).unwrap();
    pitree.wait_for("--renamed--");
    pitree.wait_without("--project--");
    fs::remove_dir_all(home.sessions()).unwrap();
    pitree.wait_for("No sessions yet");
    home.session(&session("three", &project, "once more"));
    pitree.wait_for("once more");
    pitree.quit();
}

#[test]
fn the_leaf_is_followed_and_incomplete_lines_are_deferred() {
    let home = Home::new();
    let project = home.dir("project");
    let path = home.session(&session("one", &project, "the first prompt"));
    let mut pitree = home.launch(&[]).size(160, 30).open();
    pitree.wait_selected("the first prompt");
    pitree.send("lvf");
    pitree.wait_for("following · default");
    append(&path, &format!("{}\n", user("one", "a2")));
    pitree.wait_selected("prompt one");
    pitree.wait_for("turn 2 of 2");
    let line = user("two", "u1");
    append(&path, &line[..30]);
    append(&home.session(&session("other", &project, "another prompt")), "\n");
    pitree.send("\x1b"); // to the list, which shows that both were read
    pitree.wait_for("another prompt");
    assert!(!pitree.contents().contains('⚠'), "{}", pitree.contents());
    append(&path, &format!("{}\n", &line[30..]));
    pitree.wait_for("prompt two");
    pitree.send("l");
    pitree.wait_selected("prompt two");
    pitree.send("k");
    pitree.wait_for("no longer following");
    pitree.quit();
}

#[test]
fn a_permanently_incomplete_line_is_damage() {
    let home = Home::new();
    let path = home.session(&session("one", &home.dir("project"), "the first prompt"));
    let pitree = home.open(&[]);
    pitree.wait_selected("the first prompt");
    append(&path, "{\"type\":\"mess");
    pitree.wait_selected("⚠");
    append(&path, "\n");
    append(&path, &format!("{}\n", user("late", "a2")));
    pitree.wait_for("prompt late");
    pitree.quit();
}

#[test]
fn own_changes_are_not_reported_as_new() {
    let home = Home::new();
    let project = home.dir("project");
    let path = home.session(&session("one", &project, "the first prompt"));
    let mut pitree = home.open(&[]);
    pitree.wait_selected("the first prompt");
    pitree.send("\u{12}named\r");
    pitree.wait_for("rename to \"named\"");
    // Updates arrive in order: the later update replaces the earlier one.
    append(&path, &format!("{}\n", user("late", "a2")));
    pitree.wait_for("prompt late");
    pitree.wait_for("rename to \"named\"");
    pitree.quit();
}

#[test]
fn without_a_watcher_changes_are_polled() {
    // In its own namespace, any user may set the limit.
    let limit = "echo 0 > /proc/sys/user/max_inotify_watches";
    let args = |script| ["-Ur", "sh", "-c", script];
    if !Command::new("unshare").args(args(limit)).output().is_ok_and(|run| run.status.success()) {
        return skipped("a namespace with a limit of its own cannot be had");
    }
    let home = Home::new();
    let script = format!("{limit}; exec {}", env!("CARGO_BIN_EXE_pitree"));
    let pitree = Launch::new("unshare", &home).env("PATH", "/usr/bin:/bin").args(args(&script)).open();
    pitree.wait_for("(raise fs.inotify.max_user_watches); polling instead");
    let path = home.session(&session("one", &home.dir("project"), "the first prompt"));
    pitree.wait_selected("the first prompt");
    append(&path, &format!("{}\n", user("late", "a2")));
    pitree.wait_for("prompt late");
    pitree.quit();
}
