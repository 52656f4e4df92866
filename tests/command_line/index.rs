//! `pitree index`, and other commands with an index: the output is the same as without one.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::command_line::pitree::{Outcome, Pitree};
use crate::common::effort;
use crate::common::home::{files_below, set_modified};
use crate::common::session::Session;

fn world() -> Pitree {
    let pitree = Pitree::new();
    for name in ["branches", "fork-child", "v2-labels", "label-chain"] {
        pitree.fixture(name);
    }
    pitree
}

/// Returns the files of the index with an extension: `index` for lists, `segment` for segments.
fn files_of(pitree: &Pitree, kind: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(pitree.home().join(".cache/pitree/index")).into_iter().flatten();
    files.map(|file| file.unwrap().path()).filter(|path| path.extension().unwrap() == kind).collect()
}

/// Returns the lists of the index.
fn files(pitree: &Pitree) -> Vec<PathBuf> {
    files_of(pitree, "index")
}

#[test]
fn output_is_the_same_with_and_without_an_index() {
    let pitree = world();
    for command in [
        &["ls", "--json"][..],
        &["ls"],
        &["labels", "--json"],
        &["files", "--json"],
        &["search", "the", "--json"],
        &["search", "is:fork", "--json"],
        &["search", "file:src", "--json"],
        &["search", "the", "--all", "--json"],
        &["path", "branches"],
        &["tree", "branches", "--json"],
        &["rm", "branches", "--family", "--dry-run", "--json"],
    ] {
        let run = |more: &[&str]| {
            let Outcome { code, out, err } = pitree.run(&[command, more].concat());
            (code, out, err)
        };
        let without = run(&["--no-index"]);
        // The first run creates the index, the second one uses it.
        for _ in 0..2 {
            assert_eq!(run(&[]), without, "{command:?}");
        }
    }
}

#[test]
fn reports_statistics_and_is_rebuilt() {
    let pitree = world();
    let stats = || pitree.objects(&["index", "--stats", "--json"]).remove(0);
    assert_eq!((stats()["sessions"].as_u64(), files(&pitree).len()), (Some(0), 0), "statistics do not create an index");
    pitree.print(&["ls", "--no-index"]);
    assert_eq!(files(&pitree).len(), 0);
    pitree.print(&["ls"]);
    assert_eq!((stats()["sessions"].as_u64(), files(&pitree).len()), (Some(4), 1));
    let said = pitree.print(&["index"]);
    assert!(said.starts_with("~/.pi/agent/sessions: 4 files, "), "{said}");
    let path = files(&pitree).remove(0);
    assert_eq!(pitree.print(&["index", "--path"]).lines().next(), path.to_str());
    fs::write(&path, "nothing of pitree's").unwrap();
    assert_eq!(stats()["sessions"], 0);
    pitree.print(&["index", "--rebuild"]);
    assert_eq!(stats()["sessions"], 4);
    for refused in [&["index", "--no-index"][..], &["index", "--demo"]] {
        assert!(pitree.refuse(refused).contains("cannot be used with"));
    }
}

/// Returns `true` if a word is in the bytes of the cache directory.
fn cache_holds(pitree: &Pitree, word: &str) -> bool {
    let holds = |path: PathBuf| fs::read(path).unwrap().windows(word.len()).any(|bytes| bytes == word.as_bytes());
    files_below(&pitree.home().join(".cache")).into_iter().any(holds)
}

#[test]
fn any_command_removes_deleted_sessions_from_the_index() {
    let pitree = world();
    let secret = || pitree.write_session(&Session::new("secret").user("a", "swordfish"));
    let search = ["search", "the", "--json"];
    for command in [&["ls"][..], &search, &["path", "branches"], &["files"], &["labels"], &["index"]] {
        let path = secret();
        pitree.print(&["ls"]);
        assert!(cache_holds(&pitree, "swordfish"));
        pitree.print(&["rm", "--yes", path.to_str().unwrap()]);
        pitree.run(command);
        assert!(!cache_holds(&pitree, "swordfish"), "{command:?}: the trash does not count");
    }
}

#[test]
fn indexes_of_missing_or_unused_directories_are_removed() {
    let pitree = world();
    for dir in ["gone", "unused", "used"] {
        pitree.session(dir, dir);
        pitree.print(&["ls", "--dir", dir]);
        for file in files(&pitree) {
            set_modified(&file, SystemTime::now() - Duration::from_secs(91 * 24 * 3600));
        }
        if dir == "gone" {
            pitree.print(&["ls"]);
            assert_eq!(files(&pitree).len(), 1, "only its own");
            pitree.print(&["ls", "--dir", dir]);
        }
    }
    // Using an index counts as a modification.
    pitree.print(&["ls", "--dir", "used"]);
    set_modified(&files(&pitree)[0], SystemTime::now() - Duration::from_secs(80 * 24 * 3600));
    pitree.print(&["ls", "--dir", "used"]);
    assert!(files(&pitree)[0].metadata().unwrap().modified().unwrap().elapsed().unwrap() < Duration::from_secs(3600));
    pitree.print(&["ls", "--dir", "gone"]);
    assert_eq!(files(&pitree).len(), 2);
    fs::remove_dir_all(pitree.home().join("gone")).unwrap();
    pitree.run(&["trash"]); // reads no session
    assert_eq!(files(&pitree).len(), 1, "of the other directory");
    // An index in an older format does not name its directory.
    let old = files(&pitree)[0].with_file_name("0123456789abcdef.all");
    fs::write(&old, "pitree-i").unwrap();
    pitree.print(&["ls", "--dir", "used"]);
    assert_eq!((files(&pitree).len(), files_of(&pitree, "segment").len(), old.exists()), (1, 1, false));
}

#[test]
fn clear_deletes_index_files() {
    let pitree = world();
    pitree.session("other", "other");
    let list = || {
        pitree.print(&["ls"]);
        pitree.print(&["ls", "--dir", "other"]);
        assert_eq!(files(&pitree).len(), 2);
    };
    list();
    let said = pitree.print(&["index", "--clear", "--dir", "other"]);
    assert!(said.starts_with("Deleted 3 index files, "), "a list, a segment and a lock: {said}");
    assert_eq!(files(&pitree).len(), 1);
    list();
    pitree.print(&["index", "--clear"]);
    assert_eq!(fs::read_dir(pitree.home().join(".cache/pitree/index")).unwrap().count(), 0);
    let outcome = pitree.run(&["index", "--clear"]);
    assert_eq!((outcome.code, &*outcome.out), (1, "Deleted 0 index files, 0 B\n"), "nothing to do");
}

#[cfg(unix)]
/// Runs a script in a shell and returns its output.
fn by_shell(pitree: &Pitree, script: &str, args: &[&str]) -> Outcome {
    let inner = pitree.command(args);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).arg(inner.get_program()).args(inner.get_args());
    command
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", "/bin:/usr/bin");
    Outcome::of(command.current_dir(pitree.home()))
}

#[cfg(unix)]
#[test]
fn works_in_a_deleted_working_directory() {
    let pitree = world();
    let wanted = pitree.print(&["ls", "--json"]);
    let outcome = by_shell(&pitree, "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"", &["ls", "--json"]);
    assert_eq!((outcome.out, outcome.err), (wanted, String::new()));
}

#[cfg(unix)]
#[test]
fn a_full_disk_disables_only_the_index() {
    let pitree = world();
    let wanted = pitree.print(&["ls", "--json", "--no-index"]);
    let outcome = by_shell(&pitree, "ulimit -f 1; exec \"$0\" \"$@\" | cat", &["ls", "--json"]);
    assert_eq!((outcome.out, files(&pitree).len()), (wanted, 0));
    assert_eq!(outcome.err.matches("cannot write the index in ").count(), 1, "{}", outcome.err);
}

#[cfg(unix)]
#[test]
fn a_rebuild_on_a_full_disk_fails_and_keeps_the_index() {
    let pitree = world();
    pitree.print(&["ls"]);
    let segment = || fs::read(&files_of(&pitree, "segment")[0]).unwrap();
    let before = (segment(), fs::read(&files(&pitree)[0]).unwrap());
    let outcome = by_shell(&pitree, "ulimit -f 1; exec \"$0\" \"$@\"", &["index", "--rebuild"]);
    assert_eq!((outcome.code, &*outcome.out), (2, ""), "{}", outcome.err);
    assert!(
        outcome.err.contains("cannot write the index in ") && outcome.err.contains("File too large"),
        "{}",
        outcome.err
    );
    assert_eq!((segment(), fs::read(&files(&pitree)[0]).unwrap()), before);
}

/// Kills pitree at a system call while it writes the index, at another one in each round, and compares its next answers
/// with those without an index.
#[cfg(target_os = "linux")]
#[test]
fn kills_while_the_index_is_written_do_no_harm() {
    let pitree = Pitree::new();
    let write = |round: usize, number: usize| {
        let text = format!("word{number} in round{round} ").repeat(1 + round * 7919 % 10_000);
        pitree.write_session(&Session::new(&format!("s{number}")).user("a", &text).user("b", "the end"))
    };
    (0..11).for_each(|number| drop(write(number, number)));
    pitree.print(&["ls"]);
    let mut killed = 0;
    let rounds = effort::rounds(10, 100);
    for round in 0..rounds {
        let changed = [round % 7, round * 5 % 11];
        let paths = changed.map(|number| write(round, number));
        if round % 3 == 0 {
            fs::remove_file(&paths[0]).unwrap();
        }
        // Up to so many calls are made.
        let (call, most) =
            [("pwrite64", 3), ("openat", 20), ("?rename,?renameat,renameat2", 2), ("fsync", 2)][round % 4];
        let nth = 1 + round * 7919 % most;
        let inner = pitree.command(&["ls"]);
        let options = [format!("trace={call}"), format!("inject={call}:signal=KILL:when={nth}")];
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", &options[0], "-e", &options[1]]);
        command.arg(inner.get_program()).args(inner.get_args()).stdout(Stdio::null()).stderr(Stdio::null());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let Ok(status) = command.status() else { return effort::skipped("there is no strace") };
        killed += usize::from(status.signal() == Some(9));
        for command in [&["ls", "--json"][..], &["search", "end word3", "--json"], &["search", "round1", "--json"]] {
            let run = |more: &[&str]| {
                let Outcome { code, out, err } = pitree.run(&[command, more].concat());
                (code, out, err)
            };
            assert_eq!(run(&[]), run(&["--no-index"]), "round {round}: {command:?}");
        }
        if round % 3 == 0 {
            assert!(!cache_holds(&pitree, &format!("word{} in", changed[0])), "round {round}: text of a deleted file");
        }
        assert_eq!(files_of(&pitree, "pitree-new").len(), 0, "round {round}: a draft is left");
    }
    assert!(killed * 2 > rounds, "{killed} of {rounds} were killed");
}
