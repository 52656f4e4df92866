//! The journal during one request: its changes form a group, and a dry run writes nothing.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use crate::changes::change::Change;
use crate::changes::journal::{ChangeState, ChangeStep, Journal, JournalRecord, JournalRecords, UndoLink};
use crate::disk::lock::LockObserver;

/// The journal during one request.
pub(crate) struct Transaction {
    /// The open journal; `None` in a dry run.
    journal: Option<Journal>,
    /// The content of the journal at the start of a dry run.
    past: JournalRecords,
    /// The current time in milliseconds since 1970.
    now: i64,
    /// The first change of the request.
    group: Option<u64>,
    /// The groups of changes that were made or redone.
    groups: BTreeSet<u64>,
}

/// The journal cannot be written, so no further change can be made.
#[derive(Debug)]
pub(crate) struct JournalError(anyhow::Error);

impl std::fmt::Display for JournalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for JournalError {}

impl Transaction {
    /// Opens and locks the journal of a directory. `wait` is notified about a lock.
    ///
    /// # Errors
    /// The errors of [`Journal::open`].
    pub(crate) fn open(state_dir: &Path, now: i64, wait: LockObserver<'_>) -> Result<Self> {
        let journal = Some(Journal::open(state_dir, wait)?);
        Ok(Self { journal, past: JournalRecords::default(), now, group: None, groups: BTreeSet::new() })
    }

    /// Reads the journal of a directory for a dry run.
    ///
    /// # Errors
    /// The journal cannot be read, or has a newer version.
    pub(crate) fn closed(state_dir: &Path) -> Result<Self> {
        let past = JournalRecords::of(state_dir)?;
        past.check_version(state_dir)?;
        Ok(Self { journal: None, past, now: 0, group: None, groups: BTreeSet::new() })
    }

    /// Returns `true` in a dry run.
    pub(crate) fn is_closed(&self) -> bool {
        self.journal.is_none()
    }

    /// Returns the changes so far.
    pub(crate) fn past(&self) -> &JournalRecords {
        self.journal.as_ref().map_or(&self.past, Journal::records)
    }

    /// Iterates over the groups of changes that were made or redone.
    pub(crate) fn groups(&self) -> impl Iterator<Item = u64> {
        self.groups.iter().copied()
    }

    /// Records a new change before it is made. Returns its number, or `None` in a dry run.
    ///
    /// # Errors
    /// [`JournalError`]; the change must not be made.
    pub(crate) fn note(&mut self, change: &Change, by: UndoLink<'_>) -> Result<Option<u64>> {
        let Some(journal) = &mut self.journal else { return Ok(None) };
        let number = journal.begin(self.now, self.group, change.clone(), by).map_err(JournalError)?;
        self.groups.insert(*self.group.get_or_insert(number));
        Ok(Some(number))
    }

    /// Records a new state of a change.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(crate) fn set(&mut self, number: u64, state: ChangeState, by: UndoLink<'_>) -> Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        if state == ChangeState::Redoing {
            self.groups.extend(journal.records().find(number).map(|record| record.group));
        }
        Ok(journal.set(number, self.now, state, by).map_err(JournalError)?)
    }

    /// Syncs the journal.
    ///
    /// # Errors
    /// [`JournalError`]; the recorded steps must not be taken.
    pub(crate) fn sync(&self) -> Result<()> {
        Ok(self.journal.as_ref().map_or(Ok(()), Journal::sync).map_err(JournalError)?)
    }

    /// Releases the lock while `work` runs, and reads new lines afterward.
    pub(crate) fn released<T>(
        &mut self,
        wait: LockObserver<'_>,
        work: impl FnOnce(LockObserver<'_>) -> T,
    ) -> (T, Result<()>) {
        match &mut self.journal {
            None => (work(wait), Ok(())),
            Some(journal) => {
                let (done, again) = journal.released(wait, work);
                (done, again.map_err(JournalError).context("cannot record the change"))
            }
        }
    }

    /// Records the results of interrupted changes: see [`Journal::mend`].
    ///
    /// # Errors
    /// [`JournalError`].
    pub(crate) fn mend(&mut self, happened: impl Fn(&JournalRecord, ChangeStep) -> Option<bool>) -> Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        Ok(journal.mend(self.now, happened).map_err(JournalError)?)
    }
}
