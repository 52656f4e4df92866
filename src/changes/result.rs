//! Results and errors of requests.

use std::fmt;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::base::numbers::thousands;
use crate::changes::change::Change;
use crate::changes::journal::ChangeStep;
use crate::changes::request::{FileSnapshot, Request};

/// The changes made, or those that a dry run would make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeResult {
    /// A summary on one line; can contain text from files.
    pub said: String,
    /// The changes in order; empty if there was nothing to do.
    pub changes: Vec<Change>,
    /// The session that a fork created or that undo restored.
    pub made: Option<PathBuf>,
    /// The number of changes or deletions left when the request was stopped; 0 if it was not.
    pub left: usize,
    /// Warnings, also included in `said`.
    pub warnings: Vec<String>,
}

impl ChangeResult {
    /// Creates a result without changes, with the reason.
    pub(crate) fn nothing(said: &str) -> Self {
        Self { said: said.into(), ..Self::default() }
    }

    /// Creates the result of a step with these changes, and the number left when it was stopped.
    pub(crate) fn of(step: ChangeStep, changes: Vec<Change>, left: usize) -> Self {
        let said = said(step, &changes);
        let made = changes.iter().find_map(|change| change.brings(step)).map(Path::to_path_buf);
        Self { said, changes, made, ..Self::default() }.stopped(left)
    }

    /// Sets the number of changes left when the request was stopped.
    pub(crate) fn stopped(mut self, left: usize) -> Self {
        if left > 0 {
            self.said += &format!("; interrupted, {} remaining", thousands(left));
        }
        Self { left, ..self }
    }

    /// Adds warnings.
    pub(crate) fn but(mut self, warnings: Vec<String>) -> Self {
        warnings.iter().for_each(|warning| self.said += &format!("; warning: {warning}"));
        Self { warnings, ..self }
    }

    /// Runs a second request after this one. In a dry run, the second is skipped if it needs a file that the first
    /// would create.
    pub(crate) fn and_then(mut self, is_dry: bool, then: impl FnOnce() -> Result<Self>) -> Result<Self> {
        if self.changes.is_empty() {
            return then();
        }
        if !is_dry {
            let then = match then() {
                Ok(then) => then,
                Err(error) => {
                    let said = format!("{}; then: {error:#}", self.said);
                    return Err(PartialFailure { changes: self.changes, said }.into());
                }
            };
            self.said = format!("{}; {}", self.said, then.said);
            self.changes.extend(then.changes);
        }
        Ok(self)
    }
}

/// Summarizes the changes of a step: as a whole if they are of one kind, otherwise one by one.
pub(crate) fn said(step: ChangeStep, changes: &[Change]) -> String {
    let is_alike = |pair: &[Change]| discriminant(&pair[0]) == discriminant(&pair[1]);
    let alike = changes.first().filter(|_| changes.windows(2).all(is_alike));
    let all = || changes.iter().map(Change::describe).collect::<Vec<_>>().join("; ");
    alike.and_then(|first| first.said(step, changes.len())).unwrap_or_else(|| match step {
        ChangeStep::Make => all(),
        ChangeStep::Undo => format!("undone: {}", all()),
        ChangeStep::Redo => format!("redone: {}", all()),
    })
}

/// A change that was not made, but can be tried again after a decision of the user. All other failures are plain error
/// messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file has an old version. pi would drop a label or leaf move when it rewrites the file, and common entries of
    /// a fork would be unknown. `migrate` first converts the file to version 3, as pi does when it opens it; the
    /// original goes to the trash.
    Old {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The file holds another session than the user saw; nothing was written.
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Files have changed since they were seen; nothing was removed.
    Changed {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// The trash refused a file.
    NoTrash {
        /// The reason.
        reason: String,
        /// The remaining files; those before them are in the trash.
        left: Vec<FileSnapshot>,
    },
    /// Another program has changed or removed the target of the undo. The next undo skips it.
    Overtaken {
        /// The reason.
        reason: String,
    },
    /// The change to undo was made by another run of pitree, so the user may not remember it.
    Earlier(EarlierChange),
}

/// The last change, made by another run of pitree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierChange {
    /// The group of changes made together.
    pub group: u64,
    /// The time in milliseconds since 1970.
    pub time: i64,
    /// A summary; can contain text from files.
    pub said: String,
    /// Some of the sessions: their files, and their titles if known.
    pub sessions: Vec<(PathBuf, Option<String>)>,
    /// The number of further sessions.
    pub more: usize,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Old { path, version } => write!(
                f,
                "{} has version {version} and must be converted to version 3 first, as pi does on opening",
                path.display()
            ),
            Self::Replaced { path } => {
                write!(f, "{} was replaced by another session; nothing was written", path.display())
            }
            Self::Changed { paths } => {
                let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "sessions changed since they were read; none moved: {}", names.join(", "))
            }
            Self::NoTrash { reason, .. } => write!(f, "cannot move to the trash: {reason}"),
            Self::Earlier(EarlierChange { said, .. }) => {
                write!(f, "this change was made by an earlier run or another pitree: {said}")
            }
            Self::Overtaken { reason } => write!(f, "skipped: {reason}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A request that failed after some of its changes were made; those are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialFailure {
    /// The changes made, in order.
    pub changes: Vec<Change>,
    /// The number of changes made, and the reason for the failure of the next one.
    pub(crate) said: String,
}

impl fmt::Display for PartialFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for PartialFailure {}

/// Returns the files that a request may have changed, in order and without duplicates: those that it names, and those
/// of the changes made, even if it failed later.
pub fn touched(request: &Request, result: &Result<ChangeResult>) -> Vec<PathBuf> {
    let changes = match result {
        Ok(done) => &done.changes[..],
        Err(error) => error.downcast_ref().map_or(&[][..], |partly: &PartialFailure| &partly.changes),
    };
    let paths = request.paths().into_iter().chain(changes.iter().map(Change::path));
    // Unknown changes have no path.
    let mut paths: Vec<PathBuf> = paths.filter(|path| !path.as_os_str().is_empty()).map(Path::to_path_buf).collect();
    paths.sort();
    paths.dedup();
    paths
}
