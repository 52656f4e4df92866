//! Full disks, size limits, concurrent writers, and killed processes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pitree::changes::change::{LineChange, NewFile};
use pitree::changes::journal::{ChangeState, JournalRecord};
use pitree::changes::{Change, ExpectedSession, NewMark, Request};
use pitree::disk::append;
use pitree::disk::append::PendingLine;
use pitree::session::entry::EntryId;
use pitree::session::marks::Mark;

use crate::changes::rewriting::{self, OtherDir};
use crate::changes::world::{
    View, World, archived, around, content, home, id, in_own_home, kill_in_round, myself, on_a_small_disk, rename,
    seen, session, theirs, tree,
};
use crate::common::effort::{rounds, skipped};
use crate::common::session::Session;

const SHAPE: &[(usize, u8)] = &[(0, 4), (0, 3), (0, 4), (0, 3), (2, 4), (0, 3)];

/// Returns a session of version 1.
fn old_session() -> String {
    let old = Session::new("old").cwd("/w").version(1);
    (0..4).fold(old, |old, at| old.user("", &format!("question {at}"))).text()
}

/// Returns one change of each type that writes a file.
fn requests(path: &Path, old: &Path) -> Vec<Request> {
    let target = || EntryId::Id("e1".into());
    let path = path.to_path_buf();
    vec![
        rename(&path, "a name"),
        Request::Label { path: path.clone(), target: target(), label: "a label".into(), migrate: false },
        Request::MoveLeaf { path: path.clone(), to: Some(target()), migrate: false },
        Request::Fork { path, at: Some(target()), migrate: false },
        Request::Label { path: old.into(), target: EntryId::Place(1), label: "old".into(), migrate: true },
    ]
}

#[test]
fn a_file_size_limit_causes_only_an_error() {
    in_own_home("faults::all_limits");
}

#[test]
#[ignore = "run by a_file_size_limit_causes_only_an_error, in a home of its own"]
fn all_limits() {
    let (mut failed, mut made) = (0, 0);
    // If the journal is longer than the sessions, its own writes reach the limit first.
    for past in [0, 12] {
        // Limits from the current size of a file to a size with room for all additions.
        let past_size = (0..480).step_by(rounds(120, 24));
        let files = ["s.jsonl", "old.jsonl", "state/journal.jsonl"];
        for (file, more) in past_size.flat_map(|more| files.map(|file| (file, more))) {
            for which in 0..5 {
                let world = World::at_home();
                let old = world.write("old.jsonl", old_session());
                let path = world.write("s.jsonl", session(SHAPE));
                for at in 0..past {
                    world.make(&rename(&old, &format!("name {at}"))).unwrap();
                }
                let limit = more + fs::metadata(world.dir.join(file)).map_or(0, |file| file.len());
                let before = [fs::read(&path).unwrap(), fs::read(&old).unwrap()];
                let sessions = world.sessions();
                let mut inner = myself("faults::one_change", &home());
                inner.env("JOB", format!("{which}")).env("DIR", &world.dir);
                let limit = format!("--fsize={limit}");
                let limited = around("env", &["--ignore-signal=XFSZ", "prlimit", &limit], &inner).output().unwrap();
                let now = [fs::read(&path).unwrap(), fs::read(&old).unwrap()];
                let said = String::from_utf8_lossy(&limited.stderr);
                // Changes made before the journal reached its limit are reported as done, and are in the file.
                if limited.status.success() || said.contains("the change was made, but: cannot write to the journal") {
                    made += 1;
                    assert!(now != before || world.sessions().len() > sessions.len());
                } else {
                    failed += 1;
                    assert!(said.contains("cannot") || said.contains("cannot"), "{said}");
                    // The migrated session can exist when only its label did not fit.
                    if which < 4 || tree(&old).nodes[0].id.is_none() {
                        assert_eq!(now, before, "{limit} {which}");
                    }
                    assert_eq!(world.sessions(), sessions, "{limit} {which}: {said}");
                }
                check(&world);
            }
        }
    }
    assert!(
        failed > rounds(10, 50) && made > rounds(10, 50),
        "{failed} failed, {made} made: the limits are not where the writes are"
    );
}

#[test]
#[ignore = "run by other tests, in a home of its own"]
fn one_change() {
    let world = World::of(&PathBuf::from(std::env::var_os("DIR").unwrap()));
    let which: usize = std::env::var("JOB").unwrap().parse().unwrap();
    let path = world.dir.join("s.jsonl");
    let mut requests = requests(&path, &world.dir.join("old.jsonl"));
    requests.push(Request::Trash { files: vec![seen(&path)] });
    if let Err(error) = world.make(&requests[which]) {
        eprintln!("{error:#}");
        std::process::exit(3);
    }
}

#[test]
fn a_full_journal_is_not_reported_as_a_trash_error() {
    in_own_home("faults::full_journal");
}

#[test]
#[ignore = "run by a_full_journal_is_not_reported_as_a_trash_error, in a home of its own"]
fn full_journal() {
    let world = World::at_home();
    let path = world.write("s.jsonl", session(SHAPE));
    for at in 0..20 {
        world.make(&rename(&path, &format!("name {at}"))).unwrap();
    }
    let before = fs::read(&path).unwrap();
    let limit = format!("--fsize={}", fs::metadata(world.dir.join("state/journal.jsonl")).unwrap().len() + 9);
    let mut inner = myself("faults::one_change", &home());
    inner.env("JOB", "5").env("DIR", &world.dir);
    let limited = around("env", &["--ignore-signal=XFSZ", "prlimit", &limit], &inner).output().unwrap();
    let said = String::from_utf8_lossy(&limited.stderr);
    assert!(said.contains("cannot write to the journal") && !said.contains("the trash"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), before);
    let notes = fs::read_dir(home().join("data/Trash/info")).unwrap().count();
    assert_eq!(notes, 0, "the place in the trash is given up");
    check(&world);
}

#[test]
fn a_full_disk_changes_no_byte() {
    on_a_small_disk("faults::full_disk");
}

#[test]
#[ignore = "run by a_full_disk_changes_no_byte, on a disk of 64 KB"]
fn full_disk() {
    const PAGE: usize = 4096;
    let disk = home().join("disk");
    let is_full =
        |error: &anyhow::Error| format!("{error:#}").contains("disk full") || format!("{error:#}").contains("space");
    // Space for this many bytes of the line is left in the last page of the file.
    for room in [0, 1, 2, 60, 120] {
        let world = World::at_home();
        let (path, old) = (disk.join("s.jsonl"), disk.join("old.jsonl"));
        let padded = |text: String, head: &str| {
            let line = |fill: usize| format!("{{\"type\":\"custom\",{head}\"customType\":\"{}\"}}\n", "x".repeat(fill));
            let end = text.len() + line(0).len() + room;
            text + &line(PAGE - end % PAGE)
        };
        fs::write(&old, padded(old_session(), "")).unwrap();
        fs::write(&path, padded(session(&SHAPE[..4]), "\"id\":\"c\",\"parentId\":\"e3\",")).unwrap();
        let mut fill = fs::File::create(disk.join("fill")).unwrap();
        while fill.write(&[0; PAGE]).is_ok_and(|written| written > 0) {}
        let before = [fs::read(&path).unwrap(), fs::read(&old).unwrap()];
        let files = fs::read_dir(&disk).unwrap().count();
        let mut failed = 0;
        for request in requests(&path, &old) {
            match world.make(&request) {
                Err(error) => {
                    assert!(is_full(&error), "{error:#}");
                    failed += 1;
                }
                Ok(_) => assert!(room >= 60, "{request:?} did fit"),
            }
        }
        let now = [fs::read(&path).unwrap(), fs::read(&old).unwrap()];
        assert!(now.iter().zip(&before).all(|(now, before)| now.starts_with(before)));
        if room < 60 {
            assert_eq!((now, failed), (before, 5));
        }
        assert_eq!(fs::read_dir(&disk).unwrap().count(), files);
        for name in ["fill", "s.jsonl", "old.jsonl"] {
            fs::remove_file(disk.join(name)).unwrap();
        }
    }
}

#[test]
fn concurrent_writers_lose_no_lines() {
    let lines: usize = rounds(100, 1000);
    let world = World::new();
    let path = world.write("s.jsonl", session(&SHAPE[..2]));
    let path = &path;
    std::thread::scope(|scope| {
        for writer in ["a", "b"] {
            scope.spawn(move || {
                for at in 0..lines {
                    let appended = append::line(path, true, &mut |_| ControlFlow::Continue(()), |tree| {
                        let parent = id(tree, tree.leaf.unwrap());
                        let line = format!("{{\"type\":\"custom\",\"id\":\"{writer}{at}\",\"parentId\":\"{parent}\"}}");
                        Ok(Some(PendingLine::new(tree, &line)))
                    });
                    appended.unwrap_or_else(|error| panic!("{error:#}"));
                }
            });
        }
        // pi ignores locks and assumes that it is the only writer.
        scope.spawn(move || {
            for at in 0..lines / 10 {
                let mut file = OpenOptions::new().append(true).open(path).unwrap();
                let parent = at.checked_sub(1).map_or("e1".into(), |before| format!("pi{before}"));
                file.write_all(theirs(&format!("pi{at}"), &parent).as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(5));
            }
        });
    });
    let tree = tree(path);
    assert_eq!((tree.nodes.len(), &tree.problems[..]), (2 + 2 * lines + lines / 10, &[][..]));
    for (writer, lines) in [("a", lines), ("b", lines), ("pi", lines / 10)] {
        assert!((0..lines).all(|at| tree.find(&format!("{writer}{at}")).is_some()), "{writer}");
    }
}

#[test]
fn killed_processes_leave_complete_files_and_a_correct_journal() {
    in_own_home("faults::killed_many_times");
}

#[test]
#[ignore = "run by killed_processes_leave_complete_files_and_a_correct_journal, in a home of its own"]
fn killed_many_times() {
    let worlds = rounds(1, 20);
    let mut cut_short = 0;
    for at in 0..worlds {
        let world = World::at_home();
        let old = world.write("old.jsonl", old_session());
        let path = world.write("s.jsonl", session(SHAPE));
        let rewritten = world.write("rewritten.jsonl", session(SHAPE));
        let mut before = HashMap::new();
        for round in 10 * at..10 * (at + 1) {
            let mut busy = myself("faults::never_rests", &home());
            if !kill_in_round(round, busy.env("DIR", &world.dir)) {
                return skipped("there is no strace");
            }
            let history = world.changes.history().unwrap();
            cut_short += history.iter().filter(|record| is_open(record)).count();
            check(&world);
            for path in world.sessions() {
                let now = content(&path);
                let was: &mut Vec<u8> = before.entry(path.clone()).or_default();
                assert!(
                    path == old || path == rewritten || now.starts_with(was),
                    "{} after round {round}",
                    path.display()
                );
                *was = now;
            }
            let is_there = path.exists() || archived(&path).exists();
            let trashed = history.iter().any(|record| matches!(&record.change, Change::Trash { .. }));
            assert!(is_there || trashed);
            assert_eq!(tree(&old).nodes.iter().filter(|node| node.text.starts_with("question")).count(), 4);
            assert_eq!(tree(&rewritten).nodes.len(), tree(&world.write("other.txt", session(SHAPE))).nodes.len());
            fs::remove_file(world.dir.join("other.txt")).unwrap();
        }
    }
    assert!(cut_short > 3 * worlds, "only {cut_short} changes were cut short");
}

#[test]
fn partial_lines_of_a_killed_process_are_removed() {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    world.make(&rename(&path, "first")).unwrap();
    for (step, name) in [(rename(&path, "second"), "first"), (Request::Undo { number: None }, "second")] {
        let before = fs::read(&path).unwrap();
        world.make(&step).unwrap();
        // Simulates a process killed while writing: the journal ends after the start of the change.
        let journal = world.dir.join("state/journal.jsonl");
        let text = fs::read_to_string(&journal).unwrap();
        let (begun, _) = text.trim_end().rsplit_once('\n').unwrap();
        fs::write(&journal, format!("{begun}\n")).unwrap();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        check(&world);
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(View::of(&path).name.as_deref(), Some(name));
        world.make(&rename(&path, "second")).unwrap();
    }
}

fn is_open(record: &JournalRecord) -> bool {
    matches!(record.state, ChangeState::Begun | ChangeState::Undoing | ChangeState::Redoing)
}

/// Makes changes in a loop until it is killed.
#[test]
#[ignore = "run by killed_many_times, until it is killed"]
fn never_rests() {
    let world = World::of(&PathBuf::from(std::env::var_os("DIR").unwrap()));
    let (path, old) = (world.dir.join("s.jsonl"), world.dir.join("old.jsonl"));
    let rewritten = world.dir.join("rewritten.jsonl");
    for at in 0..1000 {
        if path.exists() {
            let target = EntryId::Id(format!("e{}", at % 6));
            let all = [(&path, "s"), (&old, "old")];
            let all = all.map(|(path, id)| ExpectedSession { path: path.clone(), id: id.into() });
            let named = all.map(|session| (session, format!("name {at} of all")));
            let requests = [
                rewriting::request(&[&rewritten], OtherDir),
                Request::RenameAll { sessions: named.into(), keeps_names: false },
                rename(&path, &format!("name {at}")),
                Request::Label { path: path.clone(), target: target.clone(), label: at.to_string(), migrate: false },
                Request::MoveLeaf { path: path.clone(), to: Some(target.clone()), migrate: false },
                Request::Fork { path: path.clone(), at: Some(target), migrate: false },
                marks(&path, at),
                Request::Label {
                    path: old.clone(),
                    target: EntryId::Place(at % 4),
                    label: at.to_string(),
                    migrate: true,
                },
            ];
            for request in requests {
                world.make(&request).unwrap();
            }
            world.make(&Request::Archive { files: vec![seen(&path)] }).unwrap();
            world.undo().unwrap();
            world.make(&Request::Archive { files: vec![seen(&path)] }).unwrap();
            world.make(&Request::Unarchive { files: vec![archived(&path)] }).unwrap();
            world.trash(&path).unwrap();
        }
        for _ in 0..4 {
            world.undo().unwrap();
        }
        for _ in 0..2 {
            world.make(&Request::Redo).unwrap();
        }
        for _ in 0..6 {
            world.undo().unwrap();
        }
    }
}

/// Returns a change of two lasting marks.
fn marks(path: &Path, at: u32) -> Request {
    let session = ExpectedSession { path: path.into(), id: "s".into() };
    let note = NewMark { session: session.clone(), mark: Mark::Note, value: Some(at.to_string().into()) };
    let tag = Mark::Tag((at % 3).to_string());
    Request::Mark {
        marks: vec![note, NewMark { session, mark: tag, value: at.is_multiple_of(2).then(|| true.into()) }],
    }
}

/// Checks that the lasting marks are those that the journal says.
fn check_marks(world: &World, history: &[JournalRecord]) {
    let mut expected = BTreeMap::new();
    for record in history.iter().filter(|record| record.state == ChangeState::Done) {
        if let Change::Mark(change) = &record.change {
            expected.insert(change.mark.clone(), change.after.clone());
        }
    }
    expected.retain(|_, value| value.is_some());
    let now = world.changes.marks().unwrap().sessions.remove("s").unwrap_or_default();
    assert_eq!(now.into_iter().map(|(mark, value)| (mark, Some(value))).collect::<BTreeMap<_, _>>(), expected);
}

/// Checks that all files are complete, no temporary files are left, and the journal agrees with the files.
fn check(world: &World) {
    // Any request repairs the journal first.
    assert!(world.make(&Request::Undo { number: Some(u64::MAX) }).is_err());
    let history = world.changes.history().unwrap();
    assert!(!history.iter().any(is_open));
    check_marks(world, &history);
    let ours: HashSet<&str> = history.iter().flat_map(|record| &record.entries).map(String::as_str).collect();
    let mut there = HashMap::new();
    for path in world.sessions() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with('\n'), "{}", path.display());
        let values: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ids: HashSet<String> = values.iter().filter_map(|value| value["id"].as_str()).map(str::to_string).collect();
        there.insert(path, ids);
    }
    for record in &history {
        let (path, state) = (record.change.path(), record.state);
        match &record.change {
            Change::Name(LineChange { entry, .. })
            | Change::Label(LineChange { entry, .. })
            | Change::Leaf(LineChange { entry, .. }) => {
                let Some(ids) = there.get(path) else { continue };
                let is_of_today = path.ends_with("s.jsonl");
                if is_of_today {
                    assert_eq!(ids.contains(entry), state != ChangeState::Dropped, "{record:?}");
                }
            }
            Change::ContextEdit(change) => {
                let Some(ids) = there.get(path) else { continue };
                for edit in &change.edits {
                    assert_eq!(ids.contains(edit), state != ChangeState::Dropped, "all or none: {record:?}");
                }
            }
            Change::Fork(NewFile { bytes, .. }) | Change::Import(NewFile { bytes, .. }) => {
                assert_eq!(there.contains_key(path), state == ChangeState::Done, "{record:?}");
                assert!(state != ChangeState::Done || fs::metadata(path).unwrap().len() >= *bytes);
            }
            Change::Archive(_) | Change::Unarchive(_) => {
                assert!(!(there.contains_key(path) && archived(path).exists()), "{record:?}");
            }
            Change::Trash(_) | Change::Migrate(_) | Change::Rewrite(_) | Change::Move(_) => {}
            Change::Mark(_) | Change::Unknown(_) => {}
        }
    }
    let last = history.iter().rev().find_map(|record| match &record.change {
        Change::Rewrite(change) => Some((change, record.state)),
        _ => None,
    });
    if let Some((change, state)) = last {
        let bytes = if state == ChangeState::Done { change.bytes } else { change.old_bytes };
        assert_eq!(fs::metadata(&change.path).unwrap().len(), bytes, "{change:?} {state:?}");
    }
    let last_trashed = history.iter().rev().find(|record| matches!(record.change, Change::Trash { .. }));
    if let Some(last) = last_trashed {
        let is_away =
            history.iter().any(|one| matches!(one.change, Change::Trash { .. }) && one.state == ChangeState::Done);
        let is_there = there.contains_key(last.change.path()) || archived(last.change.path()).exists();
        assert_eq!(is_there, !is_away, "{last:?}");
    }
    for (path, ids) in &there {
        let is_new = |id: &&String| id.len() == 8 && !ours.contains(id.as_str());
        if path.ends_with("s.jsonl") {
            assert_eq!(ids.iter().find(is_new), None, "a line without a journal entry");
        }
    }
    let folders =
        [Some(&*world.dir), archived(&world.dir.join("s.jsonl")).parent()].map(Option::unwrap).map(Path::to_path_buf);
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let litter = files.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_none_or(|is| is != "zst"));
    let litter: Vec<PathBuf> = litter.filter(|path| path.extension().is_some_and(|is| is != "jsonl")).collect();
    assert_eq!(litter, [""; 0].map(PathBuf::from));
}
