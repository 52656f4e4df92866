//! Exit and suspend: each restores the terminal.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::common::signals;
use crate::end_to_end::home::{Home, Session};
use crate::end_to_end::terminal::{ENTER, ESC, Launch, Terminal, ctrl, is_taken};

fn demo() -> (Home, Terminal) {
    let home = Home::new();
    let pitree = home.open(&["--demo"]);
    pitree.wait_for("41 sessions");
    pitree.wait_without("reading");
    pitree.wait_selected("Flaky");
    pitree.wait_until("the terminal taken", is_taken);
    (home, pitree)
}

#[test]
fn quits_by_key() {
    for key in ["q", &ctrl('c')] {
        let (_home, mut pitree) = demo();
        pitree.send(key);
        assert_eq!(pitree.wait_exit(), 0);
        pitree.assert_restored();
    }
}

#[test]
fn leaves_nothing_behind() {
    let home = Home::new();
    home.session(&Session::new("one").cwd(home.dir("project")).asked("hello", &["left", "right"]));
    let pitree = env!("CARGO_BIN_EXE_pitree");
    let starts =
        [("", "q", 0), ("--demo", "q", 0), ("--print path", "q", 1), ("--demo --print id", ESC, 1), ("hello", "q", 0)];
    for (arguments, keys, code) in starts {
        let script = format!("'{pitree}' {arguments} 2> \"$HOME/errors\"");
        let mut terminal = Launch::new("/bin/sh", &home).args(["-c", &script]).open();
        terminal.wait_until("the browser", is_taken);
        terminal.wait_without("reading");
        if arguments == "hello" {
            terminal.wait_for("1 hit");
        }
        terminal.send(keys);
        assert_eq!(terminal.wait_exit(), code, "{arguments}");
        terminal.assert_restored();
        assert_eq!(terminal.contents().trim(), "", "{arguments}");
        assert_eq!(fs::read_to_string(home.path().join("errors")).unwrap(), "", "{arguments}");
    }
}

#[test]
fn ends_by_signal() {
    let numbers = [Signal::USR1, Signal::USR2].map(|signal| 128 + signal.as_raw().unsigned_abs());
    for (signal, code) in [
        ("TERM", 143),
        ("HUP", 129),
        ("INT", 130),
        ("QUIT", 131),
        ("USR1", numbers[0]),
        ("USR2", numbers[1]),
        ("ALRM", 142),
        ("XCPU", 152),
        ("VTALRM", 154),
        ("PROF", 155),
    ] {
        let (_home, mut pitree) = demo();
        pitree.signal(signal);
        assert_eq!(pitree.wait_exit(), code, "{signal}");
        pitree.assert_restored();
    }
}

#[test]
fn ends_by_signal_while_the_terminal_takes_no_output() {
    let (_home, mut pitree) = demo();
    pitree.pause(true);
    // More than the terminal buffers for its reader.
    for _ in 0..300 {
        pitree.send("j\tk\t");
    }
    pitree.signal("TERM");
    assert_eq!(pitree.wait_exit(), 143);
    pitree.assert_restored();
}

#[cfg(unix)]
#[test]
fn an_abort_leaves_the_terminal_whole() {
    let (_home, mut pitree) = demo();
    pitree.signal("ABRT");
    assert!(pitree.wait_end().signal().is_some());
    pitree.assert_restored();
}

/// Simulates a closed window: the terminal hangs up, and reads and writes fail.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_window_ends_like_a_key() {
    let home = Home::new();
    let project = home.dir("project");
    let sessions: Vec<_> = (0..6)
        .map(|at| {
            let session = Session::new(&format!("s{at}")).at(at).cwd(&project);
            home.session(&session.asked(&format!("hello {at}"), &["yes"]))
        })
        .collect();
    let left = || sessions.iter().filter(|path| path.exists()).count();
    // The second move waits until the window is closed.
    let [begun, closed] = ["begun", "closed"].map(|name| home.path().join(name));
    let waits = format!("until [ ! -e {} ] || [ -e {} ]; do sleep 0.01; done", begun.display(), closed.display());
    let script = format!("{waits}; : >{}; mv \"$1\" \"$1.kept\"", begun.display());
    home.write(".config/pitree/config.toml", format!("trash = [\"sh\", \"-c\", '{script}', \"sh\"]\n"));
    let errors = home.path().join("errors");
    let inner = format!("exec '{}' 2> '{}'", env!("CARGO_BIN_EXE_pitree"), errors.display());
    let script = Launch::new("/usr/bin/script", &home).args(["-qc", &inner, "/dev/null"]).env("SHELL", "/bin/sh");
    let mut outer = script.env("PATH", "/usr/bin:/bin").open();
    outer.wait_until("the browser", is_taken);
    outer.wait_for("6 sessions");
    outer.wait_without("reading");
    outer.wait_selected("hello 5");
    outer.send("mA");
    outer.wait_for("6 sessions marked");
    outer.send(&ctrl('d'));
    outer.wait_for("Move to trash?");
    outer.send("t");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while left() == 6 {
        assert!(std::time::Instant::now() < end, "nothing goes");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    outer.signal("KILL");
    outer.wait_end();
    fs::write(closed, "").unwrap();
    let said = || fs::read_to_string(&errors).unwrap();
    while !said().ends_with('\n') {
        assert!(std::time::Instant::now() < end, "it does not end: {}", said());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // On a busy machine some of the moves may not finish in time.
    let moved = match 6 - left() {
        6 => "pitree: Moved 6 sessions to the trash\n".into(),
        1 => "pitree: Moved 1 session to the trash; interrupted, 5 remaining\n".into(),
        moved => format!("pitree: Moved {moved} sessions to the trash; interrupted, {} remaining\n", 6 - moved),
    };
    assert_eq!(said(), moved);
}

/// Kills pitree's parent, so the shell takes over the terminal. When the window is closed afterward, pitree receives no
/// signal.
#[cfg(target_os = "linux")]
#[test]
fn it_exits_when_the_window_closes_without_a_signal() {
    let home = Home::new();
    let [starter, pitree] = ["starter", "pitree"].map(|name| home.path().join(name));
    let number = |path| fs::read_to_string(path).unwrap().trim().to_string();
    home.script("start", "echo $$ > starter; sh run; :\n");
    home.script("run", &format!("echo $$ > pitree; exec '{}' --demo\n", env!("CARGO_BIN_EXE_pitree")));
    let script = Launch::new("/usr/bin/script", &home).args(["-qc", "bash --norc -i", "/dev/null"]);
    let mut outer = script.env("SHELL", "/bin/sh").env("PATH", "/usr/bin:/bin").cwd(home.path()).open();
    outer.send(&format!("sh start{ENTER}"));
    outer.wait_until("the browser", is_taken);
    outer.wait_for("41 sessions");
    signals::send(number(&starter).parse().unwrap(), "KILL");
    outer.wait_for_final("Killed");
    outer.signal("KILL");
    outer.wait_end();
    let stat = format!("/proc/{}/stat", number(&pitree));
    crate::common::effort::wait_until("it goes on", || {
        fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "))
    });
}

#[cfg(target_os = "linux")]
pub(crate) fn wait_stopped(pitree: &Terminal) {
    let stat = format!("/proc/{}/stat", pitree.pid());
    crate::common::effort::wait_until("not stopped", || fs::read_to_string(&stat).unwrap().contains(") T "));
}

#[cfg(target_os = "linux")]
#[test]
fn suspends_and_comes_back() {
    let (_home, mut pitree) = demo();
    pitree.send("j");
    pitree.wait_selected("Refactor");
    for by_key in [true, false] {
        if by_key {
            pitree.send(&ctrl('z'));
        } else {
            pitree.signal("TSTP");
        }
        pitree.wait_restored();
        wait_stopped(&pitree);
        pitree.signal("CONT");
        pitree.wait_until("the browser on the screen again", is_taken);
        pitree.wait_selected("Refactor");
        pitree.wait_for("41 sessions");
        pitree.send("k");
        pitree.wait_selected("Flaky");
        pitree.send("j");
        pitree.wait_selected("Refactor");
    }
    pitree.quit();
}

#[test]
fn without_a_terminal_it_suggests_commands() {
    let home = Home::new();
    let script = format!("{:?} --demo | /bin/cat; echo done", env!("CARGO_BIN_EXE_pitree"));
    let mut shell = Launch::new("/bin/sh", &home).args(["-c", &script]).open();
    assert_eq!(shell.wait_exit(), 0);
    let contents = shell.contents();
    assert!(
        contents.contains("pitree: the browser requires a terminal") && contents.contains("pitree ls"),
        "{contents}"
    );
    assert!(!shell.raw().windows(2).any(|pair| pair == b"\x1b["), "nothing was drawn");
}

#[test]
fn programs_in_the_background_end_with_pitree() {
    // In a hostile repository, git can wait forever: its configuration can include a named pipe.
    let home = Home::new();
    let pid = home.path().join("pid");
    home.script("bin/git", &format!("echo $$ > {0}.new && mv {0}.new {0}\nexec sleep 100", pid.display()));
    fs::create_dir_all(home.path().join("project/.git")).unwrap();
    let lines: String = (0..9).map(|line| format!("    let lost = work({line});\n")).collect();
    let write = json!({"path": "a.rs", "content": lines});
    let session = Session::new("one").cwd(home.path().join("project")).user("u", "Begin");
    home.session(&session.tool("t", "write", &write, "Successfully wrote").under("u").user("v", "Something else"));
    let path = format!("{}:{}", home.path().join("bin").display(), std::env::var("PATH").unwrap());
    let started = || {
        let begun = Instant::now();
        loop {
            match fs::read_to_string(&pid) {
                Ok(text) => return text.trim().to_owned(),
                Err(_) => assert!(begun.elapsed() < Duration::from_secs(60), "git was not started"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    for end in ["q", "TERM", "INT"] {
        let _ = fs::remove_file(&pid);
        if end == "INT" {
            let mut pitree = home.command(&["ls", "is:lost"]).env("PATH", &path).spawn().unwrap();
            let git = started();
            signals::send(pitree.id(), "INT");
            assert_eq!(pitree.wait().unwrap().signal(), Some(2));
            assert!(signals::ends(&git), "{end}");
            continue;
        }
        let mut pitree = home.launch(&[]).env("PATH", &path).open();
        let git = started();
        if end == "q" {
            pitree.send(end);
        } else {
            pitree.signal(end);
        }
        pitree.wait_exit();
        assert!(signals::ends(&git), "{end}");
    }
}
