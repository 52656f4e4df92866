//! All changes of sessions. The browser and the commands submit a [`Request`]. Each change is recorded in the
//! [`journal`], made, and its result is recorded, one change and one pitree at a time. [`append`](crate::disk::append)
//! adds lines to files, and [`trash`](crate::disk::trash) moves files.
//!
//! To add a kind of change, add a variant in `change`: its data in the journal. Extend each `match` in `kinds`. Add a
//! [`Request`] that makes it, and tests.

pub mod change;
mod engine;
pub mod history;
pub mod journal;
mod kinds;
mod mending;
mod record;
pub mod repair;
mod request;
pub mod slim;
mod target;
mod undo;

use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use crate::base::{archive_paths, machine_paths};
pub(crate) use crate::changes::change::ChangeStep;
pub use crate::changes::change::{Change, ChangeOrigin};
use crate::changes::engine::Engine;
pub(crate) use crate::changes::engine::random;
use crate::changes::journal::{ChangeState, JournalRecord, JournalRecords};
use crate::changes::kinds::new_session::ForkEnd;
use crate::changes::kinds::rewrite::{self, after_migration};
use crate::changes::kinds::{archive, context_edit, line, marks, moving, new_session, trash};
pub use crate::changes::request::{
    ChangeEvent, ChangeObserver, ChangeProgress, ChangeResult, PartialFailure, Refusal, Request, SharedRewriter,
    has_marks, to_the_end, touched,
};
pub(crate) use crate::changes::request::{changes_of, summary};
pub use crate::changes::target::{
    EarlierChange, ExpectedSession, FileSnapshot, ImportRequest, MoveRequest, NewMark, SessionIdentity, SessionMove,
};
pub(crate) use crate::changes::target::{NamedSessions, edited_names, names_to_edit};
use crate::disk::scan::{self, Unreadable};
use crate::disk::trash::Trash;
use crate::disk::{self};
use crate::session::marks::Marks;

/// Makes and undoes changes.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The directory of the journal.
    state_dir: PathBuf,
    trash: Trash,
    /// The directory of archived sessions, if there is one.
    archive: Option<PathBuf>,
    /// The file of lasting marks.
    marks: PathBuf,
    /// `true` if forks get the tags of their parents.
    forks_inherit_tags: bool,
    /// `true` if sessions of other machines can change: for their mirrors, which follow them.
    changes_mirrors: bool,
    /// `true` to write nothing.
    dry_run: bool,
    /// The groups of changes made through this value or its clones.
    own: Arc<Mutex<HashSet<u64>>>,
}

impl Changes {
    /// Creates it with the directory of the journal, which also has the lasting marks, and the trash.
    pub fn new(state_dir: PathBuf, trash: Trash) -> Self {
        let marks = disk::marks::file(&state_dir);
        let (archive, own) = (None, Arc::default());
        let (forks_inherit_tags, changes_mirrors, dry_run) = (false, false, false);
        Self { state_dir, trash, archive, marks, forks_inherit_tags, changes_mirrors, dry_run, own }
    }

    /// Returns a copy that archives sessions in a directory, which is created with the first one.
    #[must_use]
    pub fn with_archive(self, archive: Option<PathBuf>) -> Self {
        Self { archive, ..self }
    }

    /// Returns the directory of archived sessions.
    pub(crate) fn archive(&self) -> Option<&Path> {
        self.archive.as_deref()
    }

    /// Sets the directory of the lasting marks.
    #[must_use]
    pub fn with_marks_in(self, data_dir: &Path) -> Self {
        Self { marks: disk::marks::file(data_dir), ..self }
    }

    /// Sets whether forks get the tags of their parents.
    #[must_use]
    pub fn forks_inherit_tags(self, forks_inherit_tags: bool) -> Self {
        Self { forks_inherit_tags, ..self }
    }

    /// Returns the lasting marks of all sessions.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn marks(&self) -> Result<Marks> {
        disk::marks::read(&self.marks)
    }

    /// Returns a copy that can change the mirrors of other machines.
    #[must_use]
    pub(crate) fn of_mirrors(self) -> Self {
        Self { changes_mirrors: true, ..self }
    }

    /// Returns a copy that writes nothing; its [`ChangeResult`] describes the effect.
    #[must_use]
    pub fn dry_run(self) -> Self {
        Self { dry_run: true, ..self }
    }

    /// Reports the lasting marks whenever they change, until `on_marks` returns `false`.
    pub(crate) fn follow_marks(&self, on_marks: impl FnMut(Marks) -> bool) {
        disk::marks::follow(&self.marks, on_marks);
    }

    /// Makes a change; `now` is in milliseconds since 1970. `watch` is notified of the progress between changes, and of
    /// locks. It can stop the request.
    ///
    /// # Errors
    /// The change was not made, or not for all files: the error explains why, and the current state. With a
    /// [`Refusal`], the user can decide and try again; with a [`PartialFailure`], some changes were made.
    pub fn make(&self, request: &Request, now: i64, watch: ChangeObserver<'_>) -> Result<ChangeResult> {
        let mut engine = Engine::begin(&self.state_dir, &self.trash, &self.marks, self.dry_run, now, watch)?;
        engine.forks_inherit_tags = self.forks_inherit_tags;
        let done = self.dispatch(&mut engine, request);
        let group = engine.journal.group;
        if !engine.is_dry {
            self.own.lock().extend(&engine.journal.groups);
        }
        let warnings = engine.finish();
        done.map(|done| ChangeResult { group, ..done.but(warnings) })
    }

    /// Explains which files with entries but without a header belong to a session in the trash.
    pub fn explain(&self, unreadable: &mut [Unreadable]) {
        let mut headless = unreadable.iter_mut().filter(|one| one.is_headless).peekable();
        if headless.peek().is_none() {
            return;
        }
        // Without a journal, the content of the trash is unknown.
        let history = self.history().unwrap_or_default();
        for one in headless {
            let is_moved = |record: &&JournalRecord| {
                matches!(record.change, Change::Archive(_) | Change::Move(_))
                    && record.can_be_undone()
                    && record.change.path() == one.path
                    && record.change.other_path().is_some_and(|other| other.symlink_metadata().is_ok())
            };
            if let Some(record) = history.iter().rev().find(is_moved) {
                let number = record.number;
                let place = if record.change.archive().is_some() { "the archive" } else { "another directory" };
                one.reason = format!(
                    "entries without a header, written by a running pi after its session moved to {place}; run `pitree undo {number}` to bring it back and merge them"
                );
                continue;
            }
            let is_back = |record: &&JournalRecord| {
                matches!(&record.change, Change::Move(change) if change.to == one.path)
                    && record.state == ChangeState::Undone
            };
            if let Some(record) = history.iter().rev().find(is_back) {
                one.reason = format!(
                    "entries without a header, written by a running pi after its session moved back to {}; run `pitree doctor --repair` to make them a session of their own",
                    record.change.path().display()
                );
                continue;
            }
            let is_of = |record: &&JournalRecord| record.is_away() && record.change.path() == one.path;
            if let Some(record) = history.iter().rev().find(is_of) {
                one.reason =
                    "entries without a header, written by a running pi after its session moved to the trash".into();
                // If the place is unknown, the session cannot be restored while the other file exists.
                if record.trash_path().is_some() {
                    one.reason += &format!("; run `pitree trash restore {}` to restore and merge them", record.number);
                }
            }
        }
    }

    /// Returns all changes, oldest first. Read-only, so the last change can be unfinished.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn history(&self) -> Result<Vec<JournalRecord>> {
        JournalRecords::of(&self.state_dir).map(|records| records.list)
    }

    /// Refuses changes of archived sessions, except those that work with them, and of mirrors, which only follow their
    /// machine.
    fn check(&self, request: &Request) -> Result<()> {
        let works_with_archived = match request {
            Request::Trash { .. } | Request::Delete { .. } | Request::Archive { .. } => true,
            _ => matches!(request, Request::Unarchive { .. } | Request::AfterUnarchive { .. }),
        };
        let mut paths = request.paths();
        if let Some(path) = paths.iter().find(|path| !self.changes_mirrors && machine_paths::is_mirrored(path)) {
            return Err(Refusal::Mirrored { path: path.clone() }.into());
        }
        paths.retain(|path| !works_with_archived && archive_paths::is_archived(path));
        if paths.is_empty() { Ok(()) } else { Err(Refusal::Archived { paths }.into()) }
    }

    fn dispatch(&self, engine: &mut Engine<'_>, request: &Request) -> Result<ChangeResult> {
        self.check(request)?;
        match request {
            Request::IfSame { session, then } => {
                for path in then.paths() {
                    // The change itself reports a missing or unreadable file.
                    if let Ok(Some(now)) = scan::reread(&path, None, "")
                        && !session.fits(&now)
                    {
                        return Err(Refusal::Replaced { path }.into());
                    }
                }
                self.dispatch(engine, then)
            }
            Request::Rename { path, name } => line::rename(engine, path, name),
            Request::RenameAll { sessions, keeps_names } => line::rename_all(engine, sessions, *keeps_names),
            Request::LabelAll { sessions, label } => line::label_all(engine, sessions, label),
            Request::Label { path, target, label, migrate } => {
                after_migration(engine, path, *migrate, |engine| line::label(engine, path, target, label))
            }
            Request::MoveLeaf { path, to, migrate } => {
                after_migration(engine, path, *migrate, |engine| line::move_leaf(engine, path, to.as_ref()))
            }
            Request::Fork { path, at: Some(at), migrate } => {
                after_migration(engine, path, *migrate, |engine| new_session::fork(engine, path, Some(at), None))
            }
            Request::Fork { path, at: None, .. } => new_session::fork(engine, path, None, None),
            Request::EditContext { path, at, edits, in_fork: true } => {
                new_session::fork(engine, path, Some(at), Some(ForkEnd::Edits(edits)))
            }
            Request::Pick { path, at, from, entries } => {
                new_session::fork(engine, path, Some(at), Some(ForkEnd::Copies(from, entries)))
            }
            Request::EditContext { path, at, edits, in_fork: false } => context_edit::edit(engine, path, at, edits),
            Request::Import(import) => new_session::import(engine, import),
            Request::Rewrite { purpose, sessions, by } => rewrite::make(engine, *purpose, sessions, &**by),
            Request::Move(moves) => moving::make(engine, moves),
            Request::Archive { files } => archive::pack_all(engine, self.archive(), files),
            Request::Unarchive { files } => archive::unpack_all(engine, files),
            Request::AfterUnarchive { files, then } => {
                archive::unpack_all(engine, files)?.and_then(engine.is_dry, || self.dispatch(engine, then))
            }
            Request::Mark { marks } => marks::make(engine, marks),
            Request::Trash { files } => trash::make(engine, files),
            Request::Delete { files } => trash::delete(engine, files),
            Request::EmptyTrash { numbers } => trash::empty(engine, numbers),
            Request::UndoLast { confirmed_group: sure } => {
                undo::ask_first(engine, |group| *sure == Some(group) || self.own.lock().contains(&group))?;
                undo::undo_last(engine)
            }
            Request::Undo { number: None } => undo::undo_last(engine),
            Request::UndoGroup { group } => undo::undo_group(engine, *group),
            Request::Undo { number: Some(number) } => undo::undo(engine, *number),
            Request::Redo => undo::redo(engine),
        }
    }
}
