//! External programs: in the background, in the terminal, or replacing this process.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use crate::system::unix::signals;

/// Returns a command that runs a shell line with a file as its last argument.
pub(crate) fn shell(line: &str, file: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{line} \"$1\"")).arg("pitree").arg(file);
    command
}

/// Starts a program that does not receive the keys of the terminal.
///
/// # Errors
/// The program cannot be run.
pub(crate) fn start_apart(command: &mut Command) -> io::Result<Child> {
    command.process_group(0).spawn()
}

/// Ends a program that was [started apart](start_apart), with its children.
pub(crate) fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill(); // it may have exited already
    let _ = child.wait();
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
    command.exec()
}
