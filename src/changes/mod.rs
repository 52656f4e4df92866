//! Everything that changes sessions, whoever asks for it: the browser and the commands hand in a [`Request`]. A change
//! is written into the [`journal`], made, and noted as made, one after the other and one pitree at a time. How a line
//! gets into a file is said in [`append`](crate::disk::append), what the trash is in [`trash`](crate::disk::trash).
//!
//! A new kind of change is a row in `change` (what the journal keeps of it), a file in `kinds` with a row in the table
//! there, a [`Request`] that makes it, and tests.

pub mod change;
mod engine;
pub mod history;
pub mod journal;
mod kinds;
mod request;
mod result;
mod step;
mod transaction;
mod undo;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;

pub use crate::changes::change::Change;
use crate::changes::engine::{ChangeStore, Engine};
use crate::changes::journal::{JournalRecord, JournalRecords};
use crate::changes::kinds::preconditions::must_be_same;
use crate::changes::kinds::{delete, fork, label, leaf, migrate, name, trash};
pub use crate::changes::request::{
    ChangeEvent, ChangeObserver, ChangeProgress, FileSnapshot, Request, SessionIdentity, to_the_end,
};
pub use crate::changes::result::{ChangeResult, EarlierChange, PartialFailure, Refusal, touched};
use crate::disk::scan::Unreadable;
use crate::disk::trash::Trash;

/// Makes changes, and takes them back.
#[derive(Clone, Debug)]
pub struct Changes {
    store: ChangeStore,
    /// The groups of the changes that were made by way of this one, or of one that it was cloned from.
    own: Arc<Mutex<HashSet<u64>>>,
}

impl Changes {
    /// Changes that are written down in `state_dir`, with `trash` for what goes.
    pub fn new(state_dir: PathBuf, trash: Trash) -> Self {
        Self { store: ChangeStore { state_dir, trash, dry_run: false }, own: Arc::default() }
    }

    /// The same, but nothing is written anywhere: [`ChangeResult`] says what would be.
    #[must_use]
    pub fn dry_run(self) -> Self {
        Self { store: ChangeStore { dry_run: true, ..self.store }, ..self }
    }

    /// Makes a change; `now` is the time in milliseconds since 1970. `watch` is told between two of several changes how
    /// far it is, and may stop it there; and who is waited for, if somebody is.
    ///
    /// # Errors
    /// The change was not made, or of several files not for all: the error says why and what is so now. Where it holds a
    /// [`Refusal`], something can be asked first; where it holds [`PartialFailure`], some of several were made.
    pub fn make(&self, request: &Request, now: i64, watch: ChangeObserver<'_>) -> Result<ChangeResult> {
        let mut work = Engine::begin(&self.store, now, watch)?;
        let done = self.carry_out(&mut work, request);
        self.own().extend(work.groups());
        let warnings = work.finish();
        done.map(|done| done.but(warnings))
    }

    /// Says of files that hold entries without a header which of them belong to a session that is in the trash.
    pub fn explain(&self, unreadable: &mut [Unreadable]) {
        let mut headless = unreadable.iter_mut().filter(|one| one.is_headless).peekable();
        if headless.peek().is_none() {
            return;
        }
        // Without a journal nothing is known of the trash.
        let history = self.history().unwrap_or_default();
        for one in headless {
            let is_of = |record: &&JournalRecord| record.is_away() && record.change.path() == one.path;
            if let Some(record) = history.iter().rev().find(is_of) {
                one.reason = "entries of a session that is in the trash, written by a pi that went on".into();
                // Where its place is not known, the one can't come back before the others are gone.
                if record.place().is_some() {
                    one.reason += &format!("; `pitree restore {}` brings it back and joins both", record.number);
                }
            }
        }
    }

    /// All changes, the oldest first. Reads only: the last one may still stand as begun.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn history(&self) -> Result<Vec<JournalRecord>> {
        JournalRecords::of(&self.store.state_dir).map(JournalRecords::into_list)
    }

    fn own(&self) -> MutexGuard<'_, HashSet<u64>> {
        // It only grows, so that a panic leaves it whole.
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn carry_out(&self, work: &mut Engine<'_>, request: &Request) -> Result<ChangeResult> {
        if let Request::UndoLast { sure } = request {
            let is_own = |group| *sure == Some(group) || self.own().contains(&group);
            undo::ask_first(work, is_own)?;
        }
        carry_out(work, request)
    }
}

fn carry_out(work: &mut Engine<'_>, request: &Request) -> Result<ChangeResult> {
    match request {
        Request::IfSame { session, then } => {
            then.paths().into_iter().try_for_each(|path| must_be_same(path, session))?;
            carry_out(work, then)
        }
        Request::Rename { path, name } => name::make(work, path, name),
        Request::Label { path, target, label, migrate } => {
            migrate::before(work, (path, *migrate), |work| label::make(work, path, target, label))
        }
        Request::MoveLeaf { path, to, migrate } => {
            migrate::before(work, (path, *migrate), |work| leaf::make(work, path, to.as_ref()))
        }
        Request::Fork { path, at: Some(at), migrate } => {
            migrate::before(work, (path, *migrate), |work| fork::make(work, path, Some(at)))
        }
        Request::Fork { path, at: None, .. } => fork::make(work, path, None),
        Request::Trash { files } => trash::make(work, files),
        Request::Delete { files } => delete::make(work, files),
        Request::Undo { number: None } | Request::UndoLast { .. } => undo::undo_last(work),
        Request::UndoGroup { group } => undo::undo_group(work, *group),
        Request::Undo { number: Some(number) } => undo::undo(work, *number),
        Request::Redo => undo::redo(work),
    }
}
