//! What the sessions of changes are called.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::changes::Change;
use crate::changes::journal::Record;
use crate::disk::files::Files;
use crate::disk::scan;

/// The titles of sessions that were changed.
pub(super) struct Titles {
    /// Where the file of a change is, by its number.
    places: HashMap<u64, PathBuf>,
    titles: HashMap<PathBuf, String>,
}

impl Titles {
    /// Reads the sessions of some changes where they are now: in their places, or in the trash, as all changes tell.
    pub(super) fn of<'a>(records: impl Iterator<Item = &'a Record>, all: &[Record]) -> Self {
        let is_away = |record: &&Record| matches!(record.change, Change::Trash(_)) && record.can_be_undone();
        let away =
            all.iter().filter(is_away).filter_map(|record| Some((record.change.path(), record.item.as_deref()?)));
        let away: HashMap<&Path, &Path> = away.collect();
        let (mut places, mut files) = (HashMap::new(), HashMap::new());
        for record in records {
            let place = record.change.path();
            // Where a file is away there may be another one by now.
            let own = record.item.as_deref().filter(|_| is_away(&record));
            let mut order =
                own.into_iter().chain([place]).chain(away.get(place).copied()).chain(record.item.as_deref());
            if let Some(file) = order.find_map(|path| scan::one(Files::Disk, path, None)) {
                places.insert(record.number, file.path.clone());
                files.insert(file.path.clone(), file);
            }
        }
        let mut titles = HashMap::new();
        scan::read(Files::Disk, &files.into_values().collect::<Vec<_>>(), "", |batch| {
            titles
                .extend(batch.sessions.into_iter().map(|session| (session.path.clone(), session.title().to_string())));
            true
        });
        Self { places, titles }
    }

    /// The title of the session of a change, if it can be read.
    pub(super) fn get(&self, record: &Record) -> Option<&str> {
        self.titles.get(self.places.get(&record.number)?).map(String::as_str)
    }
}
