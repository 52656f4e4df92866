//! The states of files in sessions: at an entry, and over all entries of a session.

use std::collections::{BTreeSet, HashSet};
use std::iter::successors;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::base::diff::diff;
use crate::disk::load::Bodies;
use crate::session::digest::commits::DigestCommit;
use crate::session::entry::kind::EntryKind;
use crate::session::links::Index;
use crate::session::replay::state::{Content, FileState, Source};
use crate::session::replay::{CommandEffects, Files, Replay};
use crate::session::tree::Tree;
use crate::session::tree::node::Node;

/// The maximum number of lines to compare.
const MAX_LINES: usize = 20_000;

/// A state of a file that differs from the state before it on its branch.
#[derive(Clone, Debug)]
pub(crate) struct FileVersion {
    /// The entry that brought the state.
    pub(crate) entry: Index,
    /// The state.
    pub(crate) state: Arc<FileState>,
    /// The state before the entry.
    pub(crate) before: Option<Arc<FileState>>,
    /// The first commit that a command printed while the file had this state.
    pub(crate) commit: Option<DigestCommit>,
}

/// Returns the files of a session after an entry. `paths` limits them; `None` stands for all.
///
/// # Errors
/// An entry cannot be read.
pub(crate) fn files_at(
    (path, tree): (&Path, &Tree),
    at: Index,
    paths: Option<BTreeSet<String>>,
    home: &str,
) -> Result<Files> {
    let mut bodies = Bodies::open(path)?;
    let replay = Replay::new(tree, home, |node| bodies.known(node));
    match paths {
        Some(paths) => replay.only(paths)?.at(at),
        None => { replay }.at(at),
    }
}

/// Returns the states of a file on all branches of a session, in file order. `commits` are those of the session.
///
/// # Errors
/// An entry cannot be read.
pub(crate) fn versions(
    (path, tree): (&Path, &Tree),
    commits: &[DigestCommit],
    file: &str,
    home: &str,
) -> Result<Vec<FileVersion>> {
    let mut versions = touches((path, tree), (file, home), &|| true, &mut CommandEffects::new())?;
    versions.retain(FileVersion::is_new);
    if versions.is_empty() {
        return Ok(versions);
    }
    let mut places: Vec<Option<usize>> = vec![None; tree.nodes.len()];
    for (number, version) in versions.iter().enumerate() {
        places[version.entry as usize] = Some(number);
    }
    for commit in commits {
        let above = successors(Some(commit.at), |&at| tree.parent(at));
        let version = above.map_while(|at| places.get(at as usize)).find_map(|place| *place);
        if let Some(version) = version.and_then(|number| versions.get_mut(number)) {
            version.commit.get_or_insert_with(|| commit.clone());
        }
    }
    Ok(versions)
}

/// Returns the states of a file after each entry that touched it, also if its content is unchanged. They are of all branches
/// of a session, in file order, without commits. `effects` has those of commands that were read before; others
/// are added.
///
/// # Errors
/// An entry cannot be read, or the result is no longer wanted.
pub(crate) fn touches(
    (path, tree): (&Path, &Tree),
    (file, home): (&str, &str),
    is_wanted: &dyn Fn() -> bool,
    effects: &mut CommandEffects,
) -> Result<Vec<FileVersion>> {
    let mut bodies = Bodies::open(path)?;
    let read = |node: &Node| {
        ensure!(is_wanted(), "canceled");
        bodies.known(node)
    };
    let mut replay = Replay::new(tree, home, read).only([file.to_owned()])?.with_effects(std::mem::take(effects));
    let states = replay.everywhere();
    *effects = replay.into_effects();
    let states = states?;
    let state = |at: Index| states[at as usize].get(file).cloned();
    let touch = |at: Index| {
        let before = tree.parent(at).and_then(state);
        let state = state(at).filter(|state| state.latest == at)?;
        Some(FileVersion { entry: at, state, before, commit: None })
    };
    Ok((0..tree.nodes.len() as Index).filter_map(touch).collect())
}

/// Returns the prompt above an entry.
pub(crate) fn prompt(tree: &Tree, at: Index) -> Option<Index> {
    successors(Some(at), |&at| tree.parent(at)).find(|&at| tree.nodes[at as usize].kind == EntryKind::User)
}

impl FileVersion {
    /// Returns `true` if the content differs from the one before the entry.
    pub(crate) fn is_new(&self) -> bool {
        self.before.as_ref().is_none_or(|before| before.content != self.state.content)
    }

    /// Returns the text before the entry, if every byte is known; empty if the file did not exist.
    fn text_before(&self) -> Option<&str> {
        match self.before.as_deref().map(|before| &before.content) {
            Some(Content::Exact(text)) => Some(text),
            Some(Content::Removed) => Some(""),
            Some(Content::Partial(_) | Content::Unknown) | None => None,
        }
    }

    /// Returns the numbers of added and removed lines, if both texts are known.
    pub(crate) fn changed_lines(&self) -> Option<(usize, usize)> {
        let before = self.text_before()?;
        let after = if self.state.content == Content::Removed { "" } else { self.state.whole()? };
        let [old, new] = [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        if old.len().max(new.len()) > MAX_LINES {
            return None;
        }
        let changes = diff(&old, &new);
        let changed = changes.iter().filter(|op| op.tag() != similar::DiffTag::Equal);
        Some(
            changed.fold((0, 0), |(added, removed), op| (added + op.new_range().len(), removed + op.old_range().len())),
        )
    }

    /// Returns the lines of a text that the entry brought: for each, `true` if the state has it and the one before it has
    /// not. Lines that were only read have another origin.
    pub(crate) fn brought(&self, lines: &[&str]) -> Vec<bool> {
        let mut brought = vec![false; lines.len()];
        let Some(text) = self.state.exact().filter(|_| self.is_own()) else { return brought };
        let own: Vec<&str> = text.split_inclusive('\n').collect();
        let before: Vec<&str> = self.text_before().unwrap_or_default().split_inclusive('\n').collect();
        if own.len().max(lines.len()).max(before.len()) > MAX_LINES {
            return brought;
        }
        let mut is_new = vec![false; own.len()];
        for op in diff(&before, &own).iter().filter(|op| op.tag() != similar::DiffTag::Equal) {
            is_new[op.new_range()].fill(true);
        }
        for op in diff(&own, lines).iter().filter(|op| op.tag() == similar::DiffTag::Equal) {
            for (of_own, of_lines) in op.old_range().zip(op.new_range()) {
                brought[of_lines] = is_new[of_own];
            }
        }
        brought
    }

    /// Returns those of some lines that the entry brought to any place in the file. Spaces around lines are ignored.
    pub(crate) fn brought_anywhere<'l>(&self, lines: &HashSet<&'l str>) -> Vec<&'l str> {
        let Some(text) = self.state.exact().filter(|_| self.is_own()) else { return Vec::new() };
        let before: HashSet<&str> = self.text_before().unwrap_or_default().lines().map(str::trim).collect();
        let new = text.lines().map(str::trim).filter(|line| !before.contains(line));
        new.filter_map(|line| lines.get(line).copied()).collect()
    }

    /// Returns `true` if a call or a command of the session wrote the state, not another program.
    fn is_own(&self) -> bool {
        // Reads of parts show a file as it was; after edits of a known file, they only confirm it.
        let was_whole = self.before.as_deref().is_some_and(|before| before.whole().is_some());
        let is_read = self.state.source == Source::Read && (self.state.entries == [self.entry] || !was_whole);
        !is_read && self.state.source != Source::Attached
    }

    /// Returns `true` if a text occurs more or less often than before.
    pub(crate) fn changes_count(&self, text: &str) -> bool {
        let count = |text_of: Option<&str>| text_of.map_or(0, |all| all.matches(text).count());
        let before = self.before.as_deref().and_then(FileState::whole);
        count(before) != count(self.state.whole())
    }
}
