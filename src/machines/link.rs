//! Programs that talk to a machine: one that hangs is ended, and its error messages explain a failure.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use crate::base::text::clean;
use crate::disk::program::{self, CapturedOutput};
use crate::system::{programs, signals};

/// The time limit for the first output.
const SILENCE: Duration = Duration::from_secs(30);

/// The time limit for the first output while ssh can ask the user.
const ASKING: Duration = Duration::from_secs(180);

/// The time limit to list files or to make a change.
const WHOLE: Duration = Duration::from_secs(300);

/// The maximum wait for the last output of a program that ended, and for its last error messages. A connection that ssh
/// shares keeps the pipe of the messages open.
const LAST_OUTPUT: Duration = Duration::from_secs(10);
const LAST_ERRORS: Duration = Duration::from_millis(250);

/// The maximum number of kept bytes of output and of error messages.
const MAX_OUTPUT: usize = 400_000_000;
const MAX_ERRORS: usize = 8192;

/// The maximum number of lines of error messages that are kept for the user.
const MAX_LINES: usize = 20;

/// The reason why a machine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub(crate) struct LinkError {
    /// The reason and a remedy, on one line.
    pub(crate) reason: String,
    /// `true` if the machine cannot be reached, which can change by itself.
    pub(crate) is_offline: bool,
    /// The messages of the programs.
    pub(crate) messages: Vec<String>,
}

impl LinkError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_offline: false, messages: Vec::new() }
    }

    pub(super) fn offline(reason: impl Into<String>) -> Self {
        Self { is_offline: true, ..Self::new(reason) }
    }
}

/// The error for a mirror that cannot be written.
impl From<io::Error> for LinkError {
    fn from(error: io::Error) -> Self {
        let advice = match error.kind() {
            io::ErrorKind::StorageFull => "; free space on this machine",
            io::ErrorKind::QuotaExceeded => "; the disk quota on this machine is used up",
            _ => "",
        };
        Self::new(format!("cannot write the mirror: {error}{advice}"))
    }
}

/// The output of a program that ended.
#[derive(Debug, Default)]
pub(super) struct LinkOutput {
    /// The standard output.
    pub(super) text: String,
    /// The error messages.
    pub(super) errors: String,
    /// The exit code; `None` after a signal.
    pub(super) code: Option<i32>,
}

impl LinkOutput {
    /// Explains the failure of the program.
    pub(super) fn failure(&self) -> LinkError {
        explain(&self.errors, self.code)
    }
}

/// Runs a script on a machine, or another program, with a limit for its time. With `can_ask`, ssh can ask in the terminal.
///
/// # Errors
/// The program cannot be started, or was ended because it took too long or the user canceled.
pub(super) fn run(
    command: Command,
    input: Vec<u8>,
    can_ask: bool,
    is_wanted: &dyn Fn() -> bool,
) -> Result<LinkOutput, LinkError> {
    let first = if can_ask { ASKING } else { SILENCE };
    run_with(command, input, can_ask, &mut |elapsed, bytes| {
        let limit = if bytes == 0 { first } else { WHOLE };
        match () {
            () if !is_wanted() => Some(LinkError::new("canceled")),
            () if bytes >= MAX_OUTPUT => Some(LinkError::new("too many files")),
            () if elapsed >= limit => Some(LinkError::offline(format!("no answer for {} s", limit.as_secs()))),
            () => None,
        }
    })
}

/// Runs a program like [`run`]. `gives_up` gets the elapsed time and the number of bytes of output, and returns the reason
/// to end the program.
///
/// # Errors
/// Those of [`run`].
pub(super) fn run_with(
    mut command: Command,
    input: Vec<u8>,
    can_ask: bool,
    gives_up: &mut dyn FnMut(Duration, usize) -> Option<LinkError>,
) -> Result<LinkOutput, LinkError> {
    let failed = |error: io::Error| LinkError::new(error.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A program in the background cannot read from the terminal.
    let started = if can_ask { command.spawn() } else { programs::start_apart(&mut command) };
    let mut child = started.map_err(failed)?;
    if let Some(mut to) = child.stdin.take() {
        thread::spawn(move || to.write_all(&input)); // the program can end before it has read all
    }
    let output = CapturedOutput::new(child.stdout.take(), MAX_OUTPUT);
    let errors = CapturedOutput::new(child.stderr.take(), MAX_ERRORS);
    let mut reason = None;
    let status = program::ended(&mut child, |elapsed| {
        reason = gives_up(elapsed, output.received());
        reason = reason.take().or_else(|| signals::pending_signal().map(|_| LinkError::new("interrupted")));
        reason.is_some()
    });
    match status.map_err(failed)? {
        Some(status) => {
            let (output, errors) = (output.text(LAST_OUTPUT), errors.text(LAST_ERRORS));
            Ok(LinkOutput { text: output, errors, code: status.code() })
        }
        None => {
            let messages = lines(&errors.text(LAST_ERRORS));
            let reason = reason.unwrap_or_else(|| LinkError::new("the program was ended"));
            Err(LinkError { messages, ..reason })
        }
    }
}

/// Returns the last lines of error messages.
fn lines(errors: &str) -> Vec<String> {
    let lines = errors.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(|line| clean(line).into_owned()).collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].to_vec()
}

/// Parts of error messages, and what to do. `true` for a machine that cannot be reached.
const KNOWN: &[(&str, &str, bool)] = &[
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "the host key has changed; check why, then remove the old key with ssh-keygen -R",
        false,
    ),
    ("Host key verification failed", "the host key is unknown; run ssh once by hand to accept it", false),
    ("Permission denied (", "ssh cannot log in; add your key to the ssh agent or to the machine", false),
    ("Disk quota exceeded", "the disk quota on the machine is used up", false),
    ("No space left on device", "the disk is full, here or on the machine", false),
    ("No such container", "no such container; its mirror is kept", true),
    ("is not running", "the container is not running", true),
    ("Cannot connect to the Docker daemon", "docker is not running", true),
    ("Could not resolve hostname", "unknown host", true),
    ("Connection refused", "connection refused", true),
    ("timed out", "no answer", true),
    ("No route to host", "no route to the host", true),
    ("Network is unreachable", "the network is unreachable", true),
];

fn explain(errors: &str, code: Option<i32>) -> LinkError {
    let messages = lines(errors);
    let error = if let Some((_, reason, is_offline)) = KNOWN.iter().find(|(part, ..)| errors.contains(part)) {
        LinkError { is_offline: *is_offline, ..LinkError::new(*reason) }
    } else {
        match (code, messages.last()) {
            // ssh itself failed.
            (Some(255), Some(last)) => LinkError::offline(last),
            (Some(code), Some(last)) if code != 0 => LinkError::new(format!("{last} (exit code {code})")),
            (Some(0 | 255) | None, _) => LinkError::offline("the connection was lost"),
            (Some(code), _) => LinkError::new(format!("the command there failed with exit code {code}")),
        }
    };
    LinkError { messages, ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_explained() {
        let of = |errors: &str, code| {
            let error = explain(errors, code);
            (error.reason, error.is_offline)
        };
        let changed = "@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n";
        assert!(of(changed, Some(255)).0.starts_with("the host key has changed"));
        assert!(of("Host key verification failed.", Some(255)).0.starts_with("the host key is unknown"));
        assert_eq!(
            of("ssh: connect to host b port 22: Connection refused", Some(255)),
            ("connection refused".into(), true)
        );
        assert_eq!(of("Error: No such container: x", Some(1)), ("no such container; its mirror is kept".into(), true));
        assert!(!of("odd\u{1b}[2J", Some(3)).0.contains("\u{1b}"));
        assert_eq!(of("", None), ("the connection was lost".into(), true));
        assert_eq!(explain("one\n\ntwo \n", Some(1)).messages, ["one", "two"]);
    }
}
