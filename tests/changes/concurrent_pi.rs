//! A pi whose session file was trashed keeps appending to the path, which creates a file without a header. Restoring
//! from the trash appends those lines to the restored file.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pitree::changes::journal::ChangeState;
use pitree::changes::{Refusal, Request};
use pitree::session::entry::EntryId;

use crate::changes::world::{NOW, World, home, in_own_home, rename, session, theirs, tree};
use crate::common::effort::rounds;

/// Appends as pi does.
fn append(path: &Path, text: &str) {
    OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn in_trash() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(home().join("data/Trash/files")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn lines_of_a_running_pi_are_joined() {
    in_own_home("concurrent_pi::joined");
}

#[test]
#[ignore = "run by lines_of_a_running_pi_are_joined, in a home of its own"]
fn joined() {
    let world = World::at_home();
    let [mut one, two, three] = ["p1", "p2", "p3"].map(|id| theirs(id, "e1"));
    for (ends, cut) in [(true, 0), (false, 1)] {
        // With and without a line break at the end of the file, and of pi's last line.
        let before = session(&[(0, 4), (0, 3)]);
        let path = world.write("s.jsonl", &before[..before.len() - cut]);
        world.trash(&path).unwrap();
        if !ends {
            one.pop();
        }
        append(&path, &one);
        let said = world.undo().unwrap().summary;
        assert_eq!(said, "Restored 1 session; warning: merged the entries that a running pi wrote to the old path");
        let now = fs::read_to_string(&path).unwrap();
        assert_eq!(now, format!("{before}{}\n", one.trim_end()));
        append(&path, &two);
        let joined = fs::read_to_string(&path).unwrap();

        // The complete file is trashed again, and pi continues again.
        world.make(&Request::Redo).unwrap();
        assert!(!path.exists());
        world.undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), joined);
        world.make(&Request::Redo).unwrap();
        append(&path, &three);
        world.undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{joined}{three}"));
        let tree = tree(&path);
        assert_eq!((tree.nodes.len(), &tree.problems[..]), (5, &[][..]));
        assert_eq!(tree.leaf.and_then(|leaf| tree.nodes[leaf as usize].id.clone()).as_deref(), Some("p3"));
    }
    // pi's lines are also kept in a file of their own.
    let kept: Vec<String> = in_trash().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    assert_eq!(kept.len(), 4);
    assert!(kept.contains(&three) && kept.contains(&one), "{kept:?}");
    assert_eq!(world.sessions().len(), 1);
}

#[test]
fn a_restored_fork_includes_lines_of_a_running_pi() {
    in_own_home("concurrent_pi::of_a_fork");
}

#[test]
#[ignore = "run by a_restored_fork_includes_lines_of_a_running_pi, in a home of its own"]
fn of_a_fork() {
    let world = World::at_home();
    let path = world.write("s.jsonl", session(&[(0, 4), (0, 3)]));
    let done = world.make(&Request::Fork { path, at: Some(EntryId::Id("e1".into())), migrate: false }).unwrap();
    let fork = done.made.unwrap();
    let before = fs::read_to_string(&fork).unwrap();
    world.undo().unwrap();
    append(&fork, &theirs("p1", "e1"));
    assert_eq!(world.make(&Request::Redo).unwrap().made.as_deref(), Some(&*fork));
    assert_eq!(fs::read_to_string(&fork).unwrap(), before + &theirs("p1", "e1"));
    let error = world.undo().unwrap_err();
    assert!(format!("{error:#}").contains("the fork has new entries and stays in place"), "{error:#}");
}

#[test]
fn files_not_written_by_a_running_pi_stay_in_place() {
    in_own_home("concurrent_pi::not_joined");
}

#[test]
#[ignore = "run by files_not_written_by_a_running_pi_stay_in_place, in a home of its own"]
fn not_joined() {
    let world = World::at_home();
    let path = world.write("s.jsonl", session(&[(0, 4)]));
    world.trash(&path).unwrap();
    let link = world.write("link", theirs("p1", "e0"));
    for other in ["", "notes\n", "{\"id\":\"x\"}\n", &session(&[(0, 4), (0, 4)])] {
        fs::write(&path, other).unwrap();
        let error = world.make(&Request::Undo { number: Some(1) }).unwrap_err();
        assert!(matches!(error.downcast_ref(), Some(Refusal::TargetChanged { .. })), "{other}: {error:#}");
        assert_eq!(fs::read_to_string(&path).unwrap(), other);
        fs::remove_file(&path).unwrap();
    }
    std::os::unix::fs::symlink(&link, &path).unwrap();
    assert!(world.make(&Request::Undo { number: Some(1) }).is_err() && path.is_symlink());
    fs::remove_file(&path).unwrap();
    world.make(&Request::Undo { number: Some(1) }).unwrap();
    assert_eq!(world.changes.history().unwrap()[0].state, ChangeState::Undone);
}

#[test]
fn lines_written_during_a_killed_join_are_kept() {
    in_own_home("concurrent_pi::cut_short");
}

#[test]
#[ignore = "run by lines_written_during_a_killed_join_are_kept, in a home of its own"]
fn cut_short() {
    let world = World::at_home();
    let before = session(&[(0, 4)]);
    let [one, two, three] = ["p1", "p2", "p3"].map(|id| theirs(id, "e0"));
    let journal = world.dir.join("state/journal.jsonl");
    let other = world.write("other.jsonl", session(&[(0, 4)]));
    // The number of pi's lines in the complete file (the last line came late), and `true` if pi wrote to that file
    // since.
    let cases =
        [(one.clone(), ""), (format!("{one}{two}"), ""), (one.clone(), &*three), (format!("{one}{two}"), &three)];
    for (which, (taken, since)) in cases.iter().enumerate() {
        let path = world.write(&format!("{which}.jsonl"), &before);
        world.trash(&path).unwrap();
        let number = world.changes.history().unwrap().last().unwrap().number;
        // Simulates a process killed after the complete file was in place: pi's lines are in the trash.
        let place = home().join(format!("data/Trash/files/{which}.jsonl.late"));
        let note = home().join("data/Trash/info").join(format!("{which}.jsonl.late.trashinfo"));
        fs::write(&place, format!("{one}{two}")).unwrap();
        fs::write(note, format!("[Trash Info]\nPath={}.late\n", path.display())).unwrap();
        fs::write(&path, format!("{before}{taken}{since}")).unwrap();
        let line = serde_json::json!({"number": number, "time": NOW, "state": "undoing", "item": place});
        append(&journal, &format!("{line}\n"));
        world.make(&rename(&other, &format!("name {which}"))).unwrap();
        let late = if taken.contains(&two) { "" } else { &two };
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{before}{taken}{since}{late}"));
        let history = world.changes.history().unwrap();
        assert_eq!(history.iter().find(|record| record.number == number).unwrap().state, ChangeState::Undone);
        assert!(place.exists() && !place.with_extension("").exists());
    }
}

#[test]
fn a_constantly_writing_pi_loses_no_lines() {
    in_own_home("concurrent_pi::busy");
}

#[test]
#[ignore = "run by a_constantly_writing_pi_loses_no_lines, in a home of its own"]
fn busy() {
    let world = World::at_home();
    let path = world.write("s.jsonl", session(&[(0, 4)]));
    let (is_over, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut joined = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let at = written.load(Ordering::Relaxed);
                let parent = at.checked_sub(1).map_or("e0".into(), |before| format!("p{before}"));
                append(&path, &theirs(&format!("p{at}"), &parent));
                written.store(at + 1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        for _ in 0..rounds(20, 60) {
            // pi writes between two checks: retry as a user would.
            while world.trash(&path).is_err() {}
            let at = written.load(Ordering::Relaxed);
            while written.load(Ordering::Relaxed) < at + 3 {}
            while world.make(&Request::Undo { number: None }).is_err() {}
            joined += usize::from(fs::read_to_string(&path).unwrap().starts_with("{\"type\":\"session\""));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(joined, rounds(20, 60));
    let tree = tree(&path);
    let is_there = |id: &String| {
        let is_kept = |file: &PathBuf| fs::read_to_string(file).unwrap().contains(&format!("\"{id}\""));
        // Between opening and writing, pi may pause until the files are joined: then the line is in the trash.
        tree.find(id).is_some() || in_trash().iter().any(is_kept)
    };
    let all = written.into_inner();
    let lost: Vec<String> = (0..all).map(|at| format!("p{at}")).filter(|id| !is_there(id)).collect();
    assert_eq!(lost, [""; 0]);
    assert!(tree.nodes.len() > all * 9 / 10, "{} of {all}", tree.nodes.len());
    assert!(!tree.problems.iter().any(|problem| problem.to_string().contains("JSON")), "{:?}", tree.problems);
}
