//! The demo: everything works in a private directory, and nothing outside changes.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::common::home::files_below;
use crate::end_to_end::home::Home;
use crate::end_to_end::terminal::{ENTER, ESC, TAB, Terminal, ctrl, row};

/// The number of demo sessions of subagents, which the list omits.
const SUBAGENTS: usize = 3;

/// A home, and beside it a directory for temporary files.
struct World {
    home: Home,
    tmp: TempDir,
}

impl World {
    fn new() -> Self {
        let home = Home::new();
        home.script("bin/pi", "echo started > \"$HOME/pi-was-started\"\n");
        Self { home, tmp: tempfile::tempdir().unwrap() }
    }

    fn open(&self, args: &[&str]) -> Terminal {
        let tmp = self.tmp.path().to_str().unwrap();
        let pitree = self.home.launch(args).env("TMPDIR", tmp).size(120, 40).open();
        pitree.wait_for("demo: changes are temporary");
        pitree.wait_selected("Flaky");
        pitree
    }

    /// Returns the demo directories.
    fn demos(&self) -> Vec<PathBuf> {
        fs::read_dir(self.tmp.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

/// Waits until the bottom line contains the text.
fn wait_footer(pitree: &Terminal, text: &str) {
    pitree.wait_until(&format!("{text:?} in the footer"), |screen| row(screen, 39).contains(text));
}

#[test]
fn every_change_works_and_nothing_outside_changes() {
    let world = World::new();
    let mut pitree = world.open(&["demo"]);
    let before = world.home.files();
    let [demo] = &world.demos()[..] else { panic!("one demo directory") };
    let sessions = demo.join("agent/sessions");
    let all = files_below(&sessions).len();

    pitree.send("\u{12}");
    wait_footer(&pitree, "name: ");
    pitree.send(&format!("\u{15}Renamed{ENTER}"));
    pitree.wait_selected("Renamed");
    pitree.send(" ");
    pitree.wait_for("1 marked");
    pitree.send(&ctrl('d'));
    pitree.wait_for("Move to trash");
    pitree.send(ENTER);
    // The question covers the row for a moment.
    wait_footer(&pitree, "Moved 1 session to the trash");
    pitree.wait_without("Renamed");
    assert_eq!(files_below(&sessions).len(), all - 1);
    pitree.send("gx");
    pitree.wait_for("Renamed");
    pitree.send(ENTER);
    pitree.wait_selected("Renamed");
    assert_eq!(files_below(&sessions).len(), all);

    // In the tree: label, fork, and resume at the leaf.
    pitree.send(TAB);
    let is_read = |title: &str| title.contains("▌Renamed") && title.contains("default · ");
    pitree.wait_until("the whole tree in focus", |screen| is_read(&row(screen, 1)));
    pitree.send("ml");
    wait_footer(&pitree, "label: ");
    pitree.send(&format!("\u{15}here{ENTER}"));
    pitree.wait_for("[here]");
    pitree.send("u");
    pitree.wait_without("[here]");
    pitree.send("U");
    pitree.wait_for("[here]");
    pitree.send("mf");
    pitree.wait_for(&format!("{} sessions", all + 1 - SUBAGENTS));
    assert_eq!(files_below(&sessions).len(), all + 1);
    pitree.send(ESC);
    pitree.wait_until("the session list in focus", |screen| row(screen, 1).starts_with("▌Sessions"));
    pitree.send(ENTER);
    pitree.wait_for("The demo does not start pi.");
    pitree.wait_for("pi --session");
    pitree.send(ESC);
    pitree.wait_without("The demo does not start pi.");
    pitree.quit();
    assert!(world.demos().is_empty(), "removed on exit");
    assert_eq!(world.home.files(), before);
    assert!(!world.home.path().join(".cache").exists());
}

#[test]
fn a_demo_that_was_killed_is_removed_at_the_next_start() {
    let world = World::new();
    let mut pitree = world.open(&["--demo"]);
    let [killed] = &world.demos()[..] else { panic!("one demo directory") };
    pitree.signal("KILL");
    pitree.wait_end();
    assert!(killed.is_dir());
    let other = world.open(&["--demo"]);
    assert!(!killed.exists());
    assert_eq!(world.demos().len(), 1, "its own");
    let third = world.open(&["--demo"]);
    assert_eq!(world.demos().len(), 2, "those in use stay");
    other.quit();
    third.quit();
    assert!(world.demos().is_empty());
}
