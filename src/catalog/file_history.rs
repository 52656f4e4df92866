//! The states of files in sessions: at an entry, and over all entries of a session.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::base::diff;
use crate::disk::load::EntryReader;
use crate::session::digest::commits::DigestCommit;
use crate::session::links::EntryIndex;
use crate::session::replay::state::{FileState, Source};
use crate::session::replay::{CommandEffects, Files, Replay};
use crate::session::tree::Tree;
use crate::session::tree::node::Node;

/// A state of a file that differs from the state before it on its branch.
#[derive(Clone, Debug)]
pub(crate) struct FileRevision {
    /// The entry that brought the state.
    pub(crate) entry: EntryIndex,
    /// The state.
    pub(crate) state: Arc<FileState>,
    /// The state before the entry.
    pub(crate) before: Option<Arc<FileState>>,
}

/// Returns files of a session after an entry.
///
/// # Errors
/// An entry cannot be read.
pub(crate) fn files_at(
    (path, tree): (&Path, &Tree),
    at: EntryIndex,
    paths: BTreeSet<String>,
    home: &str,
) -> Result<Files> {
    let mut reader = EntryReader::open(path)?;
    Replay::new(tree, home, |node| reader.known(node)).only(paths)?.at(at)
}

/// The environment of a replay.
#[derive(Clone, Copy)]
pub struct ReplayControl<'a> {
    /// The home directory, for `~`.
    pub home: &'a str,
    /// Returns `true` while the result is still wanted.
    pub is_wanted: &'a dyn Fn() -> bool,
}

/// Returns the files after some entries, and the effects of commands. Common parts of their paths are replayed once.
///
/// # Errors
/// An entry cannot be read, or the result is no longer wanted.
pub(crate) fn files_at_ends(
    (path, tree): (&Path, &Tree),
    ends: &[EntryIndex],
    control: ReplayControl<'_>,
) -> Result<(Vec<Rc<Files>>, CommandEffects)> {
    let mut reader = EntryReader::open(path)?;
    let mut replay = Replay::new(tree, control.home, |node: &Node| {
        ensure!((control.is_wanted)(), "canceled");
        reader.known(node)
    });
    let above = |end: EntryIndex| tree.to_root(end);
    let (mut seen, mut shared) = (HashSet::new(), HashSet::new());
    for &end in ends {
        shared.extend(above(end).find(|&at| !seen.insert(at)));
    }
    let mut known: HashMap<EntryIndex, Rc<Files>> = HashMap::new();
    let mut states = Vec::with_capacity(ends.len());
    for &end in ends {
        let mut own: Vec<EntryIndex> = above(end).take_while(|at| !known.contains_key(at)).collect();
        own.reverse();
        let before = own.first().map_or(Some(end), |&first| tree.parent(first));
        let mut files = before.and_then(|before| known.get(&before)).cloned().unwrap_or_default();
        for part in own.split_inclusive(|at| shared.contains(at)) {
            files = replay.along(files, part)?;
            known.extend(part.last().filter(|last| shared.contains(last)).map(|&last| (last, files.clone())));
        }
        states.push(files);
    }
    Ok((states, replay.into_effects()))
}

/// Passes the states of files after each entry that touched them to `visit`, also if the content is unchanged. They are of
/// all branches of a session, those of parents before those of their children. `effects` has those of commands that were
/// read before; others are added.
///
/// # Errors
/// An entry cannot be read, or the result is no longer wanted.
pub(crate) fn each_version(
    (path, tree): (&Path, &Tree),
    files: &BTreeSet<String>,
    control: ReplayControl<'_>,
    effects: &mut CommandEffects,
    visit: &mut dyn FnMut(&str, FileRevision),
) -> Result<()> {
    let mut reader = EntryReader::open(path)?;
    let read = |node: &Node| {
        ensure!((control.is_wanted)(), "canceled");
        reader.known(node)
    };
    let replay = Replay::new(tree, control.home, read).only(files.iter().cloned())?;
    let mut replay = replay.with_effects(std::mem::take(effects));
    let replayed = replay.each(|entry, before, after| {
        if Rc::ptr_eq(before, after) {
            return;
        }
        // The replay can also have other files, such as the sources of moves.
        for (file, state) in after.iter().filter(|(file, state)| state.latest == entry && files.contains(*file)) {
            let before = before.get(file).cloned();
            visit(file, FileRevision { entry, state: state.clone(), before });
        }
    });
    *effects = replay.into_effects();
    replayed
}

/// Returns the first commit that a command printed while a file had each of some states, given by their entries. `commits`
/// are those of the session.
pub(crate) fn commits_of_states<'c>(
    tree: &Tree,
    states: &HashSet<EntryIndex>,
    commits: &'c [DigestCommit],
) -> HashMap<EntryIndex, &'c DigestCommit> {
    let mut found = HashMap::new();
    for commit in commits {
        let above = tree.to_root(commit.at);
        let state = above.take_while(|&at| (at as usize) < tree.nodes.len()).find(|at| states.contains(at));
        state.map(|state| found.entry(state).or_insert(commit));
    }
    found
}

/// Returns the prompt above an entry.
pub(crate) fn prompt(tree: &Tree, at: EntryIndex) -> Option<EntryIndex> {
    tree.to_root(at).find(|&at| tree.is_prompt(at))
}

impl FileRevision {
    /// Returns `true` if the content differs from the one before the entry.
    pub(crate) fn is_new(&self) -> bool {
        self.before.as_ref().is_none_or(|before| before.content != self.state.content)
    }

    /// Returns the text before the entry, if every byte is known; empty if the file did not exist.
    fn text_before(&self) -> Option<&str> {
        self.before.as_deref()?.whole_or_removed()
    }

    /// Returns the texts before and after the entry, if both are known.
    pub(crate) fn texts(&self) -> Option<(&str, &str)> {
        Some((self.text_before()?, self.state.whole_or_removed()?))
    }

    /// Returns the numbers of added and removed lines, if both texts are known.
    pub(crate) fn changed_lines(&self) -> Option<(usize, usize)> {
        let (before, after) = self.texts()?;
        diff::changed_lines(before, after)
    }

    /// Returns the lines of a text that the entry brought: for each, `true` if the state has it and the one before it has
    /// not. Lines that were only read have another origin.
    pub(crate) fn brought(&self, lines: &[&str]) -> Vec<bool> {
        let found = || {
            let own = diff::lines(self.state.exact().filter(|_| self.is_own())?);
            let is_new = diff::new_lines(&diff::lines(self.text_before().unwrap_or_default()), &own)?;
            let places = diff::old_places(&own, lines)?;
            Some(places.into_iter().map(|place| place.is_some_and(|place| is_new[place])).collect())
        };
        found().unwrap_or_else(|| vec![false; lines.len()])
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
