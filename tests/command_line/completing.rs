//! Tab completion.

use crate::command_line::pitree::Pitree;
use crate::common::session::Session;

/// Returns the completions that a shell offers at the end of a line.
fn offered(pitree: &Pitree, line: &[&str]) -> Vec<String> {
    let mut command = pitree.command(&[&["--", "pitree"], line].concat());
    let output = command.env("PITREE_COMPLETE", "fish").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_string()).collect()
}

#[test]
fn an_entry_is_one_of_the_session_typed_before() {
    let pitree = Pitree::new();
    pitree.write_session(
        &Session::new("one").user("aaaa1111", "first").assistant("aaaa2222", "answer").label("l1", "aaaa2222", "mine"),
    );
    pitree.write_session(&Session::new("two").user("bbbb1111", "other").label("l2", "bbbb1111", "theirs"));
    for command in ["show", "context", "resume", "fork", "label"] {
        assert_eq!(offered(&pitree, &[command, "one", ""])[..2], ["mine", "aaaa1111"], "{command}");
        assert_eq!(offered(&pitree, &[command, "one", "aaaa2"]), ["aaaa2222"], "{command}");
        assert!(!offered(&pitree, &[command, "two", ""]).contains(&"mine".into()), "{command}");
        assert!(offered(&pitree, &[command, "neither", "a"]).is_empty(), "{command}");
    }
}
