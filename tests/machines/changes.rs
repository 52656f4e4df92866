//! Changes of mirrored sessions are made on their machine, once.

use std::fs;

use crate::common::home::{json_lines, last_line};
use crate::common::session::Session;
use crate::remote::{Remote, Way};

fn remote(way: Way) -> (Remote, std::path::PathBuf) {
    let remote = Remote::unknown();
    let path = remote.there.session(&Session::new("abcdef12").asked("Hello", &["Hi"]));
    remote.add(way);
    remote.sync(&[]);
    (remote, path)
}

#[test]
fn names_labels_and_the_trash_are_changed_there() {
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
    let (remote, path) = remote(Way::Tar);
    let there = fs::read(&path).unwrap();
    let failed = remote.run(&["rename", "abcdef12", "x"]);
    assert!(failed.code == 2 && failed.err.contains("need pitree there"), "{failed:?}");
    assert_eq!(fs::read(&path).unwrap(), there);
    let failed = remote.run(&["resume", "--print", "abcdef12", "u1"]);
    assert!(failed.code == 2 && failed.err.contains("needs pitree there"), "{failed:?}");
}

#[test]
fn a_repeated_request_changes_nothing_twice() {
    let (remote, path) = remote(Way::Pitree);
    // The program loses the answer of the first change.
    let home = remote.there.path().display();
    let script = format!(
        "run() {{ env -i PATH=/usr/bin:/bin HOME={home} \"$@\"; }}\n\
         case $3 in *'serve --stdio'*) if [ ! -e {home}/lost ]; then touch {home}/lost; run \"$@\" | stdbuf -o0 head -c 300; exit 255; fi;; esac\n\
         run \"$@\"\n"
    );
    let program = remote.here.script("loses", &script);
    remote.ok(&["machine", "remove", "box"]);
    remote.ok(&["machine", "add", "box", &format!("command:{}", program.display())]);
    fs::remove_file(remote.there.path().join("lost")).unwrap_or_default();
    remote.ok(&["rename", "abcdef12", "Once"]);
    assert!(remote.there.path().join("lost").exists());
    let names = fs::read_to_string(&path).unwrap().matches("Once").count();
    assert_eq!(names, 1);
    let journal = fs::read_to_string(remote.there.path().join(".local/state/pitree/journal.jsonl")).unwrap();
    assert_eq!(journal.matches("\"begun\"").count(), 1, "{journal}");
}

#[test]
fn sessions_are_resumed_and_pulled() {
    let (remote, path) = remote(Way::Pitree);
    let line = remote.ok(&["resume", "--print", "abcdef12"]);
    let expected = format!("sh -c 'cd /nowhere && pi --session {}'\n", path.display());
    assert!(line.ends_with(&expected), "{line}");
    let line = remote.ok(&["resume", "--print", "abcdef12", "u1"]);
    assert!(line.trim_end().ends_with(&format!(" resume -- {} u1'", path.display())), "{line}");
    let dir = remote.here.dir("work");
    let pulled = remote.ok(&["machine", "pull", "abcdef12", "--cwd", dir.to_str().unwrap()]);
    let copy = fs::read_to_string(pulled.trim()).unwrap();
    assert!(copy.contains("\"imported\"") && copy.contains("Hello"), "{copy}");
}

#[test]
fn undo_applies_to_the_last_change_of_the_user() {
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
fn a_repeated_command_after_a_lost_answer_changes_nothing_twice() {
    let (remote, path) = remote(Way::Pitree);
    let home = remote.there.path().display();
    // All answers of changes are lost until the file is gone.
    let script = format!(
        "run() {{ env -i PATH=/usr/bin:/bin HOME={home} \"$@\"; }}\n\
         case $3 in *'serve --stdio'*) if [ -e {home}/lost ]; then run \"$@\" | stdbuf -o0 head -c \"$(run \"$@\" </dev/null | wc -c)\"; exit 255; fi;; esac\n\
         run \"$@\"\n"
    );
    let program = remote.here.script("loses", &script);
    remote.ok(&["machine", "remove", "box"]);
    remote.ok(&["machine", "add", "box", &format!("command:{}", program.display())]);
    remote.ok(&["rename", "abcdef12", "One"]);
    remote.ok(&["rename", "abcdef12", "Two"]);
    fs::write(remote.there.path().join("lost"), "").unwrap();
    let lost = remote.run(&["undo", "--on", "box"]);
    assert!(lost.code == 2 && lost.err.contains("repeat the command"), "{lost:?}");
    fs::remove_file(remote.there.path().join("lost")).unwrap();
    remote.ok(&["undo", "--on", "box"]);
    assert_eq!(last_line(&path)["name"], "One");
}
