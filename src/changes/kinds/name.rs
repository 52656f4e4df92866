//! Renames: a session is named, or its name is cleared.

use std::path::Path;

use anyhow::{Context, Result};

use crate::base::javascript::js_trim;
use crate::changes::change::{Change, NameChange};
use crate::changes::engine::Engine;
use crate::changes::journal::{ChangeStep, JournalRecord};
use crate::changes::kinds::kind::ChangeKind;
use crate::changes::kinds::line::{done, has_line, leaf_id, quoted, was};
use crate::changes::kinds::preconditions::{must_exist, overtaken};
use crate::changes::result::ChangeResult;
use crate::disk::files::Files;
use crate::disk::load::Bodies;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::tree::Tree;
use crate::session::write::line;
use crate::session::write::line::NewEntry;

pub(crate) fn make(work: &mut Engine<'_>, path: &Path, name: &str) -> Result<ChangeResult> {
    let name = line::clean_name(name).context("invalid name")?;
    let after = Some(name).filter(|name| !name.is_empty());
    let now = work.now;
    let change = work.append(path, true, |tree, id| {
        let before = name_of(tree, path)?;
        if before == after {
            return Ok(None);
        }
        let line = name_line(tree, path, after.as_deref(), (id, now))?;
        let change = NameChange { path: path.into(), entry: id.into(), before, after: after.clone() };
        Ok(Some((line, Change::Name(change))))
    })?;
    Ok(done(
        change,
        if after.is_none() { "the session already has no name" } else { "the session already has this name" },
    ))
}

impl ChangeKind for NameChange {
    fn path(&self) -> &Path {
        &self.path
    }

    fn entry(&self) -> Option<&str> {
        Some(&self.entry)
    }

    fn describe(&self) -> String {
        let was = was(self.before.as_ref());
        self.after
            .as_ref()
            .map_or_else(|| format!("clear name{was}"), |name| format!("rename to {}{was}", quoted(name)))
    }

    fn again(&self, work: &mut Engine<'_>, record: &JournalRecord, step: ChangeStep) -> Result<()> {
        must_exist(&self.path)?;
        let (from, to) = step.ends(&self.before, &self.after);
        let now = work.now;
        work.append_again(record, step, true, |_, tree, id| {
            let name = name_of(tree, &self.path)?;
            if &name != from {
                return overtaken(format!("the name has changed to {}", quoted(&name.unwrap_or_default())));
            }
            name_line(tree, &self.path, to.as_deref(), (id, now))
        })
    }

    fn happened(&self, record: &JournalRecord, _: ChangeStep) -> Option<bool> {
        has_line(&self.path, record)
    }
}

/// Creates the line that sets or clears the name; `new` has its id and time.
fn name_line(tree: &Tree, path: &Path, name: Option<&str>, new: (&str, i64)) -> Result<String> {
    let parent = leaf_id(tree, path)?;
    let new = NewEntry { id: new.0, parent: parent.as_deref(), time_ms: new.1 };
    Ok(line::session_info(&new, name.unwrap_or_default()))
}

/// Returns the name of a session: the last one set, as in pi's list.
fn name_of(tree: &Tree, path: &Path) -> Result<Option<String>> {
    let Some(node) = tree.nodes.iter().rev().find(|node| node.kind == EntryKind::SessionInfo) else { return Ok(None) };
    let line = Bodies::open(Files::Disk, path)?.line(node)?;
    let entry = parse::line(&line).ok().flatten().unwrap_or_default();
    let name = entry.name.map(|name| js_trim(&name.text()).to_string());
    Ok(name.filter(|name| !name.is_empty()))
}
