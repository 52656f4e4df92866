//! Search over sessions, a jump to an abandoned branch, and resuming there in pi.

use std::fs;

use crate::end_to_end::home::{Home, session};
use crate::end_to_end::terminal::ENTER;

#[test]
fn a_search_opens_an_abandoned_branch_and_resumes_there() {
    let home = Home::new();
    let project = home.dir("project");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions/--home-dev-app--/branches.jsonl");
    let text = fs::read_to_string(fixture).unwrap().replace("/home/dev/app", project.to_str().unwrap());
    let file = home.write(".pi/agent/sessions/--project--/branches.jsonl", &text);
    for name in ["one", "two", "three"] {
        home.session(&session(name, &project, name));
    }
    home.script("bin/pi", "{ for word; do echo \"$word\"; done; cat \"$2\"; } > \"$HOME/started\"\n");
    let mut pitree = home.open(&[]);
    pitree.wait_for("4 sessions");
    pitree.send("/");
    pitree.send("refresh tokens are");
    pitree.wait_for("1 hit");
    pitree.wait_for("abandoned: ");
    pitree.send(ENTER);
    pitree.wait_selected("Refresh tokens are in");
    pitree.wait_for("1/");
    pitree.send(ENTER);
    pitree.wait_for("Resume from this entry");
    pitree.send("h");
    assert_eq!(pitree.wait_exit(), 0);
    let started = fs::read_to_string(home.path().join("started")).unwrap();
    let (arguments, text_then) = started.split_at(started.find('{').unwrap());
    assert_eq!(arguments.lines().collect::<Vec<_>>(), ["--session", file.to_str().unwrap()]);
    assert!(text_then.starts_with(&text), "old bytes stay");
    let last: serde_json::Value = serde_json::from_str(text_then.lines().last().unwrap()).unwrap();
    assert_eq!(
        (last["type"].as_str(), last["parentId"].as_str()),
        (Some("label"), Some("a3")),
        "pi goes on from there"
    );
}

#[test]
fn a_query_argument_starts_the_search() {
    let home = Home::new();
    let project = home.dir("project");
    for name in ["one", "two", "three"] {
        home.session(&session(name, &project, &format!("session {name}")));
    }
    let pitree = home.open(&["--", "session", "-three", "two"]);
    pitree.wait_for("1 session · 2 hits");
    pitree.wait_selected("session two");
    pitree.quit();
}
