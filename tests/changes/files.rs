//! Files under changes: modes and times, links, old versions, the trash and restoring.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pitree::changes::journal::ChangeState;
use pitree::changes::{Changes, FileSnapshot, Refusal, Request, to_the_end};
use pitree::disk::trash::Trash;
use pitree::session::entry::EntryId;
use pitree::session::write::migrate::migrate;

use crate::changes::world::{NOW, View, World, in_own_home, rename, seen, session, theirs, tree};
use crate::common::session::Session;

const SHAPE: &[(usize, u8)] = &[(0, 4), (0, 3), (0, 4), (1, 3)];

/// Returns a session of an older version.
fn old(version: u8) -> String {
    Session::new("old").cwd("/w").version(version).user("a", "first").said("b", "hookMessage", "hook").text()
}

fn label(path: &Path, target: EntryId, migrate: bool) -> Request {
    Request::Label { path: path.into(), target, label: "x".into(), migrate }
}

fn refusal(error: &anyhow::Error) -> &Refusal {
    error.downcast_ref().unwrap_or_else(|| panic!("{error:#}"))
}

fn age(path: &Path) -> SystemTime {
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    File::options().append(true).open(path).unwrap().set_modified(then).unwrap();
    then
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn modes_and_relevant_times_are_preserved() {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    for bits in [0o600, 0o640, 0o664] {
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
        let then = age(&path);
        world.make(&rename(&path, &format!("{bits:o}"))).unwrap();
        world.make(&label(&path, EntryId::Id(format!("e{}", bits % 3)), false)).unwrap();
        world.undo().unwrap();
        assert_eq!((modified(&path), mode(&path)), (then, bits), "pi -c takes the file that was written last");
        let fork = world
            .make(&Request::Fork { path: path.clone(), at: Some(EntryId::Id("e2".into())), migrate: false })
            .unwrap();
        assert_eq!((mode(&fork.made.unwrap()), modified(&path)), (bits, then));
        let to = Some(EntryId::Id(format!("e{}", bits % 3)));
        world.make(&Request::MoveLeaf { path: path.clone(), to, migrate: false }).unwrap();
        assert!(modified(&path) > then && mode(&path) == bits);
    }
    assert_eq!(mode(&world.dir.join("state/journal.jsonl")), 0o600);
}

#[test]
fn a_link_is_followed_for_writing() {
    let world = World::new();
    fs::create_dir(world.dir.join("elsewhere")).unwrap();
    let real = world.write("elsewhere/real.jsonl", session(SHAPE));
    let link = world.dir.join("link.jsonl");
    symlink(&real, &link).unwrap();
    world.make(&rename(&link, "linked")).unwrap();
    assert_eq!(View::of(&real).name.as_deref(), Some("linked"));
    assert!(link.is_symlink());
    let fork = world.make(&Request::Fork { path: link.clone(), at: None, migrate: false }).unwrap().made.unwrap();
    assert_eq!(fork.parent(), link.parent(), "where pi would make it");
}

#[test]
#[ignore = "run by trash_and_old_versions, in a home of its own"]
fn forks_are_named_as_in_pi_and_undo_removes_unused_ones() {
    let world = World::at_home();
    let path = world.write("s.jsonl", session(SHAPE));
    let made = world
        .make(&Request::Fork { path: path.clone(), at: Some(EntryId::Id("e3".into())), migrate: false })
        .unwrap()
        .made
        .unwrap();
    let fork = tree(&made);
    let name = made.file_stem().unwrap().to_str().unwrap();
    assert_eq!(name, format!("2026-11-21T08-00-00-000Z_{}", fork.header.id));
    assert_eq!((fork.header.cwd.as_str(), fork.header.parent_session.as_deref()), ("/w", path.to_str()));
    assert_eq!(fork.nodes.len(), 3);
    world.make(&rename(&made, "ours, and undone with it")).unwrap();
    world.undo().unwrap();
    fs::write(&made, fs::read_to_string(&made).unwrap() + &theirs("pi", "e3")).unwrap();
    let error = world.undo().unwrap_err();
    assert!(
        matches!(refusal(&error), Refusal::TargetChanged { reason } if reason.contains("has new entries")),
        "{error:#}"
    );
    assert!(made.exists());
}

#[test]
fn names_that_are_too_long_are_refused_with_the_limit() {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    let error = world.make(&rename(&path, &"é".repeat(10_001))).unwrap_err();
    assert!(format!("{error:#}").contains("10001 characters; the maximum is 10000"), "{error:#}");
    world.make(&rename(&path, "  two\r\nlines\tand\u{1b}[31m  ")).unwrap();
    assert_eq!(View::of(&path).name.as_deref(), Some("two lines and [31m"));
    let same = world.make(&rename(&path, "two\nlines and [31m")).unwrap();
    assert_eq!((same.changes.len(), same.summary.as_str()), (0, "the session already has this name"));
}

#[test]
fn entries_that_cannot_have_children_are_refused() {
    let world = World::new();
    let text = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n{\"type\":\"message\",\"id\":7,\"message\":{\"role\":\"user\",\"content\":\"seven\"}}\n";
    let path = world.write("s.jsonl", text);
    let error = world.make(&rename(&path, "x")).unwrap_err();
    assert!(format!("{error:#}").contains("an entry has no valid id (seven)"), "{error:#}");
    assert!(world.make(&label(&path, EntryId::Id("gone".into()), false)).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_dry_run_writes_nothing_anywhere() {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    let old = world.write("old.jsonl", old(1));
    let dry = world.changes.clone().dry_run();
    let before = (fs::read(&path).unwrap(), modified(&path));
    let target = || EntryId::Id("e1".into());
    let requests = [
        rename(&path, "x"),
        label(&path, target(), false),
        label(&old, EntryId::Place(0), true),
        Request::MoveLeaf { path: path.clone(), to: Some(target()), migrate: false },
        Request::Fork { path: path.clone(), at: Some(target()), migrate: false },
        Request::Trash { files: vec![seen(&path)] },
        Request::Undo { number: None },
    ];
    for request in &requests {
        let done = dry.make(request, NOW, &mut to_the_end).unwrap();
        assert_eq!(done.changes.len(), usize::from(!matches!(request, Request::Undo { .. })), "{request:?}");
    }
    assert_eq!((fs::read(&path).unwrap(), modified(&path)), before);
    assert_eq!(fs::read_dir(&world.dir).unwrap().count(), 2, "not even a journal");
    world.make(&requests[0]).unwrap();
    let named = fs::read(&path).unwrap();
    assert_eq!(dry.make(&requests[6], NOW, &mut to_the_end).unwrap().changes.len(), 1);
    assert_eq!(fs::read(&path).unwrap(), named);
}

#[test]
fn trash_and_old_versions() {
    in_own_home("files::forks_are_named_as_in_pi_and_undo_removes_unused_ones");
    in_own_home("files::trashed_sessions_are_restored");
    in_own_home("files::trashing_a_link_keeps_its_target");
    in_own_home("files::migrations_can_be_undone");
    in_own_home("files::files_the_trash_cannot_hold");
}

#[test]
#[ignore = "run by trash_and_old_versions, in a home of its own"]
fn trashed_sessions_are_restored() {
    let world = World::at_home();
    let paths: Vec<PathBuf> = (0..3).map(|at| world.write(&format!("{at}.jsonl"), session(&SHAPE[..=at]))).collect();
    let files: Vec<FileSnapshot> = paths.iter().map(|path| seen(path)).collect();
    let bytes: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    world.make(&rename(&paths[1], "written to since")).unwrap();
    age(&paths[1]);
    let error = world.make(&Request::Trash { files }).unwrap_err();
    assert_eq!(refusal(&error), &Refusal::Changed { paths: vec![paths[1].clone()] });
    assert_eq!(world.sessions(), paths, "nothing went");
    world.make(&Request::Trash { files: paths.iter().map(|path| seen(path)).collect() }).unwrap();
    assert!(world.sessions().is_empty());
    // Meanwhile another file takes the path.
    fs::write(&paths[0], "another").unwrap();
    let error = world.undo().unwrap_err();
    assert!(format!("{error:#}").contains("undid 2 of 3; then failed: skipped: cannot restore"), "{error:#}");
    assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "another");
    assert!(fs::read(&paths[1]).unwrap().starts_with(&bytes[1]));
    assert_eq!(fs::read(&paths[2]).unwrap(), bytes[2]);
    fs::remove_file(&paths[0]).unwrap();
    let done = world.make(&Request::Undo { number: Some(2) }).unwrap();
    assert_eq!((done.made.as_ref(), fs::read(&paths[0]).unwrap()), (Some(&paths[0]), bytes[0].clone()));
    world.make(&Request::Redo).unwrap();
    assert!(world.sessions().is_empty(), "all three again");
    let numbers: Vec<u64> = world.changes.history().unwrap().iter().map(|record| record.number).collect();
    world.make(&Request::Undo { number: Some(numbers[2]) }).unwrap();
    assert_eq!(world.sessions().len(), 1, "one of them, by its number");
    let error = world.make(&Request::Undo { number: Some(numbers[2]) }).unwrap_err();
    assert!(error.to_string().contains("already reverted"), "{error:#}");
}

#[test]
#[ignore = "run by trash_and_old_versions, in a home of its own"]
fn trashing_a_link_keeps_its_target() {
    let world = World::at_home();
    fs::create_dir(world.dir.join("elsewhere")).unwrap();
    let real = world.write("elsewhere/real.jsonl", session(SHAPE));
    let link = world.dir.join("link.jsonl");
    symlink("elsewhere/real.jsonl", &link).unwrap();
    let done = world.trash(&link).unwrap();
    assert_eq!(done.summary, "Moved the link to the trash; its target is unchanged");
    assert!(real.exists() && !link.is_symlink());
    world.undo().unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read(&link).unwrap(), fs::read(&real).unwrap());
}

#[test]
#[ignore = "run by trash_and_old_versions, in a home of its own"]
fn migrations_can_be_undone() {
    for version in [1, 2] {
        let text = old(version as u8);
        let world = World::at_home();
        let path = world.write("s.jsonl", &text);
        let target = || EntryId::of(&tree(&path), 1);
        world.make(&rename(&path, "named")).unwrap();
        let named = fs::read_to_string(&path).unwrap();
        assert!(
            named.starts_with(&text) && View::of(&path).name.as_deref() == Some("named"),
            "a name is only appended"
        );
        let error = world.make(&label(&path, target(), false)).unwrap_err();
        assert_eq!(refusal(&error), &Refusal::Old { path: path.clone(), version });
        assert_eq!(fs::read_to_string(&path).unwrap(), named);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();

        let then = age(&path);
        let done = world.make(&label(&path, target(), true)).unwrap();
        assert_eq!(modified(&path), then);
        assert_eq!(done.changes.len(), 2);
        let new = tree(&path);
        assert_eq!((new.header.version, mode(&path)), (3.0, 0o640));
        assert_eq!(new.labels.keys().copied().collect::<Vec<_>>(), [1]);
        let bytes = fs::read(&path).unwrap();
        let by_library = migrate(named.as_bytes(), &mut || 7 << 96).unwrap();
        let without_ids = |bytes: &[u8]| -> Vec<serde_json::Value> {
            let lines = bytes.split(|&b| b == b'\n').filter(|line| !line.is_empty()).take(4);
            let mut values: Vec<serde_json::Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
            for value in values.iter_mut().skip(1) {
                value["id"] = 0.into();
                value["parentId"] = 0.into();
            }
            values
        };
        assert_eq!(without_ids(&bytes), without_ids(&by_library));

        world.undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), named, "every byte of the original");
        assert_eq!(world.undo().unwrap().changes.len(), 1, "and then the name");
        world.make(&Request::Redo).unwrap();
        world.make(&Request::Redo).unwrap();
        assert_eq!(View::of(&path).labels.len(), 1);
        assert!(fs::read(&path).unwrap().starts_with(&bytes));
        assert_eq!(fs::read_dir(&world.dir).unwrap().count(), 2, "nothing is left beside the file and the journal");

        let used = fs::read_to_string(&path).unwrap() + &theirs("pi", "e1");
        fs::write(&path, &used).unwrap();
        let error = world.undo().unwrap_err();
        assert!(
            error
                .to_string()
                .contains("undid 1 of 2; then failed: skipped: the session has new entries since it was converted"),
            "{error:#}"
        );
        assert!(fs::read_to_string(&path).unwrap().starts_with(&used));
        let states: Vec<ChangeState> = world.changes.history().unwrap().iter().map(|record| record.state).collect();
        assert_eq!(states, [ChangeState::Done, ChangeState::TargetChanged, ChangeState::Undone]);
    }
}

#[test]
#[ignore = "run by trash_and_old_versions, in a home of its own"]
fn files_the_trash_cannot_hold() {
    let world = World::at_home();
    let paths = [world.write("1.jsonl", session(SHAPE)), world.write("2.jsonl", session(SHAPE))];
    let files = || paths.iter().map(|path| seen(path)).collect();
    let script =
        world.write("trash-one", "#!/bin/sh\ncase $2 in *1.jsonl) rm \"$2\";; *) echo 'no room' >&2; exit 1;; esac\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let command = vec![script.to_str().unwrap().to_string(), "--".into()];
    let changes = Changes::new(world.dir.join("state"), Trash { command, ..Trash::default() });
    let error = changes.make(&Request::Trash { files: files() }, NOW, &mut to_the_end).unwrap_err();
    match refusal(&error) {
        Refusal::NoTrash { reason, left } => {
            assert!(reason.ends_with("trash-one printed: no room"), "{reason}");
            assert_eq!(left, &[seen(&paths[1])]);
        }
        other => panic!("{other:?}"),
    }
    let states: Vec<ChangeState> = changes.history().unwrap().iter().map(|record| record.state).collect();
    assert_eq!(states, [ChangeState::Done, ChangeState::Dropped]);
    let error = changes.make(&Request::Undo { number: None }, NOW, &mut to_the_end).unwrap_err();
    assert!(format!("{error:#}").contains("not found in the trash"), "{error:#}");
    let mut stale = seen(&paths[1]);
    stale.bytes += 1;
    assert!(changes.make(&Request::Delete { files: vec![stale] }, NOW, &mut to_the_end).is_err());
    assert!(paths[1].exists());
    changes.make(&Request::Delete { files: vec![seen(&paths[1])] }, NOW, &mut to_the_end).unwrap();
    assert!(!paths[1].exists());
    let gone =
        Changes::new(world.dir.join("state"), Trash { command: vec!["/no/such/program".into()], ..Trash::default() });
    let path = world.write("3.jsonl", session(SHAPE));
    let error = gone.make(&Request::Trash { files: vec![seen(&path)] }, NOW, &mut to_the_end).unwrap_err();
    assert!(error.to_string().contains("cannot run /no/such/program"), "{error:#}");
}
