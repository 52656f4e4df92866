//! Undo and redo. A change whose target was changed by another program is marked and not touched.

use std::collections::HashSet;

use anyhow::{Error, Result, anyhow, bail};

use crate::changes::change::{Change, ChangeState, ChangeStep};
use crate::changes::engine::Engine;
use crate::changes::history;
use crate::changes::journal::{JournalLine, JournalRecord};
use crate::changes::kinds::{line, marks};
use crate::changes::request::{self, ChangeResult, PartialFailure, Refusal, concerns_all};
use crate::changes::target::EarlierChange;

/// Undoes the last request.
pub(crate) fn undo_last(engine: &mut Engine<'_>) -> Result<ChangeResult> {
    let records = to_undo(&engine.journal.records.list)?;
    undo_or_redo(engine, &records, ChangeStep::Undo, true)
}

/// Refuses to undo the last change if another run of pitree made it.
///
/// # Errors
/// [`Refusal::Earlier`], or the change was made by a newer pitree.
pub(crate) fn ask_first(engine: &Engine<'_>, is_own: impl Fn(u64) -> bool) -> Result<()> {
    /// The maximum number of sessions named in the question.
    const MAX_NAMED: usize = 4;
    let records = to_undo(&engine.journal.records.list)?;
    let Some(last) = records.first().filter(|last| !is_own(last.group)) else { return Ok(()) };
    // In chronological order.
    let named = || records.iter().rev().take(MAX_NAMED);
    let mut known = history::sessions(&mut named(), &engine.journal.records.list, &|| true);
    let named = named().map(|record| {
        let title = known.remove(&record.number).map(|(title, _)| title);
        (record.change.path().to_path_buf(), title)
    });
    let earlier = EarlierChange {
        group: last.group,
        time: last.time,
        summary: history::in_words(records.iter().rev()),
        sessions: named.collect(),
        more: records.len().saturating_sub(MAX_NAMED),
    };
    Err(Refusal::Earlier(earlier).into())
}

/// Undoes all changes of a group.
pub(crate) fn undo_group(engine: &mut Engine<'_>, group: u64) -> Result<ChangeResult> {
    let is_in_group = |record: &&JournalRecord| record.group == group && record.can_be_undone();
    let records: Vec<JournalRecord> = engine.journal.records.list.iter().rev().filter(is_in_group).cloned().collect();
    records.iter().try_for_each(refuse_unknown)?;
    undo_or_redo(engine, &records, ChangeStep::Undo, false)
}

/// Undoes one change by number.
pub(crate) fn undo(engine: &mut Engine<'_>, number: u64) -> Result<ChangeResult> {
    let Some(record) = engine.journal.records.find(number).cloned() else {
        bail!("no change {number}; run `pitree undo --list` to list changes")
    };
    refuse_unknown(&record)?;
    if !record.can_be_undone() {
        bail!("change {number} is already reverted or was never applied; nothing to undo");
    }
    undo_or_redo(engine, &[record], ChangeStep::Undo, false)
}

/// Redoes the changes that were undone last.
pub(crate) fn redo(engine: &mut Engine<'_>) -> Result<ChangeResult> {
    let records = to_redo(&engine.journal.records.list)?;
    undo_or_redo(engine, &records, ChangeStep::Redo, true)
}

/// Takes a step with each record. Changes whose target was changed by another program are skipped and do not stop the
/// others; later undos skip them too.
fn undo_or_redo(
    engine: &mut Engine<'_>,
    records: &[JournalRecord],
    step: ChangeStep,
    is_in_turn: bool,
) -> Result<ChangeResult> {
    let (mut taken, mut passed, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut left, together) = (0, engine.together());
    let mut blocked = HashSet::new();
    marks::all_again(engine, records, step);
    for (at, record) in records.iter().enumerate() {
        // All marks change together.
        let is_mark = matches!(record.change, Change::Mark(_));
        if !is_mark && engine.is_stopped(at, records.len()) {
            left = records.len() - at;
            records[at..].iter().try_for_each(|record| engine.withdraw(record.number, step))?;
            break;
        }
        if at % together == 0 {
            let batch = &records[at..records.len().min(at + together)];
            engine.record_steps(batch, step)?;
            line::record_steps(engine, batch, step)?;
        }
        // A change that depends on a later change of the same file shares its result.
        if !is_mark && blocked.contains(record.change.path()) {
            engine.withdraw(record.number, step)?;
            continue;
        }
        let done = record.undo_or_redo(engine, step);
        engine.withdraw(record.number, step)?;
        if done.is_err() && !is_mark {
            blocked.insert(record.change.path());
        }
        match done.map_err(|error| (concerns_all(&error), error.downcast())) {
            Ok(()) => taken.push(record),
            Err((_, Ok(Refusal::TargetChanged { reason }))) => {
                if is_in_turn || record.state == ChangeState::TargetChanged {
                    engine.journal.set(record.number, ChangeState::TargetChanged, JournalLine::default())?;
                }
                passed.push((record.number, reason));
            }
            Err((is_last, error)) => {
                let error = error.map_or_else(|error| error, Error::from);
                failed.push((record.number, format!("{error:#}")));
                if is_last || engine.is_canceled {
                    records[at..].iter().try_for_each(|record| engine.withdraw(record.number, step))?;
                    break;
                }
            }
        }
    }
    let back = engine.append_late_lines();
    taken.retain(|record| back.iter().all(|(number, _)| *number != record.number));
    failed.extend(back);
    let journal = &engine.journal.records;
    let now = |record: &JournalRecord| journal.find(record.number).unwrap_or(record).change_of_last_step();
    let changes: Vec<Change> = taken.into_iter().map(now).collect();
    if !failed.is_empty() {
        let mut why = reasons(&failed);
        if step == ChangeStep::Undo && is_in_turn {
            why += " (still undoable; to undo an earlier change instead, see `pitree undo --list` and run `pitree undo NUMBER`)";
        }
        let also = if passed.is_empty() { String::new() } else { format!("; skipped: {}", reasons(&passed)) };
        return partly(changes, records.len(), step, anyhow!("{why}{also}"));
    }
    if let [(number, _), ..] = passed[..] {
        let mut reason = reasons(&passed);
        if step == ChangeStep::Undo {
            reason += &format!(" (skipped from now on; run `pitree undo {number}` to retry)");
        }
        return partly(changes, records.len(), step, Refusal::TargetChanged { reason }.into());
    }
    if changes.is_empty() {
        let verb = if step == ChangeStep::Undo { "undo" } else { "redo" };
        return Ok(ChangeResult::nothing(&format!("nothing to {verb}")));
    }
    Ok(ChangeResult::of(step, changes, left))
}

/// Creates the error for a request that was only partly completed.
fn partly(changes: Vec<Change>, all: usize, step: ChangeStep, error: Error) -> Result<ChangeResult> {
    if changes.is_empty() {
        return Err(error);
    }
    let verb = if step == ChangeStep::Undo { "undid" } else { "redid" };
    let summary = format!("{verb} {} of {all}; then failed: {error:#}", changes.len());
    Err(PartialFailure { changes, summary }.into())
}

/// Lists the reasons of skipped or failed changes.
fn reasons(passed: &[(u64, String)]) -> String {
    request::reasons(passed.iter().map(|(_, reason)| &**reason))
}

/// Returns the changes to undo, in this order: those of the last request that are done.
///
/// # Errors
/// A change was made by a newer pitree, which is neither undone nor skipped.
fn to_undo(records: &[JournalRecord]) -> Result<Vec<JournalRecord>> {
    let of_user = || records.iter().rev().filter(|record| !record.is_of_mirror());
    let last = of_user().find(|record| is_in_force(record)).map(|last| last.group);
    let group = of_user().filter(|record| Some(record.group) == last && is_in_force(record));
    group.map(|record| refuse_unknown(record).map(|()| record.clone())).collect()
}

/// Returns the changes to redo, in this order: those undone last, unless a new change was made since.
///
/// # Errors
/// The errors of [`to_undo`].
fn to_redo(records: &[JournalRecord]) -> Result<Vec<JournalRecord>> {
    let is_undone = |record: &&JournalRecord| record.state == ChangeState::Undone;
    let of_user = || records.iter().filter(|record| !record.is_of_mirror());
    let begun_at = of_user().map(|record| record.begun_at).max().unwrap_or_default();
    let last = of_user().filter(is_undone).max_by_key(|record| record.undone_at);
    let last = last.filter(|last| last.undone_at > begun_at).map(|last| last.group);
    let group = of_user().filter(is_undone).filter(|record| Some(record.group) == last);
    group.map(|record| refuse_unknown(record).map(|()| record.clone())).collect()
}

/// Returns `true` if undo must not skip the change. A change of a newer pitree can be in effect even if it seems
/// interrupted.
fn is_in_force(record: &JournalRecord) -> bool {
    match record.state {
        ChangeState::Done | ChangeState::Unknown => true,
        ChangeState::Begun | ChangeState::Undoing | ChangeState::Redoing => !record.is_known(),
        ChangeState::Undone | ChangeState::Dropped | ChangeState::TargetChanged => false,
    }
}

fn refuse_unknown(record: &JournalRecord) -> Result<()> {
    if record.is_known() {
        return Ok(());
    }
    let what = record.change.describe();
    let what = match record.state {
        ChangeState::Unknown => format!("{what}, last updated by a newer pitree"),
        _ => what,
    };
    bail!(
        "cannot undo or redo change {}: {what}; update pitree, or undo another change by number (run `pitree undo --list` to list them)",
        record.number
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::change::LineChange;
    use crate::changes::journal::{Journal, JournalRecords};

    fn change(name: &str) -> Change {
        let after = Some(name.into());
        let (path, entry) = ("/s.jsonl".into(), "e".into());
        Change::Name(LineChange { path, entry, target: None, before: None, after })
    }

    fn undone(journal: &Journal) -> Vec<u64> {
        to_undo(&journal.records.list).unwrap().iter().map(|record| record.number).collect()
    }

    fn redone(journal: &Journal) -> Vec<u64> {
        to_redo(&journal.records.list).unwrap().iter().map(|record| record.number).collect()
    }

    fn made(journal: &mut Journal, group: Option<u64>, name: &str) -> u64 {
        journal.group = group;
        let number = journal.begin(&change(name), JournalLine::default()).unwrap();
        journal.set(number, ChangeState::Done, JournalLine::default()).unwrap();
        number
    }

    #[test]
    fn undo_and_redo_go_back_and_forth_across_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), 0, &mut |_| panic!("no lock is held")).unwrap();
        for name in ["a", "b", "c"] {
            made(&mut journal, None, name);
        }
        journal.set(3, ChangeState::Undone, JournalLine::default()).unwrap();
        journal.set(2, ChangeState::Undone, JournalLine::default()).unwrap();
        drop(journal);
        let mut journal = Journal::open(dir.path(), 0, &mut |_| panic!("no lock is held")).unwrap();
        assert_eq!((undone(&journal), redone(&journal)), (vec![1], vec![2]));
        journal.set(2, ChangeState::Done, JournalLine::default()).unwrap();
        assert_eq!((undone(&journal), redone(&journal)), (vec![2], vec![3]));
        let number = made(&mut journal, None, "d");
        assert_eq!((undone(&journal), redone(&journal)), (vec![4], vec![]), "a new change ends redo");
        journal.set(number, ChangeState::Undone, JournalLine::default()).unwrap();
        assert_eq!(redone(&journal), [4], "and not what was undone before it");
        assert_eq!(JournalRecords::of(dir.path()).unwrap().list, journal.records.list);
    }

    #[test]
    fn what_was_made_together_is_undone_together() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), 0, &mut |_| panic!("no lock is held")).unwrap();
        made(&mut journal, None, "alone");
        let group = made(&mut journal, None, "a");
        made(&mut journal, Some(group), "b");
        assert_eq!(undone(&journal), [3, 2]);
        for number in [3, 2] {
            journal.set(number, ChangeState::Undone, JournalLine::default()).unwrap();
        }
        assert_eq!((undone(&journal), redone(&journal)), (vec![1], vec![2, 3]));
    }
}
