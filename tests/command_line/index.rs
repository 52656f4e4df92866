//! `pitree index`, and what commands make of an index: the same as without one.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::pitree::{Outcome, Pitree};

fn world() -> Pitree {
    let pitree = Pitree::new();
    for name in ["branches", "fork-child", "v2-labels", "label-chain"] {
        pitree.fixture(name);
    }
    pitree
}

/// The files of the index.
fn files(pitree: &Pitree) -> Vec<PathBuf> {
    let files = fs::read_dir(pitree.home().join(".cache/pitree/index")).into_iter().flatten();
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn commands_say_the_same_with_and_without() {
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
        // The first makes it, the others have it.
        for _ in 0..2 {
            assert_eq!(run(&[]), without, "{command:?}");
        }
    }
}

#[test]
fn tells_of_itself_and_is_made_anew() {
    let pitree = world();
    let stats = || pitree.objects(&["index", "--stats", "--json"]).remove(0);
    assert_eq!((stats()["sessions"].as_u64(), files(&pitree).len()), (Some(0), 0), "none is made to tell of it");
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
        assert!(pitree.refuse(refused).contains("no index is used"));
    }
}

#[cfg(unix)]
/// What comes of a command that a shell starts.
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
fn a_current_directory_that_is_gone_is_not_needed() {
    let pitree = world();
    let wanted = pitree.print(&["ls", "--json"]);
    let outcome = by_shell(&pitree, "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"", &["ls", "--json"]);
    assert_eq!((outcome.out, outcome.err), (wanted, String::new()));
}

#[cfg(unix)]
#[test]
fn where_it_has_no_room_everything_else_works() {
    let pitree = world();
    let wanted = pitree.print(&["ls", "--json", "--no-index"]);
    let outcome = by_shell(&pitree, "ulimit -f 1; exec \"$0\" \"$@\" | cat", &["ls", "--json"]);
    assert_eq!((outcome.out, outcome.err, files(&pitree).len()), (wanted, String::new(), 0));
}
