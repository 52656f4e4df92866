//! Moving to the trash, restoring, and refusals. Only on Linux is the trash below the home.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;

use jiff::Timestamp;

use crate::command_line::pitree::{Pitree, SESSIONS, long_ago};
use crate::common::session::Session;
use crate::common::signals;

#[test]
fn removed_sessions_are_restored_unchanged() {
    let pitree = Pitree::new();
    let path = pitree.write("2026-01-05T09-00-00-000Z_abcd-1.jsonl", "{\"type\":\"session\",\"id\":\"abcd-1\"}\n");
    let text = fs::read(&path).unwrap();
    let name = "~/.pi/agent/sessions/--p--/2026-01-05T09-00-00-000Z_abcd-1.jsonl";
    let is_empty = || {
        let list = pitree.run(&["restore"]);
        assert_eq!((list.code, &*list.out, &*list.err), (0, "", "pitree's trash is empty\n"));
    };
    is_empty();
    for (at, what) in ["1", path.to_str().unwrap(), "abcd", "2026-01-05T09-00-00-000Z_abcd-1"].iter().enumerate() {
        assert_eq!(pitree.print(&["rm", "abcd", "--yes"]), format!("move to trash  {name}\n"));
        assert!(!path.exists());
        let trashed = pitree.home().join(".local/share/Trash/files").join(path.file_name().unwrap());
        assert_eq!(fs::read(trashed).unwrap(), text);
        assert_eq!(pitree.print(&["restore"]), format!("{}  now  33 B  (no messages)  {name}\n", at + 1));
        assert_eq!(pitree.print(&["restore", what]), format!("restored: {name}\n"));
        assert_eq!(fs::read(&path).unwrap(), text);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago());
        is_empty();
    }
    for what in ["1", "nothing", ""] {
        assert!(pitree.refuse(&["restore", what]).contains("no session in pitree's trash"), "{what}");
    }
}

#[test]
fn grouped_removals_are_one_history_line() {
    let pitree = Pitree::new();
    for id in ["one", "two", "three"] {
        pitree.write_session(&Session::new(id).user("u1", &format!("Say {id}")));
    }
    pitree.print(&["rename", "one", "First"]);
    pitree.print(&["rm", "one", "two", "three", "--yes"]);
    let list = || pitree.print(&["undo", "--list"]);
    assert_eq!(
        list(),
        "  1  now  done  rename to \"First\"  First\n2-4  now  done  move to trash      3 sessions, such as First\n",
        "where it lies in the trash"
    );
    assert_eq!(pitree.objects(&["undo", "--list", "--json"]).len(), 4, "a script gets each change");
    assert!(pitree.print(&["restore"]).lines().nth(1).unwrap().contains("  Say two    ~/.pi/"));
    pitree.print(&["undo", "3"]);
    assert!(list().ends_with("2-4  now  2 of 3 done  move to trash      3 sessions, such as First\n"), "{}", list());
}

#[test]
fn lines_of_a_running_pi_are_reported_and_restored() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&Session::new("gone").user("u1", "hello"));
    let (name, before) = (path.to_str().unwrap(), fs::read_to_string(&path).unwrap());
    let other = pitree.write_session(&Session::new("other").user("u1", "hello"));
    pitree.print(&["rm", name, "--yes"]);
    // pi 1.5.2 appends to the path of a missing file in this form.
    let lines = Session::new("gone").under("u1").name("n1", "after").lines().to_string();
    fs::write(&path, &lines).unwrap();
    let told = |words: &str| {
        for args in [&["ls", "--json"][..], &["search", "hello", "--json"], &["labels", "--json"]] {
            let outcome = pitree.run(args);
            let is_told = outcome.err.starts_with("pitree: ") && outcome.err.contains(words);
            assert!(outcome.code == 0 || args[0] == "labels", "{outcome:?}");
            assert!(is_told && outcome.err.lines().count() == 1 && !outcome.out.contains("gone"), "{outcome:?}");
        }
    };
    told(
        "entries without a header, written by a running pi after its session moved to the trash; run `pitree trash restore 1` to restore",
    );
    // A refused command writes nothing to the file.
    let all = [
        &["rename", name, "x"][..],
        &["label", name, "n1", "x"],
        &["fork", name, "n1"],
        &["rm", name, "--yes"],
        &["files", name],
    ];
    for args in all {
        assert!(pitree.refuse(args).contains("no session header (pi writes such a file"), "{args:?}");
    }
    let restored = pitree.run(&["restore", "1"]);
    let joined = "pitree: merged the entries that a running pi wrote to the old path\n";
    assert_eq!((restored.code, restored.err.as_str()), (0, joined));
    assert_eq!(fs::read_to_string(&path).unwrap(), before + &lines);
    assert_eq!(pitree.listed(&path)["name"], "after");

    // The lines belong to a session that is not in the trash.
    fs::write(&other, &lines).unwrap();
    let outcome = pitree.run(&["ls"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.err.contains("other.jsonl: not a pi session: no session header (pi writes such a file"));
}

#[test]
fn changes_by_pitree_do_not_mark_a_session_live() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&Session::new("one").asked("hello", &["first", "second"]));
    let name = path.to_str().unwrap();
    for args in [
        &["rename", name, "a name"][..],
        &["label", name, "u1", "here"],
        &["resume", name, "a2", "--print", "--allow-write"],
        &["fork", name, "a2"],
        &["rm", name, "--yes"],
        &["undo"],
    ] {
        assert_eq!(pitree.run(args).code, 0, "{args:?}");
        let found = pitree.run(&["search", "is:live"]);
        assert_eq!((found.code, &*found.out), (1, ""), "{args:?}");
    }
    // Appends in pi's format.
    let now = Timestamp::now().to_string();
    let line = format!(
        "{{\"type\":\"custom\",\"customType\":\"x\",\"id\":\"c1\",\"parentId\":\"a3\",\"timestamp\":{now:?}}}\n"
    );
    fs::write(&path, fs::read_to_string(&path).unwrap() + &line).unwrap();
    assert_eq!(pitree.objects(&["search", "is:live", "--json"]).len(), 1);
    let outcome = pitree.run(&["rm", name, "--dry-run"]);
    assert!(outcome.code == 0 && outcome.err.contains("The file was modified "), "{}", outcome.err);
}

#[test]
fn without_a_terminal_removal_needs_an_option() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let before = pitree.files();
    let outcome = pitree.run(&["rm", "branches"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    assert!(outcome.err.contains("--yes"), "{}", outcome.err);
    for args in [&["rm", "no-such", "--yes"][..], &["rm", "branches", "no-such", "--yes"], &["rm", "x.jsonl", "--yes"]]
    {
        pitree.refuse(args);
    }
    fs::write(pitree.home().join("notes.jsonl"), "not a session").unwrap();
    assert!(pitree.refuse(&["rm", "notes.jsonl", "--yes"]).contains("not a pi session"));
    fs::remove_file(pitree.home().join("notes.jsonl")).unwrap();
    assert!(before == pitree.files());
    pitree.print(&["rm", "branches", "--yes"]);
    let before = pitree.files();
    assert!(pitree.refuse(&["trash", "empty"]).contains("without a terminal"));
    assert_eq!(pitree.print(&["trash", "empty", "--dry-run"]), "would permanently delete 1 session\n");
    assert_eq!(pitree.objects(&["trash", "list", "--json"]).len(), 1);
    assert!(before == pitree.files());
}

#[test]
fn a_family_is_removed_and_restored_together() {
    let pitree = Pitree::new();
    let family = ["fork-parent", "fork-child", "fork-grandchild"].map(|name| pitree.fixture(name));
    // A subagent of the child.
    let agent = pitree.write("fork-child/1/run-0/session.jsonl", "{\"type\":\"session\",\"id\":\"agent\"}\n");
    let other = pitree.fixture("branches");
    let gone = pitree.objects(&["rm", "fork-grandchild", "--family", "--yes", "--json"]);
    assert!(family.iter().chain([&agent]).all(|path| !path.exists()) && other.exists(), "{gone:?}");
    assert_eq!(gone.len(), 4);
    assert!(gone.iter().all(|change| change["kind"] == "trash" && change["done"] == true), "{gone:?}");
    assert_eq!(pitree.objects(&["restore", "--json"]).len(), 4);
    assert_eq!(pitree.print(&["undo"]).lines().count(), 4);
    assert!(family.iter().chain([&agent]).all(|path| path.exists()));

    pitree.print(&["rm", "fork-child", "fork-child", "--yes"]);
    assert_eq!(family.each_ref().map(|path| path.exists()), [true, false, true]);
}

#[test]
fn trashing_a_link_keeps_its_target() {
    let pitree = Pitree::new();
    let elsewhere = pitree.session("elsewhere", "linked");
    let link = pitree.home().join(SESSIONS).join("link.jsonl");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&elsewhere, &link).unwrap();
    pitree.print(&["rename", link.to_str().unwrap(), "Through the link"]);
    assert!(link.is_symlink() && fs::read_to_string(&elsewhere).unwrap().contains("Through the link"));
    let said = pitree.print(&["rm", link.to_str().unwrap(), "--yes"]);
    assert_eq!(said, "move link to trash  ~/.pi/agent/sessions/--p--/link.jsonl\n");
    assert!(!link.is_symlink() && elsewhere.is_file());
    pitree.print(&["restore", link.to_str().unwrap()]);
    assert_eq!(fs::read_link(&link).unwrap(), elsewhere);
}

#[test]
fn restoring_does_not_overwrite_files() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    pitree.print(&["rm", "branches", "--yes"]);
    fs::write(&path, "taken").unwrap();
    assert!(pitree.refuse(&["restore", "branches"]).contains("file exists"));
    assert!(pitree.refuse(&["undo"]).contains("file exists"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "taken");
    fs::remove_file(&path).unwrap();
    pitree.print(&["restore", "branches"]);
}

#[test]
fn the_configured_trash_is_used_and_deletion_needs_confirmation() {
    let pitree = Pitree::new().variable("PATH", "/usr/bin:/bin");
    let path = pitree.fixture("branches");
    fs::write(pitree.home().join("c.toml"), "trash = [\"sh\", \"-c\", \"echo no room >&2; exit 1\"]\n").unwrap();
    let refused = pitree.refuse(&["rm", "branches", "--yes", "--config", "c.toml"]);
    assert!(refused.contains("no room") && refused.contains("not moved: ~/.pi"), "{refused}");
    let kept = pitree.home().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(pitree.home().join("c.toml"), format!("trash = [\"mv\", \"-t\", {kept:?}]\n")).unwrap();
    pitree.print(&["rm", "branches", "--yes", "--config", "c.toml"]);
    assert!(!path.exists() && kept.join("branches.jsonl").is_file());
}

#[test]
fn undo_removes_a_fork_unless_it_was_used() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let fork = || pitree.run(&["fork", "branches", "a2"]).out.trim_end().to_string();
    let made = fork();
    pitree.print(&["undo"]);
    assert!(!fs::exists(&made).unwrap());
    let made = fork();
    let used = fs::read_to_string(&made).unwrap() + "{\"type\":\"custom\",\"id\":\"x\",\"parentId\":null}\n";
    fs::write(&made, used).unwrap();
    assert!(pitree.refuse(&["undo"]).contains("new entries"));
}

#[test]
fn a_signal_stops_between_two_files() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let stop = |signal: &str, code| {
        let pitree = Pitree::new().variable("PATH", "/usr/bin:/bin");
        let names: Vec<String> = (0..5).map(|at| format!("s{at}")).collect();
        let header = |name: &String| format!("{{\"type\":\"session\",\"id\":\"{name}\"}}\n");
        let paths: Vec<_> = names.iter().map(|name| pitree.write(&format!("{name}.jsonl"), &header(name))).collect();
        let slow = "trash = [\"sh\", \"-c\", 'mv \"$1\" \"$1.kept\"; sleep 1', \"sh\"]\n";
        fs::write(pitree.home().join("c.toml"), slow).unwrap();
        let mut args = vec!["rm"];
        args.extend(names.iter().map(String::as_str));
        args.extend(["--yes", "--config", "c.toml"]);
        let mut run = pitree.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while paths[1].exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        signals::send(run.id(), signal);
        let said: Vec<String> = BufReader::new(run.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
        let complaint = std::io::read_to_string(run.stderr.take().unwrap()).unwrap();
        assert_eq!(run.wait().unwrap().code(), Some(code));
        assert!(complaint.ends_with("pitree: interrupted; 3 remaining\n"), "{complaint}");
        assert_eq!((said.len(), paths.iter().filter(|path| path.exists()).count()), (2, 3), "{said:?}");
        assert_eq!(pitree.objects(&["restore", "--json"]).len(), 2);
    };
    std::thread::scope(|scope| {
        for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            scope.spawn(move || stop(signal, code));
        }
    });
}
