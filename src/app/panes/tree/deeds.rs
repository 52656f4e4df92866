//! What many entries did, in sum: a run of tool calls, and the turn that follows a prompt.

use crate::session::entry::call::Touch;
use crate::session::entry::kind::Kind;
use crate::session::tree::node::Outcome;
use crate::session::tree::{Index, Tree};

/// What some entries did.
#[derive(Clone, Debug, Default)]
pub struct Deeds {
    /// Tools, by name, in the order of their first use, and how often each was used. Files that were changed are told apart.
    pub tools: Vec<(Box<str>, usize)>,
    /// The names of files that were written or edited.
    pub changed: Vec<Box<str>>,
    /// All tool calls.
    pub calls: usize,
    /// Those that failed.
    pub failed: usize,
    /// US dollars.
    pub cost: f64,
    /// The newest entry, in milliseconds since 1970.
    pub latest: Option<i64>,
}

impl Deeds {
    fn add(&mut self, tree: &Tree, at: Index) {
        let node = &tree.nodes[at as usize];
        self.cost += node.cost;
        self.latest = self.latest.max(node.time);
        if node.kind != Kind::ToolResult {
            return;
        }
        self.calls += 1;
        self.failed += usize::from(node.outcome == Outcome::Failed);
        let Some(called) = &node.called else { return };
        if matches!(called.touch(), Some(Touch::Write | Touch::Edit)) {
            let name = called.path.rsplit(['/', '\\']).next().unwrap_or_default();
            if !self.changed.iter().any(|known| **known == *name) {
                self.changed.push(name.into());
            }
            return;
        }
        match self.tools.iter_mut().find(|(name, _)| *name == called.name) {
            Some((_, uses)) => *uses += 1,
            None => self.tools.push((called.name.clone(), 1)),
        }
    }
}

/// A run of tool calls, each below the one before it.
#[derive(Clone, Debug)]
pub struct Run {
    /// The entries with rows.
    pub entries: Vec<Index>,
    /// The entry above the first of them that has a row.
    pub above: Option<Index>,
    /// Whether they are seen as well.
    pub is_open: bool,
}

impl Run {
    /// By which it is known.
    pub fn first(&self) -> Index {
        self.entries[0]
    }

    /// Where it ends.
    pub fn last(&self) -> Index {
        self.entries[self.entries.len() - 1]
    }

    /// What was done in it, the calls without rows of their own included.
    pub fn deeds(&self, tree: &Tree) -> Deeds {
        let mut deeds = Deeds::default();
        let is_inherited = tree.is_inherited(self.last());
        let mut entries: Vec<Index> = std::iter::successors(Some(self.last()), |&at| tree.parent(at))
            .take_while(|&at| Some(at) != self.above && tree.is_inherited(at) == is_inherited)
            .collect();
        entries.reverse();
        entries.into_iter().for_each(|at| deeds.add(tree, at));
        deeds
    }
}

/// What was done because of a prompt: all below it, up to the next prompts.
pub fn turn(tree: &Tree, prompt: Index) -> Deeds {
    let mut deeds = Deeds::default();
    let mut stack = vec![prompt];
    while let Some(at) = stack.pop() {
        deeds.add(tree, at);
        let more = tree.children(at).iter().rev().filter(|&&child| tree.nodes[child as usize].kind != Kind::User);
        stack.extend(more);
    }
    deeds
}
