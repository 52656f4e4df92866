//! Changes of lasting marks: pins, tags and notes. The marks of a request are recorded, then written at once.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use crate::changes::change::{Change, ChangeStep, MarkChange};
use crate::changes::engine::{Engine, waiting};
use crate::changes::journal::{JournalLine, JournalRecord};
use crate::changes::kinds::{quoted, target_changed};
use crate::changes::request::ChangeResult;
use crate::changes::target::{ExpectedSession, NewMark};
use crate::disk::marks::{self, CurrentMarks};
use crate::session::marks::{Mark, Marks};

/// A step of a change of a mark.
struct MarkStep {
    /// The number of the change; `None` for a new one.
    number: Option<u64>,
    change: MarkChange,
    /// An error if another program has changed the mark.
    result: Result<()>,
}

/// Sets or removes marks. If a mark has several values, the last value is used.
pub(crate) fn make(engine: &mut Engine<'_>, wanted: &[NewMark]) -> Result<ChangeResult> {
    let mut last = BTreeMap::new();
    for (at, new) in wanted.iter().enumerate() {
        last.insert((&*new.session.id, new.mark.key()), at);
    }
    let mut order: Vec<usize> = last.into_values().collect();
    order.sort_unstable();
    let step = |at: usize| {
        let NewMark { session: ExpectedSession { path, id }, mark, value } = wanted[at].clone();
        let change = MarkChange { path, session: id, mark: mark.key(), before: None, after: value };
        MarkStep { number: None, change, result: Ok(()) }
    };
    let mut steps: Vec<MarkStep> = order.into_iter().map(step).collect();
    take_steps(engine, ChangeStep::Make, &mut steps)?;
    let changes = steps.into_iter().map(|step| step.change).filter(|change| change.before != change.after);
    let changes: Vec<Change> = changes.map(Change::Mark).collect();
    if changes.is_empty() {
        return Ok(ChangeResult::nothing("the marks are already set like this"));
    }
    Ok(ChangeResult::of(ChangeStep::Make, changes, 0))
}

/// Gives a fork the tags of its parent, in the group of its other changes.
pub(super) fn inherit_tags(engine: &mut Engine<'_>, parent: &str, fork: &ExpectedSession) -> Result<ChangeResult> {
    let marks = marks::read(engine.marks)?;
    let tag = |tag: &str| NewMark { session: fork.clone(), mark: Mark::Tag(tag.into()), value: Some(true.into()) };
    let tags: Vec<NewMark> = marks.tags(parent).map(tag).collect();
    if tags.is_empty() { Ok(ChangeResult::default()) } else { make(engine, &tags) }
}

/// Undoes or redoes all changes of marks among the records. [`undo_or_redo`] returns the results.
pub(crate) fn all_again(engine: &mut Engine<'_>, records: &[JournalRecord], step: ChangeStep) {
    let of_mark = |record: &JournalRecord| match &record.change {
        Change::Mark(change) => Some(MarkStep { number: Some(record.number), change: change.clone(), result: Ok(()) }),
        _ => None,
    };
    let mut steps: Vec<MarkStep> = records.iter().filter_map(of_mark).collect();
    if steps.is_empty() {
        return;
    }
    if let Err(error) = take_steps(engine, step, &mut steps) {
        // All changes fail together, so the first change reports the error with its type.
        let reason = format!("{error:#}");
        let mut first = Some(error);
        for failed in steps.iter_mut().filter(|step| step.result.is_ok()) {
            failed.result = Err(first.take().unwrap_or_else(|| anyhow!(reason.clone())));
        }
    }
    engine.marked.extend(steps.into_iter().filter_map(|step| Some((step.number?, step.result))));
}

/// Returns the result of a step that [`all_again`] took.
pub(super) fn undo_or_redo(engine: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
    if !engine.marked.contains_key(&record.number) {
        all_again(engine, std::slice::from_ref(record), step);
    }
    engine.marked.remove(&record.number).unwrap_or(Ok(()))
}

/// Records steps, and writes the marks at once. Sets the results of the steps, and the values before new changes.
///
/// # Errors
/// Nothing was changed, or the result cannot be recorded.
fn take_steps(engine: &mut Engine<'_>, step: ChangeStep, steps: &mut [MarkStep]) -> Result<()> {
    let Engine { marks: path, journal, watch, is_canceled, is_dry, warnings, .. } = engine;
    let mut numbers = Vec::new();
    let mut modify = |marks: &mut Marks| {
        for MarkStep { number, change, result } in &mut *steps {
            let now = marks.get(&change.session, &change.mark).cloned();
            if number.is_none() {
                change.before.clone_from(&now);
            }
            let (from, to) = step.ends(&change.before, &change.after);
            if now != *from {
                *result = target_changed(format!("the {} has changed", Mark::of_key(&change.mark)));
            }
            if now != *from || from == to {
                continue;
            }
            marks.set(&change.session, &change.mark, to.clone());
            if *is_dry {
                continue;
            }
            numbers.push(match *number {
                Some(number) => journal.set(number, step.begun(), JournalLine::default()).map(|()| number)?,
                None => journal.begin(&Change::Mark(change.clone()), JournalLine::default())?,
            });
        }
        if !numbers.is_empty() {
            journal.sync()?;
        }
        Ok(!numbers.is_empty())
    };
    let written = match is_dry {
        true => marks::read(path).and_then(|mut marks| modify(&mut marks)).map(drop),
        false => marks::update(path, &mut waiting(watch, is_canceled), modify),
    };
    // A failed write can have taken effect, so the file decides. If it is unreadable, the next start resolves it.
    let is_made = match &written {
        Ok(()) => Some(true),
        Err(_) => numbers.first().map_or(Some(false), |&first| {
            journal.records.find(first).and_then(|record| record.was_applied(step, &CurrentMarks::new(path)))
        }),
    };
    let recorded = is_made.map_or(Ok(()), |is_made| {
        numbers.iter().try_for_each(|&number| journal.record_step_result(number, step, is_made))
    });
    match written {
        Err(error) if is_made != Some(true) => return Err(error), // more important than the journal
        Err(error) => warnings.push(format!("{error:#}")),
        Ok(()) => {}
    }
    recorded.context("the changes were made, but")
}

impl MarkChange {
    /// Describes the change in a few words on one line.
    pub(super) fn describe(&self) -> String {
        let mark = Mark::of_key(&self.mark);
        let of = if self.path.as_os_str().is_empty() { format!(" of session {}", self.session) } else { String::new() };
        let quote = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(quoted);
        let was = quote(&self.before).map(|was| format!(" (was {was})")).unwrap_or_default();
        let done = match (&mark, &self.after) {
            (Mark::Pin, Some(_)) => "pin".into(),
            (Mark::Pin, None) => "unpin".into(),
            (Mark::Tag(tag), Some(_)) => format!("add tag +{tag}"),
            (Mark::Tag(tag), None) => format!("remove tag +{tag}"),
            (mark, Some(_)) => {
                let to = quote(&self.after).map(|to| format!(" to {to}")).unwrap_or_default();
                format!("set {mark}{to}{was}")
            }
            (mark, None) => format!("clear {mark}{was}"),
        };
        done + &of
    }

    /// Returns `true` if a step was taken, or `None` if the marks cannot be read.
    pub(super) fn was_applied(&self, step: ChangeStep, marks: &CurrentMarks<'_>) -> Option<bool> {
        let now = marks.get()?.get(&self.session, &self.mark);
        Some(now == step.ends(&self.before, &self.after).1.as_ref())
    }
}
