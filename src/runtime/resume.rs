//! Resumes a session from the browser: restores the terminal and replaces this process with pi, or runs pi and returns
//! to the browser when it ends.

use std::path::Path;

use anyhow::Result;

use crate::pi::launch::{Launch, is_there, there};
use crate::runtime::external;
use crate::runtime::input::InputGate;
use crate::runtime::terminal;
use crate::runtime::terminal::Screen;
use crate::system::programs;

/// The result of resuming.
pub(super) enum ResumeOutcome {
    /// pi was not started: the session's directory is missing.
    Gone,
    /// pi was not started for another reason; a message of several lines with a fix.
    NotStarted(String),
    /// pi exited; a message about its exit.
    Ended(Option<String>),
}

/// Starts pi on a session, in its directory or the recorded replacement. Replaces this process and only returns on
/// failure, or with a gate, runs pi until it exits.
///
/// # Errors
/// The terminal cannot be restored.
pub(super) fn resume(
    Launch { pi, start }: Launch<'_>,
    state: Option<&Path>,
    (screen, returns): (&mut Screen, Option<&InputGate>),
) -> Result<ResumeOutcome> {
    let start = there(start, state);
    if !start.cwd.is_empty() && !is_there(&start.cwd) {
        return Ok(ResumeOutcome::Gone);
    }
    let launch = Launch { pi, start: &start };
    let mut command = match launch.command() {
        Ok(command) => command,
        Err(reason) => return Ok(ResumeOutcome::NotStarted(reason)),
    };
    let error = match returns {
        Some(gate) => match external::run(&mut command, gate, screen)? {
            Ok(status) => return Ok(ResumeOutcome::Ended(external::failure("pi", status))),
            Err(error) => error,
        },
        None => screen.pause(|| terminal::replaced(|| programs::replace_process(&mut command)))?.0,
    };
    Ok(ResumeOutcome::NotStarted(launch.not_started(&error.to_string())))
}
