//! The real pi in a terminal. Needs it installed: `scripts/pi/run terminal` sees to that, and CI to running it.

use std::fs;

use crate::home::Home;
use crate::terminal::ctrl;

#[test]
#[ignore = "needs the real pi: run by scripts/pi/run terminal"]
fn the_real_pi_shows_the_branch_that_was_chosen() {
    let pi = std::env::var("PITREE_TEST_PI").unwrap();
    let path = std::env::var("PATH").unwrap();
    let home = Home::new();
    home.script("bin/pi", &format!("export PATH='{path}' PI_OFFLINE=1\nexec '{pi}' \"$@\"\n"));
    let project = home.dir("project");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions/--home-dev-app--/branches.jsonl");
    let before = fs::read_to_string(fixture).unwrap().replace("/home/dev/app", project.to_str().unwrap());
    let file = home.write(".pi/agent/sessions/--project--/branches.jsonl", &before);
    // (what is resumed, what is shown, what is not)
    let ways: [(&[&str], &str, &str); 5] = [
        (&["resume", "branches"], "Better", "Done with JWT"),
        (&["resume", "branches", "a3"], "Refresh tokens are in", "Better"),
        (&["resume", "branches", "jwt-works"], "Done with JWT", "Refresh tokens are in"),
        (&["resume", "branches", "u8"], "Done with server sessions", "Better"),
        (&["resume", "branches", "a5", "--fork"], "Daily", "Done with server sessions"),
    ];
    for (arguments, shown, hidden) in ways {
        let mut terminal = home.open(arguments);
        // Other programs draw as they like: only what they show in the end counts.
        terminal.wait_in_the_end(shown);
        assert!(!terminal.contents().contains(hidden), "{arguments:?}:\n{}", terminal.contents());
        terminal.send(&ctrl('c'));
        terminal.send(&ctrl('c'));
        drop(terminal);
        assert!(fs::read_to_string(&file).unwrap().starts_with(&before), "old bytes stay");
    }
    // pi writes the thinking level down when it opens a session.
    let text = fs::read_to_string(&file).unwrap();
    let ours = text[before.len()..].lines().filter(|line| line.contains("\"type\":\"label\"")).count();
    assert_eq!(ours, 3, "a line for each place that the leaf moved to");
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 2, "one fork was made");
    // Nobody said anything in any of them: all of it can be undone.
    for _ in 0..4 {
        let mut undo = home.open(&["undo"]);
        assert_eq!(undo.wait_exit(), 0, "{}", undo.contents());
    }
    let mut again = home.open(&["resume", "branches"]);
    again.wait_in_the_end("Better");
    again.send(&ctrl('c'));
}
