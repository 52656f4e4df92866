//! Session arguments: which session a word selects.

use crate::command_line::pitree::Pitree;
use crate::common::home::Outcome;
use crate::common::session::Session;

#[test]
fn names_and_the_current_directory_select_a_session() {
    let pitree = Pitree::new();
    let home = dunce::canonicalize(pitree.home()).unwrap();
    let session = |id: &str, time: i64| Session::new(id).at(time).user("u1", id);
    let older = pitree.write_session(&session("older", 10).cwd(&home).name("n1", "Fix the flaky test"));
    let newer = pitree.write_session(&session("newer", 20).cwd(home.join("below")).name("n1", "Twice"));
    let elsewhere = pitree.write_session(&session("elsewhere", 30).cwd("/elsewhere").name("n1", "Twice"));
    let path = |word: &str| pitree.print(&["path", word]).trim_end().to_string();
    assert_eq!(path("Fix the flaky test"), older.to_str().unwrap());
    assert_ne!(newer, older);
    assert_eq!(path("."), older.to_str().unwrap(), "the newest of this directory");
    assert_eq!(path("elsewhere"), elsewhere.to_str().unwrap(), "an id comes first");
    assert!(pitree.refuse(&["path", "fix the"]).contains("no session matches"));
    let several = pitree.refuse(&["path", "Twice"]);
    assert!(several.contains("\"Twice\" matches 2 sessions") && several.contains("\n  newer  "), "{several}");

    let alone = Pitree::new();
    alone.write_session(&session("elsewhere", 30).cwd("/elsewhere"));
    assert!(alone.refuse(&["path", "."]).contains("no session found for "));
}

#[test]
fn resume_uses_the_most_recent_session_of_the_current_directory() {
    let pitree = Pitree::new();
    let home = dunce::canonicalize(pitree.home()).unwrap();
    let newest =
        pitree.write_session(&Session::new("newest").at(20).cwd(&home).user("u1", "hello").assistant("a1", "hi"));
    pitree.write_session(&Session::new("older").at(10).cwd(&home).user("u1", "hello"));
    let printed = pitree.print(&["resume", "--print"]);
    assert!(printed.trim_end().ends_with(newest.to_str().unwrap()), "{printed}");
}

#[test]
fn session_and_entry_may_be_one_word() {
    let pitree = Pitree::new();
    let talk = |id: &str| Session::new(id).user("aaaa1111", "first").assistant("aaaa2222", "answer");
    pitree.write_session(&talk("one").label("l1", "aaaa2222", "here"));
    pitree.write_session(&talk("two").name("n1", "me@home"));
    for word in ["one@here", "one@aaaa2222", "one@aaaa2", "me@home@aaaa2222"] {
        let shown = &pitree.objects(&["show", word, "--json", "-C", "0"])[0];
        assert_eq!(shown["entries"][0]["id"], "aaaa2222", "{word}");
        assert_eq!(pitree.objects(&["context", word, "--json"]).len(), 3, "{word}");
        assert!(pitree.print(&["fork", word, "--dry-run"]).starts_with("would: create fork"), "{word}");
        assert!(pitree.print(&["label", word, "new", "--dry-run"]).contains("set label \"new\" on aaaa2222"), "{word}");
        assert!(pitree.print(&["resume", &word.replace("2222", "1111"), "--fork", "--dry-run"]).contains("would run:"));
    }
    assert!(pitree.print(&["show", "me@home"]).contains("answer"), "a session's name is tried first");
    assert!(pitree.refuse(&["show", "one@nowhere"]).contains("\"nowhere\""));
    assert!(pitree.refuse(&["show", "nowhere@here"]).contains("\"nowhere@here\""));
    for command in ["tree", "path"] {
        assert!(pitree.refuse(&[command, "one@here"]).contains("omit @here"), "{command}");
    }
    assert!(pitree.refuse(&["show", "one@here", "aaaa1111"]).contains("omit @here"));
    assert!(pitree.refuse(&["label", "one@here", "aaaa1111", "x"]).contains("named twice"));
    assert!(pitree.refuse(&["fork", "one"]).contains("SESSION@ENTRY"));
}

#[cfg(unix)]
#[test]
fn a_current_directory_that_is_gone_is_no_project() {
    let pitree = Pitree::new();
    pitree.write_session(&Session::new("s-one").user("u1", "Hello"));
    let run = |args: &str| {
        let script =
            format!("mkdir gone && cd gone && rmdir ../gone && exec '{}' {args}", env!("CARGO_BIN_EXE_pitree"));
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", &script]).current_dir(pitree.home()).env("HOME", pitree.home());
        Outcome::of(&mut command)
    };
    for command in ["ls", "search hello", "stats", "files", "labels", "entries", "space", "doctor", "secrets", "log x"]
    {
        for dir in [".", "..", "./sub"] {
            let outcome = run(&format!("{command} --project {dir}"));
            assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{command}: {}", outcome.err);
            assert!(outcome.err.contains("gone no longer exists"), "{command}: {}", outcome.err);
        }
    }
    assert_eq!(run("ls in:.").out, "");
    assert_eq!(run("ls --project /").out.lines().count(), 1);
}
