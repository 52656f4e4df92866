//! Pis that report their states: `ls --json` and `resume` with several pis in one session, and notifications.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};

use serde_json::json;

use crate::command_line::pitree::Pitree;
use crate::common::effort::wait_until;

/// A process that stands in for a pi; killed on drop.
struct Pi(Child);

impl Drop for Pi {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Pi {
    /// Starts a pi that reports a state in a session.
    fn new(pitree: &Pitree, session: &Path, state: &str) -> Self {
        let process = Command::new("sleep").arg("600").spawn().unwrap();
        report(pitree, process.id(), session, (state, 5));
        Self(process)
    }
}

/// Writes the status of a process that stands in for a pi: its state, and the time since when. The ID and the name of its
/// session are the name of the file.
pub(crate) fn report(pitree: &Pitree, pid: u32, session: &Path, (state, since): (&str, u64)) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap();
    let id = session.file_stem().unwrap().to_str();
    let reported = json!({
        "schema": 1, "pid": pid, "start": start, "where": format!("{} {}", boot.trim(), namespace.display()),
        "session": session, "id": id, "name": id, "entry": null, "cwd": "/", "state": state, "since": since,
        "model": null, "cost": 0.5,
    });
    let folder = pitree.home().join(".local/state/pitree/live");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let file = folder.join(format!("{pid}.json"));
    fs::write(&file, reported.to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A run of `pitree live --follow --notify` with a program that records its arguments and fails for errors; killed on drop.
pub(crate) struct Follower<'a> {
    pitree: &'a Pitree,
    run: Child,
}

impl Drop for Follower<'_> {
    fn drop(&mut self) {
        let _ = self.run.kill();
        let _ = self.run.wait();
    }
}

impl<'a> Follower<'a> {
    pub(crate) fn new(pitree: &'a Pitree) -> Self {
        let script = "{ printf '%s|' \"$@\"; echo; } >>\"$HOME/notified\"\ncase $* in *error*) exit 3; esac\n";
        let program = pitree.script("bin/tell", script);
        let config = pitree.home().join(".config/pitree/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(config, format!("notify = [{program:?}, \"--now\"]\n")).unwrap();
        let [out, err] = ["out", "err"].map(|name| File::create(pitree.home().join(name)).unwrap());
        let mut command = pitree.command(&["live", "--follow", "--notify"]);
        Self { pitree, run: command.stdout(out).stderr(err).spawn().unwrap() }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.pitree.home().join(name)).unwrap_or_default()
    }

    /// Waits until a text is printed.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        wait_until(text, || self.read("out").contains(text));
    }

    /// Waits for the notification whose title ends with a text, and returns the arguments of all, each followed by a bar.
    #[track_caller]
    pub(crate) fn notified(&self, last: &str) -> Vec<String> {
        wait_until(last, || self.read("notified").contains(&format!("{last}|pi is ")));
        self.read("notified").lines().map(str::to_owned).collect()
    }
}

#[test]
fn each_new_wait_runs_a_program_once() {
    let pitree = Pitree::new();
    let path = |name: &str| pitree.home().join(format!("{name}.jsonl"));
    let _before = Pi::new(&pitree, &path("before"), "waiting");
    let states =
        [("flips", "blocked"), ("flips", "working"), ("--help \u{1b}[31m", "waiting"), ("a", "error"), ("b", "error")];
    let pis = states.map(|(name, _)| Pi::new(&pitree, &path(name), "working"));
    let run = Follower::new(&pitree);
    run.shows("flips");
    for (pi, (name, state)) in [&pis[0], &pis[0], &pis[2], &pis[3], &pis[4]].into_iter().zip(states) {
        report(&pitree, pi.0.id(), &path(name), (state, 6));
        run.shows(&format!("{state}  {}", pi.0.id()));
    }
    let [waiting, error] = ["waiting for you", "stopped at an error"].map(|state| format!("pi is {state} in /|"));
    let wanted = [format!("--now| --help ␛[31m|{waiting}"), format!("--now|a|{error}"), format!("--now|b|{error}")];
    assert_eq!(run.notified("b"), wanted);
    let program = pitree.home().join("bin/tell");
    wait_until("the failure", || !run.read("err").is_empty());
    assert_eq!(run.read("err"), format!("cannot notify: {} failed (exit status: 3)\n", program.display()));
    assert_eq!(pitree.run(&["live", "--notify"]).code, 2);
}

#[test]
fn lists_all_pis_of_a_session_and_the_most_urgent_one_first() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    let pis: Vec<Pi> = ["idle", "blocked", "working"].map(|state| Pi::new(&pitree, &path, state)).into();
    let listed = pitree.listed(&path);
    assert_eq!((&listed["live"]["state"], &listed["live"]["pid"]), (&json!("blocked"), &json!(pis[1].0.id())));
    let states: Vec<_> = listed["pis"].as_array().unwrap().iter().map(|pi| pi["state"].clone()).collect();
    assert_eq!(states, ["blocked", "working", "idle"]);
    drop(pis);
    let listed = pitree.listed(&path);
    assert_eq!((&listed["live"], &listed["pis"]), (&json!(null), &json!([])));
}

#[test]
fn resume_warns_of_pis_in_the_session_and_starts_another_one_only_with_yes() {
    let pitree = Pitree::new();
    pitree.script("bin/pi", "exit 7\n");
    let pitree_path = format!("{}/bin:/usr/bin:/bin", pitree.home().display());
    let pitree = pitree.variable("PATH", &pitree_path);
    let path = pitree.fixture("branches");
    assert_eq!(pitree.run(&["resume", "branches"]).code, 7);
    let pis = [Pi::new(&pitree, &path, "idle"), Pi::new(&pitree, &path, "blocked")];
    let [idle, blocked] = pis.each_ref().map(|pi| format!("pi (pid {}) has it open: ", pi.0.id()));
    let warns = |said: &str| {
        let (first, second) = (said.find(&blocked).unwrap(), said.find(&idle).unwrap());
        assert!(first < second && said.contains("use --fork to resume in a new session"), "{said}");
    };
    let refused = pitree.run(&["resume", "branches"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
    assert!(refused.err.contains("use --yes to resume the session anyway"), "{}", refused.err);
    warns(&refused.err);
    let started = pitree.run(&["resume", "branches", "--yes"]);
    assert_eq!(started.code, 7);
    warns(&started.err);
    for args in [
        &["resume", "branches", "--print"][..],
        &["resume", "branches", "--json"],
        &["resume", "branches", "--dry-run"],
    ] {
        let printed = pitree.run(args);
        assert_eq!(printed.code, 0, "{}", printed.err);
        assert!(printed.out.contains("--session") && !printed.out.contains("has it open"), "{}", printed.out);
        warns(&printed.err);
    }
    let fork = pitree.run(&["resume", "branches", "u3", "--fork", "--print"]);
    assert!(fork.code == 0 && !fork.err.contains("has it open"), "{}", fork.err);
}
