//! Changes taken back, and made again. What somebody else changed since is not touched: such a change is overtaken.

use anyhow::{Error, Result, anyhow, bail};

use crate::base::numbers::thousands;
use crate::changes::change::Change;
use crate::changes::engine::Engine;
use crate::changes::history;
use crate::changes::journal::{ChangeState, ChangeStep, JournalRecord};
use crate::changes::result::{ChangeResult, EarlierChange, PartialFailure, Refusal};
use crate::changes::transaction::JournalError;
use crate::disk::trash::{CommandTimeout, TrashRefused};

/// Takes back what the last request did.
pub(crate) fn undo_last(work: &mut Engine<'_>) -> Result<ChangeResult> {
    let records = to_undo(work.past().list())?;
    again(work, &records, ChangeStep::Undo, true)
}

/// Refuses to take back what was done last if that is not one's own.
///
/// # Errors
/// [`Refusal::Earlier`], or it is of a newer pitree.
pub(crate) fn ask_first(work: &Engine<'_>, is_own: impl Fn(u64) -> bool) -> Result<()> {
    /// As many sessions are named.
    const NAMED: usize = 4;
    let records = to_undo(work.past().list())?;
    let Some(last) = records.first().filter(|last| !is_own(last.group)) else { return Ok(()) };
    // In the order in which it was done.
    let named = || records.iter().rev().take(NAMED);
    let mut known = history::sessions(&mut named(), work.past().list(), &|| true);
    let named = named().map(|record| {
        let title = known.remove(&record.number).map(|(title, _)| title);
        (record.change.path().to_path_buf(), title)
    });
    let earlier = EarlierChange {
        group: last.group,
        time: last.time,
        said: history::in_words(records.iter().rev()),
        sessions: named.collect(),
        more: records.len().saturating_sub(NAMED),
    };
    Err(Refusal::Earlier(earlier).into())
}

/// Takes back what was made together.
pub(crate) fn undo_group(work: &mut Engine<'_>, group: u64) -> Result<ChangeResult> {
    let is_it = |record: &&JournalRecord| record.group == group && record.can_be_undone();
    let records: Vec<JournalRecord> = work.past().list().iter().rev().filter(is_it).cloned().collect();
    records.iter().try_for_each(refuse_unknown)?;
    again(work, &records, ChangeStep::Undo, false)
}

/// Takes back one change, by its number.
pub(crate) fn undo(work: &mut Engine<'_>, number: u64) -> Result<ChangeResult> {
    let Some(record) = work.past().find(number).cloned() else {
        bail!("there is no change {number}; `pitree undo --list` shows those that there are")
    };
    refuse_unknown(&record)?;
    if !record.can_be_undone() {
        bail!("change {number} is not there to be undone");
    }
    again(work, &[record], ChangeStep::Undo, false)
}

/// Makes again what was taken back last.
pub(crate) fn redo(work: &mut Engine<'_>) -> Result<ChangeResult> {
    let records = to_redo(work.past().list())?;
    again(work, &records, ChangeStep::Redo, true)
}

/// Takes a step with each record. What somebody else was faster with is passed over: it stops none of the others, and is
/// not next in turn any more.
fn again(work: &mut Engine<'_>, records: &[JournalRecord], step: ChangeStep, is_in_turn: bool) -> Result<ChangeResult> {
    let (mut changes, mut passed, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut left, together) = (0, work.together());
    for (at, record) in records.iter().enumerate() {
        if work.is_stopped(at, records.len()) {
            left = records.len() - at;
            records[at..].iter().try_for_each(|record| work.withdraw(record.number, step))?;
            break;
        }
        if at % together == 0 {
            work.will_do_again(&records[at..records.len().min(at + together)], step)?;
        }
        // What was made behind another change of the same file stands and falls with it.
        let is_blocked = |(number, _): &(u64, String)| {
            let other = records.iter().find(|other| other.number == *number);
            other.is_some_and(|other| other.change.path() == record.change.path())
        };
        if failed.iter().chain(&passed).any(is_blocked) {
            work.withdraw(record.number, step)?;
            continue;
        }
        let done = record.change.again(work, record, step);
        work.withdraw(record.number, step)?;
        match done.map_err(|error| (concerns_all(&error), error.downcast())) {
            Ok(()) => changes.push(record.change.clone()),
            Err((_, Ok(Refusal::Overtaken { reason }))) => {
                if is_in_turn || record.state == ChangeState::Overtaken {
                    work.overtake(record.number)?;
                }
                passed.push((record.number, reason));
            }
            Err((is_last, error)) => {
                let error = error.map_or_else(|error| error, Error::from);
                failed.push((record.number, format!("{error:#}")));
                if is_last || work.is_given_up() {
                    records[at..].iter().try_for_each(|record| work.withdraw(record.number, step))?;
                    break;
                }
            }
        }
    }
    if !failed.is_empty() {
        let mut said = reasons(&failed);
        if step == ChangeStep::Undo && is_in_turn {
            said += " (it can be undone later; `pitree undo --list` shows the changes before it, and `pitree undo NUMBER` undoes one of them)";
        }
        let also = if passed.is_empty() { String::new() } else { format!("; passed over: {}", reasons(&passed)) };
        return partly(changes, records.len(), step, anyhow!("{said}{also}"));
    }
    if let [(number, _), ..] = passed[..] {
        let mut reason = reasons(&passed);
        if step == ChangeStep::Undo {
            reason += &format!(" (passed over from now on; `pitree undo {number}` tries it again)");
        }
        return partly(changes, records.len(), step, Refusal::Overtaken { reason }.into());
    }
    if changes.is_empty() {
        return Ok(ChangeResult::nothing(&format!("nothing to be {}", word(step))));
    }
    Ok(ChangeResult::of(step, changes, left))
}

/// Whether what failed would fail with every other change.
fn concerns_all(error: &Error) -> bool {
    error.is::<JournalError>() || error.is::<TrashRefused>() || error.is::<CommandTimeout>()
}

/// That not all was done, and why not.
fn partly(changes: Vec<Change>, all: usize, step: ChangeStep, error: Error) -> Result<ChangeResult> {
    if changes.is_empty() {
        return Err(error);
    }
    let said = format!("{} of {all} {}; then: {error:#}", changes.len(), word(step));
    Err(PartialFailure { changes, said }.into())
}

/// Why changes were passed over, or failed.
fn reasons(passed: &[(u64, String)]) -> String {
    /// More are hardly read.
    const MOST: usize = 3;
    let mut said: Vec<String> = passed.iter().take(MOST).map(|(_, reason)| reason.clone()).collect();
    if passed.len() > MOST {
        said.push(format!("and {} more", thousands(passed.len() - MOST)));
    }
    said.join("; ")
}

fn word(step: ChangeStep) -> &'static str {
    if step == ChangeStep::Undo { "undone" } else { "done again" }
}

/// The changes that undo takes back, in the order of undoing: those of the last request that are made.
///
/// # Errors
/// One of them is of a newer pitree: it is neither undone by guessing nor passed over.
fn to_undo(records: &[JournalRecord]) -> Result<Vec<JournalRecord>> {
    let last = records.iter().rev().find(|record| is_in_force(record)).map(|last| last.group);
    let group = records.iter().rev().filter(|record| Some(record.group) == last && is_in_force(record));
    group.map(|record| refuse_unknown(record).map(|()| record.clone())).collect()
}

/// The changes that redo makes again, in their order: those undone last, if none was made since.
///
/// # Errors
/// As [`to_undo`].
fn to_redo(records: &[JournalRecord]) -> Result<Vec<JournalRecord>> {
    let is_undone = |record: &&JournalRecord| record.state == ChangeState::Undone;
    let begun_at = records.iter().map(|record| record.begun_at).max().unwrap_or_default();
    let last = records.iter().filter(is_undone).max_by_key(|record| record.undone_at);
    let last = last.filter(|last| last.undone_at > begun_at).map(|last| last.group);
    let group = records.iter().filter(is_undone).filter(|record| Some(record.group) == last);
    group.map(|record| refuse_unknown(record).map(|()| record.clone())).collect()
}

/// Whether undo must not go on to an earlier change. One of a newer pitree may be in force while it looks cut short.
fn is_in_force(record: &JournalRecord) -> bool {
    match record.state {
        ChangeState::Done | ChangeState::Unknown => true,
        ChangeState::Begun | ChangeState::Undoing | ChangeState::Redoing => !record.is_known(),
        ChangeState::Undone | ChangeState::Dropped | ChangeState::Overtaken => false,
    }
}

fn refuse_unknown(record: &JournalRecord) -> Result<()> {
    if record.is_known() {
        return Ok(());
    }
    let what = record.change.describe();
    let what = match record.state {
        ChangeState::Unknown => format!("{what}: a newer pitree did something with it"),
        _ => what,
    };
    bail!(
        "change {} can't be undone or done again by this pitree: {what}. Update pitree, or undo another change by its number; `pitree undo --list` shows them",
        record.number
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::change::{Change, NameChange};
    use crate::changes::journal::{Journal, JournalRecords, UndoLink};

    fn change(name: &str) -> Change {
        Change::Name(NameChange { path: "/s.jsonl".into(), entry: "e".into(), before: None, after: Some(name.into()) })
    }

    fn undone(journal: &Journal) -> Vec<u64> {
        to_undo(journal.records().list()).unwrap().iter().map(|record| record.number).collect()
    }

    fn redone(journal: &Journal) -> Vec<u64> {
        to_redo(journal.records().list()).unwrap().iter().map(|record| record.number).collect()
    }

    fn made(journal: &mut Journal, group: Option<u64>, name: &str) -> u64 {
        let number = journal.begin(0, group, change(name), UndoLink::default()).unwrap();
        journal.set(number, 0, ChangeState::Done, UndoLink::default()).unwrap();
        number
    }

    #[test]
    fn undo_and_redo_go_back_and_forth_across_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), &mut |_| panic!("nobody holds it")).unwrap();
        for name in ["a", "b", "c"] {
            made(&mut journal, None, name);
        }
        journal.set(3, 0, ChangeState::Undone, UndoLink::default()).unwrap();
        journal.set(2, 0, ChangeState::Undone, UndoLink::default()).unwrap();
        drop(journal);
        let mut journal = Journal::open(dir.path(), &mut |_| panic!("nobody holds it")).unwrap();
        assert_eq!((undone(&journal), redone(&journal)), (vec![1], vec![2]));
        journal.set(2, 0, ChangeState::Done, UndoLink::default()).unwrap();
        assert_eq!((undone(&journal), redone(&journal)), (vec![2], vec![3]));
        let number = made(&mut journal, None, "d");
        assert_eq!((undone(&journal), redone(&journal)), (vec![4], vec![]), "a new change ends redo");
        journal.set(number, 0, ChangeState::Undone, UndoLink::default()).unwrap();
        assert_eq!(redone(&journal), [4], "and not what was undone before it");
        assert_eq!(JournalRecords::of(dir.path()).unwrap().list(), journal.records().list());
    }

    #[test]
    fn what_was_made_together_is_undone_together() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), &mut |_| panic!("nobody holds it")).unwrap();
        made(&mut journal, None, "alone");
        let group = made(&mut journal, None, "a");
        made(&mut journal, Some(group), "b");
        assert_eq!(undone(&journal), [3, 2]);
        for number in [3, 2] {
            journal.set(number, 0, ChangeState::Undone, UndoLink::default()).unwrap();
        }
        assert_eq!((undone(&journal), redone(&journal)), (vec![1], vec![2, 3]));
    }
}
