//! Summaries of several entries: a run of tool calls, the turn after a prompt, and the entries unique to a fork.
//! Computed when the rows are rebuilt, not on each draw.

use crate::session::activity::Activity;
use crate::session::tree::{EntryIndex, Tree};

/// A run of tool calls, each below the one before it.
#[derive(Clone, Debug)]
pub struct ToolRun {
    /// The entries that have rows.
    pub entries: Vec<EntryIndex>,
    /// `true` if its entries are listed below it.
    pub is_open: bool,
    /// The summary of the run, calls without rows of their own included.
    pub activity: Activity,
}

impl ToolRun {
    /// Creates a run of entries that starts below the row of the entry `above`.
    pub(super) fn new(tree: &Tree, entries: Vec<EntryIndex>, above: Option<EntryIndex>, is_open: bool) -> Self {
        let last = entries.last().copied();
        let is_inherited = last.is_some_and(|last| tree.is_inherited(last));
        let all: Vec<EntryIndex> =
            tree.to_root(last).take_while(|&at| Some(at) != above && tree.is_inherited(at) == is_inherited).collect();
        Self { entries, is_open, activity: Activity::of(tree, all.into_iter().rev()) }
    }

    /// Returns the first entry, which identifies the run.
    pub fn first(&self) -> EntryIndex {
        self.entries[0]
    }

    /// Returns the last entry.
    pub fn last(&self) -> EntryIndex {
        self.entries[self.entries.len() - 1]
    }
}

/// The entries that a fork inherited, and totals of its unique ones.
#[derive(Clone, Copy, Debug)]
pub struct Inherited {
    /// The last inherited entry on the path to the leaf.
    pub last: EntryIndex,
    /// Number of unique entries.
    pub own: usize,
    /// Cost of the unique entries in US dollars.
    pub cost: f64,
}

impl Inherited {
    /// Returns the inherited part of a tree, or `None` if the session is no fork or inherited nothing.
    pub(super) fn of(tree: &Tree) -> Option<Self> {
        let last = tree.inherited()?;
        let own = || (0..tree.nodes.len() as EntryIndex).filter(|&at| !tree.is_inherited(at));
        Some(Self { last, own: own().count(), cost: own().map(|at| tree.nodes[at as usize].cost).sum() })
    }
}

/// Summarizes the turn after each prompt, in file order: all entries below it up to the next prompts.
pub fn turns(tree: &Tree) -> Vec<(EntryIndex, Activity)> {
    let prompts = (0..tree.nodes.len() as EntryIndex).filter(|&at| tree.is_prompt(at));
    prompts.map(|prompt| (prompt, turn(tree, prompt))).collect()
}

/// Summarizes the turn after a prompt.
pub(crate) fn turn(tree: &Tree, prompt: EntryIndex) -> Activity {
    let mut stack = vec![prompt];
    let below = std::iter::from_fn(|| {
        let at = stack.pop()?;
        stack.extend(tree.children(at).iter().rev().filter(|&&child| !tree.is_prompt(child)));
        Some(at)
    });
    Activity::of(tree, below)
}
