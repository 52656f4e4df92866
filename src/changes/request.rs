//! Requests for changes, their results and their errors.

use std::collections::HashSet;
use std::fmt;
use std::mem::discriminant;
use std::ops::{ControlFlow, Deref};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Error, Result};
use thiserror::Error;

use crate::base::machine_paths;
use crate::base::numbers::thousands;
use crate::changes::change::{Change, ChangeOrigin, ChangeStep, RewritePurpose};
use crate::changes::journal::JournalError;
use crate::changes::target::{
    EarlierChange, ExpectedSession, FileSnapshot, ImportRequest, MoveRequest, NewMark, SessionIdentity,
};
use crate::disk::rewrite::Rewriter;
use crate::disk::trash::{CommandTimeout, TrashRefused};
use crate::session::{entry::EntryId, write::context_edit::NewEdit};

/// The writer of the new versions of files. Two are equal if they are the same one.
#[derive(Clone)]
pub struct SharedRewriter(pub Arc<dyn Rewriter>);

impl Deref for SharedRewriter {
    type Target = dyn Rewriter;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for SharedRewriter {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SharedRewriter {}

impl fmt::Debug for SharedRewriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRewriter").finish_non_exhaustive()
    }
}

/// A request for a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Make a change unless the file was replaced: see [`Refusal::Replaced`](crate::changes::Refusal::Replaced).
    IfSame {
        /// The session.
        session: SessionIdentity,
        /// The change.
        then: Box<Request>,
    },
    /// Rename a session; an empty name clears it.
    Rename {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// Rename several sessions; an empty name clears one. A failure of one does not stop the others.
    RenameAll {
        /// The sessions with their new names.
        sessions: Vec<(ExpectedSession, String)>,
        /// `true` to leave out sessions that have a name.
        keeps_names: bool,
    },
    /// Label the last entry of several sessions that the model sees; an empty label clears it. A failure of one does not
    /// stop the others.
    LabelAll {
        /// The sessions.
        sessions: Vec<ExpectedSession>,
        /// The label.
        label: String,
    },
    /// Label an entry; an empty label clears it.
    Label {
        /// The file.
        path: PathBuf,
        /// The entry.
        target: EntryId,
        /// The label.
        label: String,
        /// `true` to migrate an old file: see [`Refusal::Old`](crate::changes::Refusal::Old).
        migrate: bool,
    },
    /// Move the leaf, so that pi resumes from another entry.
    MoveLeaf {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first entry.
        to: Option<EntryId>,
        /// `true` to migrate an old file.
        migrate: bool,
    },
    /// Fork the path from the root to an entry into a new session.
    Fork {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first entry.
        at: Option<EntryId>,
        /// `true` to migrate an old file, so that both files have the same entry ids.
        migrate: bool,
    },
    /// Edit the model context after an entry, in a new fork there or at the end of the session.
    EditContext {
        /// The file.
        path: PathBuf,
        /// The entry.
        at: EntryId,
        /// The edits.
        edits: Vec<NewEdit>,
        /// `true` for a fork.
        in_fork: bool,
    },
    /// Fork a session at an entry, and append copies of entries of another branch.
    Pick {
        /// The file.
        path: PathBuf,
        /// The entry.
        at: EntryId,
        /// The file of the other branch.
        from: PathBuf,
        /// The entries to copy, in order.
        entries: Vec<EntryId>,
    },
    /// Import a session into a new file.
    Import(ImportRequest),
    /// Replace session files by new versions; the originals move to the trash. A failure of one does not stop the
    /// others.
    Rewrite {
        /// The purpose.
        purpose: RewritePurpose,
        /// The sessions. The id is empty for a file without a valid header.
        sessions: Vec<ExpectedSession>,
        /// The writer of the new versions.
        by: SharedRewriter,
    },
    /// Move sessions to another working directory. A failure of one does not stop the others.
    Move(MoveRequest),
    /// Set and remove lasting marks: pins, tags and notes. The session files are unchanged.
    Mark {
        /// The marks.
        marks: Vec<NewMark>,
    },
    /// Move files to the trash.
    Trash {
        /// The files.
        files: Vec<FileSnapshot>,
    },
    /// Move sessions to the archive.
    Archive {
        /// The files.
        files: Vec<FileSnapshot>,
    },
    /// Bring sessions back from the archive.
    Unarchive {
        /// The files in the archive.
        files: Vec<PathBuf>,
    },
    /// Bring sessions back from the archive, then make another change.
    AfterUnarchive {
        /// The files in the archive.
        files: Vec<PathBuf>,
        /// The change, with their original paths.
        then: Box<Request>,
    },
    /// Delete files permanently: only those that the trash refused, and only after two questions. This cannot be
    /// undone.
    Delete {
        /// The files.
        files: Vec<FileSnapshot>,
    },
    /// Permanently delete files that earlier changes moved to the trash. This cannot be undone.
    EmptyTrash {
        /// The numbers of the changes in the journal.
        numbers: Vec<u64>,
    },
    /// Undo a change.
    Undo {
        /// Its number in the journal; `None` for the last change.
        number: Option<u64>,
    },
    /// Undo the last change if this pitree made it. Otherwise, ask first: see
    /// [`Refusal::Earlier`](crate::changes::Refusal::Earlier).
    UndoLast {
        /// The group that the user confirmed.
        confirmed_group: Option<u64>,
    },
    /// Undo all changes of a group.
    UndoGroup {
        /// The group.
        group: u64,
    },
    /// Redo the change that was undone last.
    Redo,
}

impl Request {
    /// Binds the request to the session that the user saw.
    #[must_use]
    pub(crate) fn if_same(self, session: SessionIdentity) -> Self {
        Self::IfSame { session, then: Box::new(self) }
    }

    /// Returns the files named by the request, each of which it can change. Undo and redo name none.
    pub fn paths(&self) -> Vec<PathBuf> {
        let (mut paths, mut seen) = (Vec::new(), HashSet::new());
        if !matches!(self, Self::Import(_)) {
            self.clone().each_path(&mut |path| paths.extend(seen.insert(path.clone()).then(|| path.clone())));
        }
        paths
    }

    /// Returns `true` if the request may migrate an old file.
    pub(crate) fn migrates(&self) -> bool {
        match self {
            Self::IfSame { then, .. } => then.migrates(),
            Self::Label { migrate, .. } | Self::MoveLeaf { migrate, .. } | Self::Fork { migrate, .. } => *migrate,
            _ => false,
        }
    }

    /// Returns `true` for undo and redo.
    pub fn is_step(&self) -> bool {
        match self {
            Self::IfSame { then, .. } => then.is_step(),
            _ => matches!(self, Self::Undo { .. } | Self::UndoLast { .. } | Self::UndoGroup { .. } | Self::Redo),
        }
    }
}

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeProgress {
    /// The number of changes made.
    pub done: usize,
    /// The total number of changes.
    pub total: usize,
}

/// An event during a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeEvent<'a> {
    /// The progress between two changes.
    Made(ChangeProgress),
    /// Waiting for another program: a description.
    Waits(&'a str),
}

/// A callback for the events of a request, which can stop it. Changes already made are kept as one group, and waiting
/// ends.
pub type ChangeObserver<'a> = &'a mut dyn FnMut(ChangeEvent<'_>) -> ControlFlow<()>;

/// A [`ChangeObserver`] that never stops a request.
pub fn to_the_end(_: ChangeEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The changes made, or those that a dry run would make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeResult {
    /// A summary on one line; can contain text from files.
    pub summary: String,
    /// The changes in order; empty if there was nothing to do.
    pub changes: Vec<Change>,
    /// The session that a fork created or that undo restored.
    pub made: Option<PathBuf>,
    /// The number of changes or deletions left when the request was stopped; 0 if it was not.
    pub left: usize,
    /// Warnings, also included in `said`.
    pub warnings: Vec<String>,
    /// The number of the first change that was made in the journal; `None` if none was made.
    pub group: Option<u64>,
    /// The machine on which the changes were made; `None` for this one.
    pub machine: Option<ChangeOrigin>,
}

impl ChangeResult {
    /// Creates a result without changes, with the reason.
    pub(crate) fn nothing(summary: &str) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// Creates the result of a step with these changes, and the number left when it was stopped.
    pub(crate) fn of(step: ChangeStep, changes: Vec<Change>, left: usize) -> Self {
        let summary = summary(step, &changes);
        let made = changes.iter().find_map(|change| change.created_path(step)).map(Path::to_path_buf);
        Self { summary, changes, made, ..Self::default() }.stopped(left)
    }

    /// Sets the number of changes left when the request was stopped.
    pub(crate) fn stopped(mut self, left: usize) -> Self {
        if left > 0 {
            self.summary += &format!("; interrupted, {} remaining", thousands(left));
        }
        Self { left, ..self }
    }

    /// Adds warnings.
    pub(crate) fn but(mut self, warnings: Vec<String>) -> Self {
        warnings.iter().for_each(|warning| self.summary += &format!("; warning: {warning}"));
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
                    let summary = format!("{}; then: {error:#}", self.summary);
                    return Err(PartialFailure { changes: self.changes, summary }.into());
                }
            };
            self.summary = format!("{}; {}", self.summary, then.summary);
            self.made = then.made.or(self.made);
            self.changes.extend(then.changes);
        }
        Ok(self)
    }
}

/// Summarizes the changes of a step: as a whole if they are of one kind, otherwise one by one.
pub(crate) fn summary(step: ChangeStep, changes: &[Change]) -> String {
    // Old files are converted before they are rewritten.
    let is_new_version = |change: &&Change| matches!(change, Change::Rewrite(_) | Change::Move(_));
    let new_versions: Vec<&Change> = changes.iter().filter(is_new_version).collect();
    let has_new_versions = !new_versions.is_empty();
    let counted = if has_new_versions { new_versions } else { changes.iter().collect() };
    let mut kinds: Vec<(&Change, usize)> = Vec::new();
    for change in counted {
        match kinds.iter_mut().find(|(first, _)| is_alike(first, change)) {
            Some((_, count)) => *count += 1,
            None => kinds.push((change, 1)),
        }
    }
    let summaries = || kinds.iter().map(|(first, count)| first.summary(step, *count)).collect::<Option<Vec<_>>>();
    let alike = if kinds.len() == 1 || has_new_versions { summaries().map(|all| sentence(&all)) } else { None };
    let all = || changes.iter().map(Change::describe).collect::<Vec<_>>().join("; ");
    alike.unwrap_or_else(|| match step {
        ChangeStep::Make => all(),
        ChangeStep::Undo => format!("undone: {}", all()),
        ChangeStep::Redo => format!("redone: {}", all()),
    })
}

/// Joins summaries. All but the first start with a lowercase letter.
fn sentence(summaries: &[String]) -> String {
    let lower = |(at, text): (usize, &String)| match text.split_at_checked(1).filter(|_| at > 0) {
        Some((first, rest)) => first.to_lowercase() + rest,
        None => text.clone(),
    };
    summaries.iter().enumerate().map(lower).collect::<Vec<_>>().join("; ")
}

/// Returns `true` if one summary describes both changes.
fn is_alike(one: &Change, other: &Change) -> bool {
    match (one, other) {
        (Change::Rewrite(one), Change::Rewrite(other)) => one.purpose == other.purpose,
        _ => discriminant(one) == discriminant(other),
    }
}

/// Lists the reasons why some of several changes were not made.
pub(crate) fn reasons<'a>(failed: impl ExactSizeIterator<Item = &'a str>) -> String {
    /// The maximum number of listed reasons.
    const MAX_REASONS: usize = 3;
    let more = failed.len().saturating_sub(MAX_REASONS);
    let mut reasons: Vec<String> = failed.take(MAX_REASONS).map(String::from).collect();
    reasons.extend((more > 0).then(|| format!("and {} more", thousands(more))));
    reasons.join("; ")
}

/// Returns `true` if a failure affects every other change too.
pub(crate) fn concerns_all(error: &Error) -> bool {
    error.is::<JournalError>() || error.is::<TrashRefused>() || error.is::<CommandTimeout>()
}

/// Lists paths for an error.
fn joined(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A change that was not made, but can be tried again after a decision of the user. All other failures are plain error
/// messages.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The file has an old version. pi would drop a label or leaf move when it rewrites the file, and common entries of
    /// a fork would be unknown. `migrate` first converts the file to version 3, as pi does when it opens it; the
    /// original goes to the trash.
    #[error("{} has version {version} and must be converted to version 3 first, as pi does on opening", .path.display())]
    Old {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The file holds another session than the user saw; nothing was written.
    #[error("{} was replaced by another session; nothing was written", .path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Sessions are archived and must be brought back first: see
    /// [`Request::after_unarchive`](crate::changes::Request::after_unarchive). Nothing was written.
    #[error("{} is archived; bring it back first with `pitree archive --restore`", joined(.paths))]
    Archived {
        /// The files in the archive.
        paths: Vec<PathBuf>,
    },
    /// A session is on another machine, which pitree only mirrors. Nothing was written.
    #[error("this change cannot be made from here, because the session is on another machine: {}", machine_paths::shown(.path))]
    Mirrored {
        /// A file in a mirror.
        path: PathBuf,
    },
    /// Files have changed since they were seen; nothing was removed.
    #[error("sessions changed since they were read; none moved: {}", joined(.paths))]
    Changed {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// The trash refused a file.
    #[error("cannot move to the trash: {reason}")]
    NoTrash {
        /// The reason.
        reason: String,
        /// The remaining files; those before them are in the trash.
        left: Vec<FileSnapshot>,
    },
    /// Another program has changed or removed the target of the undo. The next undo skips it.
    #[error("skipped: {reason}")]
    TargetChanged {
        /// The reason.
        reason: String,
    },
    /// The change to undo was made by another run of pitree, so the user may not remember it.
    #[error("this change was made by an earlier run or another pitree: {}", .0.summary)]
    Earlier(EarlierChange),
}

/// A request that failed after some of its changes were made; those are kept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{summary}")]
pub struct PartialFailure {
    /// The changes made, in order.
    pub changes: Vec<Change>,
    /// The number of changes made, and the reason for the failure of the next one.
    pub(crate) summary: String,
}

/// Returns `true` if lasting marks may have changed.
pub fn has_marks(result: &Result<ChangeResult>) -> bool {
    let is_mark = |change: &Change| matches!(change, Change::Mark(_));
    changes_of(result).iter().any(is_mark)
}

/// Returns the changes made, even if the request failed later.
pub(crate) fn changes_of(result: &Result<ChangeResult>) -> &[Change] {
    match result {
        Ok(done) => &done.changes,
        Err(error) => error.downcast_ref().map_or(&[], |partly: &PartialFailure| &partly.changes),
    }
}

/// Returns the files that a request may have changed, in order and without duplicates: those that it names, and those
/// of the changes made, even if it failed later.
pub fn touched(request: &Request, result: &Result<ChangeResult>) -> Vec<PathBuf> {
    let changes = changes_of(result);
    let changes = || changes.iter().filter(|change| !matches!(change, Change::Mark(_)));
    let other = changes().filter_map(Change::other_path);
    let of_changes = changes().map(Change::path).chain(other).map(Path::to_path_buf);
    let mut paths: Vec<PathBuf> = request.paths().into_iter().chain(of_changes).collect();
    paths.retain(|path| !path.as_os_str().is_empty()); // unknown changes have no path
    paths.sort();
    paths.dedup();
    paths
}
