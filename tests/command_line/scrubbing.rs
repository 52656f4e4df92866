//! `pitree secrets scrub`: sessions without the values of secrets, and the places that still have them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command_line::pitree::Pitree;
use crate::common::session::Session;

/// A made-up token, written so that it is not one in this file.
fn token() -> String {
    format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q")
}

#[test]
fn values_are_replaced_in_the_family_and_undo_restores_them() {
    let pitree = Pitree::new();
    let first = Session::new("first").user("u1", &format!("use {}", token())).assistant("a1", "done");
    let parent = pitree.write_session(&first);
    let fork = pitree.write_session(&first.forked("second", &parent, 100).user("u2", "more"));
    let other = pitree.write_session(&Session::new("third").user("u1", "nothing"));
    let before = [&parent, &fork, &other].map(|path| fs::read(path).unwrap());
    let outcome = pitree.run(&["secrets", "scrub", "second", "--dry-run"]);
    assert!(outcome.out.contains("would"), "{}{}", outcome.out, outcome.err);
    assert_eq!([&parent, &fork, &other].map(|path| fs::read(path).unwrap()), before);
    assert!(pitree.run(&["secrets", "scrub", "second"]).err.contains("--yes"));
    pitree.run(&["rename", "third", &format!("key {}", token())]);
    let outcome = pitree.run(&["secrets", "scrub", "second", "--yes"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    for text in ["[github-token 1]  ghp_", "in the journal: a name or label of change 1", "trash empty 2 3"] {
        assert!(outcome.err.contains(text), "{text}: {}", outcome.err);
    }
    assert!(!(outcome.err + &outcome.out).contains(&token()));
    for path in [&parent, &fork] {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains("use [github-token 1]") && !text.contains(&token()), "{text}");
    }
    let found = pitree.run(&["search", "--json", "--all", &token()]).out;
    assert!(found.lines().count() <= 2, "only the name of the other session");
    pitree.print(&["undo"]);
    assert_eq!([&parent, &fork].map(|path| fs::read(path).unwrap()), [before[0].clone(), before[1].clone()]);
}

#[test]
fn all_sessions_are_scrubbed_without_a_name() {
    let pitree = Pitree::new();
    let paths = ["one", "two"].map(|id| pitree.write_session(&Session::new(id).user("u1", &token())));
    pitree.write_session(&Session::new("three").user("u1", "nothing"));
    let outcome = pitree.run(&["secrets", "scrub", "--yes"]);
    assert!(outcome.code == 0 && outcome.err.contains("Replace these keys"), "{}", outcome.err);
    assert!(paths.iter().all(|path| !fs::read_to_string(path).unwrap().contains(&token())));
    let outcome = pitree.run(&["secrets", "scrub", "--yes"]);
    assert!(outcome.code == 1 && outcome.err.contains("no likely secret found"), "{}", outcome.err);
}

#[test]
fn a_session_that_was_just_written_is_refused() {
    let pitree = Pitree::new();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let now = pitree::base::time::iso(now.try_into().unwrap()).unwrap();
    let session = Session::new("live").user("u1", &token()).text();
    let last = session.lines().last().unwrap().replace("\"id\":\"u1\"", "\"id\":\"u2\"");
    let stamp = last.split("\"timestamp\":\"").nth(1).unwrap().split('"').next().unwrap();
    let text = format!("{session}{}\n", last.replace(stamp, &now)).into_bytes();
    let path = pitree.write("live.jsonl", "");
    fs::write(&path, &text).unwrap();
    let outcome = pitree.run(&["secrets", "scrub", "live", "--yes"]);
    assert!(outcome.code == 2 && outcome.err.contains("a pi may be using a session"), "{}", outcome.err);
    assert_eq!(fs::read(&path).unwrap(), text);
}

/// Returns the files below a directory that contain the token, also in compressed files.
fn files_with_token(dir: &Path) -> Vec<PathBuf> {
    let (mut found, mut dirs) = (Vec::new(), vec![dir.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap_or_default();
            let bytes = if path.extension().is_some_and(|end| end == "zst") {
                zstd::decode_all(&*bytes).unwrap()
            } else {
                bytes
            };
            if memchr::memmem::find(&bytes, token().as_bytes()).is_some() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn each_file_that_keeps_a_value_is_changed_or_listed() {
    let pitree = Pitree::new();
    let (home, token) = (pitree.home().to_path_buf(), token());
    let path = pitree.write_session(&Session::new("one").user("u1", &format!("use {token}")).assistant("a1", "ok"));
    pitree.print(&["note", "one", &format!("key {token}")]);
    pitree.print(&["tag", "+shop", "one"]);
    pitree.print(&["note", "one@u1", &format!("with {token}")]);
    pitree.print(&["rename", "one", &format!("named {token}")]);
    pitree.print(&["rename", "one", "other"]);
    assert!(pitree.run(&["search", "--all", &token]).out.contains("one"));
    let damaged = [b"{\"a\": \"", token.as_bytes(), b" \xff\n\"b\": \"", token.as_bytes(), b"\"}\n"].concat();
    let beside = |end: &str| PathBuf::from(format!("{}{end}", path.display()));
    fs::write(beside(".rest"), &damaged).unwrap();
    fs::write(beside(".rest2"), format!("no JSON {token}\n")).unwrap();
    let listed = [
        beside(".0123456789abcdef.pitree-old"),
        home.join(".config/pitree/config.toml"),
        home.join(".local/state/pitree/remembered.json"),
        home.join(".local/state/pitree/live/7.json"),
        home.join(".local/state/pitree/machines/.changes.json"),
        home.join(".local/share/pitree/machine-incoming/box/growing.json"),
        home.join(".local/share/pitree/new-kind/of.file"),
        home.join(".cache/pitree/other"),
    ];
    for file in &listed {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let is_toml = file.extension().is_some_and(|end| end == "toml");
        let text = if is_toml { format!("[queries]\nmine = \"{token}\"\n") } else { format!("{{\"a\":\"{token}\"}}") };
        fs::write(file, text).unwrap();
    }
    let before = files_with_token(&home);
    assert!(before.iter().any(|file| file.starts_with(home.join(".cache/pitree/index"))), "the index has texts");
    let outcome = pitree.run(&["secrets", "scrub", "one", "--dry-run"]);
    // The index may be written again, under other names.
    let index = home.join(".cache/pitree/index");
    let places = |files: &[PathBuf]| -> BTreeSet<PathBuf> {
        files.iter().map(|file| if file.starts_with(&index) { index.clone() } else { file.clone() }).collect()
    };
    assert_eq!(places(&files_with_token(&home)), places(&before), "{}{}", outcome.out, outcome.err);
    assert_eq!(outcome.code, 0);
    let outcome = pitree.run(&["secrets", "scrub", "one", "--yes"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let left = files_with_token(&home);
    assert!(listed.iter().all(|file| left.contains(file)), "{left:?}");
    for file in left {
        let name = format!("~/{}", file.strip_prefix(&home).unwrap().display());
        let is_trashed = name.contains("/Trash/") && outcome.err.contains("trash empty");
        assert!(is_trashed || outcome.err.contains(&format!("in {name}: ")), "{name} in {}", outcome.err);
    }
    assert_eq!(fs::read_to_string(beside(".rest2")).unwrap(), "no JSON [github-token 1]\n");
    let notes = fs::read_to_string(home.join(".local/share/pitree/marks.json")).unwrap();
    assert!(notes.contains("key [github-token 1]") && notes.contains("with [github-token 1]"), "{notes}");
    assert!(notes.contains("shop") && !(outcome.out + &outcome.err).contains(&token));
}

#[test]
fn a_value_that_is_only_in_the_rest_is_replaced() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&Session::new("one").user("u1", "nothing"));
    let rest = PathBuf::from(format!("{}.rest", path.display()));
    fs::write(&rest, format!("damaged {}\n", token())).unwrap();
    for args in [&["secrets", "scrub", "one", "--yes"][..], &["secrets", "scrub", "--yes"]] {
        fs::write(&rest, format!("damaged {}\n", token())).unwrap();
        let outcome = pitree.run(args);
        assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
        assert_eq!(fs::read_to_string(&rest).unwrap(), "damaged [github-token 1]\n");
    }
}
