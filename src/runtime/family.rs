//! Jobs for families: fork points of a session, and merged trees of several sessions.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use crate::app::panes::tree::family::{FamilyTree, ForkedFile, MergeRequest};
use crate::catalog::SessionKey;
use crate::catalog::cost_sharing::SharedEntries;
use crate::disk::load::{self, EntryReader, LoadRequest};
use crate::disk::parallel;
use crate::runtime::jobs::{JobContext, MemberFile};
use crate::session::digest::listed::SharedLazySession;
use crate::session::family::{self, ForkPointIndex, MergedFamily};
use crate::session::lines::Header;
use crate::session::links::EntryIndex;
use crate::session::tree::Tree;

impl JobContext {
    /// Finds the fork points of a session. Returns `None` if the request was canceled.
    pub(super) fn forks(
        &self,
        (tree, session): (&Tree, &SharedLazySession),
        forks: Vec<(SessionKey, SharedLazySession)>,
        is_wanted: impl Fn() -> bool,
    ) -> Option<Vec<ForkedFile>> {
        let (parent, mut found) = (ForkPointIndex::new(tree, session), Vec::new());
        for (key, session) in forks {
            if !is_wanted() {
                return None;
            }
            let mut reader = EntryReader::open(&session.path).ok();
            let left = parent.fork_point(&session, &mut |offset| reader.as_mut()?.line_at(offset).ok());
            let split = left.or_else(|| {
                let fork = load::tree(&session.path, &self.settings.home).ok()?;
                family::fork_point(tree, &fork)
            });
            // A fork that is not expanded.
            found.extend(split.map(|_| ForkedFile { key, split, start: None, part: 0, is_open: false }));
        }
        Some(found)
    }

    /// Merges sessions into one tree. Skips unreadable sessions except the open one.
    pub(super) fn join(&self, mut to_join: MergeRequest, is_wanted: &(dyn Fn() -> bool + Sync)) -> Result<FamilyTree> {
        let paths: Vec<(&Path, (u64, i64))> =
            to_join.members.iter().map(|(_, session)| (&*session.path, (session.bytes, session.mtime))).collect();
        let read = self.read_all(&paths, is_wanted);
        ensure!(is_wanted(), "loading the family was canceled");
        let (mut trees, mut lost, mut kept) = (Vec::new(), None, Vec::new());
        for (place, tree) in read.into_iter().enumerate() {
            match tree {
                Ok(tree) => {
                    kept.push(place);
                    trees.push(tree);
                }
                Err(error) if place == to_join.base => return Err(error),
                Err(error) => lost = lost.or(Some(format!("{error:#}"))),
            }
        }
        let forks = std::mem::take(&mut to_join.forks);
        let places: HashMap<usize, usize> = kept.iter().enumerate().map(|(now, &before)| (before, now)).collect();
        to_join.members = kept.iter().map(|&place| to_join.members[place].clone()).collect();
        let base = *places.get(&to_join.base).context("the session is not in its family")?;
        to_join.base = base;
        let own = trees[base].header.clone();
        let header = if to_join.is_whole { Header { parent_session: None, parent_id: None, ..own } } else { own };
        let mut readers: HashMap<usize, Option<EntryReader>> = HashMap::new();
        let mut line = |(file, at): (usize, EntryIndex)| {
            let node = trees[file].nodes.get(at as usize)?;
            let path = &to_join.members[file].1.path;
            let opened = readers.entry(file).or_insert_with(|| EntryReader::open(path).ok());
            opened.as_mut()?.line(node).ok()
        };
        let mut is_same = |[a, b]: [(usize, EntryIndex); 2]| matches!((line(a), line(b)), (Some(a), Some(b)) if family::is_same(&a, &b));
        let joined = MergedFamily::new(&trees, base, header, &mut is_same);
        let mut rows = open_forks(&joined, &to_join);
        let mut by_parent: BTreeMap<usize, Vec<(SessionKey, SharedLazySession)>> = BTreeMap::new();
        for (parent, key, session) in forks {
            // An unreadable session has no fork points.
            let Some(&parent) = places.get(&parent) else { continue };
            by_parent.entry(parent).or_default().push((key, session));
        }
        for (parent, forks) in by_parent {
            let found = self.forks((&trees[parent], &to_join.members[parent].1), forks, is_wanted);
            let found = found.context("loading the family was canceled")?.into_iter();
            rows.extend(
                found.map(|fork| ForkedFile { split: fork.split.and_then(|at| joined.place(parent, at)), ..fork }),
            );
        }
        let entry = |at| {
            let (file, at) = joined.of(at);
            let (key, session) = &to_join.members[file];
            (*key, &***session, at)
        };
        let others =
            SharedEntries::new(&to_join.sharing_sessions, (0..joined.tree.nodes.len() as EntryIndex).map(entry));
        Ok(FamilyTree { lost, ..FamilyTree::new(to_join, joined, rows, others) })
    }

    /// Drops the cached member trees unless the file at a path is one of them.
    pub(super) fn forget_members(&self, path: &Path) {
        let mut known = self.members.lock();
        if !known.iter().any(|member| member.path == path) {
            *known = Vec::new();
        }
    }

    /// Reads the trees of files with hashes of their entries; uses cached trees.
    fn read_all(&self, paths: &[(&Path, (u64, i64))], is_wanted: &(dyn Fn() -> bool + Sync)) -> Vec<Result<Arc<Tree>>> {
        let mut known = self.members.lock();
        let by_path: HashMap<&Path, &MemberFile> = known.iter().map(|member| (&*member.path, member)).collect();
        let read = parallel::map(paths, |(path, stamp)| {
            if let Some(member) = by_path.get(path).filter(|member| member.stamp == *stamp) {
                return Ok(member.tree.clone());
            }
            let reading = LoadRequest::new(path, &self.settings.home);
            LoadRequest { is_wanted, notes_contents: true, ..reading }.tree().map(Arc::new)
        });
        let member = |(&(path, stamp), tree): (&(&Path, _), &Result<Arc<Tree>>)| {
            tree.as_ref().ok().map(|tree| MemberFile { path: path.into(), stamp, tree: tree.clone() })
        };
        let now = paths.iter().zip(&read).filter_map(member).collect();
        *known = now;
        read
    }
}

/// Returns the rows of members: the start of their own entries, or their fork point if they have none.
fn open_forks(joined: &MergedFamily, to_join: &MergeRequest) -> Vec<ForkedFile> {
    let mut parts = vec![0; to_join.members.len()];
    let mut row = |file: usize, split: Option<EntryIndex>, start: Option<EntryIndex>| {
        let (key, _) = to_join.members[file];
        parts[file] += 1;
        ForkedFile { key, split, start, part: parts[file] - 1, is_open: true }
    };
    let mut rows: Vec<ForkedFile> =
        joined.starts().map(|start| row(joined.first(start), joined.tree.parent(start), Some(start))).collect();
    let mut has_row = vec![false; joined.files()];
    joined.starts().for_each(|start| has_row[joined.first(start)] = true);
    let without = (1..joined.files()).filter(|&file| !has_row[file]);
    rows.extend(without.map(|file| row(file, joined.split(file), None)));
    rows
}
