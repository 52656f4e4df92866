//! What was changed up to now, as a list for people: which session a change was of, also when that is in the trash.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::changes::journal::{ChangeState, JournalRecord};
use crate::changes::result::said;
use crate::changes::{Changes, journal};
use crate::disk::files::Files;
use crate::disk::{scan, trash};

/// Of so many sessions in the trash, the newest, the names are read: nobody looks through more.
const NAMED: usize = 500;

/// A change that was made.
#[derive(Clone, Debug)]
pub struct HistoryEntry {
    /// As the journal has it.
    pub record: JournalRecord,
    /// The title of a session that is in the trash, and the directory in which it worked, if that is known.
    pub session: Option<(String, String)>,
    /// Whether its file is known not to be in the trash any more, though it was not taken back.
    pub is_emptied: bool,
}

impl HistoryEntry {
    /// Whether a session is in the trash by this change.
    pub fn is_away(&self) -> bool {
        self.record.is_away()
    }
}

/// What changes that were made together did, in a few words; may hold text from files.
pub fn in_words<'a>(records: impl Iterator<Item = &'a JournalRecord>) -> String {
    said(journal::ChangeStep::Make, &records.map(|record| record.change.clone()).collect::<Vec<_>>())
}

/// How it stands with a change that is not simply made, in a word.
pub fn state(state: ChangeState) -> Option<&'static str> {
    match state {
        ChangeState::Done => None,
        ChangeState::Undone => Some("undone"),
        ChangeState::Begun | ChangeState::Undoing | ChangeState::Redoing => Some("cut short"),
        ChangeState::Dropped => Some("not made"),
        ChangeState::Overtaken => Some("passed over"),
        ChangeState::Unknown => Some("as a newer pitree left it"),
    }
}

impl Changes {
    /// All changes, the newest first, with what is known of their sessions; as far as `is_wanted`.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn past(&self, is_wanted: impl Fn() -> bool) -> Result<Vec<HistoryEntry>> {
        let all = self.history()?;
        let away = all.iter().rev().filter(|record| record.is_away()).take_while(|_| is_wanted());
        let (emptied, there): (Vec<&JournalRecord>, Vec<&JournalRecord>) = away.partition(|record| is_gone(record));
        let emptied: HashSet<u64> = emptied.into_iter().map(|record| record.number).collect();
        let mut sessions = sessions(&mut there.into_iter().take(NAMED), &all, &is_wanted);
        let past = |record: JournalRecord| {
            let (session, is_emptied) = (sessions.remove(&record.number), emptied.contains(&record.number));
            HistoryEntry { record, session, is_emptied }
        };
        Ok(all.into_iter().rev().map(past).collect())
    }
}

/// Returns `true` if the file of a change is no longer in the trash.
fn is_gone(record: &JournalRecord) -> bool {
    record.item.as_ref().is_some_and(|kept| trash::is_gone(record.change.path(), kept))
}

/// The titles of the sessions of some changes and the directories in which they worked, by the numbers of the changes: of
/// those whose files can be read where they are now, as `all` changes tell, until `is_wanted` returns false.
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
        // What is in its place by now may be another one.
        let went = away.get(place).and_then(|went| went.iter().find(|other| other.number >= record.number));
        let mut order = match went {
            Some(went) => [went.place().filter(|_| !is_gone(went)), None],
            None => [Some(place), record.place()],
        }
        .into_iter()
        .flatten();
        if let Some(file) = order.find_map(|path| scan::one(Files::Disk, path, None)) {
            places.push((record.number, file.path.clone()));
            files.insert(file.path.clone(), file);
        }
    }
    let mut read: HashMap<PathBuf, (String, String)> = HashMap::new();
    scan::read(Files::Disk, &files.into_values().collect::<Vec<_>>(), "", |batch| {
        let known = batch.sessions.into_iter().map(|session| {
            let said = (session.title().to_owned(), session.header.cwd.clone());
            (session.path.clone(), said)
        });
        read.extend(known);
        is_wanted()
    });
    places.into_iter().filter_map(|(number, path)| Some((number, read.get(&path)?.clone()))).collect()
}
