//! pitree in interactive shells: Tab completes, and a key inserts the chosen command.

use std::path::Path;
use std::process::Command;

use crate::common::effort::skipped;
use crate::end_to_end::home::{Home, Session};
use crate::end_to_end::terminal::{ENTER, Launch, TAB, Terminal, is_taken};

/// Shells with options that skip the user's startup files, and lines that set up pitree.
const SHELLS: &[(&str, &[&str], &str)] = &[
    ("bash", &["--norc", "--noprofile", "-i"], "eval \"$(pitree init bash)\"; source <(pitree completions bash)"),
    (
        "zsh",
        &["-f", "-i"],
        "autoload -Uz compinit; compinit -u; eval \"$(pitree init zsh)\"; source <(pitree completions zsh)",
    ),
    ("fish", &["--no-config", "-i"], "pitree init fish | source; pitree completions fish | source"),
];

/// Runs a test in each shell, in a home that has a session with a label.
fn each_shell(test: impl Fn(&Home, &mut Terminal)) {
    for &(shell, options, lines) in SHELLS {
        if Command::new(shell).arg("-c").arg(":").status().is_err() {
            skipped(&format!("there is no {shell}"));
            continue;
        }
        let home = Home::new();
        let project = home.dir("project");
        home.session(&Session::new("0199f2c1-one").cwd(&project).asked("hello", &["left", "right"]));
        let program = Path::new(env!("CARGO_BIN_EXE_pitree")).parent().unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.display());
        let mut terminal = Launch::new(shell, &home).args(options.iter().copied()).env("PATH", &path).open();
        terminal.send(&format!("{lines}; echo rea''dy{ENTER}"));
        terminal.wait_for_final("\nready");
        test(&home, &mut terminal);
    }
}

#[test]
fn tab_completes_commands_and_sessions() {
    each_shell(|_, terminal| {
        terminal.send(&format!("pitree renam{TAB}"));
        terminal.wait_for_final("pitree rename");
        terminal.send("\u{15}"); // clears the line
        terminal.send(&format!("pitree path 0199{TAB}"));
        terminal.wait_for_final("pitree path 0199f2c1-one");
        // Completes the sessions that the line refers to.
        terminal.send(&format!("\u{15}pitree --demo path 01a1f83{TAB}"));
        terminal.wait_for_final("pitree --demo path 01a1f83a-d7bc-7184-ad1b-1970eb1b9caa");
    });
}

#[test]
fn a_key_inserts_the_chosen_command() {
    each_shell(|home, terminal| {
        terminal.send("\x1bi");
        terminal.wait_until("the browser", is_taken);
        terminal.wait_selected("hello");
        terminal.send(ENTER);
        let session = home.path().join("project");
        terminal.wait_for_final(&format!("cd {}", session.display()));
    });
}
