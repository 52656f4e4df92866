//! Carries changes out, whatever their kind: each is written into the journal, made, and noted as made; what a change
//! that was cut short left is cleared away before the next one. In a dry run nothing is written anywhere.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::changes::change::Change;
use crate::changes::journal::{ChangeState, ChangeStep, JournalRecord, JournalRecords, UndoLink};
use crate::changes::request::{ChangeEvent, ChangeObserver, ChangeProgress};
use crate::changes::result::Refusal;
use crate::changes::transaction::{JournalError, Transaction};
use crate::disk::append;
use crate::disk::append::{Appended, PendingLine};
use crate::disk::availability::is_there;
use crate::disk::fingerprint::Fingerprint;
use crate::disk::load;
use crate::disk::load::NewerFormat;
use crate::disk::lock::LockObserver;
use crate::disk::trash::{self, RestoreError, Trash, TrashEntry, TrashSession, merge};
use crate::session::tree::Tree;
use crate::session::write::line::new_id;

/// Of many files that move, as many are written down before the first of them does: what is written down has to reach the
/// disk, which takes as long for many as for one.
const TOGETHER: usize = 64;

/// Where changes are written down, and where goes what is removed.
#[derive(Clone, Debug)]
pub(crate) struct ChangeStore {
    /// The directory of the journal.
    pub(crate) state_dir: PathBuf,
    /// How files get into the trash.
    pub(crate) trash: Trash,
    /// Whether nothing is to be written.
    pub(crate) dry_run: bool,
}

/// A request being carried out, with the journal held against other pitrees.
pub(crate) struct Engine<'a> {
    bin: TrashSession<'a>,
    book: Transaction,
    /// In milliseconds since 1970.
    pub(crate) now: i64,
    /// Moves of files that are written down, by their numbers, and not made yet.
    ahead: HashMap<u64, SyncedMove>,
    /// What went wrong behind changes that are made.
    warnings: Vec<String>,
    watch: ChangeObserver<'a>,
    /// Whether it said that nobody is to be waited for.
    is_given_up: bool,
}

/// A move of a file that is noted.
struct JournaledMove {
    /// The change.
    number: u64,
    /// The step that it is.
    step: ChangeStep,
    /// The file, if it goes to the trash.
    goes: Option<PathBuf>,
    /// The place in the trash that was chosen for it.
    item: Option<PathBuf>,
}

/// A move of which the note is on the disk.
struct SyncedMove {
    /// The place in the trash that it is to get.
    item: Option<PathBuf>,
    /// Whether that place could be taken.
    claimed: Result<()>,
}

impl<'a> Engine<'a> {
    pub(crate) fn begin(place: &'a ChangeStore, now: i64, watch: ChangeObserver<'a>) -> Result<Self> {
        getrandom::fill(&mut [0; 16]).context("the system has no random numbers for new ids")?;
        let mut bin = place.trash.open(now);
        let book = if place.dry_run {
            Transaction::closed(&place.state_dir)?
        } else {
            let mut book = Transaction::open(&place.state_dir, now, &mut |who| watch(ChangeEvent::Waits(who)))?;
            mend(&mut book, &mut bin)?;
            book
        };
        Ok(Self { bin, book, now, ahead: HashMap::new(), warnings: Vec::new(), watch, is_given_up: false })
    }

    /// The changes up to now.
    pub(crate) fn past(&self) -> &JournalRecords {
        self.book.past()
    }

    /// The groups of which something was made, or made again.
    pub(crate) fn groups(&self) -> impl Iterator<Item = u64> {
        self.book.groups()
    }

    pub(crate) fn is_dry(&self) -> bool {
        self.book.is_closed()
    }

    /// Tells between two changes how far the request is; whether it is to stop there.
    pub(crate) fn is_stopped(&mut self, done: usize, total: usize) -> bool {
        done > 0 && done < total && (self.watch)(ChangeEvent::Made(ChangeProgress { done, total })).is_break()
    }

    /// Whether nobody is waited for any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Makes a change of files as a whole: `make` does it. What it `keeps` goes to a place in the trash, which `make` is
    /// told if it is known.
    pub(crate) fn make(
        &mut self,
        change: &Change,
        keeps: Option<&Path>,
        make: impl FnOnce(&mut TrashSession<'_>, Option<&Path>, LockObserver<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.is_dry() {
            return Ok(());
        }
        let noted = self.note(change, keeps)?;
        let number = noted.number;
        self.write_down(&[noted])?;
        self.carry_out(number, ChangeStep::Make, make)
    }

    /// Undoes a change of files, or makes it again, as [`make`](Self::make) makes it.
    pub(crate) fn make_again(
        &mut self,
        record: &JournalRecord,
        step: ChangeStep,
        keeps: Option<&Path>,
        make: impl FnOnce(&mut TrashSession<'_>, Option<&Path>, LockObserver<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.is_dry() {
            return Ok(());
        }
        let noted = self.note_again(record, step, keeps)?;
        self.write_down(&[noted])?;
        self.carry_out(record.number, step, make)
    }

    /// Notes that a change is made, with which a file `goes` to the trash.
    fn note(&mut self, change: &Change, goes: Option<&Path>) -> Result<JournaledMove> {
        let item = self.place_for(goes)?;
        let by = UndoLink { item: item.clone(), file: fingerprint(change, goes), ..UndoLink::default() };
        let number = self.book.note(change, by)?.unwrap_or_default();
        Ok(JournaledMove { number, step: ChangeStep::Make, goes: goes.map(Path::to_path_buf), item })
    }

    /// Notes that a step is taken with a change, with which a file `goes` to the trash.
    fn note_again(&mut self, record: &JournalRecord, step: ChangeStep, goes: Option<&Path>) -> Result<JournaledMove> {
        let (number, item) = (record.number, self.place_for(goes)?);
        let file = fingerprint(&record.change, goes);
        self.book.set(number, step.begun(), UndoLink { item: item.clone(), file, ..UndoLink::default() })?;
        Ok(JournaledMove { number, step, goes: goes.map(Path::to_path_buf), item })
    }

    /// A place in the trash for what goes there, if it can be known before.
    fn place_for(&mut self, goes: Option<&Path>) -> Result<Option<PathBuf>> {
        goes.map_or(Ok(None), |path| self.bin.choose(path))
    }

    /// Does what is written down.
    fn carry_out(
        &mut self,
        number: u64,
        step: ChangeStep,
        make: impl FnOnce(&mut TrashSession<'_>, Option<&Path>, LockObserver<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(SyncedMove { item, claimed }) = self.ahead.remove(&number) else { return Ok(()) };
        let made = claimed.and_then(|()| self.move_files(|bin, wait| make(bin, item.as_deref(), wait)));
        if made.is_err() {
            item.iter().for_each(|item| self.bin.give_up(item));
        }
        self.settle(number, step, made.map_err(overtaken))
    }

    /// Lets files be moved. Another program that does that does not hold the journal meanwhile.
    fn move_files(&mut self, work: impl FnOnce(&mut TrashSession<'_>, LockObserver<'_>) -> Result<()>) -> Result<()> {
        let Self { bin, book, watch, is_given_up, .. } = self;
        let mut wait = waiting(watch, is_given_up);
        if !bin.is_command() {
            return work(bin, &mut wait);
        }
        let (moved, again) = book.released(&mut wait, |wait| work(bin, wait));
        let so_far = if moved.is_ok() { "the files are moved, but" } else { "the files are not moved, and" };
        again.context(so_far)?;
        moved
    }

    /// Writes down that files go to the trash: as many of the changes as can well be made together, at least one. Gives
    /// their numbers, by which [`put`](Self::put) makes them.
    ///
    /// # Errors
    /// Nothing is written down: why not of the first.
    pub(crate) fn will_put(&mut self, changes: &[Change]) -> Result<Vec<u64>> {
        if self.is_dry() {
            return Ok(vec![0; changes.len()]);
        }
        let mut moves = Vec::new();
        for change in &changes[..changes.len().min(self.together())] {
            match self.note(change, Some(change.path())) {
                Ok(noted) => moves.push(noted),
                Err(error) if moves.is_empty() => return Err(error),
                Err(_) => break, // its turn comes
            }
        }
        self.write_down(&moves)?;
        Ok(moves.iter().map(|noted| noted.number).collect())
    }

    /// Writes down that steps are taken with the first of the records, of those with which a file moves.
    ///
    /// # Errors
    /// The journal can't be written: none of the steps must be taken.
    pub(crate) fn will_do_again(&mut self, records: &[JournalRecord], step: ChangeStep) -> Result<()> {
        let mut moves = Vec::new();
        let records = if self.is_dry() { &[] } else { records };
        for record in records.iter().filter(|record| record.change.moves()) {
            match self.note_move(record, step) {
                Ok(noted) => moves.push(noted),
                Err(error) if error.is::<JournalError>() => return Err(error),
                Err(_) => {} // it is told when its turn comes
            }
        }
        self.write_down(&moves)
    }

    /// Notes that a step is taken with a change, with which its file goes to the trash or comes back; then what a pi wrote
    /// in its place since goes there.
    fn note_move(&mut self, record: &JournalRecord, step: ChangeStep) -> Result<JournaledMove> {
        let path = record.change.path();
        if record.change.brings(step).is_none() {
            return self.note_again(record, step, Some(path));
        }
        let can_join = self.bin.can_join(path, record.place());
        let late = can_join.with_context(|| format!("can't look at {}", path.display()))?.then(|| merge::late(path));
        self.note_again(record, step, late.as_deref())
    }

    /// Sees to it that a step with a record is written down.
    fn must_be_ahead(&mut self, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        if self.is_dry() || self.ahead.contains_key(&record.number) {
            return Ok(());
        }
        let noted = self.note_move(record, step)?;
        self.write_down(&[noted])
    }

    /// As many records are best written down before the first of their steps is taken.
    pub(crate) fn together(&self) -> usize {
        // A command that moves files does not hold the journal, in which another pitree would find what is not made yet.
        if self.bin.is_command() { 1 } else { TOGETHER }
    }

    /// Lets moves that are written down reach the disk, and takes their places in the trash.
    fn write_down(&mut self, moves: &[JournaledMove]) -> Result<()> {
        let written = self.book.sync();
        for noted in moves {
            let mut ahead = SyncedMove { item: noted.item.clone(), claimed: Ok(()) };
            if let (Ok(()), Some(goes)) = (&written, &noted.goes) {
                ahead.claimed = self.claim(noted, goes, &mut ahead.item);
            }
            self.ahead.insert(noted.number, ahead);
        }
        let synced = written.and_then(|()| self.bin.sync_places());
        synced.inspect_err(|_| {
            for noted in moves {
                let _ = self.withdraw(noted.number, noted.step); // why nothing is done is of more concern
            }
        })
    }

    /// Takes the place in the trash that was chosen for a file, or another one if another program was faster.
    fn claim(&mut self, noted: &JournaledMove, goes: &Path, item: &mut Option<PathBuf>) -> Result<()> {
        while let Some(chosen) = item.as_deref() {
            if self.bin.claim(goes, chosen, self.now)? {
                break;
            }
            *item = self.bin.choose(goes)?;
            let file = self.past().find(noted.number).and_then(|record| record.item.as_ref()?.file.clone());
            self.book.set(
                noted.number,
                noted.step.begun(),
                UndoLink { item: item.clone(), file, ..UndoLink::default() },
            )?;
            self.book.sync()?;
        }
        Ok(())
    }

    /// Takes back what was written down of a move that is not made.
    ///
    /// # Errors
    /// The journal can't be written.
    pub(crate) fn withdraw(&mut self, number: u64, step: ChangeStep) -> Result<()> {
        let Some(ahead) = self.ahead.remove(&number) else { return Ok(()) };
        ahead.item.iter().for_each(|item| self.bin.give_up(item));
        self.book.set(number, step.settled(false), UndoLink::default())
    }

    /// Moves a file to the trash, as was written down.
    pub(crate) fn put(&mut self, number: u64, path: &Path, step: ChangeStep) -> Result<()> {
        self.carry_out(number, step, |bin, item, wait| bin.put(path, item, wait))
    }

    /// As a step with a change its file goes to the trash.
    pub(crate) fn put_again(&mut self, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        self.must_be_ahead(record, step)?;
        self.put(record.number, record.change.path(), step)
    }

    /// As a step with a change its file comes back from the trash, where it has at least so many bytes.
    pub(crate) fn take_back(&mut self, record: &JournalRecord, step: ChangeStep, at_least: u64) -> Result<()> {
        let path = record.change.path();
        is_there(path).with_context(|| format!("can't look at {}", path.display()))?;
        self.must_be_ahead(record, step)?;
        let Some(ahead) = self.ahead.remove(&record.number) else { return Ok(()) };
        let is_late = |kept: &&TrashEntry| kept.place.as_ref().is_some_and(|place| merge::is_late(path, place));
        let kept = record.item.as_ref().filter(|kept| !is_late(kept));
        let back = match (kept.and_then(|kept| Some((kept, kept.place.as_deref()?))), &ahead.item) {
            (Some((kept, item)), Some(place)) => {
                let mut wait = waiting(&mut self.watch, &mut self.is_given_up);
                let checked = ahead.claimed.and_then(|()| trash::check(path, kept, at_least));
                let joined = checked.and_then(|()| self.bin.join(path, item, place, &mut wait));
                match &joined {
                    Ok(()) => self.warnings.push("a pi went on in its place: what it wrote is joined to it".into()),
                    Err(_) => self.bin.give_up(place),
                }
                joined
            }
            _ => self.bin.take_back(path, kept, at_least),
        };
        self.settle(record.number, step, back.map_err(overtaken))
    }

    /// Appends the line that `build` makes of the tree and a new id, and the change that it is; returns the change,
    /// unless there is none to make.
    pub(crate) fn append(
        &mut self,
        path: &Path,
        keep_time: bool,
        build: impl Fn(&Tree, &str) -> Result<Option<(String, Change)>>,
    ) -> Result<Option<Change>> {
        let is_dry = self.is_dry();
        let mut begun = None;
        let mut step = |tree: &Tree| {
            // The file was written to between reading and writing: what was begun for it as it was is not made.
            if let Some((number, _)) = begun.take() {
                self.book.set(number, ChangeState::Dropped, UndoLink::default())?;
            }
            let Some((line, change)) = build(tree, &free_id(tree))? else { return Ok(None) };
            let draft = PendingLine::new(tree, &line);
            let number = self.book.note(&change, UndoLink { draft: Some(draft.clone()), ..UndoLink::default() })?;
            begun = Some((number.unwrap_or_default(), change));
            self.book.sync()?;
            Ok(number.map(|_| draft))
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

    /// Appends a line for a change that was made before: to undo it, or to make it again.
    pub(crate) fn append_again(
        &mut self,
        record: &JournalRecord,
        step: ChangeStep,
        keep_time: bool,
        build: impl Fn(&JournalRecords, &Tree, &str) -> Result<String>,
    ) -> Result<()> {
        let path = record.change.path();
        if self.is_dry() {
            let tree = load::writable(path).map_err(overtaken)?;
            return build(self.past(), &tree, &free_id(&tree)).map(drop);
        }
        let mut begun = false;
        let line = |tree: &Tree| {
            let id = free_id(tree);
            let draft = PendingLine::new(tree, &build(self.book.past(), tree, &id)?);
            let by = UndoLink { entry: Some(&id), draft: Some(draft.clone()), ..UndoLink::default() };
            self.book.set(record.number, step.begun(), by)?;
            begun = true;
            self.book.sync()?;
            Ok(Some(draft))
        };
        let appended = append::line(path, keep_time, &mut waiting(&mut self.watch, &mut self.is_given_up), line);
        if !begun {
            return appended.map(drop).map_err(overtaken);
        }
        let made = self.took(appended);
        self.settle(record.number, step, made)
    }

    /// Takes note of what went wrong behind a line that is there.
    fn took(&mut self, appended: Result<Option<Appended>>) -> Result<()> {
        self.warnings.extend(appended?.and_then(|appended| appended.but));
        Ok(())
    }

    /// Lets what was moved reach the disk. Gives what went wrong behind changes that are made.
    pub(crate) fn finish(mut self) -> Vec<String> {
        if let Err(error) = self.bin.sync() {
            self.warnings.push(format!("it may not survive a loss of power: {error}"));
        }
        self.warnings
    }

    /// Writes down that somebody else changed what undo or redo would have touched: it is passed over from now on.
    pub(crate) fn overtake(&mut self, number: u64) -> Result<()> {
        self.book.set(number, ChangeState::Overtaken, UndoLink::default())
    }

    /// Writes down how a step went. What failed may be so all the same, as with a server that answered too late: the files
    /// tell. Where they don't, it is left to be mended. That it could not be written down is of less concern than what
    /// happened, and is mended at the next start.
    fn settle(&mut self, number: u64, step: ChangeStep, made: Result<()>) -> Result<()> {
        let mut is_made = Some(made.is_ok());
        let made = made.or_else(|error| {
            if !matches!(error.downcast_ref(), Some(Refusal::Overtaken { .. })) {
                is_made = self.past().find(number).and_then(|record| record.change.happened(record, step));
            }
            if is_made == Some(true) {
                self.warnings.push(format!("{error:#}"));
                return Ok(());
            }
            Err(error)
        });
        let Some(is_made) = is_made else { return made };
        let noted = self.book.set(number, step.settled(is_made), UndoLink::default());
        made.and(noted.context("the change is made, but"))
    }
}

/// Returns the fingerprint of the file that `goes` to the trash: in every change that is the content of the changed file.
/// Without one, undo still compares what the trash records.
fn fingerprint(change: &Change, goes: Option<&Path>) -> Option<Fingerprint> {
    goes.and_then(|_| Fingerprint::of(change.path()).ok())
}

/// Tells of waiting, and notes when it is given up.
fn waiting<'b>(
    watch: &'b mut ChangeObserver<'_>,
    is_given_up: &'b mut bool,
) -> impl FnMut(&str) -> ControlFlow<()> + 'b {
    |who| {
        let flow = watch(ChangeEvent::Waits(who));
        *is_given_up |= flow.is_break();
        flow
    }
}

/// What the trash will not have later by itself, somebody else took; what is of a newer version, a newer pi wrote.
fn overtaken(error: anyhow::Error) -> anyhow::Error {
    let reason = error.downcast_ref().map(RestoreError::to_string);
    match reason.or_else(|| error.downcast_ref().map(NewerFormat::to_string)) {
        Some(reason) => Refusal::Overtaken { reason }.into(),
        None => error,
    }
}

/// Clears away and settles what was cut short.
fn mend(book: &mut Transaction, bin: &mut TrashSession<'_>) -> Result<()> {
    for record in book.past().list().iter().filter(|record| record.cut_short().is_some()) {
        if let Some(draft) = &record.draft {
            // A file that can't be written to keeps the part; the next line stands on its own.
            let _ = append::take_back_part(record.change.path(), draft);
        }
        record.change.clear(record, bin);
    }
    book.mend(|record, step| record.change.happened(record, step))
}

/// Random bits.
pub(crate) fn random() -> u128 {
    let mut bytes = [0; 16];
    let _ = getrandom::fill(&mut bytes); // that it can is tried before each change
    u128::from_ne_bytes(bytes)
}

/// An id that no entry of the file has.
fn free_id(tree: &Tree) -> String {
    new_id(&mut random, |id| tree.find(id).is_some())
}
