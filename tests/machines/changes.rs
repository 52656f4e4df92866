//! Changes of mirrored sessions are made on their machine.

use std::fs;

use crate::common::home::{Outcome, json_lines, last_line};
use crate::common::session::Session;
use crate::machines::remote::{Remote, Way, has_rsync};

fn remote(way: Way) -> (Remote, std::path::PathBuf) {
    let remote = Remote::unknown();
    let path = remote.there.session(&Session::new("abcdef12").asked("Hello", &["Hi"]));
    remote.add(way);
    remote.sync(&[]);
    (remote, path)
}

#[test]
fn names_labels_and_the_trash_are_changed_there() {
    if !has_rsync() {
        return;
    }
    let (remote, path) = remote(Way::Pitree);
    let said = remote.ok(&["rename", "abcdef12", "From here"]);
    assert!(said.contains("box:/"), "{said}");
    assert_eq!(last_line(&path)["name"], "From here");
    remote.check();
    assert!(remote.ok(&["ls"]).contains("From here"));
    remote.ok(&["label", "abcdef12", "a2", "good"]);
    assert_eq!(last_line(&path)["label"], "good");
    remote.check();
    let undone = json_lines(&remote.ok(&["undo", "--on", "box", "--json"]));
    assert_eq!((undone[0]["machine"].as_str(), undone[0]["step"].as_str()), (Some("box"), Some("undo")));
    assert!(last_line(&path).get("label").is_none());
    remote.ok(&["redo", "--on", "box"]);
    assert_eq!(last_line(&path)["label"], "good");
    remote.ok(&["rm", "--yes", "abcdef12"]);
    // The user removed it, so that it is no doubt whether it goes here too.
    assert!(!path.exists() && remote.mirrored().is_empty());
    remote.ok(&["undo", "--on", "box"]);
    assert!(path.exists());
    // The journal of this machine has no change of the session but its mirror's way to the trash.
    let journal = fs::read_to_string(remote.here.path().join(".local/state/pitree/journal.jsonl")).unwrap_or_default();
    assert!(!journal.contains("From here"), "{journal}");
}

#[test]
fn a_mirror_is_never_edited() {
    if !has_rsync() {
        return;
    }
    let (remote, path) = remote(Way::Pitree);
    let before = remote.mirrored();
    let there = fs::read(&path).unwrap();
    for args in [
        &["rename", "--dry-run", "abcdef12", "x"][..],
        &["fork", "abcdef12", "a2"],
        &["resume", "--fork", "abcdef12"],
        &["slim", "--yes", "abcdef12"],
        &["archive", "--yes", "abcdef12"],
        &["move", "--yes", "abcdef12", "--to", "/tmp"],
        &["doctor", "--repair", "--yes", "abcdef12"],
        &["secrets", "scrub", "abcdef12"],
    ] {
        let run = remote.run(args);
        assert_eq!((remote.mirrored() == before, fs::read(&path).unwrap() == there), (true, true), "{args:?}: {run:?}");
    }
}

#[test]
fn without_pitree_there_the_reason_is_named() {
    if !has_rsync() {
        return;
    }
    let (remote, path) = remote(Way::Command);
    let there = fs::read(&path).unwrap();
    let failed = remote.run(&["rename", "abcdef12", "x"]);
    assert!(failed.code == 2 && failed.err.contains("need pitree there"), "{failed:?}");
    assert_eq!(fs::read(&path).unwrap(), there);
    let failed = remote.run(&["resume", "--print", "abcdef12", "u1"]);
    assert!(failed.code == 2 && failed.err.contains("needs pitree there"), "{failed:?}");
}

#[test]
fn sessions_are_resumed_and_imported() {
    if !has_rsync() {
        return;
    }
    let (remote, path) = remote(Way::Pitree);
    let line = remote.ok(&["resume", "--print", "abcdef12"]);
    let expected = format!("sh -c 'cd /nowhere && pi --session {}'\n", path.display());
    assert!(line.ends_with(&expected), "{line}");
    let line = remote.ok(&["resume", "--print", "abcdef12", "u1"]);
    assert!(line.trim_end().ends_with(&format!(" resume -- {} u1'", path.display())), "{line}");
    let dir = remote.here.dir("work");
    let pulled = remote.ok(&["import", "abcdef12", "--cwd", dir.to_str().unwrap()]);
    let copy = fs::read_to_string(pulled.trim()).unwrap();
    assert!(copy.contains("\"imported\"") && copy.contains("Hello"), "{copy}");
}

#[test]
fn undo_applies_to_the_last_change_of_the_user() {
    if !has_rsync() {
        return;
    }
    let (remote, path) = remote(Way::Pitree);
    let local = remote.here.session(&Session::new("local123").asked("Here", &["Hi"]));
    remote.ok(&["rename", "abcdef12", "There"]);
    std::thread::sleep(std::time::Duration::from_millis(5));
    remote.ok(&["rename", "local123", "Here"]);
    // The synchronization moves a file to the trash meanwhile.
    let other = remote.there.session(&Session::new("other123").asked("Other", &["Hi"]));
    (0..5).for_each(|number| drop(remote.there.session(&Session::new(&format!("s{number}")).asked("More", &["Hi"]))));
    remote.sync(&[]);
    fs::remove_file(other).unwrap();
    remote.sync(&[]);
    let undone = remote.ok(&["undo"]);
    assert!(undone.contains("Here"), "{undone}");
    assert!(!fs::read_to_string(&local).unwrap().trim_end().ends_with("\"Here\"}"));
    std::thread::sleep(std::time::Duration::from_millis(5));
    remote.ok(&["rename", "abcdef12", "Again"]);
    remote.ok(&["undo"]);
    assert_eq!(last_line(&path)["name"], "There");
    remote.ok(&["redo"]);
    assert_eq!(last_line(&path)["name"], "Again");
}

#[test]
fn many_sessions_are_changed_and_undone_at_once() {
    if !has_rsync() {
        return;
    }
    let (remote, path) = remote(Way::Pitree);
    let other = remote.there.session(&Session::new("other123").asked("Other", &["Hi"]));
    let third = remote.there.session(&Session::new("third123").asked("Third", &["Hi"]));
    remote.sync(&[]);
    remote.ok(&["rename", "abcdef12", "other123", "Both"]);
    assert_eq!([&path, &other].map(|path| last_line(path)["name"] == "Both"), [true; 2]);
    // The numbers of the changes are those of the journal there: another change meanwhile is not undone.
    let line = last_line(&remote.there.path().join(".local/state/pitree/journal.jsonl"));
    assert_eq!(line["number"], 2, "{line}");
    let there = ["rename", "--json", "third123", "Meanwhile"];
    assert_eq!(Outcome::of(&mut remote.there.command(&there)).code, 0);
    remote.ok(&["undo"]);
    assert_eq!(last_line(&third)["name"], "Meanwhile");
    assert_eq!([&path, &other].map(|path| last_line(path)["name"] == "Both"), [false; 2]);
    remote.ok(&["redo"]);
    assert_eq!([&path, &other].map(|path| last_line(path)["name"] == "Both"), [true; 2]);
    remote.check();
}

#[test]
fn sessions_in_a_directory_are_changed_by_this_pitree() {
    let (remote, path) = remote(Way::Dir);
    remote.ok(&["rename", "abcdef12", "It's renamed"]);
    assert_eq!(last_line(&path)["name"], "It's renamed");
    remote.check();
    remote.ok(&["label", "abcdef12", "a2", "good"]);
    assert_eq!(last_line(&path)["label"], "good");
    remote.ok(&["undo"]);
    assert!(last_line(&path).get("label").is_none());
    remote.sync(&[]);
    remote.check();
    remote.ok(&["rm", "--yes", "abcdef12"]);
    assert!(!path.exists() && remote.mirrored().is_empty());
    let failed = remote.run(&["undo", "--on", "box"]);
    assert!(failed.code == 2 && failed.err.contains("omit --on"), "{failed:?}");
    let number = remote.run(&["undo", "--list"]).out;
    assert!(number.contains("trash"), "{number}");
}

#[test]
fn a_failure_there_is_named() {
    if !has_rsync() {
        return;
    }
    let (remote, path) = remote(Way::Pitree);
    fs::remove_file(&path).unwrap();
    let failed = remote.run(&["rename", "abcdef12", "x"]);
    assert!(failed.code == 2 && failed.err.contains("box: ") && !failed.err.contains("need pitree"), "{failed:?}");
}
