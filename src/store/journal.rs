//! The journal of what pitree changed: what makes undo possible, across restarts. One JSON value a line, appended only,
//! readable by its owner alone. A change is written down before it is made; one that was cut short between the two is
//! found at the next look, and the file itself tells whether it happened.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// What was changed: enough to tell it, to undo it and to do it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A session's name was set, or cleared.
    Name {
        /// The session file.
        path: PathBuf,
        /// The id of the line that did it.
        entry: String,
        /// The name before.
        before: Option<String>,
        /// The name after.
        after: Option<String>,
    },
    /// An entry's label was set, or cleared.
    Label {
        /// The session file.
        path: PathBuf,
        /// The id of the line that did it.
        entry: String,
        /// The labelled entry.
        target: String,
        /// The label before.
        before: Option<String>,
        /// The label after.
        after: Option<String>,
    },
    /// The leaf was moved.
    Leaf {
        /// The session file.
        path: PathBuf,
        /// The id of the line that did it.
        entry: String,
        /// The leaf before.
        before: Option<String>,
        /// The entry that it was moved to.
        after: Option<String>,
    },
    /// A new session file was made.
    Fork {
        /// The new file.
        path: PathBuf,
        /// Its length when it was made, in bytes: a longer one was used since.
        bytes: u64,
    },
    /// A file was moved to the trash.
    Trash {
        /// Where it was.
        path: PathBuf,
        /// Its length in bytes; of a symbolic link, its own.
        bytes: u64,
        /// Whether it is a symbolic link: then what it points at stays.
        link: bool,
    },
    /// A file of an old version was brought into the form of version 3.
    Migrate {
        /// The session file.
        path: PathBuf,
        /// Under which path the file that does not count lies in the trash: the old one, or after undo the new one.
        kept: PathBuf,
        /// The length of the new form when it was made, in bytes.
        bytes: u64,
        /// The version before.
        version: u32,
    },
}

impl Change {
    /// The file that was changed or made.
    pub fn path(&self) -> &Path {
        match self {
            Self::Name { path, .. }
            | Self::Label { path, .. }
            | Self::Leaf { path, .. }
            | Self::Fork { path, .. }
            | Self::Trash { path, .. }
            | Self::Migrate { path, .. } => path,
        }
    }

    /// What it does, in a few words on one line, without the path of the session; may hold text from files.
    pub fn describe(&self) -> String {
        let was =
            |before: &Option<String>| before.as_ref().map_or(String::new(), |before| format!(" (was {before:?})"));
        match self {
            Self::Name { before, after, .. } => match after {
                Some(name) => format!("name {name:?}{}", was(before)),
                None => format!("no name{}", was(before)),
            },
            Self::Label { target, before, after, .. } => match after {
                Some(label) => format!("label {label:?} on {target}{}", was(before)),
                None => format!("no label on {target}{}", was(before)),
            },
            Self::Leaf { after, .. } => match after {
                Some(entry) => format!("leaf moved to {entry}"),
                None => "leaf moved to before the first entry".into(),
            },
            Self::Fork { .. } => "new session".into(),
            Self::Trash { link, .. } => if *link { "link to the trash" } else { "to the trash" }.into(),
            Self::Migrate { version, .. } => format!("from version {version} to version 3; the original to the trash"),
        }
    }

    /// The id of the line that made the change, if one did.
    pub fn entry(&self) -> Option<&str> {
        match self {
            Self::Name { entry, .. } | Self::Label { entry, .. } | Self::Leaf { entry, .. } => Some(entry),
            Self::Fork { .. } | Self::Trash { .. } | Self::Migrate { .. } => None,
        }
    }
}

/// How far a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Written down, and perhaps made.
    Begun,
    /// Made.
    Done,
    /// Made and undone.
    Undone,
    /// Never made.
    Dropped,
}

/// A change in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number, from 1.
    pub number: u64,
    /// When it was made, in milliseconds since 1970.
    pub time: i64,
    /// What was changed.
    pub change: Change,
    /// How far it is.
    pub state: State,
}

/// A line of the journal: a new change, or a new state of one.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    number: u64,
    time: i64,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<Change>,
}

/// The journal, open and held against other pitrees.
pub struct Journal {
    file: File,
    path: PathBuf,
    /// The changes, the oldest first.
    pub records: Vec<Record>,
}

impl Journal {
    /// Opens the journal in the state directory, or begins one.
    ///
    /// # Errors
    /// It can't be read or written. A line that is torn or unknown is passed over.
    pub fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("journal.jsonl");
        let opened = || {
            fs::create_dir_all(dir)?;
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&path)?;
            file.lock()?;
            Ok::<File, std::io::Error>(file)
        };
        let file = opened().with_context(|| format!("can't open the journal {}", path.display()))?;
        let mut journal = Self { file, path, records: Vec::new() };
        journal.read()?;
        Ok(journal)
    }

    fn read(&mut self) -> Result<()> {
        let mut reader = BufReader::new(&self.file);
        let mut bytes = Vec::new();
        let mut records: Vec<Record> = Vec::new();
        let mut ended = true;
        while reader.read_until(b'\n', &mut bytes).with_context(|| format!("can't read {}", self.path.display()))? > 0 {
            ended = bytes.ends_with(b"\n");
            if let Ok(Line { number, time, state, change }) = serde_json::from_slice(&bytes) {
                let known = records.iter_mut().rev().find(|record| record.number == number);
                match (known, change) {
                    (Some(record), _) => record.state = state,
                    (None, Some(change)) => records.push(Record { number, time, change, state }),
                    (None, None) => {}
                }
            }
            bytes.clear();
        }
        self.records = records;
        if !ended {
            self.write(b"\n")?;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).with_context(|| format!("can't write to the journal {}", self.path.display()))
    }

    fn note(&mut self, line: &Line) -> Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.write(&bytes)
    }

    /// Writes down a change that is about to be made; returns its number.
    ///
    /// # Errors
    /// The journal can't be written: the change must not be made then.
    pub fn begin(&mut self, time: i64, change: Change) -> Result<u64> {
        let number = self.records.last().map_or(1, |record| record.number + 1);
        self.note(&Line { number, time, state: State::Begun, change: Some(change.clone()) })?;
        self.records.push(Record { number, time, change, state: State::Begun });
        Ok(number)
    }

    /// Writes down how far a change is now.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn set(&mut self, number: u64, time: i64, state: State) -> Result<()> {
        self.note(&Line { number, time, state, change: None })?;
        if let Some(record) = self.records.iter_mut().find(|record| record.number == number) {
            record.state = state;
        }
        Ok(())
    }

    /// Settles the changes that were cut short: `happened` tells from the file whether they were made.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn mend(&mut self, time: i64, happened: impl Fn(&Change) -> bool) -> Result<()> {
        let begun: Vec<(u64, bool)> = self
            .records
            .iter()
            .filter(|record| record.state == State::Begun)
            .map(|record| (record.number, happened(&record.change)))
            .collect();
        for (number, happened) in begun {
            self.set(number, time, if happened { State::Done } else { State::Dropped })?;
        }
        Ok(())
    }

    /// The change that undo takes back: the last one that is made.
    pub fn to_undo(&self) -> Option<&Record> {
        self.records.iter().rev().find(|record| record.state == State::Done)
    }

    /// The change that redo makes again: the one undone last, if none was made since.
    pub fn to_redo(&self) -> Option<&Record> {
        let made_last = self.records.iter().rposition(|record| record.state == State::Done).map_or(0, |at| at + 1);
        self.records[made_last..].iter().find(|record| record.state == State::Undone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str) -> Change {
        Change::Name { path: "/s.jsonl".into(), entry: "e".into(), before: None, after: Some(name.into()) }
    }

    fn numbers(record: Option<&Record>) -> Option<u64> {
        record.map(|record| record.number)
    }

    #[test]
    fn undo_and_redo_go_back_and_forth_across_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        for name in ["a", "b", "c"] {
            let number = journal.begin(0, change(name)).unwrap();
            journal.set(number, 0, State::Done).unwrap();
        }
        journal.set(3, 0, State::Undone).unwrap();
        journal.set(2, 0, State::Undone).unwrap();
        drop(journal);
        let mut journal = Journal::open(dir.path()).unwrap();
        assert_eq!((numbers(journal.to_undo()), numbers(journal.to_redo())), (Some(1), Some(2)));
        let number = journal.begin(0, change("d")).unwrap();
        journal.set(number, 0, State::Done).unwrap();
        assert_eq!((numbers(journal.to_undo()), numbers(journal.to_redo())), (Some(4), None), "a new change ends redo");
    }

    #[test]
    fn what_was_cut_short_is_settled_by_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        journal.begin(0, change("made")).unwrap();
        journal.begin(0, change("not made")).unwrap();
        drop(journal);
        let path = dir.path().join("journal.jsonl");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"number\":3,\"torn");
        fs::write(&path, text).unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        journal.mend(0, |one| *one == change("made")).unwrap();
        drop(journal);
        let journal = Journal::open(dir.path()).unwrap();
        let states: Vec<State> = journal.records.iter().map(|record| record.state).collect();
        assert_eq!(states, [State::Done, State::Dropped]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        drop(Journal::open(dir.path()).unwrap());
        let mode = fs::metadata(dir.path().join("journal.jsonl")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
