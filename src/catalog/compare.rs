//! Compares two branches: reads the entries of each from its file once, in order.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::base::paths::{full_path, relative_to};
use crate::disk::load::{self, Bodies};
use crate::session::compare::files::{self, FilesCollector, SideFile};
use crate::session::compare::{BranchPath, Comparison, Divergence, SideCollector, SideSummary, diverge};
use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::lines::Line;
use crate::session::tree::node::Node;
use crate::session::tree::{Index, Tree};

/// A branch and its source.
#[derive(Clone, Debug)]
pub struct BranchEnd {
    /// The session file.
    pub path: PathBuf,
    /// The tree of the file; shared if both branches are in one file.
    pub tree: Arc<Tree>,
    /// The last entry of the branch.
    pub at: Index,
}

/// A branch to compare.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// The session file.
    pub path: PathBuf,
    /// The tree of the file, if it is loaded.
    pub tree: Option<Arc<Tree>>,
    /// The last entry; `None` for the leaf.
    pub at: Option<Index>,
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
    pub fn read([a, b]: [CompareRequest; 2], reading: CompareControl<'_>) -> Result<Self> {
        let is_same = a.path == b.path;
        let a = a.open(reading)?;
        let tree = if is_same { Some(a.tree.clone()) } else { b.tree };
        let b = CompareRequest { tree, ..b }.open(reading)?;
        let comparison = compare([&a, &b], reading)?;
        Ok(Self { ends: [a, b], comparison })
    }
}

impl CompareRequest {
    fn open(self, reading: CompareControl<'_>) -> Result<BranchEnd> {
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

/// The environment of a comparison.
#[derive(Clone, Copy)]
pub struct CompareControl<'a> {
    /// The home directory, for `~`.
    pub home: &'a str,
    /// Returns `true` while the result is still wanted.
    pub is_wanted: &'a dyn Fn() -> bool,
}

/// Compares two branches. Files are identified by their paths relative to the working directory of the session, so that
/// two worktrees of a project have the same files.
///
/// # Errors
/// The branches have nothing in common, a file cannot be read, or the comparison was canceled.
pub fn compare(ends: [&BranchEnd; 2], reading: CompareControl<'_>) -> Result<Comparison> {
    let branches = ends.map(|end| BranchPath { tree: &end.tree, end: end.at });
    let Some(divergence) = diverge(branches) else {
        bail!("the two branches have no common entry; choose two of the same session or family");
    };
    let (a, a_files) = side(ends[0], &divergence.own[0], reading)?;
    let (b, b_files) = side(ends[1], &divergence.own[1], reading)?;
    let before = before(ends[0], &divergence, [&a_files, &b_files], reading)?;
    let files = files::ComparedFiles::new([a_files, b_files], &before, reading.is_wanted);
    if !(reading.is_wanted)() {
        bail!("comparison canceled");
    }
    let ends = divergence.ends(branches);
    let Divergence { shared, common, .. } = divergence;
    Ok(Comparison { common, ends, shared: shared.len(), sides: [a, b], files })
}

fn side(
    end: &BranchEnd,
    own: &[Index],
    reading: CompareControl<'_>,
) -> Result<(SideSummary, BTreeMap<String, SideFile>)> {
    let name = |path: &str| name(end, path, reading.home);
    let mut collector = SideCollector::new(&name);
    each(end, own, reading, |node, entry| collector.entry(node, entry))?;
    Ok(collector.finish())
}

/// Returns the name that identifies a file on both sides.
fn name(end: &BranchEnd, path: &str, home: &str) -> String {
    let cwd = &end.tree.header.cwd;
    relative_to(cwd, &full_path(path, cwd, home), home).into_owned()
}

/// Returns the known contents of files at the point of divergence, for files that both sides changed later.
fn before(
    end: &BranchEnd,
    divergence: &Divergence,
    sides: [&BTreeMap<String, SideFile>; 2],
    reading: CompareControl<'_>,
) -> Result<BTreeMap<String, String>> {
    let [a, b] = sides;
    let is_unknown = |file: &SideFile| file.uses.changes() > 0 && files::text(None, &file.changes).is_none();
    let is_asked = |path: &String| a.get(path).zip(b.get(path)).is_some_and(|(a, b)| is_unknown(a) || is_unknown(b));
    if !a.keys().any(is_asked) {
        return Ok(BTreeMap::new());
    }
    let name = |path: &str| name(end, path, reading.home);
    let mut collector = FilesCollector::new(&name);
    let has_files =
        |at: &Index| matches!(end.tree.nodes[*at as usize].kind, EntryKind::Assistant | EntryKind::ToolResult);
    let with_files: Vec<Index> = divergence.shared.iter().copied().filter(has_files).collect();
    each(end, &with_files, reading, |node, entry| match &entry.message {
        Some(message) if node.kind == EntryKind::Assistant => collector.add_calls(message),
        Some(message) => collector.add_result(message),
        None => {}
    })?;
    let files = collector.files.into_iter().filter(|(path, _)| is_asked(path));
    Ok(files.filter_map(|(path, file)| Some((path, files::text(None, &file.changes)?))).collect())
}

/// Reads entries in order. Of an overlong line, only the beginning is read.
fn each(
    end: &BranchEnd,
    entries: &[Index],
    reading: CompareControl<'_>,
    mut take: impl FnMut(&Node, &Entry<'_>),
) -> Result<()> {
    let mut bodies = Bodies::open(&end.path)?;
    for &at in entries {
        if !(reading.is_wanted)() {
            bail!("comparison canceled");
        }
        let node = &end.tree.nodes[at as usize];
        let bytes = bodies.known(node)?;
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
