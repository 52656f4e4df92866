//! Executes changes that append a line: one at a time, or in batches that are recorded and synced together.
//!
//! In a batch, all lines are prepared and recorded, then the journal is synced once. Then the lines are written, and their
//! files are synced together before the changes are recorded as made. A power failure or a killed process thus leaves each
//! change recorded, and its file with the line or without. Before the request ends, all lines are synced.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;

use crate::changes::change::{Change, ChangeState, ChangeStep};
use crate::changes::engine::{Engine, JournaledLine, overtaken, random, waiting};
use crate::changes::journal::{Journal, JournalError, JournalRecord, JournalRecords, UndoLink};
use crate::disk::append::{self, PendingLine};
use crate::disk::load;
use crate::session::tree::Tree;
use crate::session::write::line::new_id;

/// Creates the change of a file from its tree and a new id. Returns `None` if there is nothing to do.
pub(crate) type BuildChange<'a> = &'a dyn Fn(&Path, &Tree, &str) -> Result<Option<Change>>;

/// Returns an error if the change of a record can no longer be undone or redone in a tree.
pub(crate) type CheckStep<'a> = &'a dyn Fn(&JournalRecord, &JournalRecords, &Tree) -> Result<()>;

impl Engine<'_> {
    /// Appends the line of the change that `build` creates. Returns the change, or `None` if there is nothing to do.
    pub(crate) fn append(&mut self, path: &Path, keep_time: bool, build: BuildChange<'_>) -> Result<Option<Change>> {
        let (is_dry, now) = (self.is_dry, self.now);
        let mut begun = None;
        let mut step = |tree: &Tree| {
            // The file was modified between reading and writing, so the recorded change was not made.
            if let Some((number, _)) = begun.take() {
                self.journal.set(number, ChangeState::Dropped, UndoLink::default())?;
            }
            let Some((number, change, line)) = begin(&mut self.journal, (path, tree), now, build)? else {
                return Ok(None);
            };
            begun = Some((number, change));
            self.journal.sync()?;
            Ok(Some(line))
        };
        if is_dry {
            step(&load::writable(path)?)?;
            return Ok(begun.map(|(_, change)| change));
        }
        let appended = append::line(path, keep_time, &mut waiting(&mut self.watch, &mut self.is_given_up), step);
        match begun {
            Some((number, change)) => {
                let made = self.took(appended);
                self.settle(number, ChangeStep::Make, made)?;
                Ok(Some(change))
            }
            None => appended.map(|_| None),
        }
    }

    /// Appends a line to undo or redo a change, unless `check` fails.
    pub(crate) fn append_again(
        &mut self,
        record: &JournalRecord,
        step: ChangeStep,
        keep_time: bool,
        check: CheckStep<'_>,
    ) -> Result<()> {
        if self.append_recorded(record.number, keep_time)?.is_some() {
            return Ok(());
        }
        let (path, is_dry, now) = (record.change.path(), self.is_dry, self.now);
        let mut begun = false;
        let mut line = |tree: &Tree| {
            let line = begin_again(&mut self.journal, (record, tree), (step, now), check)?;
            begun = true;
            self.journal.sync()?;
            Ok(Some(line))
        };
        if is_dry {
            return line(&load::writable(path).map_err(overtaken)?).map(drop);
        }
        let appended = append::line(path, keep_time, &mut waiting(&mut self.watch, &mut self.is_given_up), line);
        if !begun {
            return appended.map(drop).map_err(overtaken);
        }
        let made = self.took(appended);
        self.settle(record.number, step, made)
    }

    /// Prepares and records the lines of a batch of changes for [`append_recorded`](Self::append_recorded). Returns their
    /// numbers. A file without a number has nothing to do, or [`append`](Self::append) reports the reason.
    ///
    /// # Errors
    /// [`JournalError`]; none of the lines may be written.
    pub(crate) fn record_lines(&mut self, paths: &[&Path], build: BuildChange<'_>) -> Result<Vec<Option<u64>>> {
        self.sync_lines()?;
        let (now, mut numbers) = (self.now, Vec::new());
        for path in paths.iter().filter(|_| !self.is_dry) {
            let mut begun = None;
            let prepared = append::prepare(path, |tree| {
                let Some((number, change, line)) = begin(&mut self.journal, (path, tree), now, build)? else {
                    return Ok(None);
                };
                begun = Some((number, change));
                Ok(Some(line))
            });
            numbers.push(begun.as_ref().map(|(number, _)| *number));
            match (prepared, begun) {
                (Ok(Some(line)), Some((number, change))) => {
                    self.recorded_lines.insert(number, JournaledLine { step: ChangeStep::Make, change, line });
                }
                (Err(error), _) if error.is::<JournalError>() => return self.give_up_lines(error),
                _ => {}
            }
        }
        match self.journal.sync() {
            Ok(()) => Ok(numbers),
            Err(error) => self.give_up_lines(error),
        }
    }

    /// Prepares and records the lines that undo or redo a batch of changes, except files with several changes.
    /// [`append_again`](Self::append_again) writes them, or reports why a line cannot be written.
    ///
    /// # Errors
    /// [`JournalError`]; none of the lines may be written.
    pub(crate) fn record_line_steps(
        &mut self,
        records: &[JournalRecord],
        step: ChangeStep,
        check: CheckStep<'_>,
    ) -> Result<()> {
        self.sync_lines()?;
        let mut changes = HashMap::<&Path, usize>::new();
        records.iter().for_each(|record| *changes.entry(record.change.path()).or_default() += 1);
        let is_alone = |record: &&JournalRecord| changes[record.change.path()] == 1;
        let now = self.now;
        for record in records.iter().filter(is_alone).filter(|record| record.change.entry().is_some() && !self.is_dry) {
            let prepared = append::prepare(record.change.path(), |tree| {
                begin_again(&mut self.journal, (record, tree), (step, now), check).map(Some)
            });
            match prepared {
                Ok(Some(line)) => {
                    self.recorded_lines
                        .insert(record.number, JournaledLine { step, change: record.change.clone(), line });
                }
                Err(error) if error.is::<JournalError>() => return self.give_up_lines(error),
                _ => {}
            }
        }
        if self.recorded_lines.is_empty() {
            return Ok(());
        }
        match self.journal.sync() {
            Ok(()) => Ok(()),
            Err(error) => self.give_up_lines(error),
        }
    }

    /// Writes the recorded line of a batch. Returns the change, or `None` if there is no such line or the file has
    /// changed since: the change must then be made alone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn append_recorded(&mut self, number: u64, keep_time: bool) -> Result<Option<Change>> {
        let Some(JournaledLine { step, change, line }) = self.recorded_lines.remove(&number) else { return Ok(None) };
        let written =
            append::write(change.path(), &line, keep_time, &mut waiting(&mut self.watch, &mut self.is_given_up));
        match written {
            Ok(Some(written)) => {
                self.warnings.extend(written.problem);
                self.unsynced.push((number, step, written.file));
            }
            Ok(None) => {
                self.journal.set(number, step.settled(false), UndoLink::default())?;
                return Ok(None);
            }
            Err(error) => self.settle(number, step, Err(error))?,
        }
        Ok(Some(change))
    }

    /// Reverts the records of lines that are not written.
    fn give_up_lines<T>(&mut self, error: anyhow::Error) -> Result<T> {
        for (number, JournaledLine { step, .. }) in std::mem::take(&mut self.recorded_lines) {
            let _ = self.journal.set(number, step.settled(false), UndoLink::default()); // the error is more important
        }
        Err(error)
    }

    /// Records problems that occurred after a line was appended.
    fn took(&mut self, appended: Result<Option<Vec<String>>>) -> Result<()> {
        self.warnings.extend(appended?.into_iter().flatten());
        Ok(())
    }
}

/// Records a new change of a file. Returns its number, the change and its line.
fn begin(
    journal: &mut Journal,
    (path, tree): (&Path, &Tree),
    now: i64,
    build: BuildChange<'_>,
) -> Result<Option<(u64, Change, PendingLine)>> {
    let id = free_id(tree);
    let Some(change) = build(path, tree, &id)? else { return Ok(None) };
    let line = PendingLine::new(tree, &change.line(tree, ChangeStep::Make, (&id, now))?);
    let number = journal.begin(&change, UndoLink { draft: Some(line.clone()), ..UndoLink::default() })?;
    Ok(Some((number, change, line)))
}

/// Records a step of a change, and returns its line.
fn begin_again(
    journal: &mut Journal,
    (record, tree): (&JournalRecord, &Tree),
    (step, now): (ChangeStep, i64),
    check: CheckStep<'_>,
) -> Result<PendingLine> {
    let id = free_id(tree);
    check(record, &journal.records, tree)?;
    let line = PendingLine::new(tree, &record.change.line(tree, step, (&id, now))?);
    let by = UndoLink { entry: Some(&id), draft: Some(line.clone()), ..UndoLink::default() };
    journal.set(record.number, step.begun(), by)?;
    Ok(line)
}

/// Returns an id that no entry of the file has.
fn free_id(tree: &Tree) -> String {
    new_id(&mut random, |id| tree.find(id).is_some())
}
