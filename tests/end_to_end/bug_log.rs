//! The log for bug reports.

use std::fs;

use crate::common::effort::wait_until;
use crate::common::home::json_lines;
use crate::end_to_end::home::Home;
use crate::end_to_end::terminal::ENTER;

#[test]
fn the_log_contains_no_text_of_a_session() {
    let home = Home::new();
    let log = home.path().join("log");
    let run = |args: &[&str], code: i32| {
        let mut command = home.command(args);
        let output = command.args(["--demo", "--log"]).arg(&log).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let sessions = json_lines(&run(&["ls", "--json"], 0));
    let id = sessions[0]["id"].as_str().unwrap();
    run(&["search", "redis"], 0);
    run(&["tree", id], 0);
    run(&["show", id], 0);
    run(&["export", id], 0);
    run(&["rename", id, "typed name"], 2); // commands do not change the demo
    run(&["show", "unknown name"], 2);
    let mut pitree = home.launch(&["--demo", "--log", log.to_str().unwrap()]).open();
    pitree.wait_for("41 sessions");
    pitree.send("/redis");
    pitree.wait_for("Redis");
    // The search goes on after its first hits.
    wait_until("the search did not end", || fs::read_to_string(&log).unwrap().contains("job Search ended"));
    pitree.send(ENTER);
    pitree.quit();

    let log = fs::read_to_string(log).unwrap();
    let told = ["pitree 0", "command Ls", "command Rename", "command browser", "directories [", "scan of 41 files"];
    for line in told.iter().chain(&["job Scan started", "job Scan ended after ", "job Search ended after ", "error"]) {
        assert!(log.contains(line), "{line} is not in\n{log}");
    }
    let texts = sessions.iter().flat_map(|session| session.as_object().unwrap().values());
    let texts = texts.filter_map(|value| value.as_str()).filter(|text| text.len() > 4 && !text.contains('/'));
    for text in texts.chain(["redis", "Redis", "webshop", "typed", "unknown"]) {
        assert!(!log.contains(text), "{text} is in\n{log}");
    }
}
