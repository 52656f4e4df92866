//! Changes made with keys, and the resulting files.

use std::fs;
use std::path::PathBuf;

use crate::common::home::last_line;
use crate::end_to_end::home::{Home, Session, session};
use crate::end_to_end::terminal::{ENTER, Launch, Terminal, ctrl, row};

/// A home with two sessions of one project.
struct World {
    home: Home,
    one: PathBuf,
    two: PathBuf,
}

impl World {
    fn new() -> Self {
        let home = Home::new();
        let project = home.dir("project");
        let one = home.session(&Session::new("one").cwd(&project).at(60).asked("hello", &["answer to hello"]));
        let two = home.session(&session("two", &project, "good bye"));
        Self { home, one, two }
    }

    fn open(&self) -> Terminal {
        let pitree = self.home.open(&[]);
        pitree.wait_selected("hello");
        pitree.wait_without("reading");
        pitree
    }
}

/// Waits until the bottom line contains the text.
fn wait_footer(pitree: &Terminal, text: &str) {
    pitree.wait_until(&format!("{text:?} in the footer"), |screen| row(screen, 29).contains(text));
}

#[test]
fn a_name_is_typed_and_pasted() {
    let world = World::new();
    let modified = fs::metadata(&world.one).unwrap().modified().unwrap();
    let mut pitree = world.open();
    pitree.send(&ctrl('r'));
    wait_footer(&pitree, "name: ");
    pitree.send("Quiet 漢");
    wait_footer(&pitree, "name: Quiet 漢");
    pitree.paste("\nq two\nlines");
    wait_footer(&pitree, "name: Quiet 漢 q two lines");
    pitree.send(ENTER);
    pitree.wait_selected("Quiet 漢 q two lines");
    let line = last_line(&world.one);
    assert_eq!((&line["type"], &line["name"]), (&"session_info".into(), &"Quiet 漢 q two lines".into()));
    assert_eq!(fs::metadata(&world.one).unwrap().modified().unwrap(), modified, "pi -c finds what it would have");
    pitree.send("u");
    pitree.wait_selected("hello");
    pitree.quit();
}

#[test]
fn a_label_appears_immediately() {
    let world = World::new();
    let mut pitree = world.open();
    pitree.send("l");
    pitree.wait_selected("← leaf");
    pitree.send("ml");
    wait_footer(&pitree, "label: ");
    pitree.send(&format!("good{ENTER}"));
    pitree.wait_selected("[good] asst  answer to hello");
    let line = last_line(&world.one);
    assert_eq!((&line["type"], &line["targetId"], &line["label"]), (&"label".into(), &"a2".into(), &"good".into()));
    pitree.quit();
}

#[test]
fn another_pitree_restores_a_trashed_session() {
    let world = World::new();
    let before = fs::read(&world.one).unwrap();
    let mut pitree = world.open();
    pitree.send(&ctrl('d'));
    pitree.wait_for("Move to trash?");
    assert!(world.one.exists());
    pitree.send(ENTER);
    pitree.wait_selected("good bye");
    pitree.wait_for("1 session ·");
    assert!(!world.one.exists() && world.two.exists());
    pitree.quit();

    let mut pitree = world.home.open(&[]);
    pitree.wait_selected("good bye");
    pitree.send("u");
    pitree.wait_for("Undo this change?");
    pitree.send("u");
    pitree.wait_selected("hello");
    pitree.wait_for("2 sessions ·");
    assert_eq!(fs::read(&world.one).unwrap(), before);
    pitree.quit();
}

#[test]
fn requested_changes_finish_before_quitting() {
    let world = World::new();
    let mut pitree = world.open();
    pitree.send(&format!("{}{}x{ENTER}q", ctrl('r'), ctrl('u')));
    assert_eq!(pitree.wait_exit(), 0);
    assert_eq!(last_line(&world.one)["name"], "x");
}

/// Exceeding the file size limit raises a signal that would end the program.
#[test]
fn a_file_size_limit_is_an_error_and_does_not_kill_pitree() {
    let home = Home::new();
    let session = home.session(&session("one", &home.dir("project"), &"hello ".repeat(1000)));
    let before = fs::read(&session).unwrap();
    let pitree = env!("CARGO_BIN_EXE_pitree");
    let script = format!("ulimit -f 12; '{pitree}' rename one x; echo \"code $?\"");
    let mut terminal = Launch::new("/bin/sh", &home).args(["-c", &script]).size(200, 30).open();
    terminal.wait_for("code 2");
    assert_eq!(terminal.wait_exit(), 0);
    assert!(terminal.contents().contains("too large"), "{}", terminal.contents());
    assert_eq!(fs::read(&session).unwrap(), before);
}

#[test]
fn a_locked_journal_does_not_block_the_browser() {
    let world = World::new();
    let journal = world.home.path().join(".local/state/pitree/journal.jsonl");
    fs::create_dir_all(journal.parent().unwrap()).unwrap();
    let held = fs::File::options().append(true).create(true).open(&journal).unwrap();
    held.lock().unwrap();
    let mut pitree = world.open();
    pitree.send(&ctrl('r'));
    wait_footer(&pitree, "name: ");
    pitree.send(&format!("held{ENTER}"));
    wait_footer(&pitree, "waiting for ");
    // pi waits for the lock too, and the browser waits for neither.
    pitree.send(ENTER);
    pitree.send("j");
    pitree.wait_selected("good bye");
    pitree.send("k");
    pitree.wait_selected("hello");
    pitree.send(crate::end_to_end::terminal::ESC);
    pitree.wait_for("Change failed");
    pitree.send(ENTER);
    pitree.wait_without("Change failed");
    let waits = "waiting for ";
    pitree.send(&ctrl('r'));
    wait_footer(&pitree, "name: ");
    pitree.send(&format!("held{ENTER}"));
    wait_footer(&pitree, waits);
    held.unlock().unwrap();
    pitree.wait_selected("held");
    pitree.quit();
}
