//! Mirrors follow their machines in each way.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use crate::common::home::{Outcome, json_lines, set_modified};
use crate::common::session::Session;
use crate::machines::remote::{Remote, Way, has_rsync, ways};

fn append(path: &std::path::Path, text: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn mirrors_follow_their_machines() {
    for way in ways() {
        let remote = Remote::new(way);
        let state = remote.sync(&[]);
        assert_eq!((state["rsync"].is_null(), state["error"].is_null()), (way == Way::Dir, true), "{way:?}: {state}");
        remote.check();
        let project = remote.there.sessions().join("--home-dev-app--");
        let file = project.join("deep-chain.jsonl");
        let before = fs::metadata(&file).unwrap().len();
        append(
            &file,
            "{\"type\":\"custom\",\"id\":\"later1\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:00Z\"}\n{\"type\"",
        );
        let state = remote.sync(&[]);
        remote.check();
        let transferred = state["transferred"].as_u64().unwrap();
        assert!(way == Way::Dir || transferred > 0, "{way:?}: {state}");
        assert!(transferred < before, "{way:?}: {transferred} of {before} bytes for an appended line");
        // The line is completed.
        append(&file, ":\"custom\",\"id\":\"later2\"}\n");
        remote.sync(&[]);
        remote.check();
        let mirrored = remote.mirror().join("--home-dev-app--/deep-chain.jsonl");
        let metadata = fs::metadata(&mirrored).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o400);
        let seconds = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        assert_eq!(seconds(metadata.modified().unwrap()), seconds(fs::metadata(&file).unwrap().modified().unwrap()));
        // Same length, other content.
        let text = fs::read_to_string(&file).unwrap().replace("later1", "other1");
        fs::write(&file, text).unwrap();
        set_modified(&file, SystemTime::now() + Duration::from_secs(5));
        fs::remove_file(project.join("branched.jsonl")).unwrap_or_default();
        fs::write(project.join("new.jsonl"), Session::new("new").asked("New", &["One"]).text()).unwrap();
        remote.sync(&[]);
        remote.check();
        // The replaced original is in the trash.
        assert!(remote.ok(&["trash"]).contains("deep-chain.jsonl"), "{way:?}");
        let unchanged = remote.sync(&[]);
        assert_eq!(unchanged["warnings"].as_array().unwrap().len(), 0, "{unchanged}");
    }
}

#[test]
fn many_missing_sessions_are_kept_until_the_user_decides() {
    for way in ways() {
        let remote = Remote::unknown();
        for number in 0..10 {
            remote.there.session(&Session::new(&format!("s{number}")).asked("Hello", &["Hi"]));
        }
        remote.add(way);
        remote.sync(&[]);
        let count = || remote.mirrored().len();
        assert_eq!(count(), 10);
        let path = |number: usize| remote.there.sessions().join(format!("--project--/s{number}.jsonl"));
        fs::remove_file(path(0)).unwrap();
        assert_eq!((remote.sync(&[])["gone"].as_u64(), count()), (Some(0), 9), "{way:?}");
        // It is in the trash; if the user restores it, it stays.
        remote.ok(&["restore", "1"]);
        assert_eq!((remote.sync(&[])["gone"].as_u64(), count()), (Some(0), 10), "{way:?}");
        (1..4).for_each(|number| fs::remove_file(path(number)).unwrap());
        assert_eq!((remote.sync(&[])["gone"].as_u64(), count()), (Some(3), 10), "{way:?}");
        assert_eq!(remote.run(&["machine", "sync"]).code, 3);
        assert_eq!((remote.sync(&["--keep-gone"])["gone"].as_u64(), count()), (Some(0), 10));
        assert_eq!(remote.sync(&[])["gone"].as_u64(), Some(0));
        (4..8).for_each(|number| fs::remove_file(path(number)).unwrap());
        assert_eq!((remote.sync(&["--delete-gone"])["gone"].as_u64(), count()), (Some(0), 6), "{way:?}");
        // An empty root, and a missing one.
        (8..10).for_each(|number| fs::remove_file(path(number)).unwrap());
        assert_eq!((remote.sync(&[])["gone"].as_u64(), count()), (Some(2), 6), "{way:?}");
        fs::remove_dir_all(remote.there.sessions()).unwrap();
        let state = remote.sync(&[]);
        assert_eq!((state["gone"].as_u64() > Some(0), count()), (true, 6), "{way:?}: {state}");
        assert!(remote.ok(&["machine", "list"]).contains("kept"), "{way:?}");
    }
}

#[test]
fn only_what_changed_is_sent() {
    if !has_rsync() {
        return;
    }
    let remote = Remote::unknown();
    for number in 0..3000 {
        remote.there.session(&Session::new(&format!("s{number}")).asked("Hello", &["Hi"]));
    }
    let mut long = Session::new("long").asked("Hello", &["Hi"]).text();
    let mut seed = 1u64;
    for number in 0..20_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        long += &format!("{{\"type\":\"custom\",\"id\":\"{number}\",\"data\":\"{seed:x}\"}}\n");
    }
    let path = remote.there.write(".pi/agent/sessions/--project--/long.jsonl", &long);
    remote.add(Way::Command);
    assert!(remote.sync(&[])["transferred"].as_u64().unwrap() > 300_000);
    assert_eq!(remote.sync(&[])["transferred"].as_u64(), Some(0));
    append(&path, "{}\n");
    let appended = remote.sync(&[])["transferred"].as_u64().unwrap();
    assert!((1..30_000).contains(&appended), "{appended}");
    remote.check();
}

#[test]
fn a_limit_leaves_out_the_oldest_sessions() {
    let remote = Remote::unknown();
    for (number, age) in [(0, 50), (1, 10), (2, 90)] {
        let path = remote.there.session(&Session::new(&format!("s{number}")).asked("Hello", &["Hi"]));
        set_modified(&path, SystemTime::now() - Duration::from_secs(age));
    }
    remote.add(Way::Dir);
    remote.here.write(".config/pitree/config.toml", "[sync]\ngigabytes = 0\n");
    let state = remote.sync(&[]);
    assert_eq!(remote.mirrored().len(), 0);
    assert!(state["warnings"][0].as_str().unwrap().starts_with("3 files left out: the mirror would exceed"), "{state}");
}

#[test]
fn machines_that_fail_are_explained() {
    if !has_rsync() {
        return;
    }
    let remote = Remote::unknown();
    let add = |words: &[&str]| remote.run(&[&["machine", "add", "x"], words].concat());
    let failed = add(&["ssh:no-such-host.invalid"]);
    assert!(failed.code == 2 && failed.err.contains("it was not added"), "{failed:?}");
    for (script, part) in [
        ("echo 'ssh: connect to host x port 22: Connection refused' >&2; exit 255", "connection refused"),
        ("echo '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @' >&2; exit 255", "the host key has changed"),
        ("echo 'x: Permission denied (publickey).' >&2; exit 255", "ssh cannot log in"),
        ("echo 'write: Disk quota exceeded' >&2; exit 1", "the disk quota on the machine is used up"),
        ("exit 0", "the shell there printed something else"),
        ("echo pitree-list; exit 0", "the connection was lost"),
        ("echo welcome; exit 3", "exit code 3"),
        ("echo pitree-list; echo pitree-end", "rsync is missing there; install it: apt install rsync"),
    ] {
        let program = remote.here.script("fails", script);
        let mut words = vec!["machine", "add", "--", "y"];
        let address = format!("command:{}", program.display());
        words.push(&address);
        let failed = remote.run(&words);
        assert!(failed.err.contains(part) && failed.err.contains("not added"), "{script}: {failed:?}");
    }
    assert_eq!(remote.run(&["machine", "sync", "nobody"]).code, 2);
    assert_eq!(remote.run(&["machine", "list"]).code, 1);
}

#[test]
fn without_rsync_the_reason_is_named() {
    let remote = Remote::unknown();
    remote.there.session(&Session::new("s1").asked("Hello", &["Hi"]));
    // Only the shell and this program are on the PATH.
    let bin = remote.here.dir("bin");
    std::os::unix::fs::symlink("/usr/bin/env", bin.join("env")).unwrap();
    let address = remote.program().join(" ");
    let added = Outcome::of(remote.here.command(&["machine", "add", "box", &address]).env("PATH", &bin));
    assert!(added.code == 2 && added.err.contains("rsync is missing on this machine; install it: apt"), "{added:?}");
}

#[test]
fn a_shell_that_prints_something_is_named() {
    if !has_rsync() {
        return;
    }
    let remote = Remote::unknown();
    let home = remote.there.path().display();
    let script = format!("echo 'Last login: today'; env -i PATH=/usr/bin:/bin HOME={home} \"$@\"\n");
    let program = remote.here.script("noisy", &script);
    let added = remote.run(&["machine", "add", "box", &format!("command:{}", program.display())]);
    assert!(added.code == 2 && added.err.contains("its shell prints \"Last login: today\" before"), "{added:?}");
}

#[test]
fn abilities_are_shown() {
    if !has_rsync() {
        return;
    }
    let remote = Remote::unknown();
    remote.there.session(&Session::new("s1").asked("Hello", &["Hi"]));
    remote.add(Way::Command);
    let shown = remote.run(&["machine", "sync", "-v"]).err;
    for part in
        ["reached by: env -i", "session directory: /", "read by rsync", "no pitree, so that", "pi is not on the PATH"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    remote.install();
    remote.sync(&[]);
    let setup = remote.ok(&["setup"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        setup.contains("machine box: synced just now; read by rsync") && setup.contains("changes sessions"),
        "{setup}"
    );
    // All messages of a failure are shown, not only the last one.
    let program = remote.here.script("fails", "echo one >&2; echo two >&2; exit 1");
    remote.ok(&["machine", "remove", "box"]);
    let machines = format!("[machines]\nbox = [\"command:{}\"]\n", program.display());
    remote.here.write(".config/pitree/config.toml", machines);
    let failed = remote.run(&["machine", "sync", "-v"]);
    assert!(
        failed.code == 2 && failed.err.contains("  one\n") && failed.err.contains("two (exit code 1)"),
        "{failed:?}"
    );
}

#[test]
fn odd_names_are_mirrored_or_refused() {
    for way in ways() {
        let remote = Remote::unknown();
        let text = Session::new("s").asked("Hello", &["Hi"]).text();
        let dir = "-x $(touch y) 'q' \"d\" #h";
        for name in ["it's a `name` $HOME.jsonl", "#x.jsonl", "-rf.jsonl", "é *?[a].jsonl", ";.jsonl"] {
            remote.there.write(format!(".pi/agent/sessions/{dir}/{name}"), &text);
        }
        remote.add(way);
        let state = remote.sync(&[]);
        assert_eq!(
            (state["error"].is_null(), state["warnings"].as_array().unwrap().len()),
            (true, 0),
            "{way:?} {state}"
        );
        remote.check();
        // A line break in a name, and links, inside and outside of the session directory.
        remote.there.write(".pi/agent/sessions/a/b\nc.jsonl", &text);
        let outside = remote.there.write("outside.jsonl", &text);
        let sessions = remote.there.sessions();
        std::os::unix::fs::symlink(&outside, sessions.join("a/link.jsonl")).unwrap();
        std::os::unix::fs::symlink(remote.there.path(), sessions.join("a/dir")).unwrap();
        let state = remote.sync(&[]);
        assert!(state["warnings"][0].as_str().unwrap().contains("left out because of their name"), "{way:?} {state}");
        assert_eq!((remote.mirrored().len(), state["gone"].as_u64()), (5, Some(0)), "{way:?}");
    }
}

#[test]
fn a_session_that_cannot_be_read_is_kept() {
    for way in ways() {
        let remote = Remote::unknown();
        let path = remote.there.session(&Session::new("s1").asked("Hello", &["Hi"]));
        remote.there.session(&Session::new("s2").asked("Hello", &["Hi"]));
        remote.add(way);
        remote.sync(&[]);
        append(&path, "{}\n");
        remote.there.session(&Session::new("s3").asked("Hello", &["Hi"]));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        let is_readable = fs::read(&path).is_ok(); // by root
        let state = remote.sync(&[]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!((remote.mirrored().len(), state["error"].is_null()), (3, true), "{way:?} {state}");
        assert_eq!(state["warnings"].as_array().unwrap().len(), usize::from(!is_readable), "{way:?} {state}");
        remote.sync(&[]);
        remote.check();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn states_of_running_pis_come_with_the_synchronization() {
    let remote = Remote::unknown();
    if !has_rsync() {
        return;
    }
    let path = remote.there.session(&Session::new("abcdef12").asked("Hello", &["Hi"]));
    remote.add(Way::Pitree);
    // Without a terminal.
    let mut pi = std::process::Command::new("setsid").args(["sleep", "600"]).spawn().unwrap();
    let pid = pi.id();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap();
    let status = serde_json::json!({
        "schema": 1, "pid": pid, "start": start, "where": format!("{} {}", boot.trim(), namespace.display()),
        "session": path, "id": "abcdef12", "name": null, "entry": null, "cwd": "/", "state": "working", "since": 5,
        "model": null, "cost": 0.5,
    });
    let file = remote.there.write(format!(".local/state/pitree/live/{pid}.json"), status.to_string());
    fs::set_permissions(file.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    remote.sync(&[]);
    let listed = || json_lines(&remote.ok(&["ls", "--json"])).remove(0);
    assert_eq!(listed()["live"]["state"], "working");
    let went = remote.run(&["live", "--go", "abcdef12"]);
    let why = format!("cannot go to pi (pid {pid}) in /: it has no terminal");
    assert!(went.code == 2 && went.err.contains(&why), "the pitree there goes: {}", went.err);
    pi.kill().unwrap();
    pi.wait().unwrap();
    remote.sync(&[]);
    assert!(listed()["live"].is_null());
}

#[test]
fn a_session_that_was_only_noted_as_gone_is_removed() {
    let remote = Remote::unknown();
    for number in 0..10 {
        remote.there.session(&Session::new(&format!("s{number}")).asked("Hello", &["Hi"]));
    }
    remote.add(Way::Dir);
    remote.sync(&[]);
    let state = remote.here.path().join(".local/state/pitree/machines/box.json");
    let gone = |number: usize| format!("--project--/s{number}.jsonl");
    let count = || remote.mirrored().len();
    // pitree was killed between the note and the move.
    let noted = |numbers: &[usize]| {
        let mut state_now: serde_json::Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
        state_now["moving"] = numbers.iter().map(|number| gone(*number)).collect();
        fs::write(&state, state_now.to_string()).unwrap();
    };
    noted(&[0]);
    fs::remove_file(remote.there.sessions().join(gone(0))).unwrap();
    remote.sync(&[]);
    assert_eq!(count(), 9);
    // It was killed after the move, and the user restored the session.
    remote.ok(&["restore", "1"]);
    let text = fs::read_to_string(&state).unwrap().replace(&format!("{:?}", gone(0)), "");
    fs::write(&state, text).unwrap();
    noted(&[0]);
    remote.sync(&[]);
    remote.sync(&[]);
    assert_eq!(count(), 10);
}

#[cfg(target_os = "linux")]
#[test]
fn a_replaced_session_is_kept_whichever_lookup_fails() {
    use std::process::Command;
    if !Command::new("strace").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return crate::common::effort::skipped("there is no strace");
    }
    let remote = Remote::unknown();
    let path = remote.there.session(&Session::new("s").asked("Hello", &["before"]));
    remote.add(Way::Dir);
    remote.sync(&[]);
    let saved = tempfile::tempdir().unwrap();
    crate::common::home::copy(remote.here.path(), saved.path());
    fs::write(&path, Session::new("s").asked("Hello", &["after, and longer"]).text()).unwrap();
    let log = saved.path().join("trace");
    let traced = |options: &[&str]| {
        let sync = remote.here.command(&["machine", "sync", "box"]);
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "trace=statx", "-o", log.to_str().unwrap()]).args(options);
        command.arg(sync.get_program()).args(sync.get_args()).current_dir(sync.get_current_dir().unwrap());
        command.envs(sync.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.output().unwrap();
    };
    traced(&[]);
    let calls = fs::read_to_string(&log).unwrap().lines().filter(|line| line.contains("statx(")).count();
    assert!(calls > 10);
    for call in (1..=calls).step_by(crate::common::effort::rounds(3, 1)) {
        fs::remove_dir_all(remote.here.path().join(".local")).unwrap();
        crate::common::home::copy(&saved.path().join(".local"), &remote.here.path().join(".local"));
        traced(&["-e", &format!("inject=statx:error=EIO:when={call}")]);
        let kept = crate::common::home::files_below(&remote.here.path().join(".local"));
        let is_kept = kept.iter().any(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("before")));
        assert!(is_kept, "the session is lost after failure {call}");
    }
}
