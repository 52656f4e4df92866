//! The list of changes for display, with their sessions, including those in the trash.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::changes::Changes;
use crate::changes::change::{ChangeState, ChangeStep};
use crate::changes::journal::JournalRecord;
use crate::changes::request::summary;
use crate::disk::scan;

/// The maximum number of sessions in the trash whose names are read, newest first.
const MAX_NAMED: usize = 500;

/// A past change.
#[derive(Clone, Debug)]
pub struct HistoryEntry {
    /// The journal record.
    pub record: JournalRecord,
    /// The title and working directory of a session in the trash, if known.
    pub session: Option<(String, String)>,
    /// `true` if its file is no longer in the trash and was not restored.
    pub is_emptied: bool,
}

/// Summarizes changes that were made together; can contain text from files.
pub fn in_words<'a>(records: impl Iterator<Item = &'a JournalRecord>) -> String {
    summary(ChangeStep::Make, &records.map(|record| record.change.clone()).collect::<Vec<_>>())
}

/// Names a state other than done.
pub fn state(state: ChangeState) -> Option<&'static str> {
    match state {
        ChangeState::Done => None,
        ChangeState::Undone => Some("undone"),
        ChangeState::Begun | ChangeState::Undoing | ChangeState::Redoing => Some("interrupted"),
        ChangeState::Dropped => Some("not applied"),
        ChangeState::TargetChanged => Some("skipped"),
        ChangeState::Unknown => Some("changed by a newer pitree"),
    }
}

impl Changes {
    /// Returns all changes with data of their sessions, newest first. Stops when `is_wanted` returns `false`.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn history_with_sessions(&self, is_wanted: impl Fn() -> bool) -> Result<Vec<HistoryEntry>> {
        let all = self.history()?;
        let away = all.iter().rev().filter(|record| record.is_away()).take_while(|_| is_wanted());
        let (emptied, there): (Vec<&JournalRecord>, Vec<&JournalRecord>) = away.partition(|record| record.is_gone());
        let emptied: HashSet<u64> = emptied.into_iter().map(|record| record.number).collect();
        let mut sessions = sessions(&mut there.into_iter().take(MAX_NAMED), &all, &is_wanted);
        let past = |record: JournalRecord| {
            let (session, is_emptied) = (sessions.remove(&record.number), emptied.contains(&record.number));
            HistoryEntry { record, session, is_emptied }
        };
        Ok(all.into_iter().rev().map(past).collect())
    }
}

/// Returns the titles and working directories of changed sessions by change number. Their current paths follow from
/// `all` changes; unreadable files are skipped. Stops when `is_wanted` returns `false`.
pub fn sessions(
    records: &mut dyn Iterator<Item = &JournalRecord>,
    all: &[JournalRecord],
    is_wanted: &dyn Fn() -> bool,
) -> HashMap<u64, (String, String)> {
    let mut away: HashMap<&Path, Vec<&JournalRecord>> = HashMap::new();
    for record in all.iter().filter(|record| record.is_away()) {
        away.entry(record.change.path()).or_default().push(record);
    }
    let (mut files, mut places) = (HashMap::new(), Vec::new());
    for record in records {
        let place = record.change.path();
        // Another file may be in its place now.
        let went = away.get(place).and_then(|went| went.iter().find(|other| other.number >= record.number));
        let mut order = match went {
            Some(went) => [went.trash_path().filter(|_| !went.is_gone()), None],
            None => [Some(place), record.trash_path().or_else(|| record.change.other_path())],
        }
        .into_iter()
        .flatten();
        if let Some(file) = order.find_map(|path| scan::one(path, None)) {
            places.push((record.number, file.path.clone()));
            files.insert(file.path.clone(), file);
        }
    }
    let mut read: HashMap<PathBuf, (String, String)> = HashMap::new();
    scan::read(&files.into_values().collect::<Vec<_>>(), "", |batch| {
        let known = batch
            .sessions
            .into_iter()
            .map(|session| (session.path.clone(), (session.title().to_owned(), session.header.cwd.clone())));
        read.extend(known);
        is_wanted()
    });
    places.into_iter().filter_map(|(number, path)| Some((number, read.get(&path)?.clone()))).collect()
}
