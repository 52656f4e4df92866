//! Commands that ask for confirmation: the question and the effect of each answer.

use std::fs;

use crate::end_to_end::home::{Home, Session, session};
use crate::end_to_end::terminal::Terminal;

/// Creates a home with a session and a fork of it.
fn forked() -> (Home, [std::path::PathBuf; 2]) {
    let home = Home::new();
    let project = home.dir("project");
    let parent = home.session(&session("parent", &project, "hello"));
    let fork = home.session(&session("fork", &project, "hello again").parent(&parent));
    (home, [parent, fork])
}

fn answered(mut pitree: Terminal, question: &str, answer: &str) -> u32 {
    pitree.wait_for(question);
    pitree.send(&format!("{answer}\r"));
    pitree.wait_exit()
}

#[test]
fn rm_lists_the_sessions_and_the_forks_that_lose_a_parent() {
    let (home, [parent, fork]) = forked();
    let pitree = home.open(&["rm", "parent"]);
    pitree.wait_for("1 session, ");
    pitree.wait_for("  \"hello\"  ~/.pi/agent/sessions/--project--/parent.jsonl");
    pitree.wait_for("1 remaining session loses its parent: \"hello again\"");
    assert_eq!(answered(pitree, "Move to the trash? [y/N]", ""), 1);
    assert!(parent.exists() && fork.exists());

    // With the entire family trashed, no fork loses its parent.
    let pitree = home.open(&["rm", "fork", "--family"]);
    pitree.wait_for("2 sessions, ");
    pitree.wait_for("Move to the trash? [y/N]");
    assert!(!pitree.contents().contains("loses its parent"));
    if cfg!(target_os = "linux") {
        assert_eq!(answered(pitree, "[y/N]", "y"), 0);
        assert!(!parent.exists() && !fork.exists());
    }
}

/// A pi is running in the session, so `y` is not enough.
#[cfg(target_os = "linux")]
#[test]
fn rm_of_a_session_with_a_running_pi_needs_yes() {
    let home = Home::new();
    let project = home.dir("project");
    let session = home.session(&session("one", &project, "hello"));
    home.script("bin/pi", "echo pi is here\nread -r line\n");
    let mut pi = home.open(&["resume", "one"]);
    pi.wait_for("pi is here");
    let question = "Type \"yes\" to move them anyway:";
    let pitree = home.open(&["rm", "one"]);
    pitree.wait_for("A pi is running in ~/project.");
    assert_eq!(answered(pitree, question, "y"), 1);
    assert!(session.exists());
    assert_eq!(answered(home.open(&["rm", "one"]), question, "yes"), 0);
    assert!(!session.exists());
    pi.send("\r");
    pi.wait_exit();
}

#[test]
fn rm_asks_again_when_the_session_changed() {
    let (home, [parent, _]) = forked();
    let mut pitree = home.open(&["rm", "parent"]);
    pitree.wait_for("Move to the trash? [y/N]");
    let grown = fs::read_to_string(&parent).unwrap() + Session::new("parent").under("a2").custom("x", "x").lines();
    fs::write(&parent, grown).unwrap();
    pitree.send("y\r");
    pitree.wait_for("reloaded sessions that changed in the meantime: ~/.pi/");
    pitree.send("n\r");
    pitree.wait_for("canceled; no session moved");
    assert_eq!(pitree.wait_exit(), 1);
    assert!(parent.exists());
}

#[test]
fn files_the_trash_rejects_are_deleted_only_after_typing_a_word() {
    let (home, [parent, fork]) = forked();
    home.script("bin/no-trash", "echo no room >&2\nexit 1\n");
    let config = home.write("c.toml", "trash = [\"no-trash\"]\n");
    let args = ["rm", "parent", "fork", "--config", config.to_str().unwrap()];
    for (word, code) in [("y", 1), ("delete", 0)] {
        let mut pitree = home.open(&args);
        pitree.wait_for("Move to the trash? [y/N]");
        pitree.send("y\r");
        pitree.wait_for("no-trash printed: no room");
        assert_eq!(answered(pitree, "delete permanently (no undo):", word), code);
        assert_eq!((parent.exists(), fork.exists()), (code == 1, code == 1), "{word}");
    }
}

#[test]
fn old_files_are_migrated_only_after_confirmation() {
    let home = Home::new();
    let path = home.session(&session("old", &home.dir("project"), "hello").version(2));
    let before = fs::read(&path).unwrap();
    let question = "Convert to version 3? [y/N]";
    assert_eq!(answered(home.open(&["label", "old", "u1", "first"]), question, "n"), 1);
    assert_eq!(fs::read(&path).unwrap(), before);
    if cfg!(target_os = "linux") {
        assert_eq!(answered(home.open(&["label", "old", "u1", "first"]), question, "y"), 0);
        assert!(fs::read_to_string(&path).unwrap().contains("\"version\":3"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_trash_is_emptied_after_a_typed_word() {
    let (home, [parent, fork]) = forked();
    for session in ["parent", "fork"] {
        assert_eq!(answered(home.open(&["rm", session]), "Move to the trash? [y/N]", "y"), 0);
    }
    let question = "Type \"delete\" to delete permanently (no undo):";
    let pitree = home.open(&["trash", "empty"]);
    pitree.wait_for("2 sessions in pitree's trash, ");
    assert_eq!(answered(pitree, question, "y"), 1);
    let pitree = home.open(&["trash", "empty", "fork"]);
    pitree.wait_for("1 session in pitree's trash, ");
    assert_eq!(answered(pitree, question, "delete"), 0);
    let listed = home.open(&["trash"]);
    listed.wait_for("parent.jsonl");
    assert!(!listed.contents().contains("fork.jsonl"), "{}", listed.contents());
    assert_eq!(answered(home.open(&["trash", "empty"]), question, "delete"), 0);
    home.open(&["trash", "list"]).wait_for("pitree's trash is empty");
    home.open(&["restore"]).wait_for("pitree's trash is empty");
    assert!(!parent.exists() && !fork.exists());
}
