//! The journal of what pitree changed: what makes undo possible, across restarts. One JSON value a line, appended only,
//! readable by its owner alone. A change is written down before it is made; one that was cut short between the two is
//! found at the next look, and the file itself tells whether it happened.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::disk::append::Draft;
use crate::disk::create;

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
    /// About to be undone, and perhaps undone.
    Undoing,
    /// Made and undone.
    Undone,
    /// About to be made again, and perhaps made.
    Redoing,
    /// Never made.
    Dropped,
    /// Made, and changed by somebody else since: undo passes it over.
    Overtaken,
}

impl State {
    /// Whether the next step was begun, and nobody wrote down how it ended.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Begun | Self::Undoing | Self::Redoing)
    }
}

/// A change in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number, from 1.
    pub number: u64,
    /// The number of the first change of those that were made by one request: they are undone together.
    pub group: u64,
    /// When it was made, in milliseconds since 1970.
    pub time: i64,
    /// What was changed.
    pub change: Change,
    /// How far it is.
    pub state: State,
    /// The ids of the lines that were appended for it: to make it, to undo it, to make it again.
    pub entries: Vec<String>,
    /// The last of those lines, as it was to be written.
    pub(crate) draft: Option<Draft>,
    /// The place of its first line in the journal.
    begun_at: u64,
    /// The place of the line at which it was undone last.
    undone_at: u64,
}

/// A line of the journal: a new change, or a new state of one.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    number: u64,
    time: i64,
    state: State,
    /// The group of a new change, if it is not the first of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<u64>,
    /// The id of the line that leads to the new state, if it is not that of a new change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// The line that leads to the new state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draft: Option<Draft>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    change: Option<Change>,
}

/// The changes that the lines of a journal tell of.
#[derive(Debug, Default)]
struct Records {
    list: Vec<Record>,
    /// Lines so far.
    lines: u64,
}

impl Records {
    /// Takes the lines of a journal; returns whether the last one is whole. A line that is torn or unknown is passed
    /// over.
    fn read(&mut self, from: impl Read) -> std::io::Result<bool> {
        let mut reader = BufReader::new(from);
        let mut bytes = Vec::new();
        let mut ended = true;
        while reader.read_until(b'\n', &mut bytes)? > 0 {
            ended = bytes.ends_with(b"\n");
            if let Ok(line) = serde_json::from_slice(&bytes) {
                self.take(line);
            }
            bytes.clear();
        }
        Ok(ended)
    }

    fn take(&mut self, line: Line) {
        self.lines += 1;
        let Line { number, time, state, group, entry, draft, change } = line;
        match change {
            Some(change) => {
                let entries = change.entry().map(str::to_string).into_iter().collect();
                let group = group.unwrap_or(number);
                self.list.push(Record {
                    number,
                    group,
                    time,
                    change,
                    state,
                    entries,
                    draft,
                    begun_at: self.lines,
                    undone_at: 0,
                });
            }
            None => {
                let known = self.list.iter_mut().rev().find(|record| record.number == number);
                let Some(record) = known else { return };
                record.state = state;
                record.entries.extend(entry);
                record.draft = draft.or(record.draft.take());
                if state == State::Undone {
                    record.undone_at = self.lines;
                }
            }
        }
    }
}

/// The journal, open and held against other pitrees.
pub struct Journal {
    file: File,
    path: PathBuf,
    records: Records,
}

/// The file of a journal in its directory.
fn file_in(dir: &Path) -> PathBuf {
    dir.join("journal.jsonl")
}

/// The changes in the journal of a state directory, the oldest first; none if there is no journal.
///
/// # Errors
/// It can't be read.
pub fn read(dir: &Path) -> Result<Vec<Record>> {
    let path = file_in(dir);
    let mut records = Records::default();
    match File::open(&path).and_then(|file| records.read(file)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        result => drop(result.with_context(|| format!("can't read the journal {}", path.display()))?),
    }
    Ok(records.list)
}

impl Journal {
    /// Opens the journal in the state directory, or begins one.
    ///
    /// # Errors
    /// It can't be read or written.
    pub fn open(dir: &Path) -> Result<Self> {
        let path = file_in(dir);
        let opened = || {
            fs::create_dir_all(dir)?;
            let file = create::private().read(true).append(true).create(true).open(&path)?;
            file.lock()?;
            Ok::<File, std::io::Error>(file)
        };
        let file = opened().with_context(|| format!("can't open the journal {}", path.display()))?;
        let mut journal = Self { file, path, records: Records::default() };
        let read = journal.records.read(&journal.file);
        if !read.with_context(|| format!("can't read the journal {}", journal.path.display()))? {
            journal.write(b"\n")?;
        }
        Ok(journal)
    }

    /// The changes, the oldest first.
    pub fn records(&self) -> &[Record] {
        &self.records.list
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let failed = || format!("can't write to the journal {}", self.path.display());
        self.file.write_all(bytes).with_context(failed)
    }

    fn note(&mut self, line: Line) -> Result<()> {
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        self.write(&bytes)?;
        self.records.take(line);
        Ok(())
    }

    /// Writes down a change that is about to be made, by a line if there is a `draft` of one; returns its number, which
    /// is that of the `group` if it is the first of one.
    ///
    /// # Errors
    /// The journal can't be written: the change must not be made then.
    pub fn begin(&mut self, time: i64, group: Option<u64>, change: Change, draft: Option<Draft>) -> Result<u64> {
        let number = self.records().last().map_or(1, |record| record.number + 1);
        self.note(Line { number, time, state: State::Begun, group, entry: None, draft, change: Some(change) })?;
        Ok(number)
    }

    /// Writes down how far a change is now; `by` are the id and the draft of the line that is about to be appended for
    /// that.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn set(&mut self, number: u64, time: i64, state: State, by: Option<(&str, &Draft)>) -> Result<()> {
        let (entry, draft) = by.map(|(entry, draft)| (entry.to_string(), draft.clone())).unzip();
        self.note(Line { number, time, state, group: None, entry, draft, change: None })
    }

    /// Settles the changes that were cut short: `happened` tells from the files whether the last step was made.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn mend(&mut self, time: i64, happened: impl Fn(&Record) -> bool) -> Result<()> {
        let settled = |record: &Record| {
            let (before, after) = match record.state {
                State::Begun => (State::Dropped, State::Done),
                State::Undoing => (State::Done, State::Undone),
                State::Redoing => (State::Undone, State::Done),
                State::Done | State::Undone | State::Dropped | State::Overtaken => return None,
            };
            Some((record.number, if happened(record) { after } else { before }))
        };
        let settled: Vec<(u64, State)> = self.records().iter().filter_map(settled).collect();
        for (number, state) in settled {
            self.set(number, time, state, None)?;
        }
        Ok(())
    }
}

/// The changes that undo takes back, in the order of undoing: those of the last request that are made.
pub fn to_undo(records: &[Record]) -> Vec<Record> {
    let is_made = |record: &&Record| record.state == State::Done;
    let last = records.iter().rev().find(is_made).map(|last| last.group);
    records.iter().rev().filter(is_made).filter(|record| Some(record.group) == last).cloned().collect()
}

/// The changes that redo makes again, in their order: those undone last, if none was made since.
pub fn to_redo(records: &[Record]) -> Vec<Record> {
    let is_undone = |record: &&Record| record.state == State::Undone;
    let begun_at = records.iter().map(|record| record.begun_at).max().unwrap_or_default();
    let last = records.iter().filter(is_undone).max_by_key(|record| record.undone_at);
    let last = last.filter(|last| last.undone_at > begun_at).map(|last| last.group);
    records.iter().filter(is_undone).filter(|record| Some(record.group) == last).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str) -> Change {
        Change::Name { path: "/s.jsonl".into(), entry: "e".into(), before: None, after: Some(name.into()) }
    }

    fn numbers(records: &[Record]) -> Vec<u64> {
        records.iter().map(|record| record.number).collect()
    }

    fn made(journal: &mut Journal, group: Option<u64>, name: &str) -> u64 {
        let number = journal.begin(0, group, change(name), None).unwrap();
        journal.set(number, 0, State::Done, None).unwrap();
        number
    }

    #[test]
    fn undo_and_redo_go_back_and_forth_across_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        for name in ["a", "b", "c"] {
            made(&mut journal, None, name);
        }
        journal.set(3, 0, State::Undone, None).unwrap();
        journal.set(2, 0, State::Undone, None).unwrap();
        drop(journal);
        let mut journal = Journal::open(dir.path()).unwrap();
        assert_eq!((numbers(&to_undo(journal.records())), numbers(&to_redo(journal.records()))), (vec![1], vec![2]));
        journal.set(2, 0, State::Done, None).unwrap();
        assert_eq!((numbers(&to_undo(journal.records())), numbers(&to_redo(journal.records()))), (vec![2], vec![3]));
        let number = made(&mut journal, None, "d");
        assert_eq!(
            (numbers(&to_undo(journal.records())), numbers(&to_redo(journal.records()))),
            (vec![4], vec![]),
            "a new change ends redo"
        );
        journal.set(number, 0, State::Undone, None).unwrap();
        assert_eq!(numbers(&to_redo(journal.records())), [4], "and not what was undone before it");
        assert_eq!(read(dir.path()).unwrap(), journal.records());
    }

    #[test]
    fn what_was_made_together_is_undone_together() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        made(&mut journal, None, "alone");
        let group = made(&mut journal, None, "a");
        made(&mut journal, Some(group), "b");
        assert_eq!(numbers(&to_undo(journal.records())), [3, 2]);
        for number in [3, 2] {
            journal.set(number, 0, State::Undone, None).unwrap();
        }
        assert_eq!((numbers(&to_undo(journal.records())), numbers(&to_redo(journal.records()))), (vec![1], vec![2, 3]));
    }

    #[test]
    fn what_was_cut_short_is_settled_by_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        for state in [State::Begun, State::Undoing, State::Redoing] {
            for name in ["made", "not made"] {
                let number = journal.begin(0, None, change(name), None).unwrap();
                let draft = Draft { at: 0, text: String::new() };
                journal.set(number, 0, state, Some(("undo", &draft))).unwrap();
            }
        }
        drop(journal);
        let path = dir.path().join("journal.jsonl");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"number\":3,\"torn");
        fs::write(&path, text).unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        journal.mend(0, |one| one.change == change("made")).unwrap();
        drop(journal);
        let records = read(dir.path()).unwrap();
        let states: Vec<State> = records.iter().map(|record| record.state).collect();
        assert_eq!(states, [State::Done, State::Dropped, State::Undone, State::Done, State::Done, State::Undone]);
        assert_eq!(records[0].entries, ["e", "undo"]);
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
