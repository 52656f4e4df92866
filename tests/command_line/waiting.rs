//! Locked files, programs that do not respond, signals meanwhile, and closed outputs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::command_line::pitree::{Outcome, Pitree, SESSIONS};
use crate::common::signals;

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"one\",\"cwd\":\"/\"}\n";

fn world() -> Pitree {
    let pitree = Pitree::new().variable("PATH", "/usr/bin:/bin");
    pitree.write("one.jsonl", HEADER);
    pitree
}

fn held(path: &Path) -> fs::File {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::options().append(true).create(true).open(path).unwrap();
    file.lock().unwrap();
    file
}

/// Returns the next line that a run prints to standard error.
fn said(run: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap)
}

#[test]
fn lock_holders_are_named_and_the_wait_is_limited() {
    for file in [".local/state/pitree/journal.jsonl", &format!("{SESSIONS}/one.jsonl")] {
        let pitree = world();
        let path = pitree.home().join(file);
        let lock = held(&path);
        let outcome = pitree.run(&["rename", "one", "a name", "--wait", "0"]);
        assert_eq!(outcome.code, 2, "{}", outcome.err);
        let holder = format!("pid {}", std::process::id());
        assert!(
            outcome.err.starts_with("waiting for ") && outcome.err.contains("press Ctrl+C to cancel"),
            "{}",
            outcome.err
        );
        assert!(outcome.err.contains(&format!("{file}: locked by")), "{}", outcome.err);
        assert!(outcome.err.contains(&holder) || !cfg!(target_os = "linux"), "{}", outcome.err);
        assert_eq!(fs::read_to_string(pitree.home().join(SESSIONS).join("one.jsonl")).unwrap(), HEADER);

        for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            let mut run = pitree.command(&["rename", "one", "a name", "--wait", "600"]);
            let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            let mut said = said(&mut run);
            assert!(said.next().unwrap().starts_with("waiting for "));
            signals::send(run.id(), signal);
            assert!(said.next().unwrap().starts_with("pitree: stopped: "));
            assert_eq!(run.wait().unwrap().code(), Some(code));
        }
        drop(lock);
        pitree.print(&["rename", "one", "a name"]);
    }
}

#[test]
fn a_hanging_trash_command_is_killed() {
    let pitree = world();
    pitree.write("two.jsonl", &HEADER.replace("one", "two"));
    fs::write(pitree.home().join("c.toml"), "trash = [\"sh\", \"-c\", \"sleep 600\"]\ntrash-seconds = 1\n").unwrap();
    let outcome = pitree.run(&["rm", "one", "--yes", "--config", "c.toml"]);
    assert!(
        outcome.code == 2 && outcome.err.contains("sh timed out after 1 second and was stopped"),
        "{}",
        outcome.err
    );
    assert!(!outcome.err.contains("delete"), "it was not refused: {}", outcome.err);

    fs::write(pitree.home().join("c.toml"), "trash = [\"sh\", \"-c\", \"sleep 600\"]\n").unwrap();
    let mut run = pitree.command(&["rm", "one", "--yes", "--config", "c.toml", "--wait", "600"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = said(&mut run);
    assert!(said.next().unwrap().starts_with("waiting for sh (pid "));
    // Other changes proceed meanwhile.
    pitree.print(&["rename", "two", "a name", "--wait", "0"]);
    signals::send(run.id(), "INT");
    assert!(said.next().unwrap().contains("stopped"));
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let states: Vec<_> = pitree.objects(&["undo", "--list", "--json"]).iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["dropped", "dropped", "done"]);
    assert!(pitree.home().join(SESSIONS).join("one.jsonl").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_change_with_unprintable_output_is_reported_as_made() {
    let pitree = world();
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for (args, what) in [
        (&["rename", "one", "a name"][..], "the change was made"),
        (&["rename", "one", "a name"], "cannot print this: the session already has this name"),
        (&["rename", "one", "another", "--dry-run"], "print the dry run"),
        (&["undo", "--json"], "the change was made"),
    ] {
        let output = pitree.command(args).stdout(full()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(what), "{said}");
    }
    let path = pitree.home().join(SESSIONS).join("one.jsonl");
    assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 3);
}

#[test]
fn pipes_in_place_of_state_files_do_not_block() {
    let pitree = Pitree::new();
    pitree.session(SESSIONS, "one");
    let state = pitree.home().join(".local/state/pitree");
    fs::create_dir_all(&state).unwrap();
    for name in ["journal.jsonl", "moved.json", "remembered.json", "pi.json", "state.lock"] {
        assert!(Command::new("mkfifo").arg(state.join(name)).status().unwrap().success());
    }
    let run = |args: &[&str]| {
        let inner = pitree.command(args);
        let mut command = Command::new("timeout");
        command.arg("20").arg(inner.get_program()).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Outcome::of(command.env("PATH", "/bin:/usr/bin").current_dir(pitree.home()))
    };
    for (args, code, says) in [
        (&["undo"][..], 2, "journal.jsonl: not a regular file; rename or delete it"),
        (&["rename", "one", "name"], 2, "journal.jsonl: not a regular file; rename or delete it"),
        (&["resume", "one", "--print"], 0, ""),
        (&["config", "--moved"], 2, "moved.json: not a regular file; renamed to moved.json.invalid"),
        (&["config", "--moved"], 0, "moved.json"),
        (&["ls"], 0, ""),
    ] {
        let outcome = run(args);
        assert!(outcome.code == code && outcome.err.contains(says), "{args:?}: {outcome:?}");
    }
}
