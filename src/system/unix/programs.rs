//! External programs: in the background, in the terminal, or replacing this process.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::base::shell::Shell;
use crate::system::unix::signals;
pub(crate) use crate::system::unix::signals::{end, end_all_before_exit, has_ended};

/// Returns the kind of the user's shell.
pub(crate) fn user_shell() -> Shell {
    Shell::Posix
}

/// Returns a command that runs a shell line with a file as its last argument.
pub(crate) fn shell(line: &str, file: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{line} \"$1\"")).arg("pitree").arg(file);
    command
}

/// Starts a program that does not receive the keys of the terminal, and ends with this process.
///
/// # Errors
/// The program cannot be run.
pub(crate) fn start_apart(command: &mut Command) -> io::Result<Child> {
    signals::hold()?;
    signals::start_child(command)
}

/// Runs a program to which the terminal was [lent](signals::lend_terminal). When it stops, this process stops too until
/// the shell continues both.
///
/// # Errors
/// The program could not be started.
pub(crate) fn run(command: &mut Command) -> io::Result<ExitStatus> {
    let ended = command.spawn().and_then(|child| {
        let pid = Pid::from_child(&child);
        signals::has_terminal(pid);
        loop {
            match waitpid(Some(pid), WaitOptions::UNTRACED) {
                Ok(Some((_, status))) if status.stopped() => {
                    signals::suspend_job()?;
                    let _ = kill_process(pid, Signal::CONT); // the shell may have continued it
                }
                Ok(Some((_, status))) => break Ok(ExitStatus::from_raw(status.as_raw())),
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => break Err(error.into()),
            }
        }
    });
    signals::take_terminal();
    ended
}

/// Replaces this process by `command`. Only returns on failure.
pub(crate) fn replace_process(command: &mut Command) -> io::Error {
    let _ended = signals::end_children();
    command.exec()
}
