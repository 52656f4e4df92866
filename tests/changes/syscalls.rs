//! System call faults. Every call that a change makes on the files, the journal or the trash fails in turn. In further
//! runs the process is killed at that call.
//!
//! The sessions are on the file system of the trash or on another one. Checks the reported result, that no byte is
//! lost, that the next pitree reports the right state, and that undo works.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use pitree::changes::Changes;
use pitree::changes::journal::{ChangeState, JournalRecord};
use pitree::disk::load;
use pitree::disk::trash::Trash;

use crate::changes::world::{around, content, home, in_own_home, myself, session, theirs};
use crate::common::effort::{rounds, sample, seed, skipped};
use crate::common::session::Session;

/// The words of a command.
type Words = &'static [&'static str];

/// A type of change: its name, the command that makes it, and `true` if it takes two changes of one file.
type Kind = (&'static str, Words, bool);

/// A step applied to a change: its name, the preparing commands, and the command. An empty command stands for that of
/// the change.
type Step = (&'static str, &'static [Words], Words);

const KINDS: &[Kind] = &[
    ("name", &["rename", "one.jsonl", "a name"], false),
    (NAMES, &["rename", "one.jsonl", "old.jsonl", "a name"], false),
    ("label", &["label", "one.jsonl", "e1", "a label"], false),
    ("leaf", &["resume", "one.jsonl", "e1", "--print", "--allow-write"], false),
    ("fork", &["fork", "one.jsonl", "e1"], false),
    ("context", &["context", "one.jsonl", "--omit", "e1", "e0", "--here", "--yes"], false),
    ("import", &["import", "../theirs", "--cwd", "."], false),
    ("trash", &["rm", "one.jsonl", "--yes"], false),
    (WENT_ON, &["rm", "one.jsonl", "--yes"], false),
    ("archive", &["archive", "one.jsonl", "--yes"], false),
    (ARCHIVED, &["archive", "one.jsonl", "--yes"], false),
    (UNARCHIVE, &["unarchive", "one.jsonl", "--yes"], false),
    ("scrub", &["secrets", "scrub", "key.jsonl", "--yes"], false),
    ("slim", &["slim", "slim.jsonl", "--yes"], false),
    ("move in place", &["move", "one.jsonl", "--to", ".", "--yes"], false),
    (MOVE, &["move", "/old", "new", "--yes"], false),
    (MOVED, &["move", "/old", "new", "--yes"], false),
    ("marks", &["tag", "one.jsonl", "old.jsonl", "+release"], false),
    ("label of an old one", &["label", "old.jsonl", "q1", "a label", "--migrate"], true),
];

/// The trash case with a pi that continues to write to the path.
const WENT_ON: &str = "trash beside a pi";

/// The case of an archived session with a pi that continues to write to the path.
const ARCHIVED: &str = "archive beside a pi";

/// The case that starts with an archived session.
const UNARCHIVE: &str = "unarchive";

/// The case of a session that moves to the folder of another project.
const MOVE: &str = "move";

/// The same with lines that a pi adds to the file at its new path, and continues to write to the old one.
const MOVED: &str = "move beside a pi";

/// The case with two files in a batch.
const NAMES: &str = "names";

const STEPS: &[Step] =
    &[("made", &[], &[]), ("undone", &[&[]], &["undo"]), ("made again", &[&[], &["undo"]], &["redo"])];

/// System calls on a file, a folder or a name, and the errors that each may return.
const CALLS: &[(&str, &[&str])] = &[
    ("openat", &["EIO", "EACCES", "ENOSPC"]),
    ("read", &["EIO"]),
    ("lseek", &["EIO"]),
    ("statx", &["EIO", "EACCES"]),
    ("readlink", &["EIO", "EACCES"]),
    ("flock", &["EIO"]),
    ("write", &["EIO", "ENOSPC"]),
    ("fsync", &["EIO", "ENOSPC"]),
    ("fdatasync", &["EIO", "ENOSPC"]),
    ("syncfs", &["EIO"]),
    ("ftruncate", &["EIO"]),
    ("fchmod", &["EACCES"]),
    ("utimensat", &["EACCES"]),
    ("renameat2", &["EIO", "EACCES", "ENOSPC", "EXDEV"]),
    ("rename", &["EIO", "EACCES", "ENOSPC"]),
    ("linkat", &["EIO", "EACCES", "EXDEV"]),
    ("unlink", &["EIO", "EACCES"]),
    ("mkdir", &["EIO", "EACCES", "ENOSPC"]),
    ("copy_file_range", &["EIO", "ENOSPC"]),
    ("getdents64", &["EIO"]),
];

#[test]
fn every_system_call_may_fail_or_be_the_last() {
    on_one_and_two_file_systems("syscalls::each_call");
}

/// Runs an ignored test in a home of its own, with the sessions on the file system of the trash and on another one.
pub(crate) fn on_one_and_two_file_systems(test: &str) {
    let is_there = Command::new("strace").arg("--version").stdout(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        return skipped("there is no strace");
    }
    in_own_home(test);
    let may = Command::new("unshare").args(["-rm", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return skipped("cannot mount another file system on this system");
    }
    let outer = tempfile::tempdir().unwrap();
    fs::create_dir(outer.path().join("disks")).unwrap();
    let disks = outer.path().join("disks");
    let mount = "mount -t tmpfs none \"$0\" && exec \"$@\"";
    let mut inner = myself(test, outer.path());
    inner.env("DISKS", &disks);
    let output = around("unshare", &["-rm", "sh", "-c", mount, disks.to_str().unwrap()], &inner).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by every_system_call_may_fail_or_be_the_last, in a home of its own"]
fn each_call() {
    let runs = each_case(|_| true, &Case::all);
    assert!(runs > rounds(20, 300), "only {runs} runs");
    println!("{runs} runs, of which each call was the last in one");
}

/// Tries each step of the changes with some names. Returns the sum of the results.
pub(crate) fn each_case(is_tried: fn(&str) -> bool, all: &(dyn Fn(&Case) -> usize + Sync)) -> usize {
    let sessions = std::env::var_os("DISKS").map_or_else(home, PathBuf::from);
    let kinds = KINDS.iter().filter(|(name, ..)| is_tried(name));
    // With another disk, the other half.
    let half = usize::from(std::env::var_os("DISKS").is_some());
    let cases = kinds.flat_map(|kind| STEPS.iter().map(move |step| (kind, step)));
    let cases: Vec<_> = sample(cases.skip(rounds(half, 0)), 2).collect();
    let (next, runs) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for worker in 0..threads {
            let (next, runs, cases, sessions) = (&next, &runs, &cases, &sessions);
            scope.spawn(move || {
                while let Some((kind, step)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let case = Case::new(&home().join(format!("w{worker}")), sessions, worker, kind, step);
                    runs.fetch_add(all(&case), Ordering::Relaxed);
                }
            });
        }
    });
    runs.into_inner()
}

/// A change in its own home, before the step.
pub(crate) struct Case {
    pub(crate) name: String,
    /// Directory with the journal and the trash.
    home: PathBuf,
    /// Directory with the sessions.
    pub(crate) sessions: PathBuf,
    /// Saved copies of both directories.
    saved: [PathBuf; 2],
    command: Vec<String>,
    /// Valid states: before, after, and between two changes.
    before: Snapshot,
    after: Snapshot,
    between: Vec<Snapshot>,
    /// State of the change's record when the step succeeds, and when it fails.
    states: (ChangeState, ChangeState),
    /// Texts that no fault may lose.
    texts: Vec<Vec<u8>>,
}

/// The visible state of the sessions.
pub(crate) type Snapshot = BTreeMap<String, (Option<String>, Vec<String>, Vec<String>, u32)>;

impl Case {
    fn new(
        root: &Path,
        disk: &Path,
        worker: usize,
        (kind, change, is_double): &Kind,
        (step, first, then): &Step,
    ) -> Self {
        let _ = fs::remove_dir_all(root);
        let sessions = disk.join(format!("s{worker}"));
        let _ = fs::remove_dir_all(&sessions);
        let home = root.join("home");
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&sessions).unwrap();
        fs::write(sessions.join("one.jsonl"), session(&[(0, 4), (0, 3), (0, 4), (0, 3), (2, 4), (0, 3)])).unwrap();
        let old = Session::new("old").cwd("/w").version(2);
        let old = (0..3).fold(old, |old, at| old.user(&format!("q{at}"), &format!("question {at}")));
        fs::write(sessions.join("old.jsonl"), old.text()).unwrap();
        fs::write(sessions.join("other.jsonl"), Session::new("other").cwd("/w").user("o", "hello").text()).unwrap();
        let key = format!("my key is {}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
        fs::write(sessions.join("key.jsonl"), Session::new("key").cwd("/w").user("k", &key).text()).unwrap();
        fs::write(sessions.join("slim.jsonl"), snapshots().text()).unwrap();
        fs::write(disk.join("theirs"), Session::new("theirs").cwd("/x").user("t", "hi").text()).unwrap();
        if [MOVE, MOVED].contains(kind) {
            let [old, new] = project_folders(&sessions);
            fs::create_dir(&old).unwrap();
            fs::create_dir(&new).unwrap();
            fs::create_dir(sessions.join("new")).unwrap();
            fs::write(old.join("moved.jsonl"), Session::new("moved").cwd("/old").user("m", "hello").text()).unwrap();
        }
        let mut case = Self {
            name: format!("{kind} {step}"),
            saved: [root.join("saved home"), root.join("saved sessions")],
            home,
            sessions,
            command: command(change, then).into_iter().map(String::from).collect(),
            before: Snapshot::new(),
            after: Snapshot::new(),
            between: Vec::new(),
            states: match *step {
                "undone" => (ChangeState::Undone, ChangeState::Done),
                "made again" => (ChangeState::Done, ChangeState::Undone),
                _ => (ChangeState::Done, ChangeState::Dropped),
            },
            texts: Vec::new(),
        };
        case.must(&["rename", "other.jsonl", "first"]);
        if *kind == UNARCHIVE {
            case.must(&["archive", "one.jsonl", "--yes"]);
        }
        for words in *first {
            case.must(&command(change, words));
            let [old, new] = project_folders(&case.sessions).map(|folder| folder.join("moved.jsonl"));
            if *kind == MOVED && new.exists() {
                fs::write(&new, fs::read_to_string(&new).unwrap() + &theirs("p1", "m")).unwrap();
                fs::write(&old, theirs("p2", "m")).unwrap();
            }
            let path = case.sessions.join("one.jsonl");
            if [WENT_ON, ARCHIVED].contains(kind) && !path.exists() {
                fs::write(path, theirs("p1", "e5") + &theirs("p2", "p1")).unwrap();
            }
        }
        case.before = case.snapshot();
        let trashed = files(&case.home.join("data/Trash/files"));
        case.texts = case.sessions().iter().chain(&trashed).map(|path| content(path)).collect();
        if case.name.starts_with("move") {
            // A move changes the header, and undo can put lines of a pi between the others.
            let lines = case.texts.iter().flat_map(|text| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
            let is_header = |line: &Vec<u8>| line.starts_with(b"{\"type\":\"session\"");
            case.texts = lines.filter(|line| !line.is_empty() && !is_header(line)).collect();
        }
        case.copy(true);
        let words: Vec<&str> = case.command.iter().map(String::as_str).collect();
        case.must(&words);
        case.after = case.snapshot();
        assert_ne!(case.before, case.after, "{}", case.name);
        if *is_double {
            // The migrated session without the label.
            let mut between = if *step == "undone" { case.before.clone() } else { case.after.clone() };
            between.get_mut("old.jsonl").unwrap().1.clear();
            case.between.push(between);
        }
        if case.has_two_places() {
            // Both files are complete until the original is removed.
            case.between.push(case.before.clone().into_iter().chain(case.after.clone()).collect());
        }
        if *kind == NAMES {
            // One of the two files is changed.
            for name in ["one.jsonl", "old.jsonl"] {
                let mut between = case.before.clone();
                between.insert(name.into(), case.after[name].clone());
                case.between.push(between);
            }
        }
        case
    }

    /// Tries every call that can fail; returns the number of runs.
    fn all(&self) -> usize {
        let points: Vec<_> = self.points().into_iter().collect();
        let all = std::env::var_os("PITREE_ALL_CALLS").is_some();
        let stride = if all { 1 } else { rounds(80, 8) };
        let mut runs = 0;
        for (at, (call, count)) in points.iter().enumerate() {
            let ways = CALLS.iter().find(|(name, _)| name == call).map_or(&[][..], |(_, ways)| ways);
            let ways = ways.iter().map(|way| format!("error={way}")).chain(["signal=KILL".into()]);
            for (which, way) in ways.enumerate() {
                if (at + which + seed()).is_multiple_of(stride) {
                    self.one(&format!("{call}:{way}:when={count}"));
                    runs += 1;
                }
            }
        }
        runs
    }

    /// Returns the calls made for the change by the main thread, each with its index among calls of the same name.
    pub(crate) fn points(&self) -> BTreeSet<(String, usize)> {
        self.copy(false);
        let trace = self.home.join("trace");
        let mut command = self.traced(&["-o", trace.to_str().unwrap()]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(&trace).unwrap();
        fs::remove_file(&trace).unwrap();
        let mut counts = BTreeMap::<(&str, &str), usize>::new();
        let mut points = BTreeSet::new();
        let (mut has_begun, mut is_synced, mut main) = (false, false, None);
        for line in text.lines() {
            let Some((thread, call)) = line.split_once(' ') else { continue };
            let Some((name, rest)) = call.trim_start().split_once('(') else { continue };
            main = main.or(Some(thread));
            let count = counts.entry((thread, name)).or_default();
            *count += 1;
            // Earlier system calls of the program, and those on other processes, are not made to fail.
            has_begun |= rest.contains("journal.jsonl");
            if has_begun
                && !rest.contains("/proc/")
                && main == Some(thread)
                && CALLS.iter().any(|(known, _)| *known == name)
            {
                points.insert((name.to_string(), *count));
                // The journal is synced before any file moves.
                is_synced |= name == "fdatasync";
                assert!(is_synced || name != "renameat2", "{}: {text}", self.name);
            }
        }
        assert!(points.len() > 20, "{}: {text}", self.name);
        points
    }

    fn one(&self, fault: &str) {
        self.copy(false);
        let fault = format!("inject={fault}");
        let log = self.home.join("trace");
        let options = ["-e", &fault, "-o", log.to_str().unwrap()];
        let output = self.traced(&options).output().unwrap();
        fs::remove_file(&log).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let mut now = self.snapshot();
        let (is_both, shown) = (self.has_two_places() && self.between.contains(&now), now.clone());
        let what = || format!("{}, {fault}: {:?} {said}\n{shown:#?}", self.name, output.status);
        let is_killed = fault.contains("KILL");
        // A reported success is true.
        if output.status.success() {
            assert_eq!(now, self.after, "{}", what());
        } else if !is_killed {
            assert_eq!(output.status.code(), Some(2), "{}", what());
            let is_made = said.contains("made") || said.contains("moved, but");
            assert!(now != self.after || is_made, "{}", what());
            assert!(now != self.before || !said.contains("is made, but"), "{}", what());
        }
        assert!(now == self.before || now == self.after || self.between.contains(&now), "{}", what());
        self.nothing_is_lost(&what());

        // The next pitree reports the right state.
        self.must(&["rename", "other.jsonl", "second"]);
        if is_both {
            let others = self.snapshot_of_others();
            let ends = [&self.before, &self.after].into_iter().find(|end| without_other(end) == others);
            now = ends.unwrap_or_else(|| panic!("not repaired: {others:#?}\n{}", what())).clone();
        }
        assert_eq!(self.snapshot_of_others(), without_other(&now), "{}", what());
        self.nothing_is_lost(&what());
        let records = self.records();
        // The case starts with an archived session.
        let is_prepared = |record: &JournalRecord| self.name.starts_with(UNARCHIVE) && record.number == 2;
        let of_case = |record: &&JournalRecord| !record.change.path().ends_with("other.jsonl") && !is_prepared(record);
        let records: Vec<&JournalRecord> = records.iter().filter(of_case).collect();
        let taken = records.iter().filter(|record| record.state == self.states.0).count();
        let not_taken = records.iter().filter(|record| record.state == self.states.1).count();
        assert_eq!(taken + not_taken, records.len(), "{}\n{records:#?}", what());
        match () {
            () if now == self.before => assert_eq!(taken, 0, "{}\n{records:#?}", what()),
            () if now == self.after => assert_eq!(not_taken, 0, "{}\n{records:#?}", what()),
            () => assert_eq!(taken, 1, "{}\n{records:#?}", what()),
        }
        // A file that could not be removed once stays where it is harmless.
        if !fault.contains("unlink:error") {
            self.nothing_lies_about(&what());
        }

        // Undo continues to work.
        for record in records.iter().rev().filter(|record| record.state == ChangeState::Done) {
            self.must(&["undo", &record.number.to_string()]);
        }
        let original = if self.states.0 == ChangeState::Undone { &self.after } else { &self.before };
        assert_eq!(self.snapshot_of_others(), without_other(original), "{}", what());
        self.nothing_is_lost(&what());
    }

    fn command(&self, around: Option<&[&str]>, words: &[&str]) -> Command {
        let pitree = env!("CARGO_BIN_EXE_pitree");
        let mut command = match around {
            Some(options) => {
                let mut command = Command::new("strace");
                command.args(options).arg(pitree);
                command
            }
            None => Command::new(pitree),
        };
        command.args(words).arg("--dir").arg(&self.sessions).current_dir(&self.sessions).stdin(Stdio::null());
        command.env("HOME", &self.home).env("XDG_STATE_HOME", self.home.join("state"));
        command.env("XDG_DATA_HOME", self.home.join("data")).env_remove("RUST_BACKTRACE");
        command
    }

    /// Returns the command of the case under the tracer.
    pub(crate) fn traced(&self, options: &[&str]) -> Command {
        let calls: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
        let calls = format!("trace={}", calls.join(","));
        let mut all = vec!["-f", "-qq", "-y", "-s", "200", "-e", &calls];
        all.extend(options);
        let words: Vec<&str> = self.command.iter().map(String::as_str).collect();
        self.command(Some(&all), &words)
    }

    pub(crate) fn must(&self, words: &[&str]) -> Output {
        let output = self.command(None, words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {words:?}: {said}", self.name);
        output
    }

    /// Saves the current state, or restores the saved one.
    pub(crate) fn copy(&self, saves: bool) {
        for (place, saved) in [&self.home, &self.sessions].into_iter().zip(&self.saved) {
            let (from, to) = if saves { (place, saved) } else { (saved, place) };
            if let Ok(names) = fs::read_dir(to) {
                names.for_each(|entry| remove(&entry.unwrap().path()));
            }
            copy(from, to);
        }
    }

    pub(crate) fn records(&self) -> Vec<JournalRecord> {
        Changes::new(self.home.join("state/pitree"), Trash::default()).history().unwrap()
    }

    /// Returns `true` for a move to or from the archive.
    fn archives(&self) -> bool {
        self.name.contains("archive")
    }

    /// Returns `true` for a move to another path.
    fn has_two_places(&self) -> bool {
        self.archives() || self.name.starts_with("move") && !self.name.starts_with("move in place")
    }

    /// Returns the directory of the archived sessions.
    fn archive(&self) -> PathBuf {
        self.home.join("data/pitree/archive/original-paths").join(self.sessions.strip_prefix("/").unwrap())
    }

    /// Returns the session files, and the archived ones.
    fn sessions(&self) -> Vec<PathBuf> {
        let moved = project_folders(&self.sessions).into_iter().flat_map(|folder| files(&folder));
        let all = files(&self.sessions).into_iter().chain(moved).chain(files(&self.archive()));
        all.filter(|path| path.extension().is_some_and(|is| is == "jsonl" || is == "zst")).collect()
    }

    fn snapshot(&self) -> Snapshot {
        let view = |path: PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let known =
                ["one.jsonl", "old.jsonl", "key.jsonl", "slim.jsonl", "other.jsonl", "one.jsonl.zst"].contains(&name);
            let folder = path.parent().unwrap();
            let is_moved = project_folders(&self.sessions).iter().position(|one| one == folder);
            let place = is_moved.map(|at| format!("{}/{name}", ["old", "new"][at]));
            let name = place.as_deref().unwrap_or(name);
            let known = known || is_moved.is_some();
            let Ok(tree) = load::tree(&path, "") else {
                return (name.to_string(), (None, Vec::new(), vec![fs::read_to_string(&path).unwrap()], 0));
            };
            let title = pitree::disk::scan::reread(&path, None, "").unwrap().unwrap().name;
            let labels = tree.labels.values().map(|label| label.text.to_string()).collect();
            let active = tree.leaf.map(|leaf| tree.path(leaf)).unwrap_or_default();
            let says = |at: &u32| {
                let kind = tree.nodes[*at as usize].kind;
                kind == pitree::session::entry::kind::EntryKind::User
                    || kind == pitree::session::entry::kind::EntryKind::Assistant
                    || kind == pitree::session::entry::kind::EntryKind::Custom
            };
            let said = active.into_iter().filter(says).map(|at| tree.nodes[at as usize].text.to_string());
            let sent = pitree::session::prompt::plan::Plan::new(&tree, tree.leaf).context.messages;
            let said = said.chain([tree.header.cwd.clone(), format!("{sent} sent")]).collect();
            let name = if known { name.to_string() } else { "new".into() };
            (name, (title, labels, said, tree.header.version as u32))
        };
        let marks = self.marks().into_iter().map(|(session, marks)| {
            let marks = marks.into_iter().map(|(mark, value)| format!("{mark}={value}")).collect();
            (format!("marks of {session}"), (None, marks, Vec::new(), 0))
        });
        self.sessions().into_iter().map(view).chain(marks).collect()
    }

    /// Returns the lasting marks by session.
    fn marks(&self) -> BTreeMap<String, BTreeMap<String, serde_json::Value>> {
        let changes = Changes::new(self.home.join("state/pitree"), Trash::default());
        changes.with_marks_in(&self.home.join("data/pitree")).marks().unwrap().sessions
    }

    fn snapshot_of_others(&self) -> Snapshot {
        without_other(&self.snapshot())
    }

    /// Checks that the earlier content of each file is in some file, in its place or in the trash.
    fn nothing_is_lost(&self, what: &str) {
        let all = files(&self.sessions).into_iter().chain(files(&self.home.join("data/Trash/files")));
        let moved = project_folders(&self.sessions).into_iter().flat_map(|folder| files(&folder));
        let all = all.chain(moved).chain(files(&self.archive()));
        let all: Vec<Vec<u8>> = all.map(|path| content(&path)).collect();
        for text in &self.texts {
            assert!(
                all.iter().any(|now| now.windows(text.len()).any(|part| part == text)),
                "lost: {}\n{what}",
                String::from_utf8_lossy(text)
            );
        }
    }

    /// Checks that no temporary file, second link or orphaned trash note is left.
    pub(crate) fn nothing_lies_about(&self, what: &str) {
        let names = |folder: &Path| -> Vec<String> {
            files(folder).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_string()).collect()
        };
        let [old, new] = project_folders(&self.sessions);
        let names_here = [&self.sessions, &old, &new].into_iter().flat_map(|folder| names(folder));
        let is_dir = |name: &String| name == "new" || name.starts_with("--");
        let litter: Vec<_> = names_here.filter(|name| !name.ends_with(".jsonl") && !is_dir(name)).collect();
        assert_eq!(litter, [""; 0], "{what}");
        let litter: Vec<_> = names(&self.archive()).into_iter().filter(|name| !name.ends_with(".zst")).collect();
        assert_eq!(litter, [""; 0], "{what}");
        let notes = names(&self.home.join("data/Trash/info"));
        let mut notes: Vec<_> = notes.iter().map(|name| name.trim_end_matches(".trashinfo").to_string()).collect();
        notes.sort();
        assert_eq!(names(&self.home.join("data/Trash/files")), notes, "{what}");
    }
}

/// Returns a session with snapshots of an extension and a result that no model receives.
fn snapshots() -> Session {
    let session = Session::new("slim").cwd("/w").user("s", "start");
    let session = session.tool("t", "bash", &serde_json::json!({"command": "ls"}), &"long ".repeat(3000));
    let session = session.user("k", "kept").compaction("c", "summary", "k");
    (0..21).fold(session, |session, at| session.custom(&format!("x{at}"), "state"))
}

/// Returns pi's folders of the old and the new working directory of a session that moves.
pub(crate) fn project_folders(sessions: &Path) -> [PathBuf; 2] {
    let new = format!("-{}-new--", sessions.to_str().unwrap().replace('/', "-"));
    ["--old--".into(), new].map(|name: String| sessions.join(name))
}

/// Returns the words of a command, or those of the change if they are empty.
fn command<'a>(change: &[&'a str], words: &[&'a str]) -> Vec<&'a str> {
    if words.is_empty() { change.to_vec() } else { words.to_vec() }
}

fn without_other(snapshot: &Snapshot) -> Snapshot {
    let mut others = snapshot.clone();
    others.remove("other.jsonl");
    others
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).map_or(Vec::new(), |names| names.map(|entry| entry.unwrap().path()).collect());
    files.sort();
    files
}

fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}

/// Copies a folder recursively and preserves file times.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in files(from) {
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &place);
        } else {
            fs::copy(&path, &place).unwrap();
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            fs::File::options().append(true).open(&place).unwrap().set_modified(time).unwrap();
        }
    }
    let mode = fs::metadata(from).unwrap().permissions();
    fs::set_permissions(to, mode).unwrap();
}
