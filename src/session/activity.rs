//! A summary of what some entries did: their tool calls, changed files, cost and time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::numbers::{count, duration, nonzero_dollars};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::{CallDescription, FileOperation};
use crate::session::tree::node::EntryOutcome;
use crate::session::tree::{EntryIndex, Tree};

/// A summary of what some entries did.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// The first call of each tool and the number of its calls. Calls that change files are listed separately.
    pub tools: Vec<(Arc<CallDescription>, usize)>,
    /// The first call for each file name written or edited.
    pub changed: Vec<Arc<CallDescription>>,
    /// Number of tool calls.
    pub calls: usize,
    /// Number of failed tool calls.
    pub failed: usize,
    /// Cost in US dollars.
    pub cost: f64,
    /// The time of the newest entry that is not bookkeeping, in milliseconds since 1970.
    pub latest: Option<i64>,
}

impl Activity {
    /// Summarizes entries in file order.
    pub(crate) fn of(tree: &Tree, entries: impl IntoIterator<Item = EntryIndex>) -> Self {
        let mut activity = Self::default();
        let (mut tools, mut changed) = (HashMap::new(), HashSet::new());
        for at in entries {
            let node = &tree.nodes[at as usize];
            activity.cost += node.cost;
            activity.latest = activity.latest.max(node.time.filter(|_| node.kind.is_work()));
            if node.kind != EntryKind::ToolResult {
                continue;
            }
            activity.calls += 1;
            activity.failed += usize::from(node.outcome == EntryOutcome::Failed);
            let Some(called) = &node.called else { continue };
            if matches!(called.touch(), Some(FileOperation::Write | FileOperation::Edit)) {
                if changed.insert(called.file_name()) {
                    activity.changed.push(called.clone());
                }
                continue;
            }
            let place = *tools.entry(&*called.name).or_insert(activity.tools.len());
            match activity.tools.get_mut(place) {
                Some((_, uses)) => *uses += 1,
                None => activity.tools.push((called.clone(), 1)),
            }
        }
        activity
    }

    /// Lists the tools with their numbers of calls, and the changed files.
    pub(crate) fn tool_facts(&self) -> Vec<String> {
        let tools = self.tools.iter().map(|(tool, uses)| format!("{} {uses}", tool.name));
        tools.chain(self.changed_files()).collect()
    }

    /// Lists the names of the changed files.
    fn changed_files(&self) -> Option<String> {
        let names: Vec<&str> = self.changed.iter().map(|called| called.file_name()).collect();
        (!names.is_empty()).then(|| format!("edited {}", names.join(", ")))
    }

    /// Lists the facts about the turn after a prompt of the time `begun`, most important first.
    pub fn turn_facts(&self, begun: Option<i64>) -> Vec<String> {
        let mut facts = Vec::new();
        facts.extend((self.calls > 0).then(|| count(self.calls, "tool", "tools")));
        facts.extend((self.failed > 0).then(|| format!("{} failed", self.failed)));
        facts.extend(nonzero_dollars(self.cost));
        let took = begun.zip(self.latest).map(|(begun, latest)| latest - begun);
        facts.extend(took.filter(|&ms| ms >= 1000).map(|ms| duration(ms as f64)));
        facts.extend(self.changed_files());
        facts
    }
}
