//! Everything that changes sessions, whoever asks for it: the browser and the commands hand in a [`Request`]. A change
//! is written into the journal, made, and noted as made, one after the other and one pitree at a time. How a line gets
//! into a file is said in [`append`], what the trash is in [`trash`](crate::disk::trash).

mod fork;
pub mod journal;
mod line;
mod migrate;
mod remove;
mod undo;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::changes::journal::{Change, Journal, Record, State};
use crate::disk::append;
use crate::disk::append::Draft;
use crate::disk::files::Files;
use crate::disk::load;
use crate::disk::trash::Trash;
use crate::session::digest::summary::Summary;
use crate::session::tree::{Index, Tree};
use crate::session::write::line::new_id;

/// Which entry is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The one with this id.
    Id(String),
    /// The one in this place among the entries: files of version 1 have no ids.
    Place(Index),
}

impl Target {
    /// How an entry of a tree is meant in later versions of its file.
    pub fn of(tree: &Tree, at: Index) -> Self {
        match &tree.nodes[at as usize].id {
            Some(id) => Self::Id(id.to_string()),
            None => Self::Place(at),
        }
    }

    /// Where the entry is in a tree.
    pub fn find(&self, tree: &Tree) -> Option<Index> {
        match self {
            Self::Id(id) => tree.find(id),
            Self::Place(at) => Some(*at).filter(|&at| (at as usize) < tree.nodes.len()),
        }
    }
}

/// A file as it was when it was last read: one that changed since is asked about again before it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was last written, in milliseconds since 1970.
    pub mtime: i64,
}

impl Seen {
    /// As a list has it.
    pub fn of(session: &Summary) -> Self {
        Self { path: session.path.clone(), bytes: session.bytes, mtime: session.mtime }
    }
}

/// What is to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Give a session a name; an empty one clears it.
    Rename {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// Label an entry; an empty label clears it.
    Label {
        /// The file.
        path: PathBuf,
        /// The entry.
        target: Target,
        /// The label.
        label: String,
        /// Whether a file of an old version may be brought into the form of today: see [`Refusal::Old`].
        migrate: bool,
    },
    /// Move the leaf, so that pi goes on from another entry.
    MoveLeaf {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first one.
        to: Option<Target>,
        /// As for a label.
        migrate: bool,
    },
    /// Make a new session of the path from the root to an entry.
    Fork {
        /// The file.
        path: PathBuf,
        /// The entry; `None` for an empty conversation, before the first one.
        at: Option<Target>,
    },
    /// Move files to the trash.
    Trash {
        /// The files.
        files: Vec<Seen>,
    },
    /// Delete files for good: only what the trash can't take, and only after asking twice. There is no undo.
    Delete {
        /// The files.
        files: Vec<Seen>,
    },
    /// Take a change back.
    Undo {
        /// Its number in the journal, else the last one.
        number: Option<u64>,
    },
    /// Make the change again that was taken back last.
    Redo,
}

/// What was done. After a dry run, what would have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// In a few words, on one line; may hold text from files.
    pub said: String,
    /// The changes, in their order; none if all was so already.
    pub changes: Vec<Change>,
    /// The session that a fork made, or that undo brought back.
    pub made: Option<PathBuf>,
}

impl Done {
    /// That nothing had to be done, and why.
    fn nothing(said: &str) -> Self {
        Self { said: said.into(), ..Self::default() }
    }

    fn of(changes: Vec<Change>) -> Self {
        let said = changes.iter().map(Change::describe).collect::<Vec<_>>().join("; ");
        Self { said, changes, made: None }
    }

    /// What was done first, and what is done then. A dry run can't go on from a file that is not there.
    fn and_then(mut self, work: &mut Work<'_>, then: impl FnOnce(&mut Work<'_>) -> Result<Self>) -> Result<Self> {
        if self.changes.is_empty() {
            return then(work);
        }
        if !work.is_dry() {
            let then = then(work)?;
            self.said = format!("{}; {}", self.said, then.said);
            self.changes.extend(then.changes);
        }
        Ok(self)
    }
}

/// A change that was not made, where something can be asked and the change be tried again. All else that goes wrong is
/// an error in words only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file is of an old version: a label or a moved leaf would be lost when pi rewrites it. With `migrate` it is
    /// brought into the form of version 3 first, as pi does when it opens it; the original goes to the trash.
    Old {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Files changed since they were seen: nothing was removed.
    Changed {
        /// They.
        paths: Vec<PathBuf>,
    },
    /// The trash did not take a file.
    NoTrash {
        /// Why not.
        reason: String,
        /// The files that are still there; those before them are in the trash.
        left: Vec<Seen>,
    },
    /// What undo would take back was changed by somebody else since, or is gone: the next undo passes it over.
    Overtaken {
        /// In what way.
        reason: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Old { path, version } => write!(
                f,
                "{} is of version {version}: it must be brought into the form of version 3 first, as pi does when it opens it",
                path.display()
            ),
            Self::Changed { paths } => {
                let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "changed since it was read, so nothing was removed: {}", names.join(", "))
            }
            Self::NoTrash { reason, .. } => write!(f, "the trash can't take it: {reason}"),
            Self::Overtaken { reason } => write!(f, "not undone: {reason}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Makes changes, and takes them back.
#[derive(Clone, Debug)]
pub struct Changes {
    state_dir: PathBuf,
    trash: Trash,
    dry_run: bool,
}

impl Changes {
    /// Changes that are written down in `state_dir`, with `trash` for what goes.
    pub fn new(state_dir: PathBuf, trash: Trash) -> Self {
        Self { state_dir, trash, dry_run: false }
    }

    /// The same, but nothing is written anywhere: [`Done`] says what would be.
    #[must_use]
    pub fn dry_run(self) -> Self {
        Self { dry_run: true, ..self }
    }

    /// Makes a change; `now` is the time in milliseconds since 1970.
    ///
    /// # Errors
    /// The change was not made, or of several files not for all: the error says why and what is so now. Where it holds a
    /// [`Refusal`], something can be asked first.
    pub fn make(&self, request: &Request, now: i64) -> Result<Done> {
        let mut work = Work::begin(self, now)?;
        match request {
            Request::Rename { path, name } => line::rename(&mut work, path, name),
            Request::Label { path, target, label, migrate } => {
                let migrated = migrate::if_old(&mut work, path, *migrate)?;
                migrated.and_then(&mut work, |work| line::label(work, path, target, label))
            }
            Request::MoveLeaf { path, to, migrate } => {
                let migrated = migrate::if_old(&mut work, path, *migrate)?;
                migrated.and_then(&mut work, |work| line::move_leaf(work, path, to.as_ref()))
            }
            Request::Fork { path, at } => fork::fork(&mut work, path, at.as_ref()),
            Request::Trash { files } => remove::trash(&mut work, files),
            Request::Delete { files } => remove::delete(&work, files),
            Request::Undo { number } => undo::undo(&mut work, *number),
            Request::Redo => undo::redo(&mut work),
        }
    }

    /// All changes, the oldest first. Reads only: the last one may still stand as begun.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn history(&self) -> Result<Vec<Record>> {
        journal::read(&self.state_dir)
    }
}

/// A request being carried out, with the journal held against other pitrees.
struct Work<'a> {
    trash: &'a Trash,
    /// `None` in a dry run.
    journal: Option<Journal>,
    /// What the journal held at the beginning of a dry run.
    past: Vec<Record>,
    now: i64,
    /// The first change that was made for the request.
    group: Option<u64>,
}

impl<'a> Work<'a> {
    fn begin(changes: &'a Changes, now: i64) -> Result<Self> {
        getrandom::fill(&mut [0; 16]).context("the system has no random numbers for new ids")?;
        let mut work = Self { trash: &changes.trash, journal: None, past: Vec::new(), now, group: None };
        if changes.dry_run {
            work.past = changes.history()?;
        } else {
            let mut journal = Journal::open(&changes.state_dir)?;
            for record in journal.records().iter().filter(|record| record.state.is_open()) {
                undo::clear(record, &changes.trash);
            }
            journal.mend(now, undo::happened)?;
            work.journal = Some(journal);
        }
        Ok(work)
    }

    /// The changes up to now, the oldest first.
    fn past(&self) -> &[Record] {
        self.journal.as_ref().map_or(&self.past, Journal::records)
    }

    fn is_dry(&self) -> bool {
        self.journal.is_none()
    }

    /// Makes a change of files as a whole: `make` does it.
    fn make(&mut self, change: &Change, make: impl FnOnce() -> Result<()>) -> Result<()> {
        let Some(number) = self.note(change, None)? else { return Ok(()) };
        let made = make();
        self.settle(number, if made.is_ok() { State::Done } else { State::Dropped }, made)
    }

    /// Appends the line that `build` makes of the tree and a new id, and the change that it is; returns the change,
    /// unless there is none to make.
    fn append(
        &mut self,
        path: &Path,
        keep_time: bool,
        build: impl Fn(&Tree, &str) -> Result<Option<(String, Change)>>,
    ) -> Result<Option<Change>> {
        let is_dry = self.is_dry();
        let mut begun = None;
        let mut step = |tree: &Tree| {
            // The file grew between reading and writing: what was begun for it as it was is not made.
            if let Some((number, _)) = begun.take() {
                self.set(number, State::Dropped)?;
            }
            let Some((line, change)) = build(tree, &free_id(tree))? else { return Ok(None) };
            let draft = Draft::new(tree, &line);
            let number = self.note(&change, Some(draft.clone()))?;
            begun = Some((number.unwrap_or_default(), change));
            Ok(number.map(|_| draft))
        };
        if is_dry {
            step(&load::tree(Files::Disk, path, "")?)?;
            return Ok(begun.map(|(_, change)| change));
        }
        let appended = append::line(path, keep_time, step);
        match begun {
            Some((number, change)) => {
                let state = if appended.is_ok() { State::Done } else { State::Dropped };
                self.settle(number, state, appended.map(drop))?;
                Ok(Some(change))
            }
            None => appended.map(|_| None),
        }
    }

    /// Appends a line for a change that was made before: to undo it, or to make it again.
    fn append_again(
        &mut self,
        record: &Record,
        step: Step,
        build: impl Fn(&Tree, &str) -> Result<String>,
    ) -> Result<()> {
        let keep_time = !matches!(record.change, Change::Leaf { .. });
        if self.is_dry() {
            let tree = load::tree(Files::Disk, record.change.path(), "")?;
            return build(&tree, &free_id(&tree)).map(drop);
        }
        let mut begun = false;
        let appended = append::line(record.change.path(), keep_time, |tree| {
            let id = free_id(tree);
            let draft = Draft::new(tree, &build(tree, &id)?);
            self.note_step(record.number, step.begun(), Some((&id, &draft)))?;
            begun = true;
            Ok(Some(draft))
        });
        if !begun {
            return appended.map(drop);
        }
        self.settle(record.number, step.settled(appended.is_ok()), appended.map(drop))
    }

    /// Undoes a change of files, or makes it again: `make` does it.
    fn make_again(&mut self, record: &Record, step: Step, make: impl FnOnce() -> Result<()>) -> Result<()> {
        if self.is_dry() {
            return Ok(());
        }
        self.note_step(record.number, step.begun(), None)?;
        let made = make();
        self.settle(record.number, step.settled(made.is_ok()), made)
    }

    /// Writes a change into the journal; returns its number, or nothing in a dry run.
    fn note(&mut self, change: &Change, draft: Option<Draft>) -> Result<Option<u64>> {
        let Some(journal) = &mut self.journal else { return Ok(None) };
        let number = journal.begin(self.now, self.group, change.clone(), draft)?;
        self.group.get_or_insert(number);
        Ok(Some(number))
    }

    fn note_step(&mut self, number: u64, state: State, by: Option<(&str, &Draft)>) -> Result<()> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.set(number, self.now, state, by))
    }

    fn set(&mut self, number: u64, state: State) -> Result<()> {
        self.note_step(number, state, None)
    }

    /// Writes down how a change went. That it could not be written down is of less concern than what happened, and is
    /// mended at the next start.
    fn settle(&mut self, number: u64, state: State, made: Result<()>) -> Result<()> {
        let noted = self.set(number, state);
        made.and(noted.context("the change is made, but"))
    }
}

/// A change made before is undone, or made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Undo,
    Redo,
}

impl Step {
    fn begun(self) -> State {
        match self {
            Self::Undo => State::Undoing,
            Self::Redo => State::Redoing,
        }
    }

    fn settled(self, is_made: bool) -> State {
        match (self, is_made) {
            (Self::Undo, true) | (Self::Redo, false) => State::Undone,
            (Self::Undo, false) | (Self::Redo, true) => State::Done,
        }
    }
}

/// Random bits.
fn random() -> u128 {
    let mut bytes = [0; 16];
    let _ = getrandom::fill(&mut bytes); // that it can is tried before each change
    u128::from_ne_bytes(bytes)
}

/// An id that no entry of the file has.
fn free_id(tree: &Tree) -> String {
    new_id(&mut random, |id| tree.find(id).is_some())
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
