//! What came of a request: what was done, or why not.

use std::fmt;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::base::numbers::thousands;
use crate::changes::change::Change;
use crate::changes::journal::ChangeStep;
use crate::changes::request::{FileSnapshot, Request};

/// What was done. After a dry run, what would have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeResult {
    /// In a few words, on one line; may hold text from files.
    pub said: String,
    /// The changes, in their order; none if all was so already.
    pub changes: Vec<Change>,
    /// The session that a fork made, or that undo brought back.
    pub made: Option<PathBuf>,
    /// As many changes, or files deleted for good, were left when it was stopped; 0 if it was not.
    pub left: usize,
    /// What else is to be known of it, which `said` has as well.
    pub warnings: Vec<String>,
}

impl ChangeResult {
    /// That nothing had to be done, and why.
    pub(crate) fn nothing(said: &str) -> Self {
        Self { said: said.into(), ..Self::default() }
    }

    /// Changes with which a step was taken, and as many that were left when it was stopped.
    pub(crate) fn of(step: ChangeStep, changes: Vec<Change>, left: usize) -> Self {
        let said = said(step, &changes);
        let made = changes.iter().find_map(|change| change.brings(step)).map(Path::to_path_buf);
        Self { said, changes, made, ..Self::default() }.stopped(left)
    }

    /// That as many were left when it was stopped.
    pub(crate) fn stopped(mut self, left: usize) -> Self {
        if left > 0 {
            self.said += &format!("; stopped, {} left", thousands(left));
        }
        Self { left, ..self }
    }

    /// With what else is to be known of it.
    pub(crate) fn but(mut self, warnings: Vec<String>) -> Self {
        warnings.iter().for_each(|warning| self.said += &format!("; but {warning}"));
        Self { warnings, ..self }
    }

    /// What was done first, and what is done then. A dry run can't go on from a file that is not there.
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

/// What is said of changes with which a step was taken: of one kind together, else of each.
pub(crate) fn said(step: ChangeStep, changes: &[Change]) -> String {
    let is_alike = |pair: &[Change]| discriminant(&pair[0]) == discriminant(&pair[1]);
    let alike = changes.first().filter(|_| changes.windows(2).all(is_alike));
    let all = || changes.iter().map(Change::describe).collect::<Vec<_>>().join("; ");
    alike.and_then(|first| first.said(step, changes.len())).unwrap_or_else(|| match step {
        ChangeStep::Make => all(),
        ChangeStep::Undo => format!("undone: {}", all()),
        ChangeStep::Redo => format!("done again: {}", all()),
    })
}

/// A change that was not made, where something can be asked and the change be tried again. All else that goes wrong is
/// an error in words only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file is of an old version: a label or a moved leaf would be lost when pi rewrites it, and of a fork it would not
    /// be known what both have. With `migrate` it is
    /// brought into the form of version 3 first, as pi does when it opens it; the original goes to the trash.
    Old {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The file holds another session than the user saw: nothing was written.
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Files changed since they were seen: nothing was removed.
    Changed {
        /// They.
        paths: Vec<PathBuf>,
    },
    /// The trash did not take a file.
    NoTrash {
        /// Why not.
        reason: String,
        /// The files that are still there; those before them are in the trash.
        left: Vec<FileSnapshot>,
    },
    /// What undo would take back was changed by somebody else since, or is gone: the next undo passes it over.
    Overtaken {
        /// In what way.
        reason: String,
    },
    /// What undo would take back was not done by this pitree: nobody here may remember it.
    Earlier(EarlierChange),
}

/// What was done last, by another pitree or an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierChange {
    /// What was made together.
    pub group: u64,
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// What, in a few words; may hold text from files.
    pub said: String,
    /// Some of the sessions: their files, and their titles if they are known.
    pub sessions: Vec<(PathBuf, Option<String>)>,
    /// As many sessions more.
    pub more: usize,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Old { path, version } => write!(
                f,
                "{} is of version {version}: it must be brought into the form of version 3 first, as pi does when it opens it",
                path.display()
            ),
            Self::Replaced { path } => {
                write!(f, "{} was replaced by another session; nothing was written", path.display())
            }
            Self::Changed { paths } => {
                let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "changed since it was read, so nothing was removed: {}", names.join(", "))
            }
            Self::NoTrash { reason, .. } => write!(f, "the trash can't take it: {reason}"),
            Self::Earlier(EarlierChange { said, .. }) => write!(f, "an earlier run or another pitree did this: {said}"),
            Self::Overtaken { reason } => write!(f, "not undone: {reason}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A request of several changes of which some were made before one failed: those stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialFailure {
    /// Those that were made, in their order.
    pub changes: Vec<Change>,
    /// How many that is of how many, and why the next one failed.
    pub(crate) said: String,
}

impl fmt::Display for PartialFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for PartialFailure {}

/// The files that a request may have changed, in order and each once: those that it names and those of the changes that
/// were made, before it failed if it did.
pub fn touched(request: &Request, result: &Result<ChangeResult>) -> Vec<PathBuf> {
    let changes = match result {
        Ok(done) => &done.changes[..],
        Err(error) => error.downcast_ref().map_or(&[][..], |partly: &PartialFailure| &partly.changes),
    };
    let paths = request.paths().into_iter().chain(changes.iter().map(Change::path));
    // Of a change that only a newer pitree knows there is none.
    let mut paths: Vec<PathBuf> = paths.filter(|path| !path.as_os_str().is_empty()).map(Path::to_path_buf).collect();
    paths.sort();
    paths.dedup();
    paths
}
