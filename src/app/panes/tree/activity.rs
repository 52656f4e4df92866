//! What many entries did, in sum: a run of tool calls, the turn that follows a prompt, and what is a fork's own. Made when
//! the rows are, and not each time that they are drawn.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{CallDescription, Touch};
use crate::session::tree::node::EntryStatus;
use crate::session::tree::{Index, Tree};

/// What some entries did.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// The first call of each tool, and how often that was called. Files that were changed are told apart.
    pub tools: Vec<(Arc<CallDescription>, usize)>,
    /// The first call for each name of a file that was written or edited.
    pub changed: Vec<Arc<CallDescription>>,
    /// All tool calls.
    pub calls: usize,
    /// Those that failed.
    pub failed: usize,
    /// US dollars.
    pub cost: f64,
    /// The newest entry that is work, in milliseconds since 1970.
    pub latest: Option<i64>,
}

impl Activity {
    /// What was done in some entries, the first one first.
    fn of(tree: &Tree, entries: impl IntoIterator<Item = Index>) -> Self {
        let mut deeds = Self::default();
        let (mut tools, mut changed) = (HashMap::new(), HashSet::new());
        for at in entries {
            let node = &tree.nodes[at as usize];
            deeds.cost += node.cost;
            deeds.latest = deeds.latest.max(node.time.filter(|_| node.kind.is_work()));
            if node.kind != EntryKind::ToolResult {
                continue;
            }
            deeds.calls += 1;
            deeds.failed += usize::from(node.outcome == EntryStatus::Failed);
            let Some(called) = &node.called else { continue };
            if matches!(called.touch(), Some(Touch::Write | Touch::Edit)) {
                if changed.insert(called.file_name()) {
                    deeds.changed.push(called.clone());
                }
                continue;
            }
            let place = *tools.entry(&*called.name).or_insert(deeds.tools.len());
            match deeds.tools.get_mut(place) {
                Some((_, uses)) => *uses += 1,
                None => deeds.tools.push((called.clone(), 1)),
            }
        }
        deeds
    }
}

/// A run of tool calls, each below the one before it.
#[derive(Clone, Debug)]
pub struct ToolRun {
    /// The entries with rows.
    pub entries: Vec<Index>,
    /// Whether they are seen as well.
    pub is_open: bool,
    /// What was done in it, the calls without rows of their own included.
    pub deeds: Activity,
}

impl ToolRun {
    /// A run of these entries, of which the first one stands below the row of the entry `above`.
    pub(super) fn new(tree: &Tree, entries: Vec<Index>, above: Option<Index>, is_open: bool) -> Self {
        let last = entries.last().copied();
        let is_inherited = last.is_some_and(|last| tree.is_inherited(last));
        let all: Vec<Index> = std::iter::successors(last, |&at| tree.parent(at))
            .take_while(|&at| Some(at) != above && tree.is_inherited(at) == is_inherited)
            .collect();
        Self { entries, is_open, deeds: Activity::of(tree, all.into_iter().rev()) }
    }

    /// By which it is known.
    pub fn first(&self) -> Index {
        self.entries[0]
    }

    /// Where it ends.
    pub fn last(&self) -> Index {
        self.entries[self.entries.len() - 1]
    }
}

/// What a fork has of the session that it was forked from, and what is its own.
#[derive(Clone, Copy, Debug)]
pub struct Inherited {
    /// The last entry that it inherited on the path to the leaf.
    pub last: Index,
    /// Its own entries.
    pub own: usize,
    /// What they cost, in US dollars.
    pub cost: f64,
}

impl Inherited {
    /// That of a tree, if it is a fork's that inherited anything.
    pub(super) fn of(tree: &Tree) -> Option<Self> {
        let last = tree.inherited()?;
        let own = || (0..tree.nodes.len() as Index).filter(|&at| !tree.is_inherited(at));
        Some(Self { last, own: own().count(), cost: own().map(|at| tree.nodes[at as usize].cost).sum() })
    }
}

/// What was done because of each prompt, in file order: all below it, up to the next prompts.
pub(super) fn turns(tree: &Tree) -> Vec<(Index, Activity)> {
    let is_prompt = |at: Index| tree.nodes[at as usize].kind == EntryKind::User;
    let turn = |prompt: Index| {
        let mut stack = vec![prompt];
        let below = std::iter::from_fn(|| {
            let at = stack.pop()?;
            stack.extend(tree.children(at).iter().rev().filter(|&&child| !is_prompt(child)));
            Some(at)
        });
        (prompt, Activity::of(tree, below))
    };
    (0..tree.nodes.len() as Index).filter(|&at| is_prompt(at)).map(turn).collect()
}
