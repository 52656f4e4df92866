//! The overview of a document: its turns, the changed files, the commits and the last answer. Figures come from the tree.
//! Texts come from redacted lines, because the tree has only their beginnings, in which no rule finds a cut secret.

use std::collections::{HashMap, HashSet};

use anyhow::Result;

use crate::base::numbers;
use crate::base::paths::relative_to;
use crate::export::document::{Detail, Outline, Part, ToolDetail, Turn, one_line};
use crate::export::selection::{Body, PrintedFacts, ReadBody, Selection};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::entry::tool_call::{CallDescription, FileOperation};
use crate::session::json::Str;
use crate::session::replay::commits::GitUse;
use crate::session::tree::EntryIndex;
use crate::session::tree::node::EntryOutcome;

/// The length of paths in the tree from which they can be cut.
const LONG_PATH: usize = 400;

/// The figures of a turn.
#[derive(Default)]
struct Figures {
    calls: usize,
    failed: usize,
    cost: f64,
    begun: Option<i64>,
    latest: Option<i64>,
}

impl Figures {
    fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        facts.extend((self.calls > 0).then(|| numbers::count(self.calls, "tool", "tools")));
        facts.extend((self.failed > 0).then(|| format!("{} failed", self.failed)));
        facts.extend(numbers::nonzero_dollars(self.cost));
        let took = self.begun.zip(self.latest).map(|(begun, latest)| latest.saturating_sub(begun));
        facts.extend(took.filter(|&ms| ms >= 1000).map(|ms| numbers::duration(ms as f64)));
        facts
    }
}

impl Selection<'_> {
    /// Returns the overview. Reads prompts; with a summary, also the last answer and the results of commits.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn outline(&self, read: ReadBody<'_>) -> Result<Outline> {
        let mut outline = Outline { turns: self.turns(read)?, changed: self.changed(), ..Outline::default() };
        if self.detail.summary {
            outline.result = Some(self.last_answer(read)?);
            outline.commits = self.commits(read)?;
        }
        Ok(outline)
    }

    /// Returns the prompts with the figures of the entries below them.
    fn turns(&self, read: ReadBody<'_>) -> Result<Vec<Turn>> {
        let mut turns: Vec<(Turn, Figures)> = Vec::new();
        let mut turn_of: HashMap<EntryIndex, usize> = HashMap::new();
        for &(at, edit) in &self.entries {
            let node = self.tree.node(at);
            if matches!(node.kind, EntryKind::User | EntryKind::Bash) {
                let body = Body::read((at, edit), read)?;
                // An empty prompt has no block.
                if let Some(block) = self.block(at, &body, &mut Vec::new(), &mut PrintedFacts::default()) {
                    let figures = Figures { begun: node.time, ..Figures::default() };
                    turns.push((Turn { id: block.id, title: block.title, facts: Vec::new() }, figures));
                    turn_of.insert(at, turns.len() - 1);
                    continue;
                }
            }
            let above = self.tree.parent(at).and_then(|parent| turn_of.get(&parent).copied());
            let Some(turn) = above.or_else(|| turns.len().checked_sub(1)) else { continue };
            turn_of.insert(at, turn);
            let figures = &mut turns[turn].1;
            figures.cost += node.cost;
            figures.latest = figures.latest.max(node.time.filter(|_| node.kind.is_work()));
            if node.kind == EntryKind::ToolResult {
                figures.calls += 1;
                figures.failed += usize::from(node.outcome == EntryOutcome::Failed);
            }
        }
        Ok(turns.into_iter().map(|(turn, figures)| Turn { facts: figures.facts(), ..turn }).collect())
    }

    /// Returns the results that did not fail, with their calls.
    fn called(&self) -> impl Iterator<Item = (EntryIndex, &CallDescription)> {
        let nodes = self.entries.iter().map(|&(at, _)| (at, self.tree.node(at)));
        let fine = nodes.filter(|(_, node)| node.kind == EntryKind::ToolResult && node.outcome == EntryOutcome::Fine);
        fine.filter_map(|(at, node)| Some((at, node.called.as_deref()?)))
    }

    /// Returns the files that were written or edited, each with the number of changes.
    fn changed(&self) -> Vec<(String, usize)> {
        let mut places = HashMap::new();
        let mut changed: Vec<(String, usize)> = Vec::new();
        for (_, called) in self.called() {
            let is_change = matches!(called.touch(), Some(FileOperation::Write | FileOperation::Edit));
            if !is_change || called.path.is_empty() || called.path.len() >= LONG_PATH {
                continue;
            }
            let place = *places.entry(&*called.path).or_insert(changed.len());
            match changed.get_mut(place) {
                Some((_, changes)) => *changes += 1,
                None => {
                    let path = (self.label)(&relative_to(&self.tree.header.cwd, &called.path, ""));
                    changed.push((one_line(&path), 1));
                }
            }
        }
        changed
    }

    /// Returns the text of the last answer on the way to the end.
    fn last_answer(&self, read: ReadBody<'_>) -> Result<Vec<Part>> {
        let known: HashMap<EntryIndex, Option<EntryIndex>> = self.entries.iter().copied().collect();
        let is_answer = |at: &EntryIndex| {
            let node = self.tree.node(*at);
            known.contains_key(at) && node.kind == EntryKind::Assistant && !node.silent
        };
        let Some(last) = self.tree.to_root(self.end).find(is_answer) else { return Ok(Vec::new()) };
        let body = Body::read((last, known[&last]), read)?;
        let detail = Detail { tools: ToolDetail::None, thinking: false, ..self.detail };
        let selection = Selection { entries: Vec::new(), detail, ..*self };
        let block = selection.block(last, &body, &mut Vec::new(), &mut PrintedFacts::default());
        Ok(block.map(|block| block.parts).unwrap_or_default())
    }

    /// Returns the commits that shell commands printed, with their titles.
    fn commits(&self, read: ReadBody<'_>) -> Result<Vec<String>> {
        let (mut commits, mut known) = (Vec::new(), HashSet::new());
        for (at, called) in self.called().filter(|(_, called)| &*called.name == "bash") {
            let git = GitUse::of(&called.about);
            if !git.prints() {
                continue;
            }
            let line = read(at)?;
            let entry = parse::entry(&line);
            for text in entry.message.iter().flat_map(|message| message.content.texts()).map(Str::text) {
                let printed = git.commits(&text).map(|commit| one_line(&format!("{} {}", commit.sha, commit.title)));
                commits.extend(printed.filter(|commit| known.insert(commit.clone())));
            }
        }
        Ok(commits)
    }
}
