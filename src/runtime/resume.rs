//! Resuming: the terminal goes back to what it was, and pi takes the place of this process, in the session's working
//! directory; or pitree waits, and comes back when pi ends. By the path of the file: an id can match another project's session (pi 0.87.1).

use std::ffi::OsString;
use std::path::{Path, absolute};
use std::process::Command;

use anyhow::Result;

use crate::base::shell::quote;
use crate::disk::{moved, program};
use crate::runtime::away;
use crate::runtime::keys::Gate;
use crate::runtime::os;
use crate::runtime::terminal;
use crate::runtime::terminal::Screen;

/// What became of it.
pub(super) enum Outcome {
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
/// The terminal can't be taken back.
pub(super) fn resume(
    pi: &[String],
    session: &Path,
    (cwd, state): (&str, Option<&Path>),
    (screen, returns): (&mut Screen, Option<&Gate>),
) -> Result<Outcome> {
    let cwd = place(cwd, state);
    if !cwd.is_empty() && !is_there(&cwd) {
        return Ok(Outcome::Gone);
    }
    let mut command = match command(pi, session, &cwd) {
        Ok(command) => command,
        Err(reason) => return Ok(Outcome::NotStarted(reason)),
    };
    let error = match returns {
        Some(gate) => match away::run(&mut command, gate, screen)? {
            Ok(status) => return Ok(Outcome::Ended(away::failure("pi", status))),
            Err(error) => error,
        },
        None => screen.pause(|| terminal::replaced(|| os::replace_process(&mut command)))?.0,
    };
    Ok(Outcome::NotStarted(not_started(pi, session, &cwd, &error.to_string())))
}

/// Lets pi take the place of this process. Returns only if that is not possible: why, and what to do, on several lines.
pub(crate) fn replace_process(pi: &[String], session: &Path, cwd: &str) -> String {
    match command(pi, session, cwd) {
        Ok(mut command) => not_started(pi, session, cwd, &os::replace_process(&mut command).to_string()),
        Err(reason) => reason,
    }
}

/// The command that goes on with a session, for a shell: with the way to its directory, unless that is gone or unknown.
pub(crate) fn command_line(pi: &[String], session: &Path, cwd: &str) -> String {
    let words: Vec<String> = arguments(pi, session).iter().map(quote).collect();
    let there = if is_there(cwd) { format!("cd {} && ", quote(from_root(Path::new(cwd)))) } else { String::new() };
    there + &words.join(" ")
}

/// The program and the arguments that go on with a session.
pub fn arguments(pi: &[String], session: &Path) -> Vec<OsString> {
    pi.iter().map(OsString::from).chain(["--session".into(), from_root(session)]).collect()
}

/// A path that is no option and no word with a meaning of its own, such as `-` to `cd`.
fn from_root(path: &Path) -> OsString {
    absolute(path).unwrap_or_else(|_| path.to_path_buf()).into()
}

/// The directory of a session, or what it was said to be now if it is gone.
pub(crate) fn place(cwd: &str, state: Option<&Path>) -> String {
    moved::now(state, cwd).map_or_else(|| cwd.into(), |place| place.to_string_lossy().into_owned())
}

/// Whether a session's directory is known and still there.
pub fn is_there(cwd: &str) -> bool {
    !cwd.is_empty() && Path::new(cwd).is_dir()
}

fn command(pi: &[String], session: &Path, cwd: &str) -> Result<Command, String> {
    let Some((name, arguments)) = pi.split_first() else {
        return Err("The setting pi in config.toml names no command.".into());
    };
    if !cwd.is_empty() && !is_there(cwd) {
        let by_hand = command_line(pi, session, cwd);
        return Err(format!(
            "To go on elsewhere, run this there:\n{by_hand}\n\nThe session's directory is gone: {cwd}"
        ));
    }
    let Some(found) = program::find(name) else {
        let by_hand = command_line(pi, session, cwd);
        return Err(format!(
            "To resume by hand:\n{by_hand}\n\nThere is no {name} on the PATH. Install pi, or name its command in \
             config.toml (pi = [\"…\"])."
        ));
    };
    let mut command = Command::new(found);
    command.args(arguments).arg("--session").arg(from_root(session));
    if !cwd.is_empty() {
        command.current_dir(cwd);
    }
    Ok(command)
}

fn not_started(pi: &[String], session: &Path, cwd: &str, error: &str) -> String {
    let by_hand = command_line(pi, session, cwd);
    let program = pi.first().map_or("pi", String::as_str);
    format!("To resume by hand:\n{by_hand}\n\n{program} could not be started: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_for_the_shell() {
        let pi = ["pi".to_string(), "--model".into(), "a b".into()];
        let line = |cwd| command_line(&pi, Path::new("/s/it's.jsonl"), cwd);
        assert_eq!(line("/gone or not"), r"pi --model 'a b' --session '/s/it'\''s.jsonl'");
        assert_eq!(line("/"), r"cd / && pi --model 'a b' --session '/s/it'\''s.jsonl'");
    }
}
