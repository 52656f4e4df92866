//! Holds two ways against each other: reads the entries of each from its file, one after the other, once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::base::paths::relative_to;
use crate::catalog::files::full_path;
use crate::disk::files::Files;
use crate::disk::load::{self, Bodies};
use crate::session::compare::files::{self, FilesGatherer as FileGatherer, SideFile};
use crate::session::compare::side::{SideGatherer, SideSummary};
use crate::session::compare::{BranchPath, Comparison, Divergence, part};
use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::lines::Line;
use crate::session::tree::node::Node;
use crate::session::tree::{Index, Tree};

/// A way, and where it is read.
#[derive(Clone, Debug)]
pub struct BranchEnd {
    /// The file.
    pub path: PathBuf,
    /// Its tree; of two ways in one file the same one.
    pub tree: Arc<Tree>,
    /// The last entry.
    pub at: Index,
}

/// A way that is to be compared.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// The file.
    pub path: PathBuf,
    /// Its tree, if that is there.
    pub tree: Option<Arc<Tree>>,
    /// The last entry; the leaf, if none is named.
    pub at: Option<Index>,
}

/// Two ways that were held against each other.
#[derive(Clone, Debug)]
pub struct ComparedBranches {
    /// They.
    pub ends: [BranchEnd; 2],
    /// What came of it.
    pub comparison: Comparison,
}

impl ComparedBranches {
    /// Reads what is asked for and holds it against each other, as [`compare`] does.
    ///
    /// # Errors
    /// As [`compare`], or a session has no entries.
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
            None => Arc::new(load::tree(reading.files, &path, reading.home)?),
        };
        match at.or(tree.leaf).filter(|&at| (at as usize) < tree.nodes.len()) {
            Some(at) => Ok(BranchEnd { path, tree, at }),
            None if at.is_some() => bail!("{} changed since an entry was marked: mark it again", path.display()),
            None => bail!("{} has no entries to compare", path.display()),
        }
    }
}

/// Who waits for a comparison.
#[derive(Clone, Copy)]
pub struct CompareControl<'a> {
    /// Where bytes come from.
    pub files: Files,
    /// What `~` stands for.
    pub home: &'a str,
    /// Whether somebody still waits.
    pub is_wanted: &'a dyn Fn() -> bool,
}

/// Holds two ways against each other. A file is known by its path from the directory in which the session worked, so that
/// two working trees of one project have the same ones.
///
/// # Errors
/// They have nothing in common, a file can't be read, or nobody waits any more.
pub fn compare(ends: [&BranchEnd; 2], reading: CompareControl<'_>) -> Result<Comparison> {
    let ways = ends.map(|end| BranchPath { tree: &end.tree, end: end.at });
    let Some(parting) = part(ways) else {
        bail!(
            "these two have nothing in common: no entry is on both of their paths. Choose two of one session or family"
        );
    };
    let (a, a_files) = side(ends[0], &parting.own[0], reading)?;
    let (b, b_files) = side(ends[1], &parting.own[1], reading)?;
    let before = before(ends[0], &parting, [&a_files, &b_files], reading)?;
    let files = files::ComparedFiles::new([a_files, b_files], &before, reading.is_wanted);
    if !(reading.is_wanted)() {
        bail!("nobody waits for the comparison any more");
    }
    let ends = parting.ends(ways);
    let Divergence { shared, common, .. } = parting;
    Ok(Comparison { common, ends, shared: shared.len(), sides: [a, b], files })
}

fn side(
    end: &BranchEnd,
    own: &[Index],
    reading: CompareControl<'_>,
) -> Result<(SideSummary, BTreeMap<String, SideFile>)> {
    let name = |path: &str| name(end, path, reading.home);
    let mut gatherer = SideGatherer::new(&name);
    each(end, own, reading, |node, entry| gatherer.entry(node, entry))?;
    Ok(gatherer.finish())
}

/// The name by which a file is known on both sides.
fn name(end: &BranchEnd, path: &str, home: &str) -> String {
    let cwd = &end.tree.header.cwd;
    relative_to(cwd, &full_path(path, cwd, home), home).into_owned()
}

/// The whole texts that files had at the common point, as far as they are known: of those that both changed afterwards,
/// if that matters.
fn before(
    end: &BranchEnd,
    parting: &Divergence,
    sides: [&BTreeMap<String, SideFile>; 2],
    reading: CompareControl<'_>,
) -> Result<BTreeMap<String, String>> {
    let [a, b] = sides;
    let is_unknown = |file: &SideFile| file.uses.changes() && files::text(None, &file.changes).is_none();
    let is_asked = |path: &String| a.get(path).zip(b.get(path)).is_some_and(|(a, b)| is_unknown(a) || is_unknown(b));
    if !a.keys().any(is_asked) {
        return Ok(BTreeMap::new());
    }
    let name = |path: &str| name(end, path, reading.home);
    let mut gatherer = FileGatherer::new(&name);
    let tells = |at: &Index| matches!(end.tree.nodes[*at as usize].kind, EntryKind::Assistant | EntryKind::ToolResult);
    let told: Vec<Index> = parting.shared.iter().copied().filter(tells).collect();
    each(end, &told, reading, |node, entry| match &entry.message {
        Some(message) if node.kind == EntryKind::Assistant => gatherer.asked(message),
        Some(message) => gatherer.answered(message),
        None => {}
    })?;
    let files = gatherer.finish().into_iter().filter(|(path, _)| is_asked(path));
    Ok(files.filter_map(|(path, file)| Some((path, files::text(None, &file.changes)?))).collect())
}

/// Reads some entries, one after the other. Of a line that is too long its beginning is read.
fn each(
    end: &BranchEnd,
    entries: &[Index],
    reading: CompareControl<'_>,
    mut take: impl FnMut(&Node, &Entry<'_>),
) -> Result<()> {
    let mut bodies = Bodies::open(reading.files, &end.path)?;
    for &at in entries {
        if !(reading.is_wanted)() {
            bail!("nobody waits for the comparison any more");
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
