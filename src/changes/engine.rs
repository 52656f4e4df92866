//! Carries changes out, whatever their kind: each is written into the journal, made, and noted as made; what a change
//! that was cut short left is cleared away before the next one. In a dry run nothing is written anywhere.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::changes::change::Change;
use crate::changes::journal::{By, Journal, Record, Records, State, Step};
use crate::changes::outcome::Refusal;
use crate::changes::request::{Progress, Watch};
use crate::disk::append;
use crate::disk::append::{Appended, Draft};
use crate::disk::files::Files;
use crate::disk::load;
use crate::disk::trash::{Bin, NotBack, Trash};
use crate::session::tree::Tree;
use crate::session::write::line::new_id;

/// Where changes are written down, and where goes what is removed.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    /// The directory of the journal.
    pub(crate) state_dir: PathBuf,
    /// How files get into the trash.
    pub(crate) trash: Trash,
    /// Whether nothing is to be written.
    pub(crate) dry_run: bool,
}

/// A request being carried out, with the journal held against other pitrees.
pub(crate) struct Engine<'a> {
    bin: Bin<'a>,
    /// `None` in a dry run.
    journal: Option<Journal>,
    /// What the journal held at the beginning of a dry run.
    past: Records,
    /// In milliseconds since 1970.
    pub(crate) now: i64,
    /// The first change that was made for the request.
    group: Option<u64>,
    /// What went wrong behind changes that are made.
    warnings: Vec<String>,
    watch: Watch<'a>,
}

impl<'a> Engine<'a> {
    pub(crate) fn begin(place: &'a Store, now: i64, watch: Watch<'a>) -> Result<Self> {
        getrandom::fill(&mut [0; 16]).context("the system has no random numbers for new ids")?;
        let mut bin = place.trash.open(now);
        let (journal, past) = if place.dry_run {
            let past = Records::of(&place.state_dir)?;
            past.check_version(&place.state_dir)?;
            (None, past)
        } else {
            (Some(mended(&place.state_dir, now, &mut bin)?), Records::default())
        };
        Ok(Self { bin, journal, past, now, group: None, warnings: Vec::new(), watch })
    }

    /// The changes up to now.
    pub(crate) fn past(&self) -> &Records {
        self.journal.as_ref().map_or(&self.past, Journal::records)
    }

    pub(crate) fn is_dry(&self) -> bool {
        self.journal.is_none()
    }

    /// Tells between two changes how far the request is; whether it is to stop there.
    pub(crate) fn is_stopped(&mut self, done: usize, total: usize) -> bool {
        done > 0 && done < total && (self.watch)(Progress { done, total }).is_break()
    }

    /// Makes a change of files as a whole: `make` does it.
    pub(crate) fn make(&mut self, change: &Change, make: impl FnOnce(&mut Bin<'_>) -> Result<()>) -> Result<()> {
        let Some(number) = self.note(change, By::default())? else { return Ok(()) };
        let made = make(&mut self.bin);
        self.settle(number, Step::Make, made)
    }

    /// Makes the change that a file goes to the trash.
    pub(crate) fn put(&mut self, change: &Change) -> Result<()> {
        self.put_in_trash(change.path(), Step::Make, |work, by| Ok(work.note(change, by)?.unwrap_or_default()))
    }

    /// As a step with a change its file goes to the trash.
    pub(crate) fn put_again(&mut self, record: &Record, step: Step) -> Result<()> {
        let begin = |work: &mut Self, by: By<'_>| work.set(record.number, step.begun(), by).map(|()| record.number);
        self.put_in_trash(record.change.path(), step, begin)
    }

    /// Takes a place in the trash, lets `begin` write it down, which gives the number of the change, and moves the file.
    fn put_in_trash(
        &mut self,
        path: &Path,
        step: Step,
        begin: impl FnOnce(&mut Self, By<'_>) -> Result<u64>,
    ) -> Result<()> {
        if self.is_dry() {
            return Ok(());
        }
        let item = self.bin.reserve(path)?;
        let begun = begin(self, By { item: item.clone(), ..By::default() });
        let number = begun.inspect_err(|_| item.iter().for_each(|item| self.bin.give_up(item)))?;
        let put = self.bin.put(path, item.as_deref());
        self.settle(number, step, put)
    }

    /// As a step with a change its file comes back from the trash, where it has at least so many bytes.
    pub(crate) fn take_back(&mut self, record: &Record, step: Step, at_least: u64) -> Result<()> {
        let back = |bin: &mut Bin<'_>| bin.take_back(record.change.path(), record.item.as_deref(), at_least);
        self.make_again(record, step, back)
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
            // The file grew between reading and writing: what was begun for it as it was is not made.
            if let Some((number, _)) = begun.take() {
                self.set(number, State::Dropped, By::default())?;
            }
            let Some((line, change)) = build(tree, &free_id(tree))? else { return Ok(None) };
            let draft = Draft::new(tree, &line);
            let number = self.note(&change, By { draft: Some(draft.clone()), ..By::default() })?;
            begun = Some((number.unwrap_or_default(), change));
            Ok(number.map(|_| draft))
        };
        if is_dry {
            step(&load::tree(Files::Disk, path, "")?)?;
            return Ok(begun.map(|(_, change)| change));
        }
        let appended = append::line(path, keep_time, step);
        match begun {
            Some((number, change)) => {
                let made = self.took(appended);
                self.settle(number, Step::Make, made)?;
                Ok(Some(change))
            }
            None => appended.map(|_| None),
        }
    }

    /// Undoes a change of files, or makes it again: `make` does it.
    pub(crate) fn make_again(
        &mut self,
        record: &Record,
        step: Step,
        make: impl FnOnce(&mut Bin<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.is_dry() {
            return Ok(());
        }
        self.set(record.number, step.begun(), By::default())?;
        let made = make(&mut self.bin).map_err(|error| match error.downcast::<NotBack>() {
            Ok(not_back) => Refusal::Overtaken { reason: not_back.to_string() }.into(),
            Err(error) => error,
        });
        self.settle(record.number, step, made)
    }

    /// Appends a line for a change that was made before: to undo it, or to make it again.
    pub(crate) fn append_again(
        &mut self,
        record: &Record,
        step: Step,
        keep_time: bool,
        build: impl Fn(&Records, &Tree, &str) -> Result<String>,
    ) -> Result<()> {
        let path = record.change.path();
        if self.is_dry() {
            let tree = load::tree(Files::Disk, path, "")?;
            return build(self.past(), &tree, &free_id(&tree)).map(drop);
        }
        let mut begun = false;
        let appended = append::line(path, keep_time, |tree| {
            let id = free_id(tree);
            let draft = Draft::new(tree, &build(self.past(), tree, &id)?);
            let by = By { entry: Some(&id), draft: Some(draft.clone()), item: None };
            self.set(record.number, step.begun(), by)?;
            begun = true;
            Ok(Some(draft))
        });
        if !begun {
            return appended.map(drop);
        }
        let made = self.took(appended);
        self.settle(record.number, step, made)
    }

    /// Takes note of what went wrong behind a line that is there.
    fn took(&mut self, appended: Result<Option<Appended>>) -> Result<()> {
        self.warnings.extend(appended?.and_then(|appended| appended.but));
        Ok(())
    }

    /// What went wrong behind changes that are made.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Writes down that somebody else changed what undo or redo would have touched: it is passed over from now on.
    pub(crate) fn overtake(&mut self, number: u64) -> Result<()> {
        self.set(number, State::Overtaken, By::default())
    }

    /// Writes a change into the journal; returns its number, or nothing in a dry run.
    fn note(&mut self, change: &Change, by: By<'_>) -> Result<Option<u64>> {
        let Some(journal) = &mut self.journal else { return Ok(None) };
        let number = journal.begin(self.now, self.group, change.clone(), by)?;
        self.group.get_or_insert(number);
        Ok(Some(number))
    }

    fn set(&mut self, number: u64, state: State, by: By<'_>) -> Result<()> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.set(number, self.now, state, by))
    }

    /// Writes down how a step went. That it could not be written down is of less concern than what happened, and is
    /// mended at the next start.
    fn settle(&mut self, number: u64, step: Step, made: Result<()>) -> Result<()> {
        let noted = self.set(number, step.settled(made.is_ok()), By::default());
        made.and(noted.context("the change is made, but"))
    }
}

/// The journal, with what was cut short cleared away and settled.
fn mended(state_dir: &Path, now: i64, bin: &mut Bin<'_>) -> Result<Journal> {
    let mut journal = Journal::open(state_dir)?;
    for record in journal.records().list().iter().filter(|record| record.cut_short().is_some()) {
        if let Some(draft) = &record.draft {
            // A file that can't be written to keeps the part; the next line stands on its own.
            let _ = append::take_back_part(record.change.path(), draft);
        }
        record.change.clear(record, bin);
    }
    journal.mend(now, |record, step| record.change.happened(record, step))?;
    Ok(journal)
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
