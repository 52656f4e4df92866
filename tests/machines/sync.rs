//! Mirrors follow their machines in each way.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use crate::common::home::{json_lines, set_modified};
use crate::common::session::Session;
use crate::remote::{Remote, WAYS, Way};

fn append(path: &std::path::Path, text: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn has_rsync() -> bool {
    std::path::Path::new("/usr/bin/rsync").exists()
}

fn ways() -> impl Iterator<Item = Way> {
    WAYS.into_iter().filter(|way| *way != Way::Rsync || has_rsync())
}

#[test]
fn mirrors_follow_their_machines() {
    for way in ways() {
        let remote = Remote::new(way);
        let state = remote.sync(&[]);
        let method = match way {
            Way::Pitree => "pitree",
            Way::Tar => "tar",
            Way::Rsync => "rsync",
            Way::Dir => "files",
        };
        assert_eq!((state["method"].as_str(), state["error"].is_null()), (Some(method), true), "{way:?}: {state}");
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
fn unchanged_sessions_cost_little() {
    let remote = Remote::unknown();
    let text = Session::new("x").asked("Hello", &["Hi"]).text();
    for number in 0..10_000 {
        let id = format!("2026-01-05T09-00-00-000Z_0199f2c1-aaaa-bbbb-cccc-{number:012}");
        remote.there.write(format!(".pi/agent/sessions/--project-{}--/{id}.jsonl", number % 37), &text);
    }
    remote.add(Way::Tar);
    let all = remote.sync(&[]);
    assert_eq!(all["sessions"].as_u64(), Some(10_000));
    let by_tar = remote.sync(&[])["transferred"].as_u64().unwrap();
    assert!(by_tar < 2_000_000, "{by_tar}");
    remote.ok(&["machine", "remove", "box"]);
    remote.add(Way::Pitree);
    // The first one completes the times, which tar has only in seconds.
    remote.sync(&[]);
    let by_pitree = remote.sync(&[])["transferred"].as_u64().unwrap();
    assert!(by_pitree < 20_000, "{by_pitree}");
    append(
        &remote
            .there
            .sessions()
            .join(format!("--project-0--/2026-01-05T09-00-00-000Z_0199f2c1-aaaa-bbbb-cccc-{:012}.jsonl", 0)),
        "{}\n",
    );
    let appended = remote.sync(&[])["transferred"].as_u64().unwrap();
    // The list of the changed directory, and the line.
    assert!(appended < by_pitree + 20_000, "{appended}");
}

#[test]
fn a_limit_leaves_out_the_oldest_sessions() {
    let remote = Remote::unknown();
    for (number, age) in [(0, 50), (1, 10), (2, 90)] {
        let path = remote.there.session(&Session::new(&format!("s{number}")).asked("Hello", &["Hi"]));
        set_modified(&path, SystemTime::now() - Duration::from_secs(age));
    }
    remote.add(Way::Pitree);
    remote.here.write(".config/pitree/config.toml", "[sync]\ngigabytes = 0\n");
    let state = remote.sync(&[]);
    assert_eq!(remote.mirrored().len(), 0);
    assert!(state["warnings"][0].as_str().unwrap().starts_with("3 files left out: the mirror would exceed"), "{state}");
}

#[test]
fn machines_that_fail_are_explained() {
    let remote = Remote::unknown();
    let add = |words: &[&str]| remote.run(&[&["machine", "add", "x"], words].concat());
    let failed = add(&["ssh:no-such-host.invalid"]);
    assert!(failed.code == 2 && failed.err.contains("it was not added"), "{failed:?}");
    for (script, part) in [
        ("echo 'ssh: connect to host x port 22: Connection refused' >&2; exit 255", "connection refused"),
        ("echo '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @' >&2; exit 255", "the host key has changed"),
        ("echo 'x: Permission denied (publickey).' >&2; exit 255", "ssh cannot log in"),
        ("echo 'write: Disk quota exceeded' >&2; exit 1", "the disk quota on the machine is used up"),
        ("exit 0", "the connection was lost"),
        ("echo welcome; exit 3", "exit code 3"),
        ("yes hello", "no answer of pitree"),
    ] {
        let program = remote.here.script("fails", script);
        let mut words = vec!["machine", "add", "--", "y"];
        let address = format!("command:{}", program.display());
        words.push(&address);
        let failed = remote.run(&words);
        assert!(failed.err.contains(part) || part == "no answer of pitree", "{script}: {failed:?}");
    }
    assert_eq!(remote.run(&["machine", "sync", "nobody"]).code, 2);
    assert_eq!(remote.run(&["machine", "list"]).code, 1);
}

#[test]
fn machines_are_found() {
    let remote = Remote::unknown();
    remote.there.session(&Session::new("s1").asked("Hello", &["Hi"]));
    remote.add(Way::Rsync);
    remote.here.write(".ssh/config", "Host *\n  User x\n");
    let found = json_lines(&remote.ok(&["machine", "discover", "--json"]));
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0]["address"].as_str(), found[0]["sessions"].as_u64(), found[0]["isKnown"].as_bool()),
        (Some("docker:box"), Some(1), Some(true))
    );
    let checked = json_lines(&remote.ok(&["machine", "check", "--json"]));
    assert_eq!((checked[0]["isReachable"].as_bool(), checked[0]["pitree"].is_null()), (Some(true), true));
}

#[cfg(target_os = "linux")]
#[test]
fn states_of_running_pis_come_with_the_synchronization() {
    let remote = Remote::unknown();
    let path = remote.there.session(&Session::new("abcdef12").asked("Hello", &["Hi"]));
    remote.add(Way::Pitree);
    let mut pi = std::process::Command::new("sleep").arg("600").spawn().unwrap();
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
