//! Changes taken back, and made again. What somebody else changed since is not touched: such a change is overtaken.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail};

use crate::base::numbers::count;
use crate::changes::journal;
use crate::changes::journal::{Change, Record, State};
use crate::changes::line::{label_line, label_of, leaf_line, name_line, name_of};
use crate::changes::{Done, Refusal, Step, Work, exists, migrate};
use crate::disk::files::Files;
use crate::disk::load;
use crate::disk::load::Bodies;
use crate::disk::trash::{Contents, Trash};
use crate::disk::{append, create};
use crate::session::entry::kind::Kind;
use crate::session::tree::Tree;
use crate::session::tree::node::Node;

pub(crate) fn undo(work: &mut Work<'_>, number: Option<u64>) -> Result<Done> {
    let records = match number {
        None => journal::to_undo(work.past()),
        Some(number) => {
            let one = work.past().iter().find(|record| record.number == number);
            let found: Vec<Record> = one.into_iter().cloned().collect();
            match &found[..] {
                [] => bail!("there is no change {number}; `pitree undo --list` shows those that there are"),
                [one] if one.state != State::Done => bail!("change {number} is not there to be undone"),
                _ => found,
            }
        }
    };
    again(work, &records, (Step::Undo, number.is_none()))
}

pub(crate) fn redo(work: &mut Work<'_>) -> Result<Done> {
    let records = journal::to_redo(work.past());
    again(work, &records, (Step::Redo, true))
}

/// Takes a step for each record. If it is `in_turn`, one that is overtaken is passed over the next time.
fn again(work: &mut Work<'_>, records: &[Record], (step, in_turn): (Step, bool)) -> Result<Done> {
    let word = if step == Step::Undo { "undone" } else { "done again" };
    let mut changes = Vec::new();
    let mut made = None;
    for record in records {
        let result = one(work, record, step);
        if let Err(error) = &result
            && in_turn
            && error.downcast_ref::<Refusal>().is_some_and(|refusal| matches!(refusal, Refusal::Overtaken { .. }))
        {
            work.set(record.number, State::Overtaken)?;
        }
        if let (Err(error), false) = (&result, changes.is_empty()) {
            bail!("{} of {} {word}; then: {error:#}", changes.len(), records.len());
        }
        result?;
        let comes_back = match record.change {
            Change::Trash { .. } => step == Step::Undo,
            Change::Fork { .. } => step == Step::Redo,
            _ => false,
        };
        made = made.or_else(|| comes_back.then(|| record.change.path().to_path_buf()));
        changes.push(record.change.clone());
    }
    let sessions = || count(changes.len(), "session is", "sessions are");
    let said = match (&changes[..], step) {
        ([], _) => return Ok(Done::nothing(&format!("nothing to be {word}"))),
        ([Change::Trash { .. }, ..], Step::Undo) => format!("{} back from the trash", sessions()),
        ([Change::Trash { .. }, ..], Step::Redo) => format!("{} in the trash again", sessions()),
        ([Change::Fork { .. }], Step::Undo) => "the forked session is in the trash".into(),
        ([Change::Fork { .. }], Step::Redo) => "the forked session is back".into(),
        (several, _) => {
            let all: Vec<String> = several.iter().map(Change::describe).collect();
            format!("{word}: {}", all.join("; "))
        }
    };
    Ok(Done { said, changes, made })
}

fn one(work: &mut Work<'_>, record: &Record, step: Step) -> Result<()> {
    let now = work.now;
    let path = record.change.path();
    let is_undo = step == Step::Undo;
    let trash = work.trash;
    let must_exist = || if exists(path) { Ok(()) } else { overtaken(format!("{} is gone", path.display())) };
    match &record.change {
        Change::Name { before, after, .. } => {
            must_exist()?;
            let (from, to) = if is_undo { (after, before) } else { (before, after) };
            work.append_again(record, step, |tree, id| {
                let name = name_of(tree, path)?;
                if &name != from {
                    return overtaken(format!("the name was changed since, to {:?}", name.unwrap_or_default()));
                }
                name_line(tree, path, to.as_deref(), (id, now))
            })
        }
        Change::Label { target, before, after, .. } => {
            must_exist()?;
            let (from, to) = if is_undo { (after, before) } else { (before, after) };
            work.append_again(record, step, |tree, id| {
                let label = tree.find(target).and_then(|at| label_of(tree, at));
                if &label != from {
                    return overtaken(format!("the label was changed since, to {:?}", label.unwrap_or_default()));
                }
                label_line(tree, path, target, to.as_deref(), (id, now))
            })
        }
        Change::Leaf { before, after, .. } => {
            must_exist()?;
            let to = if is_undo { before } else { after };
            let ours = work.own_lines();
            work.append_again(record, step, |tree, id| {
                let last = record.entries.iter().rev().find_map(|entry| tree.find(entry));
                let end = last.map_or(0, |last| tree.nodes[last as usize].offset);
                if is_used_since(tree, end, &ours) {
                    return overtaken("the session went on since".into());
                }
                Ok(leaf_line(tree, to.as_deref(), (id, now)))
            })
        }
        Change::Fork { bytes, .. } if is_undo => {
            must_exist()?;
            if used_since(work, path, *bytes)? {
                return overtaken(format!("the new session was used since; it stays: {}", path.display()));
            }
            work.make_again(record, step, || trash.put(path))
        }
        Change::Trash { .. } if !is_undo => {
            must_exist()?;
            work.make_again(record, step, || trash.put(path))
        }
        Change::Fork { bytes, .. } | Change::Trash { bytes, .. } => {
            work.make_again(record, step, || Contents::read()?.take_back(path, *bytes))
        }
        Change::Migrate { version, bytes, .. } => {
            must_exist()?;
            if is_undo && used_since(work, path, *bytes)? {
                return overtaken(format!("the session was used since, in its new form: {}", path.display()));
            }
            work.make_again(record, step, || migrate::exchange(path, *version, !is_undo, trash))
        }
    }
}

fn overtaken<T>(reason: String) -> Result<T> {
    Err(Refusal::Overtaken { reason }.into())
}

/// Whether the file of a change holds entries behind its first `bytes` that pitree did not write. The model and the
/// thinking level do not count: pi writes them down whenever it opens a session (0.87.1).
fn used_since(work: &Work<'_>, path: &Path, bytes: u64) -> Result<bool> {
    Ok(is_used_since(&load::tree(Files::Disk, path, "")?, bytes, &work.own_lines()))
}

fn is_used_since(tree: &Tree, offset: u64, ours: &HashSet<String>) -> bool {
    let is_ours = |id: &Option<Box<str>>| id.as_ref().is_some_and(|id| ours.contains(&**id));
    let counts = |node: &Node| !matches!(node.kind, Kind::ModelChange | Kind::ThinkingLevel) && !is_ours(&node.id);
    tree.nodes.iter().any(|node| node.offset >= offset && counts(node))
}

impl Work<'_> {
    /// The ids of all lines that pitree appended to files.
    fn own_lines(&self) -> HashSet<String> {
        self.past().iter().flat_map(|record| record.entries.iter().cloned()).collect()
    }
}

/// Whether the step that a record tells of was made.
pub(crate) fn happened(record: &Record) -> bool {
    let is_undo = record.state == State::Undoing;
    let path = record.change.path();
    match &record.change {
        Change::Name { .. } | Change::Label { .. } | Change::Leaf { .. } => {
            record.entries.last().is_some_and(|id| has_line(path, id))
        }
        Change::Fork { .. } => exists(path) != is_undo,
        Change::Trash { .. } => exists(path) == is_undo,
        Change::Migrate { .. } => {
            let version = load::tree(Files::Disk, path, "").map(|tree| tree.header.version);
            version.is_ok_and(|version| (version >= 3.0) != is_undo)
        }
    }
}

/// Whether a file has the line with an id that pitree gave.
fn has_line(path: &Path, id: &str) -> bool {
    let whole = Bodies::open(Files::Disk, path).and_then(|mut bodies| bodies.whole());
    whole.is_ok_and(|bytes| memchr::memmem::find(&bytes, format!("\"id\":\"{id}\"").as_bytes()).is_some())
}

/// Clears away what a change that was cut short left beside its file.
pub(crate) fn clear(record: &Record, trash: &Trash) {
    if let Some(draft) = &record.draft {
        // A file that can't be written to keeps the part; the next line stands on its own.
        let _ = append::take_back_part(record.change.path(), draft);
    }
    match &record.change {
        Change::Fork { path, .. } => drop(std::fs::remove_file(create::draft(path))),
        Change::Migrate { path, version, .. } => migrate::clear(path, *version, trash),
        Change::Name { .. } | Change::Label { .. } | Change::Leaf { .. } | Change::Trash { .. } => {}
    }
}
