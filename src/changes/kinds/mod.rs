//! The kinds of changes: undoing and redoing a change, detecting an interrupted one, removing its leftovers, and
//! describing it. Each file makes changes of some kinds.

pub(crate) mod archive;
pub(crate) mod context_edit;
pub(crate) mod line;
pub(crate) mod marks;
pub(crate) mod moving;
pub(crate) mod new_session;
pub(crate) mod rewrite;
pub(crate) mod trash;

use std::path::{Path, PathBuf};

use anyhow::{Error, Result, bail};
use serde_json::Value;

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{self, count, thousands};
use crate::base::path_context::PathContext;
use crate::base::paths::ExactPath;
use crate::changes::change::{
    ArchiveChange, Change, ChangeState, ChangeStep, ContextEditChange, LineChange, MarkChange, Migration, MoveChange,
    NewFile, Rewrite, TrashChange, UnknownChange,
};
use crate::changes::engine::Engine;
use crate::changes::journal::{JournalRecord, JournalRecords};
use crate::changes::request::{ChangeResult, PartialFailure, Refusal, concerns_all, reasons, summary};
use crate::disk::files::is_there;
use crate::disk::marks::CurrentMarks;
use crate::disk::trash::TrashBatch;
use crate::disk::vacated::{Successor, VacatedFile};
use crate::session::entry::kind::EntryKind;
use crate::session::tree::Tree;
use crate::session::tree::node::Node;

impl Change {
    /// Returns the changed or created file; empty if only a newer pitree can interpret the change.
    pub fn path(&self) -> &Path {
        match self {
            Self::Name(LineChange { path, .. })
            | Self::Label(LineChange { path, .. })
            | Self::Leaf(LineChange { path, .. })
            | Self::ContextEdit(ContextEditChange { path, .. })
            | Self::Fork(NewFile { path, .. })
            | Self::Import(NewFile { path, .. })
            | Self::Trash(TrashChange { path, .. })
            | Self::Archive(ArchiveChange { path, .. })
            | Self::Unarchive(ArchiveChange { path, .. })
            | Self::Migrate(Migration { path, .. })
            | Self::Rewrite(Rewrite { path, .. })
            | Self::Move(MoveChange { path, .. })
            | Self::Mark(MarkChange { path, .. }) => path,
            Self::Unknown(change) => Path::new(change.text("path")),
        }
    }

    /// Returns the data of a move to or from the archive.
    pub(crate) fn archive(&self) -> Option<&ArchiveChange> {
        match self {
            Self::Archive(change) | Self::Unarchive(change) => Some(change),
            _ => None,
        }
    }

    /// Returns the other path of a session that changes its path.
    pub(crate) fn other_path(&self) -> Option<&Path> {
        match self {
            Self::Move(change) => Some(&change.to),
            _ => self.archive().map(|change| &*change.archived),
        }
    }

    /// Describes the change in a few words on one line, without the path of the session; can contain text from files.
    pub fn describe(&self) -> String {
        match self {
            Self::Name(LineChange { before, after: Some(name), .. }) => {
                format!("rename to {}{}", quoted(name), was(before.as_deref()))
            }
            Self::Name(LineChange { before, after: None, .. }) => format!("clear name{}", was(before.as_deref())),
            Self::Label(LineChange { target, before, after: Some(label), .. }) => {
                let target = target.as_deref().unwrap_or_default();
                format!("set label {} on {target}{}", quoted(label), was(before.as_deref()))
            }
            Self::Label(LineChange { target, before, after: None, .. }) => {
                let target = target.as_deref().unwrap_or_default();
                format!("clear label on {target}{}", was(before.as_deref()))
            }
            Self::Leaf(LineChange { after: Some(to), .. }) => format!("move leaf to {to}"),
            Self::Leaf(LineChange { after: None, .. }) => "move leaf before the first entry".into(),
            Self::ContextEdit(change) => {
                let edited = count(change.edits.len(), "message", "messages");
                format!("edit {edited} of the context (appended {})", change.edits.join(", "))
            }
            Self::Fork(_) => "create fork".into(),
            Self::Import(_) => "import session".into(),
            Self::Trash(TrashChange { link: true, .. }) => "move link to trash".into(),
            Self::Trash(_) => "move to trash".into(),
            Self::Archive(_) => "move to archive".into(),
            Self::Unarchive(_) => "bring back from archive".into(),
            Self::Migrate(Migration { version, .. }) => {
                format!("convert from version {version} to version 3; original moved to trash")
            }
            Self::Rewrite(change) => format!("{}; original moved to trash", change.purpose.describe()),
            Self::Move(MoveChange { cwd, .. }) => format!("move to {}; original moved to trash", quoted(cwd)),
            Self::Mark(change) => change.describe(),
            Self::Unknown(change) => format!("made by a newer pitree ({:?})", change.text("kind")),
        }
    }

    /// Returns the ids of the appended lines.
    pub fn entries(&self) -> &[String] {
        match self {
            Self::Name(change) | Self::Label(change) | Self::Leaf(change) => std::slice::from_ref(&change.entry),
            Self::ContextEdit(change) => &change.edits,
            Self::Fork(_) | Self::Import(_) | Self::Trash(_) | Self::Migrate(_) | Self::Rewrite(_) => &[],
            Self::Archive(_) | Self::Unarchive(_) | Self::Move(_) | Self::Mark(_) | Self::Unknown(_) => &[],
        }
    }

    /// Returns a message for a step with `count` changes of this kind, instead of their descriptions.
    pub(crate) fn summary(&self, step: ChangeStep, count: usize) -> Option<String> {
        let sessions = numbers::count(count, "session", "sessions");
        let marks = numbers::count(count, "mark", "marks");
        let is_made = step == ChangeStep::Make;
        let (made, undone) = match self {
            Self::Name(_) | Self::Label(_) | Self::Mark(_) if count == 1 => return None,
            Self::Fork(_) | Self::Import(_) if count > 1 => return None,
            Self::Name(LineChange { after: None, .. }) if is_made => {
                (format!("Cleared the names of {sessions}"), String::new())
            }
            Self::Label(LineChange { after: None, .. }) if is_made => {
                (format!("Cleared the labels of {sessions}"), String::new())
            }
            Self::Name(_) => (format!("Renamed {sessions}"), format!("Restored the names of {sessions}")),
            Self::Label(_) => (format!("Labeled {sessions}"), format!("Restored the labels of {sessions}")),
            Self::ContextEdit(change) => {
                let edited = numbers::count(change.edits.len(), "message", "messages");
                let undone = format!("Restored {edited} of the context: appended as many context edits");
                (format!("Edited {edited} of the context"), undone)
            }
            Self::Fork(_) => ("Forked the session here".into(), "Moved the fork to the trash".into()),
            Self::Import(_) => ("Imported the session".into(), "Moved the imported session to the trash".into()),
            Self::Trash(TrashChange { link: true, .. }) if is_made && count == 1 => {
                ("Moved the link to the trash; its target is unchanged".into(), String::new())
            }
            Self::Trash(_) => (format!("Moved {sessions} to the trash"), format!("Restored {sessions}")),
            Self::Archive(_) | Self::Unarchive(_) if self.archives(step) => {
                (format!("Moved {sessions} to the archive"), format!("Moved {sessions} to the archive"))
            }
            Self::Archive(_) | Self::Unarchive(_) => {
                let back = format!("Brought {sessions} back from the archive");
                (back.clone(), back)
            }
            Self::Move(_) => (format!("Moved {sessions}"), format!("Moved {sessions} back")),
            Self::Mark(_) => (format!("Changed {marks}"), format!("Restored {marks}")),
            Self::Rewrite(change) => return Some(change.purpose.summary(step, &sessions)),
            Self::Leaf(_) | Self::Migrate(_) | Self::Unknown(_) => return None,
        };
        Some(match (step, self) {
            (ChangeStep::Undo, _) => undone,
            (ChangeStep::Redo, Self::Fork(_)) => "Restored the fork".into(),
            (ChangeStep::Redo, Self::Import(_)) => "Restored the imported session".into(),
            (ChangeStep::Make, _) | (ChangeStep::Redo, Self::Unarchive(_)) => made,
            (ChangeStep::Redo, _) => made + " again",
        })
    }

    /// Returns the session file that exists after the step but not before it.
    pub(crate) fn created_path(&self, step: ChangeStep) -> Option<&Path> {
        let brings = match self {
            Self::Fork(_) | Self::Import(_) => step != ChangeStep::Undo,
            Self::Trash(_) => step == ChangeStep::Undo,
            Self::Archive(change) | Self::Unarchive(change) => {
                return Some(if self.archives(step) { &change.archived } else { &change.path });
            }
            Self::Move(change) => return Some(if step == ChangeStep::Undo { &change.path } else { &change.to }),
            _ => false,
        };
        brings.then(|| self.path())
    }

    /// Returns `true` if the step moves a session to the archive.
    pub(crate) fn archives(&self, step: ChangeStep) -> bool {
        match self {
            Self::Archive(_) => step != ChangeStep::Undo,
            Self::Unarchive(_) => step == ChangeStep::Undo,
            _ => false,
        }
    }

    /// Returns `true` if undo and redo move a whole file to or from the trash.
    pub(crate) fn moves(&self) -> bool {
        matches!(self, Self::Fork(_) | Self::Import(_) | Self::Trash(_))
    }
}

/// Quotes a name or label, and truncates a very long one.
fn quoted(text: &str) -> String {
    /// The limit in UTF-16 code units.
    const MAX_UNITS: usize = 200;
    let beginning = utf16_prefix(text, MAX_UNITS);
    format!("{beginning:?}{}", if beginning.len() < text.len() { "..." } else { "" })
}

/// Describes the previous value of a change.
fn was(before: Option<&str>) -> String {
    before.map_or(String::new(), |before| format!(" (was {})", quoted(before)))
}

impl UnknownChange {
    fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

impl JournalRecord {
    /// Undoes or redoes the change, unless another program has changed its target.
    ///
    /// # Errors
    /// The step failed. With a [`Refusal`](crate::changes::Refusal), another program has changed the target.
    pub(crate) fn undo_or_redo(&self, engine: &mut Engine<'_>, step: ChangeStep) -> Result<()> {
        match &self.change {
            Change::Name(_) | Change::Label(_) | Change::Leaf(_) | Change::ContextEdit(_) => {
                line::undo_or_redo(engine, self, step)
            }
            Change::Fork(_) | Change::Import(_) | Change::Trash(_) => {
                trash::undo_or_redo(engine, self, step, self.bytes())
            }
            Change::Archive(_) | Change::Unarchive(_) => archive::undo_or_redo(engine, self, step),
            Change::Migrate(_) | Change::Rewrite(_) => {
                self.change.exchange().map_or(Ok(()), |exchange| exchange.undo_or_redo(engine, self, step))
            }
            Change::Move(change) => change.undo_or_redo(engine, self, step),
            Change::Mark(_) => marks::undo_or_redo(engine, self, step),
            Change::Unknown(_) => bail!("change {} was {}", self.number, self.change.describe()),
        }
    }

    /// Returns the change as its last step made it.
    pub(crate) fn change_of_last_step(&self) -> Change {
        match &self.change {
            Change::ContextEdit(change) => Change::ContextEdit(change.of_last_step(&self.entries)),
            change => change.clone(),
        }
    }

    /// Returns `true` if an interrupted step was taken, according to the file, or `None` if it is inaccessible.
    /// `marks` are the current marks.
    pub(crate) fn was_applied(&self, step: ChangeStep, marks: &CurrentMarks<'_>) -> Option<bool> {
        match &self.change {
            Change::Name(_) | Change::Label(_) | Change::Leaf(_) | Change::ContextEdit(_) => line::was_applied(self),
            Change::Fork(_) | Change::Import(_) | Change::Trash(_) => trash::was_applied(self, step),
            Change::Archive(change) | Change::Unarchive(change) => change.was_applied(self.change.archives(step)),
            Change::Migrate(change) => change.was_applied(step),
            Change::Rewrite(change) => change.was_applied(step),
            Change::Move(change) => change.was_applied(step),
            Change::Mark(change) => change.was_applied(step, marks),
            Change::Unknown(_) => None, // never called: only known changes are resolved
        }
    }

    /// Removes leftovers of an interrupted step next to the file.
    ///
    /// # Errors
    /// Lines of a running pi cannot be read or written.
    pub(crate) fn clear(&self, trash: &mut TrashBatch<'_>) -> Result<()> {
        match &self.change {
            Change::Fork(_) | Change::Import(_) | Change::Trash(_) => trash::clear(self, trash, None),
            Change::Archive(change) | Change::Unarchive(change) => change.clear(trash),
            Change::Migrate(_) | Change::Rewrite(_) => {
                self.change.exchange().map_or(Ok(()), |exchange| exchange.clear(self, trash))
            }
            Change::Move(change) => change.clear(self, trash),
            Change::Name(_) | Change::Label(_) | Change::Leaf(_) | Change::ContextEdit(_) => Ok(()),
            Change::Mark(_) | Change::Unknown(_) => Ok(()),
        }
    }

    /// Returns the files that the last step vacated, with the successors of their late lines.
    pub(crate) fn vacated(&self) -> Vec<VacatedFile> {
        let is_undone = matches!(self.state, ChangeState::Undone | ChangeState::Dropped);
        let step = if is_undone { ChangeStep::Undo } else { ChangeStep::Redo };
        let vacated = |path: &Path| {
            let (own, bytes) = (self.change.path(), self.bytes());
            let late = match &self.change {
                Change::Migrate(_) | Change::Rewrite(_) => {
                    self.change.exchange().map(|exchange| exchange.late(self, step))
                }
                Change::Move(change) => Some(change.late(path, is_undone)),
                Change::Archive(change) | Change::Unarchive(change) if !self.change.archives(step) => {
                    Some((0, Successor::new(own, change.bytes)))
                }
                Change::Fork(_) | Change::Import(_) | Change::Trash(_) if self.change.created_path(step).is_some() => {
                    Some((0, Successor::new(own, bytes)))
                }
                Change::Fork(_) | Change::Import(_) | Change::Trash(_) => {
                    self.trash_path().map(|item| (bytes, Successor::new(item, bytes)))
                }
                Change::Archive(change) | Change::Unarchive(change) => {
                    return VacatedFile { path: path.into(), from: change.packed_bytes(), to: None };
                }
                Change::Name(_) | Change::Label(_) | Change::Leaf(_) | Change::ContextEdit(_) => None,
                Change::Mark(_) | Change::Unknown(_) => None,
            };
            let (from, to) = late.unzip();
            VacatedFile { path: path.into(), from: from.unwrap_or_default(), to }
        };
        self.vacated.iter().map(|ExactPath(path)| vacated(path)).collect()
    }

    /// Returns the length in bytes of a file that was created or moved to the trash.
    fn bytes(&self) -> u64 {
        match &self.change {
            Change::Fork(NewFile { bytes, .. })
            | Change::Import(NewFile { bytes, .. })
            | Change::Trash(TrashChange { bytes, .. }) => *bytes,
            _ => 0,
        }
    }

    /// Returns the state after its last step was reverted.
    pub(crate) fn reverted(&self) -> ChangeState {
        match self.state {
            ChangeState::Undone => ChangeState::Done,
            _ if self.undone_at == 0 => ChangeState::Dropped,
            _ => ChangeState::Undone,
        }
    }
}

/// Makes changes of several files with `one`, which gets the index of a file. A failure of one does not stop the others,
/// unless it affects them too.
///
/// # Errors
/// A [`PartialFailure`] with the failed files.
fn each_file<C: IntoIterator<Item = Change>>(
    engine: &mut Engine<'_>,
    paths: &[&Path],
    mut one: impl FnMut(&mut Engine<'_>, usize) -> Result<C>,
) -> Result<ChangeResult> {
    let (mut changes, mut failed, mut left) = (Vec::new(), Vec::new(), 0);
    for (at, path) in paths.iter().enumerate() {
        if engine.is_stopped(at, paths.len()) {
            left = paths.len() - at;
            break;
        }
        match one(engine, at).map_err(|error| (concerns_all(&error) || engine.is_canceled, error)) {
            Ok(made) => changes.extend(made),
            Err((is_last, error)) => {
                failed.push(format!("{}: {error:#}", path.display()));
                if is_last {
                    left = paths.len() - at - 1;
                    break;
                }
            }
        }
    }
    result_of(changes, &failed, left)
}

/// The result of changes of whole files in batches.
struct BatchResult {
    made: Vec<Change>,
    /// The failures, with the paths of the files unless the errors have them.
    failed: Vec<(Option<PathBuf>, Error)>,
    /// The number of changes left when a failure or the user stopped the others.
    left: usize,
}

/// Makes changes of whole files in batches with `one`, which takes a recorded step. With `to_trash`, their files move to the
/// trash. A failure stops the others if `is_last` returns `true`.
fn in_batches(
    engine: &mut Engine<'_>,
    changes: &[Change],
    to_trash: bool,
    is_last: impl Fn(&Error) -> bool,
    one: impl Fn(&mut Engine<'_>, u64, &Change) -> Result<()>,
) -> BatchResult {
    let (mut made, mut failed, mut at, mut is_stopped) = (Vec::new(), Vec::new(), 0, false);
    while at < changes.len() && !is_stopped {
        let numbers = engine.record_batch(&changes[at..], to_trash).unwrap_or_else(|error| {
            is_stopped = true;
            failed.push((None, error));
            Vec::new()
        });
        let mut batch = Vec::new();
        for number in numbers {
            // The rest of a batch is withdrawn.
            is_stopped = is_stopped || engine.is_stopped(at, changes.len());
            if is_stopped {
                failed.extend(engine.withdraw(number, ChangeStep::Make).err().map(|error| (None, error)));
                continue;
            }
            let change = &changes[at];
            at += 1;
            match one(engine, number, change) {
                Ok(()) => batch.push((number, change.clone())),
                Err(error) => {
                    is_stopped = is_last(&error);
                    failed.push((Some(change.path().into()), error));
                }
            }
        }
        let back = engine.append_late_lines();
        batch.retain(|(number, _)| back.iter().all(|(returned, _)| returned != number));
        made.extend(batch.into_iter().map(|(_, change)| change));
        failed.extend(back.into_iter().map(|(_, reason)| (None, Error::msg(reason))));
    }
    BatchResult { made, failed, left: changes.len() - at }
}

/// Returns the result of changes of several files: those that were made, the failures, and the number of files left.
///
/// # Errors
/// A [`PartialFailure`] if a file failed.
fn result_of(changes: Vec<Change>, failed: &[String], left: usize) -> Result<ChangeResult> {
    if failed.is_empty() {
        let result = ChangeResult::of(ChangeStep::Make, changes, left);
        return Ok(if result.changes.is_empty() { ChangeResult::nothing("nothing to change") } else { result });
    }
    let what = if changes.is_empty() { String::new() } else { summary(ChangeStep::Make, &changes) + "; " };
    let stopped = if left > 0 { format!(", {} remaining", thousands(left)) } else { String::new() };
    let count = count(failed.len(), "session", "sessions");
    let summary = format!("{what}failed for {count}{stopped}: {}", reasons(failed.iter().map(String::as_str)));
    Err(PartialFailure { changes, summary }.into())
}

/// Checks that a file exists.
///
/// # Errors
/// [`Refusal::TargetChanged`], or the file is inaccessible.
fn must_exist(path: &Path) -> Result<()> {
    let is_there = is_there(path).path_context("cannot access", path)?;
    if is_there { Ok(()) } else { target_changed(format!("{} is missing", path.display())) }
}

/// Returns an error, because another program has changed the target.
fn target_changed<T>(reason: String) -> Result<T> {
    Err(Refusal::TargetChanged { reason }.into())
}

/// Returns `true` if a tree has entries after `offset` that pitree did not write. Model and thinking level do not
/// count, because pi writes them whenever it opens a session (0.87.1). A name without an ID is that of pitree, because pi
/// converts a session of version 1 before it names it.
fn is_used_since(history: &JournalRecords, tree: &Tree, offset: u64) -> bool {
    let is_ours = |node: &Node| match &node.id {
        Some(id) => history.is_ours(id),
        None => node.kind == EntryKind::SessionInfo,
    };
    let counts =
        |node: &Node| !matches!(node.kind, EntryKind::ModelChange | EntryKind::ThinkingLevel) && !is_ours(node);
    tree.nodes.iter().any(|node| node.offset >= offset && counts(node))
}
