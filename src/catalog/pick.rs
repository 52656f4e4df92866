//! Messages of a branch to append to another one that lacks them: calls with their results, and the edits of their
//! contents.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Context, Result, ensure};

use crate::session::compare::BranchPath;
use crate::session::entry::kind::EntryKind;
use crate::session::links::IdHash;
use crate::session::tree::{EntryIndex, Tree};

/// The entries of a branch to copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PickPlan {
    /// The entries in order.
    pub entries: Vec<EntryIndex>,
    /// The number of messages among them.
    pub messages: usize,
    /// The entries of the range that the other branch lacks but that cannot be copied, with the reason.
    pub skipped: Vec<(EntryIndex, &'static str)>,
}

/// Plans to append what `onto` lacks of a range of a branch. The range is from the first to the last entry, both included;
/// it defaults to the branch of the leaf.
///
/// # Errors
/// The ends are not on one branch, or `onto` lacks no message.
pub fn plan_pick(onto: BranchPath<'_>, tree: &Tree, range: [Option<EntryIndex>; 2]) -> Result<PickPlan> {
    ensure!(!tree.header.is_old(), "the session has an old format; open it in pi once to convert it");
    let [from, to] = range;
    let end = to.or(tree.leaf).context("the session is empty")?;
    // Results and edits after the range belong to its calls and messages.
    let leaf = tree.leaf.filter(|&leaf| tree.to_root(leaf).any(|at| at == end)).unwrap_or(end);
    let path = tree.path(leaf);
    let place = |at: EntryIndex| path.iter().position(|&other| other == at).context("the range is not on one branch");
    let (first, last) = (from.map_or(Ok(0), place)?, place(end)?);
    ensure!(first <= last, "the range ends before it begins");
    let lacking: BTreeSet<EntryIndex> = BranchPath { tree, end: leaf }.without(onto).into_iter().collect();
    let lacks = |place: usize| lacking.contains(&path[place]);
    let callers = callers(tree, &path);
    let mut plan = PickPlan::default();
    let mut chosen = BTreeSet::new();
    for place in (first..=last).filter(|&place| lacks(place)) {
        match (tree.node(path[place]).kind, callers.get(&place)) {
            _ if tree.id(path[place]).is_none() => plan.skipped.push((path[place], "it has no ID")),
            (EntryKind::Compaction, _) => plan.skipped.push((path[place], "it is the summary of a compaction")),
            (EntryKind::ToolResult, Some(&call)) if lacks(call) => chosen.extend([call, place]),
            (EntryKind::ToolResult, _) => plan.skipped.push((path[place], "its call is not copied")),
            (kind, _) if is_copied(kind) => drop(chosen.insert(place)),
            _ => {}
        }
    }
    chosen.extend(
        callers.iter().filter(|(_, call)| chosen.contains(call)).map(|(&result, _)| result).collect::<Vec<_>>(),
    );
    plan.messages = chosen.len();
    ensure!(plan.messages > 0, "nothing to copy: no message is only on this branch");
    let targets: BTreeSet<EntryIndex> = chosen.iter().map(|&place| path[place]).collect();
    let is_edit = |place: &usize| tree.edits.get(&path[*place]).is_some_and(|(target, _)| targets.contains(target));
    chosen.extend((0..path.len()).filter(is_edit));
    plan.entries = chosen.into_iter().map(|place| path[place]).collect();
    Ok(plan)
}

/// Returns `true` for messages and summaries of branches. Settings, names, labels and the system prompt stay as they are.
fn is_copied(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::User
            | EntryKind::Assistant
            | EntryKind::Bash
            | EntryKind::CustomRole
            | EntryKind::CustomMessage
            | EntryKind::BranchSummary
    )
}

/// Returns the place of the answer that made the call of each result on a path.
fn callers(tree: &Tree, path: &[EntryIndex]) -> HashMap<usize, usize> {
    let (mut callers, mut caller_of) = (HashMap::new(), HashMap::<IdHash, usize>::new());
    for (place, at) in path.iter().enumerate() {
        caller_of.extend(tree.calls.get(at).into_iter().flat_map(|calls| calls.iter().map(|&id| (id, place))));
        callers.extend(tree.answers.get(at).and_then(|id| Some((place, *caller_of.get(id)?))));
    }
    callers
}
