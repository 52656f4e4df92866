//! Requests with many changes: linear time, progress reports, and cancellation.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use pitree::changes::journal::ChangeState;
use pitree::changes::{
    ChangeEvent, ChangeProgress, Changes, ExpectedSession, FileSnapshot, PartialFailure, Request, touched,
};
use pitree::disk::trash::Trash;

use crate::changes::world::{NOW, View, World, around, in_own_home, rename, seen, session, theirs, tree};
use crate::common::effort::skipped;

/// Creates sessions. Half of them are in folders of their own and share one file name.
fn sessions(world: &World, count: usize) -> Vec<PathBuf> {
    let text = session(&[(0, 4)]);
    let write = |at: usize| {
        if at.is_multiple_of(2) {
            return world.write(&format!("{at}.jsonl"), text.replace("question 0", &at.to_string()));
        }
        fs::create_dir(world.dir.join(at.to_string())).unwrap();
        world.write(&format!("{at}/session.jsonl"), text.replace("question 0", &at.to_string()))
    };
    (0..count).map(write).collect()
}

fn to_trash(paths: &[PathBuf]) -> Request {
    Request::Trash { files: paths.iter().map(|path| seen(path)).collect() }
}

fn there(paths: &[PathBuf]) -> usize {
    paths.iter().filter(|path| path.exists()).count()
}

/// Creates a callback that cancels after a number of changes.
fn until(stop: usize) -> impl FnMut(ChangeEvent<'_>) -> ControlFlow<()> {
    move |news| match news {
        ChangeEvent::Made(ChangeProgress { done, .. }) if done >= stop => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

#[test]
fn many_sessions_are_trashed_and_restored() {
    in_own_home("bulk::many");
    in_own_home("bulk::stopped");
    in_own_home("bulk::odd_names");
    in_own_home("bulk::failed_in_the_middle");
}

#[test]
#[ignore = "run by many_sessions_are_trashed_and_restored, in a home of its own"]
fn many() {
    let count = 1000;
    let world = World::at_home();
    let paths = sessions(&world, count);
    let before: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    for _ in 0..2 {
        assert_eq!(world.make(&to_trash(&paths)).unwrap().changes.len(), count);
        assert_eq!(there(&paths), 0);
        assert_eq!(world.make(&Request::Undo { number: None }).unwrap().changes.len(), count);
    }
    world.make(&Request::Redo).unwrap();
    world.make(&Request::Undo { number: None }).unwrap();
    assert!(paths.iter().zip(before).all(|(path, before)| fs::read(path).unwrap() == before));
    let trash = crate::changes::world::home().join("data/Trash");
    for folder in ["files", "info"] {
        assert_eq!(fs::read_dir(trash.join(folder)).unwrap().count(), 0, "{folder}");
    }
}

#[test]
#[ignore = "run by many_sessions_are_trashed_and_restored, in a home of its own"]
fn stopped() {
    let world = World::at_home();
    let paths = sessions(&world, 10);
    let make = |request: &Request, stop: usize| world.changes.make(request, NOW, &mut until(stop)).unwrap();
    world.make(&rename(&paths[0], "first")).unwrap();
    let done = make(&to_trash(&paths), 4);
    assert_eq!((done.summary.as_str(), done.left), ("Moved 4 sessions to the trash; interrupted, 6 remaining", 6));
    assert_eq!((done.changes.len(), there(&paths)), (4, 6));

    let done = make(&Request::Undo { number: None }, 1);
    assert_eq!((done.summary.as_str(), done.left), ("Restored 1 session; interrupted, 3 remaining", 3));
    assert_eq!(there(&paths), 7);
    let done = make(&Request::Undo { number: None }, 10);
    assert_eq!((done.summary.as_str(), done.left, there(&paths)), ("Restored 3 sessions", 0, 10));
    assert_eq!(make(&Request::Redo, 3).summary, "Moved 3 sessions to the trash again; interrupted, 1 remaining");
    assert_eq!(make(&Request::Undo { number: None }, 10).changes.len(), 3, "one undo takes back what was made");

    let mut told = Vec::new();
    let done = world.changes.make(&to_trash(&paths[..4]), NOW, &mut |news| {
        if let ChangeEvent::Made(ChangeProgress { done, total }) = news {
            told.push((done, total));
        }
        ControlFlow::Continue(())
    });
    assert_eq!((done.unwrap().left, told), (0, vec![(1, 4), (2, 4), (3, 4)]), "between two, not before or behind");
    let files: Vec<FileSnapshot> = paths[4..].iter().map(|path| seen(path)).collect();
    let done = make(&Request::Delete { files }, 2);
    assert_eq!((done.summary.as_str(), done.left), ("permanently deleted 2 sessions; interrupted, 4 remaining", 4));
    assert_eq!(there(&paths), 4);
}

#[test]
fn moves_to_the_archive_stop_between_two_sessions() {
    let world = World::new();
    let paths = sessions(&world, 300);
    let before: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    let files: Vec<FileSnapshot> = paths.iter().map(|path| seen(path)).collect();
    let make = |request: &Request, stop: usize| world.changes.make(request, NOW, &mut until(stop)).unwrap();
    let done = make(&Request::Archive { files: files.clone() }, 140);
    let summary = "Moved 140 sessions to the archive; interrupted, 160 remaining";
    assert_eq!((done.summary.as_str(), there(&paths)), (summary, 160));
    let done = make(&Request::Undo { number: None }, 10);
    assert_eq!((done.changes.len(), done.left, there(&paths)), (10, 130, 170));
    assert_eq!(make(&Request::Undo { number: None }, 300).changes.len(), 130);
    make(&Request::Archive { files }, 300);
    assert_eq!(there(&paths), 0);
    let archived: Vec<PathBuf> =
        paths.iter().map(|path| crate::changes::world::archived_in(&world.dir, path)).collect();
    assert!(pitree::disk::load::writable(&archived[0]).is_err(), "no line is appended to an archived session");
    assert_eq!(make(&Request::Unarchive { files: archived }, 299).left, 1);
    assert_eq!(world.undo().unwrap().changes.len(), 299);
    assert_eq!(world.undo().unwrap().changes.len(), 300, "the first move");
    assert!(paths.iter().zip(before).all(|(path, before)| fs::read(path).unwrap() == before));
    let states: Vec<ChangeState> = world.changes.history().unwrap().iter().map(|record| record.state).collect();
    assert!(!states.contains(&ChangeState::Begun));
}

#[test]
#[ignore = "run by many_sessions_are_trashed_and_restored, in a home of its own"]
fn odd_names() {
    let world = World::at_home();
    let paths = ["a b%20=c.jsonl", "é\u{1f333}.jsonl", "line\nbreak.jsonl"].map(|name| world.dir.join(name));
    paths.iter().for_each(|path| fs::write(path, format!("{path:?}")).unwrap());
    // The names in the trash are taken, one of them by a file without a trash note.
    let trash = crate::changes::world::home().join("data/Trash/files");
    fs::create_dir_all(&trash).unwrap();
    fs::write(trash.join("a b%20=c.jsonl"), "somebody else's").unwrap();
    for round in 0..3 {
        world.make(&to_trash(&paths)).unwrap();
        assert_eq!(there(&paths), 0);
        if round < 2 {
            paths.iter().for_each(|path| fs::write(path, format!("{path:?} {round}")).unwrap());
        }
    }
    for round in [Some(1), Some(0), None] {
        world.undo().unwrap();
        for path in &paths {
            let wanted = round.map_or(format!("{path:?}"), |round| format!("{path:?} {round}"));
            assert_eq!(fs::read_to_string(path).unwrap(), wanted, "what was removed last comes back first");
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(fs::read_to_string(trash.join("a b%20=c.jsonl")).unwrap(), "somebody else's");
    assert_eq!(fs::read_dir(&trash).unwrap().count(), 1);
}

#[test]
#[ignore = "run by many_sessions_are_trashed_and_restored, in a home of its own"]
fn failed_in_the_middle() {
    let world = World::at_home();
    let paths = sessions(&world, 6);
    world.make(&to_trash(&paths)).unwrap();
    fs::write(&paths[2], "another").unwrap();
    let request = Request::Undo { number: None };
    let result = world.make(&request);
    let error = result.as_ref().unwrap_err();
    assert!(error.to_string().contains("undid 5 of 6; then failed: skipped: cannot restore"), "{error:#}");
    let partly: &PartialFailure = error.downcast_ref().unwrap();
    assert_eq!(partly.changes.len(), 5);
    let mut back: Vec<PathBuf> = paths.iter().filter(|path| **path != paths[2]).cloned().collect();
    back.sort();
    assert_eq!(touched(&request, &result), back, "what came back is known");
    assert_eq!(touched(&to_trash(&[]), &world.make(&to_trash(&[]))), [""; 0].map(PathBuf::from));

    fs::remove_file(&paths[2]).unwrap();
    assert_eq!(world.undo().unwrap().summary, "nothing to undo");
    world.make(&Request::Undo { number: Some(3) }).unwrap();
    let script = world.write("trash", "#!/bin/sh\ncase $1 in *2.jsonl) echo 'no room' >&2; exit 1;; esac\nrm \"$1\"\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let changes = Changes::new(
        world.dir.join("state"),
        Trash { command: vec![script.to_str().unwrap().to_string()], ..Trash::default() },
    );
    let request = to_trash(&paths[..4]);
    let result = changes.make(&request, NOW, &mut until(10));
    match result.as_ref().unwrap_err().downcast_ref() {
        Some(pitree::changes::Refusal::NoTrash { reason, left }) => {
            assert!(reason.ends_with("no room"), "{reason}");
            assert_eq!(left, &[seen(&paths[2]), seen(&paths[3])]);
        }
        other => panic!("{other:?}"),
    }
    let mut all = paths[..4].to_vec();
    all.sort();
    assert_eq!(touched(&request, &result), all);
    let states: Vec<ChangeState> = changes.history().unwrap()[6..].iter().map(|record| record.state).collect();
    assert_eq!(states, [ChangeState::Done, ChangeState::Done, ChangeState::Dropped]);
}

/// Creates sessions with entries, in files of their own.
fn named(world: &World, count: usize) -> Vec<ExpectedSession> {
    let write = |at: usize| world.write(&format!("{at:04}.jsonl"), session(&[(0, 4), (0, 3), (0, 1)]));
    (0..count).map(write).map(|path| ExpectedSession { path, id: "s".into() }).collect()
}

fn views(sessions: &[ExpectedSession]) -> Vec<(Option<String>, Vec<String>)> {
    let view = |session: &ExpectedSession| {
        let View { name, labels, .. } = View::of(&session.path);
        (name, labels.into_iter().map(|(target, label)| format!("{target} {label}")).collect())
    };
    sessions.iter().map(view).collect()
}

fn view(name: &str, label: &str) -> (Option<String>, Vec<String>) {
    (Some(name.into()), Some(label.into()).into_iter().filter(|label: &String| !label.is_empty()).collect())
}

/// Gives all sessions the same name.
fn rename_all(sessions: &[ExpectedSession]) -> Request {
    Request::RenameAll {
        sessions: sessions.iter().map(|session| (session.clone(), "new".into())).collect(),
        keeps_names: false,
    }
}

#[test]
fn many_sessions_are_renamed_and_labeled() {
    let world = World::new();
    let sessions = named(&world, 300);
    let before: Vec<Vec<u8>> = sessions.iter().map(|session| fs::read(&session.path).unwrap()).collect();
    let times = || sessions.iter().map(|session| fs::metadata(&session.path).unwrap().modified().unwrap());
    let times_before: Vec<_> = times().collect();
    let rename = rename_all(&sessions);
    let label = Request::LabelAll { sessions: sessions.clone(), label: "good".into() };
    assert_eq!(world.make(&rename).unwrap().summary, "Renamed 300 sessions");
    assert_eq!(views(&sessions), vec![view("new", ""); 300]);
    assert_eq!(world.make(&rename).unwrap().summary, "nothing to change");
    let labeled = world.make(&label).unwrap();
    assert_eq!((labeled.summary.as_str(), labeled.changes.len()), ("Labeled 300 sessions", 300));
    assert_eq!(views(&sessions), vec![view("new", "e1 good"); 300], "the last message, not the name after it");
    assert_eq!(world.undo().unwrap().summary, "Restored the labels of 300 sessions");
    assert_eq!(world.undo().unwrap().summary, "Restored the names of 300 sessions");
    assert_eq!(views(&sessions), vec![view("name 2", ""); 300]);
    assert_eq!(world.make(&Request::Redo).unwrap().summary, "Renamed 300 sessions again");
    assert_eq!(views(&sessions), vec![view("new", ""); 300]);
    assert!(times().eq(times_before), "`pi -c` opens the same session as before");
    assert!(sessions.iter().zip(before).all(|(session, before)| fs::read(&session.path).unwrap().starts_with(&before)));
    let states: Vec<ChangeState> = world.changes.history().unwrap().iter().map(|record| record.state).collect();
    assert_eq!(states, [vec![ChangeState::Done; 300], vec![ChangeState::Undone; 300]].concat());
}

#[test]
fn renaming_stops_between_two_sessions() {
    let world = World::new();
    let sessions = named(&world, 10);
    let rename = rename_all(&sessions);
    let done = world.changes.make(&rename, NOW, &mut until(4)).unwrap();
    assert_eq!((done.summary.as_str(), done.left), ("Renamed 4 sessions; interrupted, 6 remaining", 6));
    assert_eq!(views(&sessions), [vec![view("new", ""); 4], vec![view("name 2", ""); 6]].concat());
    let done = world.changes.make(&Request::Undo { number: None }, NOW, &mut until(1)).unwrap();
    assert_eq!(done.summary, "undone: rename to \"new\" (was \"name 2\"); interrupted, 3 remaining");
    assert_eq!(world.undo().unwrap().summary, "Restored the names of 3 sessions");
    assert_eq!(views(&sessions), vec![view("name 2", ""); 10]);
    let states: Vec<ChangeState> = world.changes.history().unwrap().iter().map(|record| record.state).collect();
    assert_eq!(states, [vec![ChangeState::Undone; 4], vec![ChangeState::Dropped; 6]].concat());
}

#[test]
fn a_session_that_cannot_be_renamed_does_not_stop_the_others() {
    let world = World::new();
    let mut sessions = named(&world, 6);
    fs::remove_file(&sessions[1].path).unwrap();
    fs::write(&sessions[2].path, session(&[(0, 4)]).replace("\"id\":\"s\"", "\"id\":\"other\"")).unwrap();
    // A second name of the same file has the new name already; the same file twice is changed once.
    let link = world.dir.join("link.jsonl");
    std::os::unix::fs::symlink(&sessions[3].path, &link).unwrap();
    sessions.push(ExpectedSession { path: link, id: "s".into() });
    sessions.push(sessions[0].clone());
    let rename = rename_all(&sessions);
    let error = world.make(&rename).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("Renamed 4 sessions; failed for 2 sessions: "), "{text}");
    assert!(text.contains("0001.jsonl") && text.contains("was replaced by another session"), "{text}");
    let partly: &PartialFailure = error.downcast_ref().unwrap();
    assert_eq!(partly.changes.len(), 4);
    assert_eq!(world.undo().unwrap().summary, "Restored the names of 4 sessions");
    sessions.drain(1..3);
    assert_eq!(views(&sessions), vec![view("name 2", ""); 6]);
}

#[test]
fn a_session_that_grows_between_recording_and_writing_is_read_again() {
    let world = World::new();
    let sessions = named(&world, 3);
    let rename = rename_all(&sessions);
    let done = world.changes.make(&rename, NOW, &mut |news| {
        if news == ChangeEvent::Made(ChangeProgress { done: 1, total: 3 }) {
            let mut grown = fs::read_to_string(&sessions[1].path).unwrap();
            grown += &theirs("pi", "e2");
            fs::write(&sessions[1].path, grown).unwrap();
        }
        ControlFlow::Continue(())
    });
    assert_eq!(done.unwrap().summary, "Renamed 3 sessions");
    let tree = tree(&sessions[1].path);
    assert_eq!(tree.parent(4), Some(3), "the name follows pi's line");
    assert_eq!(views(&sessions), vec![view("new", ""); 3]);
    let states: Vec<ChangeState> = world.changes.history().unwrap().iter().map(|record| record.state).collect();
    assert_eq!(states, [ChangeState::Done, ChangeState::Dropped, ChangeState::Done, ChangeState::Done]);
    world.undo().unwrap();
    assert_eq!(views(&sessions), vec![view("name 2", ""); 3]);
}

#[test]
fn a_batch_is_synced_at_once() {
    let is_there = Command::new("strace").arg("--version").stdout(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        return skipped("there is no strace");
    }
    let home = tempfile::tempdir().unwrap();
    let world = World::of(home.path());
    let sessions: Vec<PathBuf> = named(&world, 256).into_iter().map(|session| session.path).collect();
    let pitree = |words: &[&str], sessions: &[PathBuf]| {
        let mut inner = Command::new(env!("CARGO_BIN_EXE_pitree"));
        inner.args(&words[..1]).args(sessions).args(&words[1..]).arg("--dir").arg(&world.dir).env("HOME", home.path());
        inner.env_remove("XDG_STATE_HOME").env_remove("XDG_DATA_HOME");
        let trace = home.path().join("trace");
        let options = ["-f", "-qq", "-e", "trace=fdatasync,fsync,syncfs", "-o", trace.to_str().unwrap()];
        assert!(around("strace", &options, &inner).output().unwrap().status.success(), "{words:?}");
        fs::read_to_string(trace).unwrap().lines().filter(|line| line.contains("sync")).count()
    };
    // For each of two batches, the journal and the sessions or the trash; then the folders.
    for words in [&["rename", "new"][..], &["undo"], &["redo"], &["rm", "--yes"], &["undo"]] {
        let files = if ["rename", "rm"].contains(&words[0]) { &sessions[..] } else { &[] };
        let syncs = pitree(words, files);
        assert!((2..=12).contains(&syncs), "{words:?}: {syncs} syncs");
    }
    assert_eq!(there(&sessions), 256);
}
