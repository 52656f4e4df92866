//! Exit codes: one table for all commands, `--help`, the man pages and docs/json.md.

use std::process::ExitCode;

/// The result of a command as a shell sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// The command did its work, or found what it looked for.
    Done,
    /// A search found nothing, there was nothing to do, or the user declined.
    Nothing,
    /// An error, wrong usage, or output that lacks a file that could not be read.
    Failed,
    /// A check found something, such as a cost above the budget or a secret.
    Over,
    /// A file was touched, but its content is unknown.
    Unknown,
    /// A signal with this number ended the command.
    Signal(u8),
}

impl Exit {
    /// Returns [`Exit::Nothing`] instead if all went well but nothing was found.
    pub(super) fn found(self, is_found: bool) -> Self {
        if self == Self::Done && !is_found { Self::Nothing } else { self }
    }
}

/// Each exit code with its meaning, in the order of the codes.
pub(super) const TABLE: [(&str, &str); 6] = [
    ("0", "done, or found"),
    ("1", "nothing found, nothing to do, or declined"),
    ("2", "error or wrong usage; also if a file could not be read for the output"),
    (
        "3",
        "a check found something: `stats --check` above the budget, `secrets`, `doctor`, or `export --list`; `file` and `recover`: not all is exact",
    ),
    ("4", "`file`: the content at this entry is unknown, or the file was removed"),
    ("128+N", "ended by signal N"),
];

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Nothing => 1,
            Exit::Failed => 2,
            Exit::Over => 3,
            Exit::Unknown => 4,
            Exit::Signal(signal) => 128 + signal,
        })
    }
}

/// An error with an exit code of its own: the user declined, or a signal stopped a change.
#[derive(Debug)]
pub(super) struct Stopped(pub(super) Exit, pub(super) &'static str);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.1)
    }
}
