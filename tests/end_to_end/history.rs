//! Changes of an earlier run: undo names them before it reverts them, and the trash and the history restore them.

use crate::end_to_end::home::{Home, Session};
use crate::end_to_end::terminal::{ENTER, ctrl};

#[test]
fn another_run_names_the_change_that_it_undoes() {
    let home = Home::new();
    let project = home.dir("project");
    for (name, at) in [("one", 0), ("two", 100), ("three", 200)] {
        home.session(&Session::new(name).cwd(&project).at(at).asked(&format!("the {name}"), &["an answer"]));
    }
    let mut first = home.open(&[]);
    first.wait_for("3 sessions ·"); // the next row is visible
    first.wait_selected("the three");
    first.send(" ");
    first.wait_selected("the two");
    first.send(" ");
    first.send(&ctrl('d'));
    first.wait_for("Move to trash?");
    first.send("t");
    first.wait_for("2 sessions to the trash");
    first.quit();
    let mut second = home.open(&[]);
    second.wait_selected("the one");
    second.send("gx");
    second.wait_for("the three");
    second.wait_for("the two");
    second.send("two");
    second.wait_without("the three");
    second.send(ENTER);
    second.wait_for("Restored 1 session");
    second.wait_selected("the two");
    second.send("u");
    second.wait_for("Undo this change?");
    second.wait_for("Moved 1 session to the trash, today");
    second.wait_for("the three");
    second.send("u");
    second.wait_selected("the three");
    second.send("gh");
    second.wait_for("2 sessions to the trash");
    second.wait_for("undone");
    second.send("\x1b");
    second.wait_without("╭ History");
    second.quit();
}

#[test]
fn enter_on_a_missing_parent_restores_it() {
    let home = Home::new();
    let project = home.dir("project");
    let parent = Session::new("parent").cwd(&project).at(500).asked("the question", &["an answer"]);
    let path = home.session(&parent);
    for (id, at) in [("one", 600), ("two", 700)] {
        let fork = parent.clone().forked(id, &path, at).user(&format!("u-{id}"), &format!("way {id}"));
        home.session(&fork);
    }
    let mut terminal = home.launch(&[]).size(160, 30).open();
    terminal.wait_for("3 sessions ·");
    terminal.wait_selected("way two");
    terminal.send("k");
    terminal.wait_selected("the question");
    terminal.send(&ctrl('d'));
    terminal.wait_for("Move to trash?");
    terminal.send("t");
    terminal.wait_for("In the trash. Press Enter to restore it.");
    assert!(!path.exists());
    terminal.send(ENTER);
    terminal.wait_for("Restored 1 session");
    assert!(path.exists());
    terminal.quit();
}
