//! Sessions in files and folders whose names are not UTF-8: every command accepts them, and they do not affect other
//! sessions.
#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command_line::pitree::{Pitree, SESSIONS};
use crate::common::session::Session;

/// Creates a session with a label and a touched file; the names of its folder and file are not UTF-8.
fn odd(pitree: &Pitree) -> PathBuf {
    let folder = pitree.home().join(SESSIONS).with_file_name(OsStr::from_bytes(b"--odd-\xff--"));
    fs::create_dir_all(&folder).unwrap();
    let session = Session::new("odd-id").cwd(pitree.home()).asked("an odd prompt", &["an odd answer"]);
    let session = session.label("l3", "a2", "odd-label").call("c4", "read", &serde_json::json!({"path": "/odd/file"}));
    let path = folder.join(OsStr::from_bytes(b"odd \xff\x1b'.jsonl"));
    fs::write(&path, session.text()).unwrap();
    path
}

/// Returns arguments, some of which are not UTF-8.
fn args<'a>(words: &[&'a str], path: &'a Path) -> Vec<&'a OsStr> {
    words.iter().map(|&word| if word == "ODD" { path.as_os_str() } else { word.as_ref() }).collect()
}

/// Returns the base64 encoding of a path, computed by the system's `base64`.
fn base64(path: &Path) -> String {
    let script = "printf %s \"$1\" | base64 -w0";
    let output = std::process::Command::new("sh").args(["-c", script, "-"]).arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_read_them_and_name_them_in_json() {
    let pitree = Pitree::new();
    let (path, even) = (odd(&pitree), pitree.session(SESSIONS, "even"));
    let is_told = |object: &Value| {
        assert_eq!(object["path"], path.to_string_lossy().as_ref());
        assert_eq!(object["pathBytes"], base64(&path).as_str());
    };
    let listed = pitree.objects(&["ls", "--json"]);
    assert_eq!(listed.len(), 2);
    for session in &listed {
        if session["id"] == "odd-id" {
            is_told(session);
        } else {
            assert_eq!((session["path"].as_str(), session.get("pathBytes")), (even.to_str(), None));
        }
    }
    assert_eq!(pitree.print(&["ls"]).lines().count(), 2);
    for words in [
        &["labels", "--json"][..],
        &["search", "--json", "odd prompt"],
        &["search", "--json", "--all", "odd answer"],
        &["path", "--json", "odd-id"],
        &["path", "--json", "ODD"],
        &["resume", "--json", "ODD"],
        &["fork", "ODD", "a2", "--dry-run", "--json"],
    ] {
        let objects = pitree.objects(&args(words, &path));
        assert!(!objects.is_empty(), "{words:?}");
        if words[0] == "fork" {
            assert!(
                objects[0]["path"].as_str().unwrap().contains("--odd-\u{fffd}--/")
                    && objects[0]["pathBytes"].is_string()
            );
        } else {
            is_told(&objects[0]);
        }
    }
    let resumed = &pitree.objects(&args(&["resume", "--json", "ODD"], &path))[0];
    assert_eq!(resumed["commandBytes"][2], base64(&path).as_str());
    for words in [
        &["tree", "ODD"][..],
        &["tree", "odd-id", "--json"],
        &["labels"],
        &["search", "odd prompt"],
        &["search", "--all", "odd"],
    ] {
        let printed = pitree.print(&args(words, &path));
        assert!(printed.contains("odd"), "{words:?}: {printed}");
    }
    for words in [&["files", "ODD", "--json"][..], &["files", "--json"]] {
        assert_eq!(pitree.objects(&args(words, &path))[0]["path"], "/odd/file", "{words:?}");
    }
    let output = pitree.command(&["path", "odd-id"]).output().unwrap();
    assert_eq!(output.stdout, [path.as_os_str().as_bytes(), b"\n"].concat(), "a pipe gets it exactly");
    let none = OsString::from_vec(b"\xff".to_vec());
    let refused = pitree.run(&["tree".into(), none]);
    assert!(refused.code == 2 && refused.err.contains(r"\xFF"), "{}", refused.err);
}

#[test]
fn commands_change_them_and_undo_it() {
    let pitree = Pitree::new();
    let path = odd(&pitree);
    let before = fs::read(&path).unwrap();
    let run = |words: &[&str]| pitree.print(&args(words, &path));
    assert!(run(&["rename", "ODD", "a name"]).contains("a name"));
    run(&["label", "ODD", "u1", "first"]);
    let changed = fs::read(&path).unwrap();
    assert!(changed.starts_with(&before));
    let forked = pitree.command(&args(&["fork", "ODD", "a2"], &path)).output().unwrap();
    let fork = Path::new(OsStr::from_bytes(forked.stdout.trim_ascii_end()));
    assert!(forked.status.success() && fork.is_file() && fork.parent() == path.parent());

    run(&["rm", "--yes", "ODD"]);
    assert!(!path.exists());
    run(&["undo"]);
    assert_eq!(fs::read(&path).unwrap(), changed);
    run(&["redo"]);
    assert!(!path.exists());
    assert!(run(&["restore"]).contains("odd \u{fffd}␛'.jsonl"));
    run(&["restore", "ODD"]);
    assert_eq!(fs::read(&path).unwrap(), changed);
    run(&["undo"]);
    assert!(!fork.exists(), "the fork");

    let listed = pitree.objects(&["undo", "--list", "--json"]);
    let told =
        |record: &Value| (record["kind"].as_str().unwrap().to_string(), record["state"].as_str().unwrap().to_string());
    let told: Vec<(String, String)> = listed.iter().map(told).collect();
    let change = |kind: &str, state: &str| (kind.to_string(), state.to_string());
    assert_eq!(
        told,
        [change("name", "done"), change("label", "done"), change("fork", "undone"), change("trash", "undone")]
    );
    for (record, path) in listed.iter().zip([&*path, &path, fork, &path]) {
        assert_eq!(record["path"], path.to_string_lossy().as_ref());
        assert_eq!(record["pathBytes"], base64(path).as_str());
    }
    assert_eq!(run(&["undo", "--list"]).lines().count(), 4);
    run(&["undo"]);
    run(&["undo"]);
    assert_eq!(pitree.objects(&["ls", "--json"])[0]["name"], Value::Null);
}

#[test]
fn the_session_directory_may_have_such_a_name() {
    let pitree = Pitree::new();
    let path = odd(&pitree);
    let folder = path.parent().unwrap();
    for (name, value) in [
        ("PI_CODING_AGENT_SESSION_DIR", folder.to_path_buf()),
        ("PI_CODING_AGENT_DIR", pitree.home().join(OsStr::from_bytes(b"\xfe"))),
    ] {
        if name == "PI_CODING_AGENT_DIR" {
            fs::create_dir_all(value.join("sessions")).unwrap();
            fs::copy(&path, value.join("sessions/one.jsonl")).unwrap();
        }
        let output = pitree.command(&["ls"]).env(name, value).output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stdout).lines().count()),
            (Some(0), 1),
            "{name}"
        );
    }
    let output = pitree.command(&["ls".as_ref(), "--dir".as_ref(), folder.as_os_str()]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
    // The session of a subagent beside it is independent.
    let deeper = path.with_extension("").join("run-0");
    fs::create_dir_all(&deeper).unwrap();
    fs::copy(&path, deeper.join("s.jsonl")).unwrap();
    let family = args(&["rm", "ODD", "--family", "--dry-run"], &path);
    assert_eq!(pitree.print(&family).lines().count(), 2);
}
