//! The trash on another file system, and undo of altered files: the trash is emptied, the path is taken, the disk is
//! not mounted, or pitree was killed.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use pitree::changes::journal::ChangeState;
use pitree::changes::{Changes, Refusal, Request, to_the_end};
use pitree::disk::trash::Trash;
use serde_json::{Value, json};

use crate::changes::world::{NOW, World, home, in_own_home, on_a_small_disk, rename, seen};
use crate::common::effort::skipped;

const OLD: Duration = Duration::from_secs(1_700_000_000);

fn trash() -> PathBuf {
    home().join("data/Trash")
}

/// Returns the names of the files in the trash, and the number of trash notes.
fn in_trash() -> (Vec<String>, usize) {
    let names = |folder: &str| {
        let mut names: Vec<String> = fs::read_dir(trash().join(folder)).map_or(Vec::new(), |entries| {
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        });
        names.sort();
        names
    };
    (names("files"), names("info").len())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn states(world: &World) -> Vec<ChangeState> {
    world.changes.history().unwrap().iter().map(|record| record.state).collect()
}

fn undo(number: u64) -> Request {
    Request::Undo { number: Some(number) }
}

/// Writes the journal of a killed pitree: a change that was started but not finished.
fn begun(world: &World, line: &Value) {
    let path = world.dir.join("state/journal.jsonl");
    let mut journal = fs::OpenOptions::new().append(true).open(path).unwrap();
    writeln!(journal, "{line}").unwrap();
}

#[test]
fn a_file_from_another_disk_is_restored_unchanged() {
    on_a_small_disk("trash::another_disk");
}

#[test]
#[ignore = "run by a_file_from_another_disk_is_restored_unchanged, on a disk of 64 KB"]
fn another_disk() {
    let (world, disk) = (World::at_home(), home().join("disk"));
    let path = disk.join("s.jsonl");
    fs::write(&path, "one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    fs::File::options().append(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH + OLD).unwrap();
    world.trash(&path).unwrap();
    assert_eq!((names(&disk), in_trash()), (vec![], (vec!["s.jsonl".to_string()], 1)));

    // Without enough space to restore the file, it stays in the trash and is restored later.
    let mut fill = fs::File::create(disk.join("fill")).unwrap();
    while fill.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
    let error = world.undo().unwrap_err();
    assert!(format!("{error:#}").contains("space"), "{error:#}");
    assert_eq!((names(&disk), in_trash().0.len()), (vec!["fill".to_string()], 1));
    drop(fill);
    fs::remove_file(disk.join("fill")).unwrap();
    world.undo().unwrap();
    let now = fs::metadata(&path).unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), now.permissions().mode() & 0o777, now.modified().unwrap()),
        (b"one".to_vec(), 0o640, SystemTime::UNIX_EPOCH + OLD)
    );
    assert_eq!((names(&disk), in_trash()), (vec!["s.jsonl".to_string()], (vec![], 0)));
    world.make(&Request::Redo).unwrap();
    world.undo().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");

    symlink("nowhere", disk.join("link.jsonl")).unwrap();
    let link = pitree::changes::FileSnapshot { path: disk.join("link.jsonl"), bytes: 0, mtime: 0 };
    world.make(&Request::Trash { files: vec![link] }).unwrap();
    assert_eq!(names(&disk), ["s.jsonl"]);
    world.undo().unwrap();
    assert_eq!(fs::read_link(disk.join("link.jsonl")).unwrap(), Path::new("nowhere"));
    killed_on_the_way(&path);
}

/// Kills pitree at each step of a copy to or from the trash: the real state is detected, and nothing is lost.
fn killed_on_the_way(path: &Path) {
    let world = World::at_home();
    let draft = path.with_file_name("s.jsonl.0123456789abcdef.pitree-new");
    let bytes = fs::read(path).unwrap();
    world.trash(path).unwrap();
    let item = trash().join("files/s.jsonl");
    let note = fs::read(trash().join("info/s.jsonl.trashinfo")).unwrap();
    world.undo().unwrap();
    let going = |number: u64| {
        json!({"number": number, "time": NOW, "state": "begun", "item": item,
            "change": {"kind": "trash", "path": path, "bytes": bytes.len(), "link": false}})
    };
    let coming = |number: u64| json!({"number": number, "time": NOW, "state": "undoing"});
    let noted = || fs::write(trash().join("info/s.jsonl.trashinfo"), &note).unwrap();
    let mend = || world.make(&rename(path, "never")).map(drop).unwrap_or_default();
    let state = |number: usize| states(&world)[number - 1];

    // On the way to the trash: nothing, a part, or all of it is copied.
    for (number, copied) in [(2, None), (3, Some(1)), (4, Some(bytes.len()))] {
        noted();
        copied.into_iter().for_each(|copied| fs::write(&item, &bytes[..copied]).unwrap());
        begun(&world, &going(number));
        mend();
        assert_eq!(
            (state(number as usize), in_trash().0.len(), in_trash().1),
            (ChangeState::Dropped, 0, 0),
            "{copied:?}"
        );
        assert_eq!(fs::read(path).unwrap(), bytes);
    }
    // The copy was complete, and another program created a file at the path since.
    noted();
    fs::write(&item, &bytes).unwrap();
    fs::write(path, "xyz").unwrap();
    begun(&world, &going(5));
    mend();
    assert_eq!(
        (state(5), fs::read(&item).unwrap(), fs::read(path).unwrap()),
        (ChangeState::Done, bytes.clone(), b"xyz".to_vec())
    );
    fs::remove_file(path).unwrap();
    world.make(&undo(5)).unwrap();
    assert_eq!((fs::read(path).unwrap(), in_trash()), (bytes.clone(), (vec![], 0)));

    // On the way back: a partial temporary file, and the complete file under its name.
    world.make(&Request::Redo).unwrap();
    fs::write(&draft, &bytes[..1]).unwrap();
    begun(&world, &coming(5));
    mend();
    assert_eq!((state(5), path.exists(), draft.exists(), item.exists()), (ChangeState::Done, false, false, true));
    fs::write(path, &bytes).unwrap();
    begun(&world, &coming(5));
    mend();
    assert_eq!((state(5), fs::read(path).unwrap(), in_trash()), (ChangeState::Undone, bytes, (vec![], 0)));
}

#[test]
fn an_unmounted_disk_is_not_treated_as_deleted() {
    on_a_small_disk("trash::no_disk");
}

#[test]
#[ignore = "run by an_unmounted_disk_is_not_treated_as_deleted, where it may mount"]
fn no_disk() {
    let (world, disk, real) = (World::at_home(), home().join("mounted"), home().join("real"));
    for folder in [&disk, &real] {
        fs::create_dir(folder).unwrap();
    }
    let run = |program: &str, arguments: &[&Path]| {
        assert!(Command::new(program).args(arguments).status().unwrap().success(), "{program}");
    };
    let mount = || run("mount", &[Path::new("--bind"), &real, &disk]);
    mount();
    let path = disk.join("sessions/project/s.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n").unwrap();
    let named = disk.join("sessions/project/named.jsonl");
    fs::copy(&path, &named).unwrap();
    world.make(&rename(&named, "a name")).unwrap();
    world.trash(&path).unwrap();
    let copy = json!({"number": 3, "time": NOW, "state": "begun",
        "change": {"kind": "trash", "path": named, "bytes": 1, "link": false}});
    begun(&world, &copy);
    run("umount", &[&disk]);
    for number in [2, 1] {
        let error = world.make(&undo(number)).unwrap_err();
        assert!(format!("{error:#}").contains("mount it"), "{error:#}");
        assert!(error.downcast_ref::<Refusal>().is_none(), "no conflicting change");
    }
    assert_eq!(names(&disk), [""; 0], "nothing is made where the disk belongs");
    assert_eq!(states(&world), [ChangeState::Done, ChangeState::Done, ChangeState::Begun]);
    mount();
    world.undo().unwrap();
    world.make(&undo(1)).unwrap();
    assert_eq!(states(&world), [ChangeState::Undone, ChangeState::Undone, ChangeState::Dropped]);
    assert!(path.exists() && named.exists());
    run("umount", &[&disk]);
}

#[test]
fn a_failed_restore_does_not_stop_others() {
    in_own_home("trash::some_can_not_come_back");
}

#[test]
#[ignore = "run by a_failed_restore_does_not_stop_others, in a home of its own"]
fn some_can_not_come_back() {
    let world = World::at_home();
    let paths: Vec<PathBuf> = (0..4).map(|at| world.write(&format!("{at}.jsonl"), format!("{at}"))).collect();
    world.make(&Request::Trash { files: paths.iter().map(|path| seen(path)).collect() }).unwrap();
    fs::remove_file(trash().join("files/1.jsonl")).unwrap();
    fs::write(&paths[2], "another").unwrap();
    let said = format!("{:#}", world.undo().unwrap_err());
    for part in ["undid 2 of 4", "1.jsonl not found in the trash", "file exists", "`pitree undo 3`"] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(
        states(&world),
        [ChangeState::Undone, ChangeState::TargetChanged, ChangeState::TargetChanged, ChangeState::Undone]
    );
    assert_eq!(world.undo().unwrap().summary, "nothing to undo", "told once");
    fs::remove_file(&paths[2]).unwrap();
    world.make(&undo(3)).unwrap();
    assert_eq!(fs::read(&paths[2]).unwrap(), b"2");
    assert!(world.make(&undo(2)).is_err());
    assert_eq!(states(&world)[1], ChangeState::TargetChanged);

    // The same path twice within a second: each change restores its own file.
    for (at, text) in ["first", "second", "third"].into_iter().enumerate() {
        fs::write(&paths[0], text).unwrap();
        world.trash(&paths[0]).unwrap();
        assert_eq!(states(&world).len(), 5 + at);
    }
    world.make(&undo(5)).unwrap();
    assert_eq!(fs::read(&paths[0]).unwrap(), b"first");
}

#[test]
fn an_unreachable_file_does_not_stop_others() {
    in_own_home("trash::some_can_not_be_reached");
}

#[test]
#[ignore = "run by an_unreachable_file_does_not_stop_others, in a home of its own"]
fn some_can_not_be_reached() {
    let world = World::at_home();
    let disk = world.dir.join("disk");
    fs::create_dir_all(disk.join("project")).unwrap();
    let far = disk.join("project/far.jsonl");
    fs::write(&far, "far").unwrap();
    let near = world.write("near.jsonl", "near");
    world.trash(&world.write("before.jsonl", "before")).unwrap();
    world.make(&Request::Trash { files: [&near, &far].map(|path| seen(path)).into() }).unwrap();
    // Simulates a disk that is not mounted.
    fs::remove_dir(disk.join("project")).unwrap();
    let said = format!("{:#}", world.undo().unwrap_err());
    for part in ["undid 1 of 2", "mount its disk", "still undoable", "`pitree undo --list`"] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(fs::read(&near).unwrap(), b"near");
    assert_eq!(states(&world), [ChangeState::Done, ChangeState::Undone, ChangeState::Done]);
    // An earlier change can be undone by its number.
    world.make(&undo(1)).unwrap();
    fs::create_dir(disk.join("project")).unwrap();
    world.undo().unwrap();
    assert_eq!(fs::read(&far).unwrap(), b"far");
}

#[test]
fn changes_of_unreachable_files_stay_undoable() {
    in_own_home("trash::unreachable");
}

#[test]
#[ignore = "run by changes_of_unreachable_files_stay_undoable, in a home of its own"]
fn unreachable() {
    let world = World::at_home();
    let folder = world.dir.join("project");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("s.jsonl");
    fs::write(&path, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n").unwrap();
    world.make(&rename(&path, "a name")).unwrap();
    let locked = |mode: u32| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    locked(0o000);
    if path.symlink_metadata().is_ok() {
        locked(0o700);
        return skipped("root may enter any folder");
    }
    let error = world.undo().unwrap_err();
    assert!(format!("{error:#}").contains("ermission denied"), "{error:#}");
    locked(0o700);
    assert_eq!(states(&world), [ChangeState::Done]);
    world.undo().unwrap();
}

#[test]
fn a_written_line_is_reported_as_written() {
    in_own_home("trash::time_refused");
}

#[test]
#[ignore = "run by a_written_line_is_reported_as_written, in a home of its own"]
fn time_refused() {
    let world = World::at_home();
    let path = world.write("s.jsonl", "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
    let set = |flag: &str| Command::new("chattr").arg(flag).arg(&path).output();
    if !set("+a").is_ok_and(|output| output.status.success()) {
        return skipped("cannot create an append-only file on this system");
    }
    let done = world.make(&rename(&path, "a name"));
    set("-a").unwrap();
    let said = done.unwrap().summary;
    assert!(said.contains("; warning: cannot restore the modification time"), "{said}");
    assert!(fs::read_to_string(&path).unwrap().contains("a name"));
    assert_eq!(states(&world), [ChangeState::Done]);
}

#[test]
fn unusual_disk_names_are_handled() {
    on_a_small_disk("trash::odd_disk");
}

#[test]
#[ignore = "run by unusual_disk_names_are_handled, where it may mount"]
fn odd_disk() {
    use std::os::unix::ffi::OsStrExt;
    let (world, odd) = (World::at_home(), home().join(std::ffi::OsStr::from_bytes(b"odd \xff")));
    fs::create_dir(&odd).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&odd).status().unwrap();
    assert!(mounted.success());
    let path = odd.join(std::ffi::OsStr::from_bytes(b"old \xff.jsonl"));
    let old = "{\"type\":\"session\",\"version\":2,\"id\":\"s\"}\n{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n";
    fs::write(&path, old).unwrap();
    // Undo finds a file that a migration trashed by its original path.
    let target = pitree::session::entry::EntryId::Id("a".into());
    world.make(&Request::Label { path: path.clone(), target, label: "x".into(), migrate: true }).unwrap();
    assert_ne!(fs::read(&path).unwrap(), old.as_bytes());
    world.make(&undo(2)).unwrap();
    world.make(&undo(1)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), old.as_bytes());
    assert!(Command::new("umount").arg(&odd).status().unwrap().success());
}

#[test]
fn undo_refuses_another_file_in_the_trash() {
    in_own_home("trash::another_file");
}

#[test]
#[ignore = "run by undo_refuses_another_file_in_the_trash, in a home of its own"]
fn another_file() {
    let world = World::at_home();
    let (item, info) = (trash().join("files/s.jsonl"), trash().join("info/s.jsonl.trashinfo"));
    let text = "one\n".repeat(1000);
    let path = world.write("s.jsonl", &text);
    // Alterations of the file and its trash note by another program.
    type Other = (&'static str, fn(String) -> String, fn(String) -> Option<String>);
    let date = |note: &str| note.lines().find_map(|line| line.strip_prefix("DeletionDate=").map(str::to_owned));
    let refused: [Other; 4] = [
        ("another path", |text| text, |note| Some(note.replace("/s.jsonl", "/other/s.jsonl"))),
        ("another date", |text| text, |note| Some(note.replace(":00\n", ":01\n"))),
        ("another text", |text| text.replace("one", "two"), Some),
        ("a shorter text", |text| text[4..].into(), Some),
    ];
    let taken: [Other; 3] = [
        ("another time zone", |text| text, |note| Some(note.replace(":00:00\n", ":45:00\n"))),
        ("an appended line", |text| text + "more\n", Some),
        ("no note", |text| text, |_| None),
    ];
    let replace = |(what, file, note): &Other| {
        world.trash(&path).unwrap();
        let before = fs::read_to_string(&info).unwrap();
        assert!(date(&before).is_some_and(|date| date.ends_with(":00:00")), "{before}");
        let (file, note) = (file(text.clone()), note(before.clone()));
        fs::remove_file(&item).unwrap();
        fs::write(&item, &file).unwrap();
        match &note {
            Some(note) => fs::write(&info, note).unwrap(),
            None => fs::remove_file(&info).unwrap(),
        }
        assert!(note.as_ref() != Some(&before) || file != text, "{what}");
        (file, before)
    };
    for other in &refused {
        let (file, note) = replace(other);
        let past = world.changes.history_with_sessions(|| true).unwrap();
        assert!(past[0].is_emptied && past[0].session.is_none(), "{}", other.0);
        let error = world.undo().unwrap_err();
        assert!(matches!(error.downcast_ref(), Some(Refusal::TargetChanged { .. })), "{}: {error:#}", other.0);
        let says = format!("{} is another file, deleted from /", item.display());
        assert!(error.to_string().contains(&says), "{}: {error:#}", other.0);
        assert!(!path.exists() && fs::read_to_string(&item).unwrap() == file, "{}", other.0);
        // With the deleted file back in the trash, undo works.
        fs::write(&item, &text).unwrap();
        fs::write(&info, note).unwrap();
        world.make(&undo(past[0].record.number)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{}", other.0);
    }
    for other in &taken {
        let (file, _) = replace(other);
        world.undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), file, "{}", other.0);
        fs::write(&path, &text).unwrap();
    }
}

#[test]
fn a_failed_undo_keeps_the_trash_location() {
    in_own_home("trash::failed_undo");
}

#[test]
#[ignore = "run by a_failed_undo_keeps_the_trash_location, in a home of its own"]
fn failed_undo() {
    let world = World::at_home();
    let path = world.write("s.jsonl", "one");
    world.trash(&path).unwrap();
    let item = || world.changes.history_with_sessions(|| true).unwrap()[0].is_emptied;
    fs::write(&path, "{\"type\":\"session\"}\n").unwrap();
    world.undo().unwrap_err();
    fs::remove_file(trash().join("files/s.jsonl")).unwrap();
    assert!(item(), "the journal still has the place");
}

#[test]
fn the_fingerprint_finds_what_a_trash_command_moved() {
    in_own_home("trash::by_a_command");
}

#[test]
#[ignore = "run by the_fingerprint_finds_what_a_trash_command_moved, in a home of its own"]
fn by_a_command() {
    let script = "mkdir -p data/Trash/files data/Trash/info && mv \"$1\" data/Trash/files/1 && \
                  printf '[Trash Info]\\nPath=%s\\nDeletionDate=2026-11-21T08:00:00\\n' \"$1\" > data/Trash/info/1.trashinfo";
    let command = ["sh", "-c", &format!("cd '{}' && {script}", home().display()), "sh"].map(String::from).to_vec();
    let dir = tempfile::tempdir_in(home()).unwrap();
    let path = dunce::canonicalize(dir.path()).unwrap().join("s.jsonl");
    let trash_of = Trash { command, ..Trash::default() };
    let changes = Changes::new(dir.path().join("state"), trash_of);
    let make = |request: &Request| changes.make(request, NOW, &mut to_the_end);
    fs::write(&path, "mine").unwrap();
    make(&Request::Trash { files: vec![seen(&path)] }).unwrap();

    // A later file was deleted from the same path.
    let (other, note) = (trash().join("files/2"), fs::read_to_string(trash().join("info/1.trashinfo")).unwrap());
    fs::write(&other, "other").unwrap();
    fs::write(trash().join("info/2.trashinfo"), note.replace("08:00", "09:00")).unwrap();
    fs::rename(trash().join("files/1"), home().join("mine")).unwrap();
    let error = make(&Request::Undo { number: None }).unwrap_err().to_string();
    assert!(error.contains("files/2 is another file, deleted from /") && !path.exists(), "{error}");
    fs::rename(home().join("mine"), trash().join("files/1")).unwrap();
    make(&undo(1)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert_eq!(fs::read_to_string(&other).unwrap(), "other");
}

#[test]
fn only_files_that_pitree_moved_are_deleted_permanently() {
    in_own_home("trash::emptied");
}

#[test]
#[ignore = "run by only_files_that_pitree_moved_are_deleted_permanently, in a home of its own"]
fn emptied() {
    let world = World::at_home();
    let paths =
        ["a.jsonl", "b.jsonl", "c.jsonl"].map(|name| world.write(name, crate::changes::world::session(&[(0, 1)])));
    for path in &paths {
        world.trash(path).unwrap();
    }
    // Another program emptied the trash and put its own file there; a fourth session was restored.
    let other = trash().join("files/b.jsonl");
    fs::remove_file(&other).unwrap();
    fs::write(&other, "theirs").unwrap();
    world.make(&undo(3)).unwrap();
    let empty = |numbers: &[u64]| world.make(&Request::EmptyTrash { numbers: numbers.to_vec() });
    for number in [2, 3, 9] {
        let error = empty(&[1, number]).unwrap_err().to_string();
        assert_eq!(error, format!("change {number} has no file in the trash"));
    }
    assert_eq!(in_trash(), (vec!["a.jsonl".into(), "b.jsonl".into()], 2), "nothing is deleted if one is missing");
    assert_eq!(empty(&[1]).unwrap().summary, "permanently deleted 1 session");
    assert_eq!(in_trash(), (vec!["b.jsonl".into()], 1));
    assert!(world.make(&undo(1)).is_err());
    assert_eq!(fs::read_to_string(other).unwrap(), "theirs");
    assert!(paths[2].exists());
}
