//! Compares two branches: reads the entries of each from its file once, in order.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::base::paths::{full_path, relative_to};
use crate::catalog::file_history::ReplayControl;
use crate::disk::load::{self, Bodies};
use crate::session::compare::{BranchPath, Comparison, Divergence, SideCollector, SideSummary, diverge};
use crate::session::entry::Entry;
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
    let sides = [side(ends[0], &divergence.own[0], reading)?, side(ends[1], &divergence.own[1], reading)?];
    let ends = divergence.ends(branches);
    let Divergence { shared, common, .. } = divergence;
    Ok(Comparison { common, ends, shared: shared.len(), sides })
}

fn side(end: &BranchEnd, own: &[Index], reading: ReplayControl<'_>) -> Result<SideSummary> {
    let cwd = &end.tree.header.cwd;
    let name = |path: &str| relative_to(cwd, &full_path(path, cwd, reading.home), reading.home).into_owned();
    let mut collector = SideCollector::new(&name);
    each(end, own, reading, |node, entry| collector.entry(node, entry))?;
    Ok(collector.finish())
}

/// Reads entries in order. Of an overlong line, only the beginning is read.
fn each(
    end: &BranchEnd,
    entries: &[Index],
    reading: ReplayControl<'_>,
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
