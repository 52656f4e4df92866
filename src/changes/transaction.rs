//! The journal as one request uses it: its changes are a group, and in a dry run nothing is written.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use crate::changes::change::Change;
use crate::changes::journal::{ChangeState, ChangeStep, Journal, JournalRecord, JournalRecords, UndoLink};
use crate::disk::lock::LockObserver;

/// The journal during one request.
pub(crate) struct Transaction {
    /// `None` in a dry run.
    journal: Option<Journal>,
    /// What the journal held at the beginning of a dry run.
    past: JournalRecords,
    /// In milliseconds since 1970.
    now: i64,
    /// The first change that was made for the request.
    group: Option<u64>,
    /// The groups of which something was made, or made again.
    groups: BTreeSet<u64>,
}

/// The journal can't be written: nothing else can be changed then.
#[derive(Debug)]
pub(crate) struct JournalError(anyhow::Error);

impl std::fmt::Display for JournalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for JournalError {}

impl Transaction {
    /// The journal of a directory, held against others. `wait` is told who else holds it.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub(crate) fn open(state_dir: &Path, now: i64, wait: LockObserver<'_>) -> Result<Self> {
        let journal = Some(Journal::open(state_dir, wait)?);
        Ok(Self { journal, past: JournalRecords::default(), now, group: None, groups: BTreeSet::new() })
    }

    /// The journal of a directory, for a dry run.
    ///
    /// # Errors
    /// It can't be read, or is of a newer version.
    pub(crate) fn closed(state_dir: &Path) -> Result<Self> {
        let past = JournalRecords::of(state_dir)?;
        past.check_version(state_dir)?;
        Ok(Self { journal: None, past, now: 0, group: None, groups: BTreeSet::new() })
    }

    /// Whether nothing is written.
    pub(crate) fn is_closed(&self) -> bool {
        self.journal.is_none()
    }

    /// The changes up to now.
    pub(crate) fn past(&self) -> &JournalRecords {
        self.journal.as_ref().map_or(&self.past, Journal::records)
    }

    /// The groups of which something was made, or made again.
    pub(crate) fn groups(&self) -> impl Iterator<Item = u64> {
        self.groups.iter().copied()
    }

    /// Writes down a change that is about to be made; returns its number, or `None` in a dry run.
    ///
    /// # Errors
    /// [`JournalError`]: the change must not be made.
    pub(crate) fn note(&mut self, change: &Change, by: UndoLink<'_>) -> Result<Option<u64>> {
        let Some(journal) = &mut self.journal else { return Ok(None) };
        let number = journal.begin(self.now, self.group, change.clone(), by).map_err(JournalError)?;
        self.groups.insert(*self.group.get_or_insert(number));
        Ok(Some(number))
    }

    /// Writes down how far a change is now.
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

    /// Lets what is written down reach the disk.
    ///
    /// # Errors
    /// [`JournalError`]: what was written down last must not be done.
    pub(crate) fn sync(&self) -> Result<()> {
        Ok(self.journal.as_ref().map_or(Ok(()), Journal::sync).map_err(JournalError)?)
    }

    /// Lets others have the journal while `work` is done; what they wrote is known then.
    pub(crate) fn released<T>(
        &mut self,
        wait: LockObserver<'_>,
        work: impl FnOnce(LockObserver<'_>) -> T,
    ) -> (T, Result<()>) {
        match &mut self.journal {
            None => (work(wait), Ok(())),
            Some(journal) => {
                let (done, again) = journal.released(wait, work);
                (done, again.map_err(JournalError).context("can't write down what was done"))
            }
        }
    }

    /// Settles the changes that were cut short: see [`Journal::mend`].
    ///
    /// # Errors
    /// [`JournalError`].
    pub(crate) fn mend(&mut self, happened: impl Fn(&JournalRecord, ChangeStep) -> Option<bool>) -> Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        Ok(journal.mend(self.now, happened).map_err(JournalError)?)
    }
}
