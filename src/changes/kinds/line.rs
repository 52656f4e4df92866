//! Changes that append a line: names, labels and leaf moves. Those of the [context](super::context_edit) append several.
//!
//! In a batch, all lines are prepared and recorded, then the journal is synced once. Then the lines are written, and their
//! files are synced together before the changes are recorded as made. A power failure or a killed process thus leaves each
//! change recorded, and its file with the line or without. Before the request ends, all lines are synced.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Error, Result, bail};

use crate::base::javascript::js_trim;
use crate::changes::change::{Change, ChangeStep, LineChange};
use crate::changes::engine::{BATCH_SIZE, Engine, JournaledLine, as_target_changed, random, waiting};
use crate::changes::journal::{Journal, JournalError, JournalLine, JournalRecord, JournalRecords};
use crate::changes::kinds::{each_file, is_used_since, must_exist, quoted, target_changed};
use crate::changes::request::{ChangeResult, Refusal};
use crate::changes::target::ExpectedSession;
use crate::disk::append::{self, PendingLine};
use crate::disk::files::is_there;
use crate::disk::load::{self, EntryReader};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{EntryId, parse};
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::line::{self, NewEntry};

/// Creates the change of a file from its tree and new ids. Returns `None` if there is nothing to do.
pub(super) type BuildChange<'a> = &'a dyn Fn(&Path, &Tree, NewId<'_>) -> Result<Option<Change>>;

/// Returns a new id of a line.
pub(super) type NewId<'a> = &'a dyn Fn() -> String;

/// A step that appends a line.
#[derive(Clone, Copy)]
pub(super) enum LineStep<'a> {
    /// Make a change of a file. `true` if the file keeps its time.
    Make(&'a Path, bool, BuildChange<'a>),
    /// Undo or redo a recorded change.
    Again(&'a JournalRecord, ChangeStep),
}

impl LineStep<'_> {
    fn path(&self) -> &Path {
        match self {
            Self::Make(path, ..) => path,
            Self::Again(record, _) => record.change.path(),
        }
    }

    fn keeps_time(&self) -> bool {
        match self {
            Self::Make(_, keeps_time, _) => *keeps_time,
            Self::Again(record, _) => !matches!(record.change, Change::Leaf(_)),
        }
    }

    /// Records the step in the journal. Returns its line, or `None` if there is nothing to do.
    ///
    /// # Errors
    /// Another program has changed the target, or the journal cannot be written.
    fn record(&self, journal: &mut Journal, tree: &Tree, now: i64) -> Result<Option<JournaledLine>> {
        let new_id = || line::new_id(&mut random, |id| tree.find(id).is_some());
        let (change, step, entries) = match self {
            Self::Make(path, _, build) => match build(path, tree, &new_id)? {
                Some(change) => (change.clone(), ChangeStep::Make, change.entries().to_vec()),
                None => return Ok(None),
            },
            Self::Again(record, step) => {
                check(record, *step, &journal.records, tree)?;
                let entries = record.change.entries().iter().map(|_| new_id()).collect();
                (record.change.clone(), *step, entries)
            }
        };
        let line = PendingLine::new(tree, &change.lines(tree, step, &entries, now)?);
        let data = JournalLine { draft: Some(line.clone()), ..JournalLine::default() };
        let number = match self {
            Self::Make(..) => journal.begin(&change, data)?,
            Self::Again(record, _) => {
                journal.set(record.number, step.begun(), JournalLine { entries, ..data })?;
                record.number
            }
        };
        Ok(Some(JournaledLine { number, step, change, line }))
    }
}

impl Engine<'_> {
    /// Prepares and records the lines of a batch for [`append`](Self::append). Returns their numbers. A step without a number
    /// has nothing to do, or [`append`](Self::append) reports the reason.
    ///
    /// # Errors
    /// [`JournalError`]; none of the lines may be written.
    fn record_lines<'s>(&mut self, steps: impl Iterator<Item = LineStep<'s>>) -> Result<Vec<Option<u64>>> {
        self.sync_lines()?;
        let mut numbers = Vec::new();
        for step in steps.take(if self.is_dry { 0 } else { BATCH_SIZE }) {
            let prepared = append::read(step.path()).and_then(|(tree, seen)| {
                let recorded = step.record(&mut self.journal, &tree, self.now)?;
                Ok(recorded.map(|line| (line.number, (line, seen))))
            });
            match prepared {
                Err(error) if error.is::<JournalError>() => self.withdraw_lines(error)?,
                prepared => {
                    let prepared = prepared.ok().flatten();
                    numbers.push(prepared.as_ref().map(|(number, _)| *number));
                    self.recorded_lines.extend(prepared);
                }
            }
        }
        let synced = if self.recorded_lines.is_empty() { Ok(()) } else { self.journal.sync() };
        synced.or_else(|error| self.withdraw_lines(error))?;
        Ok(numbers)
    }

    /// Appends a line: the one recorded with a batch, or a new one if its file has changed since. Returns the change, or
    /// `None` if there is nothing to do.
    pub(super) fn append(&mut self, step: LineStep<'_>, recorded: Option<u64>) -> Result<Option<Change>> {
        let (path, keeps_time) = (step.path(), step.keeps_time());
        if let Some((recorded, seen)) = recorded.and_then(|number| self.recorded_lines.remove(&number)) {
            let JournaledLine { number, step, change, line } = recorded;
            let mut wait = waiting(&mut self.watch, &mut self.is_canceled);
            let written = append::write(path, &line, &seen, keeps_time, &mut wait);
            drop(wait);
            match written {
                Ok(Some(written)) => {
                    self.warnings.extend(written.problem);
                    self.unsynced.push((number, step, written.file));
                    return Ok(Some(change));
                }
                Ok(None) => self.journal.record_step_result(number, step, false)?,
                Err(error) => return self.finish_step(number, step, Err(error)).map(|()| Some(change)),
            }
        }
        let mut begun: Option<JournaledLine> = None;
        let mut record = |tree: &Tree| {
            // The file was modified between reading and writing, so the recorded step was not taken.
            if let Some(JournaledLine { number, step, .. }) = begun.take() {
                self.journal.record_step_result(number, step, false)?;
            }
            begun = step.record(&mut self.journal, tree, self.now)?;
            self.journal.sync()?;
            Ok(begun.as_ref().map(|begun| begun.line.clone()))
        };
        let appended = if self.is_dry {
            load::writable(path).and_then(|tree| record(&tree)).map(|_| None)
        } else {
            append::line(path, keeps_time, &mut waiting(&mut self.watch, &mut self.is_canceled), record)
        };
        let Some(JournaledLine { number, step, change, .. }) = begun else { return appended.map(|_| None) };
        let made = appended.map(|problems| self.warnings.extend(problems.into_iter().flatten()));
        let made = if self.is_dry { made } else { self.finish_step(number, step, made) };
        made.map(|()| Some(change))
    }

    /// Reverts the records of lines that are not written.
    fn withdraw_lines(&mut self, error: Error) -> Result<()> {
        for (JournaledLine { number, step, .. }, _) in std::mem::take(&mut self.recorded_lines).into_values() {
            let _ = self.journal.record_step_result(number, step, false); // the error is more important
        }
        Err(error)
    }
}

/// Returns a name or a label, or `None` to clear it.
fn new_text(text: &str) -> Result<Option<String>> {
    Ok(Some(line::clean_name(text)?).filter(|text| !text.is_empty()))
}

/// Names a session, or clears its name.
pub(crate) fn rename(engine: &mut Engine<'_>, path: &Path, name: &str) -> Result<ChangeResult> {
    let after = new_text(name).context("invalid name")?;
    let build: BuildChange<'_> = &|path, tree, id| named(path, tree, id, &after);
    let change = engine.append(LineStep::Make(path, true, build), None)?;
    Ok(done(
        change,
        if after.is_none() { "the session already has no name" } else { "the session already has this name" },
    ))
}

/// Labels an entry, or clears its label.
pub(crate) fn label(engine: &mut Engine<'_>, path: &Path, target: &EntryId, label: &str) -> Result<ChangeResult> {
    let after = new_text(label).context("invalid label")?;
    let build: BuildChange<'_> = &|path, tree, id| labeled(path, tree, id, place_of(tree, path, target)?, &after);
    let change = engine.append(LineStep::Make(path, true, build), None)?;
    Ok(done(
        change,
        if after.is_none() { "the entry already has no label" } else { "the entry already has this label" },
    ))
}

/// Names several sessions, or clears their names.
pub(crate) fn rename_all(
    engine: &mut Engine<'_>,
    named: &[(ExpectedSession, String)],
    keeps_names: bool,
) -> Result<ChangeResult> {
    let (mut sessions, mut names) = (Vec::new(), HashMap::new());
    for (session, name) in named {
        names.insert(&*session.path, new_text(name).context("invalid name")?);
        sessions.push(session.clone());
    }
    each(engine, &sessions, &|path, tree, id| match names.get(path) {
        Some(name) if !keeps_names || name_of(tree, path)?.is_none() => self::named(path, tree, id, name),
        _ => Ok(None),
    })
}

/// Labels the last entry of several sessions that the model sees, or clears its label.
pub(crate) fn label_all(engine: &mut Engine<'_>, sessions: &[ExpectedSession], label: &str) -> Result<ChangeResult> {
    let after = new_text(label).context("invalid label")?;
    each(engine, sessions, &|path, tree, id| {
        check_version(path, tree)?;
        let last = tree.last_visible().with_context(|| format!("{} has no messages", path.display()))?;
        labeled(path, tree, id, last, &after)
    })
}

/// Returns an error for a session whose entries change when pi opens it.
pub(super) fn check_version(path: &Path, tree: &Tree) -> Result<()> {
    let version = tree.header.version;
    if version < 3.0 {
        return Err(Refusal::Old { path: path.into(), version: version as u32 }.into());
    }
    Ok(())
}

/// Makes a change of each session in batches, unless another session has replaced it.
fn each(engine: &mut Engine<'_>, sessions: &[ExpectedSession], build: BuildChange<'_>) -> Result<ChangeResult> {
    let ids: HashMap<&Path, &str> = sessions.iter().map(|session| (&*session.path, &*session.id)).collect();
    let build: BuildChange<'_> = &|path, tree, id| {
        if ids.get(path) != Some(&&*tree.header.id) {
            return Err(Refusal::Replaced { path: path.into() }.into());
        }
        build(path, tree, id)
    };
    let mut seen = HashSet::new();
    let paths: Vec<&Path> = sessions.iter().map(|session| &*session.path).filter(|path| seen.insert(*path)).collect();
    let mut numbers = Vec::new();
    let made = each_file(engine, &paths, |engine, at| {
        if at.is_multiple_of(BATCH_SIZE) {
            numbers = engine.record_lines(paths[at..].iter().map(|path| LineStep::Make(path, true, build)))?;
        }
        engine.append(LineStep::Make(paths[at], true, build), numbers.get(at % BATCH_SIZE).copied().flatten())
    });
    numbers.into_iter().flatten().try_for_each(|number| engine.withdraw(number, ChangeStep::Make))?;
    made
}

/// Creates the change of a session's name, if it is new.
fn named(path: &Path, tree: &Tree, id: NewId<'_>, after: &Option<String>) -> Result<Option<Change>> {
    let before = name_of(tree, path)?;
    let is_new = before != *after;
    let change = LineChange { path: path.into(), entry: id(), target: None, before, after: after.clone() };
    Ok(is_new.then_some(Change::Name(change)))
}

/// Creates the change of an entry's label, if it is new.
fn labeled(path: &Path, tree: &Tree, id: NewId<'_>, at: EntryIndex, after: &Option<String>) -> Result<Option<Change>> {
    let before = label_of(tree, at);
    if before == *after {
        return Ok(None);
    }
    let target = Some(string_id(tree, path, at)?);
    let change = LineChange { path: path.into(), entry: id(), target, before, after: after.clone() };
    Ok(Some(Change::Label(change)))
}

/// Moves the leaf, so that pi resumes from another entry.
pub(crate) fn move_leaf(engine: &mut Engine<'_>, path: &Path, to: Option<&EntryId>) -> Result<ChangeResult> {
    // The file gets a new time, so that `pi -c` opens the session.
    let build: BuildChange<'_> = &|path, tree, id| {
        let to = to.map(|to| place_of(tree, path, to)).transpose()?;
        if tree.is_current_position(to) {
            return Ok(None);
        }
        let before = tree.leaf.map(|leaf| string_id(tree, path, leaf)).transpose()?;
        let after = to.map(|to| string_id(tree, path, to)).transpose()?;
        Ok(Some(Change::Leaf(LineChange { path: path.into(), entry: id(), target: None, before, after })))
    };
    let change = engine.append(LineStep::Make(path, false, build), None)?;
    Ok(done(change, "the leaf is already at this entry"))
}

/// Returns the result of appending a line; `or_else` explains why there was nothing to append.
pub(super) fn done(change: Option<Change>, or_else: &str) -> ChangeResult {
    change.map_or_else(|| ChangeResult::nothing(or_else), |change| ChangeResult::of(ChangeStep::Make, vec![change], 0))
}

/// Undoes or redoes a change by appending another line.
pub(super) fn undo_or_redo(engine: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
    must_exist(record.change.path())?;
    let appended = engine.append(LineStep::Again(record, step), Some(record.number));
    appended.map(drop).map_err(as_target_changed)
}

/// Records the next steps of those records that append a line, except for files with several changes.
///
/// # Errors
/// The journal cannot be written; none of the steps may be taken.
pub(crate) fn record_steps(engine: &mut Engine<'_>, records: &[JournalRecord], step: ChangeStep) -> Result<()> {
    let mut changes = HashMap::<&Path, usize>::new();
    records.iter().for_each(|record| *changes.entry(record.change.path()).or_default() += 1);
    let is_alone = |record: &&JournalRecord| changes[record.change.path()] == 1 && !record.change.entries().is_empty();
    engine.record_lines(records.iter().filter(is_alone).map(|record| LineStep::Again(record, step))).map(drop)
}

/// Returns an error if another program has changed the target of a change.
fn check(record: &JournalRecord, step: ChangeStep, history: &JournalRecords, tree: &Tree) -> Result<()> {
    let reason = match &record.change {
        Change::Name(LineChange { before, after, path, .. }) => {
            let name = name_of(tree, path)?;
            let is_other = &name != step.ends(before, after).0;
            is_other.then(|| format!("the name has changed to {}", quoted(&name.unwrap_or_default())))
        }
        Change::Label(LineChange { target, before, after, .. }) => {
            let label = target.as_ref().and_then(|target| tree.find(target)).and_then(|at| label_of(tree, at));
            let is_other = &label != step.ends(before, after).0;
            is_other.then(|| format!("the label has changed to {:?}", label.unwrap_or_default()))
        }
        Change::ContextEdit(change) => change.changed_since(step, tree)?,
        _ => {
            let last = record.entries.iter().rev().find_map(|entry| tree.find(entry));
            let end = last.map_or(0, |last| tree.nodes[last as usize].offset);
            is_used_since(history, tree, end).then(|| "the session has new entries".into())
        }
    };
    reason.map_or(Ok(()), target_changed)
}

impl Change {
    /// Creates the lines that a step of the change appends, with ids and a time.
    ///
    /// # Errors
    /// The change appends no line, or the leaf has no valid id.
    pub(crate) fn lines(&self, tree: &Tree, step: ChangeStep, ids: &[String], time_ms: i64) -> Result<String> {
        if let Self::ContextEdit(change) = self {
            return change.step_lines(tree, step, ids, time_ms);
        }
        let id = ids.first().map_or("", |id| id);
        let (Self::Name(change) | Self::Label(change) | Self::Leaf(change)) = self else {
            bail!("no line belongs to the change: {}", self.describe());
        };
        let to = step.ends(&change.before, &change.after).1.as_deref();
        if let Self::Leaf(_) = self {
            let has_label = to.and_then(|to| tree.find(to)).is_some_and(|at| tree.labels.contains_key(&at));
            return Ok(line::leaf_move(&NewEntry { id, parent: to, time_ms }, has_label));
        }
        let parent = leaf_id(tree, self.path())?;
        let new = NewEntry { id, parent: parent.as_deref(), time_ms };
        Ok(match &change.target {
            Some(target) => line::label(&new, target, to),
            None => line::session_info(&new, to.unwrap_or_default()),
        })
    }
}

/// Returns the name of a session: the last one set, as in pi's list.
fn name_of(tree: &Tree, path: &Path) -> Result<Option<String>> {
    let Some(node) = tree.nodes.iter().rev().find(|node| node.kind == EntryKind::SessionInfo) else { return Ok(None) };
    let line = EntryReader::open(path)?.line(node)?;
    let entry = parse::entry(&line);
    let name = entry.name.map(|name| js_trim(&name.text()).to_string());
    Ok(name.filter(|name| !name.is_empty()))
}

fn label_of(tree: &Tree, at: EntryIndex) -> Option<String> {
    tree.labels.get(&at).map(|label| label.text.to_string())
}

/// Returns the index of an entry.
pub(super) fn place_of(tree: &Tree, path: &Path, entry: &EntryId) -> Result<EntryIndex> {
    entry.find(tree).with_context(|| format!("entry not found in {}; it may have changed", path.display()))
}

/// Returns the id of the leaf, the parent of a new line. Version 1 has no ids; pi links such lines when it opens the
/// file.
pub(super) fn leaf_id(tree: &Tree, path: &Path) -> Result<Option<String>> {
    match tree.leaf {
        Some(leaf) if tree.header.version >= 2.0 => string_id(tree, path, leaf).map(Some),
        _ => Ok(None),
    }
}

/// Returns the id of an entry as a string. pi always writes strings, and other lines can only refer to strings.
fn string_id(tree: &Tree, path: &Path, at: EntryIndex) -> Result<String> {
    let node = &tree.nodes[at as usize];
    let line = EntryReader::open(path)?.line(node)?;
    let entry = parse::entry(&line);
    match entry.id.filter(|_| entry.id_is_text) {
        Some(id) => Ok(id.text().into_owned()),
        None => bail!("cannot append to {}: an entry has no valid id ({})", path.display(), node.text),
    }
}

/// Returns `true` if the file contains the last line appended for a change, identified by its id.
pub(super) fn was_applied(record: &JournalRecord) -> Option<bool> {
    let Some(id) = record.entries.last() else { return Some(false) };
    let path = record.change.path();
    if !is_there(path).ok()? {
        return Some(false);
    }
    let bytes = EntryReader::open(path).and_then(|mut reader| reader.whole()).ok()?;
    // A partial line does not count.
    let field = format!("\"id\":\"{id}\"");
    let has_id =
        |line: &[u8]| parse::line(line).ok().flatten().is_some_and(|entry| entry.id.is_some_and(|has| has.is(id)));
    let mut lines = memchr::memmem::find_iter(&bytes, field.as_bytes()).map(|at| {
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |behind| at + behind);
        &bytes[start..end]
    });
    Some(lines.any(has_id))
}
