//! Sessions that appear while they are read, and F5.

use std::fs;

use crate::end_to_end::home::{Home, Session};
use crate::end_to_end::terminal::{F5, Screen, row};

/// Returns the title of the tree: the first word after the divider between the panes.
fn title(screen: &Screen) -> String {
    let titles = row(screen, 1);
    let (_, right) = titles.split_once('│').unwrap_or_default();
    right.split('.').next().unwrap_or_default().to_string()
}

#[test]
fn sessions_that_appear_do_not_move_the_selection() {
    const MANY: i64 = 3000;
    let home = Home::new();
    let dir = home.dir("project");
    // Enough data to make reading slow.
    let more =
        (0..100).fold(Session::new("more").under("u1"), |more, at| more.under("u1").custom(&format!("c{at}"), "more"));
    for at in 0..MANY {
        // The most recently written files are read first. They are the oldest sessions, so all others are inserted
        // above them.
        let session = Session::new(&format!("{at:04}")).cwd(&dir).at(-at).asked(&format!("session {at:04}."), &["yes"]);
        home.write(format!(".pi/agent/sessions/--project--/{at:04}.jsonl"), session.text() + more.lines());
    }
    // On a busy machine reading may finish before the test can select anything; such a run is inconclusive.
    let told = (0..5).any(|_| {
        let mut pitree = home.launch(&[]).size(160, 30).open();
        pitree.wait_selected("session");
        pitree.send("jjjl"); // with the focus in the tree, its title shows the selection
        pitree.wait_until("the tree of a session", |screen| title(screen).starts_with("▌session"));
        let (before, header) = pitree.look(|screen| (title(screen), row(screen, 0)));
        pitree.wait_for("3,000 sessions");
        pitree.wait_without("reading");
        assert_eq!(pitree.look(title), before);
        pitree.quit();
        header.contains("reading")
    });
    assert!(told, "everything was read too fast");
}

#[test]
fn f5_finds_new_sessions_and_drops_removed_ones() {
    let home = Home::new();
    let dir = home.dir("project");
    let session = |id: &str, time: i64| Session::new(id).cwd(&dir).at(time);
    let old = home.session(&session("old", 1).asked("an old one", &["yes"]));
    home.session(&session("stays", 2).asked("one that stays", &["yes"]));
    let mut pitree = home.open(&[]);
    pitree.wait_for("2 sessions");
    pitree.wait_selected("one that stays");
    fs::remove_file(old).unwrap();
    home.session(&session("new", 3).asked("a new one", &["yes"]));
    pitree.send(F5);
    pitree.wait_for("a new one");
    pitree.wait_without("an old one");
    pitree.wait_for("2 sessions");
    pitree.wait_selected("one that stays");
    let grown = session("stays", 2).asked("one that stays", &["first", "second"]);
    home.session(&grown);
    pitree.send(F5);
    pitree.wait_for("asst  second");
    pitree.wait_selected("one that stays");
    pitree.quit();
}
