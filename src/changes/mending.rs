//! Completion of earlier changes: leftovers and results of those that were interrupted, and late lines of pis.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::base::paths::ExactPath;
use crate::changes::change::{Change, ChangeState};
use crate::changes::journal::{Journal, JournalLine, JournalRecord};
use crate::disk::append;
use crate::disk::marks::CurrentMarks;
use crate::disk::trash::TrashBatch;
use crate::disk::vacated::{self, VacatedFile};

/// Removes leftovers of interrupted changes and records their results. Then looks for late lines of vacated files. Returns
/// warnings.
pub(crate) fn mend(journal: &mut Journal, trash: &mut TrashBatch<'_>, marks: &CurrentMarks<'_>) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    journal.mend(|record, step| {
        if let Some(draft) = &record.draft {
            // If the file is not writable, the partial line stays; the next line is separate.
            let _ = append::take_back_part(record.change.path(), draft);
        }
        let cleared = record.clear(trash);
        warnings.extend(cleared.err().map(|error| format!("{error:#}")));
        let vacated = std::mem::take(&mut trash.vacated).into_iter().map(ExactPath).collect();
        Some((record.was_applied(step, marks)?, vacated))
    })?;
    let has_vacated = |record: &&JournalRecord| !record.vacated.is_empty() && record.interrupted_step().is_none();
    let numbers: Vec<u64> = journal.records.list.iter().filter(has_vacated).map(|record| record.number).collect();
    let (back, more) = append_late_lines(journal, trash, &numbers, Duration::ZERO);
    warnings.extend(more.into_iter().chain(back.into_iter().map(|(_, reason)| reason)));
    Ok(warnings)
}

/// Carries over the late lines of the files that changes vacated. Waits until no process has them open for writing, and
/// looks again in the next request if one still has. Returns the numbers of the changes that were reverted because a pi
/// writes to an archived session, with the reasons, and other problems.
pub(crate) fn append_late_lines(
    journal: &mut Journal,
    trash: &mut TrashBatch<'_>,
    numbers: &[u64],
    timeout: Duration,
) -> (Vec<(u64, String)>, Vec<String>) {
    let (mut back, mut warnings) = (Vec::new(), Vec::new());
    let vacated = |number: &u64| journal.records.find(*number).map(|record| (*number, record.vacated()));
    let vacated: Vec<(u64, Vec<VacatedFile>)> = numbers.iter().filter_map(vacated).collect();
    let paths: Vec<PathBuf> = vacated.iter().flat_map(|(_, files)| files).map(|file| file.path.clone()).collect();
    let mut quiet = if paths.is_empty() { Vec::new() } else { vacated::wait_for_writers(&paths, timeout) }.into_iter();
    for (number, files) in vacated {
        let Some(record) = journal.records.find(number).cloned() else { continue };
        let mut left = Vec::new();
        let mut state = record.state;
        for file in files {
            let is_quiet = quiet.next().unwrap_or(false);
            let is_lost = file.append_late_lines().map_err(anyhow::Error::from);
            let is_in_use = is_lost.as_ref().is_ok_and(|is_lost| *is_lost) || (!is_quiet && !timeout.is_zero());
            let done = match record.change.archive().filter(|_| file.to.is_none() && is_in_use) {
                Some(change) => change.put_back(&file.path, trash).map(|reason| {
                    back.push((number, reason));
                    state = record.reverted();
                    true
                }),
                None => is_lost.map(|_| is_quiet),
            };
            match done {
                Ok(true) => file.remove(),
                Ok(false) => left.push(ExactPath(file.path)),
                Err(error) => {
                    warnings.push(format!("cannot keep the last lines in {}: {error:#}", file.path.display()));
                    left.push(ExactPath(file.path));
                }
            }
        }
        if let Change::Move(change) = &record.change
            && state == ChangeState::Undone
        {
            change.remove_folders();
        }
        left.extend(std::mem::take(&mut trash.vacated).into_iter().map(ExactPath));
        if (&left, state) != (&record.vacated, record.state) {
            let recorded = journal.set(number, state, JournalLine { vacated: left, ..JournalLine::default() });
            warnings.extend(recorded.err().map(|error| format!("{error:#}")));
        }
    }
    (back, warnings)
}
