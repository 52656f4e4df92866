//! Other programs: beside this one, in the terminal for a while, or in place of this one.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// The words of a line with a file at their end.
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

/// Ends one that was [started apart](start_apart).
pub(crate) fn end(child: &mut Child) {
    let _ = child.kill(); // it may have ended by itself
    let _ = child.wait();
}

/// Runs a program to its end.
///
/// # Errors
/// It could not be started.
pub(crate) fn run(command: &mut Command) -> io::Result<ExitStatus> {
    command.status()
}

/// Runs `command` to its end and ends with its code. Returns only if that failed.
pub(crate) fn replace_process(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
