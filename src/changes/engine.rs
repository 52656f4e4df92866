//! Executes changes of all kinds: records each in the journal, makes it, and records the result. Leftovers of an
//! interrupted change are removed before the next one. A dry run writes nothing.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::base::path_context::PathContext;
use crate::base::paths::ExactPath;
use crate::changes::change::{Change, ChangeStep};
use crate::changes::journal::{Journal, JournalError, JournalLine, JournalRecord};
use crate::changes::mending::{append_late_lines, mend};
use crate::changes::request::{ChangeEvent, ChangeObserver, ChangeProgress, Refusal};
use crate::disk::append::{self, PendingLine};
use crate::disk::files::is_there;
use crate::disk::fingerprint::Fingerprint;
use crate::disk::load::NewerFormat;
use crate::disk::lock::LockObserver;
use crate::disk::marks::CurrentMarks;
use crate::disk::trash::{self, RestoreError, Trash, TrashBatch, TrashEntry};
use crate::disk::vacated;

/// The maximum number of changes in a batch. They are recorded before the first of them is made. Records must be synced
/// to disk, and one sync serves many records. The number of open files can be limited to 256.
pub(crate) const BATCH_SIZE: usize = 128;

/// The time to wait for pis that write to vacated files.
const WRITER_TIMEOUT: Duration = Duration::from_secs(1);

/// The execution of one request, with the locked journal.
pub(crate) struct Engine<'a> {
    pub(super) trash: TrashBatch<'a>,
    pub(crate) journal: Journal,
    /// The file of lasting marks.
    pub(crate) marks: &'a Path,
    /// `true` if forks get the tags of their parents.
    pub(crate) forks_inherit_tags: bool,
    /// The results of undone or redone changes of marks by number, until they are reported.
    pub(crate) marked: HashMap<u64, Result<()>>,
    /// `true` to write nothing.
    pub(crate) is_dry: bool,
    /// The current time in milliseconds since 1970.
    pub(crate) now: i64,
    /// Moves that are recorded but not made yet, by change number.
    recorded: HashMap<u64, JournaledMove>,
    /// Lines that are recorded but not written yet, by change number, with the files for which they were prepared.
    pub(super) recorded_lines: HashMap<u64, (JournaledLine, Metadata)>,
    /// Lines that are written, but neither synced nor recorded as such: the change numbers, steps and files.
    pub(super) unsynced: Vec<(u64, ChangeStep, File)>,
    /// The numbers of the changes that vacated files which are not checked yet.
    vacated: Vec<u64>,
    /// Problems that occurred after changes were made.
    pub(crate) warnings: Vec<String>,
    pub(crate) watch: ChangeObserver<'a>,
    /// `true` after the user canceled waiting.
    pub(crate) is_canceled: bool,
}

/// A recorded move of a file.
struct JournaledMove {
    /// The number of the change.
    number: u64,
    /// The step.
    step: ChangeStep,
    /// The file, if it moves to the trash.
    trashed: Option<PathBuf>,
    /// The place in the trash.
    item: Option<PathBuf>,
    /// The result of reserving the place.
    claimed: Result<()>,
}

/// A recorded line of a file.
pub(super) struct JournaledLine {
    /// The number of the change.
    pub(super) number: u64,
    /// The step.
    pub(super) step: ChangeStep,
    /// The change.
    pub(super) change: Change,
    /// The line.
    pub(super) line: PendingLine,
}

impl<'a> Engine<'a> {
    /// Opens the journal in a directory, and the trash. `marks` is the file of lasting marks. A dry run writes nothing.
    ///
    /// # Errors
    /// The journal cannot be opened, or the system has no random numbers.
    pub(crate) fn begin(
        state_dir: &Path,
        trash: &'a Trash,
        marks: &'a Path,
        is_dry: bool,
        now: i64,
        watch: ChangeObserver<'a>,
    ) -> Result<Self> {
        getrandom::fill(&mut [0; 16]).context("cannot generate a random id")?;
        let mut trash = trash.open(now);
        let (journal, warnings) = if is_dry {
            (Journal::closed(state_dir, now)?, Vec::new())
        } else {
            let mut journal = Journal::open(state_dir, now, &mut |who| watch(ChangeEvent::Waits(who)))?;
            let warnings = mend(&mut journal, &mut trash, &CurrentMarks::new(marks))?;
            (journal, warnings)
        };
        Ok(Self {
            trash,
            journal,
            marks,
            forks_inherit_tags: false,
            marked: HashMap::new(),
            is_dry,
            now,
            recorded: HashMap::new(),
            recorded_lines: HashMap::new(),
            unsynced: Vec::new(),
            vacated: Vec::new(),
            warnings,
            watch,
            is_canceled: false,
        })
    }

    /// Reports the progress between two changes. Returns `true` if the request must stop there.
    pub(crate) fn is_stopped(&mut self, done: usize, total: usize) -> bool {
        done > 0 && done < total && (self.watch)(ChangeEvent::Made(ChangeProgress { done, total })).is_break()
    }

    /// Makes a change of a whole file with `make`, or undoes or redoes the one with the number in `again`. The file that
    /// it `keeps` goes to a place in the trash, which `make` receives if it is known in advance.
    pub(crate) fn make(
        &mut self,
        change: &Change,
        again: Option<(u64, ChangeStep)>,
        keeps: Option<&Path>,
        make: impl FnOnce(&mut TrashBatch<'_>, Option<&Path>, LockObserver<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.is_dry {
            return Ok(());
        }
        let recorded = self.record(change, again, keeps)?;
        let (number, step) = (recorded.number, recorded.step);
        self.sync_records(vec![recorded])?;
        self.take_step(number, step, make)
    }

    /// Records a change that needs a preparation, such as a new file, and prepares it. The result has the number for
    /// [`make`](Self::make), which records the change again with what is known then.
    pub(crate) fn prepare<T>(
        &mut self,
        change: &Change,
        prepare: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<Option<(u64, T)>> {
        let number = self.journal.begin(change, JournalLine::default())?;
        self.journal.sync()?;
        let prepared = prepare();
        if !matches!(prepared, Ok(Some(_))) {
            self.journal.record_step_result(number, ChangeStep::Make, false)?;
        }
        Ok(prepared?.map(|prepared| (number, prepared)))
    }

    /// Records a change that moves the file `trashed` to the trash, or the step `again` of a recorded one.
    fn record(
        &mut self,
        change: &Change,
        again: Option<(u64, ChangeStep)>,
        trashed: Option<&Path>,
    ) -> Result<JournaledMove> {
        let item = trashed.map_or(Ok(None), |path| self.trash.choose(path))?;
        // In every change, the content of the changed file goes to the trash. Without a fingerprint, undo still compares
        // what the trash records.
        let file = trashed.and_then(|_| Fingerprint::of(change.path()).ok());
        let line = JournalLine { item: item.clone().map(ExactPath), file, ..JournalLine::default() };
        let (number, step) = match again {
            Some((number, step)) => {
                let change = (step == ChangeStep::Make).then(|| change.clone());
                self.journal.set(number, step.begun(), JournalLine { change, ..line })?;
                (number, step)
            }
            None => (self.journal.begin(change, line)?, ChangeStep::Make),
        };
        Ok(JournaledMove { number, step, trashed: trashed.map(Path::to_path_buf), item, claimed: Ok(()) })
    }

    /// Takes a recorded step of a change of whole files.
    ///
    /// # Errors
    /// The step failed, or its result cannot be recorded.
    pub(crate) fn take_step(
        &mut self,
        number: u64,
        step: ChangeStep,
        make: impl FnOnce(&mut TrashBatch<'_>, Option<&Path>, LockObserver<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(JournaledMove { item, claimed, .. }) = self.recorded.remove(&number) else { return Ok(()) };
        let made = claimed.and_then(|()| self.move_files(|trash, wait| make(trash, item.as_deref(), wait)));
        if made.is_err() {
            item.iter().for_each(|item| trash::give_up(item));
        }
        self.finish_step(number, step, made.map_err(as_target_changed))
    }

    /// Runs an operation that moves files. Releases the journal while another program moves them.
    fn move_files(&mut self, work: impl FnOnce(&mut TrashBatch<'_>, LockObserver<'_>) -> Result<()>) -> Result<()> {
        let Self { trash, journal, watch, is_canceled, .. } = self;
        let mut wait = waiting(watch, is_canceled);
        if !trash.is_command() {
            return work(trash, &mut wait);
        }
        let (moved, again) = journal.released(&mut wait, |wait| work(trash, wait));
        let so_far = if moved.is_ok() { "the files were moved, but" } else { "the files were not moved, and" };
        again.context(so_far)?;
        moved
    }

    /// Records the next changes of whole files: a batch of at least one. With `to_trash`, their files move to the trash.
    /// Returns their numbers for [`take_step`](Self::take_step).
    ///
    /// # Errors
    /// The reason why the first change cannot be recorded; nothing was recorded.
    pub(crate) fn record_batch(&mut self, changes: &[Change], to_trash: bool) -> Result<Vec<u64>> {
        if self.is_dry {
            return Ok(vec![0; changes.len()]);
        }
        let mut moves = Vec::new();
        for change in &changes[..changes.len().min(self.together())] {
            match self.record(change, None, to_trash.then(|| change.path())) {
                Ok(recorded) => moves.push(recorded),
                Err(error) if moves.is_empty() => return Err(error),
                Err(_) => break, // it is reported at its turn
            }
        }
        let numbers = moves.iter().map(|recorded| recorded.number).collect();
        self.sync_records(moves)?;
        Ok(numbers)
    }

    /// Records the steps of the first records that move a file.
    ///
    /// # Errors
    /// The journal cannot be written; none of the steps may be taken.
    pub(crate) fn record_steps(&mut self, records: &[JournalRecord], step: ChangeStep) -> Result<()> {
        let mut moves = Vec::new();
        let records = if self.is_dry { &[] } else { records };
        for record in records.iter().filter(|record| record.change.moves() || record.change.archive().is_some()) {
            match self.record_move(record, step) {
                Ok(recorded) => moves.push(recorded),
                Err(error) if error.is::<JournalError>() => return Err(error),
                Err(_) => {} // it is reported at its turn
            }
        }
        if moves.is_empty() { Ok(()) } else { self.sync_records(moves) }
    }

    /// Records a step that moves the file of a change to or from the trash. If a pi kept writing to the path, those
    /// lines go to the trash too.
    fn record_move(&mut self, record: &JournalRecord, step: ChangeStep) -> Result<JournaledMove> {
        let path = record.change.path();
        let again = Some((record.number, step));
        if record.change.archive().is_some() {
            return self.record(&record.change, again, None);
        }
        if record.change.created_path(step).is_none() {
            return self.record(&record.change, again, Some(path));
        }
        let can_join = self.trash.can_join(path, record.trash_path());
        let late = can_join.path_context("cannot access", path)?.then(|| trash::late(path));
        self.record(&record.change, again, late.as_deref())
    }

    /// Ensures that the step of a record is recorded and synced.
    pub(crate) fn ensure_recorded(&mut self, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        if self.is_dry || self.recorded.contains_key(&record.number) {
            return Ok(());
        }
        let recorded = self.record_move(record, step)?;
        self.sync_records(vec![recorded])
    }

    /// Returns the number of records to write before the first of their steps.
    pub(crate) fn together(&self) -> usize {
        // A trash command runs without the lock on the journal. Another pitree must not find unfinished changes in it.
        if self.trash.is_command() { 1 } else { BATCH_SIZE }
    }

    /// Syncs recorded moves, and reserves their places in the trash.
    fn sync_records(&mut self, moves: Vec<JournaledMove>) -> Result<()> {
        let written = self.journal.sync();
        let steps: Vec<(u64, ChangeStep)> = moves.iter().map(|recorded| (recorded.number, recorded.step)).collect();
        for mut recorded in moves {
            if written.is_ok() {
                recorded.claimed = self.claim(&mut recorded);
            }
            self.recorded.insert(recorded.number, recorded);
        }
        let synced = written.and_then(|()| self.trash.sync_places());
        synced.inspect_err(|_| {
            for (number, step) in steps {
                let _ = self.withdraw(number, step); // the original error is more important
            }
        })
    }

    /// Reserves the place chosen for a file, or another one if another program has taken it.
    fn claim(&mut self, recorded: &mut JournaledMove) -> Result<()> {
        let Some(trashed) = &recorded.trashed else { return Ok(()) };
        while let Some(chosen) = &recorded.item {
            if self.trash.claim(trashed, chosen, self.now)? {
                break;
            }
            recorded.item = self.trash.choose(trashed)?;
            let file = self.journal.records.find(recorded.number).and_then(|record| record.item.as_ref()?.file.clone());
            let line = JournalLine { item: recorded.item.clone().map(ExactPath), file, ..JournalLine::default() };
            self.journal.set(recorded.number, recorded.step.begun(), line)?;
            self.journal.sync()?;
        }
        Ok(())
    }

    /// Reverts the record of a move or a line that was not made.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(crate) fn withdraw(&mut self, number: u64, step: ChangeStep) -> Result<()> {
        let line = self.recorded_lines.remove(&number);
        let Some(item) = self.recorded.remove(&number).map(|recorded| recorded.item).or(line.map(|_| None)) else {
            return Ok(());
        };
        item.iter().for_each(|item| trash::give_up(item));
        self.journal.record_step_result(number, step, false)
    }

    /// Restores the file of a change from the trash as a step, if it has at least the given size, then calls `then`.
    pub(crate) fn take_back(
        &mut self,
        record: &JournalRecord,
        step: ChangeStep,
        at_least: u64,
        then: impl FnOnce(&mut TrashBatch<'_>) -> Result<()>,
    ) -> Result<()> {
        let path = record.change.path();
        is_there(path).path_context("cannot access", path)?;
        let mut back = self.take_back_once(record, step, at_least)?;
        // A pi created the file meanwhile.
        if back.as_ref().is_err_and(RestoreError::is_taken)
            && self.trash.can_join(path, record.trash_path()).unwrap_or(false)
        {
            back = self.take_back_once(record, step, at_least)?;
        }
        let back = back.and_then(|()| then(&mut self.trash));
        self.finish_step(record.number, step, back.map_err(as_target_changed))
    }

    /// Restores the file of a change from the trash, and adds the lines that a pi wrote to its path. The first error is
    /// that of recording it.
    fn take_back_once(&mut self, record: &JournalRecord, step: ChangeStep, at_least: u64) -> Result<Result<()>> {
        let path = record.change.path();
        self.ensure_recorded(record, step)?;
        let Some(recorded) = self.recorded.remove(&record.number) else { return Ok(Ok(())) };
        let is_late = |kept: &&TrashEntry| kept.place.as_ref().is_some_and(|place| trash::is_late(path, place));
        let kept = record.item.as_ref().filter(|kept| !is_late(kept));
        let (Some(place), Some((kept, item))) =
            (&recorded.item, kept.and_then(|kept| Some((kept, kept.place.as_deref()?))))
        else {
            return Ok(self.trash.take_back(path, kept, at_least));
        };
        let mut wait = waiting(&mut self.watch, &mut self.is_canceled);
        let checked = recorded.claimed.and_then(|()| trash::check(path, kept, at_least));
        let joined = checked.and_then(|()| self.trash.join(path, item, place, &mut wait));
        match &joined {
            Ok(()) => self.warnings.push("merged the entries that a running pi wrote to the old path".into()),
            Err(_) => trash::give_up(place),
        }
        Ok(joined)
    }

    /// Syncs new lines, and records their changes as made. A failure of the sync becomes a warning.
    ///
    /// # Errors
    /// [`JournalError`]; the lines are in the files.
    pub(crate) fn sync_lines(&mut self) -> Result<()> {
        let (changes, files): (Vec<_>, Vec<File>) =
            std::mem::take(&mut self.unsynced).into_iter().map(|(number, step, file)| ((number, step), file)).unzip();
        self.warnings.extend(append::sync(&files).err().map(|error| append::unsynced(&error)));
        let recorded =
            changes.into_iter().try_for_each(|(number, step)| self.journal.record_step_result(number, step, true));
        recorded.context("the changes were made, but")
    }

    /// Carries over the lines that pis wrote to the files which the last changes vacated. Returns the numbers of the changes
    /// that were reverted because a pi writes to the session, and the reasons.
    pub(crate) fn append_late_lines(&mut self) -> Vec<(u64, String)> {
        let numbers = std::mem::take(&mut self.vacated);
        let (back, warnings) = append_late_lines(&mut self.journal, &mut self.trash, &numbers, WRITER_TIMEOUT);
        self.warnings.extend(warnings);
        back
    }

    /// Syncs new lines and moved files. Returns the problems that occurred after changes were made.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let lines = self.sync_lines();
        self.warnings.extend(lines.err().map(|error| format!("{error:#}")));
        let back = self.append_late_lines();
        self.warnings.extend(back.into_iter().map(|(_, reason)| reason));
        self.warnings.extend(self.trash.sync().err().map(|error| append::unsynced(&error)));
        self.warnings
    }

    /// Records the result of a step. A failed step can have taken effect, for example on a slow server, so the files
    /// decide. If they cannot be checked now, the next start resolves it. A failure to record the result is ignored for
    /// the same reason.
    pub(super) fn finish_step(&mut self, number: u64, step: ChangeStep, made: Result<()>) -> Result<()> {
        let mut is_made = Some(made.is_ok());
        let made = made.or_else(|error| {
            if !matches!(error.downcast_ref(), Some(Refusal::TargetChanged { .. })) {
                let marks = CurrentMarks::new(self.marks);
                is_made = self.journal.records.find(number).and_then(|record| record.was_applied(step, &marks));
            }
            if is_made == Some(true) {
                self.warnings.push(format!("{error:#}"));
                return Ok(());
            }
            Err(error)
        });
        let mut vacated: Vec<_> = std::mem::take(&mut self.trash.vacated).into_iter().map(ExactPath).collect();
        let Some(is_made) = is_made else { return made };
        if !is_made && let Some(record) = self.journal.records.find(number) {
            // Second names of a file that is still in place, or copies of one in the trash. A move has vacated its new file.
            let is_left = |file: &ExactPath| !vacated::remove_if_contained(&file.0, &record.complete());
            vacated.retain(|file| is_left(file) && matches!(record.change, Change::Move(_)));
        }
        self.vacated.extend((!vacated.is_empty()).then_some(number));
        let recorded = self.journal.set(number, step.ended(is_made), JournalLine { vacated, ..JournalLine::default() });
        made.and(recorded.context("the change was made, but"))
    }
}

/// Reports waiting to the observer, and records a cancellation.
pub(crate) fn waiting<'b>(
    watch: &'b mut ChangeObserver<'_>,
    is_canceled: &'b mut bool,
) -> impl FnMut(&str) -> ControlFlow<()> + 'b {
    |who| {
        let flow = watch(ChangeEvent::Waits(who));
        *is_canceled |= flow.is_break();
        flow
    }
}

/// Converts permanent trash errors and newer file versions to [`Refusal::TargetChanged`].
pub(super) fn as_target_changed(error: anyhow::Error) -> anyhow::Error {
    let reason = error.downcast_ref().map(RestoreError::to_string);
    match reason.or_else(|| error.downcast_ref().map(NewerFormat::to_string)) {
        Some(reason) => Refusal::TargetChanged { reason }.into(),
        None => error,
    }
}

/// Returns random bits.
pub(crate) fn random() -> u128 {
    let mut bytes = [0; 16];
    let _ = getrandom::fill(&mut bytes); // tested before each change
    u128::from_ne_bytes(bytes)
}
