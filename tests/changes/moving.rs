//! Sessions that move to another working directory.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pitree::changes::{Change, ExpectedSession, MoveRequest, Request, SessionMove};
use pitree::disk::locate::Located;

use crate::changes::world::{World, home, in_own_home, kill_in_round, myself, rename, session, theirs};
use crate::common::effort::{rounds, skipped};
use crate::common::session::Session;

/// The new working directory, and the name of pi's folder for it.
const NEW: (&str, &str) = ("/new/app", "--new-app--");

/// Writes a file in a folder of the session directory, with a mode and a time of its own.
fn written(world: &World, name: &str, text: &str) -> PathBuf {
    fs::create_dir_all(world.dir.join(name).parent().unwrap()).unwrap();
    let path = world.write(name, text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    path
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn append(path: &Path, line: &str) {
    fs::write(path, text(path) + line).unwrap();
}

fn expected(path: &Path, id: &str) -> ExpectedSession {
    ExpectedSession { path: path.into(), id: id.into() }
}

fn request(world: &World, sessions: &[(&Path, &str, Option<&Path>)], relinked: &[(&Path, &str, &Path)]) -> Request {
    let located = Located { dirs: vec![world.dir.clone()], origin: "--dir".into(), ..Default::default() };
    let moved = |&(path, id, parent): &(&Path, &str, Option<&Path>)| SessionMove {
        session: expected(path, id),
        cwd: NEW.0.into(),
        parent: parent.map(Into::into),
    };
    let relinked = relinked.iter().map(|&(path, id, parent)| (expected(path, id), parent.into())).collect();
    Request::Move(MoveRequest { located, sessions: sessions.iter().map(moved).collect(), relinked })
}

/// Returns the names of all files of sessions, with their folders.
fn names(world: &World) -> Vec<String> {
    let folders = fs::read_dir(&world.dir).unwrap().map(|folder| folder.unwrap().path());
    let folders = folders.filter(|path| path.is_dir() && path.file_name().unwrap().to_str().unwrap().starts_with("--"));
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
    let mut names: Vec<String> =
        files.map(|path| path.strip_prefix(&world.dir).unwrap().to_str().unwrap().into()).collect();
    names.sort();
    names
}

fn facts(path: &Path) -> (u32, SystemTime) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.permissions().mode() & 0o777, metadata.modified().unwrap())
}

#[test]
fn families_move_and_are_moved_back_by_one_undo() {
    in_own_home("moving::family");
}

#[test]
#[ignore = "run by families_move_and_are_moved_back_by_one_undo, in a home of its own"]
fn family() {
    let world = World::at_home();
    let root = written(&world, "--w--/root.jsonl", &session(&[(0, 2), (0, 3)]));
    let of_parent = |id: &str| Session::new(id).cwd("/w").parent(&root).user("f", "hi").text();
    let fork = written(&world, "--w--/x/y/fork.jsonl", &of_parent("fork"));
    let away = written(&world, "--other--/away.jsonl", &of_parent("away"));
    let files = [&root, &fork, &away];
    let (before, facts_before) = (files.map(|path| text(path)), files.map(|path| facts(path)));
    let move_all = request(&world, &[(&root, "s", None), (&fork, "fork", Some(&root))], &[(&away, "away", &root)]);
    let dry = world.changes.clone().dry_run().make(&move_all, 0, &mut pitree::changes::to_the_end).unwrap();
    assert_eq!((dry.changes.len(), text(&root)), (3, before[0].clone()));
    let done = world.make(&move_all).unwrap();
    assert_eq!(done.summary, "Moved 2 sessions; linked 1 session to the moved parent");
    assert!(matches!(&done.changes[..], [Change::Move(_), Change::Move(_), Change::Rewrite(_)]));
    assert_eq!(names(&world), ["--new-app--/root.jsonl", "--new-app--/x", "--other--/away.jsonl", "--w--/x"]);
    let [new_root, new_fork] = ["root.jsonl", "x/y/fork.jsonl"].map(|name| world.dir.join(NEW.1).join(name));
    let moved = |text: &str| {
        let (header, rest) = text.split_once('\n').unwrap();
        let header = header.replace(r#""cwd":"/w""#, r#""cwd":"/new/app""#);
        format!("{}\n{rest}", header.replace(root.to_str().unwrap(), new_root.to_str().unwrap()))
    };
    assert_eq!([text(&new_root), text(&new_fork)], [moved(&before[0]), moved(&before[1])]);
    assert_eq!(text(&away), before[2].replace(root.to_str().unwrap(), new_root.to_str().unwrap()));
    assert_eq!([&*new_root, &*new_fork, &*away].map(facts), facts_before);

    // One undo reverts all; with bytes, modes and times as before.
    let undone = world.undo().unwrap();
    assert_eq!(undone.summary, "Restored the parent link of 1 session; moved 2 sessions back");
    assert_eq!((files.map(|path| text(path)), files.map(|path| facts(path))), (before.clone(), facts_before));
    assert!(!new_root.exists() && !new_fork.exists());
    assert_eq!(world.make(&Request::Redo).unwrap().changes.len(), 3);
    assert_eq!(text(&new_root), moved(&before[0]));

    // Lines that pi and pitree add to the new file, and lines of a pi that knows only the old path, survive undo.
    append(&new_root, &theirs("p1", "e1"));
    world.make(&rename(&new_root, "a name")).unwrap();
    world.undo().unwrap();
    let lines = text(&new_root).strip_prefix(&*moved(&before[0])).unwrap().to_string();
    assert_eq!(lines.lines().count(), 3);
    fs::write(&root, theirs("late", "e1")).unwrap();
    let undone = world.undo().unwrap();
    assert!(undone.summary.contains("merged the entries that a running pi wrote"), "{}", undone.summary);
    assert_eq!(text(&root), format!("{}{}{lines}", before[0], theirs("late", "e1")));
    assert_eq!((text(&fork), text(&away)), (before[1].clone(), before[2].clone()));

    // Again with the added lines, and back without repeating them.
    let all = text(&root);
    world.make(&Request::Redo).unwrap();
    assert_eq!(text(&new_root), moved(&all));
    world.undo().unwrap();
    assert_eq!(text(&root), all);
    assert_eq!(names(&world), ["--other--/away.jsonl", "--w--/root.jsonl", "--w--/x"]);
}

#[test]
fn flat_directories_keep_the_path() {
    in_own_home("moving::flat");
}

#[test]
#[ignore = "run by flat_directories_keep_the_path, in a home of its own"]
fn flat() {
    let world = World::at_home();
    let before = session(&[(0, 2)]);
    let path = written(&world, "one.jsonl", &before);
    assert_eq!(world.make(&request(&world, &[(&path, "s", None)], &[])).unwrap().summary, "Moved 1 session");
    assert_eq!(text(&path), before.replacen(r#""cwd":"/w""#, r#""cwd":"/new/app""#, 1));
    assert_eq!(world.make(&request(&world, &[(&path, "s", None)], &[])).unwrap().summary, "nothing to change");
    assert_eq!(world.undo().unwrap().summary, "Moved 1 session back");
    assert_eq!((text(&path), world.sessions()), (before, vec![path]));
}

#[test]
fn other_files_stay_as_they_are() {
    in_own_home("moving::refused");
}

#[test]
#[ignore = "run by other_files_stay_as_they_are, in a home of its own"]
fn refused() {
    let world = World::at_home();
    let newer = written(&world, "--w--/newer.jsonl", &session(&[]).replace("\"version\":3", "\"version\":4"));
    let old = written(&world, "--w--/old.jsonl", &Session::new("old").version(1).user("q", "hi").text());
    let taken = written(&world, "--w--/taken.jsonl", &session(&[(0, 2)]));
    let there = written(&world, "--new-app--/taken.jsonl", &Session::new("there").text());
    let link = world.dir.join("--w--/link.jsonl");
    std::os::unix::fs::symlink(&taken, &link).unwrap();
    for (path, id, why) in [
        (&newer, "s", "version 4"),
        (&taken, "other", "was replaced by another session"),
        (&taken, "s", "another file is at"),
        (&link, "s", "is a symbolic link"),
    ] {
        let before = text(path);
        let said = world.make(&request(&world, &[(path, id, None)], &[])).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
        assert_eq!(text(path), before);
    }
    // A failure of one does not stop the others, and its forks keep their links.
    let failing = request(&world, &[(&taken, "s", None), (&old, "old", Some(&taken))], &[(&there, "there", &taken)]);
    let said = world.make(&failing).unwrap_err().to_string();
    assert!(said.starts_with("Moved 1 session; failed for 1 session"), "{said}");
    assert_eq!(text(&there), Session::new("there").text());
    // An old version stays the same version.
    let new = world.dir.join(NEW.1).join("old.jsonl");
    assert_eq!(text(&new), Session::new("old").version(1).cwd(NEW.0).user("q", "hi").text());

    // Undo leaves a file alone that another program has replaced.
    fs::write(&new, Session::new("old").user("z", "other").text()).unwrap();
    let said = world.undo().unwrap_err().to_string();
    assert!(said.contains("was replaced or changed since the move"), "{said}");
    assert!(!old.exists() && new.exists());
}

#[test]
fn a_kill_at_any_system_call_leaves_one_complete_file() {
    in_own_home("moving::killed");
}

#[test]
#[ignore = "run by a_kill_at_any_system_call_leaves_one_complete_file, in a home of its own"]
fn killed() {
    let world = World::at_home();
    let old = written(&world, "--w--/s.jsonl", &session(&[(0, 2), (0, 3)]));
    let new = world.dir.join(NEW.1).join("s.jsonl");
    let mut before: Vec<String> = text(&old).lines().skip(1).map(String::from).collect();
    for round in 0..rounds(10, 100) {
        let mut busy = myself("moving::never_rests", &home());
        if !kill_in_round(round, busy.env("DIR", &world.dir)) {
            return skipped("there is no strace");
        }
        // Any request repairs the journal and the files first.
        assert!(world.make(&Request::Undo { number: Some(u64::MAX) }).is_err());
        let (path, other, cwd) = if new.exists() { (&new, &old, NEW.0) } else { (&old, &new, "/w") };
        assert!(!other.exists());
        let now = text(path);
        assert!(now.lines().next().unwrap().contains(&format!(r#""cwd":"{cwd}""#)), "{now}");
        let now: Vec<String> = now.lines().skip(1).map(String::from).collect();
        assert!(now.starts_with(&before), "{now:#?}\n{before:#?}");
        before = now;
        let files = names(&world);
        assert_eq!(files.len(), 1, "{files:?}");
    }
}

/// Moves a session and adds lines in a loop until it is killed.
#[test]
#[ignore = "run by killed, until it is killed"]
fn never_rests() {
    let world = World::of(&PathBuf::from(std::env::var_os("DIR").unwrap()));
    let (old, new) = (world.dir.join("--w--/s.jsonl"), world.dir.join(NEW.1).join("s.jsonl"));
    let add = |path: &Path, at: u32| {
        let mut file = fs::File::options().append(true).open(path).unwrap();
        // Each entry has an ID of its own.
        let id = format!("p{at} {} {}", std::process::id(), path == new);
        file.write_all(theirs(&id, "e1").as_bytes()).unwrap();
    };
    for at in (0..1000).step_by(2) {
        if old.exists() {
            world.make(&request(&world, &[(&old, "s", None)], &[])).unwrap();
        }
        add(&new, at);
        world.undo().unwrap();
        world.make(&Request::Redo).unwrap();
        add(&new, at + 1);
        world.undo().unwrap();
        add(&old, at);
    }
}
