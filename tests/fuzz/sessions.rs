//! A file: its digest, its tree and its texts agree, read as a whole and in two parts. Its rows, forks and migrated
//! form are sessions without new errors, its repaired form has none, and its slimmed form has the same contexts.

use std::collections::HashSet;

use pitree::app::panes::tree::row_text;
use pitree::app::panes::tree::rows::{TreeRows, passes};
use pitree::base::text::{ASCII, is_unsafe};
use pitree::config::Filter;
use pitree::session::digest::Digest;
use pitree::session::digest::builder::DigestBuilder;
use pitree::session::health::{Checkup, HealthFinding};
use pitree::session::lines::Line;
use pitree::session::links::ById;
use pitree::session::tree::context::context;
use pitree::session::tree::{EntryIndex, Tree, TreeLines, resume};
use pitree::session::write::fork::{self, NewSession};
use pitree::session::write::migrate;
use pitree::session::write::repair::KnownHeader;
use pitree::session::write::slim::{SlimPlanner, SlimRules, SlimWriter};
use pitree::session::{family, search_text};

use crate::common::repairing::repair;

const HOME: &str = "/home/demo";

/// Maximum number of entries checked individually: each check follows a path, which may be as long as the file.
const ONE_BY_ONE: usize = 40;

/// Returns the lines of a file.
pub(crate) fn lines(file: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut offset = 0;
    file.split_inclusive(|&byte| byte == b'\n').map(move |line| {
        let start = offset;
        offset += line.len() as u64;
        Line::new(start, line.strip_suffix(b"\n").unwrap_or(line), line.ends_with(b"\n"))
    })
}

/// Returns the tree of a file, read in parts that begin at some of its lines.
pub(crate) fn tree(file: &[u8], starts: &[u64]) -> Option<Tree> {
    let mut parts = vec![TreeLines::new(HOME)];
    for line in lines(file) {
        if starts.contains(&line.offset) {
            parts.push(TreeLines::new(HOME));
        }
        if let Some(part) = parts.last_mut() {
            part.line(line);
        }
    }
    Tree::build(parts).ok()
}

pub(crate) fn digest(file: &[u8]) -> Option<Digest> {
    let mut builder = DigestBuilder::new(HOME);
    lines(file).for_each(|line| builder.line(line));
    builder.finish(5, &mut again(file)).ok()
}

/// Returns a function that reads a line again.
fn again(file: &[u8]) -> impl FnMut(u64) -> Option<Vec<u8>> + '_ {
    move |at| lines(&file[at as usize..]).next().map(|line| line.bytes.to_vec())
}

/// Repairs a file: the result has no problems, and stays the same when it is repaired again.
fn repaired(data: &[u8]) {
    let known = KnownHeader { id: "known".into(), cwds: vec!["/known".into()], time_ms: 0 };
    let Ok(once) = repair(data, &known, &mut random()) else { return };
    let mut checkup = Checkup::default();
    lines(&once.bytes).for_each(|line| checkup.line(&line));
    // Too many entries for the size are not a session.
    let Some(found) = checkup.finish() else { return };
    assert!(!found.iter().any(HealthFinding::is_problem), "repaired, but {found:?}");
    let again = repair(&once.bytes, &known, &mut random()).expect("a repaired file can be repaired");
    assert!(again.bytes == once.bytes && again.rest.is_empty(), "repaired twice: {:?}", again.steps);
}

/// Slims a file: each branch end that is not beside a branch has the same context, without the removed contents.
fn slimmed(tree: &Tree, data: &[u8]) {
    let rules = SlimRules { outside: Some(64), ..SlimRules::default() };
    let shared = ById::default();
    let mut planner = SlimPlanner::new(&rules, &shared);
    lines(data).for_each(|line| _ = planner.line(&line));
    let Ok(plan) = planner.finish() else { return };
    let mut writer = SlimWriter::new(&plan);
    let mut new = Vec::new();
    for line in lines(data) {
        let kept = writer.line(line.offset, line.bytes).expect("the plan is for this file");
        kept.into_iter().for_each(|kept| new.extend([&*kept, b"\n"].concat()));
    }
    let now = self::tree(&new, &[]).expect("a slimmed session is a session");
    let ids = |tree: &Tree, end: Option<EntryIndex>| -> Vec<_> {
        let context = context(tree, end);
        context.entries.iter().map(|&at| (tree.nodes[at as usize].id.clone(), tree.nodes[at as usize].kind)).collect()
    };
    assert!(ids(tree, tree.leaf) == ids(&now, now.leaf), "another context at the leaf");
}

/// Checks everything that pitree derives from a file.
pub(crate) fn run(data: &[u8]) {
    repaired(data);
    let (digest, tree) = match (digest(data), tree(data, &[])) {
        (Some(digest), Some(tree)) => (digest, tree),
        (None, None) => return assert!(migrate::migrate(data, &mut random()).is_none(), "migrated an invalid session"),
        (digest, tree) => panic!("only one of digest ({}) and tree ({}) exists", digest.is_some(), tree.is_some()),
    };
    hangs_together(&tree, data);
    agree(&digest, &tree, data);
    let starts: Vec<u64> = lines(data).map(|line| line.offset).collect();
    let parts = self::tree(data, &[starts[starts.len() / 3], starts[starts.len() * 2 / 3]]);
    same(&tree, &parts.expect("read in parts it is a session too"));
    rows(&tree);
    written(&tree, data);
    slimmed(&tree, data);
    // The file serves as its own fork.
    family::ForkPointIndex::new(&tree, &digest).fork_point(&digest, &mut again(data));
}

fn all(tree: &Tree) -> std::ops::Range<EntryIndex> {
    0..tree.nodes.len() as EntryIndex
}

/// Returns entries to check individually: the first, the last, and some in between.
fn some(tree: &Tree) -> impl Iterator<Item = EntryIndex> {
    let by = (tree.nodes.len() / ONE_BY_ONE).max(1);
    all(tree).step_by(by).chain(tree.leaf)
}

fn hangs_together(tree: &Tree, file: &[u8]) {
    let count = tree.nodes.len();
    // Version 4 can set the leaf before the first entry.
    assert!(tree.leaf.is_some() || count == 0 || tree.header.is_newer());
    assert!(tree.leaf.is_none_or(|leaf| (leaf as usize) < count));
    assert!(tree.end <= file.len() as u64);
    let mut order = tree.order.clone();
    let mut places = vec![usize::MAX; count];
    order.iter().enumerate().for_each(|(place, &at)| places[at as usize] = place);
    for at in all(tree) {
        let node = &tree.nodes[at as usize];
        assert!(node.offset + node.len <= file.len() as u64, "entry {at} ends behind the file");
        assert!(!node.text.contains(is_unsafe) && !node.cost.is_nan());
        match tree.parent(at) {
            // Every entry comes after its parent, so paths have no cycles.
            Some(parent) => {
                assert!(places[parent as usize] < places[at as usize], "{parent} behind its child {at}");
                assert!(tree.children(parent).contains(&at) || tree.children(parent).len() > ONE_BY_ONE);
            }
            None => assert!(tree.roots.len() > ONE_BY_ONE || tree.roots.contains(&at)),
        }
    }
    order.sort_unstable();
    assert!(order.into_iter().eq(all(tree)), "each entry stands once in the order");
    assert_eq!(tree.roots.iter().map(|&root| tree.below(root).entries as usize).sum::<usize>(), count);
    assert!(tree.labels.keys().all(|&at| (at as usize) < count));
    for at in some(tree) {
        let path = tree.path(at);
        assert_eq!(path.last(), Some(&at));
        assert!(path.windows(2).all(|pair| tree.parent(pair[1]) == Some(pair[0])) && tree.parent(path[0]).is_none());
        let _ = (context(tree, Some(at)), resume::at(tree, at));
    }
}

fn agree(digest: &Digest, tree: &Tree, file: &[u8]) {
    let leaves: u32 = tree.roots.iter().map(|&root| tree.below(root).leaves).sum();
    let facts = (digest.entry_count, digest.branch_points, digest.leaves, digest.labels.len());
    assert_eq!(facts, (tree.nodes.len(), tree.branch_points(), leaves as usize, tree.labels.len()));
    assert!(
        digest.cost.to_bits() == tree.cost().to_bits() || (digest.cost - tree.cost()).abs() <= 1e-9 * digest.cost.abs()
    );
    assert!(all(tree).all(|at| digest.is_active(at) == tree.is_active(at)), "the active path");
    for label in &digest.labels {
        assert_eq!(tree.labels.get(&label.at).map(|label| &label.text), Some(&label.text));
    }
    assert!(digest.details().touches.all.iter().all(|touched| (touched.entry as usize) < tree.nodes.len()));
    let mut builder = search_text::SearchTextBuilder::default();
    lines(file).for_each(|line| builder.line(line));
    let texts = builder.texts().expect("texts of a session");
    for passages in [texts.conversation, texts.summaries] {
        assert!(passages.each().all(|(at, _)| (at as usize) < tree.nodes.len()));
    }
}

fn same(one: &Tree, other: &Tree) {
    assert_eq!((one.leaf, &one.roots, &one.order), (other.leaf, &other.roots, &other.order));
    assert_eq!(one.problems, other.problems);
    for at in all(one) {
        let (node, second) = (&one.nodes[at as usize], &other.nodes[at as usize]);
        assert_eq!(
            (node.offset, node.len, node.kind, &node.text),
            (second.offset, second.len, second.kind, &second.text)
        );
    }
}

fn rows(tree: &Tree) {
    let folds: HashSet<EntryIndex> = all(tree).step_by(3).collect();
    let next = |filter: &Filter| Some(filter.next()).filter(|next| *next != Filter::Default);
    for filter in std::iter::successors(Some(Filter::Default), next) {
        for folds in [&HashSet::new(), &folds] {
            let rows = TreeRows::new(tree, |at| passes(tree, at, filter), folds.iter().copied(), &[]);
            assert!(rows.list.len() <= tree.nodes.len());
            for at in some(tree) {
                assert!(rows.list.is_empty() || rows.nearest(tree, at) < rows.list.len());
            }
        }
    }
    let spans = some(tree).flat_map(|at| row_text::pi_entry(tree, at, &ASCII));
    spans.for_each(|span| assert!(!span.text.contains(is_unsafe), "{span:?}"));
}

fn random() -> impl FnMut() -> u128 {
    let mut last = 7;
    move || {
        last = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645_u128.wrapping_mul(last).wrapping_add(1);
        last
    }
}

/// Checks that the written file is a session whose entries are connected.
fn written(tree: &Tree, file: &[u8]) {
    if let Some(migrated) = migrate::migrate(file, &mut random()) {
        let new = self::tree(&migrated, &[]).expect("the new form is a session");
        hangs_together(&new, &migrated);
        assert_eq!((new.header.version, new.nodes.len()), (3.0, tree.nodes.len()));
        return written(&new, &migrated);
    }
    let new = NewSession { id: "new", time_ms: 0, cwd: "/", parent: Some("/old"), source: file };
    let line = |at: EntryIndex| {
        let node = &tree.nodes[at as usize];
        &file[node.offset as usize..(node.offset + node.len) as usize]
    };
    for at in [tree.leaf, all(tree).nth(tree.nodes.len() / 2)].into_iter().flatten() {
        let path: Vec<&[u8]> = tree.path(at).into_iter().map(line).collect();
        let labels: Vec<&[u8]> = tree.label_entries().map(line).collect();
        let mut forked = Vec::new();
        let take = |piece: &[u8]| {
            forked.extend_from_slice(piece);
            Ok::<_, fork::ForkError>(())
        };
        if fork::fork(&new, path.into_iter().map(Ok), &labels, &mut random(), take).is_ok() {
            let fork = self::tree(&forked, &[]).expect("a fork is a session");
            hangs_together(&fork, &forked);
            assert_eq!(fork.header.version, 3.0);
            // For duplicate IDs, pi chooses another entry as the parent too.
            let path = tree.path(at);
            let ids: HashSet<_> = path.iter().map(|&at| &tree.nodes[at as usize].id).collect();
            assert!(fork.roots.len() <= 1 || ids.len() < path.len(), "one chain");
        }
    }
}
