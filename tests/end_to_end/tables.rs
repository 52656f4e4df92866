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
    home.session(&session.label("l", "a", &long));
    for (args, start) in [
        (&["ls"][..], "Why does"),
        (&["labels"], "Why does"),
        (&["search", "worker"], "one"),
        (&["files"], "…"),
        (&["tree", "one"], "• [Why does"),
    ] {
        for columns in [60, 100] {
            let mut pitree = home.launch(args).size(columns, 30).open();
            assert_eq!(pitree.wait_exit(), 0);
            let text = String::from_utf8(pitree.raw()).unwrap();
            assert!(text.contains(start) && text.contains('…'), "{args:?}: {text}");
            assert!(text.lines().all(|line| width(line.trim_end()) <= columns.into()), "{args:?} at {columns}: {text}");
        }
    }
}
