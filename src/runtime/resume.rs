//! Resumes a session from the browser: restores the terminal and replaces this process with pi, or runs pi and returns
//! to the browser when it ends.

use std::path::Path;

use anyhow::Result;

use crate::app::message::Msg;
use crate::pi::launch::{Launch, Start, is_there, there};
use crate::runtime::external;
use crate::runtime::input::InputGate;
use crate::runtime::terminal;
use crate::runtime::terminal::Screen;
use crate::system::programs;

/// Starts pi on a session, in its directory or the recorded replacement. Replaces this process and only returns on
/// failure, or with a gate, runs pi until it exits.
///
/// # Errors
/// The terminal cannot be restored.
pub(super) fn resume(
    (pi, wanted): (&[String], Start),
    state: Option<&Path>,
    (screen, returns): (&mut Screen, Option<&InputGate>),
) -> Result<Msg> {
    let start = there(&wanted, state);
    if !start.cwd.is_empty() && !is_there(&start.cwd) {
        return Ok(Msg::Gone(wanted));
    }
    let launch = Launch { pi, start: &start };
    let mut command = match launch.command() {
        Ok(command) => command,
        Err(reason) => return Ok(Msg::NotResumed(reason)),
    };
    let error = match returns {
        Some(gate) => match external::run(&mut command, gate, screen)? {
            Ok(status) => return Ok(Msg::Returned(external::failure("pi", status))),
            Err(error) => error,
        },
        None => screen.pause(|| terminal::replaced(|| programs::replace_process(&mut command)))?.0,
    };
    Ok(Msg::NotResumed(launch.not_started(&error.to_string())))
}
