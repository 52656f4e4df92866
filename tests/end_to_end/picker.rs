//! pitree in a pipe: it draws on the terminal and prints the selection.

use std::fs;
use std::path::PathBuf;

use crate::end_to_end::home::{Home, Session};
use crate::end_to_end::terminal::{ENTER, ESC, Launch, Terminal, ctrl, is_taken};

struct World {
    home: Home,
    session: PathBuf,
}

impl World {
    fn new() -> Self {
        let home = Home::new();
        let project = home.dir("my project");
        let session = home.session(&Session::new("one").cwd(&project).asked("hello", &["left", "right"]));
        Self { home, session }
    }

    /// Starts pitree with its output in a pipe and records its exit code.
    fn open(&self, print: &str) -> Terminal {
        let pitree = env!("CARGO_BIN_EXE_pitree");
        let script = format!("{{ '{pitree}' --print {print}; echo $? > \"$HOME/code\"; }} | /bin/cat > \"$HOME/out\"");
        let terminal = Launch::new("/bin/sh", &self.home).args(["-c", &script]).open();
        terminal.wait_until("the browser", is_taken);
        terminal.wait_selected("hello");
        terminal
    }

    /// Returns the printed text and the exit code of pitree.
    fn result(&self, mut terminal: Terminal) -> (String, String) {
        assert_eq!(terminal.wait_exit(), 0);
        terminal.assert_restored();
        let read = |name| fs::read_to_string(self.home.path().join(name)).unwrap();
        (read("out"), read("code").trim().to_string())
    }
}

#[test]
fn enter_prints_the_path() {
    let world = World::new();
    let mut pitree = world.open("path");
    pitree.wait_for("↵ choose");
    pitree.send(ENTER);
    assert_eq!(world.result(pitree), (format!("{}\n", world.session.display()), "0".into()));
}

#[test]
fn esc_and_ctrl_c_print_nothing() {
    let world = World::new();
    for key in [ESC.to_string(), ctrl('c'), "q".into()] {
        let mut pitree = world.open("path");
        pitree.send(&key);
        assert_eq!(world.result(pitree), (String::new(), "1".into()));
    }
}

#[test]
fn an_entry_and_a_command() {
    let world = World::new();
    let mut pitree = world.open("entry");
    pitree.send("l");
    pitree.wait_selected("right");
    pitree.send("G");
    pitree.wait_selected("left");
    pitree.send(ENTER);
    assert_eq!(world.result(pitree), ("a2\n".into(), "0".into()));

    let mut pitree = world.open("command");
    pitree.send("l");
    pitree.wait_selected("right");
    pitree.send("G");
    pitree.wait_selected("left");
    pitree.send(ENTER);
    pitree.wait_for("Resume from this entry");
    pitree.send("h");
    let (project, session) = (world.home.path().join("my project"), &world.session);
    let command = format!("cd '{}' && pi --session {}\n", project.display(), session.display());
    assert_eq!(world.result(pitree), (command, "0".into()));
    assert!(fs::read_to_string(session).unwrap().lines().last().unwrap().contains("\"parentId\":\"a2\""));
}

#[test]
fn a_command_line_with_both_is_refused() {
    let home = Home::new();
    let mut pitree = home.open(&["--print", "path", "ls"]);
    pitree.wait_for("--print cannot be used with a command");
    assert_eq!(pitree.wait_exit(), 2);
}

#[test]
fn the_documented_shell_line_starts_pi_only_with_a_selection() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scripting.md")).unwrap();
    let line = page.lines().find(|line| line.contains("pitree --print path")).unwrap();
    let world = World::new();
    world.home.script("bin/pitree", &format!("exec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_pitree")));
    world.home.script("bin/pi", "echo \"$@\" > \"$HOME/started\"\n");
    for (key, started) in [("q", None), (ENTER, Some(format!("--session {}\n", world.session.display())))] {
        let mut pitree = Launch::new("/bin/sh", &world.home).args(["-c", line]).open();
        pitree.wait_until("the browser", is_taken);
        pitree.wait_selected("hello");
        pitree.send(key);
        assert_eq!(pitree.wait_exit(), u32::from(started.is_none()));
        assert_eq!(fs::read_to_string(world.home.path().join("started")).ok(), started);
    }
}
