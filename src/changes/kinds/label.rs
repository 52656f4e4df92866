//! Labels: an entry is labeled, or its label is cleared.

use std::path::Path;

use anyhow::{Context, Result};

use crate::changes::change::{Change, LabelChange};
use crate::changes::engine::Engine;
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::changes::kinds::kind::ChangeKind;
use crate::changes::kinds::line::{done, has_line, leaf_id, place_of, quoted, string_id, was};
use crate::changes::kinds::preconditions::{must_exist, overtaken};
use crate::changes::result::ChangeResult;
use crate::session::entry::EntryId;
use crate::session::tree::{Index, Tree};
use crate::session::write::line;
use crate::session::write::line::NewEntry;

pub(crate) fn make(work: &mut Engine<'_>, path: &Path, target: &EntryId, label: &str) -> Result<ChangeResult> {
    let label = line::clean_name(label).context("invalid label")?;
    let after = Some(label).filter(|label| !label.is_empty());
    let now = work.now;
    let change = work.append(path, true, |tree, id| {
        let at = place_of(tree, path, target)?;
        let before = label_of(tree, at);
        if before == after {
            return Ok(None);
        }
        let target = string_id(tree, path, at)?;
        let change = LabelChange { path: path.into(), entry: id.into(), target, before, after: after.clone() };
        let line = change.line(tree, after.as_deref(), (id, now))?;
        Ok(Some((line, Change::Label(change))))
    })?;
    Ok(done(
        change,
        if after.is_none() { "the entry already has no label" } else { "the entry already has this label" },
    ))
}

impl ChangeKind for LabelChange {
    fn path(&self) -> &Path {
        &self.path
    }

    fn entry(&self) -> Option<&str> {
        Some(&self.entry)
    }

    fn describe(&self) -> String {
        let (target, was) = (&self.target, was(self.before.as_ref()));
        match &self.after {
            Some(label) => format!("set label {} on {target}{was}", quoted(label)),
            None => format!("clear label on {target}{was}"),
        }
    }

    fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        must_exist(&self.path)?;
        let (from, to) = step.ends(&self.before, &self.after);
        let now = work.now;
        work.append_again(record, step, true, |_, tree, id| {
            let label = tree.find(&self.target).and_then(|at| label_of(tree, at));
            if &label != from {
                return overtaken(format!("the label has changed to {:?}", label.unwrap_or_default()));
            }
            self.line(tree, to.as_deref(), (id, now))
        })
    }

    fn happened(&self, record: &JournalRecord, _: ChangeStep) -> Option<bool> {
        has_line(&self.path, record)
    }
}

impl LabelChange {
    /// Creates the line that sets or clears the label of an entry; `new` has its id and time.
    fn line(&self, tree: &Tree, label: Option<&str>, new: (&str, i64)) -> Result<String> {
        let parent = leaf_id(tree, &self.path)?;
        let new = NewEntry { id: new.0, parent: parent.as_deref(), time_ms: new.1 };
        Ok(line::label(&new, &self.target, label))
    }
}

fn label_of(tree: &Tree, at: Index) -> Option<String> {
    tree.labels.get(&at).map(|label| label.text.to_string())
}
