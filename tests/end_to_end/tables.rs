//! Tables that the commands print to a terminal: no line is wider than the terminal.

use pitree::base::text::width;

use crate::end_to_end::home::{Home, Session};

#[test]
fn lines_fit_the_terminal() {
    let home = Home::new();
    let project = home.dir("clients/acme-corporation/backend/services/authentication/token-refresher");
    let long = "Why does the token of a worker expire twice in an hour? ".repeat(20);
    let file = serde_json::json!({"path": "packages/a-package-of-many/src/of/many/directories/refresher.rs"});
    let session = Session::new("one").cwd(&project).user("a", &long).call("b", "read", &file);
    let label = "Why does it? ".repeat(3);
    home.session(&session.label("l", "a", &label));
    for (args, start) in [
        (&["ls"][..], "age  entries  "),
        (&["labels"], label.trim_end()),
        (&["search", "worker"], "one"),
        (&["files"], "…"),
        (&["tree", "one"], "• [Why does"),
    ] {
        for columns in [60, 100] {
            let args = [args, &["--color", "never"]].concat();
            let mut pitree = home.launch(&args).size(columns, 30).open();
            assert_eq!(pitree.wait_exit(), 0);
            let text = String::from_utf8(pitree.raw()).unwrap();
            assert!(text.contains(start) && (args[0] == "labels" || text.contains('…')), "{args:?}: {text}");
            assert!(text.lines().all(|line| width(line.trim_end()) <= columns.into()), "{args:?} at {columns}: {text}");
        }
    }
}

#[test]
fn a_terminal_has_colors_unless_it_wants_none() {
    let home = Home::new();
    let session = Session::new("one").user("a", "Find the needle").label("l", "a", "sharp");
    home.session(&session);
    let search = |args: &[&str]| {
        let args = [&["search", "needle"], args].concat();
        let mut pitree = home.launch(&args).size(100, 30).open();
        assert_eq!(pitree.wait_exit(), 0);
        String::from_utf8(pitree.raw()).unwrap()
    };
    assert!(search(&["--color", "never"]).contains("\r\n  a  user  [sharp] Find the needle"));
    for (theme, matched) in [("dark", "\u{1b}[38;5;227m"), ("light", "\u{1b}[38;5;88m")] {
        let text = search(&["--theme", theme]);
        assert!(text.contains(&format!("{matched}\u{1b}[1m\u{1b}[4mneedle\u{1b}[0m")), "{text:?}");
    }
}

#[test]
fn a_turn_goes_through_the_pager_of_the_user() {
    let home = Home::new();
    home.session(&Session::new("one").user("a", "Find the needle").assistant("b", "Here"));
    let args = ["show", "one", "--turn", "1", "--color", "never"];
    for (pager, begin) in [("/bin/sed s/^/paged:/", "paged:you"), ("cat", "you"), ("no-such-pager", "you")] {
        let mut pitree = home.launch(&args).env("PAGER", pager).size(100, 30).open();
        assert_eq!(pitree.wait_exit(), 0);
        let text = String::from_utf8(pitree.raw()).unwrap();
        assert!(text.starts_with(begin) && text.contains("Here"), "{pager}: {text}");
    }
}
