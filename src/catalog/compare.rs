//! Compares two branches: reads the entries of each from its file once, in order, and replays their files up to the ends.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};

use crate::base::diff;
use crate::base::paths::{full_path, relative_to};
use crate::catalog::file_history::{FileRevision, ReplayControl};
use crate::disk::load::{self, EntryReader};
use crate::session::compare::description::SIDES;
use crate::session::compare::{BranchPath, Comparison, Divergence, SideCollector, SideSummary, diverge};
use crate::session::entry::Entry;
use crate::session::lines::Line;
use crate::session::replay::state::{Content, FileState};
use crate::session::replay::{Files, Replay};
use crate::session::tree::context::edits_in_force;
use crate::session::tree::model_role::EditCounts;
use crate::session::tree::node::Node;
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::context_edit::EditEffect;

/// A branch and its source.
#[derive(Clone, Debug)]
pub struct BranchEnd {
    /// The session file.
    pub path: PathBuf,
    /// The tree of the file; shared if both branches are in one file.
    pub tree: Arc<Tree>,
    /// The last entry of the branch.
    pub at: EntryIndex,
}

/// A branch to compare.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// The session file.
    pub path: PathBuf,
    /// The tree of the file, if it is loaded.
    pub tree: Option<Arc<Tree>>,
    /// The last entry; `None` for the leaf.
    pub at: Option<EntryIndex>,
}

/// Two compared branches.
#[derive(Clone, Debug)]
pub struct ComparedBranches {
    /// The branches.
    pub ends: [BranchEnd; 2],
    /// The result of the comparison.
    pub comparison: Comparison,
}

impl ComparedBranches {
    /// Loads the requested branches and compares them with [`compare`].
    ///
    /// # Errors
    /// The errors of [`compare`], and an error if a session has no entries.
    pub fn read([a, b]: [CompareRequest; 2], reading: ReplayControl<'_>) -> Result<Self> {
        let is_same = a.path == b.path;
        let a = a.open(reading)?;
        let tree = if is_same { Some(a.tree.clone()) } else { b.tree };
        let b = CompareRequest { tree, ..b }.open(reading)?;
        let comparison = compare([&a, &b], reading)?;
        Ok(Self { ends: [a, b], comparison })
    }
}

impl CompareRequest {
    fn open(self, reading: ReplayControl<'_>) -> Result<BranchEnd> {
        let Self { path, tree, at } = self;
        let tree = match tree {
            Some(tree) => tree,
            None => Arc::new(load::tree(&path, reading.home)?),
        };
        match at.or(tree.leaf).filter(|&at| (at as usize) < tree.nodes.len()) {
            Some(at) => Ok(BranchEnd { path, tree, at }),
            None if at.is_some() => bail!("{} changed since an entry was marked: mark it again", path.display()),
            None => bail!("{} has no entries to compare", path.display()),
        }
    }
}

/// Compares two branches. Files are identified by their paths relative to the working directory of the session, so that
/// two worktrees of a project have the same files.
///
/// # Errors
/// The branches have nothing in common, a file cannot be read, or the comparison was canceled.
pub fn compare(ends: [&BranchEnd; 2], reading: ReplayControl<'_>) -> Result<Comparison> {
    let branches = ends.map(|end| BranchPath { tree: &end.tree, end: end.at });
    let Some(divergence) = diverge(branches) else {
        bail!("the two branches have no common entry; choose two of the same session or family");
    };
    let side = |at: usize| {
        let side = side(ends[at], &divergence.own[at], reading)?;
        anyhow::Ok(SideSummary { edits: edits(ends[at])?, ..side })
    };
    let sides = [side(0)?, side(1)?];
    let ends = divergence.ends(branches);
    let Divergence { shared, common, .. } = divergence;
    Ok(Comparison { common, ends, shared: shared.len(), sides })
}

fn side(end: &BranchEnd, own: &[EntryIndex], reading: ReplayControl<'_>) -> Result<SideSummary> {
    let cwd = &end.tree.header.cwd;
    let name = |path: &str| relative_to(cwd, &full_path(path, cwd, reading.home), reading.home).into_owned();
    let mut collector = SideCollector::new(&name);
    each(end, own, reading, |node, entry| collector.entry(node, entry))?;
    Ok(collector.finish())
}

/// Counts the context edits that are in force at the end of a branch. Those that restore a content do not count.
fn edits(end: &BranchEnd) -> Result<EditCounts> {
    let mut reader = EntryReader::open(&end.path)?;
    let mut counts = EditCounts::default();
    for (at, edit) in edits_in_force(&end.tree, Some(end.at)) {
        let effect = EditEffect::new(&reader.line(&end.tree[at])?, &reader.line(&end.tree[edit])?);
        counts.omitted += usize::from(effect == Some(EditEffect::Omitted));
        counts.replaced += usize::from(matches!(effect, Some(EditEffect::Replaced(_))));
    }
    Ok(counts)
}

/// Reads entries in order. Of an overlong line, only the beginning is read.
fn each(
    end: &BranchEnd,
    entries: &[EntryIndex],
    reading: ReplayControl<'_>,
    mut take: impl FnMut(&Node, &Entry<'_>),
) -> Result<()> {
    let mut reader = EntryReader::open(&end.path)?;
    for &at in entries {
        if !(reading.is_wanted)() {
            bail!("comparison canceled");
        }
        let node = &end.tree[at];
        let bytes = reader.known(node)?;
        let line = Line { len: node.len, ..Line::new(node.offset, &bytes, true) };
        let entry = line.read().ok().flatten().unwrap_or_default();
        // pi rewrites old files when it opens them.
        if node.id.as_deref().is_some_and(|id| !entry.id.is_some_and(|now| now.is(id))) {
            bail!("{} changed since it was opened; read it again to compare it as it is now", end.path.display());
        }
        take(node, &entry);
    }
    Ok(())
}

/// A file that differs at the ends of two branches, or may differ.
#[derive(Clone, Debug)]
pub struct FinalFile {
    /// The path, relative to the working directory of the session.
    pub name: String,
    /// The state at the end of each branch; `None` if the branch did not touch the file.
    pub states: [Option<Arc<FileState>>; 2],
    /// The numbers of lines that are only in the second and only in the first state, if both are known.
    pub lines: Option<(usize, usize)>,
    /// A unified diff from the first to the second text, if both are known and differ.
    pub diff: Option<String>,
}

impl FinalFile {
    /// Describes the states at both ends, such as `A: exact; B: not touched`, and the numbers of differing lines.
    pub fn facts(&self) -> String {
        let state = |side: usize| {
            let exactness = self.states[side].as_ref().map_or("not touched", |state| state.exactness().words());
            format!("{}: {exactness}", SIDES[side])
        };
        let lines = self.lines.map_or(String::new(), |(added, removed)| format!("  +{added} -{removed}"));
        format!("{}; {}{lines}", state(0), state(1))
    }
}

/// Returns the files that differ at the ends of two branches, by name.
///
/// # Errors
/// A session cannot be read, or the result is no longer wanted.
pub fn final_files(compared: &ComparedBranches, control: ReplayControl<'_>) -> Result<Vec<FinalFile>> {
    let ends = compared.ends.each_ref();
    let paths = ends.map(|end| end.tree.path(end.at));
    let common = compared.comparison.common;
    // The path up to the last common entry, and the entries after it.
    let shared = [0, 1].map(|side| paths[side].iter().position(|&at| at == common[side]).map_or(0, |at| at + 1));
    let own = [0, 1].map(|side| &paths[side][shared[side]..]);
    let before = |side: usize| replay(ends[side], Rc::default(), &paths[side][..shared[side]], control);
    let first = before(0)?;
    let is_same = Arc::ptr_eq(&ends[0].tree, &ends[1].tree) && common[0] == common[1];
    let second = if is_same { first.clone() } else { before(1)? };
    let files = [replay(ends[0], first, own[0], control)?, replay(ends[1], second, own[1], control)?];
    let mut all: BTreeMap<String, [Option<Arc<FileState>>; 2]> = BTreeMap::new();
    for side in [0, 1] {
        let cwd = &ends[side].tree.header.cwd;
        for (path, state) in files[side].iter() {
            let name = relative_to(cwd, path, control.home).into_owned();
            all.entry(name).or_default()[side] = Some(state.clone());
        }
    }
    let own: [HashSet<EntryIndex>; 2] = own.map(|own| own.iter().copied().collect());
    all.retain(|_, states| differs(states, &own));
    let file = |(name, states): (String, [Option<Arc<FileState>>; 2])| {
        let version = match states.clone() {
            [Some(before), Some(state)] => Some(FileRevision { entry: state.latest, state, before: Some(before) }),
            _ => None,
        };
        let lines = version.as_ref().and_then(FileRevision::changed_lines);
        let texts =
            version.as_ref().filter(|_| lines.is_some_and(|lines| lines != (0, 0))).and_then(FileRevision::texts);
        let diff = texts.map(|(before, after)| diff::unified(before, after, &name));
        FinalFile { name, states, lines, diff }
    };
    Ok(all.into_iter().map(file).collect())
}

/// Applies consecutive entries to the files before them.
fn replay(end: &BranchEnd, files: Rc<Files>, entries: &[EntryIndex], control: ReplayControl<'_>) -> Result<Rc<Files>> {
    let mut reader = EntryReader::open(&end.path)?;
    let read = |node: &Node| {
        ensure!((control.is_wanted)(), "comparison canceled");
        reader.known(node)
    };
    Replay::new(&end.tree, control.home, read).along(files, entries)
}

/// Returns `true` if a branch touched a file after the last common entry so that it may differ from the other one.
fn differs(states: &[Option<Arc<FileState>>; 2], own: &[HashSet<EntryIndex>; 2]) -> bool {
    let is_own = |side: usize| states[side].as_ref().is_some_and(|state| own[side].contains(&state.latest));
    match states {
        _ if !is_own(0) && !is_own(1) => false,
        [Some(a), Some(b)] => {
            let is_unknown = a.content == Content::Unknown && !(a.source.is_read() && b.source.is_read());
            a.content != b.content || is_unknown || a.doubt.is_some() || b.doubt.is_some()
        }
        // The other branch may have the file too.
        [Some(one), None] | [None, Some(one)] => !one.source.is_read(),
        [None, None] => false,
    }
}
