//! Messages of a branch to append to another one that lacks them: calls with their results, and the edits of their
//! contents.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};

use crate::session::compare::BranchPath;
use crate::session::entry::kind::EntryKind;
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
    let path = tree.branch(end);
    let tip = path.last().copied().unwrap_or(end);
    let place = |at: EntryIndex| path.iter().position(|&other| other == at).context("the range is not on one branch");
    let (first, last) = (from.map_or(Ok(0), place)?, place(end)?);
    ensure!(first <= last, "the range ends before it begins");
    let lacking: BTreeSet<EntryIndex> = BranchPath { tree, end: tip }.without(onto).into_iter().collect();
    let callers = tree.callers(path.iter().copied());
    let (mut plan, mut chosen) = (PickPlan::default(), BTreeSet::new());
    for &at in path[first..=last].iter().filter(|at| lacking.contains(at)) {
        match (tree.node(at).kind, callers.get(&at)) {
            _ if tree.id(at).is_none() => plan.skipped.push((at, "it has no ID")),
            (EntryKind::Compaction, _) => plan.skipped.push((at, "it is the summary of a compaction")),
            (EntryKind::ToolResult, Some(&call)) if lacking.contains(&call) => chosen.extend([call, at]),
            (EntryKind::ToolResult, _) => plan.skipped.push((at, "its call is not copied")),
            (kind, _) if is_copied(kind) => drop(chosen.insert(at)),
            _ => {}
        }
    }
    let results: Vec<EntryIndex> =
        callers.iter().filter(|(_, call)| chosen.contains(call)).map(|(&result, _)| result).collect();
    chosen.extend(results);
    plan.messages = chosen.len();
    ensure!(plan.messages > 0, "nothing to copy: no message is only on this branch");
    let is_edit = |at: &EntryIndex| tree.edits.get(at).is_some_and(|(target, _)| chosen.contains(target));
    plan.entries = path.into_iter().filter(|at| chosen.contains(at) || is_edit(at)).collect();
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
