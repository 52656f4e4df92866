//! Changes of lasting marks: pins, tags and notes. The marks of a request are recorded, then written at once.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Error, Result, anyhow};
use serde_json::Value;

use crate::changes::change::{Change, ChangeStep, MarkChange};
use crate::changes::engine::{Engine, waiting};
use crate::changes::journal::{JournalRecord, UndoLink};
use crate::changes::kinds::{overtaken, quoted};
use crate::changes::request::{ChangeResult, NewMark, Refusal};
use crate::changes::target::ExpectedSession;
use crate::disk::marks::{self, CurrentMarks};
use crate::session::marks::{Mark, Marks};

/// Sets or removes marks. If a mark has several values, the last value is used.
pub(crate) fn make(work: &mut Engine<'_>, wanted: &[NewMark]) -> Result<ChangeResult> {
    let mut last = BTreeMap::new();
    for (at, new) in wanted.iter().enumerate() {
        last.insert((&*new.session.id, new.mark.key()), at);
    }
    let mut order: Vec<usize> = last.into_values().collect();
    order.sort_unstable();
    let changes = update(work, ChangeStep::Make, |marks, begin| {
        for new in order.iter().map(|&at| &wanted[at]) {
            let mark = new.mark.key();
            let before = marks.get(&new.session.id, &mark).cloned();
            if before == new.value {
                continue;
            }
            let (path, session) = (new.session.path.clone(), new.session.id.clone());
            let change = MarkChange { path, session, mark, before, after: new.value.clone() };
            marks.set(&change.session, &change.mark, change.after.clone());
            begin(Begin::New(Change::Mark(change)))?;
        }
        Ok(())
    })?;
    if changes.is_empty() {
        return Ok(ChangeResult::nothing("the marks are already set like this"));
    }
    Ok(ChangeResult::of(ChangeStep::Make, changes, 0))
}

/// Gives a fork the tags of its parent, in the group of its other changes.
pub(super) fn inherit_tags(work: &mut Engine<'_>, parent: &str, fork: &ExpectedSession) -> Result<ChangeResult> {
    let marks = marks::read(work.marks)?;
    let tag = |tag: &str| NewMark { session: fork.clone(), mark: Mark::Tag(tag.into()), value: Some(true.into()) };
    let tags: Vec<NewMark> = marks.tags(parent).map(tag).collect();
    if tags.is_empty() { Ok(ChangeResult::default()) } else { make(work, &tags) }
}

/// Undoes or redoes all changes of marks among the records. [`again`] returns the results.
///
/// # Errors
/// The journal cannot be written.
pub(crate) fn all_again(work: &mut Engine<'_>, records: &[JournalRecord], step: ChangeStep) -> Result<()> {
    let records = || {
        records.iter().filter_map(|record| match &record.change {
            Change::Mark(change) => Some((record.number, change)),
            _ => None,
        })
    };
    if records().next().is_none() {
        return Ok(());
    }
    let mut results: HashMap<u64, Result<()>> = HashMap::new();
    let made = update(work, step, |marks, begin| {
        for (number, change) in records() {
            let now = marks.get(&change.session, &change.mark);
            let (from, to) = step.ends(&change.before, &change.after);
            if now != from.as_ref() {
                let reason = format!("the {} has changed", Mark::of_key(&change.mark));
                results.insert(number, overtaken(reason));
                continue;
            }
            marks.set(&change.session, &change.mark, to.clone());
            begin(Begin::Again(number))?;
        }
        Ok(())
    });
    if let Err(error) = made {
        let why = format!("{error:#}");
        for (number, _) in records() {
            results.entry(number).or_insert_with(|| Err(anyhow!(why.clone())));
        }
        // All changes fail together, so the first change reports the error with its type.
        if let Some((first, _)) = records().find(|(number, _)| !is_overtaken(&results[number])) {
            results.insert(first, Err(error));
        }
    }
    for (number, _) in records() {
        let result = results.remove(&number).unwrap_or(Ok(()));
        work.marked.insert(number, result);
    }
    Ok(())
}

fn is_overtaken(result: &Result<()>) -> bool {
    matches!(result.as_ref().map_err(Error::downcast_ref), Err(Some(Refusal::Overtaken { .. })))
}

/// Returns the result of a step that [`all_again`] took.
pub(super) fn again(work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
    if !work.marked.contains_key(&record.number) {
        all_again(work, std::slice::from_ref(record), step)?;
    }
    work.marked.remove(&record.number).unwrap_or(Ok(()))
}

/// The start of a step to record.
enum Begin {
    /// A new change.
    New(Change),
    /// An undo or redo of the change with this number.
    Again(u64),
}

/// Modifies the marks with `modify`, which records each step before, and writes them at once. Returns the new changes.
///
/// # Errors
/// Nothing was changed, or the result cannot be recorded.
fn update(
    work: &mut Engine<'_>,
    step: ChangeStep,
    modify: impl FnOnce(&mut Marks, &mut dyn FnMut(Begin) -> Result<()>) -> Result<()>,
) -> Result<Vec<Change>> {
    let Engine { marks: path, journal, watch, is_given_up, is_dry, warnings, .. } = work;
    let (mut numbers, mut changes) = (Vec::new(), Vec::new());
    if *is_dry {
        modify(&mut marks::read(path)?, &mut |begin| {
            match begin {
                Begin::New(change) => changes.push(change),
                Begin::Again(_) => {}
            }
            Ok(())
        })?;
        return Ok(changes);
    }
    let written = marks::update(path, &mut waiting(watch, is_given_up), |marks| {
        modify(marks, &mut |begin| {
            match begin {
                Begin::New(change) => {
                    numbers.push(journal.begin(&change, UndoLink::default())?);
                    changes.push(change);
                }
                Begin::Again(number) => {
                    journal.set(number, step.begun(), UndoLink::default())?;
                    numbers.push(number);
                }
            }
            Ok(())
        })?;
        if !numbers.is_empty() {
            journal.sync()?;
        }
        Ok(!numbers.is_empty())
    });
    // A failed write can have taken effect, so the file decides. If it is unreadable, the next start resolves it.
    let is_made = match &written {
        Ok(()) => Some(true),
        Err(_) => numbers.first().map_or(Some(false), |&first| {
            journal.records.find(first).and_then(|record| record.happened(step, &CurrentMarks::new(path)))
        }),
    };
    let noted = is_made.map_or(Ok(()), |is_made| {
        numbers.iter().try_for_each(|&number| journal.set(number, step.settled(is_made), UndoLink::default()))
    });
    match written {
        Err(error) if is_made != Some(true) => return Err(error), // more important than the journal
        Err(error) => warnings.push(format!("{error:#}")),
        Ok(()) => {}
    }
    noted.context("the changes were made, but")?;
    Ok(changes)
}

impl MarkChange {
    /// Describes the change in a few words on one line.
    pub(super) fn describe(&self) -> String {
        let mark = Mark::of_key(&self.mark);
        let of = if self.path.as_os_str().is_empty() { format!(" of session {}", self.session) } else { String::new() };
        let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(quoted);
        let done = match (&mark, &self.before, &self.after) {
            (Mark::Pin, _, Some(_)) => "pin".into(),
            (Mark::Pin, _, None) => "unpin".into(),
            (Mark::Tag(tag), _, Some(_)) => format!("add tag +{tag}"),
            (Mark::Tag(tag), _, None) => format!("remove tag +{tag}"),
            (mark, before, Some(_)) => {
                let to = text(&self.after).map(|to| format!(" to {to}")).unwrap_or_default();
                let was = text(before).map(|was| format!(" (was {was})")).unwrap_or_default();
                format!("set {mark}{to}{was}")
            }
            (mark, before, None) => {
                let was = text(before).map(|was| format!(" (was {was})")).unwrap_or_default();
                format!("clear {mark}{was}")
            }
        };
        done + &of
    }

    /// Returns `true` if a step was taken, or `None` if the marks cannot be read.
    pub(super) fn happened(&self, step: ChangeStep, marks: &CurrentMarks<'_>) -> Option<bool> {
        let now = marks.get()?.get(&self.session, &self.mark);
        Some(now == step.ends(&self.before, &self.after).1.as_ref())
    }
}
