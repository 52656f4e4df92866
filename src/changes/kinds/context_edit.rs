//! Edits of the model context at the end of a session: several context edits are appended together, all or none. Undo
//! appends edits that restore the contents before.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::changes::change::{Change, ChangeStep, ContextEditChange};
use crate::changes::engine::Engine;
use crate::changes::kinds::line::{self, BuildChange, LineStep, check_version, leaf_id, place_of};
use crate::changes::request::ChangeResult;
use crate::disk::load::EntryReader;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{EntryId, parse};
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::context_edit::{self, NewEdit};
use crate::session::write::line::NewEntry;

/// Appends context edits to a session.
pub(crate) fn edit(engine: &mut Engine<'_>, path: &Path, at: &EntryId, edits: &[NewEdit]) -> Result<ChangeResult> {
    let build: BuildChange<'_> = &|path, tree, id| {
        check_version(path, tree)?;
        if !tree.is_current_position(Some(place_of(tree, path, at)?)) {
            bail!("{} does not end at this entry; edit the context in a fork", path.display());
        }
        let ids = edits.iter().map(|_| id()).collect();
        let change = ContextEditChange { path: path.into(), edits: ids, new: edits.to_vec() };
        Ok(Some(Change::ContextEdit(change)))
    };
    if edits.is_empty() {
        return Ok(ChangeResult::nothing("nothing to edit"));
    }
    let change = engine.append(LineStep::Make(path, true, build), None)?;
    Ok(line::done(change, "nothing to edit"))
}

/// Returns lines of context edits that follow each other after an entry.
pub(super) fn lines<'a>(
    edits: impl Iterator<Item = (&'a NewEdit, &'a String)>,
    parent: Option<&str>,
    time_ms: i64,
) -> Vec<String> {
    let mut parent = parent.map(String::from);
    let line = |(edit, id): (&NewEdit, &String)| {
        let before = parent.replace(id.clone());
        let new = NewEntry { id, parent: before.as_deref(), time_ms };
        context_edit::line(&new, &edit.target, &edit.replacement)
    };
    edits.map(line).collect()
}

impl ContextEditChange {
    /// Returns the change with the IDs of the lines that the last step appended; `entries` are those of all steps.
    pub(super) fn of_last_step(&self, entries: &[String]) -> Self {
        let first = entries.len().saturating_sub(self.edits.len());
        Self { edits: entries[first..].to_vec(), ..self.clone() }
    }

    /// Returns the lines that a step appends, with their IDs.
    pub(super) fn step_lines(&self, tree: &Tree, step: ChangeStep, ids: &[String], time_ms: i64) -> Result<String> {
        let edits = match step {
            ChangeStep::Make => self.new.clone(),
            ChangeStep::Undo | ChangeStep::Redo => {
                let [before, after] = self.ends(tree)?;
                step.ends(before, after).1
            }
        };
        let parent = leaf_id(tree, &self.path)?;
        Ok(lines(edits.iter().zip(ids), parent.as_deref(), time_ms).join("\n"))
    }

    /// Returns the contents before the change, which are those of earlier edits or the original ones, and after it.
    fn ends(&self, tree: &Tree) -> Result<[Vec<NewEdit>; 2]> {
        let mut reader = EntryReader::open(&self.path)?;
        let first = self.edits.first().and_then(|id| tree.find(id)).unwrap_or_default();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for id in &self.edits {
            let at = tree.find(id).with_context(|| format!("{} has no longer the entry {id}", self.path.display()))?;
            let made = edit_of(&reader.line(tree.node(at))?).with_context(|| format!("the entry {id} has changed"))?;
            let target = tree.find(&made.target).context("the edited entry is gone")?;
            let earlier = last_edit(tree, tree.parent(first), target);
            let line = reader.line(tree.node(earlier.unwrap_or(target)))?;
            let replacement = match earlier {
                Some(_) => edit_of(&line).context("an earlier edit has changed")?.replacement,
                None => context_edit::replacement(Some(&context_edit::original(&line, tree.node(target).kind))),
            };
            before.push(NewEdit { target: made.target.clone(), replacement });
            after.push(made);
        }
        Ok([before, after])
    }

    /// Returns the reason if the contents are no longer those from before a step.
    pub(super) fn changed_since(&self, step: ChangeStep, tree: &Tree) -> Result<Option<String>> {
        let [before, after] = self.ends(tree)?;
        let expected = step.ends(before, after).0;
        let mut reader = EntryReader::open(&self.path)?;
        for edit in expected {
            let target = tree.find(&edit.target);
            let last = target.and_then(|target| last_edit(tree, tree.leaf, target));
            let Some(last) = last else {
                return Ok(Some(format!("the session has continued on a branch without the edit of {}", edit.target)));
            };
            if edit_of(&reader.line(tree.node(last))?).is_none_or(|now| now.replacement != edit.replacement) {
                return Ok(Some(format!("{} was edited again", edit.target)));
            }
        }
        Ok(None)
    }
}

/// Returns the last context edit of an entry on a path.
fn last_edit(tree: &Tree, end: Option<EntryIndex>, target: EntryIndex) -> Option<EntryIndex> {
    let is_edit = |&at: &EntryIndex| {
        tree.node(at).kind == EntryKind::ContextEdit && tree.edits.get(&at).is_some_and(|(of, _)| *of == target)
    };
    end.and_then(|end| tree.to_root(end).find(is_edit))
}

/// Returns the edit of a line.
fn edit_of(line: &[u8]) -> Option<NewEdit> {
    let entry = parse::entry(line);
    let replacement = entry.replacement.map_or("null".into(), |raw| String::from_utf8_lossy(raw).into_owned());
    Some(NewEdit { target: entry.target_id?.owned(), replacement })
}
