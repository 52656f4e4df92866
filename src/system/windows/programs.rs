//! External programs: in the background, in the terminal, or replacing this process.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use crate::base::shell::Shell;

/// Returns the kind of the user's shell: Git Bash sets `SHELL`, and cmd sets `PROMPT`.
pub(crate) fn user_shell() -> Shell {
    let is_set = |name| std::env::var_os(name).is_some();
    match (is_set("SHELL"), is_set("PROMPT")) {
        (true, _) => Shell::Posix,
        (false, true) => Shell::Cmd,
        (false, false) => Shell::PowerShell,
    }
}

/// Returns a command with the words of a line and a file as its last argument.
pub(crate) fn shell(line: &str, file: &Path) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).arg(file);
    command
}

/// Starts a program.
///
/// # Errors
/// It cannot be run.
pub(crate) fn start_apart(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Does nothing: programs are not recorded here.
pub(crate) fn has_ended(_: &Child) {}

/// Does nothing.
pub(crate) fn end_all_before_exit() {}

/// Ends a program that was [started apart](start_apart).
pub(crate) fn end(child: &mut Child) {
    let _ = child.kill(); // it may have exited already
    let _ = child.wait();
}

/// Runs a program to its end.
///
/// # Errors
/// The program could not be started.
pub(crate) fn run(command: &mut Command) -> io::Result<ExitStatus> {
    command.status()
}

/// Runs `command` to its end and exits with its code. Only returns on failure.
pub(crate) fn replace_process(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
