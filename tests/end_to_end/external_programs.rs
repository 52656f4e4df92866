//! Programs that take over the terminal: a pager, an editor, and pi with a return to pitree. Shell scripts stand in for
//! them.

use std::fs;
use std::path::Path;

use crate::common::signals;
use crate::end_to_end::home::{Home, Session};
use crate::end_to_end::terminal::{ENTER, Terminal, ctrl, is_taken};

/// Shows a file, records its name, and reads a line with the terminal's line editing.
const PAGER: &str = r#"echo "$1" > "$HOME/shown"
while IFS= read -r line; do echo "$line"; done < "$1"
echo "the pager is here"
read -r line
echo "heard $line" > "$HOME/heard"
"#;

fn back(pitree: &Terminal, selected: &str) {
    pitree.wait_until("the browser on the screen again", is_taken);
    pitree.wait_selected(selected);
}

fn read(home: &Home, name: &str) -> String {
    fs::read_to_string(home.path().join(name)).unwrap_or_default()
}

#[test]
fn a_pager_shows_an_entry_and_the_terminal_is_restored() {
    let home = Home::new();
    home.script("bin/show", PAGER);
    let mut pitree = home.launch(&["--demo"]).env("PAGER", "show").open();
    pitree.wait_selected("Flaky");
    pitree.send("l");
    pitree.wait_selected("done");
    pitree.send("mv");
    pitree.wait_for("the pager is here");
    pitree.wait_restored();
    pitree.wait_for("240 of 240.");
    // The pager receives the input, edited by the terminal.
    pitree.send("qj\x7f\x7fall\r");
    back(&pitree, "done");
    assert_eq!(read(&home, "heard"), "heard all\n");
    let shown = read(&home, "shown");
    assert!(shown.ends_with("/entry.txt\n") && !Path::new(shown.trim()).parent().unwrap().exists(), "{shown}");
    pitree.send("k");
    pitree.wait_until("the keyboard back", |screen| !crate::end_to_end::terminal::selected(screen).contains("done"));
    pitree.quit();
}

#[test]
fn a_missing_or_failing_editor_is_reported() {
    let home = Home::new();
    let editor = home.script("bin/edit", "echo more >> \"$1\"\nexit ${CODE:-0}\n");
    let open = |environment: &[(&str, &str)]| {
        let launch = environment.iter().fold(home.launch(&["--demo"]), |launch, (name, value)| launch.env(name, value));
        let mut pitree = launch.open();
        pitree.wait_selected("Flaky");
        pitree.send("mE");
        pitree
    };
    let pitree = open(&[]);
    pitree.wait_for("no editor configured; set VISUAL or EDITOR");
    pitree.quit();
    let pitree = open(&[("EDITOR", editor.to_str().unwrap()), ("VISUAL", "nowhere -w")]);
    pitree.wait_for("cannot find \"nowhere\" on the PATH");
    pitree.quit();
    let pitree = open(&[("EDITOR", "edit"), ("CODE", "3")]);
    pitree.wait_for("edit exited with code 3");
    pitree.quit();
    let pitree = open(&[("EDITOR", "edit")]);
    pitree.wait_for("the edited file was a copy; the session is unchanged");
    back(&pitree, "Flaky");
    pitree.quit();
}

/// A pi that gives the session a name, and waits for a line.
const PI: &str = r#"echo "$$" > "$HOME/pid"
echo '{"type":"session_info","id":"n1","parentId":"a3","timestamp":"2026-01-06T10:00:00.000Z","name":"named by pi"}' >> "$2"
[ -f "$HOME/runs" ] && read -r runs < "$HOME/runs"
runs=$((runs + 1))
echo "$runs" > "$HOME/runs"
echo "pi is here, $runs"
read -r line
exit "$line"
"#;

/// Starts pitree, set to return after pi, at an entry that is not the leaf. The session's directory exists.
fn returning(home: &Home) -> Terminal {
    home.script("bin/pi", PI);
    let project = home.dir("project");
    home.session(&Session::new("one").cwd(&project).asked("hello", &["left", "right"]));
    home.session(&Session::new("newer").cwd(&project).at(500).asked("another", &["one"]));
    let config = home.write("c.toml", "after-pi = \"return\"\n");
    let mut pitree = home.open(&["--config", config.to_str().unwrap()]);
    pitree.wait_selected("another");
    pitree.send("j");
    pitree.wait_selected("hello");
    pitree
}

#[test]
fn pitree_returns_to_its_place_after_pi() {
    let home = Home::new();
    let mut pitree = returning(&home);
    pitree.send("l");
    pitree.wait_selected("right");
    pitree.send(ENTER);
    pitree.wait_for("pi is here");
    pitree.wait_restored();
    pitree.send("q\x7f0\r");
    back(&pitree, "right");
    pitree.wait_for("named by pi");
    pitree.wait_for("pi exited");
    pitree.send("\x1b[Z");
    pitree.wait_selected("named by pi");
    pitree.send(ENTER);
    pitree.wait_for("pi is here, 2");
    pitree.send("7\r");
    pitree.wait_for("pi exited with code 7");
    back(&pitree, "named by pi");
    pitree.quit();
}

#[test]
fn keyboard_signals_for_pi_do_not_end_pitree() {
    let home = Home::new();
    let mut pitree = returning(&home);
    for run in 1..4 {
        pitree.send(ENTER);
        pitree.wait_for(&format!("pi is here, {run}"));
        pitree.wait_restored();
        pitree.send(&ctrl('c'));
        pitree.wait_for("pi was terminated by a signal");
        back(&pitree, "named by pi");
        pitree.send("k");
        pitree.wait_selected("another");
        pitree.send("j");
        pitree.wait_selected("named by pi");
    }
    pitree.quit();
}

#[cfg(target_os = "linux")]
#[test]
fn pitree_suspends_and_continues_with_pi() {
    let home = Home::new();
    let mut pitree = returning(&home);
    pitree.send(ENTER);
    pitree.wait_for("pi is here");
    let pi = read(&home, "pid");
    signals::send(pi.trim().parse().unwrap(), "STOP");
    crate::end_to_end::leave::wait_stopped(&pitree);
    pitree.signal("CONT");
    pitree.send("0\r");
    pitree.wait_for("pi exited");
    back(&pitree, "named by pi");
    pitree.quit();
}

#[test]
fn signals_to_pitree_end_pi_first() {
    let home = Home::new();
    let mut pitree = returning(&home);
    pitree.send(ENTER);
    pitree.wait_for("pi is here");
    pitree.wait_restored();
    pitree.signal("TERM");
    assert_eq!(pitree.wait_exit(), 128 + 15);
    pitree.assert_restored();
}
