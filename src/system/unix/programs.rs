//! Other programs: beside this one, in the terminal for a while, or in place of this one.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use crate::system::unix::signals;

/// What a line of a shell does with a file, which it gets at its end.
pub(crate) fn shell(line: &str, file: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{line} \"$1\"")).arg("pitree").arg(file);
    command
}

/// Starts a program of which the keys of the terminal are none of its business.
///
/// # Errors
/// It cannot be run.
pub(crate) fn start_apart(command: &mut Command) -> io::Result<Child> {
    command.process_group(0).spawn()
}

/// Ends one that was [started apart](start_apart), with those that it started.
pub(crate) fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill(); // it may have ended by itself
    let _ = child.wait();
}

/// Runs a program to its end, to which the terminal was [lent](signals::lend_terminal). When it stops, so does this process,
/// until the shell lets both go on.
///
/// # Errors
/// It could not be started.
pub(crate) fn run(command: &mut Command) -> io::Result<ExitStatus> {
    let ended = command.spawn().and_then(|child| {
        let pid = Pid::from_child(&child);
        signals::has_terminal(pid);
        loop {
            match waitpid(Some(pid), WaitOptions::UNTRACED) {
                Ok(Some((_, status))) if status.stopped() => {
                    signals::suspend_job()?;
                    let _ = kill_process(pid, Signal::CONT); // the shell may have done so
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

/// Lets `command` take the place of this process. Returns only if that failed.
pub(crate) fn replace_process(command: &mut Command) -> io::Error {
    command.exec()
}
