//! The entries of a document: builds the block of each entry, one at a time.

use std::collections::{HashMap, HashSet};

use anyhow::Result;

use crate::base::numbers;
use crate::export::document::{
    BlockRole, BranchStart, Detail, EntryBlock, Part, ToolDetail, ToolPart, minute, one_line,
};
use crate::export::entry::{Body, related};
use crate::export::parts::{self, EditedEntry};
use crate::session::activity::Activity;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, typed_prompt};
use crate::session::tree::node::EntryOutcome;
use crate::session::tree::{EntryIndex, Tree};

/// The entries of a document, in order.
pub struct Selection<'a> {
    /// The tree.
    pub tree: &'a Tree,
    /// The entries.
    pub entries: Vec<EntryIndex>,
    /// The context edits that are in force for them, and that the document marks.
    pub edits: HashMap<EntryIndex, EntryIndex>,
    /// `true` if they contain several branches.
    pub has_branches: bool,
    /// The included content.
    pub detail: Detail,
    /// Redacts a label, which comes from the tree and not from a line.
    pub label: &'a dyn Fn(&str) -> String,
}

/// Reads the line of an entry.
pub type ReadBody<'a> = &'a mut dyn FnMut(EntryIndex) -> Result<Vec<u8>>;

impl Selection<'_> {
    /// Reads an entry.
    pub(super) fn body(&self, at: EntryIndex, read: ReadBody<'_>) -> Result<Body> {
        Ok(Body { line: read(at)?, edit: self.edits.get(&at).map(|&edit| read(edit)).transpose()? })
    }

    /// Passes the blocks of the entries to `take` in order. Holds one entry at a time, with the results of its calls.
    ///
    /// # Errors
    /// The errors of `read` and `take`.
    pub fn each(&self, read: ReadBody<'_>, take: &mut dyn FnMut(EntryBlock) -> Result<()>) -> Result<()> {
        let mut state = State::default();
        let mut told = PrintedFacts::default();
        let known: HashSet<EntryIndex> = self.entries.iter().copied().filter(|_| self.has_branches).collect();
        let mut joined = HashSet::new();
        let mut open: Option<OpenBlock> = None;
        for (place, &at) in self.entries.iter().enumerate() {
            let above = self.tree.parent(at).and_then(|parent| state.near.get(&parent).cloned());
            let above = above.or_else(|| state.last.clone());
            if joined.remove(&at) || is_hidden(self.tree.node(at).kind) {
                state.pass(self.tree, at, above);
                continue;
            }
            let body = self.body(at, read)?;
            let results = self.results(place, &known).into_iter();
            let mut results = results.map(|at| Ok((at, self.body(at, read)?))).collect::<Result<Vec<_>>>()?;
            let before = told.clone();
            let Some(mut block) = self.block(at, &body, &mut results, &mut told) else {
                state.pass(self.tree, at, above);
                continue;
            };
            joined.extend(results.iter().map(|(result, _)| *result));
            block.parent.clone_from(&above);
            block.branch = state.branch(self.tree, at).filter(|_| self.has_branches);
            let mut entries: Vec<EntryIndex> = results.iter().map(|(result, _)| *result).chain([at]).collect();
            let points = entries.iter().copied().filter(|&at| self.tree.is_branch_point(at));
            state.last_title.extend(points.map(|at| (at, block.summary())));
            match &mut open {
                Some(run) if told.model == before.model && run.continues_with(&block) => {
                    // The time is not printed.
                    told = before;
                    run.entries.append(&mut entries);
                    run.block.parts.append(&mut block.parts);
                }
                _ => open.replace(OpenBlock { block, entries }).map_or(Ok(()), |run| self.close(run, take))?,
            }
            state.last = open.as_ref().map(|run| run.block.id.clone());
            state.near.extend(state.last.clone().map(|id| (at, id)));
        }
        open.map_or(Ok(()), |run| self.close(run, take))
    }

    /// Passes a block on with its cost. Joins several tool calls at its end, unless they have a line each.
    fn close(&self, run: OpenBlock, take: &mut dyn FnMut(EntryBlock) -> Result<()>) -> Result<()> {
        let OpenBlock { mut block, entries } = run;
        let activity = Activity::of(self.tree, entries);
        block.facts.extend(numbers::nonzero_dollars(activity.cost));
        let start = block.parts.iter().rposition(|part| !part.is_in_run()).map_or(0, |last| last + 1);
        let calls: Vec<&ToolPart> = block.parts[start..].iter().filter_map(Part::as_tool).collect();
        let edited = calls.iter().filter(|tool| !tool.edited.is_empty()).count();
        let remark = |count: usize, what: &str| if count > 0 { format!("{count} {what}") } else { String::new() };
        if calls.len() > 1 && self.detail.tools == ToolDetail::Full {
            let tool = ToolPart {
                name: format!("{}:", numbers::count(calls.len(), "tool", "tools")),
                about: one_line(&(self.label)(&activity.tool_facts().join(", "))),
                failed: remark(activity.failed, "failed"),
                edited: remark(edited, "edited for the model"),
                parts: block.parts.split_off(start),
            };
            block.parts.push(Part::Tool(tool.into()));
        }
        take(block)
    }

    /// Returns the tool results that follow an answer: on its branch, or in a whole tree, on its first branch with results.
    fn results(&self, place: usize, known: &HashSet<EntryIndex>) -> Vec<EntryIndex> {
        let at = self.entries[place];
        if self.tree.node(at).kind != EntryKind::Assistant {
            return Vec::new();
        }
        if self.has_branches {
            return related(self.tree, at).into_iter().filter(|at| known.contains(at)).collect();
        }
        let mut found = Vec::new();
        for pair in self.entries[place..].windows(2) {
            let [before, next] = pair else { break };
            let follows = self.tree.parent(*next) == Some(*before);
            match self.tree.node(*next).kind {
                EntryKind::ToolResult if follows => found.push(*next),
                kind if follows && kind.is_bookkeeping() => {}
                _ => break,
            }
        }
        found
    }

    /// Builds the block of an entry, or returns `None` if it is empty. Keeps only the results of its calls in `results`.
    pub(super) fn block(
        &self,
        at: EntryIndex,
        body: &Body,
        results: &mut Vec<(EntryIndex, Body)>,
        told: &mut PrintedFacts,
    ) -> Option<EntryBlock> {
        let node = self.tree.node(at);
        let edited = body.entry();
        let answers: Vec<EditedEntry<'_>> = results.iter().map(|(_, body)| body.entry()).collect();
        let mut parts = parts::Builder::new(self.detail, &answers);
        let (role, title) = parts.entry(&edited, &body.line);
        let (entry, _) = edited;
        let (parts, used) = parts.finish();
        drop(answers);
        let mut is_used = used.into_iter();
        results.retain(|_| is_used.next().unwrap_or_default());
        if parts.is_empty() && role != BlockRole::Note {
            return None;
        }
        let mut block = EntryBlock {
            id: self.anchor(at),
            parent: None,
            role,
            title,
            facts: self.facts(at, &entry, told),
            label: self.tree.labels.get(&at).map(|label| one_line(&(self.label)(&label.text))),
            branch: None,
            parts,
        };
        if block.role == BlockRole::Prompt && block.title.is_empty() {
            let typed = typed_prompt::typed(&entry).unwrap_or_else(|| entry.text());
            block.title = one_line(&typed);
        }
        // Such as a prompt with only an image.
        if block.title.is_empty() && matches!(block.role, BlockRole::Prompt | BlockRole::Message) {
            block.title = "(no text)".into();
        }
        if node.outcome == EntryOutcome::Aborted {
            block.parts.push(Part::Note("aborted".into()));
        }
        Some(block)
    }

    fn facts(&self, at: EntryIndex, entry: &Entry<'_>, told: &mut PrintedFacts) -> Vec<String> {
        let node = self.tree.node(at);
        let mut facts = Vec::new();
        if let Some(time) = node.time.and_then(minute) {
            let (day, clock) = time.split_once(' ').unwrap_or_default();
            facts.push(if told.day == day { clock.trim_end_matches(" UTC").to_owned() } else { time.clone() });
            told.day = day.into();
        }
        let model = entry.message.as_ref().and_then(|message| message.model).map(|model| one_line(&model.text()));
        if let Some(model) = model.filter(|model| *model != told.model) {
            facts.push(model.clone());
            told.model = model;
        }
        facts
    }

    /// Returns the ID of an entry, or its position if it has none of its own, or a secret one.
    fn anchor(&self, at: EntryIndex) -> String {
        match self.tree.node(at).id.as_deref() {
            Some(id) if !id.is_empty() && self.tree.find(id) == Some(at) && (self.label)(id) == id => id.into(),
            _ => format!("n{}", at + 1),
        }
    }
}

/// The longest run of tool calls. More would have to be kept in memory.
const MAX_RUN: usize = 200;

/// A block to which the tool calls of the next entries can be added.
struct OpenBlock {
    block: EntryBlock,
    /// The entries of the block.
    entries: Vec<EntryIndex>,
}

impl OpenBlock {
    /// Returns `true` if a block consists only of tool calls that follow those of this block.
    fn continues_with(&self, next: &EntryBlock) -> bool {
        let are_of_model = [&self.block, next].iter().all(|it| matches!(it.role, BlockRole::Answer | BlockRole::Tool));
        let has_marks = next.label.is_some() || next.branch.is_some();
        let follows = next.parent.as_ref() == Some(&self.block.id) && self.block.parts.len() < MAX_RUN;
        are_of_model && !has_marks && follows && next.parts.iter().all(Part::is_in_run)
    }
}

/// Facts that are repeated only when they change.
#[derive(Clone, Default)]
pub(super) struct PrintedFacts {
    day: String,
    model: String,
}

/// The state between two blocks.
#[derive(Default)]
struct State {
    /// The titles of branch points.
    last_title: HashMap<EntryIndex, String>,
    /// The block of each entry, or of the nearest one above it.
    near: HashMap<EntryIndex, String>,
    /// The last block.
    last: Option<String>,
    /// The branches that start at entries without a block.
    branches: HashMap<EntryIndex, BranchStart>,
    /// The places of the branches of each entry with several children, which can be very many.
    places: HashMap<EntryIndex, HashMap<EntryIndex, usize>>,
}

impl State {
    /// Passes an entry without a block of its own.
    fn pass(&mut self, tree: &Tree, at: EntryIndex, above: Option<String>) {
        let branch = self.branch(tree, at);
        self.branches.extend(branch.map(|branch| (at, branch)));
        let title = tree.parent(at).and_then(|parent| self.last_title.get(&parent).cloned());
        self.last_title.extend(title.filter(|_| tree.is_branch_point(at)).map(|title| (at, title)));
        self.near.extend(above.map(|above| (at, above)));
    }

    /// Returns the branch that starts at an entry, if its siblings are in the document too.
    fn branch(&mut self, tree: &Tree, at: EntryIndex) -> Option<BranchStart> {
        let parent = tree.parent(at)?;
        let passed = self.branches.remove(&parent);
        if tree.children(parent).len() < 2 {
            return passed;
        }
        let places = self.places.entry(parent).or_insert_with(|| tree.branches(parent).zip(1..).collect());
        let Some(&number) = places.get(&at).filter(|_| places.len() > 1) else { return passed };
        let after = self.last_title.get(&parent).cloned().unwrap_or_default();
        Some(BranchStart { number, count: places.len(), after })
    }
}

/// Returns `true` if entries of a kind are not part of a document: labels are shown at their targets.
fn is_hidden(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Label | EntryKind::SessionInfo | EntryKind::Usage | EntryKind::ContextEdit)
}
