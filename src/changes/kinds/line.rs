//! Changes that append a line: names, labels and leaf moves.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::base::javascript::js_trim;
use crate::changes::change::{Change, ChangeStep, LabelChange, LeafMove, NameChange};
use crate::changes::engine::{Engine, TOGETHER};
use crate::changes::journal::{JournalRecord, JournalRecords};
use crate::changes::kinds::{each_file, is_used_since, must_exist, overtaken, quoted};
use crate::changes::lines::BuildChange;
use crate::changes::request::{ChangeResult, Refusal};
use crate::changes::target::ExpectedSession;
use crate::disk::files::is_there;
use crate::disk::load::Bodies;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{EntryId, parse};
use crate::session::tree::{Index, Tree};
use crate::session::write::line::{self, NewEntry};

/// Returns a name or a label, or `None` to clear it.
fn new_text(text: &str) -> Result<Option<String>> {
    Ok(Some(line::clean_name(text)?).filter(|text| !text.is_empty()))
}

/// Names a session, or clears its name.
pub(crate) fn rename(work: &mut Engine<'_>, path: &Path, name: &str) -> Result<ChangeResult> {
    let after = new_text(name).context("invalid name")?;
    let change = work.append(path, true, &|path, tree, id| named((path, tree, id), &after))?;
    Ok(done(
        change,
        if after.is_none() { "the session already has no name" } else { "the session already has this name" },
    ))
}

/// Labels an entry, or clears its label.
pub(crate) fn label(work: &mut Engine<'_>, path: &Path, target: &EntryId, label: &str) -> Result<ChangeResult> {
    let after = new_text(label).context("invalid label")?;
    let change =
        work.append(path, true, &|path, tree, id| labeled((path, tree, id), place_of(tree, path, target)?, &after))?;
    Ok(done(
        change,
        if after.is_none() { "the entry already has no label" } else { "the entry already has this label" },
    ))
}

/// Names several sessions, or clears their names.
pub(crate) fn rename_all(work: &mut Engine<'_>, sessions: &[ExpectedSession], name: &str) -> Result<ChangeResult> {
    let after = new_text(name).context("invalid name")?;
    each(work, sessions, &|path, tree, id| named((path, tree, id), &after))
}

/// Labels the last entry of several sessions that the model sees, or clears its label.
pub(crate) fn label_all(work: &mut Engine<'_>, sessions: &[ExpectedSession], label: &str) -> Result<ChangeResult> {
    let after = new_text(label).context("invalid label")?;
    each(work, sessions, &|path, tree, id| {
        let version = tree.header.version;
        if version < 3.0 {
            return Err(Refusal::Old { path: path.into(), version: version as u32 }.into());
        }
        let last = tree.last_visible().with_context(|| format!("{} has no messages", path.display()))?;
        labeled((path, tree, id), last, &after)
    })
}

/// Makes a change of each session in batches, unless another session has replaced it.
fn each(work: &mut Engine<'_>, sessions: &[ExpectedSession], build: BuildChange<'_>) -> Result<ChangeResult> {
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
    let made = each_file(work, &paths, |work, at| change_one(work, (&paths, at), &mut numbers, build));
    numbers.into_iter().flatten().try_for_each(|number| work.withdraw(number, ChangeStep::Make))?;
    made
}

/// Changes one of several files. The first of each batch records the changes of all; `numbers` are those of the batch.
fn change_one(
    work: &mut Engine<'_>,
    (paths, at): (&[&Path], usize),
    numbers: &mut Vec<Option<u64>>,
    build: BuildChange<'_>,
) -> Result<Option<Change>> {
    if at.is_multiple_of(TOGETHER) {
        *numbers = work.record_lines(&paths[at..paths.len().min(at + TOGETHER)], build)?;
    }
    if let Some(number) = numbers.get(at % TOGETHER).copied().flatten()
        && let Some(change) = work.append_recorded(number, true)?
    {
        return Ok(Some(change));
    }
    work.append(paths[at], true, build)
}

/// Creates the change of a session's name, if it is new.
fn named((path, tree, id): (&Path, &Tree, &str), after: &Option<String>) -> Result<Option<Change>> {
    let before = name_of(tree, path)?;
    let is_new = before != *after;
    let change = NameChange { path: path.into(), entry: id.into(), before, after: after.clone() };
    Ok(is_new.then_some(Change::Name(change)))
}

/// Creates the change of an entry's label, if it is new.
fn labeled((path, tree, id): (&Path, &Tree, &str), at: Index, after: &Option<String>) -> Result<Option<Change>> {
    let before = label_of(tree, at);
    if before == *after {
        return Ok(None);
    }
    let target = string_id(tree, path, at)?;
    let change = LabelChange { path: path.into(), entry: id.into(), target, before, after: after.clone() };
    Ok(Some(Change::Label(change)))
}

/// Moves the leaf, so that pi resumes from another entry.
pub(crate) fn move_leaf(work: &mut Engine<'_>, path: &Path, to: Option<&EntryId>) -> Result<ChangeResult> {
    // The file gets a new time, so that `pi -c` opens the session.
    let change = work.append(path, false, &|path, tree, id| {
        let to = to.map(|to| place_of(tree, path, to)).transpose()?;
        if tree.is_current_position(to) {
            return Ok(None);
        }
        let before = tree.leaf.map(|leaf| string_id(tree, path, leaf)).transpose()?;
        let after = to.map(|to| string_id(tree, path, to)).transpose()?;
        Ok(Some(Change::Leaf(LeafMove { path: path.into(), entry: id.into(), before, after })))
    })?;
    Ok(done(change, "the leaf is already at this entry"))
}

/// Returns the result of appending a line; `or_else` explains why there was nothing to append.
fn done(change: Option<Change>, or_else: &str) -> ChangeResult {
    change.map_or_else(|| ChangeResult::nothing(or_else), |change| ChangeResult::of(ChangeStep::Make, vec![change], 0))
}

/// Undoes or redoes a change by appending another line.
pub(super) fn again(work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
    let path = record.change.path();
    must_exist(path)?;
    let keep_time = !matches!(record.change, Change::Leaf(_));
    work.append_again(record, step, keep_time, &|record, past, tree| check(record, step, past, tree))
}

/// Prepares the next steps of those records that append a line: see [`Engine::record_line_steps`].
///
/// # Errors
/// The journal cannot be written; none of the steps may be taken.
pub(crate) fn record_steps(work: &mut Engine<'_>, records: &[JournalRecord], step: ChangeStep) -> Result<()> {
    work.record_line_steps(records, step, &|record, past, tree| check(record, step, past, tree))
}

/// Returns an error if another program has changed the target of a change.
fn check(record: &JournalRecord, step: ChangeStep, past: &JournalRecords, tree: &Tree) -> Result<()> {
    let reason = match &record.change {
        Change::Name(NameChange { before, after, path, .. }) => {
            let name = name_of(tree, path)?;
            let is_other = &name != step.ends(before, after).0;
            is_other.then(|| format!("the name has changed to {}", quoted(&name.unwrap_or_default())))
        }
        Change::Label(LabelChange { target, before, after, .. }) => {
            let label = tree.find(target).and_then(|at| label_of(tree, at));
            let is_other = &label != step.ends(before, after).0;
            is_other.then(|| format!("the label has changed to {:?}", label.unwrap_or_default()))
        }
        _ => {
            let last = record.entries.iter().rev().find_map(|entry| tree.find(entry));
            let end = last.map_or(0, |last| tree.nodes[last as usize].offset);
            is_used_since(past, tree, end).then(|| "the session has new entries".into())
        }
    };
    reason.map_or(Ok(()), overtaken)
}

impl Change {
    /// Creates the line that a step of the change appends, with an id and a time.
    ///
    /// # Errors
    /// The change appends no line, or the leaf has no valid id.
    pub(crate) fn line(&self, tree: &Tree, step: ChangeStep, (id, time_ms): (&str, i64)) -> Result<String> {
        let (Self::Name(NameChange { before, after, .. })
        | Self::Label(LabelChange { before, after, .. })
        | Self::Leaf(LeafMove { before, after, .. })) = self
        else {
            bail!("no line belongs to the change: {}", self.describe());
        };
        let to = step.ends(before, after).1.as_deref();
        if let Self::Leaf(_) = self {
            let has_label = to.and_then(|to| tree.find(to)).is_some_and(|at| tree.labels.contains_key(&at));
            return Ok(line::leaf_move(&NewEntry { id, parent: to, time_ms }, has_label));
        }
        let parent = leaf_id(tree, self.path())?;
        let new = NewEntry { id, parent: parent.as_deref(), time_ms };
        Ok(match self {
            Self::Label(LabelChange { target, .. }) => line::label(&new, target, to),
            _ => line::session_info(&new, to.unwrap_or_default()),
        })
    }
}

/// Returns the name of a session: the last one set, as in pi's list.
fn name_of(tree: &Tree, path: &Path) -> Result<Option<String>> {
    let Some(node) = tree.nodes.iter().rev().find(|node| node.kind == EntryKind::SessionInfo) else { return Ok(None) };
    let line = Bodies::open(path)?.line(node)?;
    let entry = parse::entry(&line);
    let name = entry.name.map(|name| js_trim(&name.text()).to_string());
    Ok(name.filter(|name| !name.is_empty()))
}

fn label_of(tree: &Tree, at: Index) -> Option<String> {
    tree.labels.get(&at).map(|label| label.text.to_string())
}

/// Returns the index of an entry.
pub(super) fn place_of(tree: &Tree, path: &Path, entry: &EntryId) -> Result<Index> {
    entry.find(tree).with_context(|| format!("entry not found in {}; it may have changed", path.display()))
}

/// Returns the id of the leaf, the parent of a new line. Version 1 has no ids; pi links such lines when it opens the
/// file.
fn leaf_id(tree: &Tree, path: &Path) -> Result<Option<String>> {
    match tree.leaf {
        Some(leaf) if tree.header.version >= 2.0 => string_id(tree, path, leaf).map(Some),
        _ => Ok(None),
    }
}

/// Returns the id of an entry as a string. pi always writes strings, and other lines can only refer to strings.
fn string_id(tree: &Tree, path: &Path, at: Index) -> Result<String> {
    let node = &tree.nodes[at as usize];
    let line = Bodies::open(path)?.line(node)?;
    let entry = parse::entry(&line);
    match entry.id.filter(|_| entry.id_is_text) {
        Some(id) => Ok(id.text().into_owned()),
        None => bail!("cannot append to {}: an entry has no valid id ({})", path.display(), node.text),
    }
}

/// Returns `true` if the file contains the last line appended for a change, identified by its id.
pub(super) fn happened(record: &JournalRecord) -> Option<bool> {
    let Some(id) = record.entries.last() else { return Some(false) };
    let path = record.change.path();
    if !is_there(path).ok()? {
        return Some(false);
    }
    let bytes = Bodies::open(path).and_then(|mut bodies| bodies.whole()).ok()?;
    // A partial line does not count.
    let field = format!("\"id\":\"{id}\"");
    let is_it =
        |line: &[u8]| parse::line(line).ok().flatten().is_some_and(|entry| entry.id.is_some_and(|has| has.is(id)));
    let mut lines = memchr::memmem::find_iter(&bytes, field.as_bytes()).map(|at| {
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |behind| at + behind);
        &bytes[start..end]
    });
    Some(lines.any(is_it))
}
