//! What was changed up to now, as a list for people: which session a change was of, also when that is in the trash.

use std::path::Path;

use anyhow::Result;

use crate::changes::change::Change;
use crate::changes::journal::{Record, State};
use crate::changes::outcome::said;
use crate::changes::{Changes, journal};
use crate::disk::scan;

/// Of so many sessions in the trash, the newest, the names are read: nobody looks through more.
const NAMED: usize = 500;

/// A change that was made.
#[derive(Clone, Debug)]
pub struct Past {
    /// As the journal has it.
    pub record: Record,
    /// The title of a session that is in the trash, and the directory in which it worked, if that is known.
    pub session: Option<(String, String)>,
    /// Whether its file is known not to be in the trash any more, though it was not taken back.
    pub is_emptied: bool,
}

impl Past {
    /// Whether a session is in the trash by this change.
    pub fn is_away(&self) -> bool {
        matches!(self.record.change, Change::Trash(_)) && self.record.can_be_undone()
    }
}

/// What changes that were made together did, in a few words; may hold text from files.
pub fn in_words<'a>(records: impl Iterator<Item = &'a Record>) -> String {
    said(journal::Step::Make, &records.map(|record| record.change.clone()).collect::<Vec<_>>())
}

/// How it stands with a change that is not simply made, in a word.
pub fn state(state: State) -> Option<&'static str> {
    match state {
        State::Done => None,
        State::Undone => Some("undone"),
        State::Begun | State::Undoing | State::Redoing => Some("cut short"),
        State::Dropped => Some("not made"),
        State::Overtaken => Some("passed over"),
        State::Unknown => Some("as a newer pitree left it"),
    }
}

impl Changes {
    /// All changes, the newest first, with what is known of their sessions; as far as `is_wanted`.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn past(&self, home: &str, is_wanted: impl Fn() -> bool) -> Result<Vec<Past>> {
        let mut left = NAMED;
        let look = |record: Record| {
            let mut past = Past { record, session: None, is_emptied: false };
            if past.is_away() && is_wanted() {
                past.is_emptied = past.record.item.as_deref().is_some_and(|item| item.symlink_metadata().is_err());
                if !past.is_emptied && left > 0 {
                    left -= 1;
                    past.session = session(&past.record, home);
                }
            }
            past
        };
        Ok(self.history()?.into_iter().rev().map(look).collect())
    }
}

/// The title of the session that a change was of and its directory, if its file can be read where it is or in the trash.
pub(crate) fn session(record: &Record, home: &str) -> Option<(String, String)> {
    let read = |path: &Path| scan::again(path, None, home).ok().flatten();
    let digest = record.item.as_deref().and_then(read).or_else(|| read(record.change.path()))?;
    Some((digest.title().to_owned(), digest.header.cwd.clone()))
}
