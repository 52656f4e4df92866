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

/// What became of it.
pub(super) enum ResumeOutcome {
    /// pi was not started: the session's directory is gone.
    Gone,
    /// pi was not started for something else: why, and what to do, on several lines.
    NotStarted(String),
    /// pi ran, and ended; what is to be known of that.
    Ended(Option<String>),
}

/// Starts pi on a session from the browser, in its directory or in what that was said to be now: in the place of this
/// process, so that this returns only if that is not possible; or, with a gate, until it ends.
///
/// # Errors
/// The terminal cannot be undone.
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
