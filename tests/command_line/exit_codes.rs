//! The exit codes that all commands share: 0 done or found, 1 nothing found or declined, 2 error or wrong usage.

use crate::command_line::pitree::Pitree;

#[test]
fn each_outcome_has_its_exit_code() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    for (code, args) in [
        (0, &["ls"][..]),
        (0, &["ls", "refresh"]),
        (0, &["search", "refresh"]),
        (0, &["undo", "--list"]),
        (1, &["search", "nothing-has-this-word"]),
        (1, &["ls", "nothing-has-this-word"]),
        (1, &["undo"]),
        (1, &["redo"]),
        (2, &["tree", "no-such-session"]),
        (2, &["show", "branches", "no-such-entry"]),
        (2, &["undo", "9"]),
        (2, &["search", "role:nobody"]),
        (2, &["ls", "--no-such-option"]),
        (2, &["ls", "--dir", "no-such-directory"]),
    ] {
        let outcome = pitree.run(args);
        assert_eq!(outcome.code, code, "{args:?}: {}{}", outcome.out, outcome.err);
    }
}

#[test]
fn an_unreadable_file_is_an_error_even_if_rows_were_printed() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    pitree
        .write("another-program.jsonl", "{\"type\":\"title\",\"title\":\"x\"}\n{\"type\":\"session\",\"id\":\"x\"}\n");
    for args in [&["ls"][..], &["search", "refresh"], &["search", "nothing-has-this-word"]] {
        let outcome = pitree.run(args);
        assert_eq!(outcome.code, 2, "{args:?}: {}{}", outcome.out, outcome.err);
    }
}
