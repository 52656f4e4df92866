//! The overview of a document: its turns, the changed files, the commits and the last answer. Figures come from the tree.
//! Texts come from redacted lines, because the tree has only their beginnings, in which no rule finds a cut secret.

use std::collections::{HashMap, HashSet};

use anyhow::Result;

use crate::base::numbers;
use crate::base::paths::relative_to;
use crate::export::document::{Detail, Outline, Part, ToolDetail, Turn, one_line};
use crate::export::selection::{PrintedFacts, ReadBody, Selection};
use crate::session::activity::Activity;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::entry::tool_call::{CallDescription, FileOperation};
use crate::session::json::Str;
use crate::session::replay::commits::GitUse;
use crate::session::tree::EntryIndex;
use crate::session::tree::node::EntryOutcome;

/// The length of paths in the tree from which they can be cut.
const LONG_PATH: usize = 400;

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
        let mut turns: Vec<(Turn, Vec<EntryIndex>)> = Vec::new();
        let mut turn_of: HashMap<EntryIndex, usize> = HashMap::new();
        for &at in &self.entries {
            if matches!(self.tree.node(at).kind, EntryKind::User | EntryKind::Bash) {
                // An empty prompt has no block.
                if let Some(block) =
                    self.block(at, &self.body(at, read)?, &mut Vec::new(), &mut PrintedFacts::default())
                {
                    turn_of.insert(at, turns.len());
                    turns.push((Turn { id: block.id, title: block.title, facts: Vec::new() }, vec![at]));
                    continue;
                }
            }
            let above = self.tree.parent(at).and_then(|parent| turn_of.get(&parent).copied());
            let Some(turn) = above.or_else(|| turns.len().checked_sub(1)) else { continue };
            turn_of.insert(at, turn);
            turns[turn].1.push(at);
        }
        let facts = |entries: Vec<EntryIndex>| {
            let begun = self.tree.node(entries[0]).time;
            Activity { changed: Vec::new(), ..Activity::of(self.tree, entries) }.turn_facts(begun)
        };
        Ok(turns.into_iter().map(|(turn, entries)| Turn { facts: facts(entries), ..turn }).collect())
    }

    /// Returns the results that did not fail, with their calls.
    fn called(&self) -> impl Iterator<Item = (EntryIndex, &CallDescription)> {
        let nodes = self.entries.iter().map(|&at| (at, self.tree.node(at)));
        let fine = nodes.filter(|(_, node)| node.kind == EntryKind::ToolResult && node.outcome == EntryOutcome::Fine);
        fine.filter_map(|(at, node)| Some((at, node.called.as_deref()?)))
    }

    /// Returns the files that were written or edited, each with the number of changes.
    fn changed(&self) -> Vec<String> {
        let mut changed: Vec<(String, usize)> = Vec::new();
        for (_, called) in self.called() {
            let is_change = matches!(called.touch(), Some(FileOperation::Write | FileOperation::Edit));
            if !is_change || called.path.is_empty() || called.path.len() >= LONG_PATH {
                continue;
            }
            let path = one_line(&(self.label)(&relative_to(&self.tree.header.cwd, &called.path, "")));
            match changed.iter_mut().find(|(known, _)| *known == path) {
                Some((_, changes)) => *changes += 1,
                None => changed.push((path, 1)),
            }
        }
        let described = |(path, changes)| format!("{path} ({})", numbers::count(changes, "change", "changes"));
        changed.into_iter().map(described).collect()
    }

    /// Returns the text of the last answer. With several branches, that of the active one.
    fn last_answer(&self, read: ReadBody<'_>) -> Result<Vec<Part>> {
        let is_answer = |at: EntryIndex| {
            let node = self.tree.node(at);
            node.kind == EntryKind::Assistant && !node.silent && (!self.has_branches || self.tree.is_active(at))
        };
        let Some(&last) = self.entries.iter().rfind(|at| is_answer(**at)) else { return Ok(Vec::new()) };
        let detail = Detail { tools: ToolDetail::None, thinking: false, ..self.detail };
        let selection = Selection { entries: Vec::new(), edits: HashMap::new(), detail, ..*self };
        let block = selection.block(last, &self.body(last, read)?, &mut Vec::new(), &mut PrintedFacts::default());
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
