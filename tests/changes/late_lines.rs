//! A pi that writes while its session file is replaced, moved or taken away. pitree is stopped at each of its system
//! calls in turn. There, a pi appends a line, or it opens the file and appends a line after pitree has ended. After the
//! next command, the line is in the session exactly once, and no temporary file is left.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use pitree::changes::journal::{ChangeState, JournalRecord};
use pitree::changes::{Change, Request};
use rustix::process::{Pid, Signal, kill_process};

use crate::changes::syscalls::{Case, each_case, on_one_and_two_file_systems, project_folders};
use crate::changes::world::{World, archived, home, in_own_home, on_a_small_disk, rename, seen, session, theirs};
use crate::common::effort::{rounds, seed};

/// The ID of the line.
const LATE: &str = "late-line";

/// The way in which a pi writes its line. It opens, writes and closes the file (`appendFileSync`, 1.6.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// All at once while pitree is stopped.
    AtOnce,
    /// It opens the file before pitree starts, and writes while pitree is stopped.
    OpenBefore,
    /// It opens the file while pitree is stopped, and writes after pitree has ended.
    WritesAfter,
}

#[test]
fn a_line_that_pi_writes_at_any_moment_is_kept_once() {
    on_one_and_two_file_systems("late_lines::each_moment");
}

#[test]
#[ignore = "run by a_line_that_pi_writes_at_any_moment_is_kept_once, in a home of its own"]
fn each_moment() {
    let is_tried = |name: &str| {
        ["trash", "archive", "unarchive", "scrub", "slim", "move", "move in place", "label of an old one"]
            .contains(&name)
    };
    let runs = each_case(is_tried, &all);
    assert!(runs > rounds(20, 300), "only {runs} runs");
    println!("{runs} runs");
}

/// Tries some moments of a case, or each one with `PITREE_ALL_CALLS`. Returns their number.
fn all(case: &Case) -> usize {
    let points: Vec<_> = case.points().into_iter().collect();
    let stride = if std::env::var_os("PITREE_ALL_CALLS").is_some() { 1 } else { rounds(70, 7) };
    let writers = [Writer::AtOnce, Writer::OpenBefore, Writer::WritesAfter];
    let mut runs = 0;
    for (at, (call, count)) in points.iter().enumerate() {
        for (which, &writer) in writers.iter().enumerate() {
            if (at + which + seed()).is_multiple_of(stride) {
                runs += usize::from(one(case, &format!("{call}:signal=STOP:when={count}"), writer));
            }
        }
    }
    runs
}

/// Tries one moment. Returns `false` if pitree did not reach it, or pi cannot have the file open.
fn one(case: &Case, moment: &str, writer: Writer) -> bool {
    case.copy(false);
    let what = || format!("{}, {moment}, {writer:?}", case.name);
    let path = path_of_pi(case);
    let open = |is_new: bool| File::options().append(true).create(is_new).open(&path);
    let mut before = match (writer, open(false)) {
        (Writer::OpenBefore, Err(_)) => return false,
        (_, before) => before.ok(),
    };
    let line = theirs(LATE, "e1");
    let log = case.sessions.parent().unwrap().join(format!("{}.trace", case.sessions.file_name().unwrap().display()));
    let _ = fs::remove_file(&log);
    let inject = format!("inject={moment}");
    let mut command = case.traced(&["-e", &inject, "-o", log.to_str().unwrap()]);
    let mut traced = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_stopped = stopped(&mut traced, &log);
    if is_stopped {
        match writer {
            Writer::AtOnce => open(true).unwrap().write_all(line.as_bytes()).unwrap(),
            Writer::OpenBefore => before.as_mut().unwrap().write_all(line.as_bytes()).unwrap(),
            Writer::WritesAfter => before = open(false).ok(),
        }
        if writer != Writer::WritesAfter {
            before = None;
        }
        resume(&mut traced);
    }
    traced.wait().unwrap();
    if writer == Writer::WritesAfter
        && let Some(mut open) = before.take().filter(|_| is_stopped)
    {
        open.write_all(line.as_bytes()).unwrap();
    } else if writer == Writer::WritesAfter || !is_stopped {
        return false;
    }
    case.must(&["rename", "other.jsonl", "second"]);
    case.nothing_lies_about(&what());
    // A session that is away comes back with the line.
    let is_away = |record: &&JournalRecord| {
        let takes_away = matches!(record.change, Change::Trash(_) | Change::Archive(_) | Change::Move(_));
        record.state == ChangeState::Done && takes_away
    };
    for record in case.records().iter().rev().filter(is_away) {
        if !has_it_once(case) {
            case.must(&["undo", &record.number.to_string()]);
        }
    }
    assert!(has_it_once(case), "{}: {:?}", what(), found(case));
    true
}

/// Returns the sessions with the line, and how often they have it.
fn found(case: &Case) -> Vec<(PathBuf, usize)> {
    let [old, new] = project_folders(&case.sessions);
    let folders = [case.sessions.clone(), old, new];
    let files = folders.into_iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let files =
        files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let count = |path: PathBuf| {
        let lines = fs::read_to_string(&path)
            .unwrap()
            .lines()
            .filter(|line| line.contains(&format!("\"id\":\"{LATE}\"")))
            .count();
        (path, lines)
    };
    files.map(count).filter(|(_, lines)| *lines > 0).collect()
}

/// Returns `true` if one session has the line, once.
fn has_it_once(case: &Case) -> bool {
    let is_session = |path: &Path| fs::read_to_string(path).unwrap().starts_with("{\"type\":\"session\"");
    // A pi that writes to the new path after the session has moved back creates a file of its own there.
    let is_new_file =
        |path: &Path| case.name == "move undone" && path.parent() == Some(&project_folders(&case.sessions)[1]);
    matches!(&found(case)[..], [(path, 1)] if is_session(path) || is_new_file(path))
}

/// Returns the path at which a pi has the session of the case open.
fn path_of_pi(case: &Case) -> PathBuf {
    let [old, new] = project_folders(&case.sessions).map(|folder| folder.join("moved.jsonl"));
    match &*case.name {
        name if name.starts_with("scrub") => case.sessions.join("key.jsonl"),
        name if name.starts_with("slim") => case.sessions.join("slim.jsonl"),
        name if name.starts_with("label") => case.sessions.join("old.jsonl"),
        name if name.starts_with("move") && !name.contains("in place") => {
            if new.exists() {
                new
            } else {
                old
            }
        }
        _ => case.sessions.join("one.jsonl"),
    }
}

/// Waits until pitree is stopped. Returns `false` if it ended before.
fn stopped(traced: &mut Child, log: &Path) -> bool {
    loop {
        if fs::read_to_string(log).is_ok_and(|log| log.contains("stopped by SIGSTOP")) {
            return true;
        }
        if traced.try_wait().unwrap().is_some() {
            return false;
        }
        sleep(Duration::from_millis(2));
    }
}

/// Lets the traced process continue to its end. The signal has no effect before all of its threads are stopped.
fn resume(traced: &mut Child) {
    let children = format!("/proc/{0}/task/{0}/children", traced.id());
    let children = fs::read_to_string(children).unwrap();
    let pid = Pid::from_raw(children.split_whitespace().next().unwrap().parse().unwrap()).unwrap();
    while traced.try_wait().unwrap().is_none() {
        let _ = kill_process(pid, Signal::CONT);
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_session_that_a_pi_writes_is_not_archived() {
    in_own_home("late_lines::open_while_archived");
}

#[test]
#[ignore = "run by a_session_that_a_pi_writes_is_not_archived, in a home of its own"]
fn open_while_archived() {
    let world = World::at_home();
    let before = session(&[(0, 4)]);
    let [path, other] = ["s.jsonl", "other.jsonl"].map(|name| world.write(name, &before));
    let mut pi = File::options().append(true).open(&path).unwrap();
    let files = [&path, &other].map(|path| seen(path)).into();
    let error = format!("{:#}", world.make(&Request::Archive { files }).unwrap_err());
    assert!(error.starts_with("Moved 1 session to the archive; failed for 1 session"), "{error}");
    assert!(error.ends_with("s.jsonl is being written; try again when pi is idle"), "{error}");
    pi.write_all(theirs(LATE, "e0").as_bytes()).unwrap();
    drop(pi);
    assert_eq!(fs::read_to_string(&path).unwrap(), before + &theirs(LATE, "e0"));
    let states: Vec<ChangeState> = world.changes.history().unwrap().iter().map(|record| record.state).collect();
    assert_eq!(states, [ChangeState::Dropped, ChangeState::Done]);
    // Then it is.
    world.make(&Request::Archive { files: vec![seen(&path)] }).unwrap();
    assert!(!path.exists() && archived(&path).exists());
    let names = fs::read_dir(&world.dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.contains("jsonl")).count(), 0);
}

#[test]
fn a_session_of_another_disk_is_open_while_it_is_trashed() {
    on_a_small_disk("late_lines::open_while_trashed");
}

#[test]
#[ignore = "run by a_session_of_another_disk_is_open_while_it_is_trashed, on a disk of 64 KB"]
fn open_while_trashed() {
    let (world, disk) = (World::at_home(), home().join("disk"));
    let (path, before) = (disk.join("s.jsonl"), session(&[(0, 4)]));
    fs::write(&path, &before).unwrap();
    let other = world.write("other.jsonl", &before);
    let mut pi = File::options().append(true).open(&path).unwrap();
    world.trash(&path).unwrap();
    world.make(&rename(&other, "while it is open")).unwrap();
    pi.write_all(theirs(LATE, "e0").as_bytes()).unwrap();
    drop(pi);
    world.make(&rename(&other, "then")).unwrap();
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
    world.make(&Request::Undo { number: Some(1) }).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), before + &theirs(LATE, "e0"));
}
