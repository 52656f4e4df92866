//! Changes of one appended line: a name, a label, a moved leaf.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::base::js::js_trim;
use crate::changes::journal::Change;
use crate::changes::{Done, Target, Work};
use crate::disk::files::Files;
use crate::disk::load::Bodies;
use crate::session::entry::kind::Kind;
use crate::session::entry::read;
use crate::session::tree::{Index, Tree};
use crate::session::write::line;
use crate::session::write::line::NewEntry;

pub(crate) fn rename(work: &mut Work<'_>, path: &Path, name: &str) -> Result<Done> {
    let name = line::clean_name(name).context("the name is not taken")?;
    let after = Some(name.clone()).filter(|name| !name.is_empty());
    let now = work.now;
    let change = work.append(path, true, |tree, id| {
        let before = name_of(tree, path)?;
        if before == after {
            return Ok(None);
        }
        let line = name_line(tree, path, after.as_deref(), (id, now))?;
        let entry = id.to_string();
        Ok(Some((line, Change::Name { path: path.into(), entry, before, after: after.clone() })))
    })?;
    Ok(made(change, if name.is_empty() { "it has no name already" } else { "it has that name already" }))
}

pub(crate) fn label(work: &mut Work<'_>, path: &Path, target: &Target, label: &str) -> Result<Done> {
    let label = line::clean_label(label).context("the label is not taken")?;
    let after = Some(label.clone()).filter(|label| !label.is_empty());
    let now = work.now;
    let change = work.append(path, true, |tree, id| {
        let at = target.find(tree).with_context(|| format!("{} has no such entry any more", path.display()))?;
        let before = label_of(tree, at);
        if before == after {
            return Ok(None);
        }
        let target = string_id(tree, path, at)?;
        let line = label_line(tree, path, &target, after.as_deref(), (id, now))?;
        let entry = id.to_string();
        Ok(Some((line, Change::Label { path: path.into(), entry, target, before, after: after.clone() })))
    })?;
    Ok(made(change, if label.is_empty() { "it has no label already" } else { "it has that label already" }))
}

pub(crate) fn move_leaf(work: &mut Work<'_>, path: &Path, to: Option<&Target>) -> Result<Done> {
    let now = work.now;
    let change = work.append(path, false, |tree, id| {
        let to = match to {
            Some(to) => Some(to.find(tree).with_context(|| format!("{} has no such entry any more", path.display()))?),
            None => None,
        };
        if tree.goes_on_at(to) {
            return Ok(None);
        }
        let before = tree.leaf.map(|leaf| string_id(tree, path, leaf)).transpose()?;
        let after = to.map(|to| string_id(tree, path, to)).transpose()?;
        let line = leaf_line(tree, after.as_deref(), (id, now));
        Ok(Some((line, Change::Leaf { path: path.into(), entry: id.into(), before, after })))
    })?;
    Ok(made(change, "the leaf is there already"))
}

fn made(change: Option<Change>, or_else: &str) -> Done {
    change.map_or_else(|| Done::nothing(or_else), |change| Done::of(vec![change]))
}

/// The line that gives a name, or clears it; `new` are its id and time.
pub(crate) fn name_line(tree: &Tree, path: &Path, name: Option<&str>, new: (&str, i64)) -> Result<String> {
    let parent = leaf_id(tree, path)?;
    let new = NewEntry { id: new.0, parent: parent.as_deref(), time_ms: new.1 };
    Ok(line::session_info(&new, name.unwrap_or_default()))
}

/// The line that gives a label, or clears it.
pub(crate) fn label_line(
    tree: &Tree,
    path: &Path,
    target: &str,
    label: Option<&str>,
    new: (&str, i64),
) -> Result<String> {
    let parent = leaf_id(tree, path)?;
    let new = NewEntry { id: new.0, parent: parent.as_deref(), time_ms: new.1 };
    Ok(line::label(&new, target, label))
}

/// The line that moves the leaf.
pub(crate) fn leaf_line(tree: &Tree, to: Option<&str>, new: (&str, i64)) -> String {
    let has_label = to.and_then(|to| tree.find(to)).is_some_and(|at| tree.labels.contains_key(&at));
    line::leaf_move(&NewEntry { id: new.0, parent: to, time_ms: new.1 }, has_label)
}

/// The label of an entry.
pub(crate) fn label_of(tree: &Tree, at: Index) -> Option<String> {
    tree.labels.get(&at).map(|label| label.text.to_string())
}

/// The name of a session: the last one given, as in pi's list.
pub(crate) fn name_of(tree: &Tree, path: &Path) -> Result<Option<String>> {
    let Some(node) = tree.nodes.iter().rev().find(|node| node.kind == Kind::SessionInfo) else { return Ok(None) };
    let line = Bodies::open(Files::Disk, path)?.line(node)?;
    let entry = read::line(&line).ok().flatten().unwrap_or_default();
    let name = entry.name.map(|name| js_trim(&name.text()).to_string());
    Ok(name.filter(|name| !name.is_empty()))
}

/// The id of the leaf, which a new line follows. Files of version 1 have none: pi ties their lines when it opens them.
fn leaf_id(tree: &Tree, path: &Path) -> Result<Option<String>> {
    match tree.leaf {
        Some(leaf) if tree.header.version >= 2.0 => string_id(tree, path, leaf).map(Some),
        _ => Ok(None),
    }
}

/// The id of an entry that others can follow or point at: a text, as pi's always are.
pub(crate) fn string_id(tree: &Tree, path: &Path, at: Index) -> Result<String> {
    let node = &tree.nodes[at as usize];
    let line = Bodies::open(Files::Disk, path)?.line(node)?;
    let entry = read::line(&line).ok().flatten().unwrap_or_default();
    match entry.id.filter(|_| entry.id_is_text) {
        Some(id) => Ok(id.text().into_owned()),
        None => bail!(
            "an entry of {} has no id that another one could name ({}), so nothing can follow it",
            path.display(),
            node.text
        ),
    }
}
