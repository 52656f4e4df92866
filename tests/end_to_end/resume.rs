//! Enter resumes in pi, or reports the reason why it cannot. A shell script stands in for pi.

use std::fs;
use std::path::PathBuf;

use crate::end_to_end::home::{Home, Session};
use crate::end_to_end::terminal::{ENTER, Terminal, is_taken};

/// Does not report a version; records its arguments, then reads a line with the terminal's line editing.
const PI: &str = r#"case "$*" in *--version) exit 1;; esac
{ echo "pid $$"; pwd -P; for word; do echo "$word"; done; } > "$HOME/started"
echo "pi is here"
read -r line
echo "pi heard $line"
exit 7
"#;

/// A home with one session of an existing project.
struct World {
    home: Home,
    project: PathBuf,
    session: PathBuf,
}

impl World {
    fn new() -> Self {
        let home = Home::new();
        let project = home.dir("my project");
        let session = home.session(&Session::new("one").cwd(&project).asked("hello", &["left", "right"]));
        Self { home, project, session }
    }

    fn open(&self) -> Terminal {
        let pitree = self.home.open(&[]);
        pitree.wait_selected("hello");
        pitree
    }

    fn started(&self) -> Option<String> {
        fs::read_to_string(self.home.path().join("started")).ok()
    }

    /// Asserts that pi replaced pitree, with these arguments, in the project's directory, and with the terminal in its
    /// original state.
    fn assert_handed_over(&self, mut terminal: Terminal, words: &[&str]) {
        terminal.wait_for("pi is here");
        terminal.wait_restored();
        let session = self.session.to_str().unwrap();
        let (pid, project) = (format!("pid {}", terminal.pid()), self.project.to_str().unwrap());
        let expected = [&[&pid, project], words, &["--session", session]].concat();
        assert_eq!(self.started().unwrap().lines().collect::<Vec<_>>(), expected);
        terminal.send("what\x7f\x7f\x7f\x7fwho are you?\r");
        terminal.wait_for("pi heard who are you?");
        assert_eq!(terminal.wait_exit(), 7);
    }
}

#[test]
fn enter_on_a_session_starts_pi() {
    let world = World::new();
    world.home.script("bin/pi", PI);
    let mut pitree = world.open();
    pitree.send(ENTER);
    world.assert_handed_over(pitree, &[]);
}

#[test]
fn enter_on_the_leaf_starts_pi_without_a_question() {
    let world = World::new();
    world.home.script("bin/pi", PI);
    let before = fs::read(&world.session).unwrap();
    let mut pitree = world.open();
    pitree.send("l");
    pitree.wait_selected("right");
    pitree.send("\x1b[H");
    pitree.wait_selected("user  hello");
    pitree.send(".");
    pitree.wait_selected("← leaf");
    pitree.send(ENTER);
    world.assert_handed_over(pitree, &[]);
    assert_eq!(fs::read(&world.session).unwrap(), before);
}

#[test]
fn enter_on_an_old_branch_moves_the_leaf_there_first() {
    let world = World::new();
    world.home.script("bin/pi", &format!("[ \"$1\" = --version ] || cp \"$2\" \"$HOME/seen\"\n{PI}"));
    let before = fs::read_to_string(&world.session).unwrap();
    let mut pitree = world.open();
    pitree.send("l");
    pitree.wait_selected("right");
    pitree.send("G");
    pitree.wait_selected("left");
    pitree.send(ENTER);
    pitree.wait_for("Resume from this entry");
    pitree.wait_for("The model will see 2 messages.");
    assert_eq!(world.started(), None);
    pitree.send("h");
    world.assert_handed_over(pitree, &[]);
    let seen = fs::read_to_string(world.home.path().join("seen")).unwrap();
    let added = seen.strip_prefix(&before).unwrap();
    assert!(added.ends_with('\n') && added.lines().count() == 1, "{added}");
    let line: serde_json::Value = serde_json::from_str(added).unwrap();
    assert_eq!((&line["type"], &line["parentId"], &line["targetId"]), (&"label".into(), &"a2".into(), &"a2".into()));
}

#[test]
fn a_message_is_restored_by_the_terminal() {
    let world = World::new();
    world.home.script("bin/pi", PI);
    let mut pitree = world.open();
    pitree.send("l");
    pitree.wait_selected("right");
    pitree.send("\x1b[H");
    pitree.wait_selected("user  hello");
    pitree.send(ENTER);
    pitree.wait_for("copies its text to the clipboard");
    pitree.send("f");
    pitree.wait_for("pi is here");
    let raw = pitree.raw();
    let osc = b"\x1b]52;c;aGVsbG8=\x1b\\"; // hello
    assert!(raw.windows(osc.len()).any(|bytes| bytes == osc));
    let session = world.started().unwrap().lines().last().unwrap().to_string();
    assert_ne!(session, world.session.to_str().unwrap());
    let made = fs::read_to_string(session).unwrap();
    assert_eq!(made.lines().count(), 1, "before the first message there is only the header: {made}");
}

#[test]
fn a_terminal_without_a_clipboard_shows_the_message_first() {
    let world = World::new();
    world.home.script("bin/pi", PI);
    let mut pitree = world.home.launch(&[]).env("TERM", "linux").open();
    pitree.wait_selected("hello");
    pitree.send("l");
    pitree.wait_selected("right");
    pitree.send("\x1b[H");
    pitree.wait_selected("user  hello");
    pitree.send(ENTER);
    pitree.wait_for("Resume from this entry");
    pitree.send("h");
    pitree.wait_for("Clipboard not available");
    assert_eq!(world.started(), None);
    pitree.send(ENTER);
    world.assert_handed_over(pitree, &[]);
}

#[test]
fn the_configured_command_starts_pi() {
    let world = World::new();
    let program = world.home.script("tools/my-pi", PI);
    let config = world.home.write("c.toml", format!("pi = [{program:?}, \"--model\", \"a b\"]\n"));
    let mut pitree = world.home.open(&["--config", config.to_str().unwrap()]);
    pitree.wait_selected("hello");
    pitree.send(ENTER);
    world.assert_handed_over(pitree, &["--model", "a b"]);
}

#[test]
fn without_pi_the_command_is_shown() {
    let world = World::new();
    let mut pitree = world.open();
    pitree.send(ENTER);
    pitree.wait_for("Cannot start pi");
    pitree.wait_for("cannot find pi on the PATH");
    pitree.wait_for("/my project' && pi --session");
    pitree.send("j"); // any key closes the box, and does nothing else
    pitree.wait_without("Cannot start pi");
    pitree.wait_selected("hello");
    pitree.quit();
}

#[test]
fn a_missing_directory_can_be_replaced() {
    let world = World::new();
    world.home.script("bin/pi", PI);
    fs::remove_dir(&world.project).unwrap();
    let mut pitree = world.open();
    pitree.wait_for("my project (missing)");
    pitree.send(ENTER);
    pitree.wait_for("Working directory not found");
    assert_eq!(world.started(), None);
    pitree.send("n");
    pitree.wait_without("Working directory not found");
    pitree.send(ENTER);
    pitree.wait_for("~, where pitree was started");
    let moved = world.home.dir("moved");
    pitree.send("d");
    pitree.wait_for("directory: ");
    pitree.send("\u{15}~/mov\t");
    pitree.wait_for("~/moved/");
    pitree.send(ENTER);
    pitree.wait_for("~/moved, which you entered");
    let goes_on_there = |terminal: &mut Terminal, key: &str| {
        terminal.send(key);
        terminal.wait_for("pi is here");
        assert_eq!(world.started().unwrap().lines().nth(1).unwrap(), moved.to_str().unwrap());
        terminal.send("hello\r");
        assert_eq!(terminal.wait_exit(), 7);
    };
    goes_on_there(&mut pitree, "r");
    // The answer is remembered from then on.
    fs::remove_file(world.home.path().join("started")).unwrap();
    let mut again = world.open();
    again.wait_for("my project (missing)");
    goes_on_there(&mut again, ENTER);
}

#[test]
fn pitree_stays_open_if_pi_does_not_start() {
    let world = World::new();
    let pi = world.home.script("bin/pi", "");
    fs::write(&pi, "#!/nowhere/interpreter\n").unwrap();
    let mut pitree = world.open();
    pitree.send(ENTER);
    pitree.wait_for("cannot start pi");
    pitree.wait_until("the browser on the screen again", is_taken);
    pitree.send(ENTER);
    pitree.wait_without("cannot start pi");
    pitree.wait_selected("hello");
    pitree.quit();
}

/// pitree detects pi by its process and that process's working directory.
#[cfg(target_os = "linux")]
#[test]
fn sessions_with_a_running_pi_are_marked() {
    let world = World::new();
    world.home.script("bin/pi", PI);
    let mut pi = world.open();
    pi.send(ENTER);
    pi.wait_for("pi is here");
    let pitree = world.open();
    pitree.wait_for("◌ 1 live?");
    pitree.wait_selected("◌");
    pitree.quit();
}
