//! Leaf moves: pi resumes from another entry.

use std::path::Path;

use anyhow::Result;

use crate::changes::change::{Change, LeafMove};
use crate::changes::engine::Engine;
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::changes::kinds::kind::ChangeKind;
use crate::changes::kinds::line::{done, has_line, place_of, string_id};
use crate::changes::kinds::preconditions::{is_used_since, must_exist, overtaken};
use crate::changes::result::ChangeResult;
use crate::session::entry::EntryId;
use crate::session::tree::Tree;
use crate::session::write::line;
use crate::session::write::line::NewEntry;

/// The file gets a new time, so that `pi -c` opens the session.
const KEEP_TIME: bool = false;

pub(crate) fn make(work: &mut Engine<'_>, path: &Path, to: Option<&EntryId>) -> Result<ChangeResult> {
    let now = work.now;
    let change = work.append(path, KEEP_TIME, |tree, id| {
        let to = to.map(|to| place_of(tree, path, to)).transpose()?;
        if tree.is_current_position(to) {
            return Ok(None);
        }
        let before = tree.leaf.map(|leaf| string_id(tree, path, leaf)).transpose()?;
        let after = to.map(|to| string_id(tree, path, to)).transpose()?;
        let line = leaf_line(tree, after.as_deref(), (id, now));
        Ok(Some((line, Change::Leaf(LeafMove { path: path.into(), entry: id.into(), before, after }))))
    })?;
    Ok(done(change, "the leaf is already at this entry"))
}

impl ChangeKind for LeafMove {
    fn path(&self) -> &Path {
        &self.path
    }

    fn entry(&self) -> Option<&str> {
        Some(&self.entry)
    }

    fn describe(&self) -> String {
        self.after.as_ref().map_or_else(|| "move leaf before the first entry".into(), |to| format!("move leaf to {to}"))
    }

    fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        must_exist(&self.path)?;
        let (_, to) = step.ends(&self.before, &self.after);
        let now = work.now;
        work.append_again(record, step, KEEP_TIME, |past, tree, id| {
            let last = record.entries.iter().rev().find_map(|entry| tree.find(entry));
            let end = last.map_or(0, |last| tree.nodes[last as usize].offset);
            if is_used_since(past, tree, end) {
                return overtaken("the session has new entries".into());
            }
            Ok(leaf_line(tree, to.as_deref(), (id, now)))
        })
    }

    fn happened(&self, record: &JournalRecord, _: ChangeStep) -> Option<bool> {
        has_line(&self.path, record)
    }
}

/// Creates the line that moves the leaf; `new` has its id and time.
fn leaf_line(tree: &Tree, to: Option<&str>, new: (&str, i64)) -> String {
    let has_label = to.and_then(|to| tree.find(to)).is_some_and(|at| tree.labels.contains_key(&at));
    line::leaf_move(&NewEntry { id: new.0, parent: to, time_ms: new.1 }, has_label)
}
