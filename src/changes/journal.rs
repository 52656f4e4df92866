//! The journal of changes, which makes undo possible across restarts. It has one JSON value per line, is append-only
//! and private. Each change is recorded before it is made. If it is interrupted, the next access finds it, and the file
//! itself shows whether it was made.
//!
//! The first line has the format version; without it, the version is 1. Within a version, a newer pitree can add kinds
//! of changes, states and optional fields. Unknown changes are preserved and numbered, but neither undone nor skipped.
//! Paths that are not UTF-8 are an example. Incompatible formats need a new version, with a line that declares it. Such
//! a journal is read as far as possible and never written.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::base::path_context::PathContext;
use crate::base::paths::ExactPath;
pub use crate::changes::change::ChangeState;
use crate::changes::change::{Change, ChangeStep};
pub use crate::changes::record::JournalRecord;
use crate::disk::append::PendingLine;
use crate::disk::create;
use crate::disk::files::open_regular;
use crate::disk::fingerprint::Fingerprint;
use crate::disk::lock::{self, LockObserver};
use crate::disk::trash::TrashEntry;

/// The written format version.
const VERSION: u64 = 1;

/// A line of the journal: a new change, or a new state of a change. [`Journal::begin`] and [`Journal::set`] complete the
/// data of a step with its number, time, state and group.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct JournalLine {
    pub(crate) number: u64,
    pub(crate) time: i64,
    pub(crate) state: ChangeState,
    /// The group of a new change, unless it starts the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<u64>,
    /// The ids of the lines to append for the new state, unless they belong to a new change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) entries: Vec<String>,
    /// The lines to append for the new state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) draft: Option<PendingLine>,
    /// The place in the trash for the file in the new state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<ExactPath>,
    /// The fingerprint of the file that goes to the trash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<Fingerprint>,
    /// The change, if it is new or was recorded without data that was unknown then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<Change>,
    /// The files that the step vacated, and to which a pi may still write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) vacated: Vec<ExactPath>,
}

/// The line that declares the version of the following lines.
#[derive(Debug, Serialize, Deserialize)]
struct JournalHeader {
    /// The program that wrote the journal.
    journal: String,
    version: u64,
}

/// The changes recorded in a journal.
#[derive(Debug, Default)]
pub(crate) struct JournalRecords {
    /// The changes, oldest first.
    pub(crate) list: Vec<JournalRecord>,
    /// The index in the list by change number.
    places: HashMap<u64, usize>,
    /// The ids of all lines that pitree appended to files.
    lines_of_ours: HashSet<String>,
    /// The number of lines so far.
    lines: u64,
    /// The highest number so far, including changes whose first line is missing.
    highest: u64,
    /// The highest version in the file.
    version: u64,
}

impl JournalRecords {
    /// Reads the journal of a state directory; empty if there is none.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub(crate) fn of(dir: &Path) -> Result<Self> {
        let path = file_in(dir);
        let mut records = Self::default();
        let read = open_regular(&path, File::options().read(true)).and_then(|file| records.read(file));
        if let Err(error) = read
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(with_help(error)).path_context("cannot read the journal", path);
        }
        Ok(records)
    }

    /// Returns the change with a number.
    pub(crate) fn find(&self, number: u64) -> Option<&JournalRecord> {
        self.places.get(&number).map(|&at| &self.list[at])
    }

    /// Returns `true` if pitree appended the line with this id.
    pub(crate) fn is_ours(&self, id: &str) -> bool {
        self.lines_of_ours.contains(id)
    }

    /// Returns an error if the journal in `dir` has a version that cannot be written.
    pub(crate) fn check_version(&self, dir: &Path) -> Result<()> {
        if self.version > VERSION {
            bail!(
                "the journal {} has version {}, but this pitree supports only version {VERSION}; update pitree to make changes",
                file_in(dir).display(),
                self.version
            );
        }
        Ok(())
    }

    /// Reads lines of a journal. Skips invalid lines. Returns `true` if the last line is complete.
    fn read(&mut self, from: impl Read) -> std::io::Result<bool> {
        let mut reader = BufReader::new(from);
        let mut bytes = Vec::new();
        let mut ended = true;
        while reader.read_until(b'\n', &mut bytes)? > 0 {
            ended = bytes.ends_with(b"\n");
            if let Ok(line) = serde_json::from_slice(&bytes) {
                self.take(line);
            } else if let Ok(header) = serde_json::from_slice::<JournalHeader>(&bytes) {
                self.version = self.version.max(header.version);
            }
            bytes.clear();
        }
        Ok(ended)
    }

    fn take(&mut self, line: JournalLine) {
        self.lines += 1;
        let JournalLine { number, time, state, group, entries, draft, item, file, change, vacated } = line;
        let place = item.map(|ExactPath(place)| place);
        let item = (place.is_some() || file.is_some()).then_some(TrashEntry { place, time, file });
        self.highest = self.highest.max(number);
        self.lines_of_ours.extend(entries.iter().cloned());
        let begun = self.places.get(&number).map(|&at| &mut self.list[at]);
        let begun = begun.filter(|record| [record.state, state] == [ChangeState::Begun; 2]);
        let change = match (begun, change) {
            (Some(record), Some(change)) => {
                record.change = change;
                None
            }
            (Some(_), None) => None,
            (None, change) => change,
        };
        if let Some(change) = change {
            let entries = change.entries().to_vec();
            self.lines_of_ours.extend(entries.iter().cloned());
            self.places.insert(number, self.list.len());
            let (group, begun_at) = (group.unwrap_or(number), self.lines);
            let (item_before, undone_at) = (None, 0);
            self.list.push(JournalRecord {
                number,
                group,
                time,
                change,
                state,
                entries,
                draft,
                item,
                item_before,
                vacated,
                begun_at,
                undone_at,
            });
        } else if let Some(&at) = self.places.get(&number) {
            let record = &mut self.list[at];
            if record.state.step().is_some_and(|step| state == step.ended(false)) {
                record.item = record.item_before.take();
            } else {
                if state.step().is_some() && record.state != state {
                    record.item_before.clone_from(&record.item);
                }
                record.item = item.or(record.item.take());
            }
            record.state = state;
            record.vacated = vacated;
            record.entries.extend(entries);
            record.draft = draft.or(record.draft.take());
            if state == ChangeState::Undone {
                record.undone_at = self.lines;
            }
        }
    }
}

/// The journal during one request, open and locked. The changes of the request form a group. A dry run writes nothing.
pub(crate) struct Journal {
    /// The open file; `None` in a dry run.
    file: Option<File>,
    path: PathBuf,
    /// The changes so far.
    pub(crate) records: JournalRecords,
    /// The current time in milliseconds since 1970.
    now: i64,
    /// The first change of the request.
    pub(crate) group: Option<u64>,
    /// The groups of changes that were made or redone.
    pub(crate) groups: BTreeSet<u64>,
    /// The number of bytes already read into the records.
    end: u64,
    /// `true` if the file ends with a partial line.
    is_torn: bool,
    /// `true` while the journal is locked; it is only written then.
    is_held: bool,
}

/// The journal cannot be written, so no further change can be made.
#[derive(Debug, Error)]
#[error("{0:#}")]
pub(crate) struct JournalError(anyhow::Error);

/// Adds a hint to the error for a journal that is not a regular file.
fn with_help(error: std::io::Error) -> std::io::Error {
    match error.kind() {
        kind @ std::io::ErrorKind::InvalidData => std::io::Error::new(kind, format!("{error}; rename or delete it")),
        _ => error,
    }
}

/// Returns the path of the journal in a directory.
fn file_in(dir: &Path) -> PathBuf {
    dir.join("journal.jsonl")
}

impl Journal {
    fn new(dir: &Path, now: i64, file: Option<File>, records: JournalRecords) -> Self {
        let (path, groups) = (file_in(dir), BTreeSet::new());
        Self { file, path, records, now, group: None, groups, end: 0, is_torn: false, is_held: true }
    }

    /// Reads the journal of a state directory for a dry run.
    ///
    /// # Errors
    /// The journal cannot be read, or has a newer version.
    pub(crate) fn closed(dir: &Path, now: i64) -> Result<Self> {
        let records = JournalRecords::of(dir)?;
        records.check_version(dir)?;
        Ok(Self::new(dir, now, None, records))
    }

    /// Opens or creates the journal in the state directory. `wait` is notified about a lock.
    ///
    /// # Errors
    /// The journal cannot be read or written, has a newer version, or is locked.
    pub(crate) fn open(dir: &Path, now: i64, wait: LockObserver<'_>) -> Result<Self> {
        let path = file_in(dir);
        let opened = create::private_folder(dir).and_then(|()| {
            let mut options = create::private();
            let file = lock::open(options.read(true).append(true).create(true), &path, wait).map_err(with_help)?;
            create::make_private(&file).map_err(|error| {
                let why = format!("cannot set its mode to 600: {error}");
                std::io::Error::new(error.kind(), why)
            })?;
            Ok(file)
        });
        let file = opened.map_err(|error| match lock::has_no_locks(&error) {
            true => anyhow!(
                "cannot lock the journal {}: no file locking on this file system; set XDG_STATE_HOME to a directory on another one ({error})",
                path.display()
            ),
            false => anyhow!(error).context(format!("cannot open the journal {}", path.display())),
        })?;
        let mut journal = Self::new(dir, now, Some(file), JournalRecords::default());
        journal.read()?;
        journal.records.check_version(dir)?;
        if journal.end == 0 {
            journal.write(&JournalHeader { journal: "pitree".into(), version: VERSION })?;
            create::sync_folder(&journal.path);
        }
        Ok(journal)
    }

    /// Reads new lines into the records.
    fn read(&mut self) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut read = || {
            file.seek(SeekFrom::Start(self.end))?;
            self.is_torn = !self.records.read(&*file)?;
            self.end = file.metadata()?.len();
            Ok::<_, std::io::Error>(())
        };
        read().path_context("cannot read the journal", &self.path)
    }

    /// Releases the lock while `work` runs. Returns its result, and the result of taking the lock again.
    pub(crate) fn released<T>(
        &mut self,
        wait: LockObserver<'_>,
        work: impl FnOnce(LockObserver<'_>) -> T,
    ) -> (T, Result<()>) {
        let Some(file) = &self.file else { return (work(wait), Ok(())) };
        let freed = file.unlock();
        self.is_held = false;
        let done = work(&mut *wait);
        let again = freed.and_then(|()| lock::take(file, wait)).and_then(|()| {
            let is_ours = lock::is_at(file, &self.path)?;
            if is_ours { Ok(()) } else { Err(std::io::Error::other("another file has replaced it")) }
        });
        let again = again.path_context("cannot continue with the journal", &self.path);
        self.is_held = again.is_ok();
        let again = again.and_then(|()| self.read());
        (done, again.map_err(JournalError).context("cannot record the change"))
    }

    /// Syncs the journal, before the recorded steps are taken.
    ///
    /// # Errors
    /// [`JournalError`]; the recorded steps must not be taken.
    pub(crate) fn sync(&self) -> Result<()> {
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_data);
        let synced = synced.path_context("cannot write to the journal", &self.path);
        Ok(synced.map_err(JournalError)?)
    }

    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        if !self.is_held {
            bail!("the journal {} is locked by another program", self.path.display());
        }
        let mut bytes = if self.is_torn { vec![b'\n'] } else { Vec::new() };
        serde_json::to_writer(&mut bytes, line)?;
        bytes.push(b'\n');
        self.is_torn = true;
        let written = file.write_all(&bytes);
        written.path_context("cannot write to the journal", &self.path)?;
        self.is_torn = false;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Records a new change before it is made, with data of the pending step. Returns its number.
    ///
    /// # Errors
    /// [`JournalError`]; the change must not be made.
    pub(crate) fn begin(&mut self, change: &Change, line: JournalLine) -> Result<u64> {
        let number = self.records.highest.checked_add(1);
        let number = number.path_context("no change number left in the journal", &self.path);
        let number = number.map_err(JournalError)?;
        let (group, change) = (self.group, Some(change.clone()));
        self.set(number, ChangeState::Begun, JournalLine { group, change, ..line })?;
        self.groups.insert(*self.group.get_or_insert(number));
        Ok(number)
    }

    /// Records a new state of a change, with data of the pending step.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(crate) fn set(&mut self, number: u64, state: ChangeState, line: JournalLine) -> Result<()> {
        if state == ChangeState::Redoing {
            self.groups.extend(self.records.find(number).map(|record| record.group));
        }
        let line = JournalLine { number, time: self.now, state, ..line };
        self.write(&line).map_err(JournalError)?;
        self.records.take(line);
        Ok(())
    }

    /// Records the result of a step.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(crate) fn record_step_result(&mut self, number: u64, step: ChangeStep, is_taken: bool) -> Result<()> {
        self.set(number, step.ended(is_taken), JournalLine::default())
    }

    /// Records the results of interrupted changes. `was_applied` determines from the files if a step was taken, and which
    /// files were vacated. Changes that cannot be checked now are skipped.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(crate) fn mend(
        &mut self,
        mut was_applied: impl FnMut(&JournalRecord, ChangeStep) -> Option<(bool, Vec<ExactPath>)>,
    ) -> Result<()> {
        let settled = |record: &JournalRecord| {
            let step = record.interrupted_step()?;
            let (is_taken, vacated) = was_applied(record, step)?;
            Some((record.number, step.ended(is_taken), vacated))
        };
        let settled: Vec<_> = self.records.list.iter().filter_map(settled).collect();
        for (number, state, vacated) in settled {
            self.set(number, state, JournalLine { vacated, ..JournalLine::default() })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::changes::change::LineChange;

    fn change(name: &str) -> Change {
        let after = Some(name.into());
        let (path, entry) = ("/s.jsonl".into(), "e".into());
        Change::Name(LineChange { path, entry, target: None, before: None, after })
    }

    #[test]
    fn what_was_cut_short_is_settled_by_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), 0, &mut |_| panic!("no lock is held")).unwrap();
        for state in [ChangeState::Begun, ChangeState::Undoing, ChangeState::Redoing] {
            for name in ["made", "not made"] {
                let number = journal.begin(&change(name), JournalLine::default()).unwrap();
                let draft = PendingLine { at: 0, text: String::new() };
                journal
                    .set(
                        number,
                        state,
                        JournalLine { entries: vec!["undo".into()], draft: Some(draft), ..JournalLine::default() },
                    )
                    .unwrap();
            }
        }
        drop(journal);
        let path = dir.path().join("journal.jsonl");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"number\":3,\"torn");
        fs::write(&path, text).unwrap();
        let mut journal = Journal::open(dir.path(), 0, &mut |_| panic!("no lock is held")).unwrap();
        journal.mend(|one, _| Some((one.change == change("made"), Vec::new()))).unwrap();
        drop(journal);
        let records = JournalRecords::of(dir.path()).unwrap().list;
        let states: Vec<ChangeState> = records.iter().map(|record| record.state).collect();
        assert_eq!(
            states,
            [
                ChangeState::Done,
                ChangeState::Dropped,
                ChangeState::Undone,
                ChangeState::Done,
                ChangeState::Done,
                ChangeState::Undone
            ]
        );
        assert_eq!(records[0].entries, ["e", "undo"]);
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_no_text_have_a_form_that_others_keep() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().unwrap();
        let odd = |bytes: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(bytes));
        let mut journal = Journal::open(dir.path(), 7, &mut |_| panic!("no lock is held")).unwrap();
        for (path, item) in [("/s".into(), "/t".into()), (odd(b"/\xff"), odd(b"/t/\xff")), ("/s".into(), odd(b"\xfe"))]
        {
            let change = Change::Trash(crate::changes::change::TrashChange { path, bytes: 1, link: false });
            journal.group = None;
            let number =
                journal.begin(&change, JournalLine { item: Some(ExactPath(item)), ..JournalLine::default() }).unwrap();
            journal.set(number, ChangeState::Done, JournalLine::default()).unwrap();
        }
        assert_eq!(JournalRecords::of(dir.path()).unwrap().list, journal.records.list);
        let text = fs::read_to_string(file_in(dir.path())).unwrap();
        let begun: Vec<&str> = text.lines().filter(|line| line.contains("begun")).collect();
        let line = |number: u64, item: &str, path: &str| {
            let start = format!("{{\"number\":{number},\"time\":7,\"state\":\"begun\",{item},");
            format!("{start}\"change\":{{\"kind\":\"trash\",\"path\":{path},\"bytes\":1,\"link\":false}}}}")
        };
        assert_eq!(begun[0], line(1, r#""item":"/t""#, r#""/s""#));
        assert_eq!(begun[1], line(2, r#""item":{"bytes":"L3Qv/w=="}"#, r#"{"bytes":"L/8="}"#));
        assert_eq!(begun[2], line(3, r#""item":{"bytes":"/g=="}"#, r#""/s""#));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let dir = tempfile::tempdir().unwrap();
        let (new, open) = (dir.path().join("new/state"), dir.path().join("open"));
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        fs::write(open.join("journal.jsonl"), "").unwrap();
        fs::set_permissions(open.join("journal.jsonl"), fs::Permissions::from_mode(0o644)).unwrap();
        for state in [&new, &open] {
            drop(Journal::open(state, 0, &mut |_| panic!("no lock is held")).unwrap());
            assert_eq!((mode(state), mode(&state.join("journal.jsonl"))), (0o700, 0o600), "{}", state.display());
        }
    }
}
